/* SPDX-License-Identifier: MIT
 *
 * Golden tests of passes: IR text before, IR text after. Dead code is removed before the
 * comparison, and what is left must be valid.
 */
#pragma once

#include "support.h"

#include "agx/compiler/ir/ir.h"

typedef bool (*pass_fn)(struct agxc_shader *);

#define PASS_HEADER "shader main local 32x1x1 shared 0 push 0\n"
/* Lines that bring a value in from outside, and one out. */
#define PASS_LOAD(value)  value " = load_shared #0:32\n"
#define PASS_STORE(value) "store_shared #0:32, " value "\n"

void check_passes(const pass_fn *passes, size_t count, const char *before, const char *after);

#define CASE(before, after, ...)                                                                   \
   check_passes((const pass_fn[]){__VA_ARGS__}, AGX_COUNT(((const pass_fn[]){__VA_ARGS__})),       \
                (before), (after))
/* The passes must leave that text alone. */
#define NEGCASE(text, ...) CASE(text, text, __VA_ARGS__)
