/* SPDX-License-Identifier: MIT
 *
 * The shape of the tables that gen_isa.py makes from isa.def and operand.def,
 * and the bit access that goes with them. Only for the files of this room.
 */
#pragma once

#include "agx/isa/isa.h"

/* An instruction as one little-endian integer; 96 bits are the most in use. */
struct agx_isa_bits {
   uint64_t word[2];
};

struct agx_isa_slice {
   uint8_t start, length; /* length <= 32 */
   uint8_t is_shared;     /* owned by another operand of the row: read only */
};

/* Slices concatenated, lowest first; at most 32 bits in all. */
struct agx_isa_field {
   uint8_t count;
   struct agx_isa_slice slice[5];
};

enum agx_isa_count_mode {
   AGX_ISA_COUNT_FIXED,  /* count[0] */
   AGX_ISA_COUNT_ONES,   /* set bits of the four at count_at */
   AGX_ISA_COUNT_CHOICE, /* count[the two bits at count_at] */
};

/* One form of an operand; bit numbers are positions in the operand's field, -1
 * where the form lacks the attribute. */
struct agx_isa_case {
   uint32_t when_mask, when_value;
   uint32_t zero; /* bits without effect */
   struct agx_isa_field value;
   uint8_t kind; /* enum agx_isa_kind */
   uint8_t step; /* the number is step times the value */
   uint8_t bits; /* element size, or 0: size_bit chooses 16 or 32 */
   int8_t size_bit;
   int8_t hint; /* lowest of two bits */
   int8_t cache, last, abs, neg, sx, zx;
   uint8_t count_mode; /* enum agx_isa_count_mode */
   uint8_t count_at;
   uint8_t count[4];
   bool is_signed, is_unsigned;
   bool never; /* machine code may hold it, but we refuse it */
};

enum agx_isa_type {
   AGX_ISA_TYPE_CASES, /* the first of table's forms that fits */
   AGX_ISA_TYPE_ENUM,
   AGX_ISA_TYPE_UINT,
   AGX_ISA_TYPE_SINT,
   AGX_ISA_TYPE_FLAG,
};

/* An operand's place in the instruction and how to read it. */
struct agx_isa_slot {
   struct agx_isa_field field;
   uint8_t type; /* enum agx_isa_type */
   uint8_t table_count;
   bool is_shared; /* some of its bits belong to another operand */
   bool has_float; /* its numbers are minifloats */
   const struct agx_isa_case *table;
   const struct agx_isa_operand_info *info;
};

struct agx_isa_row {
   struct agx_isa_info info;
   const struct agx_isa_slot *slot;
   int8_t length_bit; /* set for the long form; -1 for none */
   bool is_alias;     /* a later row takes what this one can't express */
   struct agx_isa_bits match_mask, match_value;
   struct agx_isa_bits const_mask, const_value;
   struct agx_isa_bits known; /* bits that anything above accounts for */
};

extern const struct agx_isa_row agx_isa_rows[AGX_ISA_OP_COUNT];

/* Rows that can match when the low seven bits are n: agx_isa_bucket_row from
 * agx_isa_bucket[n] up to agx_isa_bucket[n + 1]. */
extern const uint16_t agx_isa_bucket[129];
extern const uint8_t agx_isa_bucket_row[];

/* length <= 32 bits from start. */
static inline uint32_t agx_isa_bits_get(struct agx_isa_bits bits, unsigned start, unsigned length)
{
   uint64_t value = bits.word[start / 64] >> (start % 64);
   if (start % 64 != 0 && start < 64)
      value |= bits.word[1] << (64 - start);
   return (uint32_t)(value & ((1ull << length) - 1));
}

/* Sets bits that are clear. */
static inline void agx_isa_bits_or(struct agx_isa_bits *bits, unsigned start, uint32_t value)
{
   bits->word[start / 64] |= (uint64_t)value << (start % 64);
   if (start % 64 != 0 && start < 64)
      bits->word[1] |= (uint64_t)value >> (64 - start);
}

/* A mask of the first length_B bytes. */
static inline struct agx_isa_bits agx_isa_bits_mask(unsigned length_B)
{
   struct agx_isa_bits mask = {{~0ull, ~0ull}};
   if (length_B <= 8) {
      mask.word[0] = length_B == 8 ? ~0ull : (1ull << 8 * length_B) - 1;
      mask.word[1] = 0;
   } else if (length_B < 16) {
      mask.word[1] = (1ull << 8 * (length_B - 8)) - 1;
   }
   return mask;
}

/* The bits that both have. */
static inline struct agx_isa_bits agx_isa_bits_and(struct agx_isa_bits a, struct agx_isa_bits b)
{
   return (struct agx_isa_bits){{a.word[0] & b.word[0], a.word[1] & b.word[1]}};
}

/* The bits of a that b lacks. */
static inline struct agx_isa_bits agx_isa_bits_andnot(struct agx_isa_bits a, struct agx_isa_bits b)
{
   return (struct agx_isa_bits){{a.word[0] & ~b.word[0], a.word[1] & ~b.word[1]}};
}

/* The bits in which a and b differ. */
static inline struct agx_isa_bits agx_isa_bits_xor(struct agx_isa_bits a, struct agx_isa_bits b)
{
   return (struct agx_isa_bits){{a.word[0] ^ b.word[0], a.word[1] ^ b.word[1]}};
}

/* Whether any bit is set. */
static inline bool agx_isa_bits_any(struct agx_isa_bits bits)
{
   return (bits.word[0] | bits.word[1]) != 0;
}

/* The field's value in the instruction. */
static inline uint32_t agx_isa_field_get(const struct agx_isa_field *field,
                                         struct agx_isa_bits bits)
{
   uint64_t value = 0;
   unsigned at = 0;
   for (unsigned i = 0; i < field->count; i++) {
      value |= (uint64_t)agx_isa_bits_get(bits, field->slice[i].start, field->slice[i].length)
               << at;
      at += field->slice[i].length;
   }
   return (uint32_t)value;
}

/* How many bits the field has, over all its slices. */
static inline unsigned agx_isa_field_width(const struct agx_isa_field *field)
{
   unsigned width = 0;
   for (unsigned i = 0; i < field->count; i++)
      width += field->slice[i].length;
   return width;
}
