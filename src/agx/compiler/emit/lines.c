/* SPDX-License-Identifier: MIT
 *
 * The table of source lines of a program: which line each stretch of code comes from, as the
 * emitter noted it, with the files that these lines are in. agxc_compile() calls it behind the
 * emitter, for code and preamble together.
 *
 *    before   0x00 line 7, 0x0e line 9, 0x16 line 7      (places in the shader's lines)
 *    after    the bytes of a .debug_line section, which has main.comp:12, 14 and 12
 */
#include "agx/compiler/emit/emit.h"
#include "program/lines.h"

struct writing {
   struct agxc_shader *shader;
   struct agx_line_file *files; /* those that rows name */
   uint32_t *file_of;           /* by the shader's: index + 1, or 0 */
   uint32_t file_count;
};

static uint32_t file_of(struct writing *w, uint32_t file)
{
   if (!w->file_of[file]) {
      w->files[w->file_count] = w->shader->files[file];
      w->file_of[file] = ++w->file_count;
   }
   return w->file_of[file] - 1;
}

static bool same_place(const struct agx_line_row *a, const struct agx_line_row *b)
{
   return a->file == b->file && a->line == b->line && a->column == b->column;
}

/* The rows of a shader whose code has been emitted. Neighbours of one place become one. */
static struct agx_line_part make_part(struct writing *w, const struct agxc_shader *from,
                                      uint32_t code_B)
{
   struct agx_line_row *rows =
      AGX_ARENA_ARRAY(w->shader->arena, struct agx_line_row, from->line_row_count + 1ull);
   struct agx_line_part part = {.rows = rows, .code_B = code_B};
   for (uint32_t i = 0; i < from->line_row_count; i++) {
      const struct agxc_line *line = &w->shader->lines[from->line_rows[i].line];
      struct agx_line_row row = {.at = from->line_rows[i].at};
      if (line->line) {
         row.file = file_of(w, line->file);
         row.line = line->line;
         row.column = line->column;
      }
      if (part.row_count ? !same_place(&row, &rows[part.row_count - 1]) : row.line)
         rows[part.row_count++] = row;
   }
   return part;
}

void agxc_emit_lines(struct agxc_shader *shader, struct agx_program *program)
{
   struct writing w = {.shader = shader};
   if (!shader->line_count)
      return;
   w.files = AGX_ARENA_ARRAY(shader->arena, struct agx_line_file, shader->file_count + 1ull);
   w.file_of = AGX_ARENA_ARRAY(shader->arena, uint32_t, shader->file_count + 1ull);
   struct agx_line_table table = {.files = w.files};
   table.parts[0] = make_part(&w, shader, program->code_B);
   if (shader->preamble)
      table.parts[1] = make_part(&w, shader->preamble, program->preamble_B);
   table.file_count = w.file_count;
   const size_t lines_B = agx_lines_write(&table, NULL);
   const size_t texts_B = agx_lines_write_texts(&table, NULL);
   if (w.file_count == 0 || lines_B > AGX_PROGRAM_MAX_LINES_B)
      return;
   uint8_t *lines = AGX_ARENA_ARRAY(shader->arena, uint8_t, lines_B);
   uint8_t *texts = AGX_ARENA_ARRAY(shader->arena, uint8_t, texts_B + 1);
   agx_lines_write(&table, lines);
   program->lines = lines;
   program->lines_B = (uint32_t)lines_B;
   if (texts_B == 0)
      return;
   agx_lines_write_texts(&table, texts);
   program->texts = texts;
   program->texts_B = (uint32_t)texts_B;
}
