/* SPDX-License-Identifier: MIT
 *
 * One function for each public function that makes something, for create_failure_test.c, which lets
 * each of their allocations and requests fail.
 */
#include "create_makers.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/util.h"

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
   void *memory = POISON;
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
   *out = POISON;
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
   void *memory = POISON;
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

static agx_status compile_with_ir(struct shortage *s, void **out)
{
   const struct agx_executable_desc desc = {.size = sizeof(desc),
                                            .data = given.spirv,
                                            .data_B = given.spirv_B,
                                            .entry = "double_it",
                                            .flags = AGX_EXECUTABLE_KEEP_IR};
   return agx_executable_create(s->device, &desc, (struct agx_executable **)out);
}

static agx_status get_binary(struct shortage *s, void **out)
{
   size_t binary_B = 0;
   agx_status status = load_elf(s, out);
   if (status == AGX_OK)
      status = agx_executable_get_binary(*out, &binary_B, NULL);
   if (status == AGX_OK)
      return AGX_OK;
   agx_release(*out);
   *out = NULL;
   return status;
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

static agx_status create_heap(struct shortage *s, void **out)
{
   const struct agx_descriptor_heap_desc desc = {.size = sizeof(desc), .slots = 100, .types = 0x3f};
   return agx_descriptor_heap_create(s->device, &desc, (struct agx_descriptor_heap **)out);
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

/* ---- the table ---------------------------------------------------------------- */

const struct create_maker makers[] = {
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
   {"agx_executable_create", compile_with_ir, agx_release},
   {"agx_executable_get_binary", get_binary, agx_release},
   {"agx_command_buffer_create", create_command_buffer, agx_release},
   {"agx_command_buffer_create", create_table_commands, agx_release},
   {"agx_descriptor_heap_create", create_heap, agx_release},
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

const size_t maker_count = AGX_COUNT(makers);

/* ---- what they take ------------------------------------------------------------ */

void make_given(struct shortage *s)
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

void release_given(void)
{
   agx_release(given.shared);
   agx_release(given.pool);
   agx_release(given.semaphore);
   close(given.syncobj);
   munmap(given.mapping, 4 * SHORTAGE_PAGE);
   free(given.elf);
   free(given.spirv);
}
