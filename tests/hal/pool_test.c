/* SPDX-License-Identifier: MIT
 *
 * What pools hand out: against a model that knows of each unit of memory who has it, and when its
 * last user is over. Then pools over a device.
 */
#include "hal/pool.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "failing_kmd.h"
#include "fixture.h"

#define UNIT_B    AGX_TLSF_UNIT_B
#define SLABS     4
#define UNITS     4096 /* of a slab */
#define OWNERS    512
#define NR_CREATE 0x45

/* ---- the model ------------------------------------------------------------- */

struct model {
   uint16_t owner[SLABS][UNITS]; /* 1..; 0: nobody */
   struct agx_frontier death[SLABS][UNITS];
   struct agx_frontier submitted, reached;
   struct agx_test_rng rng;
   struct agx_pool_slab slabs[SLABS];
   struct agx_pool_block *blocks[OWNERS];
   uint64_t sizes[OWNERS], used_B;
};

static uint64_t below(struct model *m, uint64_t bound)
{
   return agx_test_random_below(&m->rng, bound);
}

/* Some epochs between those reached and those submitted. */
static struct agx_frontier some_frontier(struct model *m)
{
   struct agx_frontier frontier = {0};
   for (unsigned i = 0; i < 3; i++)
      frontier.epochs[i] =
         m->reached.epochs[i] + below(m, m->submitted.epochs[i] - m->reached.epochs[i] + 1);
   return frontier;
}

static void time_passes(struct model *m)
{
   unsigned queue = (unsigned)below(m, 3);
   if (below(m, 2))
      m->submitted.epochs[queue] += below(m, 4);
   else
      m->reached.epochs[queue] +=
         below(m, m->submitted.epochs[queue] - m->reached.epochs[queue] + 1);
}

static uint32_t slab_of(const struct model *m, const struct agx_pool_block *block)
{
   return (uint32_t)(block->slab - m->slabs);
}

/* The block is nobody else's, and its user waits for all who had any of it. */
static void model_take(struct model *m, uint32_t owner, struct agx_pool_block *block,
                       const struct agx_pool_want *want)
{
   const uint32_t slab = slab_of(m, block);
   struct agx_frontier waited = *want->covered;
   if (want->may_wait)
      agx_frontier_merge(&waited, &block->death);
   assert_int_equal(block->state, AGX_BLOCK_USED);
   assert_true(block->size_B >= want->size_B);
   assert_true(block->size_B < want->size_B + UNIT_B);
   assert_int_equal(block->offset_B % want->align_B, 0);
   assert_true(agx_range_fits(block->offset_B, block->size_B, m->slabs[slab].size_B));
   for (uint64_t unit = block->offset_B / UNIT_B; unit * UNIT_B < block->offset_B + block->size_B;
        unit++) {
      assert_int_equal(m->owner[slab][unit], 0);
      assert_true(agx_frontier_covers(&waited, &m->death[slab][unit]));
      m->owner[slab][unit] = (uint16_t)owner;
   }
   m->blocks[owner] = block;
   m->used_B += block->size_B;
}

static void model_give(struct model *m, uint32_t owner, const struct agx_frontier *death)
{
   const struct agx_pool_block *block = m->blocks[owner];
   const uint32_t slab = slab_of(m, block);
   for (uint64_t unit = block->offset_B / UNIT_B; unit * UNIT_B < block->offset_B + block->size_B;
        unit++) {
      assert_int_equal(m->owner[slab][unit], owner);
      m->owner[slab][unit] = 0;
      m->death[slab][unit] = death ? *death : (struct agx_frontier){0};
   }
   m->used_B -= block->size_B;
   m->blocks[owner] = NULL;
}

/* The longest run of units that anybody may have. */
static uint64_t longest_free(const struct model *m)
{
   uint64_t longest = 0;
   for (uint32_t slab = 0; slab < SLABS; slab++) {
      uint64_t run = 0;
      for (uint32_t unit = 0; unit < UNITS; unit++) {
         bool free =
            m->owner[slab][unit] == 0 && agx_frontier_covers(&m->reached, &m->death[slab][unit]);
         run = free ? run + 1 : 0;
         longest = AGX_MAX(longest, run);
      }
   }
   return longest * UNIT_B;
}

/* ---- variable sizes ---------------------------------------------------------- */

