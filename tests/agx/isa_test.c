/* SPDX-License-Identifier: MIT
 *
 * The instruction table against vectors: the project's own (isa_vectors.txt) and,
 * where the shared folder is there, those collected from other tools.
 */
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agx/isa/isa.h"
#include "base/text.h"
#include "base/util.h"

#define MAX_TEXT 512

/* Bytes of a hex string; returns their number. */
static size_t from_hex(const char *hex, uint8_t *bytes, size_t capacity)
{
   size_t count = 0;
   for (unsigned value; sscanf(hex, "%2x", &value) == 1; hex += 2) {
      assert_true(count < capacity);
      bytes[count++] = (uint8_t)value;
   }
   return count;
}

/* bytes -> operands -> bytes and bytes -> text -> bytes, with other code behind. */
static void check_round_trip(const uint8_t *bytes, size_t size, char *text)
{
   uint8_t code[32], back[AGX_ISA_MAX_BYTES];
   memset(code, 0xca, sizeof(code));
   memcpy(code, bytes, size);
   struct agx_isa_instr instr, parsed;
   size_t length;
   assert_ok(agx_isa_decode(code, sizeof(code), &instr));
   assert_int_equal(instr.length, size);
   assert_ok(agx_isa_encode(&instr, back, &length));
   assert_int_equal(length, size);
   assert_memory_equal(back, bytes, size);
   size_t text_length = agx_isa_print(&instr, text, MAX_TEXT);
   assert_in_range(text_length, 1, MAX_TEXT - 1);
   assert_ok(agx_isa_parse(text, text_length, &parsed));
   assert_ok(agx_isa_encode(&parsed, back, &length));
   assert_int_equal(length, size);
   assert_memory_equal(back, bytes, size);
   assert_int_equal(agx_isa_decode(code, size - 1, &instr), AGX_OUT_OF_RANGE);
}

/* ---- vectors of other tools --------------------------------------------- */

static bool is_register(const char *value)
{
   value += strspn(value, "$^");
   value += *value == 'd';
   return (*value == 'r' || *value == 'u') && value[1] >= '0' && value[1] <= '9';
}

/* The reference writes vectors as r0_r1_r2, we as r0..r2. */
static void to_our_style(const char *value, char *ours, size_t capacity)
{
   const char *first_end = strchr(value, '_'), *last = strrchr(value, '_');
   if (!first_end || !is_register(value))
      snprintf(ours, capacity, "%s", value);
   else
      snprintf(ours, capacity, "%.*s..%s", (int)(first_end - value), value, last + 1);
}

/* The value of key in our text; NULL when it is left out. */
static bool our_value(const char *text, const char *key, char *value)
{
   char wanted[64];
   size_t length = (size_t)snprintf(wanted, sizeof(wanted), " %s", key);
   for (const char *at = strstr(text, wanted); at; at = strstr(at + 1, wanted)) {
      if (at[length] == '=') {
         sscanf(at + length + 1, "%63s", value);
         return true;
      }
      if (at[length] == ' ' || at[length] == 0) {
         strcpy(value, "(flag)");
         return true;
      }
   }
   return false;
}

static bool is_default(const char *value)
{
   static const char *defaults[] = {"_", "lsl0", "incoherent", "none", "auto_lod", "center", "0"};
   for (size_t i = 0; i < AGX_COUNT(defaults); i++)
      if (strcmp(value, defaults[i]) == 0)
         return true;
   return false;
}

/* Every word of the reference's text says what ours does. */
static void compare_with_reference(const char *canonical, const char *text)
{
   char words[MAX_TEXT], *rest = words;
   snprintf(words, sizeof(words), "%s", canonical);
   const char *name = agx_split(&rest, " ");
   size_t name_length = strcspn(name, "/");
   assert_int_equal(strcspn(text, " /"), name_length);
   assert_memory_equal(text, name, name_length);
   for (char *word; (word = agx_split(&rest, " "));) {
      char *value = strchr(word, '='), wanted[64] = "(flag)", ours[64];
      if (value) {
         *value++ = 0;
         to_our_style(value, wanted, sizeof(wanted));
      }
      bool found = our_value(text, word, ours);
      if (found ? strcmp(ours, wanted) != 0 : !is_default(wanted))
         fail_msg("%s: reference \"%s\", ours \"%s\"", word, canonical, text);
   }
}

