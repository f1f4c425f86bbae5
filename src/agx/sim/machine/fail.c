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

/* Where the group is, for messages; lane < 0: no matter which. */
static void print_place(const struct agxs_group *group, const struct agxs_uop *uop, int lane,
                        char *text, size_t capacity)
{
   const struct agxs_worker *worker = group->worker;
   const struct agxs_kernel_request *request = &group->kernel->request;
   char thread[32] = "";
   if (lane >= 0)
      snprintf(thread, sizeof(thread), "thread %u, ", group->index * AGXS_LANES + (unsigned)lane);
   if (request->is_helper)
      snprintf(text, capacity, "helper program of core %u, pc 0x%x", worker->core,
               pc_of(group, uop));
   else
      snprintf(text, capacity, "dispatch %u, workgroup %u,%u,%u, %s%s pc 0x%x",
               worker->dispatch->index, worker->workgroup[0], worker->workgroup[1],
               worker->workgroup[2], thread, request->is_preamble ? "preamble" : "kernel",
               pc_of(group, uop));
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
   char why[240], text[200], place[160];
   va_list arguments;
   va_start(arguments, format);
   vsnprintf(why, sizeof(why), format, arguments);
   va_end(arguments);
   agxs_kernel_text(group->kernel, uop, text, sizeof(text));
   group->state = AGXS_GROUP_FAILED;
   if (code == AGX_DATA_LOSS)
      agxs_group_report(group, uop, AGXS_FAULT_HARD,
                        group->kernel->request.usc_base + pc_of(group, uop), 0, 0, "shader");
   print_place(group, uop, -1, place, sizeof(place));
   group->status = AGX_FAIL(code, "%s: %s: %s", place, text[0] ? text : "(no instruction)", why);
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
   char text[200], place[160];
   agxs_kernel_text(group->kernel, uop, text, sizeof(text));
   print_place(group, uop, (int)lane, place, sizeof(place));
   group->state = AGXS_GROUP_FAILED;
   group->status = AGX_FAIL(AGX_DATA_LOSS, "%s at 0x%" PRIx64 " is not mapped so: %s: %s", what, va,
                            place, text);
   return false;
}
