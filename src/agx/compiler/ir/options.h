/* SPDX-License-Identifier: MIT
 *
 * What a caller chooses about a compilation. Outsiders get this with compiler.h; it lies here since
 * passes of all rooms read it through their shader.
 */
#pragma once

#include "agx/chip.h"
#include "agx/format.h"
#include "base/alloc.h"
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
    * choice), and how many bytes the last workgroup array has. docs/hal/executables.md. */
   bool has_dynamic_local_size, has_dynamic_shared;
   /* A bit for each set, below 32, whose descriptors the code is to find in memory, and no launch
    * to read: AGX_BINDING_HEAP. */
   uint32_t heap_sets;
   uint32_t index_B;                   /* bytes of an index: 1, 2, 4, or 0 for vertices in order */
   uint32_t debug;                     /* enum agxc_debug bits */
   const struct agx_host_alloc *alloc; /* NULL = malloc */
   /* 0 = 256 MiB, and 1 KiB for each byte of the module; more is AGX_RESOURCE_EXHAUSTED. */
   size_t memory_limit_B;
   uint32_t most_halves; /* 0 = 256; fewer register halves, so that tests see spilling; not in
                            preambles */
   /* Text of the IR after each pass and of the machine code; may be NULL. Entry points come in the
    * module's order, of robust code the variant without checks first. Each begins with "spirv",
    * what the front end made; its preamble with "preamble"; "asm" and "asm preamble" come last. */
   void (*dump)(void *user, const char *pass, const char *text);
   void *dump_user;
};
