/* SPDX-License-Identifier: MIT
 *
 * Instructions as text, one a line:
 *
 *    fadd d=$r0 a=r1.neg b=1.0 sat
 *    load/8 r=r0..r3 base=du2 index=5u format=i32 mask=xyzw group=a
 *
 * docs/hw/isa.md describes the grammar; parse.c reads it.
 */
#include "agx/isa/isa.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "agx/isa/operand_impl.h"
#include "base/util.h"

/* Collects text; length goes on counting when the room is used up. */
struct agx_isa_text {
   char *text;
   size_t capacity, length;
};

__attribute__((format(printf, 2, 3))) static void add(struct agx_isa_text *out, const char *format,
                                                      ...)
{
   size_t room = out->length < out->capacity ? out->capacity - out->length : 0;
   va_list args;
   va_start(args, format);
   int length = vsnprintf(room ? out->text + out->length : NULL, room, format, args);
   va_end(args);
   out->length += length > 0 ? (size_t)length : 0;
}

/* The minifloat seeemmmm, whose magnitude is a number of 64ths. */
static void add_float(struct agx_isa_text *out, unsigned code)
{
   unsigned exponent = code >> 4 & 7, mantissa = code & 15;
   unsigned sixty_fourths = exponent == 0 ? mantissa : (16 + mantissa) << (exponent - 1);
   unsigned fraction = sixty_fourths % 64 * 15625, digits = 6;
   while (digits > 1 && fraction % 10 == 0) {
      fraction /= 10;
      digits--;
   }
   add(out, "%s%u.%0*u", code & 128 ? "-" : "", sixty_fourths / 64, (int)digits, fraction);
}

static void add_register(struct agx_isa_text *out, char file, unsigned bits, int64_t half)
{
   if (bits == 16)
      add(out, "%c%" PRId64 "%c", file, half >> 1, half & 1 ? 'h' : 'l');
   else
      add(out, "%s%c%" PRId64, bits == 64 ? "d" : "", file, half >> 1);
}

static void add_registers(struct agx_isa_text *out, const struct agx_isa_operand *operand)
{
   static const char *hints[] = {"", "$", "^"};
   char file = operand->kind == AGX_ISA_REG ? 'r' : 'u';
   add(out, "%s", operand->hint < AGX_COUNT(hints) ? hints[operand->hint] : "?");
   add_register(out, file, operand->bits, operand->value);
   if (operand->count == 0) {
      add(out, "*0");
   } else if (operand->count != 1) {
      add(out, "..");
      add_register(out, file, operand->bits,
                   operand->value + ((int64_t)operand->count - 1) * (operand->bits / 16));
   }
}

static void add_number(struct agx_isa_text *out, const struct agx_isa_slot *slot, int64_t value)
{
   for (unsigned i = 0; i < slot->info->name_count; i++) {
      if (slot->info->names[i].value == value) {
         add(out, "%s", slot->info->names[i].name);
         return;
      }
   }
   add(out, "%" PRId64, value);
}

static void add_operand(struct agx_isa_text *out, const struct agx_isa_slot *slot,
                        const struct agx_isa_operand *operand)
{
   switch (operand->kind) {
   case AGX_ISA_NONE:
      add(out, "none");
      break;
   case AGX_ISA_REG:
   case AGX_ISA_UNIFORM:
      add_registers(out, operand);
      break;
   case AGX_ISA_FIMM:
      add_float(out, operand->value & 255);
      break;
   case AGX_ISA_CF:
      add(out, "cf%" PRId64, operand->value);
      break;
   case AGX_ISA_TS:
      add(out, "ts%" PRId64, operand->value);
      break;
   case AGX_ISA_SS:
      add(out, "ss%" PRId64, operand->value);
      break;
   default:
      add_number(out, slot, operand->value);
      break;
   }
   add(out, "%s%s%s%s", operand->is_unsigned ? "u" : "", operand->abs ? ".abs" : "",
       operand->neg ? ".neg" : "", operand->sx ? ".sx" : "");
}

size_t agx_isa_operand_print(const struct agx_isa_slot *slot, const struct agx_isa_operand *operand,
                             char *text, size_t capacity)
{
   struct agx_isa_text out = {text, capacity, 0};
   add(&out, "%s", "");
   add_operand(&out, slot, operand);
   return out.length;
}

/* The text may leave the operand out: absent, or zero where that is the rule. */
static bool is_omitted(const struct agx_isa_slot *slot, const struct agx_isa_operand *operand)
{
   if (operand->kind == AGX_ISA_NONE)
      return slot->info->is_optional;
   return slot->info->is_optional && slot->type != AGX_ISA_TYPE_CASES && operand->value == 0;
}

/* The length that the encoder would choose; 0 when it can't encode at all. */
static size_t shortest_length(const struct agx_isa_instr *instr)
{
   struct agx_isa_instr free_length = *instr;
   uint8_t bytes[AGX_ISA_MAX_BYTES];
   size_t length_B = 0;
   free_length.length = 0;
   if (agx_isa_encode(&free_length, bytes, &length_B) != AGX_OK)
      return 0;
   return length_B;
}

size_t agx_isa_print(const struct agx_isa_instr *instr, char *text, size_t capacity)
{
   struct agx_isa_text out = {text, capacity, 0};
   if (instr->op >= AGX_ISA_OP_COUNT) {
      add(&out, "?%u", instr->op);
      return out.length;
   }
   const struct agx_isa_row *row = &agx_isa_rows[instr->op];
   unsigned gradients = agx_isa_gradient_count(instr);
   add(&out, "%s", row->info.name);
   if (row->info.long_B && instr->length && instr->length != shortest_length(instr))
      add(&out, "/%u", instr->length);
   for (unsigned i = 0; i < row->info.operand_count; i++) {
      const struct agx_isa_slot *slot = &row->slot[i];
      const struct agx_isa_operand *operand = &instr->operand[i];
      if (is_omitted(slot, operand))
         continue;
      add(&out, " %s", row->info.operand[i].name);
      if (slot->type == AGX_ISA_TYPE_FLAG && operand->value == 1)
         continue;
      add(&out, "=");
      struct agx_isa_operand whole = *operand;
      if (gradients && i == AGX_ISA_SMPF_LOD && operand->kind == AGX_ISA_REG)
         whole.count = (uint8_t)gradients;
      add_operand(&out, slot, &whole);
   }
   return out.length;
}

static void print_line(uint64_t offset, const uint8_t *bytes, const struct agx_isa_instr *instr,
                       agx_isa_sink sink, void *user)
{
   char line[512], hex[2 * AGX_ISA_MAX_BYTES + 1];
   for (unsigned i = 0; i < instr->length; i++)
      snprintf(hex + 2 * i, 3, "%02x", bytes[i]);
   struct agx_isa_text out = {line, sizeof(line), 0};
   add(&out, "%6" PRIx64 ": %-24s  ", offset, hex);
   agx_isa_print(instr, line + out.length, sizeof(line) - out.length);
   sink(user, line);
}

agx_status agx_isa_disassemble(const void *bytes, size_t size, uint64_t base, agx_isa_sink sink,
                               void *user)
{
   const uint8_t *code = bytes;
   struct agx_isa_instr instr;
   for (size_t at = 0; at < size; at += instr.length) {
      agx_status status = agx_isa_decode(code + at, size - at, &instr);
      if (status != AGX_OK) {
         agx_error_prefix("code at 0x%" PRIx64, base + at);
         return status;
      }
      print_line(base + at, code + at, &instr, sink, user);
   }
   return AGX_OK;
}
