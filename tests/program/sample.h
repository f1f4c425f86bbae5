/* SPDX-License-Identifier: MIT
 *
 * A program for tests of the container, with code, bindings, uniforms, parameters and constants.
 */
#pragma once

#include "support.h"

#include "program/program.h"

struct sample {
   uint8_t code[256], preamble[128];
   struct agx_program_binding bindings[2];
   struct agx_program_uniform uniforms[5];
   struct agx_program_parameter parameters[4];
   struct agx_program_constant constants[2];
   struct agx_program program;
};

void sample_make(struct sample *sample);
/* Assembles lines, NULL behind the last; traps follow. */
void sample_set_code(struct sample *sample, const char *const *lines);
void sample_set_preamble(struct sample *sample, const char *const *lines);
/* The ELF image; free() it. */
uint8_t *sample_write(const struct sample *sample, size_t *size);
