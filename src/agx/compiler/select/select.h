/* SPDX-License-Identifier: MIT
 *
 * Instruction selection: generic IR to machine instructions.
 */
#pragma once

#include "agx/compiler/ir/ir.h"

/* Replaces every generic instruction but PHI, COLLECT, SPLIT and control flow by machine
 * instructions; values get machine widths. Requires lowered IR. Fails through agxc_fail with
 * AGX_UNIMPLEMENTED for an operation or width that lowering should have removed. */
bool agxc_select(struct agxc_shader *shader);

/* Takes shifts from the pipe that all slots share where loops wait for it. Machine instructions
 * with single definitions. */
bool agxc_balance(struct agxc_shader *shader);
