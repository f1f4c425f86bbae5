/* SPDX-License-Identifier: MIT
 *
 * Turns a launch's counts into modelled cycles: how many SIMD-groups fit a core, which pipe
 * is the limit, and how much of the latency other groups hide. The report and the virtual
 * device's counters call it.
 */
#include "agx/sim/check/model.h"

#include "base/util.h"

#define SCHEDULERS      4.0  /* per core, each issues for one SIMD-group */
#define BYTES_PER_CYCLE 32.0 /* of a core from the second-level cache */

const char *agxs_term_name(enum agxs_term term)
{
   static const char *const names[AGXS_TERM_COUNT] = {
      [AGXS_TERM_ISSUE] = "issue",     [AGXS_TERM_COMPLEX] = "complex",
      [AGXS_TERM_LSU] = "lsu",         [AGXS_TERM_REFETCH] = "refetch",
      [AGXS_TERM_TRAFFIC] = "traffic", [AGXS_TERM_LATENCY] = "latency",
      [AGXS_TERM_LONGEST] = "longest",
   };
   return names[term];
}

/* Cores of the chip's GPU. */
static uint32_t chip_cores(const struct agx_chip *chip)
{
   return AGX_MAX(chip->clusters * chip->cores_per_cluster, 1u);
}

uint32_t agxs_occupancy(uint32_t gpr_halves, uint32_t shared_B, uint32_t workgroup_threads)
{
   uint32_t resident = agx_occupancy_threads(gpr_halves) / AGX_SIMD_LANES;
   uint32_t groups = (uint32_t)AGX_MAX(agx_div_up(workgroup_threads, AGX_SIMD_LANES), 1u);
   uint32_t workgroups = resident / groups;
   if (shared_B)
      workgroups = AGX_MIN(workgroups, AGXS_CORE_SHARED / shared_B);
   return AGX_MAX(workgroups, 1u) * groups;
}

uint64_t agxs_model_repeats(const struct agxs_counts *counts, const struct agx_chip *chip)
{
   uint64_t wanted = (uint64_t)AGXS_RACE_GROUPS * chip_cores(chip);
   return counts->simd_groups ? AGX_MAX(agx_div_up(wanted, counts->simd_groups), 1u) : 1;
}

struct agxs_model agxs_model(const struct agxs_counts *counts, const struct agx_chip *chip,
                             uint64_t repeat)
{
   double times = (double)repeat;
   struct agxs_model model = {.repeat = repeat};
   model.total = (double)counts->preamble;
   if (!counts->simd_groups || !repeat)
      return model;
   /* Both counts are at most 2^64 / repeat in practice; saturating keeps K and conc right. */
   uint64_t workgroups, groups;
   if (__builtin_mul_overflow(counts->workgroups, repeat, &workgroups))
      workgroups = UINT64_MAX;
   if (__builtin_mul_overflow(counts->simd_groups, repeat, &groups))
      groups = UINT64_MAX;
   model.cores = AGX_MIN(chip_cores(chip), workgroups);
   model.occupancy =
      agxs_occupancy(counts->gpr_halves, counts->shared_B, counts->workgroup_threads);
   model.concurrency = AGX_MIN(groups, model.cores * model.occupancy);
   double cores = (double)model.cores;
   double *term = model.term;
   term[AGXS_TERM_ISSUE] = (double)counts->issue * times / (SCHEDULERS * cores);
   term[AGXS_TERM_COMPLEX] = (double)counts->complex_pipe * times / (SCHEDULERS * cores);
   term[AGXS_TERM_LSU] = (double)counts->lsu * times / cores;
   term[AGXS_TERM_REFETCH] = (double)counts->refetch * times / (SCHEDULERS * cores);
   term[AGXS_TERM_TRAFFIC] =
      (double)counts->lines * AGXS_LINE_BYTES * times / (BYTES_PER_CYCLE * cores);
   term[AGXS_TERM_LATENCY] =
      (double)(counts->issue + counts->stall) * times / (double)model.concurrency;
   term[AGXS_TERM_LONGEST] = (double)counts->longest;
   for (unsigned i = 0; i < AGXS_TERM_COUNT; i++) {
      if (term[i] > term[model.bound])
         model.bound = (enum agxs_term)i;
   }
   model.cold = (double)counts->code_lines * AGXS_CODE_LINE_COST;
   model.main = term[model.bound] + model.cold;
   model.total += model.main;
   return model;
}
