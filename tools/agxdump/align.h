/* SPDX-License-Identifier: MIT
 *
 * Aligns two sequences by a longest common subsequence.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

#define ALIGN_NONE SIZE_MAX

/* Elements that stand beside each other; ALIGN_NONE: there is none on that side. */
struct align_pair {
   size_t a, b;
};

/* Equal elements have equal numbers. *out_pairs (free it) has *out_count of them, in order.
 * Sequences that differ in more than some thousand places are cut where they part, and stand side
 * by side from there on. AGX_RESOURCE_EXHAUSTED: no memory. */
AGX_MUST_CHECK agx_status align_sequences(const uint64_t *a, size_t a_count, const uint64_t *b,
                                          size_t b_count, struct align_pair **out_pairs,
                                          size_t *out_count);