static void shared_vectors_round_trip(void **state)
{
   char *path = agx_test_shared_path("reference/isa/vectors.tsv");
   if (!path)
      skip();
   char *file = agx_test_read_file(path, NULL), *rest = file;
   unsigned count = 0;
   for (char *line; (line = agx_split(&rest, "\n"));) {
      if (line[0] == '#' || line[0] == 0)
         continue;
      char *hex = agx_split(&line, "\t");
      agx_split(&line, "\t");
      agx_split(&line, "\t");
      char *canonical = agx_split(&line, "\t");
      assert_non_null(canonical);
      uint8_t bytes[16];
      char text[MAX_TEXT];
      size_t size = from_hex(hex, bytes, sizeof(bytes));
      check_round_trip(bytes, size, text);
      compare_with_reference(canonical, text);
      count++;
   }
   assert_int_equal(count, 627);
   free(file);
   free(path);
}

/* ---- the project's own vectors ------------------------------------------- */

/* Short forms that can't exist: opcode bits or a mask beyond their end. */
static bool is_impossible(unsigned op, unsigned length_B)
{
   return (op == AGX_ISA_OP_CEIL && length_B == 4) || (op == AGX_ISA_OP_TRUNC && length_B == 4) ||
          (op == AGX_ISA_OP_RINT && length_B == 4) ||
          (op == AGX_ISA_OP_UNIFORM_STORE && length_B == 6);
}

static void own_vectors_cover_every_row(void **state)
{
   bool seen[AGX_ISA_OP_COUNT][AGX_ISA_MAX_BYTES + 1] = {{false}};
   char *path = agx_test_path("agx/isa_vectors.txt");
   char *file = agx_test_read_file(path, NULL), *rest = file;
   for (char *line; (line = agx_split(&rest, "\n"));) {
      if (line[0] == '#' || line[0] == 0)
         continue;
      char *hex = agx_split(&line, " "), text[MAX_TEXT];
      uint8_t bytes[16];
      size_t size = from_hex(hex, bytes, sizeof(bytes));
      check_round_trip(bytes, size, text);
      assert_string_equal(text, line + strspn(line, " "));
      struct agx_isa_instr instr;
      assert_ok(agx_isa_decode(bytes, size, &instr));
      seen[instr.op][size] = true;
   }
   for (unsigned op = 0; op < AGX_ISA_OP_COUNT; op++) {
      const struct agx_isa_info *info = agx_isa_info(op);
      if (seen[op][info->length_B] == is_impossible(op, info->length_B) ||
          (info->long_B && !seen[op][info->long_B]))
         fail_msg("%s: a vector for each length, please", info->name);
   }
   free(file);
   free(path);
}

static void guessed_rows_are_known(void **state)
{
   char text[2048];
   size_t length = 0;
   for (unsigned op = 0; op < AGX_ISA_OP_COUNT; op++)
      if (agx_isa_info(op)->is_guess)
         length +=
            (size_t)snprintf(text + length, sizeof(text) - length, "%s\n", agx_isa_info(op)->name);
   agx_test_golden("isa_guesses.txt", text);
}

/* ---- mistakes ------------------------------------------------------------ */

static void undecodable_bytes_are_explained(void **state)
{
   static const struct {
      const char *hex, *part;
      agx_status status;
   } cases[] = {
      {"", "byte 0: cut short", AGX_OUT_OF_RANGE},
      {"88", "byte 1: cut short", AGX_OUT_OF_RANGE},
      {"2a8c4042", "byte 4: cut short, an instruction of 6 bytes", AGX_OUT_OF_RANGE},
      {"ffff", "byte 0: no instruction begins with the bytes ff ff", AGX_INVALID_ARGUMENT},
      /* iadd with bit 46, which nothing covers */
      {"0e2d46c224402000", "byte 5: iadd: bit 46 is 1, which no operand covers",
       AGX_INVALID_ARGUMENT},
      /* load with bit 26, a constant, clear */
      {"0501040900c43200", "byte 3: load: bit 26 is 0, the other value is the only one known",
       AGX_INVALID_ARGUMENT},
      /* iadd whose source a is a register with hint 0 */
      {"0e2d06c224002000", "byte 2: iadd: operand a is 0x206: a register with hint 0",
       AGX_INVALID_ARGUMENT},
      /* fadd to r3h as 32 bits */
      {"2a8f40422400", "byte 0: fadd: operand d is 0x1e: a 32- or 64-bit register on an odd half",
       AGX_INVALID_ARGUMENT},
      /* hadd with the size bit that the machine ignores */
      {"260140000400", "byte 0: hadd: operand d is 0x2: a form that the machine takes",
       AGX_INVALID_ARGUMENT},
   };
   for (size_t i = 0; i < AGX_COUNT(cases); i++) {
      uint8_t bytes[16];
      struct agx_isa_instr instr;
      size_t size = from_hex(cases[i].hex, bytes, sizeof(bytes));
      assert_fails(agx_isa_decode(bytes, size, &instr), cases[i].status, cases[i].part);
   }
}

