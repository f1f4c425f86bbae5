/* SPDX-License-Identifier: MIT
 *
 * What kinds of memory there are and what can be had of them.
 */
#include "conformance.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ALL_COMPAT                                                                                 \
   (AGX_COMPAT_ALLOCATE | AGX_COMPAT_IMPORT | AGX_COMPAT_TRANSFER | AGX_COMPAT_DISPATCH)

static struct agx_buffer_info info_of(struct agx_buffer *buffer)
{
   struct agx_buffer_info info = {.size = sizeof(info)};
   agx_buffer_get_info(buffer, &info);
   return info;
}

static void heaps_are_listed(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_heap heaps[8];
   uint32_t count = 0, few = 1;
   assert_ok(agx_device_get_heaps(f->device, &count, NULL));
   assert_in_range(count, 1, 8);
   memset(heaps, 0xee, sizeof(heaps));
   assert_ok(agx_device_get_heaps(f->device, &few, heaps));
   assert_int_equal(few, count);
   assert_int_equal(heaps[1].memory, 0xeeeeeeee);
   assert_ok(agx_device_get_heaps(f->device, &count, heaps));
   for (uint32_t i = 0; i < count; i++) {
      assert_true(heaps[i].memory & AGX_MEMORY_DEVICE_LOCAL);
      assert_true(heaps[i].max_size_B >= UINT64_C(1) << 32);
      assert_true(heaps[i].size_B >= 1 << 20);
      assert_int_equal(heaps[i].min_align_B % f->info.page_B, 0);
      assert_int_equal(!(heaps[i].usage & AGX_USAGE_MAPPING),
                       !(heaps[i].memory & AGX_MEMORY_HOST_VISIBLE));
   }
}

/* A buffer of each heap's kind is of that heap. */
static void heaps_can_be_asked_for(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_heap heaps[8];
   uint32_t count = 8;
   assert_ok(agx_device_get_heaps(f->device, &count, heaps));
   for (uint32_t i = 0; i < count; i++) {
      struct agx_buffer_desc desc = {.size = sizeof(desc),
                                     .size_B = 100,
                                     .memory = heaps[i].memory,
                                     .usage = heaps[i].usage & ~(uint32_t)AGX_USAGE_MAPPING_READ};
      struct agx_buffer *buffer;
      assert_ok(agx_buffer_create(f->device, &desc, &buffer));
      struct agx_buffer_info info = info_of(buffer);
      assert_int_equal(info.heap, i);
      assert_int_equal(info.memory, heaps[i].memory);
      assert_int_equal(info.allocation_B, heaps[i].min_align_B);
      assert_int_equal(info.address % heaps[i].min_align_B, 0);
      agx_release(buffer);
   }
}

/* Which kinds of external memory work. */
#define KINDS                                                                                      \
   (AGX_COMPAT_IMPORT_DMA_BUF | AGX_COMPAT_IMPORT_MEMFD | AGX_COMPAT_IMPORT_HOST_POINTER |         \
    AGX_COMPAT_EXPORT_DMA_BUF | AGX_COMPAT_EXPORT_HOST_POINTER | AGX_COMPAT_EXPORT_ADDRESS)

static void compatibility_names_the_kinds(void **state)
{
   struct fixture *f = conformance_device(state);
   const struct {
      struct agx_buffer_desc desc;
      uint32_t exports;
   } cases[] = {
      {{0}, AGX_COMPAT_EXPORT_HOST_POINTER},
      {{.usage = AGX_USAGE_DISPATCH}, 0},
      {{.usage = AGX_USAGE_DISPATCH | AGX_USAGE_MAPPING}, AGX_COMPAT_EXPORT_HOST_POINTER},
      {{.usage = AGX_USAGE_DISPATCH | AGX_USAGE_SHARING_EXPORT}, AGX_COMPAT_EXPORT_DMA_BUF},
   };
   for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
      struct agx_buffer_desc desc = cases[i].desc;
      uint64_t size_B = 4096;
      desc.size = sizeof(desc);
      assert_int_equal(agx_buffer_compat(f->device, &desc, &size_B) & KINDS,
                       cases[i].exports | AGX_COMPAT_EXPORT_ADDRESS | AGX_COMPAT_IMPORT_DMA_BUF |
                          (f->info.is_virtual
                              ? AGX_COMPAT_IMPORT_MEMFD | AGX_COMPAT_IMPORT_HOST_POINTER
                              : agx_buffer_compat(f->device, &desc, &size_B) &
                                   (AGX_COMPAT_IMPORT_MEMFD | AGX_COMPAT_IMPORT_HOST_POINTER)));
   }
}

