/* SPDX-License-Identifier: MIT
 *
 * What the files of agxc_lower_robust share: robust.c finds the index of each access
 * and compares it with uniforms, robust_parts.c takes vectors apart.
 */
#pragma once

#include "agx/compiler/analysis/memory_ref.h"
#include "agx/compiler/analysis/range.h"

#define AGXC_ROBUST_MAX_ELEMENTS 4

/* One access: what it touches, and how its index is checked. */
struct agxc_robust_access {
   struct agxc_instr *instr;
   struct agxc_memory_ref memory;
   uint32_t bytes;
   bool writes, zero, by_element; /* by_element: elements count one by one */
   struct agxc_ref index;         /* AGXC_NONE: no index */
   uint32_t constant, stride;
};

struct agxc_robust {
   struct agxc_shader *shader;
   struct agxc_ranges *ranges;
   struct agxc_builder at; /* before the access */
   /* The last load of which elements are loaded one by one in an if, which copies share. */
   struct agxc_robust_access load;
   struct agxc_if *branch;
   struct agxc_ref phis[AGXC_ROBUST_MAX_ELEMENTS];
};

/* The uniform that holds the address of the binding's byte `constant`, or that of a sink where the
 * buffer ends before constant + bytes. */
struct agxc_ref agxc_robust_guard(struct agxc_robust *r, const struct agxc_robust_access *a,
                                  uint32_t constant, uint32_t bytes);
/* The uniform that holds the address of the binding plus the access's constant. */
struct agxc_ref agxc_robust_base(struct agxc_robust *r, const struct agxc_robust_access *a);

/* index < count ? index : sink, for the access's bytes up to `bytes`. */
struct agxc_ref agxc_robust_redirected(struct agxc_robust *r, const struct agxc_robust_access *a,
                                       uint32_t bytes);
/* Whether some elements may be inside of the buffer though the whole access isn't: a condition. */
struct agxc_ref agxc_robust_is_partial(struct agxc_robust *r, const struct agxc_robust_access *a);
/* index * stride. */
struct agxc_ref agxc_robust_scaled(struct agxc_robust *r, const struct agxc_robust_access *a,
                                   struct agxc_ref index);

/* Elements overlap those of no other index, so that one index alone can be partial. */
bool agxc_robust_has_one_index(const struct agxc_robust_access *a);

/* Elements that are inside or outside as one: two words of 64 bits, else one. */
uint32_t agxc_robust_part_elements(const struct agxc_robust_access *a);
/* Replaces a vector access without an index: each part has its own guard. */
void agxc_robust_guard_parts(struct agxc_robust *r, struct agxc_robust_access *a);
/* Adds, behind a vector access whose index is redirected as a whole, an if that accesses the parts
 * one by one where some may be inside. */
void agxc_robust_add_parts(struct agxc_robust *r, struct agxc_robust_access *a);