/* Neighbours, bins and sums fit together. */
static void check_tlsf(const struct agx_tlsf *tlsf, const struct model *m)
{
   uint64_t cold_B = 0, hot_B = 0, used_B = 0;
   for (uint32_t i = 0; i < SLABS; i++) {
      const struct agx_pool_block *below_it = NULL;
      uint64_t at = 0, slab_cold_B = 0;
      for (const struct agx_pool_block *it = m->slabs[i].first; it; below_it = it, it = it->above) {
         assert_ptr_equal(it->below, below_it);
         assert_true(it->offset_B == at && it->size_B > 0);
         at += it->size_B;
         bool is_cold = it->state == AGX_BLOCK_COLD;
         assert_false(is_cold && below_it && below_it->state == AGX_BLOCK_COLD);
         slab_cold_B += is_cold ? it->size_B : 0;
         hot_B += it->state == AGX_BLOCK_HOT ? it->size_B : 0;
         used_B += it->state == AGX_BLOCK_USED ? it->size_B : 0;
      }
      assert_true(at == m->slabs[i].size_B);
      assert_true(slab_cold_B == m->slabs[i].cold_B);
      cold_B += slab_cold_B;
   }
   assert_true(cold_B == tlsf->cold_B && hot_B == tlsf->hot_B && used_B == m->used_B);
}

static struct model *new_model(uint64_t seed, uint64_t slab_B)
{
   struct model *m = calloc(1, sizeof(*m));
   assert_non_null(m);
   m->rng.state = seed;
   for (uint32_t i = 0; i < SLABS; i++)
      m->slabs[i].size_B = slab_B;
   return m;
}

/* Mostly small, some large. */
static uint64_t some_size(struct model *m)
{
   uint64_t most = (uint64_t)1 << (9 + below(m, 9));
   return 1 + below(m, most);
}

static void tlsf_step(struct agx_tlsf *tlsf, struct model *m)
{
   const uint32_t owner = 1 + (uint32_t)below(m, OWNERS - 1);
   struct agx_frontier frontier = some_frontier(m);
   if (m->blocks[owner]) {
      const struct agx_frontier *death = below(m, 3) ? &frontier : NULL;
      struct agx_pool_block *block = m->blocks[owner];
      model_give(m, owner, death);
      agx_tlsf_give(tlsf, block, death);
      return;
   }
   const struct agx_pool_want want = {.size_B = some_size(m),
                                      .align_B = (uint64_t)1 << below(m, 15),
                                      .covered = &frontier,
                                      .may_wait = below(m, 4) == 0};
   struct agx_pool_block *block;
   if (below(m, 2))
      agx_tlsf_cool(tlsf, &m->reached, 16);
   assert_ok(agx_tlsf_take(tlsf, &want, &block));
   if (block) {
      model_take(m, owner, block, &want);
      return;
   }
   /* Whatever is a sixteenth longer, wherever it begins, would have been found. */
   agx_tlsf_cool(tlsf, &m->reached, UINT32_MAX);
   assert_ok(agx_tlsf_take(tlsf, &want, &block));
   if (block)
      model_take(m, owner, block, &want);
   else
      assert_true(longest_free(m) < (want.size_B + want.align_B + 2 * UNIT_B) * 17 / 16);
}

static void tlsf_never_overlaps(void **state)
{
   for (uint64_t seed = 1; seed <= 12; seed++) {
      struct model *m = new_model(seed * 77, (uint64_t)UNITS * UNIT_B);
      struct agx_tlsf tlsf;
      agx_tlsf_init(&tlsf, agx_host_alloc_default());
      for (uint32_t i = 0; i < SLABS; i++)
         assert_ok(agx_tlsf_add(&tlsf, &m->slabs[i]));
      assert_int_equal(tlsf.idle.count, SLABS);
      for (uint32_t step = 0; step < 6000; step++) {
         tlsf_step(&tlsf, m);
         time_passes(m);
         if (step % 64 == 0)
            check_tlsf(&tlsf, m);
      }
      for (uint32_t owner = 1; owner < OWNERS; owner++) {
         if (m->blocks[owner])
            agx_tlsf_give(&tlsf, m->blocks[owner], owner % 2 ? &m->submitted : NULL);
      }
      agx_tlsf_cool(&tlsf, &m->submitted, UINT32_MAX);
      assert_int_equal(tlsf.idle.count, SLABS);
      for (uint32_t i = 0; i < SLABS; i++)
         agx_tlsf_remove(&tlsf, &m->slabs[i]);
      assert_true(tlsf.cold_B == 0 && tlsf.hot_B == 0 && tlsf.idle.count == 0);
      agx_tlsf_fini(&tlsf);
      free(m);
   }
}

