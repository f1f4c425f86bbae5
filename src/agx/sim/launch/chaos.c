/* SPDX-License-Identifier: MIT
 *
 * The scheduler of chaos runs. Everything random comes from one generator that is
 * asked in a fixed order.
 */
#include "agx/sim/launch/launch_impl.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "agx/sim/check/check.h"
#include "agx/sim/machine/lanes.h"
#include "agx/sim/memory/memory.h"
#include "base/util.h"

#define CORES 8u
/* Launches that are open at once; kernels of all must fit into the run's cache of them, with
 * a preamble each. */
#define WINDOW 16u
_Static_assert(2 * WINDOW < AGXS_KERNEL_CACHE, "kernels of open launches stay");

/* Turns between evictions, on average; what an endless kernel stores is seen at last. */
#define EVICTION_STEPS 64u
#define LEAK_STEPS     4u

/* How the launches of a window run. */
enum order {
   ORDER_MIXED,    /* any workgroup of any of them next */
   ORDER_LEAKING,  /* mixed, and much that is stored reaches memory at once */
   ORDER_BACKWARD, /* the last one first, each to its end, caches emptied between them */
   ORDER_SHUFFLED, /* begun one after the other, in any order */
   ORDERS
};

struct planned {
   struct agx_hw_launch launch;
   struct agx_hw_usc_info program;
   struct agxs_dispatch dispatch;
   struct agxs_row *rows; /* the dispatch's pool */
   struct agxs_states states;
   uint16_t uniforms[AGX_UNIFORM_HALVES];
   uint64_t uniform_loaded[AGX_UNIFORM_HALVES / 64];
   uint32_t index; /* in the stream */
   bool is_prepared;
   uint64_t key, next, total; /* of its workgroups */
   uint32_t counts[3];
};

struct core {
   struct agxs_worker worker;
   bool is_busy;
};

struct agxs_chaos {
   struct core cores[CORES];
   struct planned window[WINDOW];
   uint32_t count; /* launches in the window */
   enum order order;
   uint64_t random;
   struct agxs_exec_set set;
};

/* splitmix64 */
static uint64_t mix(uint64_t value)
{
   value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9ull;
   value = (value ^ value >> 27) * 0x94d049bb133111ebull;
   return value ^ value >> 31;
}

static uint64_t draw(struct agxs_chaos *chaos)
{
   chaos->random += 0x9e3779b97f4a7c15ull;
   return mix(chaos->random);
}

static uint32_t draw_below(struct agxs_chaos *chaos, uint32_t bound)
{
   return (uint32_t)((draw(chaos) >> 32) * bound >> 32);
}

/* A Feistel network over the next even number of bits, walked until it is in range. */
uint64_t agxs_chaos_permute(uint64_t key, uint64_t count, uint64_t index)
{
   unsigned half = 1;
   while (half < 32 && (count - 1) >> (2 * half))
      half++;
   uint64_t mask = (1ull << half) - 1;
   do {
      uint64_t left = index >> half, right = index & mask;
      for (unsigned round = 0; round < 4; round++) {
         uint64_t next = left ^ (mix(key + round + (right << 8)) & mask);
         left = right;
         right = next;
      }
      index = left << half | right;
   } while (index >= count);
   return index;
}

/* What a kernel of a chaos run does otherwise: coherent loads and stores go past the
 * core's caches, and memory barriers act on them. Source of what a barrier is used
 * for: docs/hw/machine.md 9; that its codes mean just that is a reading [U]. */
#define VECTOR_BYTES 20u /* of a lane at most, wherever in a word it begins */

/* What a coherent access touches is the same in memory and in the core's copy. */
static void sync(struct agxs_group *group, const struct agxs_uop *uop)
{
   uint64_t va[AGXS_LANES];
   agxs_get_addresses(group, uop, agxs_scale_log2(uop, agxs_formats[uop->format].bytes), va);
   for (unsigned i = 0; i < AGXS_LANES; i++)
      if (group->active >> i & 1)
         agxs_cache_sync(&group->worker->tlb, va[i] & ~3ull, VECTOR_BYTES);
}

