/* SPDX-License-Identifier: MIT
 *
 * Runs the helper program that a submission names: for each core one SIMD-group with one thread,
 * which is asked for a stack when a SIMD-group starts and given it back when that ends. What the
 * program maps is checked before anything runs on it; each failure says what is wrong by name.
 * workgroup.c asks; launch.c begins and ends. Source: docs/hw/machine.md 16.
 *
 * How the hardware lays a SIMD-group's stack out in its blocks: here word by word, 32 lanes side by
 * side, one block behind the other [U-run-11]. What it does with a refused allocation: here the
 * submission fails, since one workgroup's stacks always have room on a core [U-run-10].
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "agx/sim/exec/exec.h"
#include "agx/sim/launch/launch_impl.h"
#include "agx/sim/machine/format.h"
#include "agx/sim/machine/lanes.h"
#include "base/list.h"
#include "base/util.h"

#define HELPER_HALVES 32u /* registers that the program may use */
/* Far more than a program takes for one operation. */
#define OPERATION_LIMIT 100000u

struct core {
   bool is_started;
   bool is_busy; /* a workgroup has it */
   struct agxs_group group;
   struct agxs_helper_talk talk;
   struct agxs_row registers[HELPER_HALVES / 2];
};

/* A block that some core's program mapped once. */
struct known_block {
   uint64_t va, end_va;
   uint32_t core;
   bool is_used; /* by a SIMD-group, now */
};

/* A word that a core's program stored to. */
struct stored {
   uint64_t va; /* 0: free */
   uint32_t core;
};

struct agxs_helpers {
   pthread_mutex_t lock; /* all below; held while a helper program runs */
   pthread_cond_t left;  /* a core is free */
   struct agxs_options options;
   struct agxs_dispatch dispatch;
   struct agxs_worker worker;
   struct agxs_kernel *kernel;
   struct agxs_row *pool;
   struct agxs_states states; /* none: a helper program has no textures */
   uint16_t uniforms[AGX_UNIFORM_HALVES];
   struct core *cores; /* AGX_MAX_CORES */
   struct known_block *blocks;
   uint32_t block_count, block_capacity;
   bool is_shared; /* chaos: several workgroups have a core at once */
   struct agxs_exec_set set;
   struct stored *stored;                  /* hash table: words that programs stored to */
   uint32_t stored_count, stored_capacity; /* capacity: a power of two, or 0 */
};

/* ---- stores ------------------------------------------------------------------ */

/* Programs of several cores run at once and without locks: what one of them stores to must be its
 * own, whatever the order is that they happen to run in here. */

static struct stored *find_stored(struct agxs_helpers *helpers, uint64_t va)
{
   uint32_t at = (uint32_t)(va / 4 * 0x9e3779b97f4a7c15ull >> 32);
   for (;; at++) {
      struct stored *slot = &helpers->stored[at & (helpers->stored_capacity - 1)];
      if (!slot->va || slot->va == va)
         return slot;
   }
}

static bool grow_stored(struct agxs_helpers *helpers)
{
   struct stored *old = helpers->stored;
   const uint32_t count = helpers->stored_capacity;
   if (2 * helpers->stored_count < count)
      return true;
   const uint32_t capacity = count ? 2 * count : 1024;
   struct stored *fresh = calloc(capacity, sizeof(*fresh));
   if (!fresh)
      return false;
   helpers->stored = fresh;
   helpers->stored_capacity = capacity;
   for (uint32_t i = 0; i < count; i++)
      if (old[i].va)
         *find_stored(helpers, old[i].va) = old[i];
   free(old);
   return true;
}

static bool claim(struct agxs_group *group, const struct agxs_uop *uop, uint64_t va)
{
   struct agxs_helpers *helpers = agx_container_of(group->worker, struct agxs_helpers, worker);
   if (!grow_stored(helpers)) {
      agxs_group_fail(group, uop, AGX_RESOURCE_EXHAUSTED, "out of memory");
      return false;
   }
   struct stored *slot = find_stored(helpers, va);
   if (slot->va && slot->core != group->worker->core) {
      agxs_group_fail(group, uop, AGX_DATA_LOSS,
                      "stores to 0x%" PRIx64 ", where the helper program of core %u has stored: "
                      "each core needs a record of its own",
                      va, slot->core);
      return false;
   }
   helpers->stored_count += slot->va == 0;
   *slot = (struct stored){va, group->worker->core};
   return true;
}