static void baseline_buffer_compatibility(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_buffer_desc desc = {.size = sizeof(desc),
                                  .memory = AGX_MEMORY_DEVICE_LOCAL,
                                  .usage = AGX_USAGE_TRANSFER | AGX_USAGE_DISPATCH};
   uint64_t size_B = 16385;
   assert_int_equal(agx_buffer_compat(f->device, &desc, &size_B) & ~KINDS, ALL_COMPAT);
   assert_true(size_B >= 16385 && size_B % f->info.page_B == 0);
   assert_int_equal(desc.memory, AGX_MEMORY_DEVICE_LOCAL);
   assert_int_equal(desc.access, AGX_ACCESS_ALL);
   assert_true(desc.align_B >= f->info.page_B);
}

/* What is left open is filled in as a buffer then has it. */
static void compatibility_is_what_buffers_have(void **state)
{
   static const struct {
      struct agx_buffer_desc desc;
      uint32_t compat, gained;
   } cases[] = {
      {{0}, ALL_COMPAT, AGX_MEMORY_HOST_VISIBLE | AGX_MEMORY_HOST_COHERENT},
      {{.flags = AGX_BUFFER_HOST_READ}, ALL_COMPAT, AGX_MEMORY_HOST_CACHED},
      {{.usage = AGX_USAGE_TRANSFER}, ALL_COMPAT & ~AGX_COMPAT_DISPATCH, 0},
      {{.usage = AGX_USAGE_STORAGE_READ | AGX_USAGE_SHARING_EXPORT},
       (ALL_COMPAT & ~AGX_COMPAT_TRANSFER) | AGX_COMPAT_EXPORT,
       0},
      {{.memory = AGX_MEMORY_DEVICE_LOCAL, .usage = AGX_USAGE_TRANSFER | AGX_USAGE_MAPPING},
       (ALL_COMPAT & ~AGX_COMPAT_DISPATCH) | AGX_COMPAT_SLOW,
       AGX_MEMORY_HOST_VISIBLE | AGX_MEMORY_HOST_COHERENT},
      {{.usage = AGX_USAGE_TRANSFER | AGX_USAGE_MAPPING, .access = AGX_ACCESS_WRITE},
       ALL_COMPAT & ~AGX_COMPAT_DISPATCH,
       AGX_MEMORY_HOST_VISIBLE},
      {{.usage = AGX_USAGE_TRANSFER | AGX_USAGE_MAPPING | AGX_USAGE_MAPPING_READ},
       ALL_COMPAT & ~AGX_COMPAT_DISPATCH,
       AGX_MEMORY_HOST_CACHED},
      {{.memory = AGX_MEMORY_TRANSIENT}, ALL_COMPAT, AGX_MEMORY_HOST_VISIBLE},
      {{.access = AGX_ACCESS_READ}, ALL_COMPAT, 0},
   };
   struct fixture *f = conformance_device(state);
   for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
      struct agx_buffer_desc desc = cases[i].desc;
      struct agx_buffer *buffer;
      uint64_t size_B = 1000;
      desc.size = sizeof(desc);
      assert_int_equal(agx_buffer_compat(f->device, &desc, &size_B) & ~KINDS, cases[i].compat);
      assert_int_equal(desc.memory & cases[i].gained, cases[i].gained);
      struct agx_buffer_desc asked = cases[i].desc;
      asked.size = sizeof(asked);
      asked.size_B = 1000;
      assert_ok(agx_buffer_create(f->device, &asked, &buffer));
      struct agx_buffer_info info = info_of(buffer);
      assert_int_equal(info.memory, desc.memory);
      assert_int_equal(info.usage, desc.usage);
      assert_int_equal(info.access, desc.access);
      assert_int_equal(info.flags, desc.flags);
      assert_int_equal(info.allocation_B, size_B);
      assert_int_equal(info.is_exportable, !!(cases[i].compat & AGX_COMPAT_EXPORT));
      agx_release(buffer);
   }
}

