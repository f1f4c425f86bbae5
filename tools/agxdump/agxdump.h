/* SPDX-License-Identifier: MIT
 *
 * agxdump: prints recorded captures (docs/capture.md). Bits and instructions are
 * decoded by agx/hw and agx/isa; here they only meet.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "base/json.h"
#include "winsys/asahi_uapi.h"
#include "winsys/capture/capture.h"

struct dump {
   bool is_json;
   struct agx_json json;
   struct agxw_capture_reader *reader;
   struct agxw_capture_state *state;
   struct agxw_capture_device *device; /* of the submission that is printed */
   const struct agx_chip *chip; /* of the recorded device as far as its name tells, or NULL */
   uint32_t submissions;
};

/* `agxdump record` with the arguments of main: its exit code, or does not return. */
int dump_record(int argc, char **argv);

/* `agxdump replay`, `extract`, `stats`, `diff` and `html` with the arguments of main; their exit
 * codes.
 */
int dump_replay(int argc, char **argv);
int dump_diff(int argc, char **argv);
int dump_html(int argc, char **argv);
int dump_stats(int argc, char **argv);
/* `agxdump extract` and `minimize`, likewise. */
int dump_minimize(int argc, char **argv);
int dump_extract(int argc, char **argv);

/* Sets *chip where the record is a GET_PARAMS, which names it. */
void dump_find_chip(const struct agxw_capture_record *record, const struct agx_chip **chip);
/* Prints every submission of the file. */
AGX_MUST_CHECK agx_status dump_show(struct dump *dump);

/* Prints the stream of one compute command: its blocks, launch words, and code. What
 * can't be decoded is said in the output. */
void dump_stream(struct dump *dump, const struct agxw_capture_queue *queue, uint64_t stream_va);
/* The same for the vertex stream of a render command, with the records that it points at. */
void dump_vertex_stream(struct dump *dump, const struct agxw_capture_queue *queue,
                        const struct agx_uapi_cmd_render *render);
/* The USC words at an offset of the queue's window, and their code. */
void dump_program(struct dump *dump, const struct agxw_capture_queue *queue, const char *name,
                  uint32_t usc_offset);
/* Code alone. */
void dump_helper(struct dump *dump, const struct agxw_capture_queue *queue, const char *name,
                 uint32_t code_offset);
/* A render command: its fields by name, its vertex stream, and its programs. */
void dump_render(struct dump *dump, const struct agxw_capture_queue *queue,
                 const struct agx_uapi_cmd_header *header, const uint8_t *payload);
/* A list of attachments. */
void dump_attachments(struct dump *dump, const struct agxw_capture_queue *queue,
                      const struct agx_uapi_cmd_header *header, const uint8_t *payload);
/* The label ("" without one) of what is mapped at va, or NULL. */
const char *dump_label(const struct dump *dump, uint32_t vm_id, uint64_t va,
                       struct agxw_capture_mapping *out_mapping);
