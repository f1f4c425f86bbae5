/* SPDX-License-Identifier: MIT
 *
 * For tests of passes that ask what is uniform: IR text, local size, slots, a pass, and the text
 * that must come out.
 */
#pragma once

#include "support.h"

#include "agx/compiler/ir/ir.h"

struct uniform_case {
   const char *local; /* local size; NULL: 64x1x1 */
   enum agxc_robustness robustness;
   bool (*pass)(struct agxc_shader *);
   const char *before, *after; /* bodies; after NULL: as before, and no progress */
   enum agxc_stage stage;      /* of before and after; 0: generic */
   const char *preamble;       /* NULL: none */
};

/* Parses, validates, runs, validates, compares. Binding 0 is at u0l, 16 bytes at least;
 * binding 1 at u2l; push constants at u4l, u5l, u6l and u7l. */
void uniform_check(const struct uniform_case *c);
