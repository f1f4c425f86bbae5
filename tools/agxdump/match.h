/* SPDX-License-Identifier: MIT
 *
 * What stands beside what in two captures: dispatches, and the instructions of their code.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "align.h"
#include "dispatches.h"

/* Dispatches by order and grid. *out_pairs (free it) has *out_count of them.
 * AGX_RESOURCE_EXHAUSTED: no memory. */
AGX_MUST_CHECK agx_status match_dispatches(const struct dump_dispatches *a,
                                           const struct dump_dispatches *b,
                                           struct align_pair **out_pairs, size_t *out_count);
/* Instructions by operation: registers are chosen otherwise as soon as anything is. As
 * match_dispatches. */
AGX_MUST_CHECK agx_status match_code(const struct dump_code *a, const struct dump_code *b,
                                     struct align_pair **out_pairs, size_t *out_count);
/* Whether a pair of match_code has the same bytes on both sides. */
bool match_is_equal(const struct dump_code *a, const struct dump_code *b,
                    const struct align_pair *pair);
