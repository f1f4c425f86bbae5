/* SPDX-License-Identifier: MIT
 *
 * What pools hand out: against a model that knows of each unit of memory who has it, and when its
 * last user is over. Then pools over a device.
 */
#include "pool_model.h"
#include "failing_alloc.h"

/* ---- variable sizes ---------------------------------------------------------- */

/* Neighbours, bins and sums fit together. */
static void check_tlsf(const struct agx_tlsf *tlsf, const struct pool_model *m)
{
   uint64_t idle_B = 0, busy_B = 0, used_B = 0;
   for (uint32_t i = 0; i < SLABS; i++) {
      const struct agx_pool_block *below_it = NULL;
      uint64_t at = 0, slab_idle_B = 0;
      for (const struct agx_pool_block *it = m->slabs[i].first; it; below_it = it, it = it->above) {
         assert_ptr_equal(it->below, below_it);
         assert_true(it->offset_B == at && it->size_B > 0);
         at += it->size_B;
         bool is_idle = it->state == AGX_BLOCK_IDLE;
         assert_false(is_idle && below_it && below_it->state == AGX_BLOCK_IDLE);
         slab_idle_B += is_idle ? it->size_B : 0;
         busy_B += it->state == AGX_BLOCK_BUSY ? it->size_B : 0;
         used_B += it->state == AGX_BLOCK_USED ? it->size_B : 0;
      }
      assert_true(at == m->slabs[i].size_B);
      assert_true(slab_idle_B == m->slabs[i].idle_B);
      idle_B += slab_idle_B;
   }
   assert_true(idle_B == tlsf->idle_B && busy_B == tlsf->busy_B && used_B == m->used_B);
}

/* Mostly small, some large. */
static uint64_t some_size(struct pool_model *m)
{
   uint64_t most = (uint64_t)1 << (9 + below(m, 9));
   return 1 + below(m, most);
}

static void tlsf_step(struct agx_tlsf *tlsf, struct pool_model *m)
{
   const uint32_t owner = 1 + (uint32_t)below(m, OWNERS - 1);
   struct agx_frontier frontier = some_frontier(m);
   if (m->blocks[owner]) {
      const struct agx_frontier *death = below(m, 3) ? &frontier : NULL;
      struct agx_pool_block *block = m->blocks[owner];
      model_give(m, owner, death);
      agx_tlsf_return(tlsf, block, death);
      return;
   }
   const struct agx_pool_want want = {.size_B = some_size(m),
                                      .align_B = (uint64_t)1 << below(m, 15),
                                      .covered = &frontier,
                                      .may_wait = below(m, 4) == 0};
   struct agx_pool_block *block;
   if (below(m, 2))
      agx_tlsf_reclaim(tlsf, &m->reached, 16);
   assert_ok(agx_tlsf_acquire(tlsf, &want, &block));
   if (block) {
      model_take(m, owner, block, &want);
      return;
   }
   /* Whatever is a sixteenth longer, wherever it begins, would have been found. */
   agx_tlsf_reclaim(tlsf, &m->reached, UINT32_MAX);
   assert_ok(agx_tlsf_acquire(tlsf, &want, &block));
   if (block)
      model_take(m, owner, block, &want);
   else
      assert_true(longest_free(m) < (want.size_B + want.align_B + 2 * UNIT_B) * 17 / 16);
}

static void tlsf_never_overlaps(void **state)
{
   for (uint64_t seed = 1; seed <= 12; seed++) {
      struct pool_model *m = new_model(seed * 77, (uint64_t)UNITS * UNIT_B);
      struct agx_tlsf tlsf;
      agx_tlsf_init(&tlsf, agx_host_alloc_default());
      for (uint32_t i = 0; i < SLABS; i++)
         assert_ok(agx_tlsf_add(&tlsf, &m->slabs[i]));
      assert_int_equal(tlsf.idle_slabs.count, SLABS);
      for (uint32_t step = 0; step < 6000; step++) {
         tlsf_step(&tlsf, m);
         time_passes(m);
         if (step % 64 == 0)
            check_tlsf(&tlsf, m);
      }
      for (uint32_t owner = 1; owner < OWNERS; owner++) {
         if (m->blocks[owner])
            agx_tlsf_return(&tlsf, m->blocks[owner], owner % 2 ? &m->submitted : NULL);
      }
      agx_tlsf_reclaim(&tlsf, &m->submitted, UINT32_MAX);
      assert_int_equal(tlsf.idle_slabs.count, SLABS);
      for (uint32_t i = 0; i < SLABS; i++)
         agx_tlsf_remove(&tlsf, &m->slabs[i]);
      assert_true(tlsf.idle_B == 0 && tlsf.busy_B == 0 && tlsf.idle_slabs.count == 0);
      agx_tlsf_fini(&tlsf);
      free(m);
   }
}

/* How full a pool gets of random sizes before the first that finds no place, after much coming
 * and going: little is lost. */
static void tlsf_fills_its_slabs(void **state)
{
   struct pool_model *m = new_model(4711, (uint64_t)UNITS * UNIT_B);
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
         agx_tlsf_return(&tlsf, block, NULL);
         continue;
      }
      assert_ok(agx_tlsf_acquire(&tlsf, &want, &block));
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
   struct failing_alloc failing;
   struct agx_pool_slab slab = {.size_B = 1 << 20};
   struct agx_tlsf tlsf;
   struct agx_frontier none = {0};
   struct agx_pool_block *block = NULL;
   uint32_t taken = 0;
   failing_alloc_init(&failing, 0);
   agx_tlsf_init(&tlsf, &failing.alloc);
   assert_fails(agx_tlsf_add(&tlsf, &slab), AGX_RESOURCE_EXHAUSTED, "host memory");
   failing.remaining = 1;
   assert_ok(agx_tlsf_add(&tlsf, &slab));
   const struct agx_pool_want want = {.size_B = 256, .align_B = 1, .covered = &none};
   agx_status status = AGX_OK;
   while (status == AGX_OK) {
      status = agx_tlsf_acquire(&tlsf, &want, &block);
      taken += status == AGX_OK;
   }
   assert_int_equal(status, AGX_RESOURCE_EXHAUSTED);
   assert_in_range(taken, 32, 63);
   failing.remaining = 1;
   assert_ok(agx_tlsf_acquire(&tlsf, &want, &block));
   agx_tlsf_fini(&tlsf);
   assert_int_equal(failing.live, 0);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(tlsf_never_overlaps),
      cmocka_unit_test(tlsf_fills_its_slabs),
      cmocka_unit_test(tlsf_without_host_memory),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
