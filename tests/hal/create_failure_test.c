/* SPDX-License-Identifier: MIT
 *
 * Every function that makes something, with each of its allocations and each of its requests
 * failing in turn: it gives NULL (or no descriptor) back, and leaves nothing behind. A function
 * that the version script has and neither table here is a failure.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/util.h"
#include "hal/device.h"
#include "shortage.h"
#include "winsys/virtual/virtual.h"

#define MAX_STEPS 200

static void *const poison = (void *)1;

/* What makers take. */
static struct {
   struct agx_buffer *shared;
   struct agx_pool *pool;
   struct agx_semaphore *semaphore;
   int syncobj;
   void *elf, *spirv;
   size_t elf_B, spirv_B;
   void *mapping;
   uint8_t bytes[64];
} given;

/* ---- makers ------------------------------------------------------------------ */

/* A descriptor as a thing that is made: NULL for none. */
static void *of_fd(int fd)
{
   return fd < 0 ? NULL : (void *)(intptr_t)(fd + 1);
}

static void close_fd(void *thing)
{
   close((int)(intptr_t)thing - 1);
}

static agx_status create_instance(struct shortage *s, void **out)
{
   return shortage_instance(s, (struct agx_instance **)out);
}

static agx_status open_device(struct shortage *s, void **out)
{
   const struct agx_device_desc desc = {.size = sizeof(desc), .name = "virtual"};
   return agx_device_open(s->instance, &desc, (struct agx_device **)out);
}

static agx_status create_buffer(struct shortage *s, void **out)
{
   const struct agx_buffer_desc desc = {.size = sizeof(desc), .size_B = 3 * SHORTAGE_PAGE};
   return agx_buffer_create(s->device, &desc, (struct agx_buffer **)out);
}

static agx_status map_new_buffer(struct shortage *s, void **out, bool is_range)
{
   struct agx_buffer *buffer = NULL;
   void *memory = poison;
   *out = NULL;
   agx_status status = create_buffer(s, (void **)&buffer);
   if (status != AGX_OK)
      return status;
   status = is_range ? agx_buffer_map_range(buffer, 0, 4, AGX_ACCESS_READ, &memory)
                     : agx_buffer_map(buffer, &memory);
   assert_int_equal(status == AGX_OK, memory != NULL);
   if (status == AGX_OK && is_range)
      assert_ok(agx_buffer_unmap(buffer));
   if (status == AGX_OK)
      *out = buffer;
   else
      agx_release(buffer);
   return status;
}

static agx_status map_buffer(struct shortage *s, void **out)
{
   return map_new_buffer(s, out, false);
}

static agx_status map_buffer_range(struct shortage *s, void **out)
{
   return map_new_buffer(s, out, true);
}

static agx_status export_buffer(struct shortage *s, void **out)
{
   struct agx_external external = {.size = sizeof(external), .fd = 0};
   agx_status status = agx_buffer_export(given.shared, AGX_EXTERNAL_DMA_BUF, &external);
   *out = of_fd(external.fd);
   return status;
}

static agx_status import(struct shortage *s, struct agx_external external, void **out)
{
   const struct agx_release_callback none = {0};
   external.size = sizeof(external);
   return agx_buffer_import(s->device, NULL, &external, none, (struct agx_buffer **)out);
}

static agx_status import_file(struct shortage *s, void **out)
{
   return import(
      s,
      (struct agx_external){.kind = AGX_EXTERNAL_MEMFD, .fd = s->file, .size_B = 2 * SHORTAGE_PAGE},
      out);
}

static agx_status import_pointer(struct shortage *s, void **out)
{
   return import(s,
                 (struct agx_external){.kind = AGX_EXTERNAL_HOST_POINTER,
                                       .pointer = given.mapping,
                                       .size_B = 4 * SHORTAGE_PAGE},
                 out);
}

static agx_status import_dma_buf(struct shortage *s, void **out)
{
   void *exported = NULL;
   *out = NULL;
   agx_status status = export_buffer(s, &exported);
   if (status != AGX_OK)
      return status;
   *out = poison;
   status = import(
      s, (struct agx_external){.kind = AGX_EXTERNAL_DMA_BUF, .fd = (int)(intptr_t)exported - 1},
      out);
   close_fd(exported);
   return status;
}

