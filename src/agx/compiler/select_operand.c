/* SPDX-License-Identifier: MIT
 *
 * Selection: operands. What a source field can hold is in reference/isa, sections 3 and 4;
 * constants that no immediate holds become uniforms, which cost no instruction, or ldimm when
 * uniforms run short.
 */
#include "agx/compiler/select_impl.h"

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

struct agxc_instr *agxc_select_row(struct agxc_selector *s, enum agx_isa_op row,
                                   struct agxc_ref dest, unsigned src_count,
                                   const struct agxc_ref *srcs)
{
   struct agxc_instr *instr = agxc_instr_new(s->shader, AGXC_OP_ISA + row);
   agx_assert(instr->src_count == src_count);
   if (instr->dest_count) {
      instr->operand[0] = dest;
      if (dest.kind == AGXC_VALUE)
         dest.value->def = instr;
   }
   for (unsigned i = 0; i < src_count; i++)
      instr->operand[instr->dest_count + i] = srcs[i];
   agxc_insert(&s->at, instr);
   return instr;
}

struct agxc_ref agxc_select_new(struct agxc_selector *s, enum agx_isa_op row, unsigned bits,
                                unsigned src_count, const struct agxc_ref *srcs)
{
   struct agxc_ref dest = agxc_use(agxc_value_new(s->shader, bits, 1));
   agxc_select_row(s, row, dest, src_count, srcs);
   return dest;
}

static unsigned machine_bits(unsigned bits)
{
   return bits < 16 ? 16 : bits;
}

static struct agxc_ref load_constant(struct agxc_selector *s, uint64_t value, unsigned bits)
{
   enum agx_isa_op row = bits == 16 ? AGX_ISA_OP_LDIMM16 : AGX_ISA_OP_LDIMM32;
   struct agxc_ref dest = agxc_use(agxc_value_new(s->shader, bits, 1));
   struct agxc_instr *instr = agxc_select_row(s, row, dest, 0, NULL);
   agxc_set_mod(instr, bits == 16 ? AGX_ISA_LDIMM16_IMM : AGX_ISA_LDIMM32_IMM, (int64_t)value);
   return dest;
}

/* A constant that fits no immediate. */
static struct agxc_ref wide_constant(struct agxc_selector *s, uint64_t value, unsigned bits)
{
   const struct agxc_shader *owner = agxc_uniform_owner(s->shader);
   if (owner->uniform_halves + 2 > CONSTANT_HALVES_LIMIT ||
       owner->uniform_count >= AGX_PROGRAM_MAX_UNIFORMS - 1)
      return load_constant(s, value, bits);
   return agxc_uniform_slot(s->shader, AGX_UNIFORM_CONSTANT, 0, value, bits);
}

/* A reference as machine code has it: booleans are 16 bits wide. */
static struct agxc_ref machine_ref(struct agxc_ref ref)
{
   if (ref.kind == AGXC_VALUE)
      return agxc_use(ref.value);
   ref.bits = (uint8_t)machine_bits(ref.bits);
   return ref;
}

struct agxc_ref agxc_select_int(struct agxc_selector *s, struct agxc_ref ref)
{
   if (ref.kind == AGXC_IMM && (uint64_t)ref.imm > 255)
      return wide_constant(s, (uint64_t)ref.imm, machine_bits(ref.bits));
   return machine_ref(ref);
}

/* The 8-bit float immediate of a 32-bit float, or -1.
 * Source: reference/isa, section 4: s eee mmmm; e = 0: m / 64, else (16 + m) 2^(e - 7). */
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

struct agxc_ref agxc_select_float(struct agxc_selector *s, struct agxc_ref ref)
{
   bool neg = false, abs = false;
   for (const struct agxc_instr *def; (def = agxc_select_def(s, &ref));) {
      if (def->op == AGXC_OP_FNEG)
         neg ^= !abs;
      else if (def->op == AGXC_OP_FABS)
         abs = true;
      else
         break;
      ref = def->operand[1];
   }
   if (ref.kind == AGXC_IMM) {
      uint32_t bits = (uint32_t)ref.imm;
      bits = abs ? bits & 0x7fffffff : bits;
      bits ^= neg ? 0x80000000u : 0;
      int mini = minifloat(bits);
      if (mini >= 0)
         return (struct agxc_ref){.kind = AGXC_FIMM, .bits = 16, .count = 1, .imm = mini};
      return wide_constant(s, bits, 32);
   }
   ref = machine_ref(ref);
   ref.neg = neg;
   ref.abs = abs;
   return ref;
}

struct agxc_ref agxc_select_choice(struct agxc_selector *s, struct agxc_ref ref)
{
   return agxc_select_int(s, ref);
}

struct agxc_ref agxc_select_reg(struct agxc_selector *s, struct agxc_ref ref)
{
   if (ref.kind == AGXC_IMM)
      return load_constant(s, (uint64_t)ref.imm, machine_bits(ref.bits));
   ref = machine_ref(ref);
   if (ref.kind == AGXC_UNIFORM && ref.count == 1 && ref.bits <= 32)
      return agxc_select_new(s, AGX_ISA_OP_MOV, ref.bits, 1, &ref);
   return ref;
}

struct agxc_ref agxc_select_half(struct agxc_selector *s, struct agxc_ref ref)
{
   if (ref.kind == AGXC_IMM)
      return load_constant(s, (uint64_t)ref.imm & 0xffff, 16);
   ref = machine_ref(ref);
   if (ref.kind == AGXC_VALUE && ref.bits == 16)
      return ref;
   return agxc_select_new(s, AGX_ISA_OP_MOV, 16, 1, &ref);
}
