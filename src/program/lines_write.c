/* SPDX-License-Identifier: MIT
 *
 * Writes a program's table of source lines as the bytes of a .debug_line section of DWARF 5: one
 * unit, its files' names, and one sequence of
 * rows for the code and one for the preamble. The compiler calls it behind the emitter.
 */
#include <string.h>

#include "program/lines.h"
#include "program/lines_impl.h"

const uint8_t agx_dwarf_operands[AGX_DWARF_OPCODE_BASE - 1] = {0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1};
const uint8_t agx_dwarf_directory[3] = {1, AGX_DWARF_PATH, AGX_DWARF_FORM_STRING};
const uint8_t agx_dwarf_file[5] = {2, AGX_DWARF_PATH, AGX_DWARF_FORM_STRING,
                                   AGX_DWARF_DIRECTORY_INDEX, AGX_DWARF_FORM_UDATA};

/* Bytes are counted, and kept unless out is NULL. */
struct sink {
   uint8_t *out;
   size_t size;
};

static void put(struct sink *sink, const void *bytes, size_t size)
{
   if (sink->out && size)
      memcpy(sink->out + sink->size, bytes, size);
   sink->size += size;
}

static void put_byte(struct sink *sink, unsigned byte)
{
   put(sink, &(uint8_t){(uint8_t)byte}, 1);
}

static void put_number(struct sink *sink, uint64_t value, unsigned bytes)
{
   for (unsigned i = 0; i < bytes; i++)
      put_byte(sink, value >> 8 * i & 0xff);
}

static void put_unsigned(struct sink *sink, uint64_t value)
{
   for (; value > 0x7f; value >>= 7)
      put_byte(sink, 0x80 | (value & 0x7f));
   put_byte(sink, (unsigned)value);
}

static void put_signed(struct sink *sink, int64_t value)
{
   for (; value < -64 || value > 63; value >>= 7)
      put_byte(sink, 0x80 | (value & 0x7f));
   put_byte(sink, value & 0x7f);
}

static void put_text(struct sink *sink, const char *text, size_t size)
{
   put(sink, text, size);
   put_byte(sink, 0);
}

/* ---- the header ---------------------------------------------------------- */

/* From the instructions' unit on to the last file. */
static void put_tables(struct sink *sink, const struct agx_line_table *table)
{
   put_byte(sink, AGX_DWARF_UNIT_B);
   put_byte(sink, 1); /* operations of an instruction */
   put_byte(sink, 1); /* each row is a place for a breakpoint */
   put_byte(sink, AGX_DWARF_LINE_BASE & 0xff);
   put_byte(sink, AGX_DWARF_LINE_RANGE);
   put_byte(sink, AGX_DWARF_OPCODE_BASE);
   put(sink, agx_dwarf_operands, sizeof(agx_dwarf_operands));
   put(sink, agx_dwarf_directory, sizeof(agx_dwarf_directory));
   put_unsigned(sink, 1); /* directory: that of the compilation */
   put_text(sink, ".", 1);
   put(sink, agx_dwarf_file, sizeof(agx_dwarf_file));
   put_unsigned(sink, table->file_count);
   for (uint32_t i = 0; i < table->file_count; i++) {
      put_text(sink, table->files[i].name, strlen(table->files[i].name));
      put_unsigned(sink, 0); /* its directory */
   }
}

/* ---- rows ---------------------------------------------------------------- */

static void put_row(struct sink *sink, const struct agx_line_row *from,
                    const struct agx_line_row *to)
{
   if (to->file != from->file) {
      put_byte(sink, AGX_DWARF_SET_FILE);
      put_unsigned(sink, to->file);
   }
   if (to->column != from->column) {
      put_byte(sink, AGX_DWARF_SET_COLUMN);
      put_unsigned(sink, to->column);
   }
   const uint32_t units = (to->at - from->at) / AGX_DWARF_UNIT_B;
   const int64_t lines = (int64_t)to->line - from->line;
   const int64_t step = lines - AGX_DWARF_LINE_BASE;
   if (step >= 0 && step < AGX_DWARF_LINE_RANGE && units < AGX_DWARF_LAST_OPCODE) {
      const int64_t opcode = step + AGX_DWARF_LINE_RANGE * (int64_t)units + AGX_DWARF_OPCODE_BASE;
      if (opcode <= AGX_DWARF_LAST_OPCODE) {
         put_byte(sink, (unsigned)opcode);
         return;
      }
   }
   if (units) {
      put_byte(sink, AGX_DWARF_ADVANCE_PC);
      put_unsigned(sink, units);
   }
   if (lines) {
      put_byte(sink, AGX_DWARF_ADVANCE_LINE);
      put_signed(sink, lines);
   }
   put_byte(sink, AGX_DWARF_COPY);
}

static void put_part(struct sink *sink, const struct agx_line_part *part, uint64_t base)
{
   if (part->row_count == 0)
      return;
   struct agx_line_row from = {.at = part->rows[0].at, .file = 1, .line = 1};
   put_byte(sink, 0);
   put_unsigned(sink, 1 + AGX_DWARF_ADDRESS_B);
   put_byte(sink, AGX_DWARF_SET_ADDRESS);
   put_number(sink, base + from.at, AGX_DWARF_ADDRESS_B);
   for (uint32_t i = 0; i < part->row_count; i++) {
      put_row(sink, &from, &part->rows[i]);
      from = part->rows[i];
   }
   put_byte(sink, AGX_DWARF_ADVANCE_PC);
   put_unsigned(sink, (part->code_B - from.at) / AGX_DWARF_UNIT_B);
   put_byte(sink, 0);
   put_unsigned(sink, 1);
   put_byte(sink, AGX_DWARF_END_SEQUENCE);
}

static void put_rows(struct sink *sink, const struct agx_line_table *table)
{
   put_part(sink, &table->parts[0], 0);
   put_part(sink, &table->parts[1], agx_program_preamble_at(table->parts[0].code_B));
}

size_t agx_lines_write(const struct agx_line_table *table, uint8_t *out)
{
   struct sink tables = {NULL, 0}, rows = {NULL, 0}, sink = {out, 0};
   put_tables(&tables, table);
   put_rows(&rows, table);
   put_number(&sink, 2 + 1 + 1 + 4 + tables.size + rows.size, 4);
   put_number(&sink, AGX_DWARF_VERSION, 2);
   put_byte(&sink, AGX_DWARF_ADDRESS_B);
   put_byte(&sink, 0); /* no segments */
   put_number(&sink, tables.size, 4);
   put_tables(&sink, table);
   put_rows(&sink, table);
   return sink.size;
}

size_t agx_lines_write_texts(const struct agx_line_table *table, uint8_t *out)
{
   struct sink sink = {out, 0};
   size_t total_B = 0;
   for (uint32_t i = 0; i < table->file_count; i++) {
      const struct agx_line_file *file = &table->files[i];
      total_B += file->text ? file->text_B : 0;
      put_text(&sink, file->text, file->text ? file->text_B : 0);
   }
   return total_B ? sink.size : 0;
}
