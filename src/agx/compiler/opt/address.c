/* SPDX-License-Identifier: MIT
 *
 * Brings byte offsets into the form that accesses compute for nothing. Stands behind
 * lower_robust, whose checks need index and stride apart, and in front of the last opt_cse.
 *
 * Device memory, before: any offset. After: `index << shift`, shift at most two beyond the
 * element's size, and constants inside the base: a binding's address plus a constant is just
 * another uniform of the launch words. Workgroup memory, after: a 16-bit value, perhaps scaled
 * by the element's size, and a constant, where it is proved that no part exceeds 16 bits.
 * opt_cse then finds what several accesses share.
 *
 * Why an index may stand for an offset that was computed modulo 2^32: the outermost factor of
 * each summand is a stride of the access chain, a multiple of the element's size, and products of
 * strides and indices do not wrap in bounds: a binding has less than 2^32 bytes (hal/record refuses
 * larger ones). What the application itself computes (AGXC_INSTR_WRAPS) stays below that factor and
 * wraps as it likes, but where a range proves that it does not; opt_algebraic keeps the two apart.
 * So index + c / 2^s, modulo 2^32, is a number below 2^(32-s), with s of at least 1, and |c| < 2^31
 * (analysis/offset.h): for c > 0 the index read with its sign, which is less than 2^31, is what
 * belongs to base + c, for c < 0 the index without a sign. select/memory.c reads it so where c is
 * in the base. Bytes have no factor: there a range must prove it.
 */
#include "agx/compiler/analysis/limits.h"
#include "agx/compiler/analysis/memory_ref.h"
#include "agx/compiler/analysis/offset.h"
#include "agx/compiler/analysis/range.h"
#include "agx/compiler/ir/fold.h"
#include "agx/compiler/opt/opt.h"
#include "agx/compiler/ir/launch_slots.h"

/* Deep enough for what front ends make; bounds the work for one offset. */
#define MAX_DEPTH 6
#define MAX_SHIFT 2 /* beyond the element size */

struct rewriting {
   struct agxc_shader *shader;
   struct agxc_ranges *ranges;
   struct agxc_builder at;
};

/* ---- expressions ------------------------------------------------------ */

static bool is_constant(const struct agxc_ref *ref)
{
   return ref->kind == AGXC_IMM;
}

static bool fits(int64_t value)
{
   return value == (int32_t)value;
}

static struct agxc_ref build(struct rewriting *rw, enum agxc_op op, struct agxc_ref a,
                             struct agxc_ref b)
{
   return agxc_build2_folded(&rw->at, op, 32, a, b);
}

/* ref without its constant part, which is added to *constant. */
static struct agxc_ref split(struct rewriting *rw, struct agxc_ref ref, unsigned depth,
                             int64_t *constant)
{
   if (is_constant(&ref)) {
      *constant += (int32_t)ref.imm;
      return agxc_u32(0);
   }
   const struct agxc_instr *def = agxc_def_of(ref);
   if (!def || depth == 0)
      return ref;
   int64_t inner = 0;
   if (def->op == AGXC_OP_IADD) {
      struct agxc_ref a = split(rw, *agxc_src_a(def), depth - 1, &inner);
      struct agxc_ref b = split(rw, *agxc_src_b(def), depth - 1, &inner);
      if (inner == 0 || !fits(inner))
         return ref;
      *constant += inner;
      return build(rw, AGXC_OP_IADD, a, b);
   }
   uint64_t by = agxc_offset_factor(def);
   if (!by || (def->op == AGXC_OP_ISHL && by > INT32_MAX))
      return ref;
   int64_t factor = (int32_t)by;
   struct agxc_ref a = split(rw, *agxc_src_a(def), depth - 1, &inner);
   if (inner == 0 || !fits(inner) || !agxc_may_move(inner * factor))
      return ref;
   *constant += inner * factor;
   struct agxc_ref product = build(rw, (enum agxc_op)def->op, a, *agxc_src_b(def));
   if ((def->flags & AGXC_INSTR_WRAPS) && product.kind == AGXC_VALUE &&
       product.value->def->op == def->op)
      product.value->def->flags |= AGXC_INSTR_WRAPS;
   return product;
}

/* The power of two that every summand of ref is multiplied by: 2^result. */
static unsigned twos(struct rewriting *rw, const struct agxc_ref *ref, unsigned depth)
{
   if (is_constant(ref))
      return ref->imm ? (unsigned)__builtin_ctzll((uint64_t)ref->imm) : 31;
   const struct agxc_instr *def = agxc_def_of(*ref);
   if (!def || depth == 0)
      return 0;
   if (def->op == AGXC_OP_IADD)
      return AGX_MIN(twos(rw, agxc_src_a(def), depth - 1), twos(rw, agxc_src_b(def), depth - 1));
   uint64_t by = agxc_offset_factor(def);
   /* What the application wrote counts only where it is what it would be in 64 bits. */
   if (!by || ((def->flags & AGXC_INSTR_WRAPS) &&
               agxc_range_max(rw->ranges, agxc_src_a(def)) * by > UINT32_MAX))
      return 0;
   return AGX_MIN((unsigned)__builtin_ctzll(by), 31u);
}

