/* SPDX-License-Identifier: MIT
 *
 * Memory when the kernel or the host has none: every request and every allocation fails in
 * turn, and each time all GPU memory, all descriptors and all host memory come back.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/util.h"
#include "hal/device/device.h"
#include "shortage.h"
#include "winsys/virtual/virtual.h"

/* ---- what may fail ---------------------------------------------------------- */

static agx_status create_and_map(struct shortage *b)
{
   const struct agx_buffer_desc desc = {.size = sizeof(desc), .size_B = 3 * SHORTAGE_PAGE};
   struct agx_buffer *buffer;
   void *memory;
   agx_status status = agx_buffer_create(b->device, &desc, &buffer);
   if (status == AGX_OK)
      status = agx_buffer_map(buffer, &memory);
   if (status == AGX_OK)
      status = agx_buffer_map_range(buffer, 0, 4, AGX_ACCESS_READ, &memory);
   if (status == AGX_OK)
      assert_ok(agx_buffer_unmap(buffer));
   agx_release(buffer);
   return status;
}

static void count(void *user)
{
   ++*(int *)user;
}

static agx_status import(struct shortage *b, struct agx_external external)
{
   struct agx_buffer *buffer;
   void *memory;
   int calls = 0;
   external.size = sizeof(external);
   agx_status status = agx_buffer_import(b->device, NULL, &external,
                                         (struct agx_release_callback){count, &calls}, &buffer);
   bool is_made = status == AGX_OK;
   if (is_made)
      status = agx_buffer_map(buffer, &memory);
   agx_release(buffer);
   assert_int_equal(calls, is_made);
   return status;
}

static agx_status export_and_import(struct shortage *b)
{
   const struct agx_buffer_desc desc = {.size = sizeof(desc),
                                        .size_B = SHORTAGE_PAGE,
                                        .usage = AGX_USAGE_TRANSFER | AGX_USAGE_MAPPING |
                                                 AGX_USAGE_SHARING_EXPORT};
   struct agx_external external = {.size = sizeof(external), .fd = -1};
   struct agx_buffer *buffer;
   agx_status status = agx_buffer_create(b->device, &desc, &buffer);
   if (status == AGX_OK)
      status = agx_buffer_export(buffer, AGX_EXTERNAL_DMA_BUF, &external);
   if (status == AGX_OK)
      status = import(b, external);
   if (external.fd >= 0)
      close(external.fd);
   agx_release(buffer);
   return status;
}

static agx_status import_memory_file(struct shortage *b)
{
   return import(b, (struct agx_external){
                       .kind = AGX_EXTERNAL_MEMFD, .fd = b->file, .size_B = 2 * SHORTAGE_PAGE});
}

static agx_status import_pointer(struct shortage *b)
{
   void *memory = mmap(NULL, 4 * SHORTAGE_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, b->file, 0);
   assert_ptr_not_equal(memory, MAP_FAILED);
   agx_status status = import(b, (struct agx_external){.kind = AGX_EXTERNAL_HOST_POINTER,
                                                       .pointer = memory,
                                                       .size_B = 4 * SHORTAGE_PAGE});
   munmap(memory, 4 * SHORTAGE_PAGE);
   return status;
}

/* Twelve parts, so that their list grows. */
static agx_status change_bindings(struct agx_buffer *range, struct agx_pages *pages)
{
   agx_status status = AGX_OK;
   for (uint32_t i = 0; i < 12 && status == AGX_OK; i++)
      status =
         agx_vmem_bind(range, 2 * i * SHORTAGE_PAGE, pages, 0, SHORTAGE_PAGE, AGX_ACCESS_READ);
   if (status == AGX_OK)
      status =
         agx_vmem_bind(range, 0, pages, 0, 8 * SHORTAGE_PAGE, AGX_ACCESS_READ | AGX_ACCESS_WRITE);
   if (status == AGX_OK)
      status = agx_vmem_protect(range, SHORTAGE_PAGE, 2 * SHORTAGE_PAGE, AGX_ACCESS_READ);
   if (status == AGX_OK)
      status = agx_vmem_bind(range, SHORTAGE_PAGE, NULL, 0, 5 * SHORTAGE_PAGE, 0);
   return status;
}

static agx_status reserve_and_bind(struct shortage *b)
{
   struct agx_buffer_desc desc = {.size = sizeof(desc), .size_B = 24 * SHORTAGE_PAGE};
   struct agx_buffer *range;
   struct agx_pages *pages = NULL;
   void *memory;
   agx_status status = agx_vmem_reserve(b->device, &desc, &range);
   desc.size_B = 8 * SHORTAGE_PAGE;
   if (status == AGX_OK)
      status = agx_pages_create(b->device, &desc, &pages);
   if (status == AGX_OK)
      status = agx_pages_map(pages, &memory);
   if (status == AGX_OK)
      status = change_bindings(range, pages);
   agx_release(pages);
   agx_release(range);
   return status;
}

static agx_status (*const lives[])(struct shortage *) = {
   create_and_map, export_and_import, import_memory_file, import_pointer, reserve_and_bind,
};

/* ---- tests ------------------------------------------------------------------ */

