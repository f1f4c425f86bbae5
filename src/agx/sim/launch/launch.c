/* SPDX-License-Identifier: MIT
 *
 * Prepares one launch: checks its sizes, loads uniforms and descriptors, decodes and runs
 * its preamble, finds its kernel in a cache. agxs_run_compute, at the end, walks a stream and
 * runs its launches; chaos.c prepares them with it.
 */
#include "agx/sim/launch/launch_impl.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "agx/sim/check/check.h"
#include "agx/sim/check/profile.h"
#include "agx/sim/exec/exec.h"
#include "agx/sim/sim.h"
#include "base/float_env.h"
#include "base/util.h"

agx_status agxs_run_read(struct agxs_run *run, uint64_t va, void *bytes, uint64_t length,
                         const char *what)
{
   uint64_t bad_va;
   if (agxs_tlb_copy_out(&agxs_pool_worker(run->pool)->tlb, va, bytes, length, &bad_va))
      return AGX_OK;
   struct agxs_fault fault = {.kind = AGXS_FAULT_HARD,
                              .va = bad_va,
                              .dispatch = (uint32_t)run->stats.dispatches,
                              .what = what};
   if (run->options->on_fault)
      run->options->on_fault(run->options->user, &fault);
   return AGX_FAIL(AGX_DATA_LOSS, "dispatch %u: %s: 0x%" PRIx64 " is not mapped readable",
                   fault.dispatch, what, bad_va);
}

/* Copies uniforms into the file. */
static agx_status load_uniforms(struct agxs_run *run, const struct agx_hw_launch *launch,
                                const struct agx_hw_usc_load *load)
{
   uint8_t bytes[2 * AGX_UNIFORM_HALVES];
   if (!agx_range_fits(load->start, load->halves, AGX_UNIFORM_HALVES))
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "dispatch %" PRIu64 ": uniform halves %u to %u",
                      run->stats.dispatches, load->start, load->start + load->halves);
   if (run->options->check && !agx_range_fits(load->start, load->halves, launch->uniform_halves))
      return AGX_FAIL(AGX_FAILED_PRECONDITION,
                      "dispatch %" PRIu64 ": check: uniform halves %u to %u, declared are %u",
                      run->stats.dispatches, load->start, load->start + load->halves,
                      launch->uniform_halves);
   AGX_TRY(agxs_run_read(run, load->address, bytes, 2 * load->halves, "uniforms"));
   for (uint32_t i = 0; i < load->halves; i++) {
      uint32_t half = load->start + i;
      run->uniforms[half] = agxs_get_le16(bytes + 2 * i);
      run->uniform_loaded[half / 64] |= 1ull << half % 64;
   }
   return AGX_OK;
}

static agx_status load_all_uniforms(struct agxs_run *run, const struct agx_hw_launch *launch,
                                    const struct agx_hw_usc_info *program)
{
   memset(run->uniform_loaded, 0, sizeof(run->uniform_loaded));
   for (unsigned i = 0; i < AGX_UNIFORM_HALVES; i++)
      run->uniforms[i] = (uint16_t)(i & 1 ? AGXS_POISON >> 16 : AGXS_POISON);
   for (uint32_t i = 0; i < program->load_count; i++)
      AGX_TRY(load_uniforms(run, launch, &program->loads[i]));
   return AGX_OK;
}

