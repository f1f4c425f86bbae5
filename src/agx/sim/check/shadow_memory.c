/* SPDX-License-Identifier: MIT
 *
 * Undefined bits at memory. Device memory and uniforms take none: storing one is
 * reported, as is an address that has one. Threadgroup memory and the stack keep
 * them, byte by byte, for the loads of them.
 */
#include "agx/sim/check/check.h"
#include "agx/sim/check/profile.h"
#include "agx/sim/check/shadow_impl.h"
#include "agx/sim/machine/lanes.h"

#define ADDRESS "an address"

static uint32_t low_bytes(unsigned bytes)
{
   return bytes == 4 ? ~0u : (1u << 8 * bytes) - 1;
}

static bool check_address(struct agxs_group *group, const struct agxs_uop *uop)
{
   if (!agxs_shadow_demand(group, uop, &uop->src[1], group->active, ADDRESS))
      return false;
   return !uop->has_index || agxs_shadow_demand(group, uop, &uop->src[2], group->active, ADDRESS);
}

bool agxs_shadow_load(struct agxs_group *group, const struct agxs_uop *uop)
{
   return check_address(group, uop) && agxs_shadow_defines(group, uop);
}

/* Elements that the instruction transfers; packed words have all their channels. */
static unsigned element_mask(const struct agxs_uop *uop)
{
   unsigned channels = agxs_formats[uop->format].channels;
   return channels ? (1u << channels) - 1 : uop->mask;
}

/* Bits of a register that end up in the element. */
static uint32_t stored_bits(const struct agxs_uop *uop)
{
   const struct agxs_format *format = &agxs_formats[uop->format];
   return format->is_raw ? low_bytes(format->bytes) : ~0u;
}

bool agxs_shadow_store(struct agxs_group *group, const struct agxs_uop *uop)
{
   unsigned count = (unsigned)__builtin_popcount(element_mask(uop));
   if (!check_address(group, uop))
      return false;
   AGXS_FOR_LANES (i) {
      for (unsigned e = 0; e < count && group->exec.lane[i]; e++) {
         uint32_t u = agxs_shadow_get_lane(group, &uop->src[0], e, i) & stored_bits(uop);
         if (u)
            return agxs_shadow_report(group, uop, &uop->src[0], e, i, u, "device memory");
      }
   }
   return true;
}

static bool is_pair(const struct agxs_uop *uop)
{
   return uop->mode == AGX_ISA_ATOMIC_CMPXCHG;
}

bool agxs_shadow_atomic(struct agxs_group *group, const struct agxs_uop *uop)
{
   if (!check_address(group, uop))
      return false;
   AGXS_FOR_LANES (i) {
      for (unsigned e = 0; e < (is_pair(uop) ? 2u : 1u) && group->exec.lane[i]; e++) {
         uint32_t u = agxs_shadow_get_lane(group, &uop->src[0], e, i);
         if (u)
            return agxs_shadow_report(group, uop, &uop->src[0], e, i, u, "device memory");
      }
   }
   return agxs_shadow_defines(group, uop);
}

/* ---- threadgroup memory ------------------------------------------------------- */

/* The element's bytes in the shadow, or NULL outside; *out_address for the message. */
static uint8_t *find_local(const struct agxs_group *group, uint32_t address, unsigned bytes,
                           uint32_t *out_address)
{
   const struct agxs_worker *worker = group->worker;
   address = address & 0xffff & ~(bytes - 1);
   *out_address = address;
   return address + bytes <= worker->dispatch->shared_bytes ? worker->shadow->shared + address
                                                            : NULL;
}

static uint32_t get_bytes(const uint8_t *at, unsigned bytes)
{
   uint32_t mask = 0;
   for (unsigned i = 0; i < bytes; i++)
      mask |= (uint32_t)at[i] << 8 * i;
   return mask;
}

static void put_bytes(uint8_t *at, unsigned bytes, uint32_t mask)
{
   for (unsigned i = 0; i < bytes; i++)
      at[i] = (uint8_t)(mask >> 8 * i);
}

