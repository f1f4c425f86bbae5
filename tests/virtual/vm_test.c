/* SPDX-License-Identifier: MIT
 *
 * Address spaces as the machine sees them: what VM_BIND maps, replaces, splits and
 * repeats, with which access, and when it is gone.
 */
#include "device.h"
#include "user_checked.h"

#define VA 0x2000000000ull

/* A machine that looks addresses up: the stream's address is the number of probes. */
static struct probe {
   uint64_t va;
   enum agxs_access access;
   const uint8_t *found;
} probes[16];
static uint64_t generation;

static agx_status look_up(const struct agx_chip *chip, const struct agxs_memory *memory,
                          const struct agxs_options *options, uint64_t usc_base, uint64_t stream_va,
                          struct agxs_stats *out_stats)
{
   for (uint64_t i = 0; i < stream_va; i++)
      probes[i].found = memory->translate(memory->user, probes[i].va, probes[i].access);
   generation = atomic_load(memory->generation);
   return AGX_OK;
}

/* The byte that the GPU reads at va, or -1 where it can't. */
static int gpu_reads(struct device *device, uint64_t va)
{
   probes[0] = (struct probe){va, AGXS_READ, NULL};
   run(device, 1);
   return probes[0].found ? *probes[0].found : -1;
}

static bool gpu_writes(struct device *device, uint64_t va)
{
   probes[0] = (struct probe){va, AGXS_WRITE, NULL};
   run(device, 1);
   return probes[0].found;
}

/* A buffer whose pages hold base, base + 1, ... */
static uint32_t make_filled(struct device *device, unsigned pages, uint8_t base)
{
   uint32_t handle = make_gem(device, pages * PAGE, 0);
   uint8_t *memory = map_gem(device, handle, pages * PAGE);
   for (unsigned i = 0; i < pages; i++)
      memset(memory + i * PAGE, base + (int)i, PAGE);
   unmap_gem(device, memory, pages * PAGE);
   return handle;
}

static void binds_map_replace_and_split(void **state)
{
   struct device device = device_open(look_up);
   uint32_t a = make_filled(&device, 6, 10), b = make_filled(&device, 2, 50);
   struct agx_uapi_gem_bind_op ops[] = {
      {AGX_UAPI_BIND_READ | AGX_UAPI_BIND_WRITE, a, 0, 6 * PAGE, VA},
      {AGX_UAPI_BIND_READ, b, 0, 2 * PAGE, VA + 2 * PAGE},
      {AGX_UAPI_BIND_UNBIND, 0, 0, PAGE, VA + 5 * PAGE},
      {AGX_UAPI_BIND_READ, a, 4 * PAGE, PAGE, VA + 9 * PAGE},
   };
   assert_int_equal(bind_ops(&device, ops, 4), 0);
   const int expected[] = {10, 11, 50, 51, 14, -1, -1, -1, -1, 14};
   for (unsigned i = 0; i < AGX_COUNT(expected); i++)
      assert_int_equal(gpu_reads(&device, VA + i * PAGE + 0x123), expected[i]);
   assert_true(gpu_writes(&device, VA));
   assert_false(gpu_writes(&device, VA + 2 * PAGE));
   assert_true(gpu_writes(&device, VA + 4 * PAGE));
   assert_int_equal(gpu_reads(&device, VA - 1), -1);
   assert_int_equal(gpu_reads(&device, 1ull << 39), -1);
   assert_int_equal(gpu_reads(&device, UINT64_MAX), -1);
   device_close(&device);
}

static void single_page_repeats_over_any_range(void **state)
{
   struct device device = device_open(look_up);
   uint32_t a = make_filled(&device, 3, 10);
   const uint64_t range = 0x40000000ull + 5 * PAGE;
   struct agx_uapi_gem_bind_op ops[] = {
      {AGX_UAPI_BIND_READ | AGX_UAPI_BIND_SINGLE_PAGE, a, 2 * PAGE, range, VA + PAGE},
      {AGX_UAPI_BIND_READ, a, 0, PAGE, VA + 0x20000000ull},
      {AGX_UAPI_BIND_UNBIND, 0, 0, PAGE, VA + 0x30000000ull},
   };
   assert_int_equal(bind_ops(&device, ops, 3), 0);
   const struct {
      uint64_t offset;
      int expected;
   } rows[] = {
      {0, -1},
      {PAGE, 12},
      {0x10000000ull, 12},
      {0x20000000ull - PAGE, 12},
      {0x20000000ull, 10},
      {0x20000000ull + PAGE, 12},
      {0x30000000ull - 1, 12},
      {0x30000000ull, -1},
      {0x30000000ull + PAGE, 12},
      {range, 12},
      {range + PAGE, -1},
   };
   for (unsigned i = 0; i < AGX_COUNT(rows); i++)
      assert_int_equal(gpu_reads(&device, VA + rows[i].offset), rows[i].expected);
   device_close(&device);
}

