/* SPDX-License-Identifier: MIT
 *
 * What lower_subgroup.c (values of other lanes) and lower_reduce.c (reductions and scans)
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

static inline struct agxc_ref agxc_sg_u32(uint32_t value)
{
   return agxc_imm(value, 32);
}

struct agxc_ref agxc_sg_binary(struct agxc_subgroup *l, enum agxc_op op, struct agxc_ref a,
                               struct agxc_ref b);
struct agxc_ref agxc_sg_compare(struct agxc_subgroup *l, enum agxc_op op, struct agxc_ref a,
                                struct agxc_ref b);
struct agxc_ref agxc_sg_select(struct agxc_subgroup *l, struct agxc_ref condition,
                               struct agxc_ref yes, struct agxc_ref no);
struct agxc_ref agxc_sg_sysval(struct agxc_subgroup *l, enum agxc_sysval which);
struct agxc_ref agxc_sg_ballot(struct agxc_subgroup *l, struct agxc_ref condition);
/* A row's worth of SHUFFLE, REDUCE or SCAN. */
struct agxc_ref agxc_sg_row(struct agxc_subgroup *l, enum agxc_op op, unsigned srcs,
                            const struct agxc_ref *src, uint32_t imm0, uint32_t imm1);
void agxc_sg_unpack(struct agxc_subgroup *l, struct agxc_ref value, struct agxc_ref out[2]);
struct agxc_ref agxc_sg_pack(struct agxc_subgroup *l, struct agxc_ref low, struct agxc_ref high);

/* ---- operations, lowered ----------------------------------------------- */

struct agxc_ref agxc_sg_shuffle(struct agxc_subgroup *l, struct agxc_ref value,
                                struct agxc_ref operand, enum agxc_shuffle mode);
struct agxc_ref agxc_sg_reduce(struct agxc_subgroup *l, struct agxc_ref value, unsigned with,
                               uint32_t cluster);
/* A REDUCE or SCAN that has a row already. */
bool agxc_sg_is_row(const struct agxc_instr *instr);
struct agxc_ref agxc_sg_scan(struct agxc_subgroup *l, struct agxc_ref value, unsigned with,
                             bool inclusive);
