/* SPDX-License-Identifier: MIT
 *
 * Control flow: the execution mask lives in r0l of every lane (levels to pop
 * until the lane is active), so its instructions work on all lanes and then
 * recompute the mask. Source: docs/hw/machine.md 5 and 11.
 */
#include "agx/sim/exec/compare.h"
#include "agx/sim/exec/functions_impl.h"
#include "agx/sim/machine/kernel.h"

/* All ones where it holds; masks instead of branches, which compilers like to make. Counters
 * are small, so that signed comparisons do. */
AGXS_INLINE uint32_t mask_of(bool holds)
{
   return 0u - (uint32_t)holds;
}

AGXS_INLINE uint32_t pick(uint32_t mask, uint32_t where_set, uint32_t elsewhere)
{
   return (where_set & mask) | (elsewhere & ~mask);
}

AGXS_INLINE uint32_t pop_level(uint32_t v, uint32_t nest, uint32_t t)
{
   const int32_t larger = (int32_t)v > (int32_t)nest ? (int32_t)v : (int32_t)nest;
   return (uint32_t)larger - nest;
}

AGXS_INLINE uint32_t if_level(uint32_t v, uint32_t nest, uint32_t t)
{
   return pick(mask_of(v == 0), t + 1, v + nest);
}

AGXS_INLINE uint32_t else_level(uint32_t v, uint32_t nest, uint32_t t)
{
   return pick(mask_of(v == 0), nest, pick(mask_of(v == 1), t + 1, v));
}

AGXS_INLINE uint32_t while_level(uint32_t v, uint32_t nest, uint32_t t)
{
   return pick(mask_of((int32_t)v < (int32_t)nest), nest & ~t, v);
}

AGXS_INLINE uint32_t off_level(uint32_t v, uint32_t nest, uint32_t t)
{
   return pick(t, nest, v);
}

/* One loop over the lanes: the new nesting counters from the old ones and the condition (all
 * ones where it holds). The mask follows. */
#define NESTING_LOOP(name, level)                                                                  \
   static void name(struct agxs_group *group, const uint32_t nest, const struct agxs_row *truth)   \
   {                                                                                               \
      struct agxs_row *row = &group->regs[0];                                                      \
      AGXS_EACH_LANE (i) {                                                                         \
         const uint32_t old = row->lane[i];                                                        \
         const uint32_t next = level(old & 0xffff, nest, truth->lane[i]) & 0xffff;                 \
         row->lane[i] = (old & 0xffff0000u) | next;                                                \
         group->exec.lane[i] = group->lives.lane[i] & mask_of(next == 0);                          \
      }                                                                                            \
      group->active = agxs_mask_bits(&group->exec);                                                \
   }

NESTING_LOOP(pop_levels, pop_level)
NESTING_LOOP(enter_if, if_level)
NESTING_LOOP(enter_else, else_level)
NESTING_LOOP(test_while, while_level)
NESTING_LOOP(switch_off, off_level)

const struct agxs_uop *AGXS_EXEC(pop_exec)(struct agxs_group *group, const struct agxs_uop *uop)
{
   pop_levels(group, uop->nest, &group->exec);
   return uop + 1;
}

static const struct agxs_row always = {{[0 ... AGXS_LANES - 1] = ~0u}};

#define MASK_OPERATION(name, compare, update)                                                      \
   const struct agxs_uop *AGXS_EXEC(name)(struct agxs_group * group, const struct agxs_uop *uop)   \
   {                                                                                               \
      struct agxs_row truth;                                                                       \
      if (!uop->is_always)                                                                         \
         compare(group, uop, &truth);                                                              \
      update(group, uop->nest, uop->is_always ? &always : &truth);                                 \
      return uop + 1;                                                                              \
   }

MASK_OPERATION(if_icmp, agxs_compare_int, enter_if)
MASK_OPERATION(else_icmp, agxs_compare_int, enter_else)
MASK_OPERATION(while_icmp, agxs_compare_int, test_while)
MASK_OPERATION(if_fcmp, agxs_compare_float, enter_if)
MASK_OPERATION(else_fcmp, agxs_compare_float, enter_else)
MASK_OPERATION(while_fcmp, agxs_compare_float, test_while)

const struct agxs_uop *AGXS_EXEC(jmp_any)(struct agxs_group *group, const struct agxs_uop *uop)
{
   return group->active ? uop->target : uop + 1;
}

const struct agxs_uop *AGXS_EXEC(jmp_none)(struct agxs_group *group, const struct agxs_uop *uop)
{
   return group->active ? uop + 1 : uop->target;
}

const struct agxs_uop *AGXS_EXEC(link)(struct agxs_group *group, const struct agxs_uop *uop)
{
   group->links++;
   return uop->target;
}

