/* SPDX-License-Identifier: MIT
 *
 * What the parts of `show` share that print one command.
 */
#pragma once

#include "agx/hw/decode.h"
#include "agxdump.h"
#include "print.h"

struct stream {
   struct dump *dump;
   const struct agxw_capture_queue *queue;
   uint64_t scissors, depth_biases; /* arrays that records of the vertex stream index */
   struct agx_hw_reader reader;
   uint32_t command, dispatch; /* numbers of the launch that is printed */
};

/* GPU memory of the queue's address space; user is a struct stream. */
bool stream_read(void *user, uint64_t va, void *out, size_t size);
/* A line of text, a comment of the assembler where code alone is shown; or a string in the JSON
 * array that is open. */
void stream_put(struct stream *stream, enum print_style style, const char *indent,
                const char *line);

/* listing.c: what a program finds when it starts (uniforms, descriptors), and its code. */
void listing_put_program(struct stream *stream, const struct agx_hw_usc_info *program);
/* Code alone, `name` such as "code". */
void listing_put_code(struct stream *stream, const char *name, uint32_t code_offset);
/* The heap of samplers that a command names. */
void listing_put_heap(struct stream *stream, uint64_t va, uint32_t count);
/* What a launch keeps on a core, and what it executed where that was counted. */
void listing_put_figures(struct stream *stream, const struct agx_hw_launch *launch,
                         const struct agx_hw_usc_info *program);
