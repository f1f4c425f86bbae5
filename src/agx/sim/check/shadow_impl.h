/* SPDX-License-Identifier: MIT
 *
 * Between the files of the shadow: reading and writing masks of undefined bits the way
 * lanes.h does values, and the rules, one for each kind of execution.
 */
#pragma once

#include "agx/sim/machine/exec_set.h"
#include "agx/sim/machine/lanes.h"
#include "agx/sim/check/shadow.h"

/* Moves masks from sources to destinations, before the instruction executes. False: it
 * found undefined bits where they must not be, and the group has failed. */
typedef bool agxs_shadow_rule(struct agxs_group *group, const struct agxs_uop *uop);

/* By enum agxs_exec_index. An execution without a rule: what it writes is undefined as a
 * whole when a bit of anything that it reads is. */
agxs_shadow_rule agxs_shadow_nothing, agxs_shadow_defines; /* shadow.c */
/* shadow_alu.c */
agxs_shadow_rule agxs_shadow_move, agxs_shadow_bitop, agxs_shadow_field, agxs_shadow_shift_high;
agxs_shadow_rule agxs_shadow_asr, agxs_shadow_bitrev, agxs_shadow_count, agxs_shadow_ffs;
agxs_shadow_rule agxs_shadow_intl, agxs_shadow_add, agxs_shadow_multiply, agxs_shadow_select;
agxs_shadow_rule agxs_shadow_whole, agxs_shadow_int_to_f, agxs_shadow_derive;
/* shadow_memory.c */
agxs_shadow_rule agxs_shadow_load, agxs_shadow_store, agxs_shadow_atomic, agxs_shadow_lload;
agxs_shadow_rule agxs_shadow_lstore, agxs_shadow_latomic, agxs_shadow_stack_adjust;
agxs_shadow_rule agxs_shadow_stack_load, agxs_shadow_stack_store, agxs_shadow_uniform_store;
/* shadow_memory.c: of images */
agxs_shadow_rule agxs_shadow_sample, agxs_shadow_image_write, agxs_shadow_image_block;
agxs_shadow_rule agxs_shadow_image_state, agxs_shadow_tile;
/* shadow_simd.c */
agxs_shadow_rule agxs_shadow_mask, agxs_shadow_register_jump, agxs_shadow_ballot,
   agxs_shadow_shuffle;
agxs_shadow_rule agxs_shadow_reduce, agxs_shadow_matrix;

/* The instruction's place, relative to usc_base. */
uint32_t agxs_shadow_pc(const struct agxs_group *group, const struct agxs_uop *uop);

/* Undefined bits of a source as the instruction sees it: shifted and sign-extended. */
void agxs_shadow_get(const struct agxs_group *group, const struct agxs_source *source,
                     struct agxs_row *out);
/* The same of 64 bits. */
void agxs_shadow_get64(const struct agxs_group *group, const struct agxs_source *source,
                       uint64_t *out);
/* Of element `index` of a register vector, in one lane. */
uint32_t agxs_shadow_get_lane(const struct agxs_group *group, const struct agxs_source *source,
                              unsigned index, unsigned lane);

/* Writes the destination's mask in active lanes, and where it came from. */
void agxs_shadow_put(struct agxs_group *group, const struct agxs_uop *uop,
                     const struct agxs_row *undefined);
/* The same of 64 bits. */
void agxs_shadow_put64(struct agxs_group *group, const struct agxs_uop *uop,
                       const uint64_t *undefined);
/* Of element `index` of a register vector, in one lane. */
void agxs_shadow_put_lane(struct agxs_group *group, const struct agxs_dest *dest, unsigned index,
                          unsigned lane, uint32_t undefined, struct agxs_cause cause);

/* Where the source's undefined bits came from. */
struct agxs_cause agxs_shadow_cause(const struct agxs_group *group,
                                    const struct agxs_source *source, unsigned index);

/* Fails the group: bits of the source's element reach `what` ("an address"). Returns false. */
bool agxs_shadow_report(struct agxs_group *group, const struct agxs_uop *uop,
                        const struct agxs_source *source, unsigned index, unsigned lane,
                        uint32_t undefined, const char *what);
/* The same for a source of up to 64 bits that must be defined in these lanes. */
bool agxs_shadow_demand(struct agxs_group *group, const struct agxs_uop *uop,
                        const struct agxs_source *source, uint32_t lanes, const char *what);

/* All ones where the comparison of the first two sources depends on undefined bits. */
void agxs_shadow_condition(const struct agxs_group *group, const struct agxs_uop *uop,
                           struct agxs_row *out);

/* Bits that an addition of something undefined may change: all from the lowest on. */
static inline uint64_t agxs_shadow_carry(uint64_t undefined)
{
   return undefined | (0 - undefined);
}
