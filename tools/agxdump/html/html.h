/* SPDX-License-Identifier: MIT
 *
 * What the page of `agxdump html` shows of a capture: kernels with the heat of their instructions,
 * dispatches, submissions and buffers. Each list is bounded; what it leaves out is counted.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "agxdump/dispatches.h"
#include "agxdump/programs.h"
#include "agxdump/stats.h"
#include "base/json.h"
#include "base/table.h"

/* What one capture may add to the page. */
#define HTML_MAX_ROWS         5000u /* dispatches, submissions */
#define HTML_MAX_BUFFERS      2000u
#define HTML_MAX_INSTRS       60000u /* of all kernels; those that take most cycles come first */
#define HTML_MAX_CONTENTS     (1u << 20)
#define HTML_MAX_SOURCE       (1u << 20)
#define HTML_MAX_NOTES        100u
#define HTML_DEFAULT_CONTENTS 2048u
#define HTML_NO_PROGRAM       UINT32_MAX

/* ---- text ---- */

/* A string of JSON that may stand in a script element: the page shows its characters, and "\x1b" or
 * "\u202e" in place of what isn't printed or turns the direction of text. Bytes that are no UTF-8
 * come out as "\xff". */
void html_text(struct agx_json *json, const char *name, const char *text, size_t bytes);
/* The same of a string with an end. */
void html_string(struct agx_json *json, const char *name, const char *text);
/* Bytes in base 64. */
void html_bytes(struct agx_json *json, const char *name, const uint8_t *data, size_t bytes);

/* ---- sources ---- */

/* Files of source that the page has; those of a program from its first on. */
struct html_sources {
   struct programs programs;
   struct html_program {
      const struct known_program *known;
      uint32_t first_file;
   } * used; /* programs whose code was found */
   uint32_t used_count, file_count;
   const char *folders[8]; /* where files are looked for whose text no module has */
   uint32_t folder_count;
};

/* Finds the program with that code. *out_index, of sources->used, is HTML_NO_PROGRAM where there is
 * none. */
AGX_MUST_CHECK agx_status html_find_program(struct html_sources *sources,
                                            const struct dump_code *main, uint32_t *out_index);
/* The line of the byte `offset` of the code or the preamble: the page's number of its file. */
bool html_find_line(const struct html_program *program, bool is_preamble, uint32_t offset,
                    uint32_t *out_file, struct agx_source_line *out_line);
/* Writes "files": name and text of each. */
void html_write_files(struct agx_json *json, const struct html_sources *sources);
/* Frees all. */
void html_free_sources(struct html_sources *sources);

/* ---- a capture ---- */

/* What all executions of an instruction add up to. */
struct html_heat {
   uint64_t executed, stall, lanes, complex_pipe, lsu, refetch;
};

struct html_kernel {
   struct dump_code code[2];  /* main and preamble */
   struct html_heat *heat[2]; /* by instruction; NULL: not executed */
   uint64_t dispatches;
   struct stat_row sum; /* of those that were counted: sum.count */
   char label[32];      /* of the buffer that the code lies in */
   uint32_t program;    /* of sources->used, or HTML_NO_PROGRAM */
   uint64_t elsewhere;  /* cycles of executed code that is in neither */
   bool has_code;       /* there is room for it in the page */
};

struct html_dispatch {
   uint32_t kernel;
   bool is_counted;
   struct stat_row row;
};

struct html_submission {
   uint64_t number; /* from 1, of those that were taken; 0: refused */
   uint32_t queue;
   int32_t result;
   size_t first, count; /* dispatches */
   uint32_t commands, renders;
   int64_t time_ns;
};

struct html_queue {
   uint32_t process, file, id;
};

struct html_buffer {
   uint32_t process, file, handle;
   uint64_t bytes, va; /* va 0: not mapped */
   char label[32];
   bool is_closed;
   uint8_t *data; /* the beginning of its contents; NULL: none were recorded */
   uint32_t kept; /* bytes of data, zeros at the end not counted */
   uint64_t submission;
   enum agxw_capture_moment moment;
};

struct html_list {
   void *data;
   size_t count, capacity;
};

struct html_capture {
   const char *path;
   char node[64];
   const struct agx_chip *chip;
   uint32_t contents; /* bytes of each buffer */
   bool is_read_only; /* not replayed: nothing is counted */
   struct agxw_capture_reader *reader;
   struct agxw_capture_state *state;
   struct dump_dispatches dispatches; /* without their code */
   struct html_list kernels, details; /* html_kernel; html_dispatch, beside dispatches */
   struct html_list submissions, queues, buffers, notes, processes;
   struct agx_table kernel_table, dispatch_table, buffer_table, queue_table;
   uint64_t submission_count, notes_left_out, contents_kept, buffer_bytes, counted;
   char trouble[256]; /* why the capture ends early, or why nothing was counted; "": nothing */
   bool is_short;     /* of memory */
};

/* Reads the file, replays it, and finds its programs. What a damaged file has up to there stays,
 * with its text in trouble. */
AGX_MUST_CHECK agx_status html_read(struct html_capture *capture, struct html_sources *sources);
/* Frees all. */
void html_free(struct html_capture *capture);
/* Writes the members of the page's object: one capture, or two with what stands beside what. */
AGX_MUST_CHECK agx_status html_write(struct agx_json *json, const struct html_capture *captures,
                                     uint32_t count, const struct html_sources *sources);
