/* SPDX-License-Identifier: MIT
 *
 * agx disasm: machine code to text or JSON. Code comes as hex on the command
 * line or from a file: ELF (each executable section), hex text, or raw bytes.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agx.h"
#include "agx/isa/isa.h"
#include "base/json.h"
#include "base/status.h"
#include "base/text.h"
#include "base/util.h"
#include "program/bundle.h"
#include "program/elf.h"
#include "program/listing.h"

struct agx_disasm {
   bool is_json, is_raw;
   bool has_printed;  /* an instruction, for the commas of JSON */
   const char *entry; /* of an ELF file with several entry points; NULL: all */
};

/* ---- output ------------------------------------------------------------ */

static void print_line(void *user, const char *line)
{
   puts(line);
}

static void print_string(const char *text)
{
   struct agx_json json = {.file = stdout};
   agx_json_quote(&json, text);
}

/* The words "key=value" and "flag" after the name, as members. */
static void print_operands(char *words)
{
   const char *separator = "";
   for (char *word; (word = agx_split(&words, " "));) {
      char *value = strchr(word, '=');
      if (value)
         *value++ = 0;
      printf("%s", separator);
      print_string(word);
      printf(": ");
      if (value)
         print_string(value);
      else
         printf("true");
      separator = ", ";
   }
}

static void print_json(struct agx_disasm *disasm, const struct agx_isa_instr *instr,
                       const uint8_t *bytes, uint64_t offset)
{
   char text[512];
   agx_isa_print(instr, text, sizeof(text));
   printf("%s\n  {\"offset\": %" PRIu64 ", \"bytes\": \"", disasm->has_printed ? "," : "", offset);
   disasm->has_printed = true;
   for (unsigned i = 0; i < instr->length; i++)
      printf("%02x", bytes[i]);
   printf("\", \"text\": ");
   print_string(text);
   printf(", \"name\": ");
   print_string(agx_isa_info(instr->op)->name);
   printf(", \"operands\": {");
   char *words = strchr(text, ' ');
   if (words)
      print_operands(words + 1);
   printf("}}");
}

static agx_status print_code(struct agx_disasm *disasm, const uint8_t *code, size_t size,
                             uint64_t base)
{
   if (!disasm->is_json)
      return agx_isa_disassemble(code, size, base, print_line, NULL);
   struct agx_isa_instr instr;
   for (size_t at = 0; at < size; at += instr.length) {
      agx_status status = agx_isa_decode(code + at, size - at, &instr);
      if (status != AGX_OK) {
         agx_error_prefix("code at 0x%" PRIx64, base + at);
         return status;
      }
      print_json(disasm, &instr, code + at, base + at);
   }
   return AGX_OK;
}

/* ---- input ------------------------------------------------------------- */

/* Hex digits and white space only, with whole bytes. */
static bool is_hex(const uint8_t *text, size_t size)
{
   size_t digits = 0;
   for (size_t i = 0; i < size; i++) {
      if (!isspace(text[i]) && !isxdigit(text[i]))
         return false;
      digits += !isspace(text[i]);
   }
   return digits > 0 && digits % 2 == 0;
}

/* Turns hex text into bytes in place; returns their number. */
static size_t hex_to_bytes(uint8_t *text, size_t size)
{
   size_t digits = 0;
   for (size_t i = 0; i < size; i++) {
      if (isspace(text[i]))
         continue;
      unsigned value = isdigit(text[i]) ? text[i] - '0' : (text[i] | 0x20) - 'a' + 10;
      text[digits / 2] = (uint8_t)(digits % 2 ? text[digits / 2] << 4 | value : value);
      digits++;
   }
   return digits / 2;
}

static agx_status print_section(struct agx_disasm *disasm, const struct agx_elf_section *section,
                                unsigned *count)
{
   if (!disasm->is_json)
      printf("%s# %s\n", *count ? "\n" : "", section->name);
   ++*count;
   agx_status status = print_code(disasm, section->bytes, section->size, section->address);
   if (status != AGX_OK)
      agx_error_prefix("section %s", section->name);
   return status;
}

/* Every executable section of an ELF file, in the file's order. */
static agx_status print_elf(struct agx_disasm *disasm, const uint8_t *data, size_t size)
{
   struct agx_elf elf;
   unsigned count = 0;
   AGX_TRY(agx_elf_open(data, size, &elf));
   for (uint32_t i = 1; i < elf.section_count; i++) {
      struct agx_elf_section section;
      agx_status status = agx_elf_section(&elf, i, &section);
      if (section.type != AGX_ELF_PROGBITS || !(section.flags & AGX_ELF_EXECUTABLE))
         continue;
      AGX_TRY(status);
      AGX_TRY(print_section(disasm, &section, &count));
   }
   if (count == 0)
      return AGX_FAIL(AGX_NOT_FOUND, "the ELF file has no executable section");
   return AGX_OK;
}

static agx_status print_program(struct agx_disasm *disasm, const struct agx_program *program)
{
   if (disasm->is_json) {
      AGX_TRY(print_code(disasm, program->code, program->code_B, 0));
      return print_code(disasm, program->preamble, program->preamble_B, 0);
   }
   if (disasm->has_printed)
      puts("");
   disasm->has_printed = true;
   return agx_program_list(program, print_line, NULL);
}