static const struct agxs_uop *watched_store(struct agxs_group *group, const struct agxs_uop *uop)
{
   const unsigned bytes = agxs_formats[uop->format].bytes;
   uint64_t va[AGXS_LANES];
   agxs_get_addresses(group, uop, agxs_scale_log2(uop, bytes), va);
   for (unsigned e = 0; e < 4 && group->active; e++) {
      const uint64_t at = va[__builtin_ctz(group->active)] + e * bytes;
      if (uop->mask >> e & 1 && !claim(group, uop, at & ~3ull))
         return NULL;
   }
   return agxs_exec_best()->exec[AGXS_X_store](group, uop);
}

/* ---- lifetime ---------------------------------------------------------------- */

static agx_status decode(struct agxs_run *run, struct agxs_helpers *helpers)
{
   const struct agxs_kernel_request request = {
      .usc_base = run->usc_base,
      .entry = run->options->helper.binary & ~1u,
      .halves = HELPER_HALVES,
      .is_helper = true,
   };
   helpers->set = *agxs_exec_best();
   helpers->set.exec[AGXS_X_store] = watched_store;
   AGX_TRY(agxs_kernel_create(&helpers->worker.tlb, &request, &helpers->set, &helpers->kernel));
   const size_t bytes = (size_t)helpers->kernel->constant_count * sizeof(struct agxs_row);
   helpers->pool = aligned_alloc(64, AGX_MAX(bytes, sizeof(struct agxs_row)));
   if (!helpers->pool)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "helper program: out of memory");
   agxs_kernel_fill_pool(helpers->kernel, helpers->uniforms, helpers->pool);
   return AGX_OK;
}

static agx_status fill(struct agxs_run *run, struct agxs_helpers *helpers)
{
   helpers->is_shared = run->chaos != NULL;
   helpers->cores = aligned_alloc(64, AGX_MAX_CORES * sizeof(struct core));
   if (!helpers->cores)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "helper program: out of memory");
   memset(helpers->cores, 0, AGX_MAX_CORES * sizeof(struct core));
   AGX_TRY(agxs_worker_init(&helpers->worker, run->memory));
   /* The program's own accesses must all be good. */
   helpers->options = (struct agxs_options){
      .strict = true,
      .max_instructions_per_group = OPERATION_LIMIT,
      .user = run->options->user,
      .on_fault = run->options->on_fault,
   };
   AGX_TRY(decode(run, helpers));
   helpers->dispatch = (struct agxs_dispatch){
      .chip = run->chip,
      .memory = run->memory,
      .options = &helpers->options,
      .kernel = helpers->kernel,
      .pool = helpers->pool,
      .uniforms = helpers->uniforms,
      .states = &helpers->states,
      .local = {1, 1, 1},
      .grid = {1, 1, 1},
   };
   helpers->worker.dispatch = &helpers->dispatch;
   return AGX_OK;
}

agx_status agxs_helpers_create(struct agxs_run *run)
{
   const struct agxs_helper_program *program = &run->options->helper;
   if (!program->binary)
      return AGX_OK;
   if (!(program->binary & 1))
      return AGX_FAIL(AGX_INVALID_ARGUMENT,
                      "helper program at 0x%x: bit 0 of the field, which says that there is one, "
                      "is not set",
                      program->binary);
   struct agxs_helpers *helpers = calloc(1, sizeof(*helpers));
   if (!helpers)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "helper program: out of memory");
   pthread_mutex_init(&helpers->lock, NULL);
   pthread_cond_init(&helpers->left, NULL);
   run->helpers = helpers;
   return fill(run, helpers);
}

void agxs_helpers_destroy(struct agxs_helpers *helpers)
{
   if (!helpers)
      return;
   agxs_worker_fini(&helpers->worker);
   agxs_kernel_destroy(helpers->kernel);
   pthread_cond_destroy(&helpers->left);
   pthread_mutex_destroy(&helpers->lock);
   free(helpers->pool);
   free(helpers->cores);
   free(helpers->blocks);
   free(helpers->stored);
   free(helpers);
}

void agxs_helpers_enter(struct agxs_helpers *helpers, uint32_t core)
{
   if (helpers->is_shared)
      return;
   pthread_mutex_lock(&helpers->lock);
   while (helpers->cores[core].is_busy)
      pthread_cond_wait(&helpers->left, &helpers->lock);
   helpers->cores[core].is_busy = true;
   pthread_mutex_unlock(&helpers->lock);
}

