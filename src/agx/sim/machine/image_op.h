/* SPDX-License-Identifier: MIT
 *
 * What decoding keeps of a texture, image or tile instruction, and what the execution of one
 * reports to check mode and statistics.
 */
#pragma once

#include "agx/sim/machine/machine.h"

/* How an instruction names a descriptor; the encoding's numbers. */
enum agxs_handle {
   AGXS_HANDLE_STATE = 0,
   AGXS_HANDLE_STATE_REGISTER = 1,
   AGXS_HANDLE_HEAP = 3,
};

struct agxs_image_op {
   uint8_t dim;      /* enum agx_isa_dim */
   uint8_t lod_mode; /* enum agx_isa_lod_mode */
   uint8_t gather;   /* 1 + channel; 0: none */
   uint8_t mask;
   uint8_t format; /* of tile memory */
   uint8_t handle; /* enum agxs_handle */
   bool is_float, has_shadow, has_offset, query_lod, is_sparse, toward_zero;
   uint8_t coord_axes, coord_elements; /* of the coordinates: x, y, z, and with layer and sample */
   uint16_t texture_state, sampler_state; /* when they are numbers */
   struct agxs_source texture, sampler;   /* when they are registers */
   bool has_texture_register, has_sampler_register;
   struct agxs_source heap; /* 64 bits */
   struct agxs_source coord, data;
   struct agxs_source lod;     /* bias, level or gradients; an immediate as well */
   struct agxs_source minimum; /* of the modes with one */
   struct agxs_source reference, offset;
   uint32_t heap_offset; /* of state stores by number */
};

/* Check mode and statistics lie above image accesses, which call them through this table
 * (agxs_worker.image_observer). */
struct agxs_image_observer {
   /* An active lane touches these bytes of a texture or image. */
   void (*touch)(struct agxs_group *group, uint64_t va, uint32_t bytes);
   /* R, G, B, A of a store that have undefined bits, one bit each. */
   uint32_t (*undefined_channels)(const struct agxs_group *group, const struct agxs_source *data,
                                  unsigned lane);
   /* Whether bytes of tile memory have undefined bits. */
   bool (*is_undefined)(const struct agxs_group *group, const uint8_t *at, unsigned bytes);
   /* Fails the group for the first of these channels. Returns false. */
   bool (*fail_channels)(struct agxs_group *group, const struct agxs_uop *uop, uint32_t channels,
                         unsigned lane);
   /* One element between registers and tile memory; at NULL: nowhere. is_raw: bits go as they
    * are; is_more: the bytes hold other channels too. */
   void (*tile_store)(struct agxs_group *group, const struct agxs_source *data, unsigned slot,
                      unsigned lane, uint8_t *at, unsigned bytes, bool is_raw, bool is_more);
   void (*tile_load)(struct agxs_group *group, const struct agxs_dest *dst, unsigned slot,
                     unsigned lane, const uint8_t *at, unsigned bytes, bool is_raw);
};
