/* SPDX-License-Identifier: MIT
 *
 * Selection: operands. What a source field can hold is in docs/hw/machine.md, sections 3 and 4;
 * constants that no immediate holds become uniforms, which cost no instruction, or ldimm when
 * uniforms run short.
 */
#include "agx/compiler/ir/machine_operand.h"
#include "agx/compiler/select/select_impl.h"
#include "agx/compiler/ir/launch_slots.h"
#include "base/half.h"

#include <string.h>

/* Uniform halves that constants may fill up to; the rest is for bindings and push data. */
#define CONSTANT_HALVES_LIMIT 448

const struct agxc_instr *agxc_select_def(const struct agxc_selector *s, const struct agxc_ref *ref)
{
   if (ref->kind != AGXC_VALUE || ref->value->id >= s->value_count)
      return NULL;
   return s->defs[ref->value->id];
}

const struct agxc_instr *agxc_select_def_is(const struct agxc_selector *s,
                                            const struct agxc_ref *ref, enum agxc_op op)
{
   const struct agxc_instr *def = agxc_select_def(s, ref);
   return def && def->op == op ? def : NULL;
}

bool agxc_select_used_once(const struct agxc_selector *s, const struct agxc_ref *ref)
{
   if (ref->kind != AGXC_VALUE || ref->value->id >= s->value_count || s->uses[ref->value->id] != 1)
      return false;
   /* What was computed before a loop must not be computed again in it. */
   const struct agxc_instr *def = s->defs[ref->value->id];
   return !def || def->block->loop_depth >= s->at.block->loop_depth;
}

struct agxc_instr *agxc_select_instr(struct agxc_selector *s, enum agx_isa_op opcode,
                                     struct agxc_ref dest, unsigned src_count,
                                     const struct agxc_ref *srcs)
{
   struct agxc_instr *instr = agxc_instr_new(s->shader, AGXC_OP_ISA + opcode);
   agx_assert(instr->src_count == src_count);
   if (instr->dest_count) {
      *agxc_dest(instr) = dest;
      if (dest.kind == AGXC_VALUE)
         dest.value->def = instr;
   }
   for (unsigned i = 0; i < src_count; i++)
      agxc_srcs(instr)[i] = srcs[i];
   agxc_insert(&s->at, instr);
   return instr;
}

struct agxc_ref agxc_select_new(struct agxc_selector *s, enum agx_isa_op opcode, unsigned bits,
                                unsigned src_count, const struct agxc_ref *srcs)
{
   struct agxc_ref dest = agxc_use(agxc_value_new(s->shader, bits, 1));
   agxc_select_instr(s, opcode, dest, src_count, srcs);
   return dest;
}

void agxc_select_split(struct agxc_selector *s, struct agxc_ref whole, struct agxc_ref low,
                       struct agxc_ref high)
{
   struct agxc_instr *split = agxc_instr_new_n(s->shader, AGXC_OP_SPLIT, 2, 1);
   low.value->def = high.value->def = split;
   *agxc_element(split, 0) = low;
   *agxc_element(split, 1) = high;
   *agxc_src_vector(split) = whole;
   agxc_insert(&s->at, split);
}

/* A value of that many bits from its two halves, which are registers. */
static struct agxc_ref join(struct agxc_selector *s, const struct agxc_ref parts[2], unsigned bits)
{
   struct agxc_instr *collect = agxc_instr_new_n(s->shader, AGXC_OP_COLLECT, 1, 2);
   struct agxc_value *value = agxc_value_new(s->shader, bits, 1);
   value->def = collect;
   *agxc_dest(collect) = agxc_use(value);
   for (unsigned i = 0; i < 2; i++)
      *agxc_element(collect, i) = parts[i];
   agxc_insert(&s->at, collect);
   return *agxc_dest(collect);
}

static unsigned machine_bits(unsigned bits)
{
   return bits < 16 ? 16 : bits;
}

static struct agxc_ref load_constant(struct agxc_selector *s, uint64_t value, unsigned bits)
{
   if (bits == 64) {
      struct agxc_ref words[2] = {load_constant(s, value & UINT32_MAX, 32),
                                  load_constant(s, value >> 32, 32)};
      return join(s, words, 64);
   }
   enum agx_isa_op opcode = bits == 16 ? AGX_ISA_OP_LDIMM16 : AGX_ISA_OP_LDIMM32;
   struct agxc_ref dest = agxc_use(agxc_value_new(s->shader, bits, 1));
   struct agxc_instr *instr = agxc_select_instr(s, opcode, dest, 0, NULL);
   agxc_set_machine_imm(instr, (int64_t)value);
   return dest;
}