/* How full a pool gets of random sizes before the first that finds no place, after much coming
 * and going: little is lost. */
static void tlsf_fills_its_slabs(void **state)
{
   struct model *m = new_model(4711, (uint64_t)UNITS * UNIT_B);
   struct agx_tlsf tlsf;
   const struct agx_frontier none = {0};
   uint64_t least_B = UINT64_MAX, total_B = 0;
   uint32_t rounds = 0;
   agx_tlsf_init(&tlsf, agx_host_alloc_default());
   for (uint32_t i = 0; i < SLABS; i++)
      assert_ok(agx_tlsf_add(&tlsf, &m->slabs[i]));
   for (uint32_t step = 0; step < 40000; step++) {
      const uint32_t owner = 1 + (uint32_t)below(m, OWNERS - 1);
      const struct agx_pool_want want = {
         .size_B = 1 + below(m, 32768), .align_B = 1, .covered = &none};
      struct agx_pool_block *block = m->blocks[owner];
      if (block) {
         model_give(m, owner, NULL);
         agx_tlsf_give(&tlsf, block, NULL);
         continue;
      }
      assert_ok(agx_tlsf_take(&tlsf, &want, &block));
      if (block) {
         model_take(m, owner, block, &want);
         continue;
      }
      least_B = AGX_MIN(least_B, m->used_B);
      total_B += m->used_B;
      rounds++;
      assert_true(longest_free(m) < (want.size_B + 2 * UNIT_B) * 17 / 16);
   }
   assert_true(rounds > 100);
   const uint64_t all_B = (uint64_t)SLABS * UNITS * UNIT_B;
   print_message("tlsf: full at %llu%% on average, %llu%% at worst\n",
                 (unsigned long long)(100 * (total_B / rounds) / all_B),
                 (unsigned long long)(100 * least_B / all_B));
   assert_true(total_B / rounds > all_B * 80 / 100);
   assert_true(least_B > all_B * 65 / 100);
   agx_tlsf_fini(&tlsf);
   free(m);
}

static void tlsf_without_host_memory(void **state)
{
   struct agx_failing_alloc failing;
   struct agx_pool_slab slab = {.size_B = 1 << 20};
   struct agx_tlsf tlsf;
   struct agx_frontier none = {0};
   struct agx_pool_block *block = NULL;
   uint32_t taken = 0;
   agx_failing_alloc_init(&failing, 0);
   agx_tlsf_init(&tlsf, &failing.alloc);
   assert_fails(agx_tlsf_add(&tlsf, &slab), AGX_RESOURCE_EXHAUSTED, "host memory");
   failing.remaining = 1;
   assert_ok(agx_tlsf_add(&tlsf, &slab));
   const struct agx_pool_want want = {.size_B = 256, .align_B = 1, .covered = &none};
   agx_status status = AGX_OK;
   while (status == AGX_OK) {
      status = agx_tlsf_take(&tlsf, &want, &block);
      taken += status == AGX_OK;
   }
   assert_int_equal(status, AGX_RESOURCE_EXHAUSTED);
   assert_in_range(taken, 32, 63);
   failing.remaining = 1;
   assert_ok(agx_tlsf_take(&tlsf, &want, &block));
   agx_tlsf_fini(&tlsf);
   assert_int_equal(failing.live, 0);
}

/* ---- blocks of one size -------------------------------------------------------- */

