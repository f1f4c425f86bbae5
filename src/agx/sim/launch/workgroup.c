/* SPDX-License-Identifier: MIT
 *
 * Runs one workgroup: starts its SIMD-groups with poisoned registers and memory, and gives
 * them turns until all have ended. dispatch.c calls it; chaos.c starts workgroups with it
 * and gives turns itself.
 */
#include <stdlib.h>
#include <time.h>

#include "agx/sim/check/check.h"
#include "agx/sim/check/profile.h"
#include "agx/sim/check/shadow.h"
#include "agx/sim/image/image.h"
#include "agx/sim/launch/launch_impl.h"
#include "agx/sim/machine/floats.h"
#include "agx/sim/machine/kernel.h"
#include "agx/sim/machine/lanes.h"
#include "base/util.h"

#define SHARED_PAD     64
#define CHUNK_ELEMENTS (AGXS_CHUNK_WORDS * AGXS_LANES)
/* Of one workgroup: 256 MiB. */
#define MAX_STACK_WORDS (64u << 20)

agx_status agxs_worker_init(struct agxs_worker *worker, const struct agxs_memory *memory)
{
   agxs_tlb_init(&worker->tlb, memory);
   worker->shared = aligned_alloc(64, AGX_MAX_SHARED_BYTES + SHARED_PAD);
   if (!worker->shared)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "worker: out of memory");
   return AGX_OK;
}

void agxs_worker_fini(struct agxs_worker *worker)
{
   agxs_profile_free(worker);
   agxs_shadow_fini(worker);
   agxs_worker_drop_extensions(worker);
   free(worker->groups);
   free(worker->registers);
   free(worker->shared);
   free(worker->stack);
   free(worker->stack_chunks);
   agxs_image_cache_free(worker->images);
   worker->images = NULL;
   worker->groups = NULL;
   worker->registers = NULL;
   worker->shared = NULL;
   worker->stack = NULL;
   worker->stack_chunks = NULL;
   worker->group_capacity = worker->row_capacity = 0;
   worker->stack_capacity = worker->chunk_capacity = 0;
}

static uint32_t threads_of(const struct agxs_dispatch *dispatch)
{
   return dispatch->local[0] * dispatch->local[1] * dispatch->local[2];
}

uint32_t agxs_worker_groups(const struct agxs_worker *worker)
{
   return (uint32_t)agx_div_up(threads_of(worker->dispatch), AGXS_LANES);
}

/* Memory of at least count elements in place of *memory, whose content is lost. */
static agx_status make_room(void **memory, uint64_t *capacity, uint64_t count, size_t size)
{
   if (count <= *capacity)
      return AGX_OK;
   free(*memory);
   *capacity = 0;
   *memory = aligned_alloc(64, agx_align_up(count * size, 64));
   if (!*memory)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "worker: out of memory");
   *capacity = count;
   return AGX_OK;
}

/* Chunks of the stack of one SIMD-group. */
static uint32_t chunks_of(const struct agxs_dispatch *dispatch)
{
   return (uint32_t)agx_div_up(dispatch->stack_words, AGXS_CHUNK_WORDS);
}

agx_status agxs_worker_begin(struct agxs_worker *worker, const struct agxs_dispatch *dispatch)
{
   uint64_t groups = agx_div_up(threads_of(dispatch), AGXS_LANES);
   uint64_t rows = groups * ((dispatch->kernel->request.halves + 1) / 2);
   uint64_t words = groups * AGXS_LANES * dispatch->stack_words;
   uint64_t chunks = groups * chunks_of(dispatch);
   agxs_worker_drop_extensions(worker);
   worker->dispatch = dispatch;
   worker->image_observer =
      dispatch->options->check || dispatch->options->profile ? &agxs_check_image_observer : NULL;
   if (words > MAX_STACK_WORDS)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED,
                      "dispatch %u: %u words of stack for each of %u threads are more than the "
                      "simulator gives a workgroup",
                      dispatch->index, dispatch->stack_words, threads_of(dispatch));
   AGX_TRY(make_room((void **)&worker->groups, &worker->group_capacity, groups,
                     sizeof(struct agxs_group)));
   AGX_TRY(
      make_room((void **)&worker->registers, &worker->row_capacity, rows, sizeof(struct agxs_row)));
   AGX_TRY(make_room((void **)&worker->stack_chunks, &worker->chunk_capacity, chunks,
                     sizeof(uint32_t *)));
   if (!dispatch->helpers)
      AGX_TRY(make_room((void **)&worker->stack, &worker->stack_capacity, chunks * CHUNK_ELEMENTS,
                        sizeof(uint32_t)));
   if (dispatch->options->check)
      AGX_TRY(agxs_shadow_begin(worker, groups, rows, words));
   return dispatch->options->profile ? agxs_profile_begin(worker) : AGX_OK;
}

