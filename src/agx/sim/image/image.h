/* SPDX-License-Identifier: MIT
 *
 * Texture, image and tile instructions of a SIMD-group: the functions behind
 * exec/image.c. They work lane by lane; what an
 * access means is texture.h's and sample.h's business.
 */
#pragma once

#include "agx/sim/machine/image_op.h"
#include "agx/sim/image/texture.h"

/* Pixels of a tile's row in tile memory when a compute program addresses it. [U] */
#define AGXS_TILE_SIDE 32u

/* Frees what a worker's image accesses have allocated; NULL is fine. */
void agxs_image_cache_free(struct agxs_image_cache *cache);

/* Each does one instruction for the active lanes; false: the group has failed. */
bool agxs_image_sample(struct agxs_group *group, const struct agxs_uop *uop);
/* Stores a texel of an image. */
bool agxs_image_write(struct agxs_group *group, const struct agxs_uop *uop);
/* Stores a tile of tile memory to an image. */
bool agxs_image_write_block(struct agxs_group *group, const struct agxs_uop *uop);
/* Loads a descriptor into a state register. */
bool agxs_image_load_state(struct agxs_group *group, const struct agxs_uop *uop, bool is_sampler);
/* Moves a pixel between registers and tile memory. */
bool agxs_image_tile(struct agxs_group *group, const struct agxs_uop *uop, bool is_store);
