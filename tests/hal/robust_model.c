/* SPDX-License-Identifier: MIT
 *
 * The model of robust accesses: runs a kernel on the simulator with accesses that follow the rules
 * of the mode, and says what a robust kernel must leave in memory.
 */
#include "robust_model.h"

#include <string.h>

#include "agx/sim/machine/lanes.h"
#include "agx/sim/exec/elements_impl.h"
#include "agx/sim/exec/exec.h"
#include "agx/sim/machine/format.h"
#include "base/util.h"
#include "winsys/virtual/virtual.h"

static struct robust_model *current;
static struct agxs_exec_set robust_set;

/* The binding whose address is the base of the lane's access; NULL: an address of its own. What
 * follows the one dispatch that is tried is the driver's. */
static struct model_binding *find(const struct agxs_group *group, const struct agxs_uop *uop,
                                  unsigned lane)
{
   uint64_t base[AGXS_LANES];
   if (group->worker->dispatch->index > 0)
      return NULL;
   agxs_get_i64(group, &uop->src[1], base);
   for (uint32_t i = 0; i < current->count; i++)
      if (current->bindings[i].va == base[lane])
         return &current->bindings[i];
   current->foreign++;
   return NULL;
}

/* The element's memory; NULL when it is outside of its binding, or where nothing is mapped. */
static uint8_t *element(struct agxs_group *group, struct model_binding *binding, uint64_t va,
                        unsigned bytes, enum agxs_access access)
{
   if (binding) {
      bytes = AGX_MAX(bytes, current->component_B);
      uint64_t offset = (va - binding->va) & ~(uint64_t)(bytes - 1);
      binding->reach = AGX_MAX(binding->reach, AGX_MIN(offset, UINT64_C(1) << 40) + bytes);
      if (offset > binding->bytes || bytes > binding->bytes - offset) {
         binding->outside++;
         return NULL;
      }
   }
   return agxs_tlb_find(&group->worker->tlb, va, access);
}

static const struct agxs_uop *load(struct agxs_group *group, const struct agxs_uop *uop)
{
   const unsigned bytes = agxs_formats[uop->format].bytes;
   uint64_t va[AGXS_LANES];
   assert_int_equal(agxs_formats[uop->format].channels, 0);
   agxs_get_addresses(group, uop, agxs_scale_log2(uop, bytes), va);
   struct model_binding *bindings[AGXS_LANES]; /* before any register changes */
   for (uint32_t left = group->active; left; left &= left - 1)
      bindings[__builtin_ctz(left)] = find(group, uop, (unsigned)__builtin_ctz(left));
   for (uint32_t left = group->active; left; left &= left - 1) {
      unsigned lane = (unsigned)__builtin_ctz(left), slot = 0;
      for (unsigned e = 0; e < 4; e++) {
         if (!(uop->mask >> e & 1))
            continue;
         const uint8_t *at = element(group, bindings[lane], va[lane] + e * bytes, bytes, AGXS_READ);
         uint32_t value = at ? agxs_format_load(uop->format, e, at, uop->dst.bits) : 0;
         agxs_put_lane(group, &uop->dst, slot++, lane, value);
      }
   }
   return uop + 1;
}

static const struct agxs_uop *store(struct agxs_group *group, const struct agxs_uop *uop)
{
   const unsigned bytes = agxs_formats[uop->format].bytes;
   uint64_t va[AGXS_LANES];
   assert_int_equal(agxs_formats[uop->format].channels, 0);
   agxs_get_addresses(group, uop, agxs_scale_log2(uop, bytes), va);
   for (uint32_t left = group->active; left; left &= left - 1) {
      unsigned lane = (unsigned)__builtin_ctz(left), slot = 0;
      struct model_binding *binding = find(group, uop, lane);
      for (unsigned e = 0; e < 4; e++) {
         if (!(uop->mask >> e & 1))
            continue;
         uint32_t value = agxs_get_lane(group, &uop->src[0], slot++, lane);
         uint8_t *at = element(group, binding, va[lane] + e * bytes, bytes, AGXS_WRITE);
         if (at)
            agxs_format_store(uop->format, e, at, value, uop->src[0].bits);
      }
   }
   return uop + 1;
}

static const struct agxs_uop *atomic(struct agxs_group *group, const struct agxs_uop *uop)
{
   const bool is_pair = uop->mode == AGX_ISA_ATOMIC_CMPXCHG;
   struct agxs_row value, compare, old = {{0}};
   uint64_t va[AGXS_LANES];
   agxs_get_addresses(group, uop, 2, va);
   for (uint32_t left = group->active; left; left &= left - 1) {
      unsigned lane = (unsigned)__builtin_ctz(left);
      struct model_binding *binding = find(group, uop, lane);
      value.lane[lane] = agxs_get_lane(group, &uop->src[0], 0, lane);
      compare.lane[lane] = agxs_get_lane(group, &uop->src[0], is_pair, lane);
      uint8_t *at = element(group, binding, va[lane], 4, AGXS_WRITE);
      if (at)
         agxs_atomic_lanes(at, uop->mode, 1u << lane, value.lane, compare.lane, old.lane);
      else if (binding)
         binding->atomic_outside |= uop->dst.bits != 0;
   }
   if (uop->dst.bits)
      agxs_put_u32(group, &uop->dst, &old);
   return uop + 1;
}

static agx_status run(const struct agx_chip *chip, const struct agxs_memory *memory,
                      const struct agxs_options *options, uint64_t usc_base, uint64_t stream_va,
                      struct agxs_stats *out_stats)
{
   struct agxs_options own = *options;
   own.exec_set = &robust_set;
   own.thread_count = 1;
   return agxs_run_compute(chip, memory, &own, usc_base, stream_va, out_stats);
}

struct agx_kmd *model_open(const char *chip, struct robust_model *model)
{
   struct agx_kmd *kmd;
   current = model;
   robust_set = *agxs_exec_best();
   robust_set.name = "robust";
   robust_set.exec[AGXS_X_load] = load;
   robust_set.exec[AGXS_X_store] = store;
   robust_set.exec[AGXS_X_atomic] = atomic;
   assert_ok(agx_kmd_virtual_open(chip, &kmd));
   agx_virtual_set_run_compute(agx_kmd_virtual_node(kmd), run);
   return kmd;
}