/* r1 = the address after the call, in active lanes. */
const struct agxs_uop *AGXS_EXEC(call)(struct agxs_group *group, const struct agxs_uop *uop)
{
   struct agxs_row back;
   AGXS_FOR_LANES (i)
      back.lane[i] = (uint32_t)uop->imm;
   agxs_put_u32(group, &uop->dst, &back);
   return uop->target;
}

/* Where the first active lane's register leads. [U] Lanes that hold another target are
 * switched off as a failing if does (r0l = 1), so that an else brings them back. */
static const struct agxs_uop *jump_to_register(struct agxs_group *group, const struct agxs_uop *uop)
{
   const struct agxs_row *to = agxs_source_row(group, &uop->src[0]);
   struct agxs_row elsewhere;
   uint32_t first = to->lane[__builtin_ctz(group->active)];
   const struct agxs_uop *target = agxs_group_reach(group, uop, first);
   if (!target && !group->next_kernel)
      return NULL;
   AGXS_FOR_LANES (i)
      elsewhere.lane[i] = to->lane[i] != first ? group->exec.lane[i] : 0;
   if (agxs_mask_bits(&elsewhere))
      switch_off(group, 1, &elsewhere);
   return target;
}

const struct agxs_uop *AGXS_EXEC(call_reg)(struct agxs_group *group, const struct agxs_uop *uop)
{
   struct agxs_row back;
   if (!group->active)
      return uop + 1;
   const struct agxs_uop *target = jump_to_register(group, uop);
   AGXS_FOR_LANES (i)
      back.lane[i] = (uint32_t)uop->imm;
   if (group->state != AGXS_GROUP_FAILED)
      agxs_put_u32(group, &uop->dst, &back);
   return target;
}

const struct agxs_uop *AGXS_EXEC(ret)(struct agxs_group *group, const struct agxs_uop *uop)
{
   if (!group->active)
      return agxs_group_fail(group, uop, AGX_UNIMPLEMENTED, "no lane is active");
   return jump_to_register(group, uop);
}

const struct agxs_uop *AGXS_EXEC(stop)(struct agxs_group *group, const struct agxs_uop *uop)
{
   group->state = AGXS_GROUP_DONE;
   return NULL;
}

const struct agxs_uop *AGXS_EXEC(trap)(struct agxs_group *group, const struct agxs_uop *uop)
{
   return agxs_group_fail(group, uop, AGX_DATA_LOSS, "the program ran into a trap");
}

/* Stands for what decoding would not take; only reaching it is an error. */
const struct agxs_uop *AGXS_EXEC(refuse)(struct agxs_group *group, const struct agxs_uop *uop)
{
   return agxs_group_fail(group, uop, (agx_status)uop->imm, "%s", uop->reason);
}

const struct agxs_uop *AGXS_EXEC(jump)(struct agxs_group *group, const struct agxs_uop *uop)
{
   return uop->target;
}

const struct agxs_uop *AGXS_EXEC(nop)(struct agxs_group *group, const struct agxs_uop *uop)
{
   return uop + 1;
}

/* Loads take effect at once; check mode is who cares. */
const struct agxs_uop *AGXS_EXEC(wait)(struct agxs_group *group, const struct agxs_uop *uop)
{
   return uop + 1;
}

const struct agxs_uop *AGXS_EXEC(membar)(struct agxs_group *group, const struct agxs_uop *uop)
{
   atomic_thread_fence(memory_order_seq_cst);
   return uop + 1;
}

const struct agxs_uop *AGXS_EXEC(barrier)(struct agxs_group *group, const struct agxs_uop *uop)
{
   group->state = AGXS_GROUP_AT_BARRIER;
   group->next = uop + 1;
   return NULL;
}

/* Quotients of numbers below 1024 by numbers up to 1024, as products. */
#define QUOTIENT_BITS 20
AGXS_INLINE uint32_t reciprocal(uint32_t divisor)
{
   return (1u << QUOTIENT_BITS) / divisor + 1;
}

/* Positions of the threads in their workgroup along an axis, counted from `first`. */
static void thread_positions(const struct agxs_group *group, unsigned axis, uint32_t first,
                             struct agxs_row *out)
{
   const uint32_t *local = group->worker->dispatch->local, size = local[axis];
   const uint32_t below = axis == 0 ? 1 : axis == 1 ? local[0] : local[0] * local[1];
   const uint32_t per_below = reciprocal(below), per_size = reciprocal(size);
   const uint32_t flat = group->index * AGXS_LANES;
   AGXS_FOR_LANES (i) {
      const uint32_t along = (flat + i) * per_below >> QUOTIENT_BITS;
      out->lane[i] = first + along - (along * per_size >> QUOTIENT_BITS) * size;
   }
}

