/* SPDX-License-Identifier: MIT
 *
 * Texture, image and tile instructions of a SIMD-group: what decoding keeps of
 * them, and the functions behind exec_image.c. They work lane by lane; what an
 * access means is texture.h's and sample.h's business.
 */
#pragma once

#include "agx/sim/machine/machine.h"
#include "agx/sim/image/texture.h"

/* Pixels of a tile's row in tile memory when a compute program addresses it. [U] */
#define AGXS_TILE_SIDE 32u

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

/* Frees what a worker's image accesses have allocated; NULL is fine. */
void agxs_image_cache_free(struct agxs_image_cache *cache);

/* Each does one instruction for the active lanes; false: the group has failed. */
bool agxs_image_sample(struct agxs_group *group, const struct agxs_uop *uop);
bool agxs_image_write(struct agxs_group *group, const struct agxs_uop *uop);
bool agxs_image_write_block(struct agxs_group *group, const struct agxs_uop *uop);
bool agxs_image_load_state(struct agxs_group *group, const struct agxs_uop *uop, bool is_sampler);
bool agxs_image_tile(struct agxs_group *group, const struct agxs_uop *uop, bool is_store);
