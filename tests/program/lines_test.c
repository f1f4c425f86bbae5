/* SPDX-License-Identifier: MIT
 *
 * Tables of source lines: what is written is found again, libdw reads the same rows, and bytes of
 * any other kind are refused or harmless.
 */
#include "sample.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "failing_alloc.h"
#include "program/lines.h"

#ifdef HAVE_LIBDW
#include <elfutils/libdw.h>
#include <fcntl.h>
#endif

static const struct agx_line_file files[] = {
   {"main.comp", "first\nsecond\r\n\nlast", 19},
   {"dir/other.h", NULL, 0},
};

static const struct agx_line_row code_rows[] = {
   {0, 0, 2, 5}, {4, 1, 2147483647u, 0}, {12, 0, 4, 77}, {18, 0, 0, 0}, {20, 0, 1, 0}};
static const struct agx_line_row preamble_rows[] = {{0, 1, 7, 1}, {8, 0, 3, 1}};

/* Writes a table of those rows for the sample, whose code must be complete; free() the bytes. */
static uint8_t *make(struct sample *sample, const struct agx_line_row *rows, uint32_t count)
{
   struct agx_program *program = &sample->program;
   const struct agx_line_table table = {
      .files = files,
      .file_count = AGX_COUNT(files),
      .parts = {{rows, count, program->code_B},
                {preamble_rows, program->preamble_B ? AGX_COUNT(preamble_rows) : 0,
                 program->preamble_B}},
   };
   size_t size = agx_lines_write(&table, NULL);
   uint8_t *bytes = malloc(size);
   assert_non_null(bytes);
   assert_int_equal(agx_lines_write(&table, bytes), size);
   program->lines = bytes;
   program->lines_B = (uint32_t)size;
   static uint8_t texts[64];
   program->texts = texts;
   program->texts_B = (uint32_t)agx_lines_write_texts(&table, NULL);
   assert_true(program->texts_B <= sizeof(texts));
   agx_lines_write_texts(&table, texts);
   return bytes;
}

static uint8_t *make_sample(struct sample *sample)
{
   static const char *const preamble[] = {"load r=r1 base=du0 index=3 format=i32 mask=x group=a",
                                          "wait group=a", "uniform_store u=u4 r=r1", "stop", NULL};
   sample_make(sample);
   sample_set_preamble(sample, preamble);
   return make(sample, code_rows, AGX_COUNT(code_rows));
}

static void expect_line(const struct agx_lines *lines, uint32_t at, const char *file, uint32_t line,
                        uint32_t column, const char *text)
{
   struct agx_source_line got;
   assert_true(agx_lines_find(lines, at, &got));
   assert_string_equal(got.file, file);
   assert_int_equal(got.line, line);
   assert_int_equal(got.column, column);
   assert_int_equal(got.text != NULL, text != NULL);
   if (text) {
      assert_int_equal(got.text_B, strlen(text));
      assert_memory_equal(got.text, text, strlen(text));
   }
}

static void test_round_trip(void **state)
{
   struct sample sample;
   uint8_t *bytes = make_sample(&sample);
   size_t size;
   uint8_t *image = sample_write(&sample, &size);
   struct agx_program *program;
   assert_ok(agx_program_read_elf(image, size, NULL, &program));
   free(image);
   assert_int_equal(program->lines_B, sample.program.lines_B);
   assert_memory_equal(program->lines, bytes, program->lines_B);

   struct agx_lines lines;
   struct agx_source_line none;
   const uint32_t preamble_at = agx_program_preamble_at(program->code_B);
   assert_ok(agx_lines_init(program, NULL, &lines));
   expect_line(&lines, 0, "main.comp", 2, 5, "second");
   expect_line(&lines, 3, "main.comp", 2, 5, "second");
   expect_line(&lines, 4, "dir/other.h", 2147483647u, 0, NULL);
   expect_line(&lines, 12, "main.comp", 4, 77, "last");
   assert_false(agx_lines_find(&lines, 18, &none));
   expect_line(&lines, 20, "main.comp", 1, 0, "first");
   expect_line(&lines, program->code_B - 2, "main.comp", 1, 0, "first");
   assert_false(agx_lines_find(&lines, program->code_B, &none));
   expect_line(&lines, preamble_at, "dir/other.h", 7, 1, NULL);
   expect_line(&lines, preamble_at + 8, "main.comp", 3, 1, "");
   assert_false(agx_lines_find(&lines, preamble_at + program->preamble_B, &none));
   assert_false(agx_lines_find(&lines, UINT32_MAX, &none));
   agx_lines_fini(&lines);
   agx_program_free(program);
   free(bytes);
}

