/* SPDX-License-Identifier: MIT
 *
 * One lane of a texture or image access: its register values, the descriptors that
 * it names, and where it points to.
 */
#pragma once

#include "agx/sim/image/image.h"
#include "agx/sim/image/sample.h"

/* What an access works with besides its coordinates. */
struct agxs_image_lane {
   struct agxs_group *group;
   const struct agxs_uop *uop;
   const struct agxs_image_op *op;
   struct agxs_image_cache *cache;
   unsigned index;
};

/* False: the group has failed. */
bool agxs_lane_begin(struct agxs_image_lane *lane, struct agxs_group *group,
                     const struct agxs_uop *uop);
/* Fails the group; returns false. */
bool agxs_lane_fail(const struct agxs_image_lane *lane, const struct agxs_image_error *error);

/* Element `element` of a register vector, in this lane. */
uint32_t agxs_lane_value(const struct agxs_image_lane *lane, const struct agxs_source *source,
                         unsigned element);

/* A lookup over the group's memory, its texture and sampler still open. */
struct agxs_lookup agxs_lane_lookup(const struct agxs_image_lane *lane);
/* What the instruction names, unpacked; good until the next one is asked for. NULL: the
 * group has failed. */
const struct agxs_texture *agxs_lane_texture(const struct agxs_image_lane *lane, bool is_pbe);
/* The sampler that the instruction names, unpacked; lives as the texture does. */
const struct agxs_sampler *agxs_lane_sampler(const struct agxs_image_lane *lane);

/* Layer and sample follow the coordinates, in low halves. */
void agxs_lane_layer(const struct agxs_image_lane *lane, uint32_t *out_layer, uint32_t *out_sample);
/* x, y, z as signed numbers of the register's size. */
void agxs_lane_position(const struct agxs_image_lane *lane, struct agxs_texel_position *position);
