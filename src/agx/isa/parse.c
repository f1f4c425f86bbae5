/* SPDX-License-Identifier: MIT
 *
 * Text as print.c writes it to operands. Nothing but the words themselves is
 * judged here; whether the row can hold what they say is the encoder's business.
 */
#include "agx/isa/isa.h"

#include "agx/isa/operand_impl.h"
#include "base/util.h"

/* A piece of the text that is being read; nothing is terminated. */
struct agx_isa_span {
   const char *at, *end;
};

static bool is_space(char c)
{
   return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool is_digit(char c)
{
   return c >= '0' && c <= '9';
}

static size_t span_length(struct agx_isa_span span)
{
   return (size_t)(span.end - span.at);
}

static bool span_is(struct agx_isa_span span, const char *text)
{
   return span_length(span) == strlen(text) && memcmp(span.at, text, span_length(span)) == 0;
}

/* Takes prefix off the front when it stands there. */
static bool skip(struct agx_isa_span *span, const char *prefix)
{
   size_t length = strlen(prefix);
   if (span_length(*span) < length || memcmp(span->at, prefix, length) != 0)
      return false;
   span->at += length;
   return true;
}

/* Takes suffix off the end when it stands there. */
static bool chop(struct agx_isa_span *span, const char *suffix)
{
   size_t length = strlen(suffix);
   if (span_length(*span) < length || memcmp(span->end - length, suffix, length) != 0)
      return false;
   span->end -= length;
   return true;
}

/* Takes a number off the front: digits, or 0x and hex digits; below 2^40. */
static bool take_number(struct agx_isa_span *span, int64_t *out_number)
{
   unsigned base = skip(span, "0x") ? 16 : 10;
   const char *start = span->at;
   int64_t number = 0;
   for (; span->at < span->end; span->at++) {
      char c = *span->at, low = c | 0x20;
      unsigned digit = is_digit(c) ? (unsigned)(c - '0') : 99;
      if (base == 16 && low >= 'a' && low <= 'f')
         digit = (unsigned)(low - 'a') + 10;
      if (digit >= base)
         break;
      number = number * base + digit;
      if (number >> 40)
         return false;
   }
   *out_number = number;
   return span->at > start;
}

/* ---- operands ---------------------------------------------------------- */

static const char *parse_number(struct agx_isa_span span, struct agx_isa_operand *operand)
{
   bool negative = skip(&span, "-");
   operand->kind = AGX_ISA_IMM;
   operand->is_unsigned = chop(&span, "u");
   if (!take_number(&span, &operand->value) || span.at != span.end)
      return "not a number";
   if (negative)
      operand->value = -operand->value;
   return NULL;
}

/* A decimal number that is exactly a minifloat. */
static const char *parse_float(struct agx_isa_span span, struct agx_isa_operand *operand)
{
   bool negative = skip(&span, "-");
   int64_t whole, millionths = 0;
   if (span.at == span.end || !is_digit(*span.at) || !take_number(&span, &whole))
      return "not a number";
   if (skip(&span, ".")) {
      int64_t unit = 100000;
      for (; span.at < span.end && is_digit(*span.at); span.at++, unit /= 10) {
         if (unit == 0 && *span.at != '0')
            return "not a number that a minifloat can be";
         millionths += (*span.at - '0') * unit;
      }
   }
   if (span.at != span.end)
      return "not a number";
   operand->kind = AGX_ISA_FIMM;
   for (unsigned code = 0; code < 128; code++) {
      unsigned exponent = code >> 4, mantissa = code & 15;
      int64_t sixty_fourths = exponent == 0 ? mantissa : (16 + mantissa) << (exponent - 1);
      if (sixty_fourths * 15625 == whole * 1000000 + millionths) {
         operand->value = code | (negative ? 128 : 0);
         return NULL;
      }
   }
   return "not a number that a minifloat can be";
}

/* One register: [d] r|u NUMBER [l|h]. */
static bool take_register(struct agx_isa_span *span, struct agx_isa_operand *operand)
{
   bool is_wide = skip(span, "d");
   operand->kind = skip(span, "r") ? AGX_ISA_REG : skip(span, "u") ? AGX_ISA_UNIFORM : AGX_ISA_NONE;
   if (operand->kind == AGX_ISA_NONE || !take_number(span, &operand->value))
      return false;
   operand->value *= 2;
   operand->bits = is_wide ? 64 : 32;
   bool is_high = skip(span, "h");
   if (is_high || skip(span, "l")) {
      operand->bits = 16;
      operand->value += is_high;
   }
   return !(is_wide && operand->bits == 16);
}

static const char *parse_registers(struct agx_isa_span span, struct agx_isa_operand *operand)
{
   operand->hint = skip(&span, "$")   ? AGX_ISA_HINT_CACHE
                   : skip(&span, "^") ? AGX_ISA_HINT_DISCARD
                                      : AGX_ISA_HINT_NONE;
   if (!take_register(&span, operand))
      return "not a register";
   operand->count = 1;
   if (skip(&span, "*0")) {
      operand->count = 0;
   } else if (skip(&span, "..")) {
      struct agx_isa_operand last = {0};
      if (!take_register(&span, &last) || last.kind != operand->kind || last.bits != operand->bits)
         return "the last register is not like the first";
      int64_t distance = last.value - operand->value;
      if (distance <= 0 || distance % (operand->bits / 16) || distance > 512)
         return "the last register does not follow the first";
      operand->count = (uint8_t)AGX_MIN(distance / (operand->bits / 16) + 1, 255);
   }
   return span.at == span.end ? NULL : "not a register";
}

static const char *parse_indexed(struct agx_isa_span span, unsigned kind,
                                 struct agx_isa_operand *operand)
{
   operand->kind = (uint8_t)kind;
   if (!take_number(&span, &operand->value) || span.at != span.end)
      return "not a number after the letters";
   return NULL;
}

static const char *parse_value(const struct agx_isa_slot *slot, struct agx_isa_span span,
                               struct agx_isa_operand *operand)
{
   if (span_is(span, "none"))
      return NULL;
   if (skip(&span, "cf"))
      return parse_indexed(span, AGX_ISA_CF, operand);
   if (skip(&span, "ts"))
      return parse_indexed(span, AGX_ISA_TS, operand);
   if (skip(&span, "ss"))
      return parse_indexed(span, AGX_ISA_SS, operand);
   if (span.at < span.end && (is_digit(*span.at) || *span.at == '-'))
      return slot->has_float ? parse_float(span, operand) : parse_number(span, operand);
   return parse_registers(span, operand);
}

static const char *parse_name(const struct agx_isa_slot *slot, struct agx_isa_span span,
                              struct agx_isa_operand *operand)
{
   operand->kind = AGX_ISA_IMM;
   for (unsigned i = 0; i < slot->info->name_count; i++) {
      if (span_is(span, slot->info->names[i].name)) {
         operand->value = slot->info->names[i].value;
         return NULL;
      }
   }
   if (span.at < span.end && is_digit(*span.at) && !parse_number(span, operand))
      return NULL;
   return "not a value of this operand";
}

/* Reads the operand's text without its name. */
static const char *parse_operand_value(const struct agx_isa_slot *slot, const char *text,
                                       size_t length, struct agx_isa_operand *operand)
{
   struct agx_isa_span span = {text, text + length};
   *operand = (struct agx_isa_operand){.count = 1};
   if (slot->type == AGX_ISA_TYPE_ENUM)
      return parse_name(slot, span, operand);
   if (slot->type != AGX_ISA_TYPE_CASES)
      return parse_number(span, operand);
   operand->sx = chop(&span, ".sx");
   operand->neg = chop(&span, ".neg");
   operand->abs = chop(&span, ".abs");
   return parse_value(slot, span, operand);
}

/* ---- instructions ------------------------------------------------------ */

static struct agx_isa_span next_word(struct agx_isa_span *line)
{
   while (line->at < line->end && is_space(*line->at))
      line->at++;
   struct agx_isa_span word = {line->at, line->at};
   while (word.end < line->end && !is_space(*word.end))
      word.end++;
   line->at = word.end;
   return word;
}

/* Cuts the word at the first c; the rest without c, or an empty span at NULL. */
static struct agx_isa_span cut_at(struct agx_isa_span *word, char c)
{
   for (const char *at = word->at; at < word->end; at++) {
      if (*at == c) {
         struct agx_isa_span rest = {at + 1, word->end};
         word->end = at;
         return rest;
      }
   }
   return (struct agx_isa_span){NULL, NULL};
}

static int shown(struct agx_isa_span span)
{
   return (int)AGX_MIN(span_length(span), 64);
}

static agx_status parse_row(struct agx_isa_span word, struct agx_isa_instr *out_instr)
{
   struct agx_isa_span length = cut_at(&word, '/');
   for (unsigned i = 0; i < AGX_ISA_OP_COUNT; i++) {
      if (!span_is(word, agx_isa_rows[i].info.name))
         continue;
      int64_t length_B = 0;
      if (length.at && (!take_number(&length, &length_B) || length.at != length.end ||
                        length_B < 2 || length_B > AGX_ISA_MAX_BYTES))
         return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s: not a length after '/'",
                         agx_isa_rows[i].info.name);
      out_instr->op = (uint16_t)i;
      out_instr->length = (uint8_t)length_B;
      return AGX_OK;
   }
   return AGX_FAIL(AGX_INVALID_ARGUMENT, "no instruction is named \"%.*s\"", shown(word), word.at);
}

