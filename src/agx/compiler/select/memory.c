/* SPDX-License-Identifier: MIT
 *
 * Selection: memory and barriers. A byte offset is taken apart into index and shift where it
 * has that form. A stride's product, or sum, that wraps 32 bits lies outside every binding (less
 * than 2^32 bytes), so index arithmetic may stand for offset arithmetic; a shift that the
 * application wrote (AGXC_INSTR_WRAPS) may wrap, which the hardware's, in 64 bits, would not. What
 * code adds to an address of 64 bits is exact, and taken apart where the hardware can add it.
 *
 *    before   %2 = ishl %1, #2     %3 = load_global u2, %2
 *    after    %3 = agx.load u2, %1, shift 0, format i32
 */
#include "agx/compiler/ir/machine_operand.h"
#include "agx/compiler/select/select_impl.h"
#include "agx/compiler/ir/launch_slots.h"

#define MAX_INDEX_IMM   0x7fff /* both readings of the sign agree; docs/hw/machine.md, section 7 */
#define MAX_INDEX_SHIFT 2      /* beyond the element size */
#define MAX_BASE_HALF   252    /* a base names halves below 256 */

/* ---- device memory ---------------------------------------------------- */

struct address {
   struct agxc_ref base, index;
   unsigned shift;
   bool is_signed;
};

/* Two words in neighbouring uniforms are one base. */
static struct agxc_ref joined(const struct agxc_selector *s, struct agxc_ref base)
{
   const struct agxc_instr *pack = agxc_select_def_is(s, &base, AGXC_OP_PACK64);
   if (!pack)
      return base;
   struct agxc_ref low = *agxc_src_low(pack), high = *agxc_src_high(pack);
   bool is_uniform = low.kind == AGXC_UNIFORM && high.kind == AGXC_UNIFORM;
   return is_uniform && high.half == low.half + 2 && low.half <= MAX_BASE_HALF
             ? agxc_uniform(low.half, 64, 1)
             : base;
}

/* Takes an index out of an address: index * 2^k of 64 bits, or of words that don't wrap. */
static bool match_product(struct agxc_selector *s, struct agxc_ref ref, struct address *out,
                          unsigned *out_log2)
{
   const struct agxc_instr *def = agxc_select_def(s, &ref);
   if (def && def->op == AGXC_OP_PACK64 && agxc_src_high(def)->kind == AGXC_IMM &&
       agxc_src_high(def)->imm == 0) {
      def = agxc_select_def_is(s, agxc_src_low(def), AGXC_OP_ISHL);
      if (!def || agxc_src_b(def)->kind != AGXC_IMM || def->flags & AGXC_INSTR_WRAPS)
         return false;
      *out_log2 = (unsigned)agxc_src_b(def)->imm;
   } else {
      if (!def || (def->op != AGXC_OP_SMUL64 && def->op != AGXC_OP_UMUL64) ||
          agxc_src_b(def)->kind != AGXC_IMM)
         return false;
      uint64_t factor = (uint64_t)agxc_src_b(def)->imm;
      if (!factor || factor & (factor - 1))
         return false;
      *out_log2 = (unsigned)__builtin_ctzll(factor);
   }
   out->is_signed = def->op == AGXC_OP_SMUL64;
   out->index = *agxc_src_a(def);
   return out->index.kind == AGXC_VALUE;
}

/* base + (index << k), where the access itself can add them. */
static bool match_address(struct agxc_selector *s, struct agxc_ref ref, unsigned size_log2,
                          unsigned max_shift, struct address *out)
{
   const struct agxc_instr *sum = agxc_select_def_is(s, &ref, AGXC_OP_IADD);
   for (unsigned i = 0; sum && i < 2; i++) {
      struct address address = {.base = joined(s, *agxc_side(sum, 1 - i))};
      unsigned log2;
      if (address.base.kind == AGXC_IMM || !match_product(s, *agxc_side(sum, i), &address, &log2) ||
          log2 < size_log2 || log2 - size_log2 > max_shift)
         continue;
      address.shift = log2 - size_log2;
      address.index = agxc_select_reg(s, address.index);
      *out = address;
      return true;
   }
   return false;
}