/* ref / 2^shift, for shift <= twos(ref, depth). */
static struct agxc_ref divide(struct rewriting *rw, struct agxc_ref ref, unsigned shift,
                              unsigned depth)
{
   if (shift == 0)
      return ref;
   if (is_constant(&ref))
      return agxc_u32((uint32_t)((int32_t)ref.imm >> shift));
   const struct agxc_instr *def = agxc_def_of(ref);
   struct agxc_ref a = *agxc_src_a(def), b = *agxc_src_b(def);
   if (def->op == AGXC_OP_IADD) {
      a = divide(rw, a, shift, depth - 1);
      return build(rw, AGXC_OP_IADD, a, divide(rw, b, shift, depth - 1));
   }
   uint32_t left =
      def->op == AGXC_OP_ISHL ? (uint32_t)b.imm - shift : (uint32_t)((int32_t)b.imm >> shift);
   return build(rw, (enum agxc_op)def->op, a, agxc_u32(left));
}

/* ---- device memory ---------------------------------------------------- */

static struct agxc_ref base_plus(struct rewriting *rw, const struct agxc_memory_ref *memory,
                                 int64_t constant)
{
   return agxc_uniform_slot(rw->shader, AGX_UNIFORM_BUFFER_ADDRESS, memory->binding,
                            (uint64_t)constant, 64);
}

static void rewrite_device(struct rewriting *rw, struct agxc_instr *instr,
                           const struct agxc_memory_ref *memory)
{
   struct agxc_ref *base = agxc_src_address(instr);
   struct agxc_ref *offset = agxc_src_offset(instr);
   unsigned log2 = (unsigned)__builtin_ctz(memory->bits / 8u);
   bool is_atomic = memory->reads && memory->writes;
   int64_t constant = 0;
   struct agxc_ref index = split(rw, *offset, MAX_DEPTH, &constant);
   unsigned shift = AGX_MIN(twos(rw, &index, MAX_DEPTH), log2 + (is_atomic ? 0 : MAX_SHIFT));
   /* Of bytes the application counts all: neither what it multiplied nor the sum may wrap. */
   if (shift < log2 || (log2 == 0 && (constant < 0 || agxc_range_max(rw->ranges, &index) >=
                                                         UINT32_MAX - (uint64_t)constant)))
      shift = 0;
   /* Without a shift the index of a byte may be any number of 32 bits. */
   bool in_base =
      memory->is_binding && constant != 0 && shift && agxc_has_room_for_base(rw->shader);
   if (!in_base && shift && constant % (1ll << shift) && constant % (1ll << log2) == 0)
      shift = log2;
   if (!in_base && constant % (1ll << shift))
      return;
   if (is_constant(&index)) {
      if (in_base && constant >> log2 > INT16_MAX)
         *base = base_plus(rw, memory, constant), *offset = agxc_u32(0);
      return;
   }
   index = divide(rw, index, shift, MAX_DEPTH);
   if (in_base)
      *base = base_plus(rw, memory, constant);
   else
      index = build(rw, AGXC_OP_IADD, index, agxc_u32((uint32_t)(constant >> shift)));
   *offset = build(rw, AGXC_OP_ISHL, index, agxc_u32(shift));
}

/* ---- workgroup memory ------------------------------------------------- */

static void rewrite_shared(struct rewriting *rw, struct agxc_instr *instr,
                           const struct agxc_memory_ref *memory)
{
   struct agxc_ref *offset = agxc_src_offset(instr);
   int64_t constant = 0, element_B = memory->bits / 8;
   if (is_constant(offset))
      return;
   struct agxc_ref index = split(rw, *offset, MAX_DEPTH, &constant);
   if (is_constant(&index)) {
      *offset = agxc_u32((uint32_t)constant);
      return;
   }
   bool in_field = constant % element_B == 0 && constant > -0x8000 && constant < 0x8000 &&
                   agxc_range_max(rw->ranges, &index) <= 0xffff;
   if (!in_field) {
      index = *offset;
      constant = 0;
      if (agxc_range_max(rw->ranges, &index) > 0xffff)
         return;
   }
   const struct agxc_instr *shl = agxc_def_of(index);
   unsigned log2 = (unsigned)__builtin_ctz((unsigned)element_B);
   bool shifts = shl && shl->op == AGXC_OP_ISHL && is_constant(agxc_src_b(shl)) && log2 &&
                 agxc_src_b(shl)->imm == log2 && constant >= 0;
   if (shifts)
      index = *agxc_src_a(shl);
   struct agxc_ref half = agxc_build_trunc(&rw->at, 16, index);
   struct agxc_ref whole = agxc_build_zext(&rw->at, 32, half);
   if (shifts)
      whole = build(rw, AGXC_OP_ISHL, whole, agxc_u32(log2));
   *offset = build(rw, AGXC_OP_IADD, whole, agxc_u32((uint32_t)constant));
}

bool agxc_opt_address(struct agxc_shader *shader)
{
   struct rewriting rw = {.shader = shader, .ranges = agxc_ranges_compute(shader)};
   agxc_foreach_instr_of_safe (instr, shader) {
      struct agxc_memory_ref memory;
      if (!agxc_memory_ref_find(shader, instr, &memory))
         continue;
      rw.at = agxc_before(shader, instr);
      if (memory.space == AGXC_SPACE_DEVICE)
         rewrite_device(&rw, instr, &memory);
      else if (memory.space == AGXC_SPACE_SHARED)
         rewrite_shared(&rw, instr, &memory);
   }
   return true;
}
