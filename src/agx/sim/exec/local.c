/* SPDX-License-Identifier: MIT
 *
 * Memory that belongs to a workgroup, a thread or the dispatch: threadgroup
 * memory, the stack and the uniform file. Source: docs/hw/machine.md 8, 10, 16.
 * [U] The stack: offsets count from the stack pointer, which moves down, so that a
 * program finds what it adjusted for at 0 and up. Beyond what the launch declared,
 * threadgroup loads give 0 and stores are dropped, as soft faults.
 */
#include "agx/sim/machine/lanes.h"
#include "agx/sim/exec/elements_impl.h"
#include "agx/sim/exec/functions_impl.h"
#include "agx/sim/machine/format.h"
#include "agx/sim/machine/kernel.h"

/* True when every element that active lanes name lies in threadgroup memory and needs no
 * conversion; the offsets are then good for agxs_load_elements and agxs_store_elements. */
static bool is_inside(const struct agxs_group *group, const struct agxs_uop *uop, unsigned bytes,
                      struct agxs_row *address)
{
   uint32_t size = group->worker->dispatch->shared_bytes, outside = 0;
   uint32_t span = agxs_span(uop, bytes);
   if (!agxs_formats[uop->format].is_raw || size < span || !group->active)
      return false;
   uint32_t last = size - span;
   struct agxs_row offset;
   AGXS_FOR_LANES (i) {
      offset.lane[i] = address->lane[i] & 0xffff & group->exec.lane[i];
      outside |= offset.lane[i] > last ? ~0u : 0u;
   }
   if (!outside)
      *address = offset;
   return !outside;
}

/* The bytes of one element, or NULL (then *stop says whether the group does). */
static uint8_t *find_local(struct agxs_group *group, const struct agxs_uop *uop, uint32_t address,
                           unsigned bytes, unsigned lane, enum agxs_fault_kind kind, bool *stop)
{
   const struct agxs_worker *worker = group->worker;
   address = address & 0xffff & ~(bytes - 1);
   if (address + bytes <= worker->dispatch->shared_bytes)
      return worker->shared + address;
   *stop =
      !agxs_group_fault(group, uop, kind, address, bytes, lane,
                        kind == AGXS_FAULT_SOFT_LOAD ? "threadgroup load" : "threadgroup store");
   return NULL;
}

/* Packed words have all their channels, whatever the mask says. */
static unsigned element_mask(const struct agxs_uop *uop)
{
   unsigned channels = agxs_formats[uop->format].channels;
   return channels ? (1u << channels) - 1 : uop->mask;
}

const struct agxs_uop *AGXS_EXEC(lload)(struct agxs_group *group, const struct agxs_uop *uop)
{
   unsigned bytes = agxs_formats[uop->format].bytes;
   struct agxs_row address;
   bool stop = false;
   agxs_get_local_addresses(group, uop, bytes, &address);
   if (is_inside(group, uop, bytes, &address)) {
      agxs_load_elements(group, uop, group->worker->shared, group->worker->dispatch->shared_bytes,
                         &address);
      return uop + 1;
   }
   unsigned mask = element_mask(uop), step = agxs_formats[uop->format].channels ? 0 : bytes;
   AGXS_FOR_LANES (i) {
      unsigned slot = 0;
      for (unsigned e = 0; e < 4 && group->exec.lane[i]; e++) {
         if (!(mask >> e & 1))
            continue;
         const uint8_t *at = find_local(group, uop, address.lane[i] + e * step, bytes, i,
                                        AGXS_FAULT_SOFT_LOAD, &stop);
         if (stop)
            return NULL;
         uint32_t value = at ? agxs_format_load(uop->format, e, at, uop->dst.bits) : 0;
         agxs_put_lane(group, &uop->dst, slot++, i, value);
      }
   }
   return uop + 1;
}

static bool lstore_packed(struct agxs_group *group, const struct agxs_uop *uop,
                          const struct agxs_row *address)
{
   bool stop = false;
   for (unsigned i = 0; i < AGXS_LANES && !stop; i++) {
      if (!group->exec.lane[i])
         continue;
      uint8_t *at = find_local(group, uop, address->lane[i], 4, i, AGXS_FAULT_SOFT_STORE, &stop);
      if (at)
         agxs_store_packed(group, uop, at, i);
   }
   return !stop;
}