static void bad_text_is_explained(void **state)
{
   static const struct {
      const char *text, *part;
   } cases[] = {
      {" ", "empty line"},
      {"fad d=r0", "no instruction is named \"fad\""},
      {"fadd/x d=r0 a=r1 b=r2", "fadd: not a length after '/'"},
      {"fadd d=r0 a=r1", "fadd: operand b is missing"},
      {"fadd d=r0 a=r1 b=r2 c=r3", "fadd: no operand is named \"c\""},
      {"fadd d=r0 a=r1 b=r2 a=r3", "fadd: operand a stands twice"},
      {"fadd d=r0 a b=r2", "fadd: operand a needs a value"},
      {"fadd d=q0 a=r1 b=r2", "fadd: operand d=q0: not a register"},
      {"fadd d=r0 a=r1..r0 b=r2", "the last register does not follow the first"},
      {"fadd d=r0 a=r1..r2l b=r2", "the last register is not like the first"},
      {"fadd d=r0 a=r1 b=3.3", "operand b=3.3: not a number that a minifloat can be"},
      {"icsel d=r0 a=r1 b=r2 x=1 y=2 cond=maybe", "operand cond=maybe: not a value"},
      {"iadd d=r0 a=r1 b=0x", "operand b=0x: not a number"},
   };
   for (size_t i = 0; i < AGX_COUNT(cases); i++) {
      struct agx_isa_instr instr;
      assert_fails(agx_isa_parse(cases[i].text, strlen(cases[i].text), &instr),
                   AGX_INVALID_ARGUMENT, cases[i].part);
   }
}

static void what_does_not_fit_is_explained(void **state)
{
   static const struct {
      const char *text, *part;
   } cases[] = {
      {"iadd d=r0 a=r1 b=256", "iadd: operand b=256: number out of range"},
      {"iadd d=r0 a=r1 b=-1", "operand b=-1: number out of range"},
      {"iadd d=r0 a=r1.neg b=1", "operand a=r1.neg: takes no such modifier"},
      {"iadd d=^r0 a=r1 b=1", "operand d=^r0: takes no such hint"},
      {"iadd d=u0 a=r1 b=1", "operand d=u0: takes no operand of this kind"},
      {"iadd d=r0 a=du0 b=1", "operand a=du0: register of a size that this operand can't have"},
      {"iadd d=r128 a=r1 b=1", "operand d=r128: number out of range"},
      {"iadd d=dr127 a=r1 b=1", "operand d=dr127: registers past the end of the file"},
      {"iadd d=r0..r1 a=r1 b=1", "operand d=r0..r1: wrong number of registers"},
      {"imadd/6 d=r0 a=r1 b=1 c=2", "imadd: no form has 6 bytes"},
      {"fadd/4 d=r64 a=r1 b=1.0", "fadd: the operands do not fit the form of 4 bytes"},
      {"ceil/4 d=r0 a=r1", "ceil: the operands do not fit the form of 4 bytes"},
      {"ldimm16 d=r0 imm=1", "ldimm16: operand d=r0: belongs to another instruction"},
      {"load r=r0..r2 base=du0 index=0 format=i32 mask=xy group=a",
       "operand r=r0..r2: does not agree with the operands that share its bits"},
      {"load r=r0 base=du128 index=0 format=i32 mask=x group=a", "base=du128: number out of range"},
      {"load r=r0 base=du0 index=r1l format=i32 mask=x group=a", "index=r1l: register of a size"},
      {"icsel d=r0 a=r1 b=r2 x=r3l y=r4 cond=ult", "operand x=r3l: does not agree"},
      {"jmp_any offset=4294967296", "offset=4294967296: number out of range"},
   };
   for (size_t i = 0; i < AGX_COUNT(cases); i++) {
      struct agx_isa_instr instr;
      uint8_t bytes[AGX_ISA_MAX_BYTES];
      size_t length;
      assert_ok(agx_isa_parse(cases[i].text, strlen(cases[i].text), &instr));
      assert_fails(agx_isa_encode(&instr, bytes, &length), AGX_INVALID_ARGUMENT, cases[i].part);
      assert_int_equal(length, 0);
   }
   struct agx_isa_instr instr = {.op = AGX_ISA_OP_COUNT};
   uint8_t bytes[AGX_ISA_MAX_BYTES];
   size_t length;
   assert_fails(agx_isa_encode(&instr, bytes, &length), AGX_INVALID_ARGUMENT, "instruction number");
}