static void fixed_never_overlaps(void **state)
{
   const uint64_t block_B = 7 * UNIT_B;
   struct model *m = new_model(99, (uint64_t)UNITS / 8 * UNIT_B);
   struct agx_fixed fixed;
   agx_fixed_init(&fixed, block_B, agx_host_alloc_default());
   for (uint32_t i = 0; i < SLABS; i++) {
      assert_ok(agx_fixed_add(&fixed, &m->slabs[i]));
      assert_int_equal(m->slabs[i].size_B, 73 * block_B);
   }
   for (uint32_t step = 0; step < 60000; step++) {
      const uint32_t owner = 1 + (uint32_t)below(m, OWNERS - 1);
      struct agx_pool_block *block = m->blocks[owner];
      time_passes(m);
      struct agx_frontier frontier = some_frontier(m);
      if (block) {
         const struct agx_frontier *death = below(m, 3) ? &frontier : NULL;
         model_give(m, owner, death);
         agx_fixed_give(&fixed, block, death);
         continue;
      }
      const struct agx_pool_want want = {
         .size_B = block_B, .align_B = 1, .covered = &frontier, .may_wait = below(m, 3) == 0};
      agx_fixed_cool(&fixed, &m->reached, below(m, 2) ? 16 : UINT32_MAX);
      block = agx_fixed_take(&fixed, &want);
      if (block)
         model_take(m, owner, block, &want);
      assert_true(fixed.cold_B + fixed.hot_B + m->used_B == SLABS * 73 * block_B);
   }
   for (uint32_t owner = 1; owner < OWNERS; owner++) {
      if (m->blocks[owner])
         agx_fixed_give(&fixed, m->blocks[owner], NULL);
   }
   agx_fixed_cool(&fixed, &m->submitted, UINT32_MAX);
   assert_int_equal(fixed.idle.count, SLABS);
   for (uint32_t i = 0; i < SLABS; i++)
      agx_fixed_remove(&fixed, &m->slabs[i]);
   assert_true(fixed.cold_B == 0 && fixed.hot_B == 0 && fixed.idle.count == 0);
   agx_fixed_fini(&fixed);
   free(m);
}

/* ---- over a device ---------------------------------------------------------------- */

static struct agx_pool *new_pool(struct fixture *f, const struct agx_pool_desc *desc)
{
   struct agx_pool *pool = NULL;
   assert_ok(agx_pool_create(f->device, desc, &pool));
   return pool;
}

static struct agx_pool_stats stats_of(struct agx_pool *pool)
{
   struct agx_pool_stats stats = {.size = sizeof(stats)};
   agx_pool_get_stats(pool, &stats);
   return stats;
}

static uint64_t address_of(struct agx_buffer *buffer)
{
   struct agx_buffer_info info = {.size = sizeof(info)};
   agx_buffer_get_info(buffer, &info);
   return info.address;
}

/* Kernels and the host meet in a buffer of a pool as in any other. */
static void buffers_of_pools_work(void **state)
{
   static const struct agx_pool_desc descs[] = {
      {.size = sizeof(descs[0]), .flags = AGX_BUFFER_HOST_READ, .slab_B = 1 << 20},
      {.size = sizeof(descs[0]),
       .strategy = AGX_POOL_FIXED,
       .flags = AGX_BUFFER_HOST_READ,
       .block_B = 1000},
      {.size = sizeof(descs[0]), .strategy = AGX_POOL_PASSTHROUGH, .flags = AGX_BUFFER_HOST_READ},
   };
   struct fixture f;
   fixture_open(&f, "virtual");
   struct agx_executable *count = fixture_kernel(&f, &agx_test_count);
   for (size_t i = 0; i < AGX_COUNT(descs); i++) {
      struct agx_pool *pool = new_pool(&f, &descs[i]);
      struct agx_buffer *buffers[5];
      struct agx_command_buffer *commands = fixture_begin(&f);
      struct agx_semaphore *done = fixture_semaphore(&f);
      void *memory = NULL;
      for (uint32_t j = 0; j < 5; j++) {
         assert_ok(agx_pool_allocate(pool, 300, 512, &buffers[j]));
         assert_int_equal(address_of(buffers[j]) % 512, 0);
         assert_ok(agx_buffer_map(buffers[j], &memory));
         memset(memory, 0xee, 300);
      }
      assert_true(stats_of(pool).used_B >= 5 * 300);
      assert_int_equal(stats_of(pool).allocations, 5);
      assert_int_equal(stats_of(pool).slab_count, i == 2 ? 5 : 1);
      agx_release(pool); /* the buffers keep it */
      fixture_dispatch(commands, count, 1, &buffers[2], 1, NULL, 0);
      assert_ok(agx_command_buffer_end(commands));
      assert_ok(fixture_submit(&f, commands, NO_POINT, (struct agx_point){done, 1}));
      assert_ok(fixture_wait(done, 1));
      for (uint32_t j = 0; j < 5; j++) {
         assert_ok(agx_buffer_map(buffers[j], &memory));
         assert_int_equal(((uint32_t *)memory)[63], j == 2 ? 64 : 0xeeeeeeee);
         agx_release(buffers[j]);
      }
      agx_release(commands);
      agx_release(done);
   }
   agx_release(count);
   fixture_close(&f);
}

