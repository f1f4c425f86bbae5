/* SPDX-License-Identifier: MIT
 *
 * The passes between the front end and the emitter, in order.
 */
#pragma once

#include "agx/compiler/ir/ir.h"

/* Runs every pass; prints the IR after each (options->dump) and validates it
 * (AGXC_DEBUG_VALIDATE). Fails through agxc_leave. */
void agxc_run_pipeline(struct agxc_shader *shader);