static agx_status reserve(struct shortage *s, void **out)
{
   const struct agx_buffer_desc desc = {.size = sizeof(desc), .size_B = 24 * SHORTAGE_PAGE};
   return agx_vmem_reserve(s->device, &desc, (struct agx_buffer **)out);
}

static agx_status create_pages(struct shortage *s, void **out)
{
   const struct agx_buffer_desc desc = {.size = sizeof(desc), .size_B = SHORTAGE_PAGE};
   return agx_pages_create(s->device, &desc, (struct agx_pages **)out);
}

static agx_status map_pages(struct shortage *s, void **out)
{
   struct agx_pages *pages = NULL;
   void *memory = poison;
   *out = NULL;
   agx_status status = create_pages(s, (void **)&pages);
   if (status != AGX_OK)
      return status;
   status = agx_pages_map(pages, &memory);
   assert_int_equal(status == AGX_OK, memory != NULL);
   if (status == AGX_OK)
      *out = pages;
   else
      agx_release(pages);
   return status;
}

static agx_status create_pool(struct shortage *s, void **out)
{
   return agx_pool_create(s->device, NULL, (struct agx_pool **)out);
}

static agx_status allocate(struct shortage *s, void **out)
{
   return agx_pool_allocate(given.pool, 100, 0, (struct agx_buffer **)out);
}

static agx_status create_image(struct shortage *s, void **out)
{
   const struct agx_image_desc desc = {.size = sizeof(desc),
                                       .type = AGX_IMAGE_2D,
                                       .format = "rgba8",
                                       .width = 9,
                                       .height = 9,
                                       .levels = 2,
                                       .label = "it"};
   return agx_image_create(s->device, &desc, (struct agx_image **)out);
}

static agx_status create_sampler(struct shortage *s, void **out)
{
   return agx_sampler_create(s->device, NULL, (struct agx_sampler **)out);
}

static agx_status load_elf(struct shortage *s, void **out)
{
   const struct agx_executable_desc desc = {
      .size = sizeof(desc), .data = given.elf, .data_B = given.elf_B};
   return agx_executable_create(s->device, &desc, (struct agx_executable **)out);
}

/* Not through the caches, which would keep it. */
static agx_status compile(struct shortage *s, void **out)
{
   const struct agx_executable_desc desc = {.size = sizeof(desc),
                                            .data = given.spirv,
                                            .data_B = given.spirv_B,
                                            .flags = AGX_EXECUTABLE_TRANSIENT};
   return agx_executable_create(s->device, &desc, (struct agx_executable **)out);
}

static agx_status create_command_buffer(struct shortage *s, void **out)
{
   const struct agx_command_buffer_desc desc = {.size = sizeof(desc), .label = "it"};
   return agx_command_buffer_create(s->device, &desc, (struct agx_command_buffer **)out);
}

static agx_status create_table_commands(struct shortage *s, void **out)
{
   const struct agx_command_buffer_desc desc = {.size = sizeof(desc), .table_slots = 3};
   return agx_command_buffer_create(s->device, &desc, (struct agx_command_buffer **)out);
}

static agx_status create_event(struct shortage *s, void **out)
{
   return agx_event_create(s->device, (struct agx_event **)out);
}

static agx_status create_semaphore(struct shortage *s, void **out)
{
   return agx_semaphore_create(s->device, 7, (struct agx_semaphore **)out);
}

static agx_status import_semaphore(struct shortage *s, void **out)
{
   return agx_semaphore_import(s->device, given.syncobj, (struct agx_semaphore **)out);
}

static agx_status export_point(uint32_t kind, void **out)
{
   int fd = 0;
   agx_status status = agx_semaphore_export(given.semaphore, 1, kind, &fd);
   *out = of_fd(fd);
   return status;
}

static agx_status export_eventfd(struct shortage *s, void **out)
{
   return export_point(AGX_FD_EVENTFD, out);
}

static agx_status export_sync_file(struct shortage *s, void **out)
{
   return export_point(AGX_FD_SYNC_FILE, out);
}

static agx_status export_syncobj(struct shortage *s, void **out)
{
   return export_point(AGX_FD_SYNCOBJ, out);
}

static agx_status make_file(struct shortage *s, const struct agx_file_desc *desc, void **out)
{
   return agx_file_import(s->device, desc, (struct agx_file **)out);
}