/* The index of elements that an offset in bytes makes, without a shift. */
static struct agxc_ref index_of_bytes(struct agxc_selector *s, struct agxc_ref offset,
                                      unsigned size_log2)
{
   if (offset.kind == AGXC_IMM) {
      const uint64_t elements = (uint64_t)offset.imm >> size_log2;
      const struct agxc_ref index = agxc_imm(elements, 32);
      return elements <= MAX_INDEX_IMM ? index : agxc_select_reg(s, index);
   }
   if (size_log2 == 0)
      return agxc_select_reg(s, offset);
   struct agxc_ref srcs[2] = {agxc_select_int(s, offset), agxc_imm(size_log2, 16)};
   return agxc_select_new(s, AGX_ISA_OP_SHR, 32, 2, srcs);
}

/* offset as element index of 2^size_log2 bytes and a further shift of 0..max_shift. */
static struct address match_offset(struct agxc_selector *s, struct agxc_ref base,
                                   struct agxc_ref offset, unsigned size_log2, unsigned max_shift)
{
   struct address address = {.base = base.kind == AGXC_IMM ? agxc_select_reg(s, base) : base};
   uint32_t added = 0;
   if (offset.kind == AGXC_IMM && offset.imm == 0 &&
       match_address(s, base, size_log2, max_shift, &address))
      return address;
   const struct agxc_instr *sum = agxc_select_def_is(s, &offset, AGXC_OP_IADD);
   if (sum && agxc_src_b(sum)->kind == AGXC_IMM) {
      const struct agxc_instr *shifted = agxc_select_def_is(s, agxc_src_a(sum), AGXC_OP_ISHL);
      if (shifted && agxc_src_b(shifted)->kind == AGXC_IMM &&
          !(shifted->flags & AGXC_INSTR_WRAPS)) {
         added = (uint32_t)agxc_src_b(sum)->imm;
         offset = *agxc_src_a(sum);
      }
   }
   const struct agxc_instr *shl = agxc_select_def_is(s, &offset, AGXC_OP_ISHL);
   if (shl && shl->flags & AGXC_INSTR_WRAPS)
      shl = NULL;
   unsigned amount = shl && agxc_src_b(shl)->kind == AGXC_IMM ? (unsigned)agxc_src_b(shl)->imm : 0;
   if (shl && amount >= size_log2 && amount - size_log2 <= max_shift &&
       added % (1u << amount) == 0) {
      struct agxc_ref index = *agxc_src_a(shl);
      uint32_t steps = (uint32_t)((int32_t)added >> amount);
      address.shift = amount - size_log2;
      if (steps) {
         bool negative = (int32_t)steps < 0 && -steps <= 255;
         struct agxc_ref srcs[2] = {agxc_select_int(s, index),
                                    agxc_select_int(s, agxc_imm(negative ? -steps : steps, 32))};
         index = agxc_select_new(s, negative ? AGX_ISA_OP_ISUB : AGX_ISA_OP_IADD, 32, 2, srcs);
      }
      address.index = agxc_select_reg(s, index);
      return address;
   }
   if (added) /* not of that form after all: the whole sum */
      offset = *agxc_dest(sum);
   address.index = index_of_bytes(s, offset, size_log2);
   return address;
}

/* Where opt_address has put a positive constant of the offset into the base, what is left of it may
 * be below zero; next to a negative one it is above, by more than 31 bits at times. Checked indices
 * are not below zero: sinks lie up to 4 GiB above the base. */
static bool is_signed(const struct agxc_shader *shader, const struct agxc_ref *base,
                      bool is_unchecked)
{
   const struct agx_program_uniform *slot =
      base->kind == AGXC_UNIFORM ? agxc_slot_at(shader, base->half) : NULL;
   return slot && slot->kind == AGX_UNIFORM_BUFFER_ADDRESS && (int64_t)slot->value > 0 &&
          (is_unchecked || !shader->bindings[slot->index].robustness);
}

static struct agxc_ref index_of(const struct agxc_shader *shader, const struct address *address,
                                bool is_unchecked)
{
   struct agxc_ref index = address->index;
   index.sx = index.kind != AGXC_IMM &&
              (address->is_signed || is_signed(shader, &address->base, is_unchecked));
   return index;
}

static unsigned element_log2(unsigned bits)
{
   return bits == 8 ? 0 : bits == 16 ? 1 : 2;
}

static unsigned format_of(unsigned bits)
{
   return bits == 8 ? AGX_ISA_FORMAT_I8 : bits == 16 ? AGX_ISA_FORMAT_I16 : AGX_ISA_FORMAT_I32;
}

static unsigned mask_of(const struct agxc_ref *data)
{
   return (1u << data->count) - 1;
}

static unsigned device_mask(const struct agxc_instr *instr, const struct agxc_ref *data)
{
   return mask_of(data) << ((int64_t)agxc_imm_access(instr) >> AGXC_ACCESS_SKIP_SHIFT);
}