static const struct agxs_uop *chaos_load(struct agxs_group *group, const struct agxs_uop *uop)
{
   if (uop->is_coherent)
      sync(group, uop);
   return group->worker->plain_set->exec[AGXS_X_load](group, uop);
}

static const struct agxs_uop *chaos_store(struct agxs_group *group, const struct agxs_uop *uop)
{
   const struct agxs_uop *next = group->worker->plain_set->exec[AGXS_X_store](group, uop);
   if (uop->is_coherent)
      sync(group, uop);
   return next;
}

static const struct agxs_uop *membar(struct agxs_group *group, const struct agxs_uop *uop)
{
   agxs_cache_barrier(&group->worker->tlb, (enum agxs_membar)uop->mode);
   return uop + 1;
}

/* As base, with accesses and memory barriers that mind the caches. The worker's plain_set is base.
 */
static void make_exec_set(const struct agxs_exec_set *base, struct agxs_exec_set *out_set)
{
   *out_set = *base;
   out_set->name = "chaos";
   out_set->exec[AGXS_X_load] = chaos_load;
   out_set->exec[AGXS_X_store] = chaos_store;
   out_set->exec[AGXS_X_membar] = membar;
}

static agx_status init_core(struct agxs_run *run, struct agxs_worker *worker)
{
   AGX_TRY(agxs_cache_attach(&worker->tlb));
   worker->plain_set = run->set;
   return AGX_OK;
}

agx_status agxs_chaos_create(struct agxs_run *run)
{
   struct agxs_chaos *chaos = run->chaos = calloc(1, sizeof(*run->chaos));
   if (!chaos)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "simulator: out of memory for chaos");
   chaos->random = run->options->chaos_seed;
   /* The front end, which reads launch words and runs preambles, is like a core. */
   AGX_TRY(init_core(run, agxs_pool_worker(run->pool)));
   for (unsigned i = 0; i < CORES; i++) {
      AGX_TRY(agxs_worker_init(&chaos->cores[i].worker, run->memory));
      AGX_TRY(init_core(run, &chaos->cores[i].worker));
      chaos->cores[i].worker.core = agxs_core_at(run->chip, i);
      chaos->cores[i].worker.has_core = true;
   }
   make_exec_set(run->set, &chaos->set);
   run->set = &chaos->set;
   return AGX_OK;
}

static void empty_window(struct agxs_chaos *chaos)
{
   for (uint32_t i = 0; i < chaos->count; i++)
      free(chaos->window[i].rows);
   chaos->count = 0;
}

void agxs_chaos_destroy(struct agxs_run *run)
{
   struct agxs_chaos *chaos = run->chaos;
   if (!chaos)
      return;
   empty_window(chaos);
   for (unsigned i = 0; i < CORES; i++) {
      struct agxs_worker *worker = &chaos->cores[i].worker;
      agxs_stats_add(&run->stats, &worker->stats);
      agxs_cache_detach(&worker->tlb);
      agxs_worker_fini(worker);
   }
   agxs_cache_detach(&agxs_pool_worker(run->pool)->tlb);
   free(chaos);
   run->chaos = NULL;
}

/* What the dispatch points to is the run's until the next launch is prepared. */
static agx_status keep_dispatch(const struct agxs_run *run, struct planned *it)
{
   size_t bytes = it->dispatch.kernel->constant_count * sizeof(struct agxs_row);
   it->rows = aligned_alloc(64, AGX_MAX(bytes, sizeof(struct agxs_row)));
   if (!it->rows)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "dispatch %u: out of memory", it->index);
   if (bytes)
      memcpy(it->rows, it->dispatch.pool, bytes);
   it->dispatch.pool = it->rows;
   it->states = run->states;
   it->dispatch.states = &it->states;
   memcpy(it->uniforms, run->uniforms, sizeof(it->uniforms));
   it->dispatch.uniforms = it->uniforms;
   memcpy(it->uniform_loaded, run->uniform_loaded, sizeof(it->uniform_loaded));
   if (it->dispatch.uniform_loaded)
      it->dispatch.uniform_loaded = it->uniform_loaded;
   return AGX_OK;
}

