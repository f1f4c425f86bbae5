/* SPDX-License-Identifier: MIT
 *
 * What subgroup.c (values of other lanes) and reduce.c (reductions and scans)
 * share: a builder for the block at hand, and what is known about its lanes.
 */
#pragma once

#include "agx/compiler/analysis/divergence.h"

#define AGXC_NO_SLOT UINT32_MAX

struct agxc_subgroup {
   struct agxc_shader *shader;
   struct agxc_builder b;
   /* Of the block: no lane that the workgroup has is away; and with that: every quad that
    * has lanes has four; all 32 lanes are there. */
   bool undivided, whole, full;
   const struct agxc_divergence *divergence;
   struct agxc_block *block;
   uint32_t value_count; /* values that the analysis knows */
   uint32_t slot_B;      /* threadgroup memory for exchange(), or AGXC_NO_SLOT */
};

/* ---- building ---------------------------------------------------------- */

/* The low and high words of a 64-bit value. */
static inline void agxc_sg_unpack(struct agxc_subgroup *l, struct agxc_ref value,
                                  struct agxc_ref out_words[2])
{
   const struct agxc_instr *unpack = agxc_build_unpack64(&l->b, value);
   out_words[0] = *agxc_dest_low(unpack);
   out_words[1] = *agxc_dest_high(unpack);
}

/* ---- operations, lowered ----------------------------------------------- */

/* The value of another lane, of any width. */
struct agxc_ref agxc_sg_shuffle(struct agxc_subgroup *l, struct agxc_ref value,
                                struct agxc_ref operand, enum agxc_shuffle mode);
/* The value of all lanes of the own cluster, which has 1, 2, 4 ... 32 lanes, combined by `with`. */
struct agxc_ref agxc_sg_reduce(struct agxc_subgroup *l, struct agxc_ref value, unsigned with,
                               uint32_t cluster);
/* The values of all lower lanes combined by `with`, and the own one too when inclusive. */
struct agxc_ref agxc_sg_scan(struct agxc_subgroup *l, struct agxc_ref value, unsigned with,
                             bool inclusive);
/* Whether the machine has this REDUCE or SCAN as it is. */
bool agxc_sg_is_native(const struct agxc_instr *instr);