static void a_failing_step_keeps_those_before(void **state)
{
   struct device device = device_open(look_up);
   uint32_t a = make_filled(&device, 1, 10);
   struct agx_uapi_gem_bind_op ops[] = {
      {AGX_UAPI_BIND_READ, a, 0, PAGE, VA},
      {AGX_UAPI_BIND_READ, 99, 0, PAGE, VA + PAGE},
      {AGX_UAPI_BIND_READ, a, 0, PAGE, VA + 2 * PAGE},
   };
   assert_int_equal(bind_ops(&device, ops, 3), -ENOENT);
   assert_int_equal(gpu_reads(&device, VA), 10);
   assert_int_equal(gpu_reads(&device, VA + 2 * PAGE), -1);
   device_close(&device);
}

/* All steps are copied before the first is done. */
static void unreadable_steps_leave_nothing_done(void **state)
{
   if (!user_is_checked())
      skip();
   struct device device = device_open(look_up);
   uint32_t a = make_filled(&device, 1, 10);
   uint8_t *pages =
      mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
   assert_true(pages != MAP_FAILED);
   munmap(pages + PAGE, PAGE);
   struct agx_uapi_gem_bind_op *ops = (void *)(pages + PAGE - 2 * sizeof(*ops));
   ops[0] = (struct agx_uapi_gem_bind_op){AGX_UAPI_BIND_READ, a, 0, PAGE, VA};
   ops[1] = (struct agx_uapi_gem_bind_op){AGX_UAPI_BIND_READ, a, 0, PAGE, VA + PAGE};
   assert_int_equal(bind_ops(&device, ops, 3), -EFAULT);
   assert_int_equal(gpu_reads(&device, VA), -1);
   assert_int_equal(bind_ops(&device, ops, 2), 0);
   assert_int_equal(gpu_reads(&device, VA + PAGE), 10);
   munmap(pages, PAGE);
   device_close(&device);
}

/* The kernel's own range begins and ends at 32 KiB: what is cut off of it is the user's. */
static void a_kernel_range_shrinks_to_its_pages(void **state)
{
   struct device device = device_open(look_up);
   uint32_t a = make_filled(&device, 1, 10);
   struct agx_uapi_vm_create args = {KERNEL_START + PAGE, KERNEL_END - PAGE, 0, 0};
   assert_int_equal(CALL(&device, ASAHI_VM_CREATE, args), 0);
   device.vm = args.vm_id;
   assert_int_equal(bind_gem(&device, a, KERNEL_START + PAGE, PAGE, AGX_UAPI_BIND_READ), 0);
   assert_int_equal(bind_gem(&device, a, KERNEL_START + 2 * PAGE, PAGE, AGX_UAPI_BIND_READ),
                    -EINVAL);
   assert_int_equal(bind_gem(&device, a, KERNEL_END - 2 * PAGE, PAGE, AGX_UAPI_BIND_READ), 0);
   assert_int_equal(bind_gem(&device, a, KERNEL_END - 3 * PAGE, PAGE, AGX_UAPI_BIND_READ), -EINVAL);
   device_close(&device);
}