static void every_request_may_fail(void **state)
{
   static const struct {
      int error;
      bool once;
   } ways[] = {{ENOMEM, false}, {ENOMEM, true}, {ENODEV, false}, {EMFILE, true}};
   for (size_t i = 0; i < AGX_COUNT(lives); i++)
      for (size_t way = 0; way < AGX_COUNT(ways); way++) {
         struct shortage b;
         shortage_begin(&b);
         assert_ok(lives[i](&b));
         const struct shortage_state before = shortage_look(&b);
         for (int nth = 0;; nth++) {
            assert_true(nth < 100);
            agx_device_trim(b.device); /* or there would be nothing to ask the kernel for */
            failing_kmd_arm(&b.kmd, nth, 0, ways[way].error);
            b.kmd.once = ways[way].once;
            b.kmd.failed = 0;
            agx_status status = lives[i](&b);
            uint32_t failed = b.kmd.failed;
            failing_kmd_disarm(&b.kmd);
            shortage_assert_same(&b, &before);
            assert_ok(lives[i](&b));
            if (failed == 0)
               break;
            /* Undoing may fail too: but what was made is made. */
            assert_true(status != AGX_OK || nth > 0);
         }
         shortage_end(&b);
      }
}

static void every_allocation_may_fail(void **state)
{
   for (size_t i = 0; i < AGX_COUNT(lives); i++) {
      struct shortage b;
      shortage_begin(&b);
      assert_ok(lives[i](&b));
      const struct shortage_state before = shortage_look(&b);
      for (size_t nth = 0;; nth++) {
         assert_true(nth < 100);
         b.alloc.remaining = nth;
         agx_status status = lives[i](&b);
         b.alloc.remaining = SIZE_MAX;
         shortage_assert_same(&b, &before);
         if (status == AGX_OK)
            break;
         assert_int_equal(status, AGX_RESOURCE_EXHAUSTED);
      }
      shortage_end(&b);
   }
}

/* More than the device has; then all of it is there again. */
static void memory_may_run_out(void **state)
{
   struct shortage b;
   struct agx_buffer *buffers[64];
   uint32_t made = 0;
   const struct agx_buffer_desc desc = {.size = sizeof(desc), .size_B = UINT64_C(1) << 30};
   shortage_begin(&b);
   const struct shortage_state before = shortage_look(&b);
   agx_status status = AGX_OK;
   while (made < AGX_COUNT(buffers) && status == AGX_OK) {
      status = agx_buffer_create(b.device, &desc, &buffers[made]);
      made += status == AGX_OK;
   }
   assert_fails(status, AGX_RESOURCE_EXHAUSTED, "GEM_CREATE");
   assert_true(made > 2);
   assert_int_equal(shortage_look(&b).counted_B - before.counted_B, made * desc.size_B);
   for (uint32_t i = 0; i < made; i++)
      agx_release(buffers[i]);
   assert_int_equal(shortage_look(&b).counted_B, before.counted_B);
   assert_true(b.device->memory.counters.device.peak_B >= made * desc.size_B);
   assert_int_equal(shortage_look(&b).gpu_B, before.gpu_B);
   assert_ok(create_and_map(&b));
   shortage_end(&b);
}

/* What a failed change had begun is undone: the second of its requests fails. */
static void a_failed_protection_is_put_back(void **state)
{
   struct shortage b;
   struct agx_buffer_desc desc = {.size = sizeof(desc), .size_B = 80 * SHORTAGE_PAGE};
   struct agx_buffer *range;
   struct agx_pages *pages;
   uint32_t *words, *out, push = 0;
   void *memory;
   shortage_begin(&b);
   struct fixture f = {.instance = b.instance, .device = b.device};
   f.info.size = sizeof(f.info);
   agx_device_get_info(b.device, &f.info);
   assert_ok(agx_vmem_reserve(b.device, &desc, &range));
   desc.size_B = SHORTAGE_PAGE;
   assert_ok(agx_pages_create(b.device, &desc, &pages));
   assert_ok(agx_pages_map(pages, &memory));
   words = memory;
   for (uint32_t i = 0; i < 32; i++)
      words[i] = 9;
   for (uint32_t i = 0; i < 80; i++)
      assert_ok(agx_vmem_bind(range, i * SHORTAGE_PAGE, pages, 0, SHORTAGE_PAGE, AGX_ACCESS_READ));
   failing_kmd_arm(&b.kmd, 1, NR_VM_BIND, ENOMEM);
   b.kmd.once = true;
   assert_fails(agx_vmem_protect(range, 0, 80 * SHORTAGE_PAGE, 0), AGX_RESOURCE_EXHAUSTED,
                "VM_BIND");
   failing_kmd_disarm(&b.kmd);
   struct agx_buffer *result = fixture_buffer(&f, 128, &out);
   struct agx_executable *add = fixture_kernel(&f, &agx_test_add);
   struct agx_command_buffer *commands = fixture_begin(&f);
   struct agx_semaphore *done = fixture_semaphore(&f);
   fixture_dispatch(commands, add, 1, (struct agx_buffer *[]){range, result}, 2, &push, 4);
   assert_ok(agx_command_buffer_end(commands));
   assert_ok(fixture_submit(&f, commands, NO_POINT, (struct agx_point){done, 1}));
   assert_ok(fixture_wait(done, 1));
   assert_int_equal(out[31], 9);
   agx_release(done);
   agx_release(commands);
   agx_release(add);
   agx_release(result);
   agx_release(pages);
   agx_release(range);
   shortage_end(&b);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_request_may_fail),
      cmocka_unit_test(every_allocation_may_fail),
      cmocka_unit_test(memory_may_run_out),
      cmocka_unit_test(a_failed_protection_is_put_back),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