void agxs_helpers_leave(struct agxs_helpers *helpers, uint32_t core)
{
   if (helpers->is_shared)
      return;
   pthread_mutex_lock(&helpers->lock);
   helpers->cores[core].is_busy = false;
   pthread_cond_broadcast(&helpers->left);
   pthread_mutex_unlock(&helpers->lock);
}

/* ---- operations: the lock is held -------------------------------------------- */

/* Lets the program run to its next doorbell, its end or its failure. */
static agx_status resume(struct agxs_helpers *helpers, uint32_t number)
{
   struct core *core = &helpers->cores[number];
   helpers->worker.core = number;
   helpers->worker.slice = OPERATION_LIMIT;
   helpers->worker.workgroup[0] = number;
   agxs_tlb_refresh(&helpers->worker.tlb);
   core->group.instructions = 0;
   agxs_group_run(&core->group);
   if (core->group.state == AGXS_GROUP_FAILED)
      return core->group.status;
   if (core->group.state == AGXS_GROUP_AT_DOORBELL || core->group.state == AGXS_GROUP_DONE)
      return AGX_OK;
   core->group.state = AGXS_GROUP_FAILED;
   core->group.status = AGX_DEADLINE_EXCEEDED;
   return AGX_FAIL(AGX_DEADLINE_EXCEEDED,
                   "helper program of core %u: comes to no doorbell within %u instructions", number,
                   OPERATION_LIMIT);
}

/* The program's first steps, up to where it waits for an operation. */
static agx_status start(struct agxs_helpers *helpers, uint32_t number, uint64_t data)
{
   struct core *core = &helpers->cores[number];
   struct agxs_group *group = &core->group;
   core->is_started = true;
   core->talk = (struct agxs_helper_talk){.arg = data, .op = AGXS_HELPER_NONE};
   *group = (struct agxs_group){
      .regs = core->registers,
      .bank = {[AGXS_BANK_REG] = core->registers, [AGXS_BANK_POOL] = helpers->pool},
      .exists = 1,
      .active = 1,
      .worker = &helpers->worker,
      .kernel = helpers->kernel,
      .next = helpers->kernel->uops,
      .state = AGXS_GROUP_READY,
      .talk = &core->talk,
   };
   group->exec.lane[0] = group->lives.lane[0] = ~0u;
   for (uint32_t row = 0; row < AGX_COUNT(core->registers); row++) {
      AGXS_FOR_LANES (i)
         core->registers[row].lane[i] = AGXS_POISON;
   }
   AGX_TRY(resume(helpers, number));
   if (group->state == AGXS_GROUP_DONE)
      return AGX_FAIL(AGX_DATA_LOSS,
                      "helper program of core %u: ends before it asks for an operation", number);
   return AGX_OK;
}

/* Asks core `number` for an operation, of which talk->answer says how it went. */
static agx_status ask(struct agxs_helpers *helpers, const struct agxs_helper_program *program,
                      uint32_t number, enum agxs_helper_op op, uint32_t arg)
{
   struct core *core = &helpers->cores[number];
   if (core->group.state == AGXS_GROUP_FAILED)
      return AGX_FAIL(core->group.status, "helper program of core %u: failed before", number);
   if (!core->is_started)
      AGX_TRY(start(helpers, number, program->data));
   if (core->group.state == AGXS_GROUP_DONE)
      return AGX_FAIL(AGX_DATA_LOSS,
                      "helper program of core %u: ended before operation 15 asked it to", number);
   core->talk.op = op;
   core->talk.arg = arg;
   core->talk.answer = AGXS_DOORBELL_NONE;
   core->talk.touched = 0;
   AGX_TRY(resume(helpers, number));
   if (op != AGXS_HELPER_END && core->talk.answer == AGXS_DOORBELL_NONE)
      return AGX_FAIL(AGX_DATA_LOSS, "helper program of core %u: ends without an answer", number);
   return AGX_OK;
}

agx_status agxs_helpers_end(struct agxs_run *run)
{
   struct agxs_helpers *helpers = run->helpers;
   agx_status status = AGX_OK;
   if (!helpers)
      return AGX_OK;
   pthread_mutex_lock(&helpers->lock);
   for (uint32_t i = 0; i < AGX_MAX_CORES && status == AGX_OK; i++)
      if (helpers->cores[i].is_started)
         status = ask(helpers, &run->options->helper, i, AGXS_HELPER_END, 0);
   pthread_mutex_unlock(&helpers->lock);
   return status;
}

