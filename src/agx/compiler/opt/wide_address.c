/* SPDX-License-Identifier: MIT
 *
 * Moves constants out of 64-bit addresses into the offsets of accesses, where they cost nothing and
 * where passes that join and forward accesses see them. Everything is exact in 64 bits; an index of
 * 32 bits loses a constant only where ranges prove that their sum does not wrap.
 *
 *    before   %2 = iadd %i, #1    %3 = umul64 %2, #16    %4 = iadd %p, %3    load_global %4, #0
 *    after    %3 = umul64 %i, #16    %4 = iadd %p, %3    load_global %4, #16
 *
 * Stands behind lower_int64, which leaves these forms of sums and products, and in front of
 * opt_cse, which finds what several accesses share then.
 */
#include "agx/compiler/analysis/offset.h"
#include "agx/compiler/analysis/range.h"
#include "agx/compiler/ir/fold.h"
#include "agx/compiler/opt/opt.h"

#define MAX_DEPTH 6

struct rewriting {
   struct agxc_ranges *ranges;
   struct agxc_builder at;
};

/* The low bits that are 0 whatever the rest is. */
static unsigned zero_bits(const struct agxc_ref *ref)
{
   const struct agxc_instr *shl = agxc_def_as(*ref, AGXC_OP_ISHL);
   bool is_shift = shl && agxc_src_b(shl)->kind == AGXC_IMM && agxc_src_b(shl)->imm < 32;
   return is_shift ? (unsigned)agxc_src_b(shl)->imm : 0;
}

/* The x of word = x + c, where that is so for their numbers; else the word itself. */
static struct agxc_ref without_constant(const struct rewriting *rw, struct agxc_ref word,
                                        bool is_signed, uint64_t *out_constant)
{
   const struct agxc_instr *sum = agxc_def_as(word, AGXC_OP_IADD);
   *out_constant = 0;
   if (!sum || agxc_src_b(sum)->kind != AGXC_IMM || word.bits != 32)
      return word;
   uint64_t c = (uint32_t)agxc_src_b(sum)->imm;
   uint64_t most = agxc_range_max(rw->ranges, agxc_src_a(sum)) + c;
   if (most > (is_signed ? INT32_MAX : UINT32_MAX) && c >> zero_bits(agxc_src_a(sum)))
      return word;
   *out_constant = c;
   return *agxc_src_a(sum);
}

/* ref without its constant part, which is added to *constant. */
static struct agxc_ref split(struct rewriting *rw, struct agxc_ref ref, unsigned depth,
                             uint64_t *constant)
{
   const struct agxc_instr *def = agxc_def_of(ref);
   if (ref.kind == AGXC_IMM) {
      *constant += (uint64_t)ref.imm;
      return agxc_imm(0, 64);
   }
   if (!def || depth == 0)
      return ref;
   uint64_t c = 0;
   if (def->op == AGXC_OP_IADD) {
      struct agxc_ref a = split(rw, *agxc_src_a(def), depth - 1, &c);
      struct agxc_ref b = split(rw, *agxc_src_b(def), depth - 1, &c);
      *constant += c;
      return c ? agxc_build2_folded(&rw->at, AGXC_OP_IADD, 64, a, b) : ref;
   }
   bool is_signed = def->op == AGXC_OP_SMUL64;
   if ((is_signed || def->op == AGXC_OP_UMUL64) && agxc_src_b(def)->kind == AGXC_IMM) {
      struct agxc_ref by = *agxc_src_b(def);
      struct agxc_ref x = without_constant(rw, *agxc_src_a(def), is_signed, &c);
      *constant += c * (is_signed ? (uint64_t)(int32_t)by.imm : (uint64_t)by.imm);
      return c ? agxc_build2(&rw->at, (enum agxc_op)def->op, 64, x, by) : ref;
   }
   if (def->op == AGXC_OP_PACK64 && agxc_src_high(def)->kind == AGXC_IMM) {
      struct agxc_ref x = without_constant(rw, *agxc_src_low(def), false, &c);
      *constant += c;
      return c ? agxc_build_pack64(&rw->at, x, *agxc_src_high(def)) : ref;
   }
   return ref;
}

static void visit(struct rewriting *rw, struct agxc_instr *instr)
{
   struct agxc_ref *address = agxc_src_address(instr), *offset = agxc_src_offset(instr);
   uint64_t constant = 0;
   if (offset->kind != AGXC_IMM)
      return;
   struct agxc_ref rest = split(rw, *address, MAX_DEPTH, &constant);
   constant += (uint64_t)offset->imm;
   if (constant > AGXC_MAX_CONSTANT_B)
      return;
   *address = rest;
   *offset = agxc_u32(constant);
}

static bool is_candidate(const struct agxc_instr *instr)
{
   return instr->op >= AGXC_OP_LOAD_GLOBAL && instr->op <= AGXC_OP_ATOMIC_GLOBAL &&
          agxc_def_as(*agxc_src_address(instr), AGXC_OP_IADD);
}

bool agxc_opt_wide_address(struct agxc_shader *shader)
{
   bool any = false;
   agxc_index(shader);
   agxc_foreach_instr_of (instr, shader)
      any |= is_candidate(instr);
   if (!any)
      return false;
   struct rewriting rw = {.ranges = agxc_ranges_compute(shader)};
   agxc_foreach_instr_of_safe (instr, shader) {
      if (!is_candidate(instr))
         continue;
      rw.at = agxc_before(shader, instr);
      visit(&rw, instr);
   }
   return true;
}