/* Source: docs/hw/machine.md, section 7. */
static unsigned coherency(int64_t access)
{
   return access & AGXC_ACCESS_COHERENT ? AGX_ISA_COHERENT_COHERENT : AGX_ISA_COHERENT_INCOHERENT;
}

static void select_load(struct agxc_selector *s, const struct agxc_instr *instr)
{
   struct agxc_ref dest = agxc_select_dest(instr);
   unsigned bits = agxc_dest(instr)->bits, log2 = element_log2(bits);
   struct address address =
      match_offset(s, *agxc_src_address(instr), *agxc_src_offset(instr), log2, MAX_INDEX_SHIFT);
   bool is_unchecked = agxc_imm_access(instr) & AGXC_ACCESS_UNCHECKED;
   struct agxc_instr *machine = agxc_select_op(s, AGX_ISA_OP_LOAD, dest, address.base,
                                               index_of(s->shader, &address, is_unchecked));
   agxc_set_machine_shift(machine, address.shift);
   agxc_set_machine_format(machine, format_of(bits));
   agxc_set_machine_mask(machine, device_mask(instr, &dest));
   agxc_set_machine_coherency(machine, coherency(agxc_imm_access(instr)));
}

static void select_load_format(struct agxc_selector *s, const struct agxc_instr *instr)
{
   struct agxc_ref dest = agxc_select_dest(instr), index = *agxc_src_index(instr);
   bool is_small = index.kind == AGXC_IMM && index.imm <= MAX_INDEX_IMM;
   struct agxc_instr *machine = agxc_select_op(s, AGX_ISA_OP_LOAD, dest, *agxc_src_address(instr),
                                               is_small ? index : agxc_select_reg(s, index));
   agxc_set_machine_shift(machine, agxc_imm_shift(instr));
   agxc_set_machine_format(machine, agxc_imm_format(instr));
   agxc_set_machine_mask(machine, mask_of(&dest));
   agxc_set_machine_coherency(machine, AGX_ISA_COHERENT_INCOHERENT);
}

/* In registers. Stores and atomics that follow each other often have one constant. */
static struct agxc_ref data_reg(struct agxc_selector *s, struct agxc_ref data)
{
   if (data.kind != AGXC_IMM)
      return agxc_select_reg(s, data);
   if (s->stored_in != s->at.block || !agxc_same_ref(&s->stored, &data)) {
      s->stored_in = s->at.block;
      s->stored = data;
      s->stored_reg = agxc_select_reg(s, data);
   }
   return s->stored_reg;
}

/* In registers; stores cut their elements, so that a narrowed scalar needs no instruction. */
static struct agxc_ref stored(struct agxc_selector *s, struct agxc_ref data)
{
   const struct agxc_instr *def = agxc_select_def_is(s, &data, AGXC_OP_TRUNC);
   if (def && agxc_src_a(def)->bits <= 32)
      data = *agxc_src_a(def);
   return data_reg(s, data);
}

static void select_store(struct agxc_selector *s, const struct agxc_instr *instr)
{
   unsigned bits = agxc_src_data(instr)->bits, log2 = element_log2(bits);
   struct agxc_ref data = stored(s, *agxc_src_data(instr));
   struct address address =
      match_offset(s, *agxc_src_address(instr), *agxc_src_offset(instr), log2, MAX_INDEX_SHIFT);
   bool is_unchecked = agxc_imm_access(instr) & AGXC_ACCESS_UNCHECKED;
   struct agxc_instr *machine = agxc_select_op(s, AGX_ISA_OP_STORE, agxc_none(), data, address.base,
                                               index_of(s->shader, &address, is_unchecked));
   agxc_set_machine_shift(machine, address.shift);
   agxc_set_machine_format(machine, format_of(bits));
   agxc_set_machine_mask(machine, device_mask(instr, &data));
   agxc_set_machine_coherency(machine, coherency(agxc_imm_access(instr)));
}

/* What an atomic reads: the operand, or the pair {new, compare}. */
static struct agxc_ref atomic_source(struct agxc_selector *s, struct agxc_ref data,
                                     struct agxc_ref compare)
{
   if (compare.kind == AGXC_NONE)
      return data_reg(s, data);
   struct agxc_ref pair[2] = {agxc_select_reg(s, data), agxc_select_reg(s, compare)};
   return agxc_collect(&s->at, 2, pair);
}

static struct agxc_ref used_dest(const struct agxc_selector *s, const struct agxc_instr *instr)
{
   struct agxc_value *value = agxc_dest(instr)->value;
   return s->uses[value->id] ? agxc_use(value) : agxc_none();
}

