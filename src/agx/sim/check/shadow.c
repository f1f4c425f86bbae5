/* SPDX-License-Identifier: MIT
 *
 * The shadow of undefined bits: makes room for it, reads and writes masks as lanes.h does
 * values, and calls the rule of each instruction (shadow_*.c). check.c calls it around
 * every instruction of check mode.
 */
#include "agx/sim/check/shadow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agx/sim/check/shadow_impl.h"
#include "base/util.h"

#define RULE(exec, name) [AGXS_X_##exec] = agxs_shadow_##name

static agxs_shadow_rule *const rules[AGXS_X_COUNT] = {
   RULE(mov, move),
   RULE(iadd, add),
   RULE(iadd64, add),
   RULE(iadd_sat, add),
   RULE(imadd, multiply),
   RULE(imadd64, multiply),
   RULE(imadd_sat, multiply),
   RULE(bitop, bitop),
   RULE(bfi, field),
   RULE(bfeil, field),
   RULE(extr, field),
   RULE(shlhi, shift_high),
   RULE(shrhi, shift_high),
   RULE(asr, asr),
   RULE(asrh, asr),
   RULE(bitrev, bitrev),
   RULE(popcnt, count),
   RULE(ffs, ffs),
   RULE(intl, intl),
   RULE(icsel, select),
   RULE(fcsel, select),
   /* Floats: one undefined bit and the result is undefined. */
   RULE(fadd, whole),
   RULE(fmul, whole),
   RULE(ffma, whole),
   RULE(hadd, whole),
   RULE(hmul, whole),
   RULE(hfma, whole),
   RULE(floor, whole),
   RULE(ceil, whole),
   RULE(trunc, whole),
   RULE(rint, whole),
   RULE(rcp, whole),
   RULE(rsqrt, whole),
   RULE(rsqrts, whole),
   RULE(log2, whole),
   RULE(exp2, whole),
   RULE(sinr, whole),
   RULE(sinc, whole),
   RULE(f_to_int, whole),
   RULE(int_to_f, int_to_f),
   RULE(dfdx, derive),
   RULE(dfdy, derive),
   /* Control. */
   RULE(stop, nothing),
   RULE(trap, nothing),
   RULE(jmp_any, nothing),
   RULE(jmp_none, nothing),
   RULE(link, nothing),
   RULE(refuse, nothing),
   RULE(nop, nothing),
   RULE(jump, nothing),
   RULE(wait, nothing),
   RULE(membar, nothing),
   RULE(barrier, nothing),
   RULE(mfsr, defines),
   RULE(call, defines),
   RULE(call_reg, register_jump),
   RULE(ret, register_jump),
   RULE(pop_exec, mask),
   RULE(if_icmp, mask),
   RULE(else_icmp, mask),
   RULE(while_icmp, mask),
   RULE(if_fcmp, mask),
   RULE(else_fcmp, mask),
   RULE(while_fcmp, mask),
   /* Memory. */
   RULE(load, load),
   RULE(store, store),
   RULE(atomic, atomic),
   RULE(lload, lload),
   RULE(lstore, lstore),
   RULE(latomic, latomic),
   RULE(stack_adjust, stack_adjust),
   RULE(stack_load, stack_load),
   RULE(stack_store, stack_store),
   RULE(uniform_store, uniform_store),
   /* Lanes. */
   RULE(icmp_ballot, ballot),
   RULE(fcmp_ballot, ballot),
   RULE(shuffle, shuffle),
   RULE(reduce, reduce),
   RULE(matrix, matrix),
   /* Textures, images, tiles. */
   RULE(sample, sample),
   RULE(image_write, image_write),
   RULE(image_write_block, image_block),
   RULE(texture_state, image_state),
   RULE(sampler_state, image_state),
   RULE(tile_load, tile),
   RULE(tile_store, tile),
};

static agx_status make_room(void **memory, uint64_t *capacity, uint64_t count, size_t size)
{
   if (count <= *capacity)
      return AGX_OK;
   free(*memory);
   *capacity = 0;
   *memory = aligned_alloc(64, agx_align_up(count * size, 64));
   if (!*memory)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "worker: out of memory for checking");
   *capacity = count;
   return AGX_OK;
}