/* ---- small promises ------------------------------------------------------ */

/* What a text assembles to, as text again: aliases come first. */
static void aliases_are_preferred(void **state)
{
   static const char *const pairs[][2] = {
      {"bitop d=r0 a=r1 b=r2 truth=and", "and d=r0 a=r1 b=r2"},
      {"bitop d=r0 a=r1 b=0 truth=mov", "mov d=r0 a=r1"},
      {"imadd d=r0 a=r1 b=r2 c=0", "imul d=r0 a=r1 b=r2"},
      {"bfi d=r0 a=0 b=r1 c=r2 bitmask=0", "shl d=r0 b=r1 c=r2"},
      {"membar a=1 b=2 c=9", "memory_barrier"},
      {"if_fcmp a=0.0 b=0.0 nest=0 cond=feq", "update_exec"},
      {"icmp_ballot d=r0 a=1 b=0 window=simd cond=ine", "ballot d=r0"},
   };
   for (size_t i = 0; i < AGX_COUNT(pairs); i++) {
      struct agx_isa_instr instr;
      uint8_t bytes[AGX_ISA_MAX_BYTES];
      size_t length;
      char text[MAX_TEXT];
      assert_ok(agx_isa_parse(pairs[i][0], strlen(pairs[i][0]), &instr));
      assert_ok(agx_isa_encode(&instr, bytes, &length));
      assert_ok(agx_isa_decode(bytes, length, &instr));
      agx_isa_print(&instr, text, sizeof(text));
      assert_string_equal(text, pairs[i][1]);
   }
}

/* Flags, and enums with a default, may be left zero by who builds operands. */
static void absent_modifiers_are_zero(void **state)
{
   struct agx_isa_instr instr = {.op = AGX_ISA_OP_IADD};
   instr.operand[AGX_ISA_IADD_D] =
      (struct agx_isa_operand){.kind = AGX_ISA_REG, .bits = 32, .count = 1, .value = 22};
   instr.operand[AGX_ISA_IADD_A] = instr.operand[AGX_ISA_IADD_D];
   instr.operand[AGX_ISA_IADD_B] = (struct agx_isa_operand){.kind = AGX_ISA_IMM, .value = 7};
   uint8_t bytes[AGX_ISA_MAX_BYTES];
   size_t length;
   char text[8];
   assert_ok(agx_isa_encode(&instr, bytes, &length));
   assert_int_equal(length, 8);
   assert_int_equal(agx_isa_print(&instr, text, sizeof(text)), strlen("iadd d=r11 a=r11 b=7"));
   assert_string_equal(text, "iadd d=");
   assert_int_equal(agx_isa_print(&instr, NULL, 0), strlen("iadd d=r11 a=r11 b=7"));
}

static void collect(void *user, const char *line)
{
   strcat(user, line);
   strcat(user, "\n");
}

static void disassembly_stops_at_the_first_mistake(void **state)
{
   static const uint8_t code[] = {0x38, 0x00, 0x88, 0x00, 0xff, 0xff};
   char text[MAX_TEXT] = "";
   assert_fails(agx_isa_disassemble(code, sizeof(code), 0x100, collect, text), AGX_INVALID_ARGUMENT,
                "code at 0x104: byte 0: no instruction begins");
   assert_string_equal(text, "   100: 3800                      wait group=a\n"
                             "   102: 8800                      stop\n");
   assert_ok(agx_isa_disassemble(code, 0, 0, collect, text));
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(shared_vectors_round_trip),
      cmocka_unit_test(own_vectors_cover_every_row),
      cmocka_unit_test(guessed_rows_are_known),
      cmocka_unit_test(undecodable_bytes_are_explained),
      cmocka_unit_test(bad_text_is_explained),
      cmocka_unit_test(what_does_not_fit_is_explained),
      cmocka_unit_test(aliases_are_preferred),
      cmocka_unit_test(absent_modifiers_are_zero),
      cmocka_unit_test(disassembly_stops_at_the_first_mistake),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
