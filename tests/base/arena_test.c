/* SPDX-License-Identifier: MIT
 *
 * Arenas: zeroed and aligned memory, marks, limits.
 */
#include "support.h"

#include <string.h>

#include "base/arena.h"
#include "failing_alloc.h"

static void memory_is_zeroed_and_aligned(void **state)
{
   jmp_buf exhausted;
   struct agx_arena arena;
   agx_arena_init(&arena, NULL, SIZE_MAX, &exhausted);
   for (size_t size = 0; size < 3000; size += 7) {
      unsigned char *memory = agx_arena_alloc(&arena, size);
      assert_int_equal((uintptr_t)memory % 16, 0);
      for (size_t i = 0; i < size; i++)
         assert_int_equal(memory[i], 0);
      memset(memory, 0xa5, size);
   }
   agx_arena_fini(&arena);
}

static void release_goes_back_to_the_mark(void **state)
{
   jmp_buf exhausted;
   struct failing_alloc failing;
   failing_alloc_init(&failing, SIZE_MAX);
   struct agx_arena arena;
   agx_arena_init(&arena, &failing.alloc, SIZE_MAX, &exhausted);
   char *kept = agx_arena_printf(&arena, "kept");
   struct agx_arena_mark mark = agx_arena_mark(&arena);
   void *first = agx_arena_alloc(&arena, 100);
   agx_arena_alloc(&arena, 1 << 20);
   assert_int_equal(failing.live, 2);
   agx_arena_release(&arena, mark);
   assert_int_equal(failing.live, 1);
   assert_ptr_equal(agx_arena_alloc(&arena, 100), first);
   assert_string_equal(kept, "kept");
   agx_arena_fini(&arena);
   assert_int_equal(failing.live, 0);
}

/* Runs allocations until the arena leaves; returns whether it left. */
static bool leaves(struct agx_arena *arena, size_t count, size_t size)
{
   jmp_buf exhausted;
   arena->exhausted = &exhausted;
   if (setjmp(exhausted))
      return true;
   agx_arena_array(arena, count, size);
   return false;
}

static void exhaustion_leaves_once(void **state)
{
   struct failing_alloc failing;
   failing_alloc_init(&failing, 0);
   struct agx_arena arena;
   agx_arena_init(&arena, &failing.alloc, SIZE_MAX, NULL);
   assert_true(leaves(&arena, 1, 1));
   failing.remaining = SIZE_MAX;
   assert_false(leaves(&arena, 1, 1));
   assert_true(leaves(&arena, SIZE_MAX / 2, 4));
   assert_true(leaves(&arena, 1, SIZE_MAX));
   agx_arena_fini(&arena);
}

static void limit_bounds_the_cost(void **state)
{
   struct agx_arena arena;
   agx_arena_init(&arena, NULL, 1 << 20, NULL);
   assert_false(leaves(&arena, 1, 512 << 10));
   assert_true(leaves(&arena, 1, 600 << 10));
   assert_true(arena.total_B <= 1 << 20);
   agx_arena_fini(&arena);
}

static void printf_and_grow_copy(void **state)
{
   jmp_buf exhausted;
   struct agx_arena arena;
   agx_arena_init(&arena, NULL, SIZE_MAX, &exhausted);
   assert_string_equal(agx_arena_printf(&arena, "%s-%d", "a", 5), "a-5");
   int old[] = {1, 2, 3};
   int *grown = agx_arena_grow(&arena, old, 3, 6, sizeof(int));
   assert_memory_equal(grown, ((int[]){1, 2, 3, 0, 0, 0}), 6 * sizeof(int));
   agx_arena_fini(&arena);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(memory_is_zeroed_and_aligned),
      cmocka_unit_test(release_goes_back_to_the_mark),
      cmocka_unit_test(exhaustion_leaves_once),
      cmocka_unit_test(limit_bounds_the_cost),
      cmocka_unit_test(printf_and_grow_copy),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
