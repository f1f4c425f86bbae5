/* SPDX-License-Identifier: MIT
 *
 * Operands to bytes. Every operand is read back from the bits it was put into
 * and compared, so what can't be encoded is an error and never a near miss.
 */
#include "agx/isa/isa.h"

#include "agx/isa/operand_impl.h"
#include "base/util.h"

static void put_field(const struct agx_isa_field *field, uint32_t value, struct agx_isa_bits *bits)
{
   for (unsigned i = 0; i < field->count; i++) {
      const struct agx_isa_slice *slice = &field->slice[i];
      uint32_t mask = (uint32_t)agx_bits(slice->length);
      if (!slice->is_shared) {
         struct agx_isa_bits clear = {{0, 0}};
         agx_isa_bits_or(&clear, slice->start, mask);
         *bits = agx_isa_bits_andnot(*bits, clear);
         agx_isa_bits_or(bits, slice->start, value & mask);
      }
      value = (uint32_t)((uint64_t)value >> slice->length);
   }
}

static agx_status fail_operand(const struct agx_isa_row *row, unsigned i,
                               const struct agx_isa_operand *operand, const char *reason)
{
   char text[64];
   agx_isa_operand_print(&row->slot[i], operand, text, sizeof(text));
   return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s: operand %s=%s: %s", row->info.name,
                   row->info.operand[i].name, text, reason);
}

/* Puts the operands whose bits are their own, or those that share. */
static agx_status put_operands(const struct agx_isa_row *row, const struct agx_isa_instr *instr,
                               bool shared, struct agx_isa_bits *bits)
{
   for (unsigned i = 0; i < row->info.operand_count; i++) {
      const struct agx_isa_slot *slot = &row->slot[i];
      if (slot->is_shared != shared)
         continue;
      uint32_t kept = agx_isa_field_get(&slot->field, *bits), value;
      const char *reason = agx_isa_operand_encode(slot, &instr->operand[i], kept, &value);
      if (reason)
         return fail_operand(row, i, &instr->operand[i], reason);
      put_field(&slot->field, value, bits);
      struct agx_isa_bits wrong =
         agx_isa_bits_and(agx_isa_bits_xor(*bits, row->match_value), row->match_mask);
      if (agx_isa_bits_any(wrong))
         return fail_operand(row, i, &instr->operand[i], "belongs to another instruction");
   }
   return AGX_OK;
}

/* The length: asked for or shortest. Constants beyond the short form don't
 * forbid it, but it is only chosen where it says exactly the same. */
static agx_status choose_length(const struct agx_isa_row *row, unsigned given,
                                struct agx_isa_bits bits, unsigned *out_length)
{
   struct agx_isa_bits rest = agx_isa_bits_andnot(bits, agx_isa_bits_mask(row->info.length_B));
   bool fits = !agx_isa_bits_any(rest);
   *out_length = given ? given : fits || !row->info.long_B ? row->info.length_B : row->info.long_B;
   if (given && given != row->info.length_B && (!row->info.long_B || given != row->info.long_B))
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s: no form has %u bytes", row->info.name, given);
   if (*out_length == row->info.length_B &&
       agx_isa_bits_any(agx_isa_bits_andnot(rest, row->const_mask)))
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s: the operands do not fit the form of %u bytes",
                      row->info.name, given);
   return AGX_OK;
}

agx_status agx_isa_encode(const struct agx_isa_instr *instr, uint8_t *out_bytes, size_t *out_length)
{
   *out_length = 0;
   if (instr->op >= AGX_ISA_OP_COUNT)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "instruction number %u: there are %u", instr->op,
                      (unsigned)AGX_ISA_OP_COUNT);
   const struct agx_isa_row *row = &agx_isa_rows[instr->op];
   struct agx_isa_bits bits = {{row->match_value.word[0] | row->const_value.word[0],
                                row->match_value.word[1] | row->const_value.word[1]}};
   AGX_TRY(put_operands(row, instr, false, &bits));
   AGX_TRY(put_operands(row, instr, true, &bits));
   unsigned length_B;
   AGX_TRY(choose_length(row, instr->length, bits, &length_B));
   if (row->info.long_B && length_B == row->info.long_B)
      agx_isa_bits_or(&bits, row->length_bit, 1);
   for (unsigned i = 0; i < length_B; i++)
      out_bytes[i] = (uint8_t)(bits.word[i / 8] >> (i % 8 * 8));
   *out_length = length_B;
   return AGX_OK;
}