/* Descriptors for the state registers. */
static agx_status load_states(struct agxs_run *run, const struct agx_hw_launch *launch,
                              const struct agx_hw_usc_info *program)
{
   struct agxs_states *states = &run->states;
   memset(states->has_texture, 0, sizeof(states->has_texture));
   memset(states->has_sampler, 0, sizeof(states->has_sampler));
   states->texture_count = launch->texture_count;
   if (!agxs_states_declare_samplers(states, launch->sampler_states))
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "dispatch %" PRIu64 ": sampler state code %u",
                      run->stats.dispatches, launch->sampler_states);
   for (uint32_t i = 0; i < program->texture_count; i++) {
      const struct agx_hw_usc_state *word = &program->textures[i];
      if (!agx_range_fits(word->start, word->count, AGXS_TEXTURE_STATES))
         return AGX_FAIL(AGX_INVALID_ARGUMENT, "dispatch %" PRIu64 ": texture states %u to %u",
                         run->stats.dispatches, word->start, word->start + word->count);
      AGX_TRY(agxs_run_read(run, word->address, states->texture[word->start],
                            (uint64_t)word->count * AGXS_TEXTURE_BYTES, "texture descriptors"));
      memset(&states->has_texture[word->start], true, word->count);
   }
   for (uint32_t i = 0; i < program->sampler_count; i++) {
      const struct agx_hw_usc_state *word = &program->samplers[i];
      if (!agx_range_fits(word->start, word->count, AGXS_SAMPLER_STATES))
         return AGX_FAIL(AGX_INVALID_ARGUMENT, "dispatch %" PRIu64 ": sampler states %u to %u",
                         run->stats.dispatches, word->start, word->start + word->count);
      for (uint32_t s = 0; s < word->count; s++)
         AGX_TRY(agxs_run_read(run, word->address + (uint64_t)s * states->sampler_bytes,
                               states->sampler[word->start + s], states->sampler_bytes,
                               "sampler descriptors"));
      memset(&states->has_sampler[word->start], true, word->count);
   }
   return AGX_OK;
}

/* Words of stack for a thread; source: docs/hw/cmdstream.md 2.3. */
static uint32_t stack_words(uint32_t spill_code)
{
   return spill_code ? 8u << ((spill_code & 15) - 1) : 0;
}

static agx_status check_launch(const struct agxs_run *run, const struct agx_hw_launch *launch,
                               const struct agx_hw_usc_info *program)
{
   uint64_t dispatch = run->stats.dispatches;
   const uint32_t *local = launch->local;
   if (!program->has_shader || !program->gpr_halves)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "dispatch %" PRIu64 ": USC words lack %s", dispatch,
                      program->has_shader ? "Registers" : "Shader");
   if (!local[0] || !local[1] || !local[2] || local[0] > AGX_MAX_WORKGROUP_THREADS ||
       local[1] > AGX_MAX_WORKGROUP_THREADS || local[2] > AGX_MAX_WORKGROUP_THREADS)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "dispatch %" PRIu64 ": local size %u,%u,%u", dispatch,
                      local[0], local[1], local[2]);
   uint32_t threads = local[0] * local[1] * local[2]; /* at most 2^30 */
   if (threads > AGX_MAX_WORKGROUP_THREADS)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "dispatch %" PRIu64 ": %u threads in a workgroup",
                      dispatch, threads);
   if (threads > agx_occupancy_threads(program->gpr_halves))
      return AGX_FAIL(AGX_INVALID_ARGUMENT,
                      "dispatch %" PRIu64 ": %u threads in a workgroup, but %u register halves "
                      "leave room for %u",
                      dispatch, threads, program->gpr_halves,
                      agx_occupancy_threads(program->gpr_halves));
   if (program->shared_B > AGX_MAX_SHARED_BYTES)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "dispatch %" PRIu64 ": %u bytes of threadgroup memory",
                      dispatch, program->shared_B);
   return AGX_OK;
}

static agx_status find_kernel(struct agxs_run *run, const struct agxs_kernel_request *request,
                              const struct agxs_kernel **out_kernel)
{
   struct agxs_tlb *tlb = &agxs_pool_worker(run->pool)->tlb;
   agxs_tlb_refresh(tlb);
   for (unsigned i = 0; i < AGXS_KERNEL_CACHE; i++) {
      if (run->kernels[i] && agxs_kernel_matches(run->kernels[i], tlb, request)) {
         *out_kernel = run->kernels[i];
         return AGX_OK;
      }
   }
   struct agxs_kernel *kernel;
   AGX_TRY(agxs_kernel_create(tlb, request, run->set, &kernel));
   struct agxs_kernel **slot = &run->kernels[run->kernel_next++ % AGXS_KERNEL_CACHE];
   agxs_kernel_destroy(*slot);
   *slot = kernel;
   *out_kernel = kernel;
   return AGX_OK;
}