static void test_none(void **state)
{
   struct sample sample;
   struct agx_lines lines;
   struct agx_source_line line;
   sample_make(&sample);
   assert_ok(agx_lines_init(&sample.program, NULL, &lines));
   assert_false(agx_lines_find(&lines, 0, &line));
   agx_lines_fini(&lines);
}

static void test_no_memory(void **state)
{
   struct sample sample;
   uint8_t *bytes = make_sample(&sample);
   for (size_t room = 0;; room++) {
      struct failing_alloc failing;
      struct agx_lines lines;
      failing_alloc_init(&failing, room);
      agx_status status = agx_lines_init(&sample.program, &failing.alloc, &lines);
      if (status == AGX_OK)
         agx_lines_fini(&lines);
      assert_int_equal(failing.live, 0);
      if (status == AGX_OK)
         break;
      assert_int_equal(status, AGX_RESOURCE_EXHAUSTED);
      assert_true(room < 4);
   }
   free(bytes);
}

/* ---- hostile bytes -------------------------------------------------------- */

static void set_u32(uint8_t *at, uint32_t value)
{
   for (unsigned i = 0; i < 4; i++)
      at[i] = (uint8_t)(value >> 8 * i);
}

static void test_what_is_refused(void **state)
{
   enum {
      HEADER_B_AT = 8,
      BEHIND = 0x1000, /* from the end */
   };
   static const struct {
      uint32_t at;
      uint8_t byte;
      const char *text;
   } cases[] = {
      {0, 0, "length is not the section's"},
      {3, 0xff, "length is not the section's"},
      {4, 4, "not DWARF 5"},
      {6, 4, "8 bytes"},
      {7, 1, "segments"},
      {12, 1, "unit of 2"},
      {13, 4, "several operations"},
      {15, 0, "line base"},
      {16, 0, "line range"},
      {17, 10, "opcode base"},
      {18, 1, "other operands"},
      {30, 2, "not a name"},
      {33, 2, "one directory"},
      {BEHIND + 1, 9, "extended opcode"},
      {BEHIND + 2, 9, "extended opcode"},
      {BEHIND + 3, 12, "an opcode is not"},
   };
   struct sample sample;
   uint8_t *bytes = make_sample(&sample);
   const struct agx_program *p = &sample.program;
   assert_ok(agx_lines_check(p));
   for (size_t i = 0; i < AGX_COUNT(cases); i++) {
      const bool is_behind = cases[i].at >= BEHIND;
      uint8_t *at = is_behind ? bytes + p->lines_B - (cases[i].at - BEHIND) : bytes + cases[i].at;
      const uint8_t saved = *at;
      *at = cases[i].byte;
      assert_fails(agx_lines_check(p), AGX_INVALID_ARGUMENT, cases[i].text);
      *at = saved;
   }
   set_u32(bytes + HEADER_B_AT, UINT32_MAX);
   assert_fails(agx_lines_check(p), AGX_INVALID_ARGUMENT, "header is longer");
   free(bytes);
}