/* Steps may be shorter than the kernel's struct, or further apart. */
static void stride_may_differ(void **state)
{
   struct device device = device_open(look_up);
   uint32_t a = make_filled(&device, 1, 10);
   struct {
      struct agx_uapi_gem_bind_op op;
      uint64_t other[3];
   } wide[2] = {{{AGX_UAPI_BIND_READ, a, 0, PAGE, VA}, {~0ull, ~0ull, ~0ull}},
                {{AGX_UAPI_BIND_READ, a, 0, PAGE, VA + PAGE}, {~0ull, ~0ull, ~0ull}}};
   struct agx_uapi_vm_bind args = {device.vm, 2, sizeof(wide[0]), 0, (uintptr_t)wide};
   assert_int_equal(CALL(&device, ASAHI_VM_BIND, args), 0);
   assert_int_equal(gpu_reads(&device, VA + PAGE), 10);
   args.num_binds = 1;
   args.stride = 24; /* the address is missing, so 0, which can't be mapped */
   assert_int_equal(CALL(&device, ASAHI_VM_BIND, args), -EINVAL);
   device_close(&device);
}

static void mappings_go_with_the_handle(void **state)
{
   struct device device = device_open(look_up);
   uint32_t a = make_filled(&device, 2, 10), b = make_filled(&device, 1, 20);
   assert_int_equal(bind_gem(&device, a, VA, 2 * PAGE, AGX_UAPI_BIND_READ), 0);
   assert_int_equal(bind_gem(&device, b, VA + PAGE, PAGE, AGX_UAPI_BIND_READ), 0);
   assert_int_equal(gpu_reads(&device, VA), 10);
   uint64_t before = generation;
   struct agx_uapi_gem_close close_a = {a, 0};
   assert_int_equal(CALL(&device, GEM_CLOSE, close_a), 0);
   assert_int_equal(gpu_reads(&device, VA), -1);
   assert_int_equal(gpu_reads(&device, VA + PAGE), 20);
   assert_true(generation != before);
   device_close(&device);
}

static void destroying_the_space_unmaps_for_its_queues(void **state)
{
   struct device device = device_open(look_up);
   uint32_t a = make_filled(&device, 1, 10);
   assert_int_equal(bind_gem(&device, a, VA, PAGE, AGX_UAPI_BIND_READ), 0);
   assert_int_equal(gpu_reads(&device, VA), 10);
   struct agx_uapi_vm_destroy destroy = {device.vm, 0};
   assert_int_equal(CALL(&device, ASAHI_VM_DESTROY, destroy), 0);
   assert_int_equal(gpu_reads(&device, VA), -1);
   assert_int_equal(bind_gem(&device, a, VA, PAGE, AGX_UAPI_BIND_READ), -ENOENT);
   device_close(&device);
}

static void memory_comes_back_zeroed(void **state)
{
   struct device device = device_open(look_up);
   for (int round = 0; round < 3; round++) {
      uint32_t a = make_gem(&device, 4 * PAGE, 0);
      uint8_t *memory = map_gem(&device, a, 4 * PAGE);
      for (unsigned i = 0; i < 4 * PAGE; i++)
         assert_int_equal(memory[i], 0);
      memset(memory, 0xa5, 4 * PAGE);
      struct agx_uapi_gem_close close_a = {a, 0};
      assert_int_equal(CALL(&device, GEM_CLOSE, close_a), 0);
      assert_int_equal(memory[PAGE], 0xa5); /* a mapping keeps the memory */
      uint32_t b = make_filled(&device, 4, 1);
      assert_int_equal(memory[PAGE], 0xa5);
      struct agx_uapi_gem_close close_b = {b, 0};
      assert_int_equal(CALL(&device, GEM_CLOSE, close_b), 0);
      unmap_gem(&device, memory, 4 * PAGE);
   }
   device_close(&device);
}

/* A thousand random binds and unbinds against a plain array. */
static void random_binds_match_a_flat_model(void **state)
{
   struct device device = device_open(look_up);
   struct agx_test_rng rng = {0x5eed5};
   int16_t model[64];
   uint32_t a = make_filled(&device, 64, 0);
   memset(model, -1, sizeof(model));
   const uint64_t base = VA + 0x3ff000000ull - 32 * PAGE; /* across tables */
   for (int step = 0; step < 1000; step++) {
      uint64_t first = agx_test_random_below(&rng, 64);
      uint64_t count = 1 + agx_test_random_below(&rng, 64 - first);
      uint64_t page = agx_test_random_below(&rng, 64 - count + 1);
      unsigned kind = (unsigned)agx_test_random_below(&rng, 3);
      struct agx_uapi_gem_bind_op op = {AGX_UAPI_BIND_UNBIND, 0, 0, count * PAGE,
                                        base + first * PAGE};
      if (kind) {
         op.flags = AGX_UAPI_BIND_READ | (kind == 2 ? AGX_UAPI_BIND_SINGLE_PAGE : 0);
         op.handle = a;
         op.offset = page * PAGE;
      }
      assert_int_equal(bind_ops(&device, &op, 1), 0);
      for (uint64_t i = 0; i < count; i++)
         model[first + i] = kind ? (int16_t)(page + (kind == 1 ? i : 0)) : -1;
      uint64_t at = agx_test_random_below(&rng, 64);
      assert_int_equal(gpu_reads(&device, base + at * PAGE), model[at]);
   }
   for (unsigned i = 0; i < 64; i++)
      assert_int_equal(gpu_reads(&device, base + i * PAGE), model[i]);
   device_close(&device);
}

