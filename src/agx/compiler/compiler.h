/* SPDX-License-Identifier: MIT
 *
 * The compiler's whole public surface: SPIR-V in, program out.
 */
#pragma once

#include "agx/chip.h"
#include "agx/format.h"
#include "base/alloc.h"
#include "base/status.h"
#include "program/program.h"

/* One specialization constant; bool counts as 0 or 1. */
struct agxc_spec {
   uint32_t id;
   uint32_t bytes; /* 1, 2, 4 or 8; how much of value counts */
   uint64_t value; /* bits, low first */
};

/* docs/robustness.md */
enum agxc_robustness {
   AGXC_ROBUST_NONE = AGX_PROGRAM_ROBUST_OFF,
   AGXC_ROBUST_CLAMP = AGX_PROGRAM_ROBUST_CLAMP,
   AGXC_ROBUST_ZERO = AGX_PROGRAM_ROBUST_ZERO,
};

/* What counts for one binding instead of the options' robustness. */
struct agxc_robust_binding {
   uint32_t set, binding;
   enum agxc_robustness robustness;
};

/* Of a vertex stage: what an input location reads. */
struct agxc_attribute {
   uint32_t location;
   const struct agx_vertex_format *format;
   uint32_t stride_B; /* a multiple of the format's unit, up to AGX_PROGRAM_MAX_STRIDE_B */
   bool per_instance; /* elements are counted by base instance + instance / divisor */
   uint32_t divisor;  /* 0: all instances read the element of the base instance */
};

/* Turns things off, for debugging; bits. */
enum agxc_debug {
   AGXC_DEBUG_NO_OPT = 1 << 0,
   AGXC_DEBUG_NO_SCHEDULE = 1 << 1,
   AGXC_DEBUG_VALIDATE = 1 << 2, /* run the validator after each pass, without assertions, too */
};

/* What is added here and changes code is added to agx_cache_key_make
 * (src/hal/executable/cache_key.c), too. */
struct agxc_options {
   const struct agx_chip *chip;   /* required */
   const char *entry;             /* NULL: the only compute entry point, or else vertex one */
   const struct agxc_spec *specs; /* ids that the module lacks are ignored */
   uint32_t spec_count;
   enum agxc_robustness robustness;
   const struct agxc_robust_binding *robust_bindings; /* those that the module lacks are ignored */
   uint32_t robust_binding_count;
   /* Of a vertex stage. Without any, inputs are packed 32-bit components, one element a vertex. */
   const struct agxc_attribute *attributes;
   uint32_t attribute_count;
   /* Of compute kernels: launches choose the workgroup size (the module's is the one without a
    * choice), and how many bytes the last workgroup array has. docs/compiler.md. */
   bool has_dynamic_local_size, has_dynamic_shared;
   uint32_t index_B;                   /* bytes of an index: 1, 2, 4, or 0 for vertices in order */
   uint32_t debug;                     /* enum agxc_debug bits */
   const struct agx_host_alloc *alloc; /* NULL = malloc */
   size_t memory_limit_B;              /* 0 = 256 MiB; more is AGX_RESOURCE_EXHAUSTED */
   uint32_t most_halves; /* 0 = 256; fewer register halves, so that tests see spilling */
   /* Text of the IR after each pass and of the machine code; may be NULL. */
   void (*dump)(void *user, const char *pass, const char *text);
   void *dump_user;
};

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
      uint64_t min_size_B; /* bytes that are bound at least; 0: nobody knows */
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