static void a_pool_keeps_its_limit(void **state)
{
   const struct agx_pool_desc desc = {.size = sizeof(desc),
                                      .strategy = AGX_POOL_FIXED,
                                      .block_B = 16384,
                                      .limit_B = 3 * 16384,
                                      .label = "frames"};
   struct fixture f;
   struct agx_buffer *buffers[3], *more = (void *)1;
   fixture_open(&f, "virtual");
   struct agx_pool *pool = new_pool(&f, &desc);
   for (uint32_t i = 0; i < 3; i++)
      assert_ok(agx_pool_allocate(pool, 16384, 0, &buffers[i]));
   assert_fails(agx_pool_allocate(pool, 1, 0, &more), AGX_RESOURCE_EXHAUSTED, "frames");
   assert_null(more);
   uint64_t address = address_of(buffers[1]);
   agx_release(buffers[1]);
   assert_ok(agx_pool_allocate(pool, 100, 0, &buffers[1]));
   assert_true(address_of(buffers[1]) == address);
   assert_fails(agx_pool_allocate(pool, 16385, 0, &more), AGX_INVALID_ARGUMENT, "16385");
   assert_fails(agx_pool_allocate(pool, 0, 0, &more), AGX_INVALID_ARGUMENT, "0 bytes");
   assert_fails(agx_pool_allocate(pool, 4, 3, &more), AGX_INVALID_ARGUMENT, "alignment 3");
   assert_fails(agx_pool_allocate(pool, 4, 32768, &more), AGX_INVALID_ARGUMENT, "32768");
   assert_int_equal(stats_of(pool).reserved_B, 3 * 16384);
   for (uint32_t i = 0; i < 3; i++)
      agx_release(buffers[i]);
   assert_int_equal(stats_of(pool).used_B, 0);
   assert_int_equal(stats_of(pool).peak_used_B, 3 * 16384);
   agx_pool_trim(pool);
   assert_int_equal(stats_of(pool).reserved_B, 0);
   assert_int_equal(stats_of(pool).peak_reserved_B, 3 * 16384);
   agx_release(pool);
   fixture_close(&f);
}

/* What is idle and too small goes, rather than keep a buffer out that the limit allows. */
static void idle_slabs_make_room_at_the_limit(void **state)
{
   const struct agx_pool_desc desc = {
      .size = sizeof(desc), .slab_B = 64 << 10, .limit_B = 128 << 10};
   struct fixture f;
   struct agx_buffer *buffer = NULL;
   fixture_open(&f, "virtual");
   struct agx_pool *pool = new_pool(&f, &desc);
   assert_ok(agx_pool_allocate(pool, 100, 0, &buffer));
   agx_release(buffer);
   assert_int_equal(stats_of(pool).reserved_B, 64 << 10);
   assert_ok(agx_pool_allocate(pool, 128 << 10, 0, &buffer));
   assert_int_equal(stats_of(pool).reserved_B, 128 << 10);
   agx_release(buffer);
   agx_release(pool);
   fixture_close(&f);
}

static void bad_pools_are_refused(void **state)
{
   static const struct {
      struct agx_pool_desc desc;
      const char *part;
   } bad[] = {
      {{.strategy = 3}, "strategy 3"},
      {{.strategy = AGX_POOL_FIXED}, "block size 0"},
      {{.block_B = 1}, "block size 1"},
      {{.slab_B = (1ull << 37) + 1}, "137438953473"},
      {{.strategy = AGX_POOL_FIXED, .block_B = UINT64_MAX}, "18446744073709551615"},
   };
   struct fixture f;
   struct agx_pool *pool = (void *)1;
   fixture_open(&f, "virtual");
   for (size_t i = 0; i < AGX_COUNT(bad); i++) {
      struct agx_pool_desc desc = bad[i].desc;
      desc.size = sizeof(desc);
      assert_fails(agx_pool_create(f.device, &desc, &pool), AGX_INVALID_ARGUMENT, bad[i].part);
      assert_null(pool);
   }
   fixture_close(&f);
}