/* What the writer doesn't check, since its caller does. */
static void test_rows_are_checked(void **state)
{
   static const struct agx_line_row rows[][2] = {
      {{0, 0, 1, 0}, {0, 0, 2, 0}},        {{4, 0, 1, 0}, {2, 0, 2, 0}},
      {{0, 2, 1, 0}, {2, 0, 2, 0}},        {{0, 0, 1u << 31, 0}, {2, 0, 2, 0}},
      {{0, 0, 1, 65536}, {2, 0, 2, 0}},    {{0, 0, 1, 0}, {1u << 30, 0, 2, 0}},
      {{1u << 30, 0, 1, 0}, {2, 0, 2, 0}},
   };
   struct sample sample;
   sample_make(&sample);
   for (size_t i = 0; i < AGX_COUNT(rows); i++) {
      uint8_t *bytes = make(&sample, rows[i], 2);
      struct agx_program *copy;
      assert_fails(agx_program_copy(&sample.program, NULL, &copy), AGX_INVALID_ARGUMENT,
                   "table of lines: ");
      free(bytes);
   }
   uint8_t *bytes = make(&sample, code_rows, AGX_COUNT(code_rows));
   const uint32_t end = sample.program.code_B;
   for (uint32_t code_B = 0; code_B < end; code_B += 2) {
      sample.program.code_B = code_B;
      assert_fails(agx_lines_check(&sample.program), AGX_INVALID_ARGUMENT, "code");
   }
   sample.program.code_B = end;
   sample.program.lines_B = AGX_PROGRAM_MAX_LINES_B + 1;
   struct agx_program *copy;
   assert_fails(agx_program_copy(&sample.program, NULL, &copy), AGX_INVALID_ARGUMENT,
                "lines_B 16777217 is above 16777216");
   free(bytes);
}

/* Whatever is accepted can be asked for every address. */
static void ask_hostile(const struct agx_program *program)
{
   struct agx_lines lines;
   if (agx_lines_check(program) != AGX_OK)
      return;
   assert_ok(agx_lines_init(program, NULL, &lines));
   for (uint32_t at = 0; at < 600; at++) {
      struct agx_source_line line;
      if (agx_lines_find(&lines, at, &line))
         assert_true(line.line > 0 && *line.file && (!line.text || line.text_B < 64));
   }
   agx_lines_fini(&lines);
}

static void test_hostile(void **state)
{
   struct sample sample;
   uint8_t *bytes = make_sample(&sample);
   struct agx_program program = sample.program;
   const uint32_t size = program.lines_B;
   for (uint32_t bit = 0; bit < size * 8; bit++) {
      bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
      ask_hostile(&program);
      bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
   }
   for (uint32_t length = 0; length < size; length++) { /* reads behind it are found by ASan */
      uint8_t *copy = malloc(length ? length : 1);
      assert_non_null(copy);
      memcpy(copy, bytes, length);
      if (length >= 4)
         set_u32(copy, length - 4);
      struct agx_program part = program;
      part.lines = copy;
      part.lines_B = length;
      ask_hostile(&part);
      free(copy);
   }
   struct agx_test_rng rng = {0x11e5};
   uint8_t *copy = malloc(size);
   assert_non_null(copy);
   program.lines = copy;
   for (int round = 0; round < 20000; round++) {
      memcpy(copy, bytes, size);
      for (uint64_t n = 1 + agx_test_random_below(&rng, 4); n > 0; n--)
         copy[agx_test_random_below(&rng, size)] = (uint8_t)agx_test_random(&rng);
      ask_hostile(&program);
   }
   free(copy);
   free(bytes);
}

static void test_texts_are_checked(void **state)
{
   struct sample sample;
   uint8_t *bytes = make_sample(&sample);
   struct agx_program *p = &sample.program, none = *p;
   static const uint8_t more[] = {0, 0, 0}, endless[] = {0, 'a'}, bell[] = {7, 0, 0};
   const struct {
      const uint8_t *texts;
      uint32_t texts_B;
      const char *text;
   } cases[] = {{more, 3, "more texts than files"},
                {more, 1, "a text has no end"},
                {endless, 2, "a text has no end"},
                {bell, 3, "control character"}};
   for (size_t i = 0; i < AGX_COUNT(cases); i++) {
      p->texts = cases[i].texts;
      p->texts_B = cases[i].texts_B;
      assert_fails(agx_lines_check(p), AGX_INVALID_ARGUMENT, cases[i].text);
   }
   none.lines_B = 0;
   assert_fails(agx_lines_check(&none), AGX_INVALID_ARGUMENT, "texts without a table");
   free(bytes);
}