/* Reads what the launch needs from memory, as late as its first workgroup. */
static agx_status prepare(struct agxs_run *run, struct planned *it)
{
   uint64_t ignored, dispatches = run->stats.dispatches;
   run->stats.dispatches = it->index;
   agx_status status =
      it->launch.mode == AGX_HW_CDM_MODE_DIRECT ? AGX_OK : agxs_run_sizes(run, &it->launch);
   if (status == AGX_OK)
      status = agxs_run_prepare(run, &it->launch, &it->program, &it->dispatch, &ignored);
   run->stats.dispatches = dispatches;
   AGX_TRY(status);
   it->is_prepared = true;
   it->total = it->dispatch.kernel ? 1 : 0;
   for (unsigned axis = 0; axis < 3 && it->total; axis++) {
      it->counts[axis] = (uint32_t)agx_div_up(it->dispatch.grid[axis], it->dispatch.local[axis]);
      if (__builtin_mul_overflow(it->total, it->counts[axis], &it->total))
         return AGX_FAIL(AGX_INVALID_ARGUMENT, "dispatch %u: more than 2^64 workgroups", it->index);
   }
   return it->total ? keep_dispatch(run, it) : AGX_OK;
}

static bool has_more(const struct planned *it)
{
   return !it->is_prepared || it->next < it->total;
}

static void drop_caches(struct agxs_run *run)
{
   for (unsigned i = 0; i < CORES; i++)
      agxs_cache_drop(&run->chaos->cores[i].worker.tlb);
   agxs_cache_drop(&agxs_pool_worker(run->pool)->tlb);
}

static bool is_quiet(const struct agxs_chaos *chaos)
{
   for (unsigned i = 0; i < CORES; i++)
      if (chaos->cores[i].is_busy)
         return false;
   return true;
}

/* The launch whose workgroup begins next, or NULL when none may now. */
static struct planned *pick(struct agxs_run *run)
{
   struct agxs_chaos *chaos = run->chaos;
   uint32_t count = chaos->count;
   uint32_t start = chaos->order <= ORDER_LEAKING ? draw_below(chaos, count) : 0;
   for (uint32_t i = 0; i < count; i++) {
      uint32_t at = chaos->order == ORDER_BACKWARD ? count - 1 - i : (start + i) % count;
      struct planned *it = &chaos->window[at];
      if (!has_more(it))
         continue;
      if (chaos->order == ORDER_BACKWARD && !it->is_prepared) {
         if (!is_quiet(chaos))
            return NULL;
         drop_caches(run);
      }
      return it;
   }
   return NULL;
}

/* Gives the core a workgroup, where one is left. */
static agx_status begin_workgroup(struct agxs_run *run, struct core *core)
{
   struct planned *it = pick(run);
   if (it && !it->is_prepared)
      AGX_TRY(prepare(run, it));
   if (!it || it->next == it->total)
      return AGX_OK;
   uint64_t index = agxs_chaos_permute(it->key, it->total, it->next++);
   uint64_t above = index / it->counts[0];
   const uint32_t workgroup[3] = {
      (uint32_t)(index % it->counts[0]),
      (uint32_t)(above % it->counts[1]),
      (uint32_t)(above / it->counts[1]),
   };
   AGX_TRY(agxs_worker_begin(&core->worker, &it->dispatch));
   core->is_busy = true;
   return agxs_worker_enter(&core->worker, workgroup);
}

/* A SIMD-group of the core that can run; NULL when none can. */
static struct agxs_group *pick_group(struct agxs_chaos *chaos, struct core *core)
{
   uint32_t count = agxs_worker_groups(&core->worker), start = draw_below(chaos, count);
   for (uint32_t i = 0; i < count; i++) {
      struct agxs_group *group = &core->worker.groups[(start + i) % count];
      if (group->state == AGXS_GROUP_READY)
         return group;
   }
   return NULL;
}

