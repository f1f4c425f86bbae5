/* SPDX-License-Identifier: MIT
 *
 * Reads a program's table of source lines (lines_write.c), which may come from a hostile file:
 * every length is checked before bytes are touched, rows must ascend, files must be there. The
 * checks of programs call it, and the tools and the driver, which ask where an address comes from.
 */
#include "program/lines.h"

#include "program/elf.h"
#include "program/lines_impl.h"

/* Where the reader stands in the bytes; what is wrong, once something is. */
struct cursor {
   const uint8_t *bytes;
   size_t size, at;
   const char *wrong;
};

static void refuse(struct cursor *c, const char *why)
{
   if (!c->wrong)
      c->wrong = why;
   c->at = c->size; /* so that each loop ends */
}

static unsigned get_byte(struct cursor *c)
{
   if (c->at < c->size)
      return c->bytes[c->at++];
   refuse(c, "it is cut short");
   return 0;
}

static uint64_t get_number(struct cursor *c, unsigned bytes)
{
   uint64_t value = 0;
   for (unsigned i = 0; i < bytes; i++)
      value |= (uint64_t)get_byte(c) << 8 * i;
   return value;
}

/* Up to 63 bits, without needless bytes. */
static uint64_t get_unsigned(struct cursor *c)
{
   uint64_t value = 0;
   for (unsigned shift = 0; shift < 63; shift += 7) {
      const uint64_t byte = get_byte(c);
      value |= (byte & 0x7f) << shift;
      if (!(byte & 0x80))
         return value;
   }
   refuse(c, "a number has too many bytes");
   return 0;
}

static int64_t get_signed(struct cursor *c)
{
   uint64_t value = 0;
   for (unsigned shift = 0; shift < 63; shift += 7) {
      const uint64_t byte = get_byte(c);
      value |= (byte & 0x7f) << shift;
      if (!(byte & 0x80))
         return byte & 0x40 ? (int64_t)(value | ~0ull << (shift + 7)) : (int64_t)value;
   }
   refuse(c, "a number has too many bytes");
   return 0;
}

static uint32_t get_u32(struct cursor *c, const char *why)
{
   const uint64_t value = get_unsigned(c);
   if (value > UINT32_MAX)
      refuse(c, why);
   return (uint32_t)value;
}

static void expect(struct cursor *c, uint64_t value, uint64_t wanted, const char *why)
{
   if (value != wanted)
      refuse(c, why);
}

static bool is_text(unsigned char byte, bool is_name)
{
   const bool is_space = byte >= '\t' && byte <= '\r';
   return (byte >= ' ' && byte != 0x7f) || (is_space && !is_name);
}

/* Text that ends inside of the bytes. */
static const char *get_text(struct cursor *c, bool is_name, size_t *out_size)
{
   const size_t room = c->size - c->at;
   const char *text = (const char *)c->bytes + c->at;
   const size_t length = strnlen(text, room);
   *out_size = 0;
   if (length == room) {
      refuse(c, "a text has no end");
      return "";
   }
   for (size_t i = 0; i < length; i++)
      if (!is_text((unsigned char)text[i], is_name))
         refuse(c, "a text has a control character");
   if (!c->wrong)
      c->at += length + 1;
   *out_size = length;
   return text;
}

/* ---- the header ---------------------------------------------------------- */

static void expect_bytes(struct cursor *c, const uint8_t *wanted, size_t count, const char *why)
{
   for (size_t i = 0; i < count; i++)
      expect(c, get_byte(c), wanted[i], why);
}

static void read_fixed(struct cursor *c, size_t *out_rows_at)
{
   expect(c, get_number(c, 4), c->size - AGX_MIN(c->size, 4u), "its length is not the section's");
   expect(c, get_number(c, 2), AGX_DWARF_VERSION, "it is not DWARF 5");
   expect(c, get_byte(c), AGX_DWARF_ADDRESS_B, "addresses have no 8 bytes");
   expect(c, get_byte(c), 0, "it has segments");
   const uint64_t header_B = get_number(c, 4);
   if (!agx_range_fits(c->at, header_B, c->size))
      refuse(c, "its header is longer than the section");
   *out_rows_at = c->at + (size_t)header_B;
   expect(c, get_byte(c), AGX_DWARF_UNIT_B, "instructions have no unit of 2 bytes");
   expect(c, get_byte(c), 1, "instructions have several operations");
   get_byte(c);
   expect(c, get_byte(c), AGX_DWARF_LINE_BASE & 0xff, "its line base is not -5");
   expect(c, get_byte(c), AGX_DWARF_LINE_RANGE, "its line range is not 14");
   expect(c, get_byte(c), AGX_DWARF_OPCODE_BASE, "its opcode base is not 13");
   expect_bytes(c, agx_dwarf_operands, sizeof(agx_dwarf_operands),
                "its opcodes have other operands");
}

