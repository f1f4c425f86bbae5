/* SPDX-License-Identifier: MIT
 *
 * Runs a compute stream: the walk of agx/hw/decode.h gives one launch after the
 * other, each runs to its end before the next is read, so a barrier has nothing
 * left to order. Streams are hostile; the walk limits and checks them, here
 * sizes from memory are checked.
 */
#include "agx/sim/sim.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "agx/sim/check/bounds.h"
#include "agx/sim/exec/exec.h"
#include "agx/sim/launch/chaos.h"
#include "agx/sim/launch/launch.h"
#include "base/util.h"

static bool read_for_walk(void *user, uint64_t va, void *out, size_t size)
{
   return agxs_run_read(user, va, out, size, "stream") == AGX_OK;
}

/* Workgroup counts, or thread counts and local sizes, from memory. Counts of
 * workgroups become counts of threads, as in direct launches. */
agx_status agxs_run_sizes(struct agxs_run *run, struct agx_hw_launch *launch)
{
   uint8_t bytes[24];
   bool is_all = launch->mode == AGX_HW_CDM_MODE_INDIRECT_LOCAL;
   AGX_TRY(
      agxs_run_read(run, launch->indirect_address, bytes, is_all ? 24 : 12, "indirect parameters"));
   for (unsigned axis = 0; axis < 3; axis++) {
      uint32_t size = agxs_get_le32(bytes + 4 * axis);
      if (is_all)
         launch->local[axis] = agxs_get_le32(bytes + 12 + 4 * axis);
      else if (__builtin_mul_overflow(size, launch->local[axis], &size))
         return AGX_FAIL(AGX_INVALID_ARGUMENT,
                         "dispatch %" PRIu64 ": indirect workgroup count times local size exceeds "
                         "32 bits",
                         run->stats.dispatches);
      launch->global[axis] = size;
   }
   return AGX_OK;
}

static agx_status run_one(void *user, const struct agx_hw_launch *launch,
                          const struct agx_hw_usc_info *program)
{
   struct agxs_run *run = user;
   struct agx_hw_launch sized = *launch;
   if (run->chaos)
      return agxs_chaos_add(run, launch, program);
   if (launch->mode != AGX_HW_CDM_MODE_DIRECT)
      AGX_TRY(agxs_run_sizes(run, &sized));
   AGX_TRY(agxs_run_launch(run, &sized, program));
   run->stats.dispatches++;
   return AGX_OK;
}

/* Check mode: what single selectors do is unknown, so only the sets that a known driver has
 * used are relied on. Source: docs/hw/cmdstream.md 1.2. */
static agx_status check_barrier(struct agxs_run *run, uint64_t va)
{
   static const uint32_t known[] = {0xfffff, 0x160, 0x170};
   uint8_t bytes[4];
   AGX_TRY(agxs_run_read(run, va, bytes, sizeof(bytes), "barrier"));
   uint32_t selectors = agxs_get_le32(bytes) & 0x7ffffff; /* bit 27: return */
   for (unsigned i = 0; i < AGX_COUNT(known); i++) {
      if (selectors == known[i])
         return AGX_OK;
   }
   return AGX_FAIL(AGX_FAILED_PRECONDITION,
                   "check: the barrier at 0x%" PRIx64 " selects 0x%x, and no source says what "
                   "that orders; use 0x600fffff",
                   va, selectors);
}

/* A barrier has something to order in chaos only. */
static agx_status see_packet(void *user, const struct agx_hw_packet *packet, uint64_t va,
                             const void *values)
{
   struct agxs_run *run = user;
   if (run->options->check && packet == &agx_hw_cdm_barrier_packet)
      AGX_TRY(check_barrier(run, va));
   return run->chaos && packet == &agx_hw_cdm_barrier_packet ? agxs_chaos_barrier(run) : AGX_OK;
}

static agx_status walk_stream(struct agxs_run *run, uint64_t stream_va)
{
   const struct agx_hw_reader reader = {.user = run, .read = read_for_walk};
   const struct agx_hw_visitor visitor = {.user = run, .packet = see_packet, .launch = run_one};
   if (stream_va & 3)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "stream at 0x%" PRIx64 ": not 4-aligned", stream_va);
   AGX_TRY(agx_hw_walk_cdm(run->chip, &reader, run->usc_base, stream_va, &visitor));
   return run->chaos ? agxs_chaos_barrier(run) : AGX_OK;
}

agx_status agxs_run_compute(const struct agx_chip *chip, const struct agxs_memory *memory,
                            const struct agxs_options *options, uint64_t usc_base,
                            uint64_t stream_va, struct agxs_stats *out_stats)
{
   struct agxs_options own = *options;
   own.profile &= options->chaos_seed == 0;
   struct agxs_run run = {
      .chip = chip,
      .memory = memory,
      .options = &own,
      .usc_base = usc_base,
      .set = options->exec_set ? options->exec_set : agxs_exec_best(),
   };
   if (out_stats)
      memset(out_stats, 0, sizeof(*out_stats));
   AGX_TRY(agxs_pool_create(memory, options->thread_count, &run.pool));
   agx_status status = options->chaos_seed ? agxs_chaos_create(&run) : AGX_OK;
   if (options->ranges) {
      agxs_bounds_exec_set(run.set, &run.bounds_set);
      run.inner_set = run.set;
      run.set = &run.bounds_set;
   }
   if (status == AGX_OK)
      status = walk_stream(&run, stream_va);
   agxs_chaos_destroy(&run);
   agxs_pool_stats(run.pool, &run.stats);
   agxs_pool_destroy(run.pool);
   for (unsigned i = 0; i < AGXS_KERNEL_CACHE; i++)
      agxs_kernel_destroy(run.kernels[i]);
   free(run.rows);
   if (out_stats)
      *out_stats = run.stats;
   return status;
}
