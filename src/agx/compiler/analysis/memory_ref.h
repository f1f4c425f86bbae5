/* SPDX-License-Identifier: MIT
 *
 * What memory an instruction touches, in a form in which two instructions can be compared:
 * a space, a base, and a byte offset that is a sum of multiples of values and a constant.
 * Two references of one `key` (all but the constant) lie a known number of bytes apart.
 */
#pragma once

#include "agx/compiler/ir/ir.h"

enum agxc_space {
   AGXC_SPACE_DEVICE,
   AGXC_SPACE_SHARED,
   AGXC_SPACE_SCRATCH,
};

/* factor * the value of that id; uniforms have ids from 2^31 on. */
struct agxc_term {
   uint32_t value;
   uint64_t factor;
};

#define AGXC_MAX_TERMS 6

struct agxc_memory_ref {
   enum agxc_space space;
   bool reads, writes;
   uint8_t bits, count;  /* of the data: elements of `bits` bits */
   uint32_t access;      /* enum agxc_access */
   struct agxc_ref base; /* AGXC_NONE: not in device memory */
   bool is_binding;      /* base is a uniform with the address of bindings[binding] */
   uint32_t binding;
   uint8_t robustness; /* enum agxc_robustness: how the access is yet to be checked */
   uint32_t stride;    /* of what robust code indexes; 0 if nothing */
   struct agxc_term terms[AGXC_MAX_TERMS]; /* sorted by value */
   uint32_t term_count;
   int64_t constant; /* bytes */
   uint64_t key;     /* hash of everything but constant and data */
};

/* Describes what a generic instruction touches. False for instructions that touch no memory, for
 * images and for barriers. */
bool agxc_memory_ref_find(const struct agxc_shader *shader, const struct agxc_instr *instr,
                          struct agxc_memory_ref *out_memory);

/* Whether the base is the address of a binding, or of a place inside that the constant counts. */
bool agxc_memory_ref_is_bound(const struct agxc_shader *shader,
                              const struct agxc_memory_ref *memory);

/* The bytes that the access reads or writes. */
static inline uint32_t agxc_memory_ref_bytes(const struct agxc_memory_ref *memory)
{
   return memory->bits / 8u * memory->count;
}

/* Whether space, base and terms are the same, so that the constants say how far apart they are. */
bool agxc_memory_ref_same_key(const struct agxc_memory_ref *a, const struct agxc_memory_ref *b);

/* False when the two can't have a byte in common. */
bool agxc_memory_ref_may_overlap(const struct agxc_memory_ref *a, const struct agxc_memory_ref *b);