static void nothing_can_be_done_with_nonsense(void **state)
{
   static const struct agx_buffer_desc cases[] = {
      {.memory = 0x100},      {.usage = 1u << 31}, {.access = 8},
      {.flags = 0x80},        {.align_B = 24},     {.align_B = UINT64_C(1) << 40},
      {.next = (void *)8, 0},
   };
   struct fixture *f = conformance_device(state);
   for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
      struct agx_buffer_desc desc = cases[i];
      struct agx_buffer *buffer = (void *)1;
      uint64_t size_B = 1000;
      desc.size = sizeof(desc);
      assert_int_equal(agx_buffer_compat(f->device, &desc, &size_B), 0);
      assert_int_equal(size_B, 1000);
      desc.size_B = 1000;
      assert_int_not_equal(agx_buffer_create(f->device, &desc, &buffer), AGX_OK);
      assert_null(buffer);
   }
   struct agx_buffer_desc desc = {.size = sizeof(desc)};
   uint64_t size_B = (UINT64_C(1) << 37) + 1;
   assert_int_equal(agx_buffer_compat(f->device, &desc, &size_B), 0);
}

/* Who knows only the fields up to the label gets what they say, and nothing written behind. */
static void older_descriptions_work(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_buffer *buffer;
   uint64_t size_B = 4;
   struct agx_buffer_desc desc = {.size = offsetof(struct agx_buffer_desc, memory),
                                  .size_B = 4,
                                  .memory = 0xeeeeeeee,
                                  .align_B = 0xeeeeeeee};
   assert_ok(agx_buffer_create(f->device, &desc, &buffer));
   assert_true(info_of(buffer).memory & AGX_MEMORY_HOST_VISIBLE);
   agx_release(buffer);
   assert_int_not_equal(agx_buffer_compat(f->device, &desc, &size_B), 0);
   assert_int_equal(desc.memory, 0xeeeeeeee);
   assert_int_equal(desc.align_B, 0xeeeeeeee);
}

static void allocate_buffer(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_buffer_desc desc = {.size = sizeof(desc),
                                  .size_B = 4097,
                                  .memory = AGX_MEMORY_DEVICE_LOCAL,
                                  .usage = AGX_USAGE_TRANSFER,
                                  .align_B = 1 << 20,
                                  .label = "a label that is longer than what is kept of it"};
   struct agx_buffer *buffer;
   assert_ok(agx_buffer_create(f->device, &desc, &buffer));
   struct agx_buffer_info info = info_of(buffer);
   assert_int_equal(info.size_B, 4097);
   assert_true(info.allocation_B >= 4097);
   assert_int_equal(info.offset_B, 0);
   assert_int_equal(info.address % (1 << 20), 0);
   assert_int_equal(info.state, AGX_BUFFER_LIVE);
   assert_int_equal(info.memory & AGX_MEMORY_DEVICE_LOCAL, AGX_MEMORY_DEVICE_LOCAL);
   assert_int_equal(info.usage & AGX_USAGE_TRANSFER, AGX_USAGE_TRANSFER);
   assert_string_equal(info.label, "a label that is longer than wha");
   assert_false(info.is_imported);
   agx_release(buffer);
}

static void allocate_empty_buffer(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_buffer_desc desc = {.size = sizeof(desc)};
   struct agx_buffer *buffer;
   void *memory = NULL;
   assert_ok(agx_buffer_create(f->device, &desc, &buffer));
   struct agx_buffer_info info = info_of(buffer);
   assert_int_equal(info.size_B, 0);
   assert_true(info.address != 0);
   assert_ok(agx_buffer_map_range(buffer, 0, AGX_WHOLE_LENGTH, AGX_ACCESS_READ, &memory));
   assert_ok(agx_buffer_unmap(buffer));
   assert_fails(agx_buffer_map_range(buffer, 0, 1, AGX_ACCESS_READ, &memory), AGX_OUT_OF_RANGE,
                "1 bytes at 0");
   agx_release(buffer);
}

/* ---- host memory ----------------------------------------------------------- */

/* The units of memory that can be imported. */
static uint64_t page_of(struct fixture *f)
{
   uint64_t page_B, best_B;
   agx_vmem_granularity(f->device, &page_B, &best_B);
   return page_B;
}

static void count(void *user)
{
   ++*(int *)user;
}

