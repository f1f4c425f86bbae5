/* SPDX-License-Identifier: MIT
 *
 * agx asm: text to machine code. Takes what `agx disasm` prints: the columns
 * before the instruction are skipped, so edited listings assemble again.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agx.h"
#include "agx/isa/isa.h"
#include "base/status.h"
#include "base/text.h"
#include "base/util.h"

/* Skips "OFFSET: BYTES " at the start of a listing's line. */
static const char *skip_columns(const char *line)
{
   const char *at = line + strspn(line, " \t");
   size_t digits = strspn(at, "0123456789abcdefABCDEF");
   if (digits == 0 || at[digits] != ':')
      return line;
   at += digits + 1;
   at += strspn(at, " \t");
   digits = strspn(at, "0123456789abcdefABCDEF");
   if (digits % 4 == 0 && digits >= 4 && (isspace((unsigned char)at[digits]) || !at[digits]))
      at += digits;
   return at;
}

/* Assembles one line, which may be empty or a comment, and prints its hex. */
static agx_status assemble_line(char *line)
{
   line[strcspn(line, "#;")] = 0;
   const char *text = skip_columns(line);
   if (text[strspn(text, " \t\r")] == 0)
      return AGX_OK;
   struct agx_isa_instr instr;
   uint8_t bytes[AGX_ISA_MAX_BYTES];
   size_t length;
   AGX_TRY(agx_isa_parse(text, strlen(text), &instr));
   AGX_TRY(agx_isa_encode(&instr, bytes, &length));
   for (size_t i = 0; i < length; i++)
      printf("%02x", bytes[i]);
   printf("\n");
   return AGX_OK;
}

static agx_status assemble(const char *name, char *text, size_t size)
{
   if (strlen(text) != size)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s: not a text file (byte %zu is 0)", name,
                      strlen(text));
   unsigned number = 1;
   for (char *line; (line = agx_split(&text, "\n")); number++) {
      agx_status status = assemble_line(line);
      if (status != AGX_OK) {
         agx_error_prefix("%s:%u", name, number);
         return status;
      }
   }
   return AGX_OK;
}

int agx_cmd_asm(int argc, char **argv)
{
   if (argc > 2)
      return agx_tool_usage(argv[0], "takes one file, not %d", argc - 1);
   const char *path = argc == 2 ? argv[1] : NULL;
   if (path && path[0] == '-' && path[1] != 0)
      return agx_tool_usage(argv[0], "unknown option %s", path);
   uint8_t *text;
   size_t size;
   if (agx_tool_read(path, &text, &size) != AGX_OK)
      return agx_tool_failed(argv[0]);
   agx_status status = assemble(agx_tool_name(path), (char *)text, size);
   free(text);
   return status == AGX_OK ? AGX_EXIT_OK : agx_tool_failed(argv[0]);
}