static void expect_found(struct device *device, uint32_t handle, uint64_t from, uint64_t begin,
                         uint64_t end)
{
   uint64_t found_begin, found_end, host = (uint64_t)sysconf(_SC_PAGESIZE);
   assert_true(agx_virtual_find_memory(device->file, mmap_offset(device, handle), from,
                                       &found_begin, &found_end));
   assert_int_equal(found_begin, begin);
   assert_true(found_end >= end && found_end - end < AGX_MAX(host, PAGE));
}

/* Asking which pages have memory gives them none; a neighbour's pages are not this buffer's. */
static void memory_is_found_where_it_was_written(void **state)
{
   struct device device = device_open(NULL);
   uint32_t first = make_gem(&device, 8 * PAGE, AGX_UAPI_GEM_VM_PRIVATE);
   uint32_t second = make_gem(&device, 8 * PAGE, AGX_UAPI_GEM_VM_PRIVATE);
   uint32_t shared = make_gem(&device, 8 * PAGE, 0);
   uint8_t *one = map_gem(&device, first, 8 * PAGE), *two = map_gem(&device, second, 8 * PAGE);
   uint64_t begin, end;
   for (int i = 0; i < 2; i++) /* asking twice is no different */
      expect_found(&device, first, 0, 8 * PAGE, 8 * PAGE);
   two[0] = two[7 * PAGE] = 1;
   expect_found(&device, first, 0, 8 * PAGE, 8 * PAGE);
   one[3 * PAGE] = one[4 * PAGE] = one[6 * PAGE] = 1;
   if (sysconf(_SC_PAGESIZE) < (long)PAGE) {
      expect_found(&device, first, 0, 3 * PAGE, 3 * PAGE + 1);
      expect_found(&device, first, 3 * PAGE + PAGE / 2, 4 * PAGE, 4 * PAGE + 1);
   }
   expect_found(&device, first, 5 * PAGE, 6 * PAGE, 6 * PAGE + 1);
   expect_found(&device, first, 7 * PAGE, 8 * PAGE, 8 * PAGE);
   expect_found(&device, second, 0, 0, 1);
   assert_false(agx_virtual_find_memory(device.file, 0, 0, &begin, &end));
   assert_false(
      agx_virtual_find_memory(device.file, mmap_offset(&device, first) + PAGE, 0, &begin, &end));
   if (agx_virtual_find_memory(device.file, mmap_offset(&device, shared), 0, &begin, &end))
      assert_int_equal(begin, 8 * PAGE); /* where buffers have no file of their own */
   unmap_gem(&device, one, 8 * PAGE);
   unmap_gem(&device, two, 8 * PAGE);
   device_close(&device);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(binds_map_replace_and_split),
      cmocka_unit_test(single_page_repeats_over_any_range),
      cmocka_unit_test(a_failing_step_keeps_those_before),
      cmocka_unit_test(unreadable_steps_leave_nothing_done),
      cmocka_unit_test(a_kernel_range_shrinks_to_its_pages),
      cmocka_unit_test(stride_may_differ),
      cmocka_unit_test(mappings_go_with_the_handle),
      cmocka_unit_test(destroying_the_space_unmaps_for_its_queues),
      cmocka_unit_test(memory_comes_back_zeroed),
      cmocka_unit_test(memory_is_found_where_it_was_written),
      cmocka_unit_test(random_binds_match_a_flat_model),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