/* Returns the number of files; `files`, unless it is NULL, has room for them. */
static uint32_t read_header(struct cursor *c, struct agx_line_file *files)
{
   size_t rows_at = 0, text_B;
   read_fixed(c, &rows_at);
   expect_bytes(c, agx_dwarf_directory, sizeof(agx_dwarf_directory), "a directory is not a name");
   expect(c, get_unsigned(c), 1, "it has not one directory");
   get_text(c, true, &text_B);
   expect_bytes(c, agx_dwarf_file, sizeof(agx_dwarf_file), "a file is not a name and a directory");
   const uint32_t count = get_u32(c, "too many files");
   if (count == 0 || count > AGX_PROGRAM_MAX_FILES)
      refuse(c, "it has no file, or too many");
   for (uint32_t i = 0; i < count && !c->wrong; i++) {
      const char *name = get_text(c, true, &text_B);
      expect(c, get_unsigned(c), 0, "a file has no such directory");
      if (text_B == 0)
         refuse(c, "a file has no name");
      if (files && !c->wrong)
         files[i].name = name;
   }
   expect(c, c->at, rows_at, "its header's length is wrong");
   return count;
}

/* The texts of so many files. */
static void read_texts(struct cursor *c, uint32_t file_count, struct agx_line_file *files)
{
   for (uint32_t i = 0; i < file_count; i++) {
      size_t text_B;
      const char *text = get_text(c, false, &text_B);
      if (files && text_B && !c->wrong) {
         files[i].text = text;
         files[i].text_B = text_B;
      }
   }
   if (c->at < c->size)
      refuse(c, "there are more texts than files");
}

/* ---- rows ---------------------------------------------------------------- */

/* The registers of the line program, and where its rows go. */
struct machine {
   struct cursor *c;
   uint32_t file_count;
   uint64_t at, line, file, column;
   uint64_t first_at, end; /* bytes that a sequence may cover */
   bool is_open;           /* in a sequence */
   bool has_row;           /* the sequence has one; `last` is where */
   uint64_t last;
   uint32_t count;
   struct agx_line_row *rows; /* NULL: they are only counted */
   uint32_t code_B, preamble_B;
};

static void add_row(struct machine *m, bool is_end)
{
   struct cursor *c = m->c;
   if (!m->is_open || (m->has_row && m->at <= m->last) || m->at > m->end ||
       (!is_end && m->at == m->end))
      refuse(c, "its addresses don't ascend inside of the code");
   if (!is_end &&
       (m->line > AGX_LINE_MAX || m->column > AGX_COLUMN_MAX || m->file >= m->file_count))
      refuse(c, "a row has no such file, line or column");
   if (is_end && !m->has_row)
      refuse(c, "a sequence has no row");
   if (c->wrong)
      return;
   if (m->rows)
      m->rows[m->count] =
         (struct agx_line_row){(uint32_t)m->at, is_end ? 0 : (uint32_t)m->file,
                               is_end ? 0 : (uint32_t)m->line, is_end ? 0 : (uint32_t)m->column};
   m->count++;
   m->has_row = true;
   m->last = m->at;
}

static void begin_sequence(struct machine *m)
{
   const uint32_t preamble_at = agx_program_preamble_at(m->code_B);
   m->at = get_number(m->c, AGX_DWARF_ADDRESS_B);
   const bool is_preamble = m->at >= preamble_at;
   m->first_at = is_preamble ? preamble_at : 0;
   m->end = is_preamble ? (uint64_t)preamble_at + m->preamble_B : m->code_B;
   if (m->is_open || m->at >= m->end || m->at % AGX_DWARF_UNIT_B || (m->count && m->at < m->last))
      refuse(m->c, "a sequence begins outside of the code, or before the last one's end");
   m->line = m->file = 1;
   m->column = 0;
   m->is_open = true;
   m->has_row = false;
}

