/* SPDX-License-Identifier: MIT
 *
 * Turns the text of AGX_DEBUG into flags by the table of debug.def, and prints the table for
 * "help".
 */
#include "base/debug.h"

#include <stdio.h>
#include <string.h>

#include "base/util.h"

static const struct {
   const char *name, *sentence;
} flags[] = {
#define DEBUG(name, NAME, sentence) {#name, sentence},
#include "base/debug.def"
#undef DEBUG
};

static void print_help(void)
{
   fprintf(stderr, "AGX_DEBUG takes a comma-separated list of:\n");
   for (size_t i = 0; i < AGX_COUNT(flags); i++)
      fprintf(stderr, "  %-10s %s\n", flags[i].name, flags[i].sentence);
}

static agx_status parse_word(const char *word, size_t length, uint32_t *flags_out)
{
   for (size_t i = 0; i < AGX_COUNT(flags); i++) {
      if (strlen(flags[i].name) == length && memcmp(flags[i].name, word, length) == 0) {
         *flags_out |= 1u << i;
         return AGX_OK;
      }
   }
   return AGX_FAIL(AGX_INVALID_ARGUMENT,
                   "AGX_DEBUG: unknown flag \"%.*s\"; AGX_DEBUG=help lists them", (int)length,
                   word);
}

agx_status agx_debug_parse(const char *text, uint32_t *out_flags)
{
   *out_flags = 0;
   for (const char *at = text ? text : ""; *at;) {
      size_t length = strcspn(at, ",");
      if (length > 0)
         AGX_TRY(parse_word(at, length, out_flags));
      at += length + (at[length] == ',');
   }
   if (*out_flags & AGX_DEBUG_HELP)
      print_help();
   return AGX_OK;
}