/* ---- another reader ------------------------------------------------------- */

#ifdef HAVE_LIBDW
/* Whether a row of libdw's is what our own table says of its address. */
static void compare_row(Dwarf_Line *row, const struct agx_lines *lines)
{
   Dwarf_Addr at;
   int line, column;
   bool is_end;
   assert_int_equal(dwarf_lineaddr(row, &at), 0);
   assert_int_equal(dwarf_lineno(row, &line), 0);
   assert_int_equal(dwarf_linecol(row, &column), 0);
   assert_int_equal(dwarf_lineendsequence(row, &is_end), 0);
   if (is_end)
      return;
   struct agx_source_line ours;
   const bool is_known = agx_lines_find(lines, (uint32_t)at, &ours);
   assert_int_equal(is_known, line != 0);
   if (!is_known)
      return;
   const char *name = dwarf_linesrc(row, NULL, NULL);
   assert_non_null(name);
   assert_string_equal(strncmp(name, "./", 2) == 0 ? name + 2 : name, ours.file);
   assert_int_equal((uint32_t)line, ours.line);
   assert_int_equal(column, ours.column);
}

static void compare_with_libdw(const struct sample *sample)
{
   char path[] = "/tmp/agx-lines-XXXXXX";
   size_t size, row_count;
   uint8_t *image = sample_write(sample, &size);
   int fd = mkstemp(path);
   assert_true(fd >= 0);
   unlink(path);
   assert_int_equal(write(fd, image, size), size);
   free(image);
   struct agx_lines lines;
   assert_ok(agx_lines_init(&sample->program, NULL, &lines));
   Dwarf *dwarf = dwarf_begin(fd, DWARF_C_READ);
   assert_non_null(dwarf);
   Dwarf_Off unit, next;
   size_t header_B;
   Dwarf_Die die;
   Dwarf_Lines *rows;
   assert_int_equal(dwarf_nextcu(dwarf, 0, &next, &header_B, NULL, NULL, NULL), 0);
   unit = header_B;
   assert_non_null(dwarf_offdie(dwarf, unit, &die));
   if (dwarf_getsrclines(&die, &rows, &row_count) != 0)
      fail_msg("libdw: %s", dwarf_errmsg(-1));
   assert_int_equal(row_count, lines.row_count);
   for (size_t i = 0; i < row_count; i++)
      compare_row(dwarf_onesrcline(rows, i), &lines);
   dwarf_end(dwarf);
   agx_lines_fini(&lines);
   close(fd);
}

static void test_libdw(void **state)
{
   struct sample sample;
   uint8_t *bytes = make_sample(&sample);
   compare_with_libdw(&sample);
   free(bytes);
   struct agx_test_rng rng = {0xd3bf};
   for (int round = 0; round < 300; round++) {
      struct agx_line_row rows[24];
      uint32_t count = 0;
      for (uint32_t at = 0; at < sample.program.code_B && count < AGX_COUNT(rows);
           at += 2 + 2 * (uint32_t)agx_test_random_below(&rng, round % 8 + 1)) {
         const uint64_t most = agx_test_random_below(&rng, 2) ? 30 : INT32_MAX;
         rows[count++] = (struct agx_line_row){at, (uint32_t)agx_test_random_below(&rng, 2),
                                               (uint32_t)agx_test_random_below(&rng, most),
                                               (uint32_t)agx_test_random_below(&rng, 1u << 14)};
      }
      uint8_t *made = make(&sample, rows, count);
      compare_with_libdw(&sample);
      free(made);
   }
}
#else
static void test_libdw(void **state)
{
   print_message("built without libdw, which would have read the tables\n");
   skip();
}
#endif

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_round_trip),       cmocka_unit_test(test_none),
      cmocka_unit_test(test_no_memory),        cmocka_unit_test(test_what_is_refused),
      cmocka_unit_test(test_rows_are_checked), cmocka_unit_test(test_texts_are_checked),
      cmocka_unit_test(test_hostile),          cmocka_unit_test(test_libdw),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