/* Visits each element that active lanes access; slot counts registers. */
#define EACH_ELEMENT(uop, i, e, slot)                                                              \
   AGXS_FOR_LANES (i)                                                                              \
      for (unsigned e = 0, slot = 0; e < 4 && group->exec.lane[i]; slot += elements >> e & 1, e++) \
         if (elements >> e & 1)

bool agxs_shadow_lload(struct agxs_group *group, const struct agxs_uop *uop)
{
   const struct agxs_format *format = &agxs_formats[uop->format];
   unsigned bytes = format->bytes, elements = element_mask(uop);
   unsigned step = format->channels ? 0 : bytes;
   struct agxs_row address;
   if (!check_address(group, uop))
      return false;
   agxs_get_local_addresses(group, uop, bytes, &address);
   EACH_ELEMENT(uop, i, e, slot)
   {
      struct agxs_cause cause = {.kind = AGXS_CAUSE_SHARED};
      const uint8_t *at = find_local(group, address.lane[i] + e * step, bytes, &cause.at);
      uint32_t mask = at ? get_bytes(at, bytes) : 0;
      mask = format->is_raw ? mask : mask ? ~0u : 0;
      agxs_shadow_put_lane(group, &uop->dst, slot, i, mask, cause);
   }
   return true;
}

bool agxs_shadow_lstore(struct agxs_group *group, const struct agxs_uop *uop)
{
   const struct agxs_format *format = &agxs_formats[uop->format];
   unsigned bytes = format->bytes, elements = format->channels ? 1 : uop->mask;
   struct agxs_row address;
   if (!check_address(group, uop))
      return false;
   agxs_get_local_addresses(group, uop, bytes, &address);
   EACH_ELEMENT(uop, i, e, slot)
   {
      uint32_t where, mask = 0;
      uint8_t *at = find_local(group, address.lane[i] + e * bytes, bytes, &where);
      unsigned count = format->channels ? format->channels : 1;
      for (unsigned c = 0; c < count; c++)
         mask |= agxs_shadow_get_lane(group, &uop->src[0], slot + c, i);
      mask = format->is_raw ? mask : mask ? ~0u : 0;
      if (at)
         put_bytes(at, bytes, mask);
   }
   return true;
}

/* What memory holds after an atomic operation on it. */
static uint32_t atomic_mask(unsigned op, uint32_t memory, uint32_t data)
{
   switch (op) {
   case AGX_ISA_ATOMIC_XCHG:
      return data;
   case AGX_ISA_ATOMIC_AND:
   case AGX_ISA_ATOMIC_OR:
   case AGX_ISA_ATOMIC_XOR:
      return memory | data;
   case AGX_ISA_ATOMIC_ADD:
   case AGX_ISA_ATOMIC_SUB:
      return (uint32_t)agxs_shadow_carry(memory | data);
   default:
      return memory | data ? ~0u : 0;
   }
}

bool agxs_shadow_latomic(struct agxs_group *group, const struct agxs_uop *uop)
{
   struct agxs_row address;
   if (!check_address(group, uop))
      return false;
   agxs_get_local_addresses(group, uop, 4, &address);
   AGXS_FOR_LANES (i) {
      struct agxs_cause cause = {.kind = AGXS_CAUSE_SHARED};
      if (!group->exec.lane[i])
         continue;
      uint8_t *at = find_local(group, address.lane[i], 4, &cause.at);
      uint32_t data = agxs_shadow_get_lane(group, &uop->src[0], 0, i);
      data |= is_pair(uop) ? agxs_shadow_get_lane(group, &uop->src[0], 1, i) : 0;
      uint32_t old = at ? get_bytes(at, 4) : 0;
      if (at)
         put_bytes(at, 4, atomic_mask(uop->mode, old, data));
      if (uop->dst.bits)
         agxs_shadow_put_lane(group, &uop->dst, 0, i, old, cause);
   }
   return true;
}

/* ---- the stack -------------------------------------------------------------------- */

bool agxs_shadow_stack_adjust(struct agxs_group *group, const struct agxs_uop *uop)
{
   return !uop->has_index || agxs_shadow_demand(group, uop, &uop->src[2], group->active, ADDRESS);
}

