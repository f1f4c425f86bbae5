/* SPDX-License-Identifier: MIT
 *
 * Undefined bits at textures, images and tile memory: coordinates, levels and handles are
 * addresses; what a texel is made of must be defined where it is stored (image/store.c asks
 * for the channels that are); tile memory keeps masks as the rest of threadgroup memory does.
 */
#include "agx/sim/check/check.h"
#include "agx/sim/check/profile.h"
#include "agx/sim/check/shadow_impl.h"

#define ADDRESS "an image address"

/* Elements of a vector in active lanes; of each only the bits in `counts`. */
static bool demand(struct agxs_group *group, const struct agxs_uop *uop,
                   const struct agxs_source *source, unsigned first, unsigned end, uint32_t counts)
{
   for (unsigned e = first; e < end && source->bits; e++) {
      AGXS_FOR_LANES (i) {
         uint32_t mask = agxs_shadow_get_lane(group, source, e, i) & counts;
         if (mask && group->exec.lane[i])
            return agxs_shadow_report(group, uop, source, e, i, mask, ADDRESS);
      }
   }
   return true;
}

/* Layers and samples are 16 bits in a register of 32. */
static bool demand_coord(struct agxs_group *group, const struct agxs_uop *uop)
{
   const struct agxs_image_op *op = uop->image;
   bool is_shared_slot = op->dim == AGX_ISA_DIM_2D_MS_ARRAY; /* sample and layer in one */
   uint32_t counts = op->coord.bits == 32 && !is_shared_slot ? 0xffff : ~0u;
   return demand(group, uop, &op->coord, 0, op->coord_axes, ~0u) &&
          demand(group, uop, &op->coord, op->coord_axes, op->coord_elements, counts);
}

static bool demand_texture(struct agxs_group *group, const struct agxs_uop *uop)
{
   const struct agxs_image_op *op = uop->image;
   return agxs_shadow_demand(group, uop, &op->heap, group->active, ADDRESS) &&
          demand(group, uop, &op->texture, 0, 1, ~0u) &&
          demand(group, uop, &op->sampler, 0, 1, ~0u);
}

/* The masked results are defined; of the registers that change with them, up to four, or
 * eight with residency, the others hold anything. Source: docs/hw/machine.md 14. */
static void define_result(struct agxs_group *group, const struct agxs_uop *uop)
{
   const struct agxs_image_op *op = uop->image;
   const struct agxs_cause clobbered = {AGXS_CAUSE_CLOBBERED, agxs_shadow_pc(group, uop)};
   unsigned count = (unsigned)__builtin_popcount(op->mask) + op->is_sparse;
   AGXS_FOR_LANES (i) {
      for (unsigned e = 0; e < (op->is_sparse ? 8u : 4u) && group->exec.lane[i]; e++)
         agxs_shadow_put_lane(group, &uop->dst, e, i, e < count ? 0 : ~0u, clobbered);
   }
}

bool agxs_shadow_sample(struct agxs_group *group, const struct agxs_uop *uop)
{
   const struct agxs_image_op *op = uop->image;
   bool has_gradients =
      op->lod_mode == AGX_ISA_LOD_MODE_LOD_GRAD || op->lod_mode == AGX_ISA_LOD_MODE_LOD_GRAD_MIN;
   if (!demand_texture(group, uop) || !demand_coord(group, uop) ||
       !demand(group, uop, &op->lod, 0, has_gradients ? 2u * op->coord_axes : 1, ~0u) ||
       !demand(group, uop, &op->minimum, 0, 1, ~0u) ||
       !demand(group, uop, &op->reference, 0, 1, ~0u) ||
       !demand(group, uop, &op->offset, 0, 1, (1u << 4 * op->coord_axes) - 1))
      return false;
   define_result(group, uop);
   return true;
}

/* The data follows when the texel is stored. */
bool agxs_shadow_image_write(struct agxs_group *group, const struct agxs_uop *uop)
{
   return demand_texture(group, uop) && demand_coord(group, uop) &&
          demand(group, uop, &uop->image->lod, 0, 1, 0xffff);
}

bool agxs_shadow_image_block(struct agxs_group *group, const struct agxs_uop *uop)
{
   return agxs_shadow_image_write(group, uop) &&
          demand(group, uop, &uop->image->data, 0, 1, 0xffff);
}

bool agxs_shadow_image_state(struct agxs_group *group, const struct agxs_uop *uop)
{
   return demand_texture(group, uop);
}

bool agxs_shadow_tile(struct agxs_group *group, const struct agxs_uop *uop)
{
   return demand(group, uop, &uop->image->coord, 0, 2, ~0u);
}

/* ---- what image/ calls while it executes ------------------------------------------ */

static uint8_t *shared_mask(const struct agxs_group *group, const uint8_t *at)
{
   return group->worker->shadow->shared + (at - group->worker->shared);
}

static uint32_t undefined_channels(const struct agxs_group *group, const struct agxs_source *data,
                                   unsigned lane)
{
   uint32_t channels = 0;
   for (unsigned c = 0; group->shadow && c < 4; c++)
      channels |= (uint32_t)(agxs_shadow_get_lane(group, data, c, lane) != 0) << c;
   return channels;
}

static bool is_undefined(const struct agxs_group *group, const uint8_t *at, unsigned bytes)
{
   uint32_t any = 0;
   for (unsigned i = 0; group->shadow && i < bytes; i++)
      any |= shared_mask(group, at)[i];
   return any;
}

static bool fail_channels(struct agxs_group *group, const struct agxs_uop *uop, uint32_t channels,
                          unsigned lane)
{
   const struct agxs_source *data = &uop->image->data;
   unsigned c = (unsigned)__builtin_ctz(channels);
   uint32_t mask = agxs_shadow_get_lane(group, data, c, lane);
   return agxs_shadow_report(group, uop, data, c, lane, mask, "an image");
}

static void tile_store(struct agxs_group *group, const struct agxs_source *data, unsigned slot,
                       unsigned lane, uint8_t *at, unsigned bytes, bool is_raw, bool is_more)
{
   if (!group->shadow)
      return;
   uint32_t mask = agxs_shadow_get_lane(group, data, slot, lane);
   uint8_t *byte = shared_mask(group, at);
   for (unsigned i = 0; i < bytes; i++) {
      uint8_t undefined = is_raw ? (uint8_t)(mask >> 8 * i) : mask ? 0xff : 0;
      byte[i] = is_more ? byte[i] | undefined : undefined;
   }
}

static void tile_load(struct agxs_group *group, const struct agxs_dest *dst, unsigned slot,
                      unsigned lane, const uint8_t *at, unsigned bytes, bool is_raw)
{
   uint32_t mask = at ? 0 : ~0u;
   if (!group->shadow)
      return;
   for (unsigned i = 0; at && i < bytes; i++)
      mask |= (uint32_t)shared_mask(group, at)[i] << 8 * i;
   struct agxs_cause cause = {AGXS_CAUSE_SHARED, at ? (uint32_t)(at - group->worker->shared) : 0};
   agxs_shadow_put_lane(group, dst, slot, lane, is_raw || !mask ? mask : ~0u, cause);
}

const struct agxs_image_observer agxs_check_image_observer = {
   .touch = agxs_profile_touch,
   .undefined_channels = undefined_channels,
   .is_undefined = is_undefined,
   .fail_channels = fail_channels,
   .tile_store = tile_store,
   .tile_load = tile_load,
};
