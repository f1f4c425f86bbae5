/* SPDX-License-Identifier: MIT
 *
 * Golden tests of passes: IR text before and after, collected in one file per pass.
 */
#pragma once

#include "support.h"

#include "agx/compiler/ir/ir.h"

typedef bool (*pass_fn)(struct agxc_shader *);

struct pass_golden {
   const pass_fn *passes; /* run in order on each case; opt_copy_prop and opt_dce follow */
   size_t pass_count;
   uint32_t shared_B;
   char *text;
   size_t length;
};

/* Runs the passes over a body (what stands below "shader ..."), validates, and appends
 * before and after to the golden text. */
void pass_case(struct pass_golden *golden, const char *title, const char *body);
/* The same for a body that has to stay as it is. */
void pass_case_same(struct pass_golden *golden, const char *title, const char *body);
/* Compares all cases with tests/golden/NAME (unless that is NULL) and frees them. */
void pass_golden_check(struct pass_golden *golden, const char *name);