static agx_status parse_operand(const struct agx_isa_row *row, struct agx_isa_span word,
                                struct agx_isa_instr *instr, uint32_t *seen)
{
   struct agx_isa_span value = cut_at(&word, '=');
   unsigned i = 0;
   while (i < row->info.operand_count && !span_is(word, row->info.operand[i].name))
      i++;
   if (i == row->info.operand_count)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s: no operand is named \"%.*s\"", row->info.name,
                      shown(word), word.at);
   if (*seen & 1u << i)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s: operand %s stands twice", row->info.name,
                      row->info.operand[i].name);
   *seen |= 1u << i;
   if (!value.at && row->slot[i].type == AGX_ISA_TYPE_FLAG) {
      instr->operand[i] = (struct agx_isa_operand){.kind = AGX_ISA_IMM, .count = 1, .value = 1};
      return AGX_OK;
   }
   if (!value.at)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s: operand %s needs a value", row->info.name,
                      row->info.operand[i].name);
   const char *reason =
      parse_operand_value(&row->slot[i], value.at, span_length(value), &instr->operand[i]);
   if (reason)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s: operand %s=%.*s: %s", row->info.name,
                      row->info.operand[i].name, shown(value), value.at, reason);
   return AGX_OK;
}

/* Operands that were left out are absent, or zero where that is their rule. */
static agx_status fill_rest(const struct agx_isa_row *row, uint32_t seen,
                            struct agx_isa_instr *instr)
{
   for (unsigned i = 0; i < row->info.operand_count; i++) {
      if (seen & 1u << i)
         continue;
      const struct agx_isa_slot *slot = &row->slot[i];
      if (!slot->info->is_optional)
         return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s: operand %s is missing", row->info.name,
                         row->info.operand[i].name);
      bool has_zero = slot->type != AGX_ISA_TYPE_CASES;
      instr->operand[i] =
         (struct agx_isa_operand){.kind = has_zero ? AGX_ISA_IMM : AGX_ISA_NONE, .count = 1};
   }
   return AGX_OK;
}