const struct agxs_uop *AGXS_EXEC(lstore)(struct agxs_group *group, const struct agxs_uop *uop)
{
   unsigned bytes = agxs_formats[uop->format].bytes;
   struct agxs_row address;
   bool stop = false;
   agxs_get_local_addresses(group, uop, bytes, &address);
   if (agxs_formats[uop->format].channels)
      return lstore_packed(group, uop, &address) ? uop + 1 : NULL;
   if (is_inside(group, uop, bytes, &address)) {
      agxs_store_elements(group, uop, group->worker->shared, group->worker->dispatch->shared_bytes,
                          &address);
      return uop + 1;
   }
   AGXS_FOR_LANES (i) {
      unsigned slot = 0;
      for (unsigned e = 0; e < 4 && group->exec.lane[i]; e++) {
         if (!(uop->mask >> e & 1))
            continue;
         uint8_t *at = find_local(group, uop, address.lane[i] + e * bytes, bytes, i,
                                  AGXS_FAULT_SOFT_STORE, &stop);
         uint32_t value = agxs_get_lane(group, &uop->src[0], slot++, i);
         if (stop)
            return NULL;
         if (at)
            agxs_format_store(uop->format, e, at, value, uop->src[0].bits);
      }
   }
   return uop + 1;
}

/* The groups of a workgroup run in turn on one worker, so nothing is atomic here. */
const struct agxs_uop *AGXS_EXEC(latomic)(struct agxs_group *group, const struct agxs_uop *uop)
{
   struct agxs_row address;
   bool stop = false;
   agxs_get_local_addresses(group, uop, 4, &address);
   AGXS_FOR_LANES (i) {
      if (!group->exec.lane[i])
         continue;
      uint32_t value = agxs_get_lane(group, &uop->src[0], 0, i), compare = 0, old = 0;
      if (uop->mode == AGX_ISA_ATOMIC_CMPXCHG)
         compare = agxs_get_lane(group, &uop->src[0], 1, i);
      uint8_t *at = find_local(group, uop, address.lane[i], 4, i, AGXS_FAULT_SOFT_STORE, &stop);
      if (stop)
         return NULL;
      if (at) {
         old = agxs_get_le32(at);
         agxs_put_le32(at, agxs_atomic_apply(uop->mode, old, value, compare));
      }
      if (uop->dst.bits)
         agxs_put_lane(group, &uop->dst, 0, i, old);
   }
   return uop + 1;
}

/* There is one stack pointer for all lanes, so active ones must agree on the amount. */
static bool common_amount(struct agxs_group *group, const struct agxs_uop *uop, int64_t *out)
{
   uint64_t amount[AGXS_LANES];
   unsigned first = group->active ? (unsigned)__builtin_ctz(group->active) : 0;
   agxs_get_i64(group, &uop->src[2], amount);
   *out = group->active ? (int64_t)amount[first] : 0;
   AGXS_FOR_LANES (i) {
      if (!group->exec.lane[i] || amount[i] == amount[first])
         continue;
      agxs_group_fail(group, uop, AGX_UNIMPLEMENTED,
                      "lane %u adjusts the stack by %lld words, lane %u by %lld", first,
                      (long long)amount[first], i, (long long)amount[i]);
      return false;
   }
   return true;
}

const struct agxs_uop *AGXS_EXEC(stack_adjust)(struct agxs_group *group, const struct agxs_uop *uop)
{
   int64_t amount = uop->imm;
   if (uop->has_index && !common_amount(group, uop, &amount))
      return NULL;
   int64_t words = (int64_t)group->stack_pointer + amount;
   if (words < 0 || words > group->stack_words)
      return agxs_group_fail(group, uop, AGX_DATA_LOSS,
                             "stack pointer %lld outside of the %u words that the launch declares",
                             (long long)words, group->stack_words);
   if (words > group->stack_given)
      return agxs_group_fail(group, uop, AGX_DATA_LOSS,
                             "stack pointer %lld, but the blocks that the helper program mapped "
                             "hold %u words for each thread",
                             (long long)words, group->stack_given);
   group->stack_pointer = (uint32_t)words;
   return uop + 1;
}