/* A constant that fits no immediate. */
struct agxc_ref agxc_select_constant(struct agxc_selector *s, uint64_t value, unsigned bits)
{
   const struct agxc_shader *owner = agxc_uniform_owner(s->shader);
   if (owner->uniform_halves + 2 > CONSTANT_HALVES_LIMIT ||
       owner->uniform_count >= AGX_PROGRAM_MAX_UNIFORMS - 1)
      return load_constant(s, value, bits);
   return agxc_uniform_slot(s->shader, AGX_UNIFORM_CONSTANT, 0, value, bits);
}

/* ---- what comes for free ---------------------------------------------- */

/* The source of a generic operation that defines ref, when it is that one, else NULL. */
static const struct agxc_ref *source_if(const struct agxc_selector *s, const struct agxc_ref *ref,
                                        enum agxc_op op)
{
   const struct agxc_instr *def = agxc_select_def_is(s, ref, op);
   return def ? agxc_src_a(def) : NULL;
}

/* Loads leave zeros above the 8 bits that they fetch. */
bool agxc_select_is_clean(const struct agxc_selector *s, const struct agxc_ref *ref)
{
   const struct agxc_instr *def = agxc_select_def(s, ref);
   if (def && def->op == AGXC_OP_SPLIT)
      def = agxc_select_def(s, agxc_src_vector(def));
   return def && (def->op == AGXC_OP_LOAD_GLOBAL || def->op == AGXC_OP_LOAD_SHARED);
}

/* What holds the same bits in a register of the same size: cutting 16 bits to 8 moves none. A
 * constant's upper bits would count. */
static struct agxc_ref same_register(const struct agxc_selector *s, struct agxc_ref ref)
{
   for (const struct agxc_ref *source; ref.bits == 8 &&
                                       (source = source_if(s, &ref, AGXC_OP_TRUNC)) &&
                                       source->bits == 16 && source->kind != AGXC_IMM;)
      ref = *source;
   return ref;
}

/* What reads as the same number in an operand that extends with zeros. */
static struct agxc_ref strip_zext(const struct agxc_selector *s, struct agxc_ref ref)
{
   for (const struct agxc_ref *source; (source = source_if(s, &ref, AGXC_OP_ZEXT));) {
      bool fits =
         source->kind == AGXC_VALUE && (source->bits == 16 || source->bits == 1 ||
                                        (source->bits == 8 && agxc_select_is_clean(s, source)));
      if (!fits || ref.bits == 64)
         break;
      ref = *source;
   }
   return ref;
}

/* A reference as machine code has it: booleans and 8-bit values are 16 bits wide. */
static struct agxc_ref machine_ref(const struct agxc_selector *s, struct agxc_ref ref)
{
   ref = same_register(s, ref);
   if (ref.kind == AGXC_VALUE)
      return agxc_use(ref.value);
   ref.bits = (uint8_t)machine_bits(ref.bits);
   return ref;
}

struct agxc_ref agxc_select_choice(struct agxc_selector *s, struct agxc_ref ref)
{
   if (ref.kind == AGXC_IMM && (uint64_t)ref.imm > 255)
      return agxc_select_constant(s, (uint64_t)ref.imm, machine_bits(ref.bits));
   return machine_ref(s, ref);
}

struct agxc_ref agxc_select_int(struct agxc_selector *s, struct agxc_ref ref)
{
   ref = strip_zext(s, ref);
   if (ref.kind == AGXC_VALUE && ref.value->id < s->value_count && s->low[ref.value->id])
      return agxc_use(s->low[ref.value->id]);
   return agxc_select_choice(s, ref);
}

struct agxc_ref agxc_select_low(struct agxc_selector *s, struct agxc_ref ref)
{
   for (const struct agxc_ref *source; (source = source_if(s, &ref, AGXC_OP_TRUNC));) {
      if (source->bits > 32)
         break;
      ref = *source;
   }
   return agxc_select_int(s, ref);
}

struct agxc_ref agxc_select_signed(struct agxc_selector *s, struct agxc_ref ref)
{
   const struct agxc_ref *source = source_if(s, &ref, AGXC_OP_SEXT);
   if (source && source->bits == 16 && source->kind == AGXC_VALUE)
      ref = *source;
   return agxc_select_choice(s, ref);
}

struct agxc_ref agxc_select_extended(struct agxc_selector *s, struct agxc_ref ref, bool is_signed)
{
   if (!is_signed)
      return agxc_select_int(s, ref);
   ref = agxc_select_signed(s, ref);
   ref.sx = ref.kind != AGXC_IMM;
   return ref;
}