/* Files of several entry points, or one of them by name. */
static agx_status print_entries(struct agx_disasm *disasm, const struct agx_module *module)
{
   uint32_t index = disasm->entry ? agx_module_find(module, disasm->entry) : 0;
   if (index == module->program_count)
      return AGX_FAIL(AGX_NOT_FOUND, "no entry point %s", disasm->entry);
   if (disasm->entry)
      return print_program(disasm, module->programs[index]);
   for (uint32_t i = 0; i < module->program_count; i++)
      AGX_TRY(print_program(disasm, module->programs[i]));
   return AGX_OK;
}

/* Any ELF file has sections; ours may have several programs. */
static agx_status print_part(struct agx_disasm *disasm, const uint8_t *data, size_t size)
{
   struct agx_module *module = NULL;
   agx_status status = agx_module_read_elf(data, size, NULL, &module);
   if (status != AGX_OK && disasm->entry)
      return status;
   if (status != AGX_OK || (module->program_count == 1 && !disasm->entry))
      status = print_elf(disasm, data, size);
   else
      status = print_entries(disasm, module);
   agx_module_release(module);
   return status;
}

/* Of a file for several chips one behind the other. */
static agx_status print_file(struct agx_disasm *disasm, const uint8_t *data, size_t size)
{
   struct agx_bundle_part parts[AGX_BUNDLE_MAX_CHIPS];
   uint32_t count;
   if (agx_bundle_read(data, size, parts, &count) != AGX_OK || !parts[0].chip)
      return print_part(disasm, data, size);
   for (uint32_t i = 0; i < count; i++) {
      if (!disasm->is_json)
         printf("%s# chip %s\n", i ? "\n" : "", parts[i].chip);
      AGX_TRY(print_part(disasm, parts[i].image, parts[i].size));
   }
   return AGX_OK;
}

static agx_status print_input(struct agx_disasm *disasm, uint8_t *data, size_t size)
{
   if (!disasm->is_raw && size >= 4 && memcmp(data, "\177ELF", 4) == 0)
      return print_file(disasm, data, size);
   if (!disasm->is_raw && is_hex(data, size))
      size = hex_to_bytes(data, size);
   return print_code(disasm, data, size, 0);
}

static agx_status disassemble_file(struct agx_disasm *disasm, const char *path)
{
   uint8_t *data;
   size_t size;
   AGX_TRY(agx_tool_read(path, &data, &size));
   agx_status status = print_input(disasm, data, size);
   free(data);
   if (status != AGX_OK)
      agx_error_prefix("%s", agx_tool_name(path));
   return status;
}

/* The words of --hex, joined. */
static agx_status disassemble_hex(struct agx_disasm *disasm, int count, char **words)
{
   size_t capacity = 1, size = 0;
   for (int i = 0; i < count; i++)
      capacity += strlen(words[i]);
   uint8_t *bytes = malloc(capacity);
   if (!bytes)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "--hex: %zu characters", capacity);
   for (int i = 0; i < count; i++) {
      memcpy(bytes + size, words[i], strlen(words[i]));
      size += strlen(words[i]);
   }
   agx_status status;
   if (is_hex(bytes, size))
      status = print_code(disasm, bytes, hex_to_bytes(bytes, size), 0);
   else
      status = AGX_FAIL(AGX_INVALID_ARGUMENT, "--hex takes an even number of hex digits");
   free(bytes);
   return status;
}

/* ---- command ----------------------------------------------------------- */

static agx_status disassemble(struct agx_disasm *disasm, bool is_hex_given, int count, char **words)
{
   if (disasm->is_json)
      printf("{\"instructions\": [");
   agx_status status = is_hex_given ? disassemble_hex(disasm, count, words)
                                    : disassemble_file(disasm, count ? words[0] : NULL);
   if (!disasm->is_json)
      return status;
   printf("%s], \"error\": ", disasm->has_printed ? "\n" : "");
   if (status == AGX_OK)
      printf("null");
   else
      print_string(agx_error_peek());
   printf("}\n");
   return status;
}

int agx_cmd_disasm(int argc, char **argv)
{
   struct agx_disasm disasm = {0};
   bool is_hex_given = false;
   int count = 0; /* words that are no options, moved to the front of argv + 1 */
   for (int i = 1; i < argc; i++) {
      if (strcmp(argv[i], "--json") == 0)
         disasm.is_json = true;
      else if (strcmp(argv[i], "--raw") == 0)
         disasm.is_raw = true;
      else if (strcmp(argv[i], "--entry") == 0 && i + 1 < argc)
         disasm.entry = argv[++i];
      else if (strcmp(argv[i], "--entry") == 0)
         return agx_tool_usage(argv[0], "--entry: its value is missing");
      else if (strcmp(argv[i], "--hex") == 0)
         is_hex_given = true;
      else if (argv[i][0] == '-' && argv[i][1] != 0)
         return agx_tool_usage(argv[0], "unknown option %s", argv[i]);
      else
         argv[1 + count++] = argv[i];
   }
   if (is_hex_given && count == 0)
      return agx_tool_usage(argv[0], "--hex needs the bytes");
   if (!is_hex_given && count > 1)
      return agx_tool_usage(argv[0], "takes one file, not %d", count);
   if (disassemble(&disasm, is_hex_given, count, argv + 1) != AGX_OK)
      return agx_tool_failed(argv[0]);
   return AGX_EXIT_OK;
}
