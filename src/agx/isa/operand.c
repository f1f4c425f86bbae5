/* SPDX-License-Identifier: MIT
 *
 * Decoding and encoding of one operand, by the forms of operand.def. What is
 * decoded can be encoded to the same bits; whatever else a field may hold is
 * refused, so nothing is lost between bytes, operands and text.
 */
#include "agx/isa/operand_impl.h"

#include "base/util.h"

static uint32_t bit(uint32_t value, int at)
{
   return at < 0 ? 0 : value >> at & 1;
}

static uint32_t ones(uint32_t nibble)
{
   return (nibble & 1) + (nibble >> 1 & 1) + (nibble >> 2 & 1) + (nibble >> 3 & 1);
}

static int64_t sign_extend(uint32_t value, unsigned width)
{
   uint64_t sign = 1ull << (width - 1);
   return (int64_t)(value ^ sign) - (int64_t)sign;
}

/* ---- decoding ---------------------------------------------------------- */

static unsigned case_count(const struct agx_isa_case *form, uint32_t value)
{
   switch (form->count_mode) {
   case AGX_ISA_COUNT_ONES:
      return ones(value >> form->count_at & 15);
   case AGX_ISA_COUNT_CHOICE:
      return form->count[value >> form->count_at & 3];
   default:
      return form->count[0];
   }
}

/* A register operand must lie in its file and on a boundary of its size. A count
 * of 0 happens where it comes from a mask that selects nothing. */
static const char *check_register(const struct agx_isa_operand *operand)
{
   int64_t halves = operand->kind == AGX_ISA_REG ? 256 : 512;
   if (operand->bits >= 32 && operand->value & 1)
      return "a 32- or 64-bit register on an odd half";
   if (operand->value + (int64_t)operand->count * (operand->bits / 16) > halves)
      return "registers past the end of the file";
   return NULL;
}

static const char *decode_register(const struct agx_isa_case *form, uint32_t value,
                                   struct agx_isa_operand *operand)
{
   static const uint8_t hints[4] = {0xff, AGX_ISA_HINT_NONE, AGX_ISA_HINT_CACHE,
                                    AGX_ISA_HINT_DISCARD};
   operand->bits = form->bits ? form->bits : bit(value, form->size_bit) ? 32 : 16;
   operand->count = case_count(form, value);
   if (form->hint >= 0) {
      operand->hint = hints[value >> form->hint & 3];
      if (operand->hint == 0xff)
         return "a register with hint 0, which does not exist";
   } else if (bit(value, form->cache)) {
      operand->hint = AGX_ISA_HINT_CACHE;
   } else if (bit(value, form->last)) {
      operand->hint = AGX_ISA_HINT_DISCARD;
   }
   return check_register(operand);
}

static const char *decode_case(const struct agx_isa_case *form, uint32_t value,
                               struct agx_isa_operand *operand)
{
   if (form->never)
      return "a form that the machine takes but no tool emits";
   if (value & form->zero)
      return "bits without effect are set";
   operand->kind = form->kind;
   operand->is_unsigned = form->is_unsigned;
   operand->abs = bit(value, form->abs);
   operand->neg = bit(value, form->neg);
   operand->sx = form->zx >= 0 ? !bit(value, form->zx) : bit(value, form->sx);
   operand->value = 0;
   if (form->kind == AGX_ISA_NONE)
      return NULL;
   struct agx_isa_bits bits = {{value, 0}};
   uint32_t number = agx_isa_field_get(&form->value, bits);
   operand->value = form->is_signed ? sign_extend(number, agx_isa_field_width(&form->value))
                                    : (int64_t)number * form->step;
   if (form->kind == AGX_ISA_REG || form->kind == AGX_ISA_UNIFORM)
      return decode_register(form, value, operand);
   return NULL;
}