static agx_status prepare_pool(struct agxs_run *run, const struct agxs_kernel *kernel)
{
   if (kernel->constant_count > run->row_capacity) {
      free(run->rows);
      run->row_capacity = 0;
      run->rows = aligned_alloc(64, kernel->constant_count * sizeof(struct agxs_row));
      if (!run->rows)
         return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "dispatch %" PRIu64 ": out of memory",
                         run->stats.dispatches);
      run->row_capacity = kernel->constant_count;
   }
   agxs_kernel_fill_pool(kernel, run->uniforms, run->rows);
   return AGX_OK;
}

static agx_status prepare_dispatch(struct agxs_run *run, const struct agx_hw_launch *launch,
                                   const struct agxs_kernel_request *request,
                                   struct agxs_dispatch *out)
{
   *out = (struct agxs_dispatch){
      .chip = run->chip,
      .memory = run->memory,
      .options = run->options,
      .uniforms = run->uniforms,
      .uniform_count = launch->uniform_halves,
      .states = &run->states,
      .uniform_loaded = run->uniform_loaded,
      .index = (uint32_t)run->stats.dispatches,
      .inner_set = run->inner_set,
      .helpers = run->helpers,
   };
   agxs_bounds_select(run->options, out);
   memcpy(out->launch_local, launch->local, sizeof(out->launch_local));
   AGX_TRY(find_kernel(run, request, &out->kernel));
   AGX_TRY(prepare_pool(run, out->kernel));
   out->pool = run->rows;
   return AGX_OK;
}

/* Whether there is a helper program for a stack that the code takes, where one is needed. */
static agx_status check_stack(const struct agxs_run *run, const struct agxs_dispatch *dispatch)
{
   const struct agxs_helper_program *helper = &run->options->helper;
   const bool is_preamble = dispatch->kernel->request.is_preamble;
   if (!dispatch->stack_words || !run->options->needs_helper)
      return AGX_OK;
   if (!helper->binary)
      return AGX_FAIL(AGX_DATA_LOSS,
                      "dispatch %u: a %s takes %u words of stack for each thread, but the "
                      "submission names no helper program that gives it memory",
                      dispatch->index, is_preamble ? "preamble" : "kernel", dispatch->stack_words);
   if (is_preamble && !(helper->cfg & AGXS_HELPER_PREAMBLE))
      return AGX_FAIL(AGX_DATA_LOSS,
                      "dispatch %u: a preamble takes %u words of stack, but the submission's "
                      "helper program is not for preambles (bit 16 of its cfg)",
                      dispatch->index, dispatch->stack_words);
   return AGX_OK;
}

/* One lane, before the kernel; it counts as no thread. *out_cycles: with options.profile. */
static agx_status run_preamble(struct agxs_run *run, const struct agx_hw_launch *launch,
                               struct agxs_kernel_request request, uint32_t code,
                               uint64_t *out_cycles)
{
   static const uint32_t origin[3];
   struct agxs_worker *worker = agxs_pool_worker(run->pool);
   struct agxs_dispatch dispatch;
   request.entry = code;
   request.halves = launch->preamble_halves;
   request.is_preamble = true;
   AGX_TRY(prepare_dispatch(run, launch, &request, &dispatch));
   for (unsigned axis = 0; axis < 3; axis++)
      dispatch.local[axis] = dispatch.grid[axis] = 1;
   dispatch.stack_words = dispatch.kernel->stack_words;
   AGX_TRY(check_stack(run, &dispatch));
   struct agxs_stats before = worker->stats;
   AGX_TRY(agxs_worker_begin(worker, &dispatch));
   agx_status status = agxs_worker_run(worker, origin);
   worker->stats.workgroups = before.workgroups;
   worker->stats.simd_groups = before.simd_groups;
   worker->stats.threads = before.threads;
   *out_cycles = run->options->profile ? agxs_profile_cycles(worker) : 0;
   return status;
}

