/* SPDX-License-Identifier: MIT
 *
 * Which source line code comes from: a program's table as bytes of DWARF 5's .debug_line, how the
 * compiler writes it, and how tools and the driver look an address up. Addresses are bytes of the
 * program's code; those of the preamble begin at agx_program_preamble_at.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/status.h"
#include "base/util.h"
#include "program/program.h"

/* What other readers of DWARF take: libdw counts columns in 16 bits. */
#define AGX_LINE_MAX   INT32_MAX
#define AGX_COLUMN_MAX UINT16_MAX

/* Code from `at` on, up to the next row, comes from there. */
struct agx_line_row {
   uint32_t at;
   uint32_t file;         /* index of a file */
   uint32_t line, column; /* from 1 on, up to AGX_LINE_MAX and AGX_COLUMN_MAX; 0: not known */
};

struct agx_line_file {
   const char *name; /* as the module has it */
   const char *text; /* of the whole file, text_B bytes; NULL: the module does not hold it */
   size_t text_B;
};

/* The code of the program, or of its preamble. */
struct agx_line_part {
   const struct agx_line_row *rows; /* `at` ascends, relative to the part's begin */
   uint32_t row_count;
   uint32_t code_B; /* padding included; 0: there is no such part */
};

struct agx_line_table {
   const struct agx_line_file *files;
   uint32_t file_count; /* at most AGX_PROGRAM_MAX_FILES */
   struct agx_line_part parts[2];
};

/* Where the addresses of a preamble begin, behind code of that many bytes. */
static inline uint32_t agx_program_preamble_at(uint32_t code_B)
{
   return (uint32_t)agx_align_up(code_B, 128);
}

/* Writes the table to out, unless out is NULL; returns how many bytes it has. */
size_t agx_lines_write(const struct agx_line_table *table, uint8_t *out);
/* The same for the files' texts, one behind the other, each with a zero byte behind; 0: no file has
 * one. */
size_t agx_lines_write_texts(const struct agx_line_table *table, uint8_t *out);

/* Checks the program's table and texts, which may be hostile. AGX_INVALID_ARGUMENT names what is
 * wrong; also when they are DWARF that agx_lines_write would have written otherwise. */
AGX_MUST_CHECK agx_status agx_lines_check(const struct agx_program *program);

/* A table made ready to be asked; names and texts lie in the program. */
struct agx_lines {
   struct agx_line_row *rows; /* `at` ascends; a row without a line ends each part */
   struct agx_line_file *files;
   uint32_t *starts;      /* of the lines in the texts, file by file */
   uint32_t *first_start; /* by file, and one behind the last */
   uint32_t row_count, file_count, start_count;
   struct agx_host_alloc alloc;
};

/* Makes the table of a checked program ready, in memory from alloc (NULL = malloc), which
 * agx_lines_fini frees. The program must outlive it; one without lines takes no memory.
 * AGX_RESOURCE_EXHAUSTED: out of host memory. */
AGX_MUST_CHECK agx_status agx_lines_init(const struct agx_program *program,
                                         const struct agx_host_alloc *alloc,
                                         struct agx_lines *out_lines);
/* Gives the memory back. All zeros: nothing. */
void agx_lines_fini(struct agx_lines *lines);

struct agx_source_line {
   const char *file;
   uint32_t line, column; /* column 0: not known */
   const char *text;      /* of the line, text_B bytes without its end; NULL: not known */
   size_t text_B;
};

/* Where the code at an address comes from; false: that is not known. */
bool agx_lines_find(const struct agx_lines *lines, uint32_t at, struct agx_source_line *out_line);
