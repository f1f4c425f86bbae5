/* SPDX-License-Identifier: MIT
 *
 * Assembles the programs of the experiments, with labels, bytes by hand and one alteration.
 */
#include <stdio.h>
#include <string.h>

#include "agx/isa/isa.h"
#include "base/util.h"
#include "selftest.h"

#define MAX_TEXT   131072
#define MAX_LINE   256
#define MAX_LABELS 16

struct label {
   char name[16];
   size_t at;
};

struct assembly {
   const struct agx_chip *chip;
   uint8_t *code;
   size_t capacity, at;
   struct label labels[MAX_LABELS];
   unsigned label_count;
   bool is_last; /* of two passes; the first finds the labels */
};

/* Text with each `from` replaced. */
static agx_status replace(const char *text, const char *from, const char *to, char *out)
{
   size_t length = 0;
   unsigned found = 0;
   while (*text) {
      bool is_here = from && strncmp(text, from, strlen(from)) == 0;
      const char *piece = is_here ? to : text;
      size_t bytes = is_here ? strlen(to) : 1;
      if (length + bytes >= MAX_TEXT)
         return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "a program of more than %d bytes", MAX_TEXT);
      memcpy(out + length, piece, bytes);
      length += bytes;
      text += is_here ? strlen(from) : 1;
      found += is_here;
   }
   out[length] = '\0';
   if (from && !found)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "\"%s\" stands nowhere in the program", from);
   return AGX_OK;
}

static agx_status put(struct assembly *assembly, const void *bytes, size_t length)
{
   if (assembly->at + length > assembly->capacity)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "code of more than %zu bytes", assembly->capacity);
   memcpy(assembly->code + assembly->at, bytes, length);
   assembly->at += length;
   return AGX_OK;
}

static agx_status put_hex(struct assembly *assembly, const char *digits)
{
   for (unsigned byte; sscanf(digits, "%2x", &byte) == 1; digits += 2)
      AGX_TRY(put(assembly, &(uint8_t){(uint8_t)byte}, 1));
   return AGX_OK;
}

/* Replaces "@name" at the line's end by the distance to it. */
static agx_status resolve(struct assembly *assembly, char *line)
{
   char *mark = strchr(line, '@');
   if (!mark)
      return AGX_OK;
   for (unsigned i = 0; i < assembly->label_count; i++) {
      if (strcmp(assembly->labels[i].name, mark + 1) == 0) {
         snprintf(mark, 16, "%d", (int)((int64_t)assembly->labels[i].at - (int64_t)assembly->at));
         return AGX_OK;
      }
   }
   if (assembly->is_last)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "no label %s", mark + 1);
   strcpy(mark, "0");
   return AGX_OK;
}

static agx_status put_line(struct assembly *assembly, char *line)
{
   struct agx_isa_instr instr;
   uint8_t bytes[AGX_ISA_MAX_BYTES];
   size_t length = strlen(line);
   if (line[length - 1] == ':') {
      struct label *label = &assembly->labels[assembly->label_count];
      if (assembly->is_last)
         return AGX_OK;
      if (assembly->label_count == MAX_LABELS)
         return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "more than %d labels", MAX_LABELS);
      snprintf(label->name, sizeof(label->name), "%.*s", (int)AGX_MIN(length - 1, (size_t)15),
               line);
      label->at = assembly->at;
      assembly->label_count++;
      return AGX_OK;
   }
   if (strncmp(line, ".hex ", 5) == 0)
      return put_hex(assembly, line + 5);
   AGX_TRY(resolve(assembly, line));
   if (strncmp(line, "atomic ", 7) == 0)
      strcat(line,
             assembly->chip->atomic_coherency_3 ? " coherency=coherent" : " coherency=coherent1");
   AGX_TRY(agx_isa_parse(line, strlen(line), &instr));
   AGX_TRY(agx_isa_encode(&instr, bytes, &length));
   return put(assembly, bytes, length);
}

static agx_status pass(struct assembly *assembly, const char *text)
{
   assembly->at = 0;
   while (*text) {
      char line[MAX_LINE + 64];
      text += strspn(text, " \n;");
      size_t length = strcspn(text, "\n;");
      if (length >= MAX_LINE)
         return AGX_FAIL(AGX_INVALID_ARGUMENT, "a line of more than %d bytes", MAX_LINE);
      memcpy(line, text, length);
      while (length > 0 && line[length - 1] == ' ')
         length--;
      line[length] = '\0';
      if (length > 0 && put_line(assembly, line) != AGX_OK) {
         agx_error_prefix("\"%s\"", line);
         return AGX_INVALID_ARGUMENT;
      }
      text += strcspn(text, "\n;");
   }
   static const uint8_t end[18] = {0x88, 0, 8, 0, 8, 0, 8, 0, 8, 0, 8, 0, 8, 0, 8, 0, 8, 0};
   return put(assembly, end, sizeof(end));
}

agx_status selftest_assemble(const struct agx_chip *chip, const char *text, const char *from,
                             const char *to, uint8_t *out_code, size_t capacity, size_t *out_length)
{
   static char altered[MAX_TEXT];
   struct assembly assembly = {.chip = chip, .code = out_code, .capacity = capacity};
   AGX_TRY(replace(text, from, to, altered));
   AGX_TRY(pass(&assembly, altered));
   assembly.is_last = true;
   AGX_TRY(pass(&assembly, altered));
   *out_length = assembly.at;
   return AGX_OK;
}
