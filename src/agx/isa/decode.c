/* SPDX-License-Identifier: MIT
 *
 * Bytes to operands. The low seven bits choose the few rows that can match; the
 * first that does is the instruction, except that an alias leaves what it can't
 * express to its general form. Every bit must be accounted for by the row:
 * unknown bits and constants with another value are errors, never dropped.
 */
#include "agx/isa/isa.h"

#include <inttypes.h>

#include "agx/isa/operand_impl.h"
#include "base/util.h"

/* At most 12 bytes; what is missing reads as zero. */
static struct agx_isa_bits load_bits(const uint8_t *bytes, size_t size)
{
   struct agx_isa_bits bits = {{0, 0}};
   for (size_t i = 0; i < size && i < AGX_ISA_MAX_BYTES; i++)
      bits.word[i / 8] |= (uint64_t)bytes[i] << (i % 8 * 8);
   return bits;
}

static unsigned row_length(const struct agx_isa_row *row, struct agx_isa_bits bits)
{
   if (row->length_bit >= 0 && agx_isa_bits_get(bits, row->length_bit, 1))
      return row->info.long_B;
   return row->info.length_B;
}

/* True when the row matches as far as the first known_B bytes tell. */
static bool row_matches(const struct agx_isa_row *row, struct agx_isa_bits bits, unsigned known_B)
{
   unsigned length_B = row_length(row, bits);
   struct agx_isa_bits cut = agx_isa_bits_and(bits, agx_isa_bits_mask(length_B));
   struct agx_isa_bits wrong =
      agx_isa_bits_and(agx_isa_bits_xor(cut, row->match_value), row->match_mask);
   if (known_B < length_B)
      wrong = agx_isa_bits_and(wrong, agx_isa_bits_mask(known_B));
   return !agx_isa_bits_any(wrong);
}

/* Fails, naming the lowest of the wrong bits and what stands around it. */
static agx_status fail_bits(const struct agx_isa_row *row, struct agx_isa_bits bits,
                            struct agx_isa_bits wrong, const char *why)
{
   unsigned at = 0;
   while (!agx_isa_bits_get(wrong, at, 1))
      at++;
   return AGX_FAIL(AGX_INVALID_ARGUMENT, "byte %u: %s: bit %u is %u, %s", at / 8, row->info.name,
                   at, agx_isa_bits_get(bits, at, 1), why);
}

static agx_status check_bits(const struct agx_isa_row *row, struct agx_isa_bits bits,
                             unsigned length_B)
{
   struct agx_isa_bits unknown = agx_isa_bits_andnot(bits, row->known);
   if (agx_isa_bits_any(unknown))
      return fail_bits(row, bits, unknown, "which no operand covers");
   struct agx_isa_bits wrong =
      agx_isa_bits_and(agx_isa_bits_xor(bits, row->const_value), row->const_mask);
   wrong = agx_isa_bits_and(wrong, agx_isa_bits_mask(length_B));
   if (agx_isa_bits_any(wrong))
      return fail_bits(row, bits, wrong, "the other value is the only one known");
   return AGX_OK;
}

static agx_status decode_operands(const struct agx_isa_row *row, struct agx_isa_bits bits,
                                  struct agx_isa_instr *out_instr)
{
   for (unsigned i = 0; i < row->info.operand_count; i++) {
      const struct agx_isa_slot *slot = &row->slot[i];
      uint32_t value = agx_isa_field_get(&slot->field, bits);
      const char *reason = agx_isa_operand_decode(slot, value, &out_instr->operand[i]);
      if (reason)
         return AGX_FAIL(AGX_INVALID_ARGUMENT, "byte %u: %s: operand %s is 0x%" PRIx32 ": %s",
                         slot->field.slice[0].start / 8, row->info.name, row->info.operand[i].name,
                         value, reason);
   }
   return AGX_OK;
}

/* Decodes with a row that matches. */
static agx_status decode_row(const struct agx_isa_row *row, struct agx_isa_bits bits, size_t size,
                             struct agx_isa_instr *out_instr)
{
   unsigned length_B = row_length(row, bits);
   if (length_B > size)
      return AGX_FAIL(AGX_OUT_OF_RANGE, "byte %zu: cut short, an instruction of %u bytes", size,
                      length_B);
   bits = agx_isa_bits_and(bits, agx_isa_bits_mask(length_B));
   AGX_TRY(check_bits(row, bits, length_B));
   AGX_TRY(decode_operands(row, bits, out_instr));
   out_instr->op = (uint16_t)(row - agx_isa_rows);
   out_instr->length = (uint8_t)length_B;
   return AGX_OK;
}

agx_status agx_isa_decode(const void *bytes, size_t size, struct agx_isa_instr *out_instr)
{
   unsigned known_B = (unsigned)AGX_MIN(size, AGX_ISA_MAX_BYTES);
   struct agx_isa_bits bits = load_bits(bytes, known_B);
   unsigned low = bits.word[0] & 127;
   out_instr->op = 0;
   out_instr->length = 0;
   if (size < 2)
      return AGX_FAIL(AGX_OUT_OF_RANGE, "byte %zu: cut short, instructions have 2 bytes or more",
                      size);
   for (unsigned i = agx_isa_bucket[low]; i < agx_isa_bucket[low + 1]; i++) {
      const struct agx_isa_row *row = &agx_isa_rows[agx_isa_bucket_row[i]];
      if (!row_matches(row, bits, known_B))
         continue;
      agx_status status = decode_row(row, bits, size, out_instr);
      if (status == AGX_OK || !row->is_alias)
         return status;
   }
   return AGX_FAIL(AGX_INVALID_ARGUMENT, "byte 0: no instruction begins with the bytes %02x %02x",
                   (unsigned)(bits.word[0] & 255), (unsigned)(bits.word[0] >> 8 & 255));
}