/* ---- blocks ------------------------------------------------------------------ */

/* Blocks as their words say: equal sizes, one behind the other in the stack. */
struct layout {
   uint64_t va[AGXS_STACK_BLOCKS];
   uint64_t block_B; /* of a SIMD-group; a power of 4 times 1 KiB */
   uint32_t count;
};

static agx_status read_layout(const struct agxs_helper_talk *talk, uint32_t core,
                              struct layout *out)
{
   const uint32_t *blocks = talk->blocks;
   if (!(talk->touched & 1) || !(blocks[0] & 1))
      return AGX_FAIL(AGX_DATA_LOSS,
                      "helper program of core %u: block 0 is not mapped when the allocation of a "
                      "stack is answered as done",
                      core);
   const uint32_t size_code = (uint32_t)__builtin_ctz(~blocks[0] | 1u << 31) - 1;
   if (size_code > 6)
      return AGX_FAIL(AGX_DATA_LOSS,
                      "helper program of core %u: block 0 is 0x%08x, of size code %u; the largest "
                      "is 6",
                      core, blocks[0], size_code);
   *out = (struct layout){.block_B = 1024ull << 2 * size_code};
   const uint32_t low = (uint32_t)(out->block_B >> 8) - 1;
   for (uint32_t i = 0; i < AGXS_STACK_BLOCKS; i++) {
      const uint32_t flags = i ? 1 : (2u << size_code) - 1;
      const bool is_there = talk->touched >> i & 1 && blocks[i];
      if (is_there && out->count != i)
         return AGX_FAIL(AGX_DATA_LOSS,
                         "helper program of core %u: block %u is mapped and block %u is not", core,
                         i, i - 1);
      if (is_there && (blocks[i] & low) != flags)
         return AGX_FAIL(AGX_DATA_LOSS,
                         "helper program of core %u: block %u is 0x%08x, which is no address of "
                         "%" PRIu64 " bytes (low bits 0x%x, expected 0x%x)",
                         core, i, blocks[i], out->block_B, blocks[i] & low, flags);
      if (is_there)
         out->va[out->count++] = (uint64_t)(blocks[i] & ~low) << 8;
   }
   return AGX_OK;
}

/* A block belongs to one core, and to one SIMD-group at a time. */
static agx_status take_block(struct agxs_helpers *helpers, uint32_t core, uint64_t va,
                             uint64_t bytes)
{
   for (uint32_t i = 0; i < helpers->block_count;) {
      struct known_block *known = &helpers->blocks[i];
      if (known->va >= va + bytes || va >= known->end_va) {
         i++;
         continue;
      }
      if (known->core != core)
         return AGX_FAIL(AGX_DATA_LOSS,
                         "helper program of core %u: maps the block at 0x%" PRIx64
                         ", which is core %u's",
                         core, va, known->core);
      if (known->is_used)
         return AGX_FAIL(AGX_DATA_LOSS,
                         "helper program of core %u: maps the block at 0x%" PRIx64
                         ", which another SIMD-group has",
                         core, va);
      *known = helpers->blocks[--helpers->block_count]; /* the new one takes its place */
   }
   if (helpers->block_count == helpers->block_capacity) {
      uint32_t capacity = AGX_MAX(256u, 2 * helpers->block_capacity);
      struct known_block *more = realloc(helpers->blocks, capacity * sizeof(*more));
      if (!more)
         return AGX_FAIL(AGX_RESOURCE_EXHAUSTED,
                         "helper program: no memory for a list of %u stack blocks", capacity);
      helpers->blocks = more;
      helpers->block_capacity = capacity;
   }
   helpers->blocks[helpers->block_count++] =
      (struct known_block){.va = va, .end_va = va + bytes, .core = core, .is_used = true};
   return AGX_OK;
}

static void return_block(struct agxs_helpers *helpers, uint64_t va)
{
   for (uint32_t i = 0; i < helpers->block_count; i++)
      if (helpers->blocks[i].va == va)
         helpers->blocks[i].is_used = false;
}

