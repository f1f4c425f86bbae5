/* SPDX-License-Identifier: MIT
 *
 * Part of the build, called by make_builtins.c: assembles the kernels that leave breadcrumbs and
 * writes them as a C table, one image for each coherency that chips have for atomics: the text
 * leaves that out.
 */
#include "hal/executable/builtin/assemble.h"

#include <string.h>

#include "agx/isa/isa.h"

#define MAX_LINE 128
#define TRAPS    8u /* what is fetched behind the end */

/* By agx_chip.atomic_coherency_3. */
static const char *const coherencies[] = {"coherent1", "coherent"};

static bool write_line(FILE *out, const char *line, const char *coherency)
{
   struct agx_isa_instr instr;
   uint8_t bytes[AGX_ISA_MAX_BYTES];
   char text[MAX_LINE + 32];
   size_t length = 0;
   snprintf(text, sizeof(text), "%s%s%s", line,
            strncmp(line, "atomic ", 7) == 0 ? " coherency=" : "",
            strncmp(line, "atomic ", 7) == 0 ? coherency : "");
   if (agx_isa_parse(text, strlen(text), &instr) != AGX_OK ||
       agx_isa_encode(&instr, bytes, &length) != AGX_OK) {
      fprintf(stderr, "%s: %s\n", text, agx_error_peek());
      return false;
   }
   for (size_t i = 0; i < length; i++)
      fprintf(out, "0x%02x, ", bytes[i]);
   fputc('\n', out);
   return true;
}

static bool write_kernel(FILE *out, const char *path, const char *coherency)
{
   char line[MAX_LINE];
   FILE *file = fopen(path, "r");
   bool is_good = file != NULL;
   fputs("{", out);
   while (is_good && fgets(line, sizeof(line), file)) {
      line[strcspn(line, "\n")] = '\0';
      is_good = write_line(out, line, coherency);
   }
   for (unsigned i = 0; is_good && i < TRAPS; i++)
      is_good = write_line(out, "trap", coherency);
   fputs("},\n", out);
   if (file)
      fclose(file);
   else
      fprintf(stderr, "%s can't be opened\n", path);
   return is_good;
}

bool assemble_kernels(FILE *out, char *const *paths)
{
   bool is_good = true;
   for (size_t c = 0; is_good && c < sizeof(coherencies) / sizeof(coherencies[0]); c++) {
      fputs("{\n", out);
      for (size_t i = 0; is_good && paths[i]; i++)
         is_good = write_kernel(out, paths[i], coherencies[c]);
      fputs("},\n", out);
   }
   return is_good;
}