agx_status agxs_shadow_begin(struct agxs_worker *worker, uint64_t groups, uint64_t rows,
                             uint64_t stack_words)
{
   if (!worker->shadow)
      worker->shadow = calloc(1, sizeof(*worker->shadow));
   struct agxs_shadow_store *store = worker->shadow;
   if (!store)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "worker: out of memory for checking");
   AGX_TRY(make_room((void **)&store->groups, &store->group_capacity, groups,
                     sizeof(struct agxs_shadow)));
   AGX_TRY(make_room((void **)&store->rows, &store->row_capacity, rows, sizeof(struct agxs_row)));
   return make_room((void **)&store->stack, &store->stack_capacity, stack_words, sizeof(uint32_t));
}

void agxs_shadow_fini(struct agxs_worker *worker)
{
   if (!worker->shadow)
      return;
   free(worker->shadow->groups);
   free(worker->shadow->rows);
   free(worker->shadow->stack);
   free(worker->shadow);
   worker->shadow = NULL;
}

void agxs_shadow_start_workgroup(struct agxs_worker *worker)
{
   memset(worker->shadow->shared, 0xff, worker->dispatch->shared_bytes);
}

void agxs_shadow_start_group(struct agxs_group *group, uint32_t rows)
{
   struct agxs_shadow_store *store = group->worker->shadow;
   struct agxs_shadow *shadow = &store->groups[group->index];
   uint64_t stack = (uint64_t)group->stack_words * AGXS_LANES;
   memset(shadow, 0, sizeof(*shadow));
   shadow->regs = store->rows + (size_t)group->index * rows;
   memset(shadow->regs, 0xff, rows * sizeof(*shadow->regs));
   shadow->stack = stack ? store->stack + group->index * stack : NULL;
   if (stack)
      memset(shadow->stack, 0xff, stack * sizeof(*shadow->stack));
   group->shadow = shadow;
}

/* ---- masks of sources and destinations ------------------------------------ */

static bool is_loaded(const struct agxs_dispatch *dispatch, uint32_t half)
{
   return !dispatch->uniform_loaded || (dispatch->uniform_loaded[half / 64] >> half % 64 & 1);
}

/* Undefined bits of a pool row: of uniforms that nothing loaded. */
static uint32_t pool_mask(const struct agxs_group *group, uint32_t row)
{
   const struct agxs_constant *constant = &group->kernel->constants[row];
   const struct agxs_dispatch *dispatch = group->worker->dispatch;
   if (!constant->is_uniform)
      return 0;
   uint32_t half = constant->value + (constant->is_high ? 2 : 0);
   uint32_t mask = is_loaded(dispatch, half) ? 0 : 0xffff;
   if (constant->bits != 16)
      mask |= is_loaded(dispatch, half + 1) ? 0 : 0xffff0000u;
   else if (constant->is_signed)
      mask = mask ? ~0u : 0;
   return constant->is_float && mask ? ~0u : mask;
}

void agxs_shadow_get(const struct agxs_group *group, const struct agxs_source *source,
                     struct agxs_row *out)
{
   if (source->bank == AGXS_BANK_POOL) {
      uint32_t mask = pool_mask(group, source->row);
      AGXS_FOR_LANES (i)
         out->lane[i] = mask;
      return;
   }
   const struct agxs_row *row = &group->shadow->regs[source->row];
   AGXS_FOR_LANES (i)
      out->lane[i] =
         ((row->lane[i] << source->left >> source->right) ^ source->sign) - source->sign;
}

void agxs_shadow_get64(const struct agxs_group *group, const struct agxs_source *source,
                       uint64_t *out)
{
   struct agxs_row low, high;
   struct agxs_source upper = *source;
   agxs_shadow_get(group, source, &low);
   if (source->bits == 64) {
      upper.row++;
      agxs_shadow_get(group, &upper, &high);
   } else {
      AGXS_FOR_LANES (i)
         high.lane[i] = source->is_signed && low.lane[i] >> 31 ? ~0u : 0;
   }
   AGXS_FOR_LANES (i)
      out[i] = low.lane[i] | (uint64_t)high.lane[i] << 32;
}