/* Workgroups of the launch; UINT64_MAX stands for more. */
static uint64_t count_workgroups(const struct agx_hw_launch *launch)
{
   uint64_t total = 1;
   for (unsigned axis = 0; axis < 3; axis++) {
      uint64_t count = agx_div_up(launch->global[axis], launch->local[axis]);
      if (__builtin_mul_overflow(total, count, &total))
         return UINT64_MAX;
   }
   return total;
}

/* Preamble and kernel of a launch that has threads. *out_cycles: the preamble's. */
static agx_status prepare_kernel(struct agxs_run *run, const struct agx_hw_launch *launch,
                                 const struct agx_hw_usc_info *program, struct agxs_dispatch *out,
                                 uint64_t *out_cycles)
{
   struct agxs_kernel_request request = {
      .usc_base = run->usc_base,
      .entry = program->code_offset,
      .halves = program->gpr_halves,
      .uniform_halves = launch->uniform_halves,
      .check = run->options->check,
      .profile = run->options->profile,
   };
   if (program->has_preamble)
      AGX_TRY(run_preamble(run, launch, request, program->preamble_offset, out_cycles));
   AGX_TRY(prepare_dispatch(run, launch, &request, out));
   memcpy(out->local, launch->local, sizeof(out->local));
   memcpy(out->grid, launch->global, sizeof(out->grid));
   out->shared_bytes = program->shared_B;
   out->tile_stride_B = program->sample_stride_B;
   out->spill_code = program->spill_code & 15;
   out->stack_words = AGX_MIN(stack_words(program->spill_code), out->kernel->stack_words);
   return check_stack(run, out);
}

agx_status agxs_run_prepare(struct agxs_run *run, const struct agx_hw_launch *launch,
                            const struct agx_hw_usc_info *program, struct agxs_dispatch *out,
                            uint64_t *out_cycles)
{
   uint64_t limit = run->options->max_workgroups;
   *out = (struct agxs_dispatch){0};
   *out_cycles = 0;
   AGX_TRY(check_launch(run, launch, program));
   AGX_TRY(load_all_uniforms(run, launch, program));
   AGX_TRY(load_states(run, launch, program));
   uint64_t count = count_workgroups(launch);
   if (__builtin_add_overflow(run->workgroups, count, &run->workgroups) ||
       (limit && run->workgroups > limit))
      return AGX_FAIL(AGX_DEADLINE_EXCEEDED,
                      "dispatch %" PRIu64 ": more than %" PRIu64 " workgroups in a run",
                      run->stats.dispatches, limit);
   if (count && !run->options->no_execute)
      return prepare_kernel(run, launch, program, out, out_cycles);
   return AGX_OK;
}

agx_status agxs_run_launch(struct agxs_run *run, const struct agx_hw_launch *launch,
                           const struct agx_hw_usc_info *program)
{
   struct agxs_dispatch dispatch;
   uint64_t preamble;
   AGX_TRY(agxs_run_prepare(run, launch, program, &dispatch, &preamble));
   if (!dispatch.kernel)
      return AGX_OK;
   AGX_TRY(agxs_pool_run(run->pool, &dispatch));
   return run->options->profile ? agxs_profile_report(agxs_pool_worker(run->pool), preamble)
                                : AGX_OK;
}

/* Runs a compute stream: the walk of agx/hw/decode.h gives one launch after the
 * other, each runs to its end before the next is read, so a barrier has nothing
 * left to order. Streams are hostile; the walk limits and checks them, here
 * sizes from memory are checked. */

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

static agx_status run_compute(const struct agx_chip *chip, const struct agxs_memory *memory,
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
      status = agxs_helpers_create(&run);
   if (status == AGX_OK)
      status = walk_stream(&run, stream_va);
   if (status == AGX_OK)
      status = agxs_helpers_end(&run);
   agxs_helpers_destroy(run.helpers);
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

agx_status agxs_run_compute(const struct agx_chip *chip, const struct agxs_memory *memory,
                            const struct agxs_options *options, uint64_t usc_base,
                            uint64_t stream_va, struct agxs_stats *out_stats)
{
   struct agx_float_env env;
   agx_float_env_enter(&env);
   agx_status status = run_compute(chip, memory, options, usc_base, stream_va, out_stats);
   agx_float_env_leave(&env);
   return status;
}