static void select_atomic(struct agxc_selector *s, const struct agxc_instr *instr)
{
   struct agxc_ref source = atomic_source(s, *agxc_src_data(instr), *agxc_src_compare(instr));
   struct address address =
      match_offset(s, *agxc_src_address(instr), *agxc_src_offset(instr), 2, 0);
   bool is_unchecked = instr->flags & AGXC_INSTR_UNCHECKED;
   struct agxc_instr *machine =
      agxc_select_op(s, AGX_ISA_OP_ATOMIC, used_dest(s, instr), source, address.base,
                     index_of(s->shader, &address, is_unchecked));
   agxc_set_machine_op(machine, agxc_imm_atomic(instr));
   agxc_set_machine_coherency(machine, s->shader->chip->atomic_coherency_3 ? 3 : 1);
}

/* ---- threadgroup memory ----------------------------------------------- */

/* What opt_address makes of an offset whose arithmetic does not wrap 16 bits. */
static bool is_half(const struct agxc_selector *s, const struct agxc_ref *ref)
{
   const struct agxc_instr *zext = agxc_select_def_is(s, ref, AGXC_OP_ZEXT);
   return zext && agxc_src_a(zext)->bits == 16;
}

static const struct agxc_instr *scaled(const struct agxc_selector *s, const struct agxc_ref *ref,
                                       unsigned log2)
{
   const struct agxc_instr *shl = agxc_select_def_is(s, ref, AGXC_OP_ISHL);
   return shl && agxc_src_b(shl)->kind == AGXC_IMM && agxc_src_b(shl)->imm == log2 ? shl : NULL;
}

/* Base in bytes and index in elements of 2^log2 bytes, both 16 bits wide. A constant goes into
 * the index, or into the base when an index is scaled; only next to halves, since what the
 * hardware makes of a sum that wraps is not known [U]. A constant that the operand's 16 bits with a
 * sign don't hold stays in the sum. */
static bool fits_index(int32_t constant, unsigned log2)
{
   return constant >> log2 == (int16_t)(constant >> log2);
}

static void match_shared(struct agxc_selector *s, struct agxc_ref offset, unsigned log2,
                         struct agxc_ref *base, struct agxc_ref *index)
{
   *base = agxc_none();
   *index = agxc_imm(0, 16);
   int32_t added = 0;
   const struct agxc_instr *sum = agxc_select_def_is(s, &offset, AGXC_OP_IADD), *shl;
   if (sum && agxc_src_b(sum)->kind == AGXC_IMM && agxc_src_b(sum)->imm % (1 << log2) == 0 &&
       fits_index((int32_t)agxc_src_b(sum)->imm, log2)) {
      shl = scaled(s, agxc_src_a(sum), log2);
      if (is_half(s, shl ? agxc_src_a(shl) : agxc_src_a(sum))) {
         added = (int32_t)agxc_src_b(sum)->imm;
         offset = *agxc_src_a(sum);
      }
   }
   shl = scaled(s, &offset, log2);
   if (offset.kind == AGXC_IMM) {
      index->imm = (int16_t)((uint32_t)offset.imm >> log2); /* signed; outside stays outside */
   } else if (shl && added >= 0) {
      *index = agxc_select_half(s, *agxc_src_a(shl));
      if (added)
         *base = agxc_select_constant(s, (uint64_t)added, 16);
   } else {
      *base = agxc_select_half(s, offset);
      *index = agxc_imm(0, 16);
      index->imm = added >> (int)log2; /* signed */
   }
}

static void select_load_shared(struct agxc_selector *s, const struct agxc_instr *instr)
{
   struct agxc_ref dest = agxc_select_dest(instr), srcs[2];
   unsigned bits = agxc_dest(instr)->bits;
   match_shared(s, *agxc_src_offset(instr), element_log2(bits), &srcs[0], &srcs[1]);
   struct agxc_instr *machine = agxc_select_instr(s, AGX_ISA_OP_LLOAD, dest, 2, srcs);
   agxc_set_machine_format(machine, format_of(bits));
   agxc_set_machine_mask(machine, mask_of(&dest));
   machine->flags = instr->flags;
}

