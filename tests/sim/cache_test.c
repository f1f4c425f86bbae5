/* SPDX-License-Identifier: MIT
 *
 * GPU memory as a core sees it: translations, and the caches of chaos.
 */
#include "sim_memory.h"

#include <stdlib.h>

#include "agx/sim/memory/memory.h"
#include "base/util.h"

/* A translation stays until the generation changes, which is looked at when asked to. */
static void translations_follow_the_generation(void **state)
{
   struct sim_memory memory;
   struct agxs_tlb tlb = {0};
   uint8_t bytes[8];
   uint64_t bad_va;
   sim_memory_init(&memory);
   uint8_t *data = sim_map(&memory, SIM_DATA, AGX_PAGE_BYTES, false);
   agxs_tlb_init(&tlb, &memory.interface);
   assert_ptr_equal(agxs_tlb_find(&tlb, SIM_DATA + 5, AGXS_READ), data + 5);
   assert_null(agxs_tlb_find(&tlb, SIM_DATA, AGXS_WRITE));
   memory.region[0].va += AGX_PAGE_BYTES;
   assert_ptr_equal(agxs_tlb_find(&tlb, SIM_DATA + 5, AGXS_READ), data + 5);
   memory.generation++;
   agxs_tlb_refresh(&tlb);
   assert_null(agxs_tlb_find(&tlb, SIM_DATA + 5, AGXS_READ));
   uint64_t end = SIM_DATA + 2 * AGX_PAGE_BYTES;
   assert_true(agxs_tlb_copy_out(&tlb, end - 8, bytes, 8, &bad_va));
   assert_false(agxs_tlb_copy_out(&tlb, end - 4, bytes, 8, &bad_va));
   assert_int_equal(bad_va, end);
   sim_memory_fini(&memory);
}

/* What the texture unit sees: memory as it was when it first looked, until told to look
 * again; and never what a core hasn't written back. */
static void textures_are_seen_late(void **state)
{
   struct sim_memory memory;
   struct agxs_tlb tlb = {0};
   sim_memory_init(&memory);
   const uint8_t *data = sim_map(&memory, SIM_DATA, AGX_PAGE_BYTES, true);
   agxs_tlb_init(&tlb, &memory.interface);
   assert_ptr_equal(agxs_tlb_find_texture(&tlb, SIM_DATA), data);
   assert_ok(agxs_cache_attach(&tlb));
   uint64_t va = SIM_DATA + 20;
   assert_int_equal(*agxs_tlb_find_texture(&tlb, va), 0);
   *agxs_tlb_find(&tlb, va, AGXS_WRITE) = 7;
   assert_int_equal(*agxs_tlb_find(&tlb, va, AGXS_READ), 7);
   assert_int_equal(data[20], 0);
   agxs_cache_barrier(&tlb, AGXS_MEMBAR_ACQUIRE);
   assert_int_equal(*agxs_tlb_find_texture(&tlb, va), 0);
   agxs_cache_barrier(&tlb, AGXS_MEMBAR_RELEASE);
   assert_int_equal(data[20], 7);
   assert_int_equal(*agxs_tlb_find_texture(&tlb, va), 0);
   agxs_cache_barrier(&tlb, AGXS_MEMBAR_ACQUIRE);
   assert_int_equal(*agxs_tlb_find_texture(&tlb, va), 7);
   *agxs_tlb_find(&tlb, va, AGXS_WRITE) = 8;
   agxs_cache_barrier(&tlb, AGXS_MEMBAR_TEXTURE);
   assert_int_equal(*agxs_tlb_find_texture(&tlb, va), 8);
   assert_null(agxs_tlb_find_texture(&tlb, SIM_DATA - 1));
   agxs_cache_detach(&tlb);
   sim_memory_fini(&memory);
}

/* More pages than a core keeps: some are forgotten, none is lost. */
static void caches_stay_within_bounds(void **state)
{
   const uint64_t pages = 5000, va = SIM_DATA + 0x10000000;
   struct sim_memory memory;
   struct agxs_tlb tlb = {0};
   sim_memory_init(&memory);
   const uint8_t *host = sim_map(&memory, va, pages * AGX_PAGE_BYTES, true);
   agxs_tlb_init(&tlb, &memory.interface);
   assert_ok(agxs_cache_attach(&tlb));
   for (uint64_t i = 0; i < pages; i++) {
      agxs_put_le32(agxs_tlb_find(&tlb, va + i * AGX_PAGE_BYTES, AGXS_WRITE), (uint32_t)i + 1);
      if (i % 1000 == 0)
         agxs_cache_evict(&tlb, i);
   }
   agxs_cache_detach(&tlb);
   for (uint64_t i = 0; i < pages; i++)
      assert_int_equal(agxs_get_le32(host + i * AGX_PAGE_BYTES), i + 1);
   sim_memory_fini(&memory);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(translations_follow_the_generation),
      cmocka_unit_test(textures_are_seen_late),
      cmocka_unit_test(caches_stay_within_bounds),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
