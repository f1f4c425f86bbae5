/* SPDX-License-Identifier: MIT
 *
 * Counting, keeping and showing faults. A kernel that runs wild makes millions, so
 * only the first few of a command are kept and shown, hard ones always.
 */
#include "winsys/virtual/gpu/faultlog.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/util.h"
#include "winsys/virtual/mm/vm.h"
#include "winsys/virtual/sync/watch.h"

#define SHOWN_FAULTS 4u /* of one command that are kept one by one, for each kind of soft ones */

static const char *fault_name(enum agxs_fault_kind kind)
{
   static const char *const names[] = {
      [AGXS_FAULT_SOFT_LOAD] = "soft fault, read 0",
      [AGXS_FAULT_SOFT_STORE] = "soft fault, write dropped",
      [AGXS_FAULT_HARD] = "fault",
      [AGXS_FAULT_BOUNDS] = "outside of what the dispatch may access",
   };
   return (size_t)kind < AGX_COUNT(names) ? names[kind] : "fault";
}

static void keep(struct agxv_execution *execution, const struct agxs_fault *fault)
{
   struct agx_virtual_node *node = execution->node;
   agxv_lock(node);
   struct agxv_shared *shared = node->shared;
   struct agx_virtual_fault *to = &shared->faults[shared->fault_count++ % AGXV_KEPT_FAULTS];
   *to = (struct agx_virtual_fault){
      .submission = execution->number,
      .va = fault->va,
      .pc = fault->pc,
      .bytes = fault->bytes,
      .command = execution->command,
      .dispatch = fault->dispatch,
      .thread = fault->lane_flat,
      .is_hard = fault->kind == AGXS_FAULT_HARD,
   };
   memcpy(to->workgroup, fault->workgroup, sizeof(to->workgroup));
   snprintf(to->access, sizeof(to->access), "%s", fault->what ? fault->what : "access");
   shared->hard_faults += to->is_hard;
   bool decides = to->is_hard || fault->kind == AGXS_FAULT_BOUNDS;
   if (decides && (!execution->has_fault || (to->is_hard && !execution->fault.is_hard))) {
      execution->fault = *to;
      execution->has_fault = true;
   }
   agxv_unlock(node);
}

void agxv_note_failure(const struct agxv_execution *execution, int32_t error, uint32_t dispatch,
                       const char *text)
{
   struct agx_virtual_node *node = execution->node;
   agxv_lock(node);
   struct agxv_shared *shared = node->shared;
   uint64_t serial = ++shared->failed_count;
   struct agxv_failed *to = &shared->failed[(serial - 1) % AGXV_KEPT_FAILURES];
   *to = (struct agxv_failed){
      .file = AGXV_AT(node, agxv_file, execution->vm->file)->serial,
      .failure =
         {
            .serial = serial,
            .submission = execution->number,
            .stream_va = execution->stream_va,
            .queue = execution->queue,
            .command = execution->command,
            .error = error,
            .dispatch = execution->has_fault ? execution->fault.dispatch : dispatch,
            .has_fault = execution->has_fault,
            .fault = execution->fault,
         },
   };
   snprintf(to->failure.text, sizeof(to->failure.text), "%s", text);
   agxv_unlock(node);
}

bool agx_virtual_take_failure(struct agx_virtual_file *file, uint64_t first_va, uint64_t last_va,
                              struct agx_virtual_failure *out_failure)
{
   struct agx_virtual_node *node = file->node;
   bool found = false;
   agxv_lock(node);
   struct agxv_shared *shared = node->shared;
   uint64_t own = AGXV_AT(node, agxv_file, file->ref)->serial;
   uint64_t kept = AGX_MIN(shared->failed_count, AGXV_KEPT_FAILURES);
   for (uint64_t i = shared->failed_count - kept; i < shared->failed_count && !found; i++) {
      struct agxv_failed *it = &shared->failed[i % AGXV_KEPT_FAILURES];
      found =
         it->file == own && it->failure.stream_va >= first_va && it->failure.stream_va <= last_va;
      if (found) {
         *out_failure = it->failure;
         it->file = 0;
      }
   }
   agxv_unlock(node);
   return found;
}