static struct agxc_ref wide_addend(struct agxc_selector *s, struct agxc_ref ref)
{
   if (ref.kind == AGXC_IMM && (uint64_t)ref.imm <= UINT32_MAX)
      return agxc_select_int(s, agxc_imm((uint64_t)ref.imm, 32));
   if (ref.kind == AGXC_IMM && ref.imm >= INT32_MIN && ref.imm < 0)
      return agxc_select_extended(s, agxc_imm((uint64_t)ref.imm, 32), true);
   const struct agxc_instr *pack = agxc_select_def_is(s, &ref, AGXC_OP_PACK64);
   if (!pack)
      return agxc_select_reg(s, ref);
   struct agxc_ref low = *agxc_src_low(pack), high = *agxc_src_high(pack);
   if (high.kind == AGXC_IMM && high.imm == 0)
      return agxc_select_int(s, low);
   const struct agxc_instr *sign = agxc_select_def_is(s, &high, AGXC_OP_ASHR);
   bool extends = sign && agxc_src_a(sign)->kind == AGXC_VALUE && low.kind == AGXC_VALUE &&
                  agxc_src_a(sign)->value == low.value && agxc_src_b(sign)->kind == AGXC_IMM &&
                  agxc_src_b(sign)->imm == 31;
   return extends ? agxc_select_extended(s, low, true) : agxc_select_reg(s, ref);
}

struct agxc_ref agxc_select_addend(struct agxc_selector *s, struct agxc_ref ref)
{
   if (ref.bits == 64)
      return wide_addend(s, ref);
   const struct agxc_ref *source = source_if(s, &ref, AGXC_OP_SEXT);
   if (source && source->kind == AGXC_VALUE && (source->bits == 16 || source->bits == 32)) {
      ref = agxc_select_choice(s, *source);
      ref.sx = true;
      return ref;
   }
   return ref.bits <= 16 ? agxc_select_low(s, ref) : agxc_select_int(s, ref);
}

/* ---- floats ----------------------------------------------------------- */

/* The 8-bit float immediate of a 32-bit float, or -1.
 * Source: docs/hw/machine.md, section 4: s eee mmmm; e = 0: m / 64, else (16 + m) 2^(e - 7). */
static int minifloat(uint32_t bits)
{
   float value;
   memcpy(&value, &bits, sizeof(value));
   int sign = bits >> 31 ? 0x80 : 0;
   float magnitude = sign ? -value : value;
   for (int e = 0; e < 8; e++) {
      for (int m = 0; m < 16; m++) {
         float candidate = e ? (float)(16 + m) * (float)(1 << e) / 128.0f : (float)m / 64.0f;
         if (candidate == magnitude)
            return sign | e << 4 | m;
      }
   }
   return -1;
}

static uint32_t float_bits(float value)
{
   uint32_t bits;
   memcpy(&bits, &value, sizeof(bits));
   return bits;
}

struct agxc_ref agxc_select_float(struct agxc_selector *s, struct agxc_ref ref)
{
   bool neg = false, abs = false;
   for (const struct agxc_instr *def; (def = agxc_select_def(s, &ref));) {
      if (def->op == AGXC_OP_FNEG)
         neg ^= !abs;
      else if (def->op == AGXC_OP_FABS)
         abs = true;
      else if (def->op != AGXC_OP_F2F || ref.bits != 32 || agxc_src_a(def)->kind != AGXC_VALUE)
         break;
      ref = *agxc_src_a(def);
   }
   if (ref.kind == AGXC_IMM) {
      uint64_t sign = 1ull << (ref.bits - 1);
      uint64_t bits = abs ? (uint64_t)ref.imm & ~sign : (uint64_t)ref.imm;
      bits ^= neg ? sign : 0;
      int mini =
         minifloat(ref.bits == 16 ? float_bits(agx_half_to_float((uint16_t)bits)) : (uint32_t)bits);
      if (mini >= 0)
         return (struct agxc_ref){.kind = AGXC_FIMM, .bits = 16, .count = 1, .imm = mini};
      return agxc_select_constant(s, bits, ref.bits);
   }
   ref = machine_ref(s, ref);
   ref.neg = neg;
   ref.abs = abs;
   return ref;
}

struct agxc_ref agxc_select_reg(struct agxc_selector *s, struct agxc_ref ref)
{
   if (ref.kind == AGXC_IMM)
      return load_constant(s, (uint64_t)ref.imm, machine_bits(ref.bits));
   ref = machine_ref(s, ref);
   if (ref.kind != AGXC_UNIFORM || ref.count != 1)
      return ref;
   if (ref.bits <= 32)
      return agxc_select_new(s, AGX_ISA_OP_MOV, ref.bits, 1, &ref);
   struct agxc_ref words[2];
   for (unsigned i = 0; i < 2; i++) {
      struct agxc_ref word = agxc_uniform(ref.half + 2 * i, 32, 1);
      words[i] = agxc_select_new(s, AGX_ISA_OP_MOV, 32, 1, &word);
   }
   return join(s, words, 64);
}

struct agxc_ref agxc_select_half(struct agxc_selector *s, struct agxc_ref ref)
{
   if (ref.kind == AGXC_IMM)
      return load_constant(s, (uint64_t)ref.imm & 0xffff, 16);
   ref = machine_ref(s, strip_zext(s, ref));
   if (ref.kind == AGXC_VALUE && ref.bits == 16)
      return ref;
   return agxc_select_new(s, AGX_ISA_OP_MOV, 16, 1, &ref);
}