/* Text names all registers of gradients, the operand those of its form. */
static agx_status shorten_gradients(struct agx_isa_instr *instr)
{
   unsigned count = agx_isa_gradient_count(instr);
   struct agx_isa_operand *lod = &instr->operand[AGX_ISA_SMPF_LOD];
   if (!count || lod->kind != AGX_ISA_REG)
      return AGX_OK;
   if (lod->count != count)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s: operand lod: %u registers, gradients here take %u",
                      agx_isa_info(instr->op)->name, lod->count, count);
   lod->count = instr->operand[AGX_ISA_SMPF_LOD_MODE].value == AGX_ISA_LOD_MODE_LOD_GRAD ? 2 : 5;
   return AGX_OK;
}

agx_status agx_isa_parse(const char *text, size_t length, struct agx_isa_instr *out_instr)
{
   struct agx_isa_span line = {text, text + length};
   *out_instr = (struct agx_isa_instr){0};
   struct agx_isa_span word = next_word(&line);
   if (word.at == word.end)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "an empty line is no instruction");
   AGX_TRY(parse_row(word, out_instr));
   const struct agx_isa_row *row = &agx_isa_rows[out_instr->op];
   uint32_t seen = 0;
   for (word = next_word(&line); word.at < word.end; word = next_word(&line))
      AGX_TRY(parse_operand(row, word, out_instr, &seen));
   AGX_TRY(fill_rest(row, seen, out_instr));
   return shorten_gradients(out_instr);
}