static void select_store_shared(struct agxc_selector *s, const struct agxc_instr *instr)
{
   unsigned bits = agxc_src_data(instr)->bits;
   struct agxc_ref srcs[3] = {stored(s, *agxc_src_data(instr))};
   match_shared(s, *agxc_src_offset(instr), element_log2(bits), &srcs[1], &srcs[2]);
   struct agxc_instr *machine = agxc_select_instr(s, AGX_ISA_OP_LSTORE, agxc_none(), 3, srcs);
   agxc_set_machine_format(machine, format_of(bits));
   agxc_set_machine_mask(machine, mask_of(&srcs[0]));
}

static void select_atomic_shared(struct agxc_selector *s, const struct agxc_instr *instr)
{
   struct agxc_ref srcs[3] = {atomic_source(s, *agxc_src_data(instr), *agxc_src_compare(instr))};
   match_shared(s, *agxc_src_offset(instr), 2, &srcs[1], &srcs[2]);
   struct agxc_instr *machine =
      agxc_select_instr(s, AGX_ISA_OP_LATOMIC, used_dest(s, instr), 3, srcs);
   agxc_set_machine_op(machine, agxc_imm_atomic(instr));
}

/* ---- tables ----------------------------------------------------------- */

void agxc_select_memory(struct agxc_selector *s, const struct agxc_instr *instr)
{
   static const struct {
      uint16_t op;
      void (*select)(struct agxc_selector *, const struct agxc_instr *);
   } functions[] = {
      {AGXC_OP_LOAD_FORMAT, select_load_format},     {AGXC_OP_LOAD_GLOBAL, select_load},
      {AGXC_OP_STORE_GLOBAL, select_store},          {AGXC_OP_ATOMIC_GLOBAL, select_atomic},
      {AGXC_OP_LOAD_SHARED, select_load_shared},     {AGXC_OP_STORE_SHARED, select_store_shared},
      {AGXC_OP_ATOMIC_SHARED, select_atomic_shared},
   };
   for (size_t i = 0; i < AGX_COUNT(functions); i++)
      if (functions[i].op == instr->op)
         functions[i].select(s, instr);
}

/* Source: docs/hw/machine.md, section 9: sequences known to work; what single codes mean is not
 * known. */
static const uint16_t wide_sequence[] = {
   AGX_ISA_OP_MEMORY_BARRIER,   AGX_ISA_OP_UNKNOWN_BARRIER_1, AGX_ISA_OP_MEMORY_BARRIER_2,
   AGX_ISA_OP_DEVICE_BARRIER_2, AGX_ISA_OP_UNKNOWN_BARRIER_2, AGX_ISA_OP_MEMORY_BARRIER_3,
   AGX_ISA_OP_DEVICE_BARRIER_1,
};

/* Known to work for memory that textures then read; image stores alone would need a part. */
static const uint16_t image_before[] = {AGX_ISA_OP_MEMORY_BARRIER, AGX_ISA_OP_MEMORY_BARRIER_2,
                                        AGX_ISA_OP_IMAGE_BARRIER_1, AGX_ISA_OP_IMAGE_BARRIER_2};
static const uint16_t image_after[] = {AGX_ISA_OP_IMAGE_BARRIER_3, AGX_ISA_OP_IMAGE_BARRIER_4,
                                       AGX_ISA_OP_FLUSH_MEMORY_TO_TEXTURE};

static void emit_sequence(struct agxc_selector *s, const uint16_t *opcodes, size_t count)
{
   for (size_t i = 0; i < count; i++)
      agxc_select_instr(s, (enum agx_isa_op)opcodes[i], agxc_none(), 0, NULL);
}

void agxc_select_barrier(struct agxc_selector *s, const struct agxc_instr *instr)
{
   int64_t bits = agxc_imm_barrier(instr);
   /* The execution barrier orders threadgroup memory too; without one an instruction must still
    * keep others from moving accesses across. */
   bool is_fence = bits & AGXC_BARRIER_DEVICE ||
                   (bits & AGXC_BARRIER_SHARED && !(bits & AGXC_BARRIER_EXECUTION));
   unsigned count = bits & AGXC_BARRIER_DEVICE_WIDE ? AGX_COUNT(wide_sequence) : is_fence ? 1 : 0;
   bool is_image = bits & AGXC_BARRIER_IMAGE;
   if (is_image && count == 1)
      count = 0; /* a part of what follows */
   emit_sequence(s, wide_sequence, count);
   emit_sequence(s, image_before, is_image ? AGX_COUNT(image_before) : 0);
   if (bits & AGXC_BARRIER_EXECUTION)
      agxc_select_instr(s, AGX_ISA_OP_BARRIER, agxc_none(), 0, NULL);
   emit_sequence(s, image_after, is_image ? AGX_COUNT(image_after) : 0);
}