/* Active lanes below this one, in the window of `width` lanes that it belongs to. */
static uint32_t active_below(const struct agxs_group *group, unsigned lane, unsigned width)
{
   uint32_t window = group->active >> (lane & ~(width - 1));
   return (uint32_t)__builtin_popcount(window & ((1u << (lane & (width - 1))) - 1));
}

static uint32_t active_quad(const struct agxs_group *group, unsigned lane)
{
   return (uint32_t)__builtin_popcount(group->active >> (lane & ~3u) & 15);
}

/* Decoding lets only these registers through (bind.c), and the positions of threads. */
static uint32_t special_register(const struct agxs_group *group, unsigned number, unsigned lane)
{
   const struct agxs_worker *worker = group->worker;
   switch (number) {
   case AGX_ISA_SR_THREADGROUP_IN_GRID_X ... AGX_ISA_SR_THREADGROUP_IN_GRID_Z:
      return worker->workgroup[number - AGX_ISA_SR_THREADGROUP_IN_GRID_X];
   case AGX_ISA_SR_THREADS_PER_THREADGROUP_X ... AGX_ISA_SR_THREADS_PER_THREADGROUP_Z:
      return worker->dispatch->launch_local[number - AGX_ISA_SR_THREADS_PER_THREADGROUP_X];
   case AGX_ISA_SR_DISPATCH_THREADS_PER_THREADGROUP_X ... AGX_ISA_SR_DISPATCH_THREADS_PER_THREADGROUP_Z:
      return worker->dispatch->launch_local[number - AGX_ISA_SR_DISPATCH_THREADS_PER_THREADGROUP_X];
   case AGX_ISA_SR_THREAD_INDEX_IN_THREADGROUP:
      return group->index * AGXS_LANES + lane;
   case AGX_ISA_SR_THREAD_INDEX_IN_SIMDGROUP:
      return lane;
   case AGX_ISA_SR_SIMDGROUP_INDEX_IN_THREADGROUP:
      return group->index;
   case AGX_ISA_SR_ACTIVE_THREAD_INDEX_IN_QUADGROUP:
      return active_below(group, lane, 4);
   case AGX_ISA_SR_TOTAL_ACTIVE_THREADS_IN_QUADGROUP:
      return active_quad(group, lane);
   case AGX_ISA_SR_ACTIVE_THREAD_INDEX_IN_SIMDGROUP:
      return active_below(group, lane, AGXS_LANES);
   case AGX_ISA_SR_TOTAL_ACTIVE_THREADS_IN_SIMDGROUP:
      return (uint32_t)__builtin_popcount(group->active);
   case AGX_ISA_SR_IS_ACTIVE_THREAD:
      return 1; /* no helper lanes in compute */
   case AGX_ISA_SR_CORE_INDEX:
      return worker->core;
   case AGX_ISA_SR_HELPER_OP:
      return group->talk->op;
   case AGX_ISA_SR_HELPER_ARG_L:
      return (uint32_t)group->talk->arg;
   case AGX_ISA_SR_HELPER_ARG_H:
      return (uint32_t)(group->talk->arg >> 32);
   default: /* vm_slot */
      return 0;
   }
}

static bool differs_by_lane(unsigned number)
{
   return number == AGX_ISA_SR_THREAD_INDEX_IN_THREADGROUP ||
          number == AGX_ISA_SR_THREAD_INDEX_IN_SIMDGROUP ||
          (number >= AGX_ISA_SR_ACTIVE_THREAD_INDEX_IN_QUADGROUP &&
           number <= AGX_ISA_SR_TOTAL_ACTIVE_THREADS_IN_SIMDGROUP);
}

static void get_special(const struct agxs_group *group, unsigned number, struct agxs_row *out)
{
   const struct agxs_worker *worker = group->worker;
   unsigned in_group = number - AGX_ISA_SR_THREAD_IN_THREADGROUP_X;
   unsigned in_grid = number - AGX_ISA_SR_THREAD_IN_GRID_X;
   if (in_group < 3) {
      thread_positions(group, in_group, 0, out);
   } else if (in_grid < 3) {
      uint32_t first = worker->workgroup[in_grid] * worker->dispatch->local[in_grid];
      thread_positions(group, in_grid, first, out);
   } else if (differs_by_lane(number)) {
      AGXS_FOR_LANES (i)
         out->lane[i] = special_register(group, number, i);
   } else {
      const uint32_t value = special_register(group, number, 0);
      AGXS_FOR_LANES (i)
         out->lane[i] = value;
   }
}

const struct agxs_uop *AGXS_EXEC(mfsr)(struct agxs_group *group, const struct agxs_uop *uop)
{
   struct agxs_row d;
   get_special(group, (unsigned)uop->imm, &d);
   agxs_put_u32(group, &uop->dst, &d);
   return uop + 1;
}
