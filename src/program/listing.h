/* SPDX-License-Identifier: MIT
 *
 * The machine code of a program as text.
 */
#pragma once

#include "agx/isa/isa.h"
#include "program/program.h"

/* Gives sink a line "# NAME", one for each instruction with its offset and bytes, and for the
 * preamble, if there is one, an empty line, "# NAME, preamble" and its instructions. A program that
 * agx_program_copy or a reader made has no code that this fails for. */
AGX_MUST_CHECK agx_status agx_program_list(const struct agx_program *program, agx_isa_sink sink,
                                           void *user);