/* No group of the core can run: all that live stand at a barrier, or none is left. */
static void pass_barrier(struct agxs_chaos *chaos, struct core *core)
{
   uint32_t count = agxs_worker_groups(&core->worker);
   core->is_busy = false;
   for (uint32_t i = 0; i < count; i++) {
      struct agxs_group *group = &core->worker.groups[i];
      if (group->state != AGXS_GROUP_AT_BARRIER)
         continue;
      group->state = AGXS_GROUP_READY;
      core->is_busy = true;
   }
   if (draw_below(chaos, 2))
      agxs_cache_evict(&core->worker.tlb, draw(chaos));
}

static agx_status step(struct agxs_chaos *chaos, struct core *core)
{
   struct agxs_group *group = pick_group(chaos, core);
   if (!group) {
      pass_barrier(chaos, core);
      return AGX_OK;
   }
   core->worker.slice = draw_below(chaos, 2) ? 4096 : 1 + draw_below(chaos, 64);
   agxs_group_run(group);
   if (agxs_cache_is_off(&core->worker.tlb))
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "chaos: no memory for a core's caches");
   if (draw_below(chaos, chaos->order == ORDER_LEAKING ? LEAK_STEPS : EVICTION_STEPS) == 0)
      agxs_cache_evict(&core->worker.tlb, draw(chaos));
   return group->state == AGXS_GROUP_FAILED ? group->status : AGX_OK;
}

/* The next core that has something to do, from a random one on; NULL when all is done. */
static struct core *pick_core(struct agxs_chaos *chaos)
{
   uint32_t start = draw_below(chaos, CORES);
   bool is_more = false;
   for (uint32_t i = 0; i < chaos->count; i++)
      is_more |= has_more(&chaos->window[i]);
   for (uint32_t i = 0; i < CORES; i++) {
      struct core *core = &chaos->cores[(start + i) % CORES];
      if (core->is_busy || is_more)
         return core;
   }
   return NULL;
}

static void shuffle(struct agxs_chaos *chaos)
{
   for (uint32_t left = chaos->count; left > 1; left--) {
      uint32_t other = draw_below(chaos, left);
      struct planned swap = chaos->window[left - 1];
      chaos->window[left - 1] = chaos->window[other];
      chaos->window[other] = swap;
   }
}

/* Runs the launches of the window to their ends; their stores may stay in caches. */
static agx_status run_window(struct agxs_run *run)
{
   struct agxs_chaos *chaos = run->chaos;
   const atomic_bool *cancel = run->options->cancel;
   struct core *core;
   chaos->order = (enum order)draw_below(chaos, ORDERS);
   if (chaos->order == ORDER_SHUFFLED)
      shuffle(chaos);
   while ((core = pick_core(chaos))) {
      if (cancel && atomic_load_explicit(cancel, memory_order_relaxed))
         return AGX_FAIL(AGX_CANCELLED, "chaos: cancelled");
      if (agxs_is_overdue(run->options))
         return AGX_FAIL(AGX_DEADLINE_EXCEEDED, "chaos: over the time limit");
      if (core->is_busy)
         AGX_TRY(step(chaos, core));
      else
         AGX_TRY(begin_workgroup(run, core));
   }
   empty_window(chaos);
   return AGX_OK;
}

agx_status agxs_chaos_add(struct agxs_run *run, const struct agx_hw_launch *launch,
                          const struct agx_hw_usc_info *program)
{
   struct agxs_chaos *chaos = run->chaos;
   if (chaos->count == WINDOW)
      AGX_TRY(run_window(run));
   struct planned *it = &chaos->window[chaos->count++];
   *it = (struct planned){
      .launch = *launch,
      .program = *program,
      .index = (uint32_t)run->stats.dispatches++,
      .key = draw(chaos),
   };
   return AGX_OK;
}

agx_status agxs_chaos_barrier(struct agxs_run *run)
{
   AGX_TRY(run_window(run));
   drop_caches(run);
   return AGX_OK;
}
