/* SPDX-License-Identifier: MIT
 *
 * Dispatches whose outputs another GPU has recorded. Tests of operations between lanes compare with
 * plain loops, which share our reading of the specification; a GPU of somebody else's with 32 lanes
 * does not. tests/kernels/recorded/README.md tells how the recordings are made.
 */
#pragma once

#include <stdint.h>
#include <stddef.h>

#include "agx/hal.h"

#define RECORDED_MAX_BUFFERS 5

/* One dispatch of one workgroup. The buffers lie in bindings 0, 1, ... of set 0. */
struct recorded_dispatch {
   const char *name;   /* of a row in a recording; no white space */
   const char *kernel; /* without folder and ending: a file of tests/kernels */
   const struct agx_specialization *specializations; /* of 4 bytes */
   uint32_t specialization_count;
   uint32_t buffer_count;
   const void *buffers[RECORDED_MAX_BUFFERS]; /* what they hold before */
   uint64_t sizes_B[RECORDED_MAX_BUFFERS];    /* multiples of 8 */
   uint32_t output;                           /* number of the buffer whose contents are compared */
   uint64_t negative_zero; /* 64-bit words of the output that equal it count as 0; 0: none */
};

/* Appends the dispatch to the file that AGX_TEST_RECORD names, for tests/mesa/vkrecord.c; does
 * nothing without it. */
void recorded_write(const struct recorded_dispatch *dispatch);

/* Fails the test unless the output is what tests/kernels/recorded/RECORDING.tsv has for the
 * dispatch. One that it lacks fails, too, unless AGX_TEST_RECORD is set. */
void recorded_check(const struct recorded_dispatch *dispatch, const char *recording,
                    const void *output);