static unsigned first_half(const struct agxs_source *source)
{
   return source->row * 2u + (source->bits == 16 && source->left == 0);
}

uint32_t agxs_shadow_get_lane(const struct agxs_group *group, const struct agxs_source *source,
                              unsigned index, unsigned lane)
{
   if (source->bank == AGXS_BANK_POOL)
      return pool_mask(group, source->row);
   unsigned half = first_half(source) + index * (source->bits / 16);
   uint32_t mask = group->shadow->regs[half / 2].lane[lane];
   if (source->bits != 16)
      return mask;
   return half & 1 ? mask >> 16 : mask & 0xffff;
}

struct agxs_cause agxs_shadow_cause(const struct agxs_group *group,
                                    const struct agxs_source *source, unsigned index)
{
   if (source->bank == AGXS_BANK_POOL)
      return (struct agxs_cause){AGXS_CAUSE_UNIFORM, group->kernel->constants[source->row].value};
   unsigned half = first_half(source) + index * (source->bits / 16);
   return group->shadow->cause[half % AGX_GPR_HALVES];
}

/* The cause of the first source that has undefined bits in an active lane. */
static struct agxs_cause cause_of_sources(const struct agxs_group *group,
                                          const struct agxs_uop *uop)
{
   for (unsigned s = 0; s < AGXS_MAX_SOURCES; s++) {
      const struct agxs_source *source = &uop->src[s];
      uint64_t mask[AGXS_LANES];
      if (!source->bits)
         continue;
      agxs_shadow_get64(group, source, mask);
      AGXS_FOR_LANES (i) {
         if (mask[i] && group->exec.lane[i])
            return agxs_shadow_cause(group, source, 0);
      }
   }
   return (struct agxs_cause){0};
}

static void set_cause(struct agxs_shadow *shadow, const struct agxs_dest *dest,
                      struct agxs_cause cause)
{
   unsigned half = dest->row * 2u + dest->shift / 16;
   for (unsigned i = 0; i < dest->bits / 16u; i++)
      shadow->cause[(half + i) % AGX_GPR_HALVES] = cause;
}

void agxs_shadow_put(struct agxs_group *group, const struct agxs_uop *uop,
                     const struct agxs_row *undefined)
{
   const struct agxs_dest *dest = &uop->dst;
   struct agxs_row *row = &group->shadow->regs[dest->row];
   uint32_t any = 0;
   AGXS_FOR_LANES (i)
      any |= (undefined->lane[i] << dest->shift) & dest->mask & group->exec.lane[i];
   if (any)
      set_cause(group->shadow, dest, cause_of_sources(group, uop));
   AGXS_FOR_LANES (i) {
      uint32_t written = dest->mask & group->exec.lane[i];
      row->lane[i] = (row->lane[i] & ~written) | ((undefined->lane[i] << dest->shift) & written);
   }
}

void agxs_shadow_put64(struct agxs_group *group, const struct agxs_uop *uop,
                       const uint64_t *undefined)
{
   struct agxs_row *row = &group->shadow->regs[uop->dst.row];
   uint64_t any = 0;
   AGXS_FOR_LANES (i)
      any |= group->exec.lane[i] ? undefined[i] : 0;
   if (any)
      set_cause(group->shadow, &uop->dst, cause_of_sources(group, uop));
   AGXS_FOR_LANES (i) {
      if (!group->exec.lane[i])
         continue;
      row[0].lane[i] = (uint32_t)undefined[i];
      row[1].lane[i] = (uint32_t)(undefined[i] >> 32);
   }
}

void agxs_shadow_put_lane(struct agxs_group *group, const struct agxs_dest *dest, unsigned index,
                          unsigned lane, uint32_t undefined, struct agxs_cause cause)
{
   unsigned half = dest->row * 2u + dest->shift / 16 + index * (dest->bits / 16u);
   uint32_t *at = &group->shadow->regs[half / 2].lane[lane];
   if (dest->bits == 32)
      *at = undefined;
   else
      *at =
         half & 1 ? (*at & 0xffff) | undefined << 16 : (*at & 0xffff0000u) | (undefined & 0xffff);
   for (unsigned i = 0; undefined && i < dest->bits / 16u; i++)
      group->shadow->cause[(half + i) % AGX_GPR_HALVES] = cause;
}

