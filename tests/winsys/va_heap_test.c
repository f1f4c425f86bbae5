/* SPDX-License-Identifier: MIT
 *
 * The heap of GPU addresses: alignment, guards between ranges, windows.
 */
#include "support.h"

#include <string.h>

#include "agx/chip.h"
#include "base/util.h"
#include "winsys/va_heap_impl.h"
#include "failing_alloc.h"

#define PAGE  UINT64_C(16384)
#define START UINT64_C(0x2000000000)

static uint64_t free_bytes_of(const struct agxw_va_heap *heap)
{
   uint64_t total = 0;
   for (size_t i = 0; i < heap->hole_count; i++)
      total += heap->holes[i].end - heap->holes[i].start;
   return total;
}

static void ranges_are_pages_with_a_guard(void **state)
{
   struct agxw_va_heap heap;
   assert_ok(agxw_va_heap_init(&heap, "heap", START, START + 8 * PAGE, NULL));
   uint64_t a, b, c;
   assert_ok(agxw_va_heap_alloc(&heap, 1, 0, &a));
   assert_ok(agxw_va_heap_alloc(&heap, PAGE + 1, 0, &b));
   assert_int_equal(a, START);
   assert_int_equal(b, START + 2 * PAGE);
   assert_ok(agxw_va_heap_alloc(&heap, 2 * PAGE, 0, &c));
   assert_int_equal(c, START + 5 * PAGE);
   assert_int_equal(free_bytes_of(&heap), 0);
   assert_fails(agxw_va_heap_alloc(&heap, 1, 0, &a), AGX_RESOURCE_EXHAUSTED, "heap: no hole");
   assert_int_equal(a, 0);
   agxw_va_heap_free(&heap, b, PAGE + 1);
   agxw_va_heap_free(&heap, c, 2 * PAGE);
   agxw_va_heap_free(&heap, START, 1);
   assert_int_equal(heap.hole_count, 1);
   assert_int_equal(free_bytes_of(&heap), 8 * PAGE);
   agxw_va_heap_fini(&heap);
}

static void alignment_is_kept_and_checked(void **state)
{
   struct agxw_va_heap heap;
   assert_ok(agxw_va_heap_init(&heap, "heap", START + PAGE, START + 4096 * PAGE, NULL));
   uint64_t va;
   assert_ok(agxw_va_heap_alloc(&heap, 1, UINT64_C(1) << 20, &va));
   assert_int_equal(va, START + (1 << 20));
   assert_fails(agxw_va_heap_alloc(&heap, 1, 3 * PAGE, &va), AGX_INVALID_ARGUMENT, "0xc000");
   assert_fails(agxw_va_heap_alloc(&heap, 1, UINT64_C(1) << 63, &va), AGX_RESOURCE_EXHAUSTED, "");
   assert_fails(agxw_va_heap_alloc(&heap, 0, 0, &va), AGX_RESOURCE_EXHAUSTED, "");
   assert_fails(agxw_va_heap_alloc(&heap, UINT64_MAX, 0, &va), AGX_RESOURCE_EXHAUSTED, "");
   assert_fails(agxw_va_heap_alloc(&heap, UINT64_MAX - PAGE, 0, &va), AGX_RESOURCE_EXHAUSTED, "");
   agxw_va_heap_fini(&heap);
}

#define WINDOW (64 * PAGE)

/* Windows of 64 pages, of which 2 are kept; the last one is shorter. */
static void ends_of_windows_stay_free(void **state)
{
   struct agxw_va_heap heap;
   uint64_t a, b, c, d;
   assert_ok(agxw_va_heap_init(&heap, "heap", START, START + 5 * WINDOW - 10 * PAGE, NULL));
   agxw_va_heap_divide(&heap, WINDOW, 2 * PAGE);
   assert_int_equal(agxw_va_heap_kept(&heap, START), START + WINDOW - 2 * PAGE);
   assert_int_equal(agxw_va_heap_kept(&heap, START + WINDOW - 1), START + WINDOW - 2 * PAGE);
   assert_int_equal(agxw_va_heap_kept(&heap, START + 4 * WINDOW), START + 5 * WINDOW - 12 * PAGE);
   assert_ok(agxw_va_heap_alloc(&heap, 40 * PAGE, 0, &a));
   assert_ok(agxw_va_heap_alloc(&heap, 21 * PAGE, 0, &b)); /* with its guard one page too long */
   assert_ok(agxw_va_heap_alloc(&heap, 20 * PAGE, 0, &c)); /* just fits */
   assert_ok(agxw_va_heap_alloc(&heap, 1, 0, &d));
   assert_int_equal(a, START);
   assert_int_equal(b, START + WINDOW);
   assert_int_equal(c, START + 41 * PAGE);
   assert_int_equal(d, START + WINDOW + 22 * PAGE);
   agxw_va_heap_free(&heap, d, 1);
   assert_ok(
      agxw_va_heap_alloc(&heap, WINDOW - 2 * PAGE, 0, &d)); /* longer than a window has room */
   assert_int_equal(d, START + 2 * WINDOW);
   assert_ok(agxw_va_heap_alloc(&heap, 61 * PAGE, 0, &a));
   assert_int_equal(a, START + 3 * WINDOW);
   assert_fails(agxw_va_heap_alloc(&heap, 52 * PAGE, 0, &a), AGX_RESOURCE_EXHAUSTED, "no hole");
   assert_ok(agxw_va_heap_alloc(&heap, 51 * PAGE, 0, &a));
   assert_int_equal(a, START + 4 * WINDOW);
   agxw_va_heap_fini(&heap);
}