/* Byte offset from the stack's low end, or -1 after failing the group. */
static int64_t find_stack(struct agxs_group *group, const struct agxs_uop *uop, unsigned lane,
                          int64_t offset)
{
   unsigned bytes = agxs_formats[uop->format].bytes;
   offset &= ~(int64_t)(bytes - 1);
   if (offset < 0 || offset + bytes > (int64_t)group->stack_pointer * 4) {
      agxs_group_fail(group, uop, AGX_DATA_LOSS,
                      "lane %u: stack offset %lld outside of the %u bytes in use", lane,
                      (long long)offset, group->stack_pointer * 4);
      return -1;
   }
   return (int64_t)(group->stack_given - group->stack_pointer) * 4 + offset;
}

const struct agxs_uop *AGXS_EXEC(stack_load)(struct agxs_group *group, const struct agxs_uop *uop)
{
   unsigned bytes = agxs_formats[uop->format].bytes;
   uint32_t kept = bytes == 4 ? ~0u : (1u << 8 * bytes) - 1;
   int64_t offset[AGXS_LANES];
   agxs_get_stack_offsets(group, uop, offset);
   AGXS_FOR_LANES (i) {
      unsigned slot = 0;
      for (unsigned e = 0; e < 4 && group->exec.lane[i]; e++) {
         if (!(uop->mask >> e & 1))
            continue;
         int64_t at = find_stack(group, uop, i, offset[i] + e * bytes);
         if (at < 0)
            return NULL;
         uint32_t word = agxs_stack_row(group, (uint32_t)(at / 4))[i];
         agxs_put_lane(group, &uop->dst, slot++, i, word >> (at % 4 * 8) & kept);
      }
   }
   return uop + 1;
}

const struct agxs_uop *AGXS_EXEC(stack_store)(struct agxs_group *group, const struct agxs_uop *uop)
{
   unsigned bytes = agxs_formats[uop->format].bytes;
   uint32_t kept = bytes == 4 ? ~0u : (1u << 8 * bytes) - 1;
   int64_t offset[AGXS_LANES];
   agxs_get_stack_offsets(group, uop, offset);
   AGXS_FOR_LANES (i) {
      unsigned slot = 0;
      for (unsigned e = 0; e < 4 && group->exec.lane[i]; e++) {
         if (!(uop->mask >> e & 1))
            continue;
         int64_t at = find_stack(group, uop, i, offset[i] + e * bytes);
         uint32_t value = agxs_get_lane(group, &uop->src[0], slot++, i) & kept;
         if (at < 0)
            return NULL;
         uint32_t *word = &agxs_stack_row(group, (uint32_t)(at / 4))[i];
         *word = (*word & ~(kept << (at % 4 * 8))) | value << (at % 4 * 8);
      }
   }
   return uop + 1;
}

/* A preamble's results; decoding refuses it elsewhere. imm or the index register: the first
 * half. The first active lane counts; a preamble has one. */
const struct agxs_uop *AGXS_EXEC(uniform_store)(struct agxs_group *group,
                                                const struct agxs_uop *uop)
{
   const struct agxs_dispatch *dispatch = group->worker->dispatch;
   if (!group->active)
      return uop + 1;
   unsigned lane = (unsigned)__builtin_ctz(group->active), slot = 0;
   uint32_t first =
      uop->has_index ? agxs_get_lane(group, &uop->src[2], 0, lane) : (uint32_t)uop->imm;
   for (uint32_t e = 0; e < 4; e++) {
      if (!(uop->mask >> e & 1))
         continue;
      if ((uint64_t)first + e >= dispatch->uniform_count)
         return agxs_group_fail(group, uop, AGX_INVALID_ARGUMENT,
                                "half %u is beyond the %u uniform halves that the launch declares",
                                first + e, dispatch->uniform_count);
      dispatch->uniforms[first + e] = (uint16_t)agxs_get_lane(group, &uop->src[0], slot++, lane);
   }
   agxs_worker_refill(group->worker);
   return uop + 1;
}