const char *agx_isa_operand_decode(const struct agx_isa_slot *slot, uint32_t value,
                                   struct agx_isa_operand *operand)
{
   *operand = (struct agx_isa_operand){.kind = AGX_ISA_IMM, .count = 1, .value = value};
   if (slot->type == AGX_ISA_TYPE_SINT)
      operand->value = sign_extend(value, agx_isa_field_width(&slot->field));
   if (slot->type != AGX_ISA_TYPE_CASES)
      return NULL;
   for (unsigned i = 0; i < slot->table_count; i++) {
      const struct agx_isa_case *form = &slot->table[i];
      if ((value & form->when_mask) == form->when_value)
         return decode_case(form, value, operand);
   }
   return "not a form of this operand";
}

/* ---- encoding ---------------------------------------------------------- */

static const char *encode_plain(const struct agx_isa_slot *slot,
                                const struct agx_isa_operand *operand, uint32_t *out_value)
{
   unsigned width = agx_isa_field_width(&slot->field);
   if (operand->kind == AGX_ISA_NONE && slot->info->is_optional)
      return NULL;
   if (operand->kind != AGX_ISA_IMM)
      return "must be a number";
   int64_t low = slot->type == AGX_ISA_TYPE_SINT ? -(1ll << (width - 1)) : 0;
   int64_t high = slot->type == AGX_ISA_TYPE_SINT ? (1ll << (width - 1)) - 1 : (1ll << width) - 1;
   if (operand->value < low || operand->value > high)
      return "number out of range";
   *out_value = (uint32_t)operand->value & (uint32_t)agx_bits(width);
   return NULL;
}

static const char *encode_number(const struct agx_isa_case *form, int64_t number,
                                 struct agx_isa_bits *bits)
{
   unsigned width = agx_isa_field_width(&form->value);
   int64_t low = form->is_signed ? -(1ll << (width - 1)) : 0;
   int64_t high = form->is_signed ? (1ll << (width - 1)) - 1 : (1ll << width) - 1;
   if (number % form->step != 0)
      return "register not aligned as this operand needs";
   number /= form->step;
   if (number < low || number > high)
      return "number out of range";
   uint32_t rest = (uint32_t)number & (uint32_t)agx_bits(width);
   for (unsigned i = 0; i < form->value.count; i++) {
      const struct agx_isa_slice *slice = &form->value.slice[i];
      agx_isa_bits_or(bits, slice->start, rest & (uint32_t)agx_bits(slice->length));
      rest = (uint32_t)((uint64_t)rest >> slice->length);
   }
   return NULL;
}

static const char *encode_count(const struct agx_isa_case *form, unsigned count,
                                struct agx_isa_bits *bits)
{
   if (form->count_mode == AGX_ISA_COUNT_FIXED)
      return count == form->count[0] ? NULL : "wrong number of registers";
   if (form->count_mode == AGX_ISA_COUNT_ONES)
      return NULL; /* the mask is another operand; comparing afterwards finds a difference */
   for (unsigned i = 0; i < 4; i++) {
      if (form->count[i] == count) {
         agx_isa_bits_or(bits, form->count_at, i);
         return NULL;
      }
   }
   return "wrong number of registers";
}

static const char *encode_hint(const struct agx_isa_case *form, unsigned hint,
                               struct agx_isa_bits *bits)
{
   if (form->hint >= 0) {
      static const uint8_t codes[] = {
         [AGX_ISA_HINT_NONE] = 1, [AGX_ISA_HINT_CACHE] = 2, [AGX_ISA_HINT_DISCARD] = 3};
      if (hint >= AGX_COUNT(codes))
         return "no such hint";
      agx_isa_bits_or(bits, form->hint, codes[hint]);
      return NULL;
   }
   if (hint == AGX_ISA_HINT_NONE)
      return NULL;
   int at = hint == AGX_ISA_HINT_CACHE     ? form->cache
            : hint == AGX_ISA_HINT_DISCARD ? form->last
                                           : -1;
   if (at < 0)
      return "takes no such hint";
   agx_isa_bits_or(bits, at, 1);
   return NULL;
}

static const char *encode_register(const struct agx_isa_case *form,
                                   const struct agx_isa_operand *operand, struct agx_isa_bits *bits)
{
   if (form->bits ? operand->bits != form->bits : operand->bits != 16 && operand->bits != 32)
      return "register of a size that this operand can't have";
   if (!form->bits && operand->bits == 32)
      agx_isa_bits_or(bits, form->size_bit, 1);
   const char *reason = encode_count(form, operand->count, bits);
   if (!reason)
      reason = encode_hint(form, operand->hint, bits);
   return reason ? reason : check_register(operand);
}