/* Where the group's words lie. The group's chunks end with what its launch declares. */
static agx_status place(struct agxs_helpers *helpers, struct agxs_group *group,
                        const struct layout *layout)
{
   static const uint64_t chunk_B = AGXS_CHUNK_WORDS * AGXS_LANES * sizeof(uint32_t);
   const uint32_t core = group->worker->core;
   const uint32_t room = (uint32_t)agx_div_up(group->stack_words, AGXS_CHUNK_WORDS);
   uint32_t count = 0;
   for (uint32_t i = 0; i < layout->count; i++) {
      AGX_TRY(take_block(helpers, core, layout->va[i], layout->block_B));
      for (uint64_t at = 0; at < layout->block_B; at += chunk_B) {
         uint8_t *host = agxs_tlb_find(&helpers->worker.tlb, layout->va[i] + at, AGXS_WRITE);
         if (!host || !agxs_tlb_find(&helpers->worker.tlb, layout->va[i] + at, AGXS_READ))
            return AGX_FAIL(AGX_DATA_LOSS,
                            "helper program of core %u: maps block %u at 0x%" PRIx64 ", %" PRIu64
                            " bytes, which is not mapped for reading and writing at "
                            "0x%" PRIx64,
                            core, i, layout->va[i], layout->block_B, layout->va[i] + at);
         if (count < room)
            group->stack_chunks[count++] = (uint32_t *)(void *)host;
      }
   }
   group->stack_given = AGX_MIN(count * AGXS_CHUNK_WORDS, group->stack_words);
   return AGX_OK;
}

static agx_status alloc(struct agxs_helpers *helpers, struct agxs_group *group)
{
   const struct agxs_dispatch *dispatch = group->worker->dispatch;
   const uint32_t core = group->worker->core;
   struct agxs_helper_talk *talk = &helpers->cores[core].talk;
   struct layout layout;
   memset(talk->blocks, 0, sizeof(talk->blocks));
   AGX_TRY(ask(helpers, &dispatch->options->helper, core, AGXS_HELPER_ALLOC, dispatch->spill_code));
   if (talk->answer == AGXS_DOORBELL_NACK)
      return AGX_FAIL(AGX_DATA_LOSS,
                      "helper program of core %u: refuses a SIMD-group of dispatch %u a stack of "
                      "%u words for each thread",
                      core, dispatch->index, dispatch->stack_words);
   AGX_TRY(read_layout(talk, core, &layout));
   AGX_TRY(place(helpers, group, &layout));
   memcpy(group->blocks, talk->blocks, sizeof(group->blocks));
   group->has_blocks = true;
   return AGX_OK;
}

static agx_status give_back(struct agxs_helpers *helpers, struct agxs_group *group)
{
   const struct agxs_dispatch *dispatch = group->worker->dispatch;
   const uint32_t core = group->worker->core;
   struct agxs_helper_talk *talk = &helpers->cores[core].talk;
   struct layout layout;
   memcpy(talk->blocks, group->blocks, sizeof(talk->blocks));
   group->has_blocks = false;
   AGX_TRY(ask(helpers, &dispatch->options->helper, core, AGXS_HELPER_FREE, dispatch->spill_code));
   if (talk->answer == AGXS_DOORBELL_NACK)
      return AGX_FAIL(AGX_DATA_LOSS,
                      "helper program of core %u: refuses to free the stack of a SIMD-group", core);
   for (uint32_t i = 0; i < AGXS_STACK_BLOCKS; i++)
      if (group->blocks[i] && !(talk->touched >> i & 1))
         return AGX_FAIL(AGX_DATA_LOSS,
                         "helper program of core %u: leaves block %u mapped when the freeing of a "
                         "stack is answered as done",
                         core, i);
   talk->touched = (1u << AGXS_STACK_BLOCKS) - 1;
   AGX_TRY(read_layout(talk, core, &layout));
   for (uint32_t i = 0; i < layout.count; i++)
      return_block(helpers, layout.va[i]);
   return AGX_OK;
}

agx_status agxs_stack_alloc(struct agxs_group *group)
{
   struct agxs_helpers *helpers = group->worker->dispatch->helpers;
   pthread_mutex_lock(&helpers->lock);
   agx_status status = alloc(helpers, group);
   pthread_mutex_unlock(&helpers->lock);
   return status;
}

agx_status agxs_stack_free(struct agxs_group *group)
{
   struct agxs_helpers *helpers = group->worker->dispatch->helpers;
   pthread_mutex_lock(&helpers->lock);
   agx_status status = give_back(helpers, group);
   pthread_mutex_unlock(&helpers->lock);
   return status;
}
