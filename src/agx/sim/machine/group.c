/* SPDX-License-Identifier: MIT
 *
 * Running one SIMD-group: the loop over uops, and how it fails and faults.
 */
#include "agx/sim/machine/machine.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "agx/sim/exec/host_float.h"
#include "agx/sim/machine/kernel.h"
#include "agx/sim/check/reach.h"
#include "agx/sim/check/profile.h"
#include "base/util.h"

static uint32_t pc_of(const struct agxs_group *group, const struct agxs_uop *uop)
{
   return group->kernel->info[uop - group->kernel->uops].pc;
}

void agxs_group_report(const struct agxs_group *group, const struct agxs_uop *uop,
                       enum agxs_fault_kind kind, uint64_t va, uint64_t bytes, unsigned lane,
                       const char *what)
{
   const struct agxs_worker *worker = group->worker;
   const struct agxs_options *options = worker->dispatch->options;
   if (!options->on_fault)
      return;
   struct agxs_fault fault = {
      .kind = kind,
      .va = va,
      .bytes = bytes,
      .dispatch = worker->dispatch->index,
      .pc = pc_of(group, uop),
      .workgroup = {worker->workgroup[0], worker->workgroup[1], worker->workgroup[2]},
      .lane_flat = group->index * AGXS_LANES + lane,
      .what = what,
   };
   options->on_fault(options->user, &fault);
}

const struct agxs_uop *agxs_group_fail(struct agxs_group *group, const struct agxs_uop *uop,
                                       agx_status code, const char *format, ...)
{
   const struct agxs_worker *worker = group->worker;
   char why[240], text[200];
   va_list arguments;
   va_start(arguments, format);
   vsnprintf(why, sizeof(why), format, arguments);
   va_end(arguments);
   agxs_kernel_text(group->kernel, uop, text, sizeof(text));
   group->state = AGXS_GROUP_FAILED;
   if (code == AGX_DATA_LOSS)
      agxs_group_report(group, uop, AGXS_FAULT_HARD,
                        group->kernel->request.usc_base + pc_of(group, uop), 0, 0, "shader");
   group->status =
      AGX_FAIL(code, "dispatch %u, workgroup %u,%u,%u, %s pc 0x%x: %s: %s", worker->dispatch->index,
               worker->workgroup[0], worker->workgroup[1], worker->workgroup[2],
               group->kernel->request.is_preamble ? "preamble" : "kernel", pc_of(group, uop),
               text[0] ? text : "(no instruction)", why);
   return NULL;
}

bool agxs_group_fault(struct agxs_group *group, const struct agxs_uop *uop,
                      enum agxs_fault_kind kind, uint64_t va, unsigned bytes, unsigned lane,
                      const char *what)
{
   const struct agxs_options *options = group->worker->dispatch->options;
   group->worker->stats.soft_faults++;
   agxs_group_report(group, uop, options->strict ? AGXS_FAULT_HARD : kind, va, bytes, lane, what);
   if (!options->strict)
      return true;
   char text[200];
   agxs_kernel_text(group->kernel, uop, text, sizeof(text));
   const struct agxs_worker *worker = group->worker;
   group->state = AGXS_GROUP_FAILED;
   group->status = AGX_FAIL(
      AGX_DATA_LOSS,
      "%s at 0x%" PRIx64 " is not mapped so: dispatch %u, workgroup %u,%u,%u, thread %u, %s pc "
      "0x%x: %s",
      what, va, worker->dispatch->index, worker->workgroup[0], worker->workgroup[1],
      worker->workgroup[2], group->index * AGXS_LANES + lane,
      group->kernel->request.is_preamble ? "preamble" : "kernel", pc_of(group, uop), text);
   return false;
}

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
   uint32_t own_turn = group->worker->turn;
   uint64_t turn = AGX_MIN(left, own_turn ? own_turn : AGXS_TURN);
   group->state = AGXS_GROUP_READY;
   bool flushed = agxs_host_flush(true);
   uint64_t count = run_stretch(group, turn, units);
   while (group->next_kernel && group->state == AGXS_GROUP_READY && count < turn) {
      agxs_group_move(group);
      count += run_stretch(group, turn - count, units);
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
