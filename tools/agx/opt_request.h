/* SPDX-License-Identifier: MIT
 *
 * The options of `agx opt`, which files of IR tests (tests/compiler/ir_files_test.c) are written
 * in, too.
 */
#pragma once

#include "agx/compiler/compiler.h"

#define AGX_OPT_MAX_PASSES 64

struct agx_opt_request {
   struct agxc_options options;
   struct agxc_text_input input;
   const char *passes[AGX_OPT_MAX_PASSES]; /* names; they belong to the caller */
   size_t pass_count;
};

/* The request of no options: chip g13g, no passes. */
struct agx_opt_request agx_opt_request_default(void);

/* Whether an option is followed by a value. */
bool agx_opt_takes_value(const char *option);

/* Adds an option and its value (NULL where it takes none). False: there is no such option, or it
 * does not take that value. */
bool agx_opt_add(struct agx_opt_request *request, const char *option, const char *value);

/* Runs the passes over IR text, as agxc_run_passes says. free(*out_text). */
agx_status agx_opt_run(struct agx_opt_request *request, const char *text, char **out_text);
