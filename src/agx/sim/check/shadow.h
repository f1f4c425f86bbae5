/* SPDX-License-Identifier: MIT
 *
 * Check mode's shadow of what is defined. Beside each register row, word of the stack
 * and byte of threadgroup memory stands a mask of the bits that nothing defined: never
 * written, discarded, or computed from such. Undefined bits travel with the values, and
 * only matter where they reach an address, a branch, device memory or a uniform.
 * Nothing of this exists unless checking is on.
 */
#pragma once

#include "agx/sim/machine/machine.h"

/* Where undefined bits came from first; kept per register half, for the message. */
enum agxs_cause_kind {
   AGXS_CAUSE_NEVER, /* nothing wrote the register */
   AGXS_CAUSE_DISCARD,
   AGXS_CAUSE_UNIFORM, /* at: the half */
   AGXS_CAUSE_SHARED,  /* threadgroup memory; at: the address */
   AGXS_CAUSE_STACK,
   AGXS_CAUSE_CLOBBERED, /* a texture operation changed more registers than it fills; at: pc */
};

struct agxs_cause {
   uint32_t kind;
   uint32_t at; /* pc of the instruction that discarded, else see above */
};

/* Of one SIMD-group; hangs on agxs_group.shadow. */
struct agxs_shadow {
   struct agxs_row *regs; /* undefined bits, row by row as the registers */
   uint32_t *stack;       /* [word][lane] */
   uint32_t active;       /* lanes that execute the instruction; it may change the mask */
   struct agxs_cause cause[AGX_GPR_HALVES];
};

/* Of one worker; hangs on agxs_worker.shadow. */
struct agxs_shadow_store {
   struct agxs_shadow *groups;
   struct agxs_row *rows;
   uint32_t *stack;
   uint64_t group_capacity, row_capacity, stack_capacity;
   uint8_t shared[AGX_MAX_SHARED_BYTES];
};

/* Makes room in the worker for the launch, as agxs_worker_begin does for the rest. */
AGX_MUST_CHECK agx_status agxs_shadow_begin(struct agxs_worker *worker, uint64_t groups,
                                            uint64_t rows, uint64_t stack_words);
/* Frees what agxs_shadow_begin made; fine without. */
void agxs_shadow_fini(struct agxs_worker *worker);
/* At the start of a workgroup and of each of its groups: all is undefined. */
void agxs_shadow_start_workgroup(struct agxs_worker *worker);
/* The same for one group, of so many register rows. */
void agxs_shadow_start_group(struct agxs_group *group, uint32_t rows);

/* Around one instruction: judges what reaches it and moves the masks; then what it
 * discards. `before` is false when the group has failed. */
bool agxs_shadow_before(struct agxs_group *group, const struct agxs_uop *uop);
/* After the instruction: what it discards is undefined. */
void agxs_shadow_after(struct agxs_group *group, const struct agxs_uop *uop);