static _Atomic uint64_t *counter_of(struct agxv_execution *execution, enum agxs_fault_kind kind)
{
   switch (kind) {
   case AGXS_FAULT_SOFT_LOAD:
      return &execution->soft_loads;
   case AGXS_FAULT_SOFT_STORE:
      return &execution->soft_stores;
   case AGXS_FAULT_BOUNDS:
      return &execution->outside;
   default:
      return NULL;
   }
}

void agxv_note_fault(void *user, const struct agxs_fault *fault)
{
   struct agxv_execution *execution = user;
   _Atomic uint64_t *counter = counter_of(execution, fault->kind);
   uint64_t before = counter ? atomic_fetch_add(counter, 1) : 0;
   char text[AGXV_FAULT_TEXT_BYTES], bytes[32] = "";
   if (before >= SHOWN_FAULTS)
      return;
   if (fault->bytes)
      snprintf(bytes, sizeof(bytes), ", %" PRIu64 " bytes", fault->bytes);
   snprintf(text, sizeof(text),
            "dispatch %u: %s (%s) at address 0x%" PRIx64
            "%s, workgroup %u,%u,%u, thread %u, pc 0x%" PRIx64,
            fault->dispatch, fault_name(fault->kind), fault->what ? fault->what : "access",
            fault->va, bytes, fault->workgroup[0], fault->workgroup[1], fault->workgroup[2],
            fault->lane_flat, fault->pc);
   if (fault->kind == AGXS_FAULT_BOUNDS && before == 0)
      memcpy(execution->first_outside, text, sizeof(text));
   keep(execution, fault);
   agxv_report(execution->node, "submission %" PRIu64 ", command %u, %s", execution->number,
               execution->command, text);
}

void agxv_note_soft_faults(struct agxv_execution *execution)
{
   struct agxv_shared *shared = execution->node->shared;
   shared->soft_loads += atomic_load(&execution->soft_loads);
   shared->soft_stores += atomic_load(&execution->soft_stores);
   shared->outside += atomic_load(&execution->outside);
}

void agx_virtual_read_statistics(struct agx_virtual_node *node,
                                 struct agx_virtual_statistics *out_statistics)
{
   agxv_lock(node);
   const struct agxv_shared *shared = node->shared;
   node->sweep_at = 0; /* what clients closed counts no more */
   agxv_record_sweep(node);
   node->calls->reap(node);
   *out_statistics = (struct agx_virtual_statistics){
      .submissions = shared->submissions,
      .failures = shared->failures,
      .timeouts = shared->timeouts,
      .cancelled = shared->cancelled,
      .soft_loads = shared->soft_loads,
      .soft_stores = shared->soft_stores,
      .hard_faults = shared->hard_faults,
      .outside = shared->outside,
      .injected = shared->injected,
      .pads = shared->pads,
      .renders = shared->renders,
      .memory_bytes = shared->pages_used << AGXV_PAGE_LOG2,
      .blocks = shared->blocks_used,
   };
   agxv_unlock(node);
}

size_t agx_virtual_read_faults(struct agx_virtual_node *node, struct agx_virtual_fault *faults,
                               size_t capacity)
{
   agxv_lock(node);
   const struct agxv_shared *shared = node->shared;
   uint64_t kept = AGX_MIN(shared->fault_count, AGXV_KEPT_FAULTS);
   size_t count = AGX_MIN(kept, capacity);
   for (size_t i = 0; i < count; i++)
      faults[i] = shared->faults[(shared->fault_count - count + i) % AGXV_KEPT_FAULTS];
   agxv_unlock(node);
   return count;
}

void agxv_show_statistics(struct agx_virtual_node *node)
{
   struct agx_virtual_statistics it;
   if (!node->options.trace)
      return;
   agx_virtual_read_statistics(node, &it);
   agxv_trace(node,
              "%" PRIu64 " submissions, %" PRIu64 " failed (%" PRIu64 " timeouts, %" PRIu64
              " cancelled); soft faults: %" PRIu64 " loads, %" PRIu64 " stores; %" PRIu64
              " hard faults; %" PRIu64 " out of bounds; %" PRIu64 " injected; %" PRIu64
              " render commands not executed",
              it.submissions, it.failures, it.timeouts, it.cancelled, it.soft_loads, it.soft_stores,
              it.hard_faults, it.outside, it.injected, it.renders);
}
