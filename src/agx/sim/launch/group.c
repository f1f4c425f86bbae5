/* SPDX-License-Identifier: MIT
 *
 * The loop over the uops of one SIMD-group, in three forms: plain, with check mode's rules
 * around each instruction, and with counting for statistics. workgroup.c and chaos.c call it,
 * one time slice after the other.
 */
#include "agx/sim/launch/group.h"

#include "agx/sim/check/check.h"
#include "agx/sim/check/profile.h"
#include "agx/sim/machine/host_float.h"
#include "agx/sim/machine/reach.h"
#include "base/util.h"

/* The loops run until the group stops or has executed `left` uops; they return how
 * many, and leave in group->next where to go on. This one doesn't count units. */
static uint64_t run_plain(struct agxs_group *group, uint64_t left)
{
   const struct agxs_uop *uop = group->next;
   for (uint64_t count = 0; count < left; count++) {
      uop = uop->exec(group, uop);
      if (!uop)
         return count + 1;
   }
   group->next = uop;
   return left;
}

static uint64_t run_checked(struct agxs_group *group, uint64_t left, uint64_t *units)
{
   const struct agxs_uop *uop = group->next;
   uint64_t count = 0;
   while (count < left) {
      if (!agxs_check_before(group, uop))
         return count;
      const struct agxs_uop *next = uop->exec(group, uop);
      count++;
      units[uop->unit]++;
      agxs_check_after(group, uop);
      if (!next)
         return count;
      uop = next;
   }
   group->next = uop;
   return count;
}

/* Counts, and checks when that is asked for too. */
static uint64_t run_profiled(struct agxs_group *group, uint64_t left, uint64_t *units)
{
   const bool check = group->worker->dispatch->options->check;
   const struct agxs_uop *uop = group->next;
   uint64_t count = 0;
   while (count < left) {
      if (check && !agxs_check_before(group, uop))
         return count;
      agxs_profile_before(group, uop);
      const struct agxs_uop *next = uop->exec(group, uop);
      count++;
      units[uop->unit]++;
      if (check)
         agxs_check_after(group, uop);
      if (!agxs_profile_after(group, uop) || !next)
         return count;
      uop = next;
   }
   group->next = uop;
   return count;
}

/* One stretch in the same code. What is outside of the launch's own kernel is not profiled. */
static uint64_t run_stretch(struct agxs_group *group, uint64_t left, uint64_t *units)
{
   const struct agxs_worker *worker = group->worker;
   if (worker->profile && group->kernel == worker->dispatch->kernel)
      return run_profiled(group, left, units);
   return worker->dispatch->options->check ? run_checked(group, left, units)
                                           : run_plain(group, left);
}

void agxs_group_run(struct agxs_group *group)
{
   const struct agxs_options *options = group->worker->dispatch->options;
   struct agxs_stats *stats = &group->worker->stats;
   uint64_t units[AGXS_UNIT_LINK + 1] = {0};
   uint64_t limit = options->max_instructions_per_group;
   uint64_t left = limit ? limit - group->instructions : UINT64_MAX;
   uint32_t own_slice = group->worker->slice;
   uint64_t slice = AGX_MIN(left, own_slice ? own_slice : AGXS_SLICE);
   group->state = AGXS_GROUP_READY;
   bool flushed = agxs_host_flush(true);
   uint64_t count = run_stretch(group, slice, units);
   while (group->next_kernel && group->state == AGXS_GROUP_READY && count < slice) {
      agxs_group_move(group);
      count += run_stretch(group, slice - count, units);
   }
   agxs_group_move(group);
   agxs_host_flush(flushed);
   count -= group->links;
   group->links = 0;
   group->instructions += count;
   stats->instructions += count;
   for (unsigned i = 0; i < AGXS_UNITS; i++)
      stats->unit_instructions[i] += units[i];
   if (group->state == AGXS_GROUP_READY && limit && group->instructions >= limit)
      agxs_group_fail(group, group->next, AGX_DEADLINE_EXCEEDED,
                      "more instructions than a SIMD-group may take");
}
