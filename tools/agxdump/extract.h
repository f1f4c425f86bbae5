/* SPDX-License-Identifier: MIT
 *
 * What the parts of `agxdump extract` share: a dispatch, and memory before and behind it.
 */
#pragma once

#include <stdio.h>

#include "agx/hw/decode.h"
#include "cut.h"
#include "dispatches.h"
#include "replay.h"

/* A part of an address space, as the dispatch finds it. */
struct extract_range {
   uint64_t va, bytes, offset; /* of the object's bytes at va */
   uint32_t object;            /* index of the cut's */
   bool single_page;
   uint32_t id;    /* of its buffer in the manifest, from 1; 0: the kernel doesn't reach it */
   bool is_bound;  /* a uniform leads there */
   bool is_loaded; /* the launch loads uniforms from there */
};

struct extract {
   struct cut cut;
   const char *folder;
   int input; /* the capture, which the reader closes */
   const struct replay_options *options;
   uint64_t submission; /* from 1; 0: the first that has a dispatch */
   uint64_t command;    /* from 0 */
   uint64_t wanted;     /* the dispatch, from 0 */
   struct agx_hw_launch launch;
   struct agx_hw_usc_info program;
   uint64_t usc_base;
   uint32_t grid[3], local[3]; /* threads, as the launch was executed */
   uint64_t instructions;      /* that its SIMD-groups executed */
   struct extract_range *ranges;
   size_t range_count, range_capacity;
   struct cut_image before, after;
   bool is_begun, is_done;
   agx_status status; /* of what was done on the node's threads, with its text */
   char text[AGX_ERROR_TEXT_BYTES];
};

/* Eight bytes of a range that hold an address, or look like it. */
struct extract_point {
   const struct extract_range *range, *target;
   uint64_t offset, place; /* in them */
   bool is_uniform;        /* what the launch loads: the program has it, not the manifest */
   bool is_data;           /* found not to be one */
};

/* Copies memory as the dispatch finds it; false: part of it is not mapped. */
bool extract_read(const struct extract *extract, const struct cut_image *image, uint64_t va,
                  void *out, size_t bytes);
/* The range around va, or NULL. */
struct extract_range *extract_find(const struct extract *extract, uint64_t va);
/* Makes a file of the folder, which only its owner may read: it has contents of memory. */
AGX_MUST_CHECK agx_status extract_open(const struct extract *extract, const char *name,
                                       FILE **out_file);
/* Writes a file of the folder. */
AGX_MUST_CHECK agx_status extract_write(const struct extract *extract, const char *name,
                                        const void *data, size_t bytes);
/* extract_program.c: kernel.bin, preamble.bin, kernel.elf, the manifest and its buffers. Where the
 * launch has what they can't say, *out_why tells, and the latter aren't there; else it is "". */
AGX_MUST_CHECK agx_status extract_program(struct extract *extract, char *out_why, size_t capacity);
/* extract_points.c: finds by replays which points are addresses: the dispatch does the same when
 * they lead to the same memory at another place. Where that can't be told, *out_why tells why. */
AGX_MUST_CHECK agx_status extract_sort_points(struct extract *extract, struct extract_point *points,
                                              uint32_t count, char *out_why, size_t capacity);
/* Has the cut keep the dispatch alone. */
void extract_choose_parts(struct extract *extract);