/* A mapping that can be imported, of three pages of which the middle one is meant. */
static uint32_t *host_memory(size_t page, int *out_fd)
{
   *out_fd = memfd_create("host memory", MFD_CLOEXEC | MFD_ALLOW_SEALING);
   assert_true(*out_fd >= 0);
   assert_int_equal(ftruncate(*out_fd, (off_t)(3 * page)), 0);
   assert_int_equal(fcntl(*out_fd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
   void *memory = mmap(NULL, 3 * page, PROT_READ | PROT_WRITE, MAP_SHARED, *out_fd, 0);
   assert_ptr_not_equal(memory, MAP_FAILED);
   return memory;
}

/* The GPU reads what the host wrote and the host what the GPU wrote, nothing copied. */
static void use_imported(struct fixture *f, struct agx_buffer *buffer, uint32_t *memory)
{
   uint32_t push = 1000, *y_words;
   struct agx_executable *add = fixture_kernel(f, &agx_test_add);
   struct agx_buffer *y = fixture_buffer(f, 128, &y_words);
   struct agx_command_buffer *commands = fixture_begin(f);
   for (uint32_t i = 0; i < 32; i++)
      memory[i] = i * 3;
   fixture_dispatch(commands, add, 1, (struct agx_buffer *[]){buffer, y}, 2, &push, 4);
   conformance_run(f, commands);
   for (uint32_t i = 0; i < 32; i++)
      assert_int_equal(y_words[i], i * 3 + 1000);
   agx_release(commands);
   commands = fixture_begin(f);
   fixture_dispatch(commands, add, 1, (struct agx_buffer *[]){y, buffer}, 2, &push, 4);
   conformance_run(f, commands);
   for (uint32_t i = 0; i < 32; i++)
      assert_int_equal(memory[i], i * 3 + 2000);
   agx_release(commands);
   agx_release(y);
   agx_release(add);
}

static void import_host_allocation(struct fixture *f, struct agx_release_callback callback)
{
   int fd;
   size_t page = page_of(f);
   uint32_t *memory = host_memory(page, &fd);
   struct agx_buffer *buffer;
   void *mapped;
   const struct agx_external external = {.size = sizeof(external),
                                         .kind = AGX_EXTERNAL_HOST_POINTER,
                                         .pointer = (char *)memory + page,
                                         .size_B = page};
   agx_status status = agx_buffer_import(f->device, NULL, &external, callback, &buffer);
   if (status == AGX_UNAVAILABLE) /* a machine without /dev/udmabuf says so */
      assert_fails(status, AGX_UNAVAILABLE, "/dev/udmabuf");
   close(fd);
   if (status != AGX_UNAVAILABLE) {
      assert_ok(status);
      assert_true(info_of(buffer).is_imported);
      assert_int_equal(info_of(buffer).size_B, page);
      assert_ok(agx_buffer_map(buffer, &mapped));
      assert_ptr_equal(mapped, external.pointer);
      use_imported(f, buffer, external.pointer);
      assert_int_equal(memory[0], 0);
      assert_int_equal(memory[2 * page / 4], 0);
      agx_release(buffer);
   }
   munmap(memory, 3 * page);
   if (status == AGX_UNAVAILABLE)
      skip();
}

static void import_host_allocation_null_callback(void **state)
{
   import_host_allocation(conformance_device(state), (struct agx_release_callback){0});
}

static void import_host_allocation_with_callback(void **state)
{
   int calls = 0;
   import_host_allocation(conformance_device(state), (struct agx_release_callback){count, &calls});
   assert_int_equal(calls, 1);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(heaps_are_listed),
      cmocka_unit_test(heaps_can_be_asked_for),
      cmocka_unit_test(compatibility_names_the_kinds),
      cmocka_unit_test(baseline_buffer_compatibility),
      cmocka_unit_test(compatibility_is_what_buffers_have),
      cmocka_unit_test(nothing_can_be_done_with_nonsense),
      cmocka_unit_test(older_descriptions_work),
      cmocka_unit_test(allocate_buffer),
      cmocka_unit_test(allocate_empty_buffer),
      cmocka_unit_test(import_host_allocation_null_callback),
      cmocka_unit_test(import_host_allocation_with_callback),
   };
   return cmocka_run_group_tests(tests, conformance_open, conformance_close);
}