static agx_status import_file_fd(struct shortage *s, void **out)
{
   const struct agx_file_desc desc = {
      .size = sizeof(desc), .kind = AGX_FILE_FD, .access = AGX_FILE_READ, .fd = s->file};
   return make_file(s, &desc, out);
}

static agx_status import_file_memory(struct shortage *s, void **out)
{
   const struct agx_file_desc desc = {.size = sizeof(desc),
                                      .kind = AGX_FILE_HOST_MEMORY,
                                      .access = AGX_FILE_WRITE,
                                      .memory = given.bytes,
                                      .memory_B = sizeof(given.bytes)};
   return make_file(s, &desc, out);
}

static void end_profile(void *device)
{
   assert_ok(agx_profile_end(device));
}

static void ignore(void *user, const struct agx_profile_record *record) {}

static agx_status begin_profile(struct shortage *s, void **out)
{
   const struct agx_profile_desc desc = {.size = sizeof(desc),
                                         .families = AGX_PROFILE_QUEUE | AGX_PROFILE_DEVICE_QUEUE |
                                                     AGX_PROFILE_DISPATCH | AGX_PROFILE_HOST |
                                                     AGX_PROFILE_MEMORY,
                                         .fn = ignore,
                                         .filter.function = "no*thing"};
   agx_status status = agx_profile_begin(s->device, &desc);
   *out = status == AGX_OK ? s->device : NULL;
   return status;
}

enum {
   OWN_NODE = 1, /* it asks a node of its own */
   WAKES = 2,    /* the completion thread asks, too, and takes the device away with what fails */
};

static const struct maker {
   const char *function;
   agx_status (*make)(struct shortage *s, void **out);
   void (*undo)(void *thing);
   uint32_t special;
} makers[] = {
   {"agx_instance_create", create_instance, agx_release},
   {"agx_device_open", open_device, agx_release, OWN_NODE},
   {"agx_buffer_create", create_buffer, agx_release},
   {"agx_buffer_map", map_buffer, agx_release},
   {"agx_buffer_map_range", map_buffer_range, agx_release},
   {"agx_buffer_export", export_buffer, close_fd},
   {"agx_buffer_import", import_file, agx_release},
   {"agx_buffer_import", import_pointer, agx_release},
   {"agx_buffer_import", import_dma_buf, agx_release},
   {"agx_vmem_reserve", reserve, agx_release},
   {"agx_pages_create", create_pages, agx_release},
   {"agx_pages_map", map_pages, agx_release},
   {"agx_pool_create", create_pool, agx_release},
   {"agx_pool_allocate", allocate, agx_release},
   {"agx_image_create", create_image, agx_release},
   {"agx_sampler_create", create_sampler, agx_release},
   {"agx_executable_create", load_elf, agx_release},
   {"agx_executable_create", compile, agx_release},
   {"agx_command_buffer_create", create_command_buffer, agx_release},
   {"agx_command_buffer_create", create_table_commands, agx_release},
   {"agx_event_create", create_event, agx_release},
   {"agx_semaphore_create", create_semaphore, agx_release},
   {"agx_semaphore_import", import_semaphore, agx_release, WAKES},
   {"agx_semaphore_export", export_eventfd, close_fd},
   {"agx_semaphore_export", export_sync_file, close_fd},
   {"agx_semaphore_export", export_syncobj, close_fd, WAKES}, /* the semaphore keeps its syncobj */
   {"agx_file_import", import_file_fd, agx_release},
   {"agx_file_import", import_file_memory, agx_release},
   {"agx_profile_begin", begin_profile, end_profile},
};

/* Functions that make nothing that its caller has to give back. What they may run short of is
 * tested where they are. */
