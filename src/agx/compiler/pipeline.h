/* SPDX-License-Identifier: MIT
 *
 * From what the front end made to rows over registers, ready to be emitted.
 */
#pragma once

#include "agx/compiler/ir.h"

void agxc_run_pipeline(struct agxc_shader *shader);

/* Hands the shader's text to the caller's dump function, if there is one. */
void agxc_dump(struct agxc_shader *shader, const char *pass);
