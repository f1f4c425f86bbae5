/* SPDX-License-Identifier: MIT
 *
 * The compiler's whole public surface: SPIR-V in, program out.
 */
#pragma once

#include "agx/compiler/ir/options.h"
#include "base/status.h"
#include "program/program.h"

/* Compiles one compute or vertex entry point. AGX_UNIMPLEMENTED names the capability,
 * opcode or construct that is missing; AGX_INVALID_ARGUMENT says at which word
 * the module is malformed; AGX_RESOURCE_EXHAUSTED: registers, uniforms or memory.
 * Free the result with agx_program_free. Control flow of many levels is compiled by a thread of its
 * own, for which this waits: alloc and dump may be called there. */
AGX_MUST_CHECK agx_status agxc_compile(const void *spirv, size_t size,
                                       const struct agxc_options *options,
                                       struct agx_program **out_program);

/* Compiles options->entry, or without one all compute entry points, or else all vertex ones. As
 * agxc_compile otherwise; agx_module_release. What fails for one entry point fails as a whole. */
AGX_MUST_CHECK agx_status agxc_compile_module(const void *spirv, size_t size,
                                              const struct agxc_options *options,
                                              struct agx_module **out_module);

/* What IR text does not say about its shader. */
struct agxc_text_input {
   struct agxc_text_binding {
      uint64_t min_size_B; /* bytes that are bound at least; 0: unknown */
      enum agxc_robustness robustness;
   } bindings[AGX_PROGRAM_MAX_BINDINGS];
   uint32_t binding_count;
   bool
      has_uniforms; /* uniforms hold the bindings' addresses (u0l, u2l, ...), then push constants */
   bool is_unchecked; /* it is the variant without checks (opt/elide_bounds_checks.c) */
};

/* Runs passes by name over IR text, as agxc_print writes it, and returns the text that comes out:
 * the shader's, and "preamble" and the preamble's when a pass made one. The text may be of any
 * stage (generic, machine, registers) and is validated before and after each pass for the stage
 * that the pass takes and leaves. Of the options count chip (required), robustness, debug,
 * most_halves, memory_limit_B and alloc; input may be NULL. AGX_NOT_FOUND: no such pass;
 * AGX_INVALID_ARGUMENT: the text is not valid, with its line; otherwise what the passes fail with.
 * free(*out_text). */
AGX_MUST_CHECK agx_status agxc_run_passes(const char *text, const char *const *passes,
                                          size_t pass_count, const struct agxc_options *options,
                                          const struct agxc_text_input *input, char **out_text);

/* Name of a pass by its place in the pipeline, from 0 on; NULL behind the last. Some come several
 * times. */
const char *agxc_pass_name(size_t index);
