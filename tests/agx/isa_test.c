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
   const char *name = strsep(&rest, " ");
   size_t name_length = strcspn(name, "/");
   assert_int_equal(strcspn(text, " /"), name_length);
   assert_memory_equal(text, name, name_length);
   for (char *word; (word = strsep(&rest, " "));) {
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
   for (char *line; (line = strsep(&rest, "\n"));) {
      if (line[0] == '#' || line[0] == 0)
         continue;
      char *hex = strsep(&line, "\t");
      strsep(&line, "\t");
      strsep(&line, "\t");
      char *canonical = strsep(&line, "\t");
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

int main(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(shared_vectors_round_trip),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
