/* SPDX-License-Identifier: MIT
 *
 * Values and operands. An instruction's operand is a reference: to a value, a constant or a
 * register.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/util.h"

struct agxc_instr;

/* An SSA value. bits of an element are 1 (boolean), 8, 16, 32 or 64; count is 1
 * for a scalar, else the length of a vector in consecutive registers. From selection on
 * booleans are 16-bit 0 or 1, and 8-bit elements 16-bit ones whose upper 8 bits are
 * undefined: only operations whose low bits don't depend on higher ones work on 8 bits
 * (moves, sums, products, bitwise ones, left shifts, stores); the others extend first. */
struct agxc_value {
   uint32_t id; /* index in shader->values */
   uint8_t bits, count;
   struct agxc_instr *def;
};

enum agxc_ref_kind {
   AGXC_NONE = 0, /* the operand is absent */
   AGXC_VALUE,
   AGXC_IMM,     /* any constant of `bits` bits, in generic code; what the opcode takes, in machine
                    code. Float constants of generic code are IMM with the float's bits. */
   AGXC_FIMM,    /* machine code only: an 8-bit minifloat in imm */
   AGXC_UNIFORM, /* half = first uniform half */
   AGXC_REG,     /* half = first register half; after register allocation */
};

struct agxc_ref {
   uint8_t kind;  /* enum agxc_ref_kind */
   uint8_t bits;  /* of one element */
   uint8_t count; /* elements */
   uint8_t hint;  /* enum agx_isa_hint */
   bool abs : 1;  /* float modifiers and sign extension: machine code only */
   bool neg : 1;
   bool sx : 1;
   bool is_unsigned : 1;
   union {
      struct agxc_value *value;
      int64_t imm; /* zero-extended from bits in generic code */
      uint32_t half;
   };
};

/* Halves of registers that an operand takes. */
static inline uint32_t agxc_ref_halves(const struct agxc_ref *ref)
{
   return AGX_MAX(ref->bits, 16) / 16u * AGX_MAX(ref->count, 1);
}

/* No operand. */
static inline struct agxc_ref agxc_none(void)
{
   return (struct agxc_ref){.kind = AGXC_NONE};
}

/* A constant, cut to that many bits. */
static inline struct agxc_ref agxc_imm(uint64_t imm, unsigned bits)
{
   return (struct agxc_ref){
      .kind = AGXC_IMM, .bits = (uint8_t)bits, .count = 1, .imm = (int64_t)(imm & agx_bits(bits))};
}

/* A constant word. */
static inline struct agxc_ref agxc_u32(uint64_t value)
{
   return agxc_imm(value, 32);
}

/* A use of a whole value. */
static inline struct agxc_ref agxc_use(struct agxc_value *value)
{
   return (struct agxc_ref){
      .kind = AGXC_VALUE, .bits = value->bits, .count = value->count, .value = value};
}

/* Uniform registers from a half on: so many elements of so many bits. */
static inline struct agxc_ref agxc_uniform(uint32_t half, unsigned bits, unsigned count)
{
   return (struct agxc_ref){
      .kind = AGXC_UNIFORM, .bits = (uint8_t)bits, .count = (uint8_t)count, .half = half};
}

/* The same of general registers. */
static inline struct agxc_ref agxc_reg(uint32_t half, unsigned bits, unsigned count)
{
   return (struct agxc_ref){
      .kind = AGXC_REG, .bits = (uint8_t)bits, .count = (uint8_t)count, .half = half};
}
