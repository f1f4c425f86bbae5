/* SPDX-License-Identifier: MIT
 *
 * How a SIMD-group reports what went wrong: soft faults, accesses out of bounds, and failures
 * that stop it. Execution, decoding of code behind register jumps, image accesses and checking
 * call in here; the text names the launch, the workgroup, the place in the code and the
 * instruction.
 */
#include "agx/sim/machine/machine.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "agx/sim/machine/kernel.h"

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