static const char *encode_modifiers(const struct agx_isa_case *form,
                                    const struct agx_isa_operand *operand,
                                    struct agx_isa_bits *bits)
{
   const struct {
      int at;
      bool on;
   } modifier[] = {
      {form->abs, operand->abs},
      {form->neg, operand->neg},
      {form->zx >= 0 ? form->zx : form->sx, form->zx >= 0 ? !operand->sx : operand->sx}};
   for (unsigned i = 0; i < AGX_COUNT(modifier); i++) {
      if (!modifier[i].on)
         continue;
      if (modifier[i].at < 0)
         return "takes no such modifier";
      agx_isa_bits_or(bits, modifier[i].at, 1);
   }
   return operand->is_unsigned && !form->is_unsigned ? "has no unsigned form" : NULL;
}

/* Fields of the two that mean something for their kind are equal. */
static bool same_operand(const struct agx_isa_operand *a, const struct agx_isa_operand *b)
{
   if (a->kind != b->kind)
      return false;
   if (a->kind == AGX_ISA_NONE)
      return true;
   if (a->value != b->value || a->abs != b->abs || a->neg != b->neg || a->sx != b->sx ||
       a->is_unsigned != b->is_unsigned)
      return false;
   if (a->kind != AGX_ISA_REG && a->kind != AGX_ISA_UNIFORM)
      return true;
   return a->bits == b->bits && a->count == b->count && a->hint == b->hint;
}

/* value with the bits of slices that others own as they are in kept. */
static uint32_t keep_shared(const struct agx_isa_field *field, uint32_t value, uint32_t kept)
{
   unsigned at = 0;
   for (unsigned i = 0; i < field->count; i++) {
      uint32_t mask = (uint32_t)(agx_bits(field->slice[i].length) << at);
      if (field->slice[i].is_shared)
         value = (value & ~mask) | (kept & mask);
      at += field->slice[i].length;
   }
   return value;
}

static const char *encode_case(const struct agx_isa_slot *slot, const struct agx_isa_case *form,
                               const struct agx_isa_operand *operand, uint32_t kept,
                               uint32_t *out_value)
{
   struct agx_isa_bits bits = {{form->when_value, 0}};
   if (form->kind != AGX_ISA_NONE) {
      const char *reason = encode_number(form, operand->value, &bits);
      if (!reason && (form->kind == AGX_ISA_REG || form->kind == AGX_ISA_UNIFORM))
         reason = encode_register(form, operand, &bits);
      if (!reason)
         reason = encode_modifiers(form, operand, &bits);
      if (reason)
         return reason;
   }
   uint32_t value = keep_shared(&slot->field, (uint32_t)bits.word[0], kept);
   struct agx_isa_operand back;
   const char *reason = agx_isa_operand_decode(slot, value, &back);
   if (reason || !same_operand(operand, &back))
      return "does not agree with the operands that share its bits";
   *out_value = value;
   return NULL;
}

const char *agx_isa_operand_encode(const struct agx_isa_slot *slot,
                                   const struct agx_isa_operand *operand, uint32_t kept,
                                   uint32_t *out_value)
{
   *out_value = 0;
   if (slot->type != AGX_ISA_TYPE_CASES)
      return encode_plain(slot, operand, out_value);
   const char *reason = NULL;
   for (unsigned i = 0; i < slot->table_count; i++) {
      const struct agx_isa_case *form = &slot->table[i];
      if (form->kind != operand->kind || form->never || form->is_unsigned != operand->is_unsigned)
         continue;
      const char *why = encode_case(slot, form, operand, kept, out_value);
      if (!why)
         return NULL;
      /* The form of the right size has the most to say. */
      if (!reason || form->bits == 0 || form->bits == operand->bits)
         reason = why;
   }
   return reason ? reason : "takes no operand of this kind";
}