static void run_extended(struct machine *m)
{
   const uint64_t length = get_unsigned(m->c);
   const unsigned opcode = get_byte(m->c);
   if (opcode == AGX_DWARF_SET_ADDRESS && length == 1 + AGX_DWARF_ADDRESS_B) {
      begin_sequence(m);
   } else if (opcode == AGX_DWARF_END_SEQUENCE && length == 1) {
      add_row(m, true);
      m->is_open = false;
   } else {
      refuse(m->c, "an extended opcode is not one of those that agxhal writes");
   }
}

static void run_special(struct machine *m, unsigned opcode)
{
   const unsigned step = opcode - AGX_DWARF_OPCODE_BASE;
   m->at += (uint64_t)(step / AGX_DWARF_LINE_RANGE) * AGX_DWARF_UNIT_B;
   m->line += (uint64_t)(AGX_DWARF_LINE_BASE + (int)(step % AGX_DWARF_LINE_RANGE));
   add_row(m, false);
}

static void run_opcode(struct machine *m)
{
   struct cursor *c = m->c;
   const unsigned opcode = get_byte(c);
   if (opcode >= AGX_DWARF_OPCODE_BASE) {
      run_special(m, opcode);
      return;
   }
   switch (opcode) {
   case 0:
      run_extended(m);
      break;
   case AGX_DWARF_COPY:
      add_row(m, false);
      break;
   case AGX_DWARF_ADVANCE_PC:
      m->at += (uint64_t)get_u32(c, "an address is too large") * AGX_DWARF_UNIT_B;
      break;
   case AGX_DWARF_ADVANCE_LINE:
      m->line += (uint64_t)get_signed(c);
      break;
   case AGX_DWARF_SET_FILE:
      m->file = get_unsigned(c);
      break;
   case AGX_DWARF_SET_COLUMN:
      m->column = get_unsigned(c);
      break;
   default:
      refuse(c, "an opcode is not one of those that agxhal writes");
   }
}

static void run_program(struct machine *m)
{
   while (m->c->at < m->c->size)
      run_opcode(m);
   if (m->is_open)
      refuse(m->c, "a sequence has no end");
}

agx_status agx_lines_check(const struct agx_program *program)
{
   struct cursor c = {.bytes = program->lines, .size = program->lines_B};
   struct cursor texts = {.bytes = program->texts, .size = program->texts_B};
   struct machine m = {.c = &c, .code_B = program->code_B, .preamble_B = program->preamble_B};
   if (program->lines_B == 0)
      return program->texts_B ? AGX_FAIL(AGX_INVALID_ARGUMENT, "texts without a table of lines")
                              : AGX_OK;
   m.file_count = read_header(&c, NULL);
   run_program(&m);
   if (!c.wrong && program->texts_B)
      read_texts(&texts, m.file_count, NULL);
   const char *wrong = c.wrong ? c.wrong : texts.wrong;
   return wrong ? AGX_FAIL(AGX_INVALID_ARGUMENT, "table of lines: %s", wrong) : AGX_OK;
}

/* ---- looking up ----------------------------------------------------------- */

/* Room for the table, of the sizes that *lines says; NULL for none. */
static bool allocate(struct agx_lines *lines)
{
   const struct agx_host_alloc *alloc = &lines->alloc;
   lines->rows = agx_host_zalloc(alloc, (lines->row_count + 1ull) * sizeof(*lines->rows));
   lines->files = agx_host_zalloc(alloc, (lines->file_count + 1ull) * sizeof(*lines->files));
   lines->starts = agx_host_zalloc(alloc, (lines->start_count + 1ull) * sizeof(*lines->starts));
   lines->first_start =
      agx_host_zalloc(alloc, (lines->file_count + 1ull) * sizeof(*lines->first_start));
   return lines->rows && lines->files && lines->starts && lines->first_start;
}