/* Lanes of a SIMD-group that have a thread inside the grid. */
static uint32_t lanes_inside(const struct agxs_worker *worker, uint32_t index)
{
   const struct agxs_dispatch *dispatch = worker->dispatch;
   const uint32_t *local = dispatch->local;
   uint32_t threads = threads_of(dispatch), first = index * AGXS_LANES, lanes = 0;
   for (unsigned lane = 0; lane < AGXS_LANES && first + lane < threads; lane++) {
      uint32_t flat = first + lane;
      uint32_t at[3] = {flat % local[0], flat / local[0] % local[1], flat / local[0] / local[1]};
      bool is_inside = true;
      for (unsigned axis = 0; axis < 3; axis++)
         is_inside &=
            (uint64_t)worker->workgroup[axis] * local[axis] + at[axis] < dispatch->grid[axis];
      lanes |= (uint32_t)is_inside << lane;
   }
   return lanes;
}

static bool is_whole(const struct agxs_worker *worker)
{
   const struct agxs_dispatch *dispatch = worker->dispatch;
   for (unsigned axis = 0; axis < 3; axis++) {
      uint64_t end = ((uint64_t)worker->workgroup[axis] + 1) * dispatch->local[axis];
      if (end > dispatch->grid[axis])
         return false;
   }
   return threads_of(dispatch) % AGXS_LANES == 0;
}

static void poison_rows(struct agxs_row *rows, uint32_t count)
{
   for (uint32_t row = 0; row < count; row++) {
      AGXS_FOR_LANES (i)
         rows[row].lane[i] = AGXS_POISON;
   }
}

/* The memory of a stack, from the helper program or, without one, the worker's own. */
static agx_status start_stack(struct agxs_group *group)
{
   struct agxs_worker *worker = group->worker;
   const struct agxs_dispatch *dispatch = worker->dispatch;
   const uint32_t chunks = chunks_of(dispatch);
   if (!chunks)
      return AGX_OK;
   group->stack_chunks = worker->stack_chunks + (size_t)group->index * chunks;
   if (dispatch->helpers) {
      AGX_TRY(group->exists ? agxs_stack_alloc(group) : AGX_OK);
   } else {
      uint32_t *own = worker->stack + (size_t)group->index * chunks * CHUNK_ELEMENTS;
      for (uint32_t i = 0; i < chunks; i++)
         group->stack_chunks[i] = own + (size_t)i * CHUNK_ELEMENTS;
      group->stack_given = group->stack_words;
   }
   for (uint32_t word = 0; word < group->stack_given; word++) {
      uint32_t *row = agxs_stack_row(group, word);
      AGXS_FOR_LANES (i)
         row[i] = AGXS_POISON;
   }
   return AGX_OK;
}

agx_status agxs_group_start(struct agxs_worker *worker, uint32_t index, uint32_t exists)
{
   const struct agxs_dispatch *dispatch = worker->dispatch;
   const struct agxs_kernel *kernel = dispatch->kernel;
   struct agxs_group *group = &worker->groups[index];
   uint32_t rows = (kernel->request.halves + 1) / 2;
   memset(group, 0, sizeof(*group));
   group->regs = worker->registers + (size_t)index * rows;
   group->bank[AGXS_BANK_REG] = group->regs;
   group->bank[AGXS_BANK_POOL] = dispatch->pool;
   group->exists = group->active = exists;
   AGXS_FOR_LANES (i)
      group->exec.lane[i] = group->lives.lane[i] = 0u - (exists >> i & 1);
   group->worker = worker;
   group->kernel = kernel;
   group->index = index;
   group->next = exists ? kernel->uops : NULL; /* the entry is the first uop */
   group->state = exists ? AGXS_GROUP_READY : AGXS_GROUP_DONE;
   group->stack_words = dispatch->stack_words;
   poison_rows(group->regs, rows);
   if (dispatch->options->check)
      agxs_shadow_start_group(group, rows);
   worker->stats.simd_groups += exists != 0;
   worker->stats.threads += (unsigned)__builtin_popcount(exists);
   return start_stack(group);
}

/* Runs every group that can run for a time slice; *out_left counts those that are not done. */
static agx_status run_round(struct agxs_worker *worker, uint32_t count, uint32_t *out_left)
{
   uint32_t waiting = 0, ready = 0;
   for (uint32_t i = 0; i < count; i++) {
      struct agxs_group *group = &worker->groups[i];
      if (group->state == AGXS_GROUP_READY)
         agxs_group_run(group);
      if (group->state == AGXS_GROUP_FAILED)
         return group->status;
      waiting += group->state == AGXS_GROUP_AT_BARRIER;
      ready += group->state == AGXS_GROUP_READY;
   }
   /* All that live have come to the barrier: on. */
   for (uint32_t i = 0; i < count && waiting && !ready; i++) {
      struct agxs_group *group = &worker->groups[i];
      if (group->state == AGXS_GROUP_AT_BARRIER)
         group->state = AGXS_GROUP_READY;
   }
   *out_left = waiting + ready;
   return AGX_OK;
}

