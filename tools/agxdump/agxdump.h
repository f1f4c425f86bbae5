/* SPDX-License-Identifier: MIT
 *
 * agxdump's commands, and what the files of `show` share. Bits and instructions are decoded by
 * agx/hw and agx/isa.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "base/json.h"
#include "programs.h"
#include "stats.h"
#include "winsys/asahi_uapi.h"
#include "winsys/capture/capture.h"

#define DUMP_MAX_SEEN 256
#define LINE_BYTES    1024 /* of a line of text, most of which are longer than a terminal */

/* What `show` prints of a submission. */
enum show_section {
   SHOW_STREAM = 1,  /* packets, launch words, descriptors */
   SHOW_SHADERS = 2, /* code */
   SHOW_MEMORY = 4,  /* contents of what is bound */
};

struct dump {
   bool is_json, has_colours;
   uint32_t sections;        /* enum show_section */
   uint64_t only_submit;     /* from 1; 0: all */
   uint64_t most_bytes;      /* of a mapping's contents; 0: all */
   struct programs programs; /* whose code is known */
   struct stat_row *figures; /* of all dispatches, where they were counted, sorted */
   size_t figure_count;
   uint64_t seen[DUMP_MAX_SEEN]; /* addresses of code that this submission has shown */
   uint32_t seen_count;
   struct agx_json json;
   struct agxw_capture_reader *reader;
   struct agxw_capture_state *state;
   struct agxw_capture_device *device; /* of the submission that is printed */
   const struct agx_chip *chip; /* of the recorded device as far as its name tells, or NULL */
   uint32_t submissions;
};

/* The commands that make captures and look at them, with the arguments of main; their exit codes.
 * `record` does not return where it becomes the program. */
int dump_record(int argc, char **argv);
int dump_show(int argc, char **argv);
int dump_diff(int argc, char **argv);
int dump_html(int argc, char **argv);
/* The commands that run a capture again, likewise. */
int dump_replay(int argc, char **argv);
int dump_stats(int argc, char **argv);
int dump_extract(int argc, char **argv);
int dump_minimize(int argc, char **argv);

/* Sets *chip where the record is a GET_PARAMS, which names it. */
void dump_find_chip(const struct agxw_capture_record *record, const struct agx_chip **chip);
/* Prints every submission of the file. */
AGX_MUST_CHECK agx_status show_capture(struct dump *dump);

/* Prints the stream of one compute command: its blocks, launch words, and code. What
 * can't be decoded is said in the output. */
void dump_stream(struct dump *dump, const struct agxw_capture_queue *queue, uint32_t command,
                 uint64_t stream_va);
/* The same for the vertex stream of a render command, with the records that it points at. */
void dump_vertex_stream(struct dump *dump, const struct agxw_capture_queue *queue,
                        const struct agx_uapi_cmd_render *render);
/* The USC words at an offset of the queue's window, and their code. */
void dump_program(struct dump *dump, const struct agxw_capture_queue *queue, const char *name,
                  uint32_t usc_offset);
/* The samplers of a command's heap. */
void dump_sampler_heap(struct dump *dump, const struct agxw_capture_queue *queue, uint64_t va,
                       uint32_t count);
/* Code alone. */
void dump_helper(struct dump *dump, const struct agxw_capture_queue *queue, const char *name,
                 uint32_t code_offset);
/* A render command: its fields by name, its vertex stream, and its programs. */
void dump_render(struct dump *dump, const struct agxw_capture_queue *queue, uint32_t index,
                 const struct agx_uapi_cmd_header *header, const uint8_t *payload);
/* A list of attachments. */
void dump_attachments(struct dump *dump, const struct agxw_capture_queue *queue, uint32_t index,
                      const struct agx_uapi_cmd_header *header, const uint8_t *payload);
/* The label of what is mapped at va, fit for a terminal; false: nothing is. */
bool dump_label(const struct dump *dump, uint32_t vm_id, uint64_t va, char *out, size_t capacity,
                struct agxw_capture_mapping *out_mapping);
/* Contents of all that is bound in an address space, as hexadecimal lines. */
void dump_memory(struct dump *dump, uint32_t vm_id);
