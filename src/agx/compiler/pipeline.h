/* SPDX-License-Identifier: MIT
 *
 * The passes between the front end and the emitter, in order.
 */
#pragma once

#include "agx/compiler/ir/ir.h"

struct agxc_pass {
   const char *name;
   bool (*run)(struct agxc_shader *shader); /* true when it changed something */
   enum agxc_stage stage;                   /* what holds afterwards */
   uint32_t skip;    /* left out when one of these enum agxc_debug bits is set */
   bool needs_spill; /* left out when agxc_spill changed nothing */
};

/* Runs every pass; prints the IR after each (options->dump) and validates it
 * (AGXC_DEBUG_VALIDATE). Fails through agxc_leave. */
void agxc_run_pipeline(struct agxc_shader *shader);

/* The first pass of that name that takes a shader of that stage, or NULL. */
const struct agxc_pass *agxc_pass_find(const char *name, enum agxc_stage stage);