static const char *const others[] = {
   "agx_abi_version",
   "agx_buffer_compat",
   "agx_buffer_fill",
   "agx_buffer_flush",
   "agx_buffer_get_info",
   "agx_buffer_invalidate",
   "agx_buffer_read",
   "agx_buffer_release_after",
   "agx_buffer_unmap",
   "agx_buffer_write",
   "agx_cmd_barrier",
   "agx_cmd_begin_label",
   "agx_cmd_copy",
   "agx_cmd_dispatch",
   "agx_cmd_dispatch_vertices",
   "agx_cmd_end_label",
   "agx_cmd_event",
   "agx_cmd_fill",
   "agx_cmd_update",
   "agx_command_buffer_begin",
   "agx_command_buffer_end",
   "agx_command_buffer_profile_id",
   "agx_device_cancel",
   "agx_device_get_cache_stats",
   "agx_device_get_heaps",
   "agx_device_get_info",
   "agx_device_get_memory_stats",
   "agx_device_status",
   "agx_device_trim",
   "agx_error_text",
   "agx_executable_find_entry",
   "agx_executable_format_is_known",
   "agx_executable_get_binding",
   "agx_executable_get_entry",
   "agx_executable_get_entry_binding",
   "agx_executable_get_entry_count",
   "agx_executable_get_global", /* there is none ever */
   "agx_executable_get_info",
   "agx_executable_get_parameter",
   "agx_executable_get_specialization",
   "agx_executable_infer_format",
   "agx_file_get_info",
   "agx_flush",
   "agx_format_from_gl",
   "agx_get_proc",
   "agx_host_call_finish",
   "agx_host_call_get_signals",
   "agx_image_get_info",
   "agx_image_read",
   "agx_image_write",
   "agx_instance_enumerate",
   "agx_pool_get_stats",
   "agx_pool_trim",
   "agx_profile_end",
   "agx_profile_flush",
   "agx_queue_recreate",
   "agx_release",
   "agx_retain",
   "agx_semaphore_fail",
   "agx_semaphore_import_point", /* share_test */
   "agx_semaphore_query",
   "agx_semaphore_signal",
   "agx_semaphore_unwatch",
   "agx_semaphore_wait",
   "agx_semaphore_watch",
   "agx_status_name",
   "agx_submit", /* failure_test, transient_test */
   "agx_version",
   "agx_vertex_format_from_gl",
   "agx_vmem_advise",
   "agx_vmem_bind", /* memory_failure_test */
   "agx_vmem_granularity",
   "agx_vmem_protect", /* memory_failure_test */
};

/* ---- the ways to fail --------------------------------------------------------- */

static void make_given(struct shortage *s)
{
   const struct agx_buffer_desc shared = {.size = sizeof(shared),
                                          .size_B = SHORTAGE_PAGE,
                                          .usage = AGX_USAGE_TRANSFER | AGX_USAGE_SHARING_EXPORT};
   struct agx_device_info info = {.size = sizeof(info)};
   char *path = agx_test_path("kernels/entries.spv");
   agx_device_get_info(s->device, &info);
   assert_ok(agx_buffer_create(s->device, &shared, &given.shared));
   assert_ok(agx_pool_create(s->device, NULL, &given.pool));
   assert_ok(agx_semaphore_create(s->device, 1, &given.semaphore));
   struct agx_semaphore *exported;
   assert_ok(agx_semaphore_create(s->device, 1, &exported));
   assert_ok(agx_semaphore_export(exported, 0, AGX_FD_SYNCOBJ, &given.syncobj));
   agx_release(exported);
   given.elf = agx_test_kernel_elf(&agx_test_count, info.chip, &given.elf_B);
   given.spirv = agx_test_read_file(path, &given.spirv_B);
   given.mapping = mmap(NULL, 4 * SHORTAGE_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, s->file, 0);
   assert_ptr_not_equal(given.mapping, MAP_FAILED);
   free(path);
}

static void release_given(void)
{
   agx_release(given.shared);
   agx_release(given.pool);
   agx_release(given.semaphore);
   close(given.syncobj);
   munmap(given.mapping, 4 * SHORTAGE_PAGE);
   free(given.elf);
   free(given.spirv);
}

/* Makes and unmakes one: what it says is what is there. */
static agx_status try(struct shortage *s, const struct maker *maker)
{
   void *thing = poison;
   agx_status status = maker->make(s, &thing);
   if (status == AGX_OK && (!thing || thing == poison))
      fail_msg("%s: nothing was made", maker->function);
   if (status != AGX_OK && thing)
      fail_msg("%s: it failed, but gives %p", maker->function, thing);
   if (status == AGX_OK)
      maker->undo(thing);
   return status;
}