/* A smaller slab where the device has no large one, and numbers where it has none at all. */
static void a_device_without_memory(void **state)
{
   const struct agx_pool_desc desc = {.size = sizeof(desc), .slab_B = 8 << 20};
   struct failing_kmd kmd;
   struct fixture f = {0};
   struct agx_buffer *buffer = NULL;
   failing_kmd_open(&kmd);
   assert_ok(agx_instance_create(NULL, &f.instance));
   assert_ok(agx_device_open_kmd(f.instance, &kmd.base, &f.device));
   struct agx_pool *pool = new_pool(&f, &desc);
   failing_kmd_arm(&kmd, 0, NR_CREATE, ENOMEM);
   assert_fails(agx_pool_allocate(pool, 100, 0, &buffer), AGX_RESOURCE_EXHAUSTED, "GEM_CREATE");
   assert_int_equal(kmd.failed, 2);
   assert_int_equal(stats_of(pool).reserved_B, 0);
   failing_kmd_disarm(&kmd);
   assert_ok(agx_pool_allocate(pool, 100, 0, &buffer));
   assert_int_equal(stats_of(pool).reserved_B, 8 << 20);
   agx_release(buffer);
   agx_release(pool);
   fixture_close(&f);
   failing_kmd_await_close(&kmd);
}

struct party {
   struct agx_pool *pool;
   uint64_t seed;
};

/* Each writes its number all over its buffers, and finds it there later. */
static void *come_and_go(void *argument)
{
   struct party *party = argument;
   struct agx_test_rng rng = {party->seed};
   struct agx_buffer *buffers[16] = {0};
   void *memories[16];
   uint64_t sizes[16];
   for (uint32_t step = 0; step < 1500; step++) {
      uint32_t i = (uint32_t)agx_test_random_below(&rng, 16);
      if (buffers[i]) {
         const uint8_t *bytes = memories[i];
         if (bytes[0] != party->seed || bytes[sizes[i] - 1] != party->seed)
            return "another one's bytes";
         agx_release(buffers[i]);
         buffers[i] = NULL;
         continue;
      }
      sizes[i] = 1 + agx_test_random_below(&rng, 5000);
      if (agx_pool_allocate(party->pool, sizes[i], 0, &buffers[i]) != AGX_OK ||
          agx_buffer_map(buffers[i], &memories[i]) != AGX_OK)
         return "no buffer";
      memset(memories[i], (int)party->seed, sizes[i]);
   }
   for (uint32_t i = 0; i < 16; i++)
      agx_release(buffers[i]);
   return NULL;
}

static void threads_share_a_pool(void **state)
{
   for (uint32_t strategy = 0; strategy < 3; strategy++) {
      const struct agx_pool_desc desc = {.size = sizeof(desc),
                                         .strategy = strategy,
                                         .slab_B = 128 << 10,
                                         .block_B = strategy == AGX_POOL_FIXED ? 16384 : 0};
      struct fixture f;
      pthread_t threads[4];
      struct party parties[4];
      fixture_open(&f, "virtual");
      struct agx_pool *pool = new_pool(&f, &desc);
      for (uint32_t i = 0; i < 4; i++) {
         parties[i] = (struct party){pool, 1 + i};
         assert_int_equal(pthread_create(&threads[i], NULL, come_and_go, &parties[i]), 0);
      }
      for (uint32_t i = 0; i < 4; i++) {
         void *wrong = NULL;
         pthread_join(threads[i], &wrong);
         if (wrong)
            fail_msg("%s", (char *)wrong);
      }
      assert_int_equal(stats_of(pool).used_B, 0);
      agx_pool_trim(pool);
      assert_int_equal(stats_of(pool).reserved_B, 0);
      agx_release(pool);
      fixture_close(&f);
   }
}

int main(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(tlsf_never_overlaps),
      cmocka_unit_test(tlsf_fills_its_slabs),
      cmocka_unit_test(tlsf_without_host_memory),
      cmocka_unit_test(fixed_never_overlaps),
      cmocka_unit_test(buffers_of_pools_work),
      cmocka_unit_test(a_pool_keeps_its_limit),
      cmocka_unit_test(idle_slabs_make_room_at_the_limit),
      cmocka_unit_test(bad_pools_are_refused),
      cmocka_unit_test(a_device_without_memory),
      cmocka_unit_test(threads_share_a_pool),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