uint32_t agxs_core_at(const struct agx_chip *chip, uint64_t index)
{
   const uint32_t per_cluster = AGX_MAX(chip->cores_per_cluster, 1u);
   const uint32_t at = (uint32_t)(index % (AGX_MAX(chip->clusters, 1u) * per_cluster));
   return agx_core_number(per_cluster, at / per_cluster, at % per_cluster);
}

/* Counted along x first. */
static uint64_t workgroup_index(const struct agxs_dispatch *dispatch, const uint32_t workgroup[3])
{
   const uint64_t wide = agx_div_up(dispatch->grid[0], dispatch->local[0]);
   const uint64_t high = agx_div_up(dispatch->grid[1], dispatch->local[1]);
   return workgroup[0] + wide * (workgroup[1] + high * workgroup[2]);
}

agx_status agxs_worker_enter(struct agxs_worker *worker, const uint32_t workgroup[3])
{
   uint32_t count = agxs_worker_groups(worker);
   agxs_tlb_refresh(&worker->tlb);
   memcpy(worker->workgroup, workgroup, sizeof(worker->workgroup));
   memset(worker->shared, AGXS_POISON_BYTE, worker->dispatch->shared_bytes);
   if (worker->dispatch->options->check)
      agxs_shadow_start_workgroup(worker);
   bool whole = is_whole(worker);
   if (!worker->has_core)
      worker->core =
         agxs_core_at(worker->dispatch->chip, workgroup_index(worker->dispatch, workgroup));
   for (uint32_t i = 0; i < count; i++)
      AGX_TRY(agxs_group_start(worker, i, whole ? ~0u : lanes_inside(worker, i)));
   worker->stats.workgroups++;
   return AGX_OK;
}

bool agxs_is_overdue(const struct agxs_options *options)
{
   struct timespec now;
   if (!options->deadline_ns)
      return false;
   clock_gettime(CLOCK_MONOTONIC, &now);
   return now.tv_sec * 1000000000ll + now.tv_nsec >= options->deadline_ns;
}

static agx_status run_workgroup(struct agxs_worker *worker, const uint32_t workgroup[3])
{
   uint32_t count = agxs_worker_groups(worker), left;
   AGX_TRY(agxs_worker_enter(worker, workgroup));
   if (worker->profile)
      agxs_profile_enter(worker);
   do {
      const atomic_bool *cancel = worker->dispatch->options->cancel;
      if (cancel && atomic_load_explicit(cancel, memory_order_relaxed))
         return AGX_FAIL(AGX_CANCELLED, "dispatch %u: cancelled", worker->dispatch->index);
      if (agxs_is_overdue(worker->dispatch->options))
         return AGX_FAIL(AGX_DEADLINE_EXCEEDED, "dispatch %u: over the time limit",
                         worker->dispatch->index);
      AGX_TRY(run_round(worker, count, &left));
   } while (left);
   if (worker->profile)
      agxs_profile_leave(worker);
   return AGX_OK;
}

/* One workgroup at a time has a core whose helper program it needs: as many stacks as it takes
 * are sure to be there then, in whatever order workgroups are taken up. */
agx_status agxs_worker_run(struct agxs_worker *worker, const uint32_t workgroup[3])
{
   const struct agxs_dispatch *dispatch = worker->dispatch;
   struct agxs_helpers *helpers = dispatch->stack_words ? dispatch->helpers : NULL;
   if (!helpers)
      return run_workgroup(worker, workgroup);
   const uint32_t core = agxs_core_at(dispatch->chip, workgroup_index(dispatch, workgroup));
   agxs_helpers_enter(helpers, core);
   agx_status status = run_workgroup(worker, workgroup);
   agxs_helpers_leave(helpers, core);
   return status;
}

/* The loop over the uops of one SIMD-group, in three forms: plain, with check mode's rules
 * around each instruction, and with counting for statistics. run_workgroup and chaos.c call it,
 * one time slice after the other. */

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
   if (group->state == AGXS_GROUP_DONE && group->has_blocks &&
       (group->status = agxs_stack_free(group)) != AGX_OK)
      group->state = AGXS_GROUP_FAILED;
   if (group->state == AGXS_GROUP_READY && limit && group->instructions >= limit)
      agxs_group_fail(group, group->next, AGX_DEADLINE_EXCEEDED,
                      "more instructions than a SIMD-group may take");
}
