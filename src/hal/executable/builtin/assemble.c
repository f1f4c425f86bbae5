/* SPDX-License-Identifier: MIT
 *
 * Part of the build, called by make_builtins.c: assembles kernels that are written as machine
 * instructions and writes them as a C table, one image for each coherency that chips have for
 * atomics: the text leaves that out. A line "name:" is a label, and "@name" at the end of a line
 * the distance to it from the line's own instruction, as jumps take it.
 */
#include "hal/executable/builtin/assemble.h"

#include <string.h>

#include "agx/isa/isa.h"

#define MAX_LINE   128
#define MAX_LABEL  32
#define MAX_LABELS 32u
#define TRAPS      8u /* what is fetched behind the end */

/* By agx_chip.atomic_coherency_3. */
static const char *const coherencies[] = {"coherent1", "coherent"};

struct assembly {
   FILE *out; /* NULL: only find out where labels are */
   const char *coherency;
   struct {
      char name[MAX_LABEL];
      long at;
   } labels[MAX_LABELS];
   unsigned label_count;
   long at; /* bytes so far */
};

static bool add_label(struct assembly *assembly, const char *line, size_t length)
{
   if (assembly->out) /* known already */
      return true;
   if (assembly->label_count == MAX_LABELS || length >= MAX_LABEL) {
      fprintf(stderr, "%s more than %u labels, or one of more than %d letters\n", line, MAX_LABELS,
              MAX_LABEL - 1);
      return false;
   }
   memcpy(assembly->labels[assembly->label_count].name, line, length);
   assembly->labels[assembly->label_count++].at = assembly->at;
   return true;
}

/* Puts the distance to the label in the place of its name. */
static bool resolve(const struct assembly *assembly, char *text, size_t capacity)
{
   char *mark = strchr(text, '@');
   if (!mark)
      return true;
   for (unsigned i = 0; i < assembly->label_count; i++) {
      if (strcmp(assembly->labels[i].name, mark + 1) != 0)
         continue;
      snprintf(mark, capacity - (size_t)(mark - text), "%ld",
               assembly->labels[i].at - assembly->at);
      return true;
   }
   if (assembly->out)
      fprintf(stderr, "%s: there is no such label\n", text);
   else
      snprintf(mark, capacity - (size_t)(mark - text), "0"); /* not known yet; as long */
   return !assembly->out;
}

static bool take_line(struct assembly *assembly, const char *line)
{
   struct agx_isa_instr instr;
   uint8_t bytes[AGX_ISA_MAX_BYTES];
   char text[MAX_LINE + 32];
   size_t length = strlen(line);
   const bool is_atomic = strncmp(line, "atomic ", 7) == 0;
   if (length && line[length - 1] == ':')
      return add_label(assembly, line, length - 1);
   snprintf(text, sizeof(text), "%s%s%s", line, is_atomic ? " coherency=" : "",
            is_atomic ? assembly->coherency : "");
   if (!resolve(assembly, text, sizeof(text)))
      return false;
   if (agx_isa_parse(text, strlen(text), &instr) != AGX_OK ||
       agx_isa_encode(&instr, bytes, &length) != AGX_OK) {
      fprintf(stderr, "%s: %s\n", text, agx_error_peek());
      return false;
   }
   assembly->at += (long)length;
   for (size_t i = 0; assembly->out && i < length; i++)
      fprintf(assembly->out, "0x%02x, ", bytes[i]);
   if (assembly->out)
      fputc('\n', assembly->out);
   return true;
}

static bool take_lines(struct assembly *assembly, FILE *file)
{
   char line[MAX_LINE];
   bool is_good = true;
   rewind(file);
   assembly->at = 0;
   while (is_good && fgets(line, sizeof(line), file)) {
      line[strcspn(line, "\n")] = '\0';
      is_good = take_line(assembly, line);
   }
   for (unsigned i = 0; is_good && i < TRAPS; i++)
      is_good = take_line(assembly, "trap");
   return is_good;
}

static bool write_kernel(FILE *out, const char *path, const char *coherency)
{
   struct assembly assembly = {.coherency = coherency};
   FILE *file = fopen(path, "r");
   if (!file) {
      fprintf(stderr, "%s can't be opened\n", path);
      return false;
   }
   bool is_good = take_lines(&assembly, file);
   fputs("{", out);
   assembly.out = out;
   is_good = is_good && take_lines(&assembly, file);
   fputs("},\n", out);
   fclose(file);
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
