/* SPDX-License-Identifier: MIT */
#include "agx/sim/launch.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "agx/sim/workgroup.h"
#include "base/util.h"

/* Uniform, texture and sampler words that one list may have. */
#define MAX_WORDS 1024u

/* What the USC words say. */
struct bindings {
   uint32_t shared_bytes;
   uint32_t code;
   uint32_t halves;
   uint32_t stack_words;
   bool has_shader, has_registers, has_preamble, is_end;
   uint32_t preamble;
};

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

static uint32_t field(const uint8_t *word, unsigned start, unsigned width)
{
   uint64_t value = 0;
   for (unsigned i = 0; i < 8 && i <= (start + width - 1) / 8; i++)
      value |= (uint64_t)word[i] << 8 * i;
   return (uint32_t)(value >> start & agx_bits(width));
}

static uint64_t wide_field(const uint8_t *word, unsigned start, unsigned width)
{
   uint64_t value = agxs_get_le32(word) | (uint64_t)agxs_get_le32(word + 4) << 32;
   return value >> start & agx_bits(width);
}

/* Copies uniforms into the file; first counts halves. */
static agx_status load_uniforms(struct agxs_run *run, const struct agxs_launch *launch,
                                uint32_t first, const uint8_t *word)
{
   uint8_t bytes[128];
   uint32_t count = field(word, 20, 6);
   uint64_t va = wide_field(word, 26, 38) << 2;
   count = count ? count : 64;
   if (!agx_range_fits(first, count, AGX_UNIFORM_HALVES))
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "dispatch %" PRIu64 ": uniform halves %u to %u",
                      run->stats.dispatches, first, first + count);
   if (run->options->check && !agx_range_fits(first, count, launch->uniform_halves))
      return AGX_FAIL(AGX_FAILED_PRECONDITION,
                      "dispatch %" PRIu64 ": check: uniform halves %u to %u, declared are %u",
                      run->stats.dispatches, first, first + count, launch->uniform_halves);
   AGX_TRY(agxs_run_read(run, va, bytes, 2 * count, "uniforms"));
   for (uint32_t i = 0; i < count; i++)
      run->uniforms[first + i] = agxs_get_le16(bytes + 2 * i);
   return AGX_OK;
}

static uint32_t groups(uint32_t raw, uint32_t unit, uint32_t width)
{
   return (raw ? raw : 1u << width) * unit;
}

/* One word; *out_bytes is its length. */
static agx_status read_word(struct agxs_run *run, const struct agxs_launch *launch,
                            const uint8_t *word, struct bindings *b, uint32_t *out_bytes)
{
   switch (word[0]) {
   case 0x1d: /* Uniform */
      *out_bytes = 8;
      return load_uniforms(run, launch, word[1], word);
   case 0x3d: /* Uniform High */
      *out_bytes = 8;
      return load_uniforms(run, launch, word[1] + 256u, word);
   case 0xdd: /* Texture */
   case 0x9d: /* Sampler: state that only unmodelled instructions read */
      *out_bytes = 8;
      return AGX_OK;
   case 0x4d: /* Shared */
      *out_bytes = 4;
      b->shared_bytes = field(word, 8, 1) ? groups(field(word, 24, 8), 256, 8) : 0;
      return AGX_OK;
   case 0x0d: /* Shader */
      *out_bytes = 6;
      b->code = field(word, 16, 32);
      b->has_shader = true;
      return AGX_OK;
   case 0x8d: /* Registers */
      *out_bytes = 4;
      b->halves = groups(field(word, 8, 5), 8, 5);
      b->stack_words = field(word, 18, 4) ? 8u << (field(word, 18, 4) - 1) : 0;
      b->has_registers = true;
      return AGX_OK;
   case 0x38: /* Preshader */
      *out_bytes = 8;
      b->preamble = field(word, 32, 32);
      b->has_preamble = b->is_end = true;
      return AGX_OK;
   case 0x88: /* No Preshader */
      *out_bytes = 2;
      b->is_end = true;
      return AGX_OK;
   default:
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "dispatch %" PRIu64 ": USC words: unknown tag 0x%02x",
                      run->stats.dispatches, word[0]);
   }
}

static uint32_t word_bytes(uint8_t tag)
{
   return tag == 0x88 ? 2 : tag == 0x4d || tag == 0x8d || tag == 0x58 ? 4 : tag == 0x0d ? 6 : 8;
}

static agx_status read_bindings(struct agxs_run *run, const struct agxs_launch *launch,
                                struct bindings *b)
{
   uint64_t va = run->usc_base + launch->usc;
   for (unsigned i = 0; i < AGX_UNIFORM_HALVES; i++)
      run->uniforms[i] = (uint16_t)(i & 1 ? AGXS_POISON >> 16 : AGXS_POISON);
   for (unsigned i = 0; i < MAX_WORDS; i++) {
      uint8_t word[8] = {0};
      uint32_t bytes;
      AGX_TRY(agxs_run_read(run, va, word, 1, "USC words"));
      AGX_TRY(agxs_run_read(run, va, word, word_bytes(word[0]), "USC words"));
      AGX_TRY(read_word(run, launch, word, b, &bytes));
      va += bytes;
      if (b->is_end)
         return AGX_OK;
   }
   return AGX_FAIL(AGX_INVALID_ARGUMENT, "dispatch %" PRIu64 ": USC words at 0x%x do not end",
                   run->stats.dispatches, launch->usc);
}

