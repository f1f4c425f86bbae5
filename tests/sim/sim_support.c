/* SPDX-License-Identifier: MIT
 *
 * A SIMD-group of the simulator that runs a program given as text, for tests of single
 * instructions.
 */
#include "sim_support.h"

#include "agx/sim/image/image.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agx/sim/check/shadow.h"
#include "agx/sim/launch/launch_impl.h"
#include "base/util.h"

static void assemble_program(const char *text, uint8_t *code, size_t capacity)
{
   static const uint8_t end[18] = {0x88, 0, 8, 0, 8, 0, 8, 0, 8, 0, 8, 0, 8, 0, 8, 0, 8, 0};
   size_t length = sim_assemble(text, code, capacity - sizeof(end));
   memcpy(code + length, end, sizeof(end));
}

struct sim_group *sim_group_new(const char *program)
{
   struct sim_group *group = calloc(1, sizeof(*group));
   assert_non_null(group);
   group->program = program;
   group->options.strict = true;
   return group;
}

agx_status sim_group_run(struct sim_group *group)
{
   struct sim_memory own, *memory = group->memory ? group->memory : &own;
   sim_memory_init(&own);
   size_t capacity = 0x10000 + strlen(group->program);
   assemble_program(group->program, sim_map(memory, SIM_USC_BASE, capacity, false), capacity);
   struct agxs_worker worker = {0};
   assert_ok(agxs_worker_init(&worker, &memory->interface));
   struct agxs_kernel_request request = {
      .usc_base = SIM_USC_BASE,
      .halves = group->halves ? group->halves : 256,
      .uniform_halves = AGX_UNIFORM_HALVES,
      .is_preamble = group->is_preamble,
      .check = group->options.check,
   };
   struct agxs_kernel *kernel;
   assert_ok(agxs_kernel_create(&worker.tlb, &request, group->set ? group->set : agxs_exec_best(),
                                &kernel));
   struct agxs_row *pool = aligned_alloc(64, sizeof(*pool) * (kernel->constant_count + 1));
   agxs_kernel_fill_pool(kernel, group->uniform, pool);
   struct agxs_states *states = calloc(1, sizeof(*states));
   struct agxs_dispatch dispatch = {
      .states = states,
      .memory = &memory->interface,
      .options = &group->options,
      .kernel = kernel,
      .pool = pool,
      .uniforms = group->uniform,
      .uniform_count = AGX_UNIFORM_HALVES,
      .local = {32, 1, 1},
      .launch_local = {32, 1, 1},
      .grid = {32, 1, 1},
      .shared_bytes = group->shared_bytes,
      .stack_words = group->stack_words,
   };
   assert_ok(agxs_worker_begin(&worker, &dispatch));
   memset(worker.shared, AGXS_POISON_BYTE, group->shared_bytes);
   assert_ok(agxs_group_start(&worker, 0, group->exists ? group->exists : ~0u));
   struct agxs_group *state = &worker.groups[0];
   memcpy(state->regs, group->reg, request.halves * 64);
   if (state->shadow) {
      agxs_shadow_start_workgroup(&worker);
      if (!group->is_undefined)
         memcpy(state->shadow->regs, group->undefined, request.halves / 2 * 128);
   }
   do
      agxs_group_run(state); /* one turn among other groups */
   while (state->state == AGXS_GROUP_READY);
   memcpy(group->reg, state->regs, request.halves * 64);
   if (state->shadow)
      memcpy(group->undefined, state->shadow->regs, request.halves / 2 * 128);
   group->active = state->active;
   group->stats = worker.stats;
   agx_status status = state->state == AGXS_GROUP_FAILED ? state->status : AGX_OK;
   free(pool);
   free(states);
   agxs_kernel_destroy(kernel);
   agxs_worker_fini(&worker);
   sim_memory_fini(&own);
   return status;
}