/* ---- reports ---------------------------------------------------------------- */

uint32_t agxs_shadow_pc(const struct agxs_group *group, const struct agxs_uop *uop)
{
   return group->kernel->info[uop - group->kernel->uops].pc;
}

static void describe_cause(struct agxs_cause cause, char *text, size_t capacity)
{
   char half = cause.at & 1 ? 'h' : 'l';
   switch (cause.kind) {
   case AGXS_CAUSE_DISCARD:
      snprintf(text, capacity, "pc 0x%x discarded it: too early, or where not all lanes are active",
               cause.at);
      break;
   case AGXS_CAUSE_UNIFORM:
      snprintf(text, capacity, "no launch word or preamble loaded u%u%c", cause.at / 2, half);
      break;
   case AGXS_CAUSE_SHARED:
      snprintf(text, capacity, "nothing stored threadgroup memory at 0x%x", cause.at);
      break;
   case AGXS_CAUSE_CLOBBERED:
      snprintf(text, capacity, "pc 0x%x, a texture operation, changed it besides its results",
               cause.at);
      break;
   case AGXS_CAUSE_STACK:
      snprintf(text, capacity, "nothing stored stack byte %u", cause.at);
      break;
   default:
      snprintf(text, capacity, "nothing wrote it");
      break;
   }
}

bool agxs_shadow_report(struct agxs_group *group, const struct agxs_uop *uop,
                        const struct agxs_source *source, unsigned index, unsigned lane,
                        uint32_t undefined, const char *what)
{
   char name[16], why[96];
   unsigned half = source->bank == AGXS_BANK_POOL
                      ? group->kernel->constants[source->row].value
                      : first_half(source) + index * (source->bits / 16u);
   bool is_half = source->bank == AGXS_BANK_POOL ? group->kernel->constants[source->row].bits == 16
                                                 : source->bits == 16;
   snprintf(name, sizeof(name), "%c%u%s", source->bank == AGXS_BANK_POOL ? 'u' : 'r', half / 2,
            !is_half   ? ""
            : half & 1 ? "h"
                       : "l");
   describe_cause(agxs_shadow_cause(group, source, index), why, sizeof(why));
   agxs_group_fail(group, uop, AGX_FAILED_PRECONDITION,
                   "check: %s of lane %u (thread %u) reaches %s, but bits 0x%x are undefined: %s",
                   name, lane, group->index * AGXS_LANES + lane, what, undefined, why);
   return false;
}

bool agxs_shadow_demand(struct agxs_group *group, const struct agxs_uop *uop,
                        const struct agxs_source *source, uint32_t lanes, const char *what)
{
   uint64_t mask[AGXS_LANES];
   if (!source->bits)
      return true;
   agxs_shadow_get64(group, source, mask);
   AGXS_FOR_LANES (i) {
      if (!mask[i] || !(lanes >> i & 1))
         continue;
      struct agxs_source word = *source;
      bool is_upper = source->bits == 64 && !(uint32_t)mask[i];
      word.row = (uint16_t)(word.row + is_upper);
      word.bits = source->bits == 64 ? 32 : source->bits;
      return agxs_shadow_report(group, uop, &word, 0, i,
                                (uint32_t)(is_upper ? mask[i] >> 32 : mask[i]), what);
   }
   return true;
}

/* ---- rules that know no operation ---------------------------------------------- */

bool agxs_shadow_nothing(struct agxs_group *group, const struct agxs_uop *uop)
{
   return true;
}

static const struct agxs_uop_regs *regs_of(const struct agxs_group *group,
                                           const struct agxs_uop *uop)
{
   return &group->kernel->regs[uop - group->kernel->uops];
}