#define PAGES 400
#define SLOTS 64

struct model {
   unsigned char used[PAGES]; /* per page, the guard included */
   struct {
      uint64_t va, bytes;
   } slots[SLOTS];
};

static void mark(struct model *model, uint64_t va, uint64_t bytes, unsigned char from)
{
   uint64_t first = (va - START) / PAGE, count = agx_div_up(bytes, PAGE) + 1;
   assert_true(va >= START && first + count <= PAGES);
   for (uint64_t i = first; i < first + count; i++) {
      assert_int_equal(model->used[i], from);
      model->used[i] = !from;
   }
}

/* Whether some run of free pages could take the request. */
static bool fits(const struct model *model, uint64_t bytes, uint64_t align)
{
   uint64_t count = agx_div_up(bytes, PAGE) + 1, step = AGX_MAX(align / PAGE, 1);
   for (uint64_t first = 0; first + count <= PAGES; first += step) {
      uint64_t i = 0;
      while (i < count && !model->used[first + i])
         i++;
      if (i == count)
         return true;
   }
   return false;
}

static void one_step(struct agxw_va_heap *heap, struct model *model, struct agx_test_rng *rng)
{
   uint64_t slot = agx_test_random_below(rng, SLOTS);
   if (model->slots[slot].bytes) {
      mark(model, model->slots[slot].va, model->slots[slot].bytes, 1);
      agxw_va_heap_free(heap, model->slots[slot].va, model->slots[slot].bytes);
      model->slots[slot].bytes = 0;
      return;
   }
   uint64_t bytes = 1 + agx_test_random_below(rng, 12 * PAGE), va;
   uint64_t align = PAGE << agx_test_random_below(rng, 4);
   agx_status status = agxw_va_heap_alloc(heap, bytes, align, &va);
   assert_int_equal(status == AGX_OK, fits(model, bytes, align));
   if (status != AGX_OK)
      return;
   assert_true(agx_is_aligned(va, align));
   mark(model, va, bytes, 0);
   model->slots[slot].va = va;
   model->slots[slot].bytes = bytes;
}

static void random_use_agrees_with_a_page_map(void **state)
{
   struct agx_test_rng rng = {20240607};
   struct model model = {0};
   struct failing_alloc failing;
   failing_alloc_init(&failing, SIZE_MAX);
   struct agxw_va_heap heap;
   assert_ok(agxw_va_heap_init(&heap, "heap", START, START + PAGES * PAGE, &failing.alloc));
   for (int i = 0; i < 20000; i++) {
      one_step(&heap, &model, &rng);
      uint64_t free_pages = 0;
      for (int page = 0; page < PAGES; page++)
         free_pages += !model.used[page];
      assert_int_equal(free_bytes_of(&heap), free_pages * PAGE);
      assert_true(heap.hole_count <= heap.live + 1);
   }
   agxw_va_heap_fini(&heap);
   assert_int_equal(failing.live, 0);
}

static void freeing_needs_no_memory(void **state)
{
   struct failing_alloc failing;
   failing_alloc_init(&failing, SIZE_MAX);
   struct agxw_va_heap heap;
   assert_ok(agxw_va_heap_init(&heap, "heap", START, START + 4096 * PAGE, &failing.alloc));
   uint64_t vas[1000], count = 0;
   failing.remaining = 2; /* the list can grow twice */
   while (count < 1000 && agxw_va_heap_alloc(&heap, 1, 0, &vas[count]) == AGX_OK)
      count++;
   assert_in_range(count, 20, 200);
   failing.remaining = 0;
   for (uint64_t i = 0; i < count; i += 2)
      agxw_va_heap_free(&heap, vas[i], 1);
   for (uint64_t i = 1; i < count; i += 2)
      agxw_va_heap_free(&heap, vas[i], 1);
   assert_int_equal(heap.hole_count, 1);
   agxw_va_heap_fini(&heap);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(ends_of_windows_stay_free),
      cmocka_unit_test(ranges_are_pages_with_a_guard),
      cmocka_unit_test(alignment_is_kept_and_checked),
      cmocka_unit_test(random_use_agrees_with_a_page_map),
      cmocka_unit_test(freeing_needs_no_memory),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