static void every_allocation_may_fail(void **state)
{
   for (size_t i = 0; i < AGX_COUNT(makers); i++) {
      struct shortage s;
      shortage_begin(&s);
      make_given(&s);
      assert_ok(try(&s, &makers[i]));
      const struct shortage_state before = shortage_look(&s);
      for (size_t nth = 0;; nth++) {
         assert_true(nth < MAX_STEPS);
         s.alloc.remaining = nth;
         agx_status status = try(&s, &makers[i]);
         bool has_failed = s.alloc.remaining == 0;
         s.alloc.remaining = SIZE_MAX;
         shortage_assert_same(&s, &before);
         assert_true(status == AGX_OK || status == AGX_RESOURCE_EXHAUSTED);
         if (status == AGX_OK && !has_failed)
            break;
      }
      release_given();
      shortage_end(&s);
   }
}

static void every_request_may_fail(void **state)
{
   static const struct {
      int error;
      bool once;
   } ways[] = {{ENOMEM, false}, {ENOMEM, true}, {ENODEV, false}, {EMFILE, true}, {EIO, true}};
   for (size_t i = 0; i < AGX_COUNT(makers); i++)
      for (size_t way = 0; way < AGX_COUNT(ways); way++) {
         struct shortage s;
         if (makers[i].special & OWN_NODE ||
             (makers[i].special & WAKES && ways[way].error != ENOMEM))
            continue;
         shortage_begin(&s);
         make_given(&s);
         assert_ok(try(&s, &makers[i]));
         const struct shortage_state before = shortage_look(&s);
         for (int nth = 0;; nth++) {
            assert_true(nth < MAX_STEPS);
            agx_device_trim(s.device);
            failing_kmd_arm(&s.kmd, nth, 0, ways[way].error);
            s.kmd.once = ways[way].once;
            s.kmd.failed = 0;
            (void)!try(&s, &makers[i]);
            uint32_t failed = s.kmd.failed;
            failing_kmd_disarm(&s.kmd);
            shortage_assert_same(&s, &before);
            if (failed == 0)
               break;
         }
         assert_ok(try(&s, &makers[i]));
         release_given();
         shortage_end(&s);
      }
}

/* A device's own requests, through the seam that agx_device_open uses. */
static void every_request_of_opening_may_fail(void **state)
{
   static const int errors[] = {ENOMEM, ENODEV, EINVAL, EMFILE};
   for (size_t i = 0; i < AGX_COUNT(errors); i++)
      for (int nth = 0;; nth++) {
         struct shortage s = {0};
         struct agx_device *device = poison;
         assert_true(nth < MAX_STEPS);
         agx_failing_alloc_init(&s.alloc, SIZE_MAX);
         failing_kmd_open(&s.kmd);
         assert_ok(shortage_instance(&s, &s.instance));
         failing_kmd_arm(&s.kmd, nth, 0, errors[i]);
         agx_status status = agx_device_open_kmd(s.instance, &s.kmd.forward.base, &device);
         uint32_t failed = s.kmd.failed;
         failing_kmd_disarm(&s.kmd);
         assert_int_equal(status == AGX_OK, device != NULL);
         agx_release(device);
         agx_release(s.instance);
         failing_kmd_await_close(&s.kmd);
         assert_int_equal(s.alloc.live, 0);
         if (failed == 0)
            break;
      }
}

/* ---- all functions ------------------------------------------------------------ */

static bool is_known(const char *name)
{
   for (size_t i = 0; i < AGX_COUNT(makers); i++)
      if (strcmp(makers[i].function, name) == 0)
         return true;
   for (size_t i = 0; i < AGX_COUNT(others); i++)
      if (strcmp(others[i], name) == 0)
         return true;
   return false;
}

static void every_function_stands_in_a_table(void **state)
{
   char *path = agx_test_path("../src/hal/agxhal.map"), name[80];
   char *map = agx_test_read_file(path, NULL);
   unsigned count = 0;
   for (const char *at = map; (at = strstr(at, "\n   agx_")); at += 4, count++) {
      snprintf(name, sizeof(name), "%.*s", (int)strcspn(at + 4, ";"), at + 4);
      if (!is_known(name))
         fail_msg("%s: put it into makers, with what makes one, or into others", name);
   }
   assert_true(count > 80);
   free(map);
   free(path);
}

int main(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_allocation_may_fail),
      cmocka_unit_test(every_request_may_fail),
      cmocka_unit_test(every_request_of_opening_may_fail),
      cmocka_unit_test(every_function_stands_in_a_table),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
