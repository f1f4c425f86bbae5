/* SPDX-License-Identifier: MIT
 *
 * Compiled kernels that the user names, so that a listing can say what uniforms hold and which
 * source line an instruction comes from. A capture has neither; code tells which kernel it is.
 */
#pragma once

#include "agx/hw/packet.h"
#include "code.h"
#include "program/lines.h"

struct known_program {
   const struct agx_program *program;
   struct agx_lines lines;
   char file[256]; /* where it was found */
};

struct programs {
   struct known_program *items;
   struct agx_module **modules;
   size_t count, module_count;
};

/* Adds all programs of a file of `agx compile`, or of each such file in a folder (a cache that
 * AGX_CACHE_DIR names is one). AGX_NOT_FOUND: there is none. */
AGX_MUST_CHECK agx_status programs_add(struct programs *programs, const char *path);
/* Frees all. */
void programs_free(struct programs *programs);
/* The program with that main code, or NULL. */
const struct known_program *programs_find(const struct programs *programs,
                                          const struct dump_code *code);
/* Where an instruction comes from, `at` bytes behind the begin of the code or of the preamble. */
bool programs_find_line(const struct known_program *known, bool in_preamble, uint32_t at,
                        struct agx_source_line *out_line);
/* Adds what the uniform says that begins at the half: "address of binding 0.1 x"; false: none does.
 */
bool programs_name_uniform(const struct known_program *known, uint32_t half, uint32_t *out_halves,
                           struct agx_hw_text *text);