/* The word's mask and the element's place in it, or NULL outside. */
static uint32_t *find_stack(const struct agxs_group *group, unsigned bytes, unsigned lane,
                            int64_t offset, unsigned *out_shift)
{
   int64_t top = (int64_t)group->stack_pointer * 4;
   offset &= ~(int64_t)(bytes - 1);
   if (offset < 0 || offset + bytes > top)
      return NULL;
   int64_t at = (int64_t)group->stack_words * 4 - top + offset;
   *out_shift = (unsigned)(at % 4) * 8;
   return &group->shadow->stack[at / 4 * AGXS_LANES + lane];
}

bool agxs_shadow_stack_load(struct agxs_group *group, const struct agxs_uop *uop)
{
   unsigned bytes = agxs_formats[uop->format].bytes, elements = uop->mask, shift;
   int64_t offset[AGXS_LANES];
   if (!agxs_shadow_stack_adjust(group, uop))
      return false;
   agxs_get_stack_offsets(group, uop, offset);
   EACH_ELEMENT(uop, i, e, slot)
   {
      int64_t at = offset[i] + e * bytes;
      const uint32_t *word = find_stack(group, bytes, i, at, &shift);
      struct agxs_cause cause = {AGXS_CAUSE_STACK, (uint32_t)at};
      uint32_t mask = word ? *word >> shift & low_bytes(bytes) : 0;
      agxs_shadow_put_lane(group, &uop->dst, slot, i, mask, cause);
   }
   return true;
}

bool agxs_shadow_stack_store(struct agxs_group *group, const struct agxs_uop *uop)
{
   unsigned bytes = agxs_formats[uop->format].bytes, elements = uop->mask, shift;
   int64_t offset[AGXS_LANES];
   if (!agxs_shadow_stack_adjust(group, uop))
      return false;
   agxs_get_stack_offsets(group, uop, offset);
   EACH_ELEMENT(uop, i, e, slot)
   {
      uint32_t *word = find_stack(group, bytes, i, offset[i] + e * bytes, &shift);
      uint32_t mask = agxs_shadow_get_lane(group, &uop->src[0], slot, i) & low_bytes(bytes);
      if (word)
         *word = (*word & ~(low_bytes(bytes) << shift)) | mask << shift;
   }
   return true;
}

/* ---- uniforms ----------------------------------------------------------------------- */

bool agxs_shadow_uniform_store(struct agxs_group *group, const struct agxs_uop *uop)
{
   const struct agxs_dispatch *dispatch = group->worker->dispatch;
   unsigned slot = 0;
   if (!group->active)
      return true;
   unsigned lane = (unsigned)__builtin_ctz(group->active);
   if (uop->has_index && !agxs_shadow_demand(group, uop, &uop->src[2], 1u << lane, ADDRESS))
      return false;
   uint64_t first =
      uop->has_index ? agxs_get_lane(group, &uop->src[2], 0, lane) : (uint64_t)uop->imm;
   for (unsigned e = 0; e < 4; e++) {
      if (!(uop->mask >> e & 1))
         continue;
      uint32_t u = agxs_shadow_get_lane(group, &uop->src[0], slot, lane);
      if (u)
         return agxs_shadow_report(group, uop, &uop->src[0], slot, lane, u, "a uniform");
      if (dispatch->uniform_loaded && first + e < AGX_UNIFORM_HALVES)
         dispatch->uniform_loaded[(first + e) / 64] |= 1ull << (first + e) % 64;
      slot++;
   }
   return true;
}

/* Undefined bits at textures, images and tile memory: coordinates, levels and handles are
 * addresses; what a texel is made of must be defined where it is stored (image/store.c asks
 * for the channels that are); tile memory keeps masks as the rest of threadgroup memory does. */

/* Elements of a vector in active lanes; of each only the bits in `counts`. */
static bool demand(struct agxs_group *group, const struct agxs_uop *uop,
                   const struct agxs_source *source, unsigned first, unsigned end, uint32_t counts)
{
   for (unsigned e = first; e < end && source->bits; e++) {
      AGXS_FOR_LANES (i) {
         uint32_t mask = agxs_shadow_get_lane(group, source, e, i) & counts;
         if (mask && group->exec.lane[i])
            return agxs_shadow_report(group, uop, source, e, i, mask, "an image address");
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
   return agxs_shadow_demand(group, uop, &op->heap, group->active, "an image address") &&
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