void agx_lines_fini(struct agx_lines *lines)
{
   const struct agx_host_alloc *alloc = &lines->alloc;
   if (lines->rows)
      agx_host_free(alloc, lines->rows, (lines->row_count + 1ull) * sizeof(*lines->rows));
   if (lines->files)
      agx_host_free(alloc, lines->files, (lines->file_count + 1ull) * sizeof(*lines->files));
   if (lines->starts)
      agx_host_free(alloc, lines->starts, (lines->start_count + 1ull) * sizeof(*lines->starts));
   if (lines->first_start)
      agx_host_free(alloc, lines->first_start,
                    (lines->file_count + 1ull) * sizeof(*lines->first_start));
   *lines = (struct agx_lines){.rows = NULL};
}

/* Reads the whole table; what *lines has no room for is only counted. */
static void read_all(const struct agx_program *program, struct agx_lines *lines)
{
   struct cursor c = {.bytes = program->lines, .size = program->lines_B};
   struct machine m = {.c = &c, .code_B = program->code_B, .preamble_B = program->preamble_B};
   m.rows = lines->rows;
   lines->file_count = m.file_count = read_header(&c, lines->files);
   run_program(&m);
   lines->row_count = m.count;
   struct cursor texts = {.bytes = program->texts, .size = program->texts_B};
   if (program->texts_B)
      read_texts(&texts, m.file_count, lines->files);
   agx_assert(!c.wrong && !texts.wrong);
}

/* Ends of lines in all texts. */
static uint32_t count_ends(const struct agx_program *program)
{
   uint32_t count = 0;
   for (uint32_t i = 0; i < program->texts_B; i++)
      count += program->texts[i] == '\n';
   return count;
}

static void find_starts(struct agx_lines *lines)
{
   uint32_t count = 0;
   for (uint32_t i = 0; i < lines->file_count; i++) {
      const struct agx_line_file *file = &lines->files[i];
      lines->first_start[i] = count;
      for (size_t at = 0; at < file->text_B; at++)
         if (at == 0 || file->text[at - 1] == '\n')
            lines->starts[count++] = (uint32_t)at;
   }
   lines->first_start[lines->file_count] = count;
}

agx_status agx_lines_init(const struct agx_program *program, const struct agx_host_alloc *alloc,
                          struct agx_lines *out_lines)
{
   *out_lines = (struct agx_lines){.alloc = alloc ? *alloc : *agx_host_alloc_default()};
   if (!program->lines_B)
      return AGX_OK;
   read_all(program, out_lines);
   out_lines->start_count = count_ends(program) + out_lines->file_count;
   if (!allocate(out_lines)) {
      agx_lines_fini(out_lines);
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "program %s: no memory for %u bytes of lines",
                      program->name, program->lines_B);
   }
   read_all(program, out_lines);
   find_starts(out_lines);
   return AGX_OK;
}

static const char *text_of(const struct agx_lines *lines, const struct agx_line_row *row,
                           size_t *out_size)
{
   const struct agx_line_file *file = &lines->files[row->file];
   const uint32_t first = lines->first_start[row->file], end = lines->first_start[row->file + 1];
   *out_size = 0;
   if (row->line > end - first)
      return NULL;
   const uint32_t *start = &lines->starts[first + row->line - 1];
   const bool is_last = row->line == end - first;
   size_t size = (is_last ? file->text_B : start[1]) - *start;
   while (size && (file->text[*start + size - 1] == '\n' || file->text[*start + size - 1] == '\r'))
      size--;
   *out_size = size;
   return file->text + *start;
}

bool agx_lines_find(const struct agx_lines *lines, uint32_t at, struct agx_source_line *out_line)
{
   uint32_t low = 0, high = lines->row_count; /* the first row behind the address */
   while (low < high) {
      const uint32_t middle = low + (high - low) / 2;
      if (lines->rows[middle].at <= at)
         low = middle + 1;
      else
         high = middle;
   }
   if (low == 0 || lines->rows[low - 1].line == 0)
      return false;
   const struct agx_line_row *row = &lines->rows[low - 1];
   *out_line = (struct agx_source_line){
      .file = lines->files[row->file].name, .line = row->line, .column = row->column};
   out_line->text = text_of(lines, row, &out_line->text_B);
   return true;
}