static agx_status check_launch(const struct agxs_run *run, const struct agxs_launch *launch,
                               const struct bindings *b)
{
   uint64_t dispatch = run->stats.dispatches;
   const uint32_t *local = launch->local;
   if (!b->has_shader || !b->has_registers)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "dispatch %" PRIu64 ": USC words lack %s", dispatch,
                      b->has_shader ? "Registers" : "Shader");
   if (!local[0] || !local[1] || !local[2] || local[0] > AGX_MAX_WORKGROUP_THREADS ||
       local[1] > AGX_MAX_WORKGROUP_THREADS || local[2] > AGX_MAX_WORKGROUP_THREADS)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "dispatch %" PRIu64 ": local size %u,%u,%u", dispatch,
                      local[0], local[1], local[2]);
   uint32_t threads = local[0] * local[1] * local[2]; /* at most 2^30 */
   if (threads > AGX_MAX_WORKGROUP_THREADS)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "dispatch %" PRIu64 ": %u threads in a workgroup",
                      dispatch, threads);
   if (threads > agx_occupancy_threads(b->halves))
      return AGX_FAIL(AGX_INVALID_ARGUMENT,
                      "dispatch %" PRIu64 ": %u threads in a workgroup, but %u register halves "
                      "leave room for %u",
                      dispatch, threads, b->halves, agx_occupancy_threads(b->halves));
   if (b->shared_bytes > AGX_MAX_SHARED_BYTES)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "dispatch %" PRIu64 ": %u bytes of threadgroup memory",
                      dispatch, b->shared_bytes);
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

static agx_status prepare_dispatch(struct agxs_run *run, const struct agxs_launch *launch,
                                   const struct agxs_kernel_request *request,
                                   struct agxs_dispatch *out)
{
   *out = (struct agxs_dispatch){
      .chip = run->chip,
      .memory = run->memory,
      .options = run->options,
      .uniforms = run->uniforms,
      .uniform_count = launch->uniform_halves,
      .index = (uint32_t)run->stats.dispatches,
   };
   AGX_TRY(find_kernel(run, request, &out->kernel));
   AGX_TRY(prepare_pool(run, out->kernel));
   out->pool = run->rows;
   return AGX_OK;
}

/* One lane, before the kernel; it counts as no thread. */
static agx_status run_preamble(struct agxs_run *run, const struct agxs_launch *launch,
                               struct agxs_kernel_request request, uint32_t code)
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
   struct agxs_stats before = worker->stats;
   AGX_TRY(agxs_worker_begin(worker, &dispatch));
   agx_status status = agxs_worker_run(worker, origin);
   worker->stats.workgroups = before.workgroups;
   worker->stats.simd_groups = before.simd_groups;
   worker->stats.threads = before.threads;
   return status;
}

/* Workgroups of the launch; UINT64_MAX stands for more. */
static uint64_t count_workgroups(const struct agxs_launch *launch)
{
   uint64_t total = 1;
   for (unsigned axis = 0; axis < 3; axis++) {
      uint64_t count = agx_div_up(launch->grid[axis], launch->local[axis]);
      if (__builtin_mul_overflow(total, count, &total))
         return UINT64_MAX;
   }
   return total;
}

static agx_status run_kernel(struct agxs_run *run, const struct agxs_launch *launch,
                             const struct bindings *b)
{
   struct agxs_kernel_request request = {
      .usc_base = run->usc_base,
      .entry = b->code,
      .halves = b->halves,
      .uniform_halves = launch->uniform_halves,
      .check = run->options->check,
   };
   struct agxs_dispatch dispatch;
   if (b->has_preamble)
      AGX_TRY(run_preamble(run, launch, request, b->preamble));
   AGX_TRY(prepare_dispatch(run, launch, &request, &dispatch));
   memcpy(dispatch.local, launch->local, sizeof(dispatch.local));
   memcpy(dispatch.grid, launch->grid, sizeof(dispatch.grid));
   dispatch.shared_bytes = b->shared_bytes;
   dispatch.stack_words = AGX_MIN(b->stack_words, dispatch.kernel->stack_words);
   return agxs_pool_run(run->pool, &dispatch);
}

agx_status agxs_run_launch(struct agxs_run *run, const struct agxs_launch *launch)
{
   struct bindings b = {0};
   uint64_t limit = run->options->max_workgroups;
   AGX_TRY(read_bindings(run, launch, &b));
   AGX_TRY(check_launch(run, launch, &b));
   uint64_t count = count_workgroups(launch);
   if (__builtin_add_overflow(run->workgroups, count, &run->workgroups) ||
       (limit && run->workgroups > limit))
      return AGX_FAIL(AGX_DEADLINE_EXCEEDED,
                      "dispatch %" PRIu64 ": more than %" PRIu64 " workgroups in a run",
                      run->stats.dispatches, limit);
   if (count && !run->options->no_execute)
      AGX_TRY(run_kernel(run, launch, &b));
   return AGX_OK;
}