/* Sets the halves to undefined (all ones) or defined (0) in some lanes. */
static void set_halves(struct agxs_shadow *shadow, const uint64_t *halves, uint32_t lanes,
                       uint32_t undefined)
{
   for (unsigned word = 0; word < 4; word++) {
      for (uint64_t left = halves[word]; left; left &= left - 1) {
         unsigned half = word * 64 + (unsigned)__builtin_ctzll(left);
         uint32_t mask = half & 1 ? 0xffff0000u : 0xffff;
         AGXS_FOR_LANES (i) {
            uint32_t *at = &shadow->regs[half / 2].lane[i];
            if (lanes >> i & 1)
               *at = (*at & ~mask) | (undefined & mask);
         }
      }
   }
}

bool agxs_shadow_defines(struct agxs_group *group, const struct agxs_uop *uop)
{
   set_halves(group->shadow, regs_of(group, uop)->writes, group->active, 0);
   return true;
}

/* Lanes in which a register that the instruction reads has undefined bits; *out_half is one
 * of those registers. */
static uint32_t undefined_lanes(const struct agxs_group *group, const struct agxs_uop *uop,
                                unsigned *out_half)
{
   const uint64_t *reads = regs_of(group, uop)->reads;
   uint32_t lanes = 0;
   for (unsigned word = 0; word < 4; word++) {
      for (uint64_t left = reads[word]; left; left &= left - 1) {
         unsigned half = word * 64 + (unsigned)__builtin_ctzll(left);
         uint32_t mask = half & 1 ? 0xffff0000u : 0xffff, found = 0;
         AGXS_FOR_LANES (i)
            found |= (uint32_t)((group->shadow->regs[half / 2].lane[i] & mask) != 0) << i;
         if (found & group->active & ~lanes)
            *out_half = half;
         lanes |= found;
      }
   }
   return lanes & group->active;
}

/* For executions without a rule of their own. */
static bool propagate_whole(struct agxs_group *group, const struct agxs_uop *uop)
{
   unsigned half = 0;
   uint32_t lanes = undefined_lanes(group, uop, &half);
   for (unsigned s = 0; s < AGXS_MAX_SOURCES; s++) {
      if (uop->src[s].bits && uop->src[s].bank == AGXS_BANK_POOL &&
          pool_mask(group, uop->src[s].row))
         lanes = group->active;
   }
   const uint64_t *writes = regs_of(group, uop)->writes;
   set_halves(group->shadow, writes, group->active & ~lanes, 0);
   set_halves(group->shadow, writes, lanes, ~0u);
   return true;
}

bool agxs_shadow_before(struct agxs_group *group, const struct agxs_uop *uop)
{
   agxs_shadow_rule *rule = rules[uop->exec_index];
   group->shadow->active = group->active;
   return rule ? rule(group, uop) : propagate_whole(group, uop);
}

/* A discarded register loses what was not written back, in all lanes: those that are
 * inactive too, which a result in the same register does not replace. Source:
 * docs/hw/machine.md 2. */
void agxs_shadow_after(struct agxs_group *group, const struct agxs_uop *uop)
{
   const struct agxs_uop_regs *regs = regs_of(group, uop);
   struct agxs_shadow *shadow = group->shadow;
   uint32_t pc = agxs_shadow_pc(group, uop);
   for (unsigned word = 0; word < 4; word++) {
      for (uint64_t left = regs->discards[word]; left; left &= left - 1) {
         unsigned half = word * 64 + (unsigned)__builtin_ctzll(left);
         bool is_written = regs->writes[word] & left & (0 - left);
         uint32_t lanes = is_written ? ~shadow->active : ~0u;
         uint32_t mask = half & 1 ? 0xffff0000u : 0xffff;
         AGXS_FOR_LANES (i) {
            uint32_t lost = mask & (0u - (lanes >> i & 1));
            uint32_t *at = &group->regs[half / 2].lane[i];
            *at = (*at & ~lost) | (AGXS_POISON & lost);
            shadow->regs[half / 2].lane[i] |= lost;
         }
         if (lanes & group->exists)
            shadow->cause[half] = (struct agxs_cause){AGXS_CAUSE_DISCARD, pc};
      }
   }
}