void sim_launch_init(struct sim_launch *launch, const char *program)
{
   memset(launch, 0, sizeof(*launch));
   sim_memory_init(&launch->memory);
   launch->program = program;
   launch->options.strict = true;
   launch->options.thread_count = 1;
   for (unsigned axis = 0; axis < 3; axis++)
      launch->grid[axis] = launch->local[axis] = 1;
}

static void put_words(uint8_t *to, const uint32_t *words, size_t count)
{
   for (size_t i = 0; i < count; i++)
      agxs_put_le32(to + 4 * i, words[i]);
}

size_t sim_write_stream(const struct sim_launch *launch, uint8_t *to)
{
   const uint32_t words[] = {
      4 | 4 << 9, /* 128 uniform halves, 16 samplers */
      SIM_WORDS,        launch->grid[0],
      launch->grid[1],  launch->grid[2],
      launch->local[0], launch->local[1],
      launch->local[2], launch->barrier ? launch->barrier : 0x600fffff,
      0x40000000,       0,
   };
   put_words(to, words, AGX_COUNT(words));
   return sizeof(words);
}

/* A Uniform word for all of launch->uniform, in two parts. */
static uint8_t *write_words(const struct sim_launch *launch, uint8_t *to)
{
   uint32_t halves = launch->halves ? launch->halves : 32;
   for (uint32_t part = 0; part < (launch->loaded_halves ? 1 : 2); part++) {
      uint64_t va = SIM_UNIFORMS + part * 128, count = launch->loaded_halves & 63; /* 64: 0 */
      uint64_t word =
         0x1d | count << 20 | (uint64_t)(part * 64) << 8 | va >> 2 << 26; /* 64 halves: 0 */
      const uint32_t words[2] = {(uint32_t)word, (uint32_t)(word >> 32)};
      put_words(to, words, 2);
      to += 8;
   }
   uint32_t shared = launch->shared_bytes
                        ? 0x4d | 1 << 8 | 0x24 << 10 | launch->sample_stride << 20 |
                             (launch->shared_bytes / 256 & 255) << 24
                        : 0x904d;
   uint32_t code[2] = {0x0d | 3 << 10 | (SIM_CODE & 0xffff) << 16, SIM_CODE >> 16};
   uint32_t registers = 0x8d | (halves / 8 & 31) << 8 | launch->spill_code << 18;
   put_words(to, &shared, 1);
   put_words(to + 4, code, 2);
   put_words(to + 10, &registers, 1);
   to += 14;
   const uint32_t preamble[2] = {0xc0800038, SIM_PREAMBLE}, none = 0x88;
   put_words(to, launch->preamble ? preamble : &none, launch->preamble ? 2 : 1);
   return to;
}

agx_status sim_launch_run(struct sim_launch *launch)
{
   const struct agx_chip *chip = agx_chip_find("g13g");
   struct sim_memory *memory = &launch->memory;
   uint8_t *usc = sim_map(memory, SIM_USC_BASE, 0x40000, false);
   assemble_program(launch->program, usc + SIM_CODE, 0x4000);
   if (launch->preamble)
      assemble_program(launch->preamble, usc + SIM_PREAMBLE, 0x4000);
   write_words(launch, usc + SIM_WORDS);
   uint8_t *uniforms = sim_map(memory, SIM_UNIFORMS, 0x4000, false);
   for (unsigned i = 0; i < AGX_COUNT(launch->uniform); i++) {
      agxs_put_le32(uniforms + 8 * i, (uint32_t)launch->uniform[i]);
      agxs_put_le32(uniforms + 8 * i + 4, (uint32_t)(launch->uniform[i] >> 32));
   }
   sim_write_stream(launch, sim_map(memory, SIM_STREAM, 0x4000, false));
   return agxs_run_compute(chip, &memory->interface, &launch->options, SIM_USC_BASE, SIM_STREAM,
                           &launch->stats);
}

void sim_launch_fini(struct sim_launch *launch)
{
   sim_memory_fini(&launch->memory);
}
