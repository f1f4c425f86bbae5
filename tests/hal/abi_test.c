/* SPDX-License-Identifier: MIT
 *
 * Programs that were compiled against another version of the headers: descriptors that are shorter
 * or longer than the library's, and functions found by name.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"

enum {
   HEAD_B = 16, /* size, next: what all descriptors have had from the beginning */
   MORE_B = 24, /* fields of a later version */
};

/* What calls need besides their descriptor. */
static struct {
   struct fixture f;
   struct agx_executable *count;
   struct agx_buffer *buffer;
   struct agx_semaphore *semaphore;
   struct agx_binding binding;
   struct agx_point signal;
   uint32_t *words;
   uint8_t bytes[64];
   void *elf;
   size_t elf_B;
} set;

/* ---- one call for each descriptor ----------------------------------------- */

static agx_status create_instance(const void *desc)
{
   struct agx_instance *instance = NULL;
   agx_status status = agx_instance_create(desc, &instance);
   agx_release(instance);
   return status;
}

static agx_status open_device(const void *desc)
{
   struct agx_device *device = NULL;
   agx_status status = agx_device_open(set.f.instance, desc, &device);
   agx_release(device);
   return status;
}

static agx_status create_buffer(const void *desc)
{
   struct agx_buffer *buffer = NULL;
   agx_status status = agx_buffer_create(set.f.device, desc, &buffer);
   agx_release(buffer);
   return status;
}

static agx_status reserve(const void *desc)
{
   struct agx_buffer *buffer = NULL;
   agx_status status = agx_vmem_reserve(set.f.device, desc, &buffer);
   agx_release(buffer);
   return status;
}

static agx_status create_pages(const void *desc)
{
   struct agx_pages *pages = NULL;
   agx_status status = agx_pages_create(set.f.device, desc, &pages);
   agx_release(pages);
   return status;
}

static agx_status create_pool(const void *desc)
{
   struct agx_pool *pool = NULL;
   agx_status status = agx_pool_create(set.f.device, desc, &pool);
   agx_release(pool);
   return status;
}

static agx_status create_image(const void *desc)
{
   struct agx_image *image = NULL;
   agx_status status = agx_image_create(set.f.device, desc, &image);
   agx_release(image);
   return status;
}

static agx_status create_sampler(const void *desc)
{
   struct agx_sampler *sampler = NULL;
   agx_status status = agx_sampler_create(set.f.device, desc, &sampler);
   agx_release(sampler);
   return status;
}

static agx_status create_executable(const void *desc)
{
   struct agx_executable *executable = NULL;
   agx_status status = agx_executable_create(set.f.device, desc, &executable);
   agx_release(executable);
   return status;
}

static agx_status create_command_buffer(const void *desc)
{
   struct agx_command_buffer *commands = NULL;
   agx_status status = agx_command_buffer_create(set.f.device, desc, &commands);
   agx_release(commands);
   return status;
}

static agx_status import_file(const void *desc)
{
   struct agx_file *file = NULL;
   agx_status status = agx_file_import(set.f.device, desc, &file);
   agx_release(file);
   return status;
}

static agx_status begin_profile(const void *desc)
{
   agx_status status = agx_profile_begin(set.f.device, desc);
   if (status == AGX_OK)
      status = agx_profile_end(set.f.device);
   return status;
}

static agx_status dispatch(const void *desc)
{
   struct agx_command_buffer *commands = fixture_begin(&set.f);
   agx_status status = agx_cmd_dispatch(commands, desc);
   agx_release(commands);
   return status;
}

static agx_status dispatch_vertices(const void *desc)
{
   struct agx_command_buffer *commands = fixture_begin(&set.f);
   agx_status status = agx_cmd_dispatch_vertices(commands, desc);
   agx_release(commands);
   return status;
}

static agx_status barrier(const void *desc)
{
   struct agx_command_buffer *commands = fixture_begin(&set.f);
   agx_status status = agx_cmd_barrier(commands, desc);
   agx_release(commands);
   return status;
}

/* ---- descriptors ---------------------------------------------------------- */

#define DESC(name, call, refusal, ...)                                                             \
   {                                                                                               \
#name, sizeof(struct name),                                                                  \
         &(struct name){.size = sizeof(struct name), __VA_ARGS__ }, call, refusal                  \
   }

static struct {
   const char *name;
   size_t size;
   const void *desc;
   agx_status (*call)(const void *desc);
   agx_status refusal; /* of the whole one, which otherwise works */
} descs[] = {
   DESC(agx_instance_desc, create_instance, AGX_OK, .log_user = &set),
   DESC(agx_device_desc, open_device, AGX_OK, .name = "virtual", .queue_count = 3,
        .max_parked = 100, .memory_limit_B = 1 << 26, .cache_limit_B = 1 << 20),
   DESC(agx_buffer_desc, create_buffer, AGX_OK, .size_B = 100, .label = "it",
        .memory = AGX_MEMORY_DEVICE_LOCAL, .usage = AGX_USAGE_TRANSFER, .access = AGX_ACCESS_READ,
        .align_B = 1 << 16),
   DESC(agx_buffer_desc, reserve, AGX_OK, .size_B = 1 << 16, .label = "it", .align_B = 1 << 16),
   DESC(agx_buffer_desc, create_pages, AGX_OK, .size_B = 1 << 16, .label = "it"),
   DESC(agx_pool_desc, create_pool, AGX_OK, .strategy = AGX_POOL_FIXED, .block_B = 1 << 16,
        .limit_B = 1 << 20, .label = "it", .usage = AGX_USAGE_DISPATCH),
   DESC(agx_image_desc, create_image, AGX_OK, .type = 1, .format = "rgba8", .width = 5, .height = 4,
        .levels = 2, .label = "it", .samples = 1),
   DESC(agx_sampler_desc, create_sampler, AGX_OK, .magnify = AGX_FILTER_LINEAR, .max_anisotropy = 4,
        .compare = AGX_COMPARE_LESS),
   DESC(agx_executable_desc, create_executable, AGX_OK, .flags = AGX_EXECUTABLE_TRANSIENT),
   DESC(agx_command_buffer_desc, create_command_buffer, AGX_OK, .label = "it",
        .flags = AGX_COMMAND_BUFFER_ONE_SHOT, .table_slots = 3),
   DESC(agx_file_desc, import_file, AGX_OK, .kind = AGX_FILE_HOST_MEMORY, .access = AGX_FILE_READ,
        .memory = set.bytes, .memory_B = sizeof(set.bytes), .label = "it"),
   DESC(agx_profile_desc, begin_profile, AGX_OK, .families = 0),
   DESC(agx_dispatch, dispatch, AGX_OK, .workgroups = {1, 1, 1}, .bindings = &set.binding,
        .binding_count = 1),
   DESC(agx_vertex_dispatch, dispatch_vertices, AGX_INVALID_ARGUMENT, .vertex_count = 3,
        .instance_count = 1),
   DESC(agx_barrier, barrier, AGX_OK, .source_stages = AGX_STAGE_DISPATCH,
        .target_stages = AGX_STAGE_TRANSFER),
};
enum {
   DESCS = sizeof(descs) / sizeof(descs[0])
};

/* What can't stand in a table. */
static void *whole_desc(unsigned row)
{
   char *desc = malloc(descs[row].size + MORE_B);
   assert_non_null(desc);
   memcpy(desc, descs[row].desc, descs[row].size);
   memset(desc + descs[row].size, 0, MORE_B);
   if (descs[row].call == create_executable) {
      ((struct agx_executable_desc *)desc)->data = set.elf;
      ((struct agx_executable_desc *)desc)->data_B = set.elf_B;
   }
   if (descs[row].call == dispatch)
      ((struct agx_dispatch *)desc)->executable = set.count;
   if (descs[row].call == dispatch_vertices)
      ((struct agx_vertex_dispatch *)desc)->executable = set.count;
   return desc;
}

static void put_size(void *desc, size_t size)
{
   uint32_t word = (uint32_t)size;
   memcpy(desc, &word, sizeof(word));
}

/* The status of a call, and its text if it failed. */
static agx_status ask(unsigned row, const void *desc, char *text, size_t capacity)
{
   agx_status status = descs[row].call(desc);
   text[0] = 0;
   if (status != AGX_OK)
      agx_error_text(text, capacity);
   return status;
}

/* Fields that an old program's struct lacks count as zero, and nothing behind it is read: it lies
 * at the end of its allocation. */
static void shorter_descriptors_count_as_zero_where_they_end(void **state)
{
   for (unsigned row = 0; row < DESCS; row++) {
      for (size_t size = HEAD_B; size <= descs[row].size; size += 8) {
         char want_text[512], got_text[512], *zeroed = whole_desc(row), *cut = malloc(size);
         assert_non_null(cut);
         put_size(zeroed, size);
         memcpy(cut, zeroed, size);
         put_size(zeroed, descs[row].size);
         memset(zeroed + size, 0, descs[row].size - size);
         agx_status want = ask(row, zeroed, want_text, sizeof(want_text));
         agx_status got = ask(row, cut, got_text, sizeof(got_text));
         if (got != want || strcmp(got_text, want_text) != 0)
            fail_msg("%s of %zu bytes: %d %s, want %d %s", descs[row].name, size, got, got_text,
                     want, want_text);
         if (size == descs[row].size && want != descs[row].refusal)
            fail_msg("%s: %d %s", descs[row].name, want, want_text);
         free(zeroed);
         free(cut);
      }
   }
}

static void longer_descriptors_work_as_long_as_their_tail_is_zero(void **state)
{
   for (unsigned row = 0; row < DESCS; row++) {
      char text[512], want[80], *desc = whole_desc(row);
      for (size_t more = 8; more <= MORE_B; more += 8) {
         put_size(desc, descs[row].size + more);
         assert_int_equal(ask(row, desc, text, sizeof(text)), descs[row].refusal);
      }
      for (size_t at = descs[row].size; at < descs[row].size + MORE_B; at++) {
         desc[at] = 1;
         snprintf(want, sizeof(want), "%s: a field at offset %zu", descs[row].name, at);
         assert_fails(descs[row].call(desc), AGX_UNIMPLEMENTED, want);
         put_size(desc, at); /* which ends before it */
         if (at % 8 == 0)
            assert_int_equal(ask(row, desc, text, sizeof(text)), descs[row].refusal);
         put_size(desc, descs[row].size + MORE_B);
         desc[at] = 0;
      }
      free(desc);
   }
}

static void sizes_that_no_version_has_and_extensions_are_refused(void **state)
{
   static const uint32_t wrong[] = {0, 1, 4, 8, 15, 17, 20, 23, 4097, 0x80000000, UINT32_MAX};
   for (unsigned row = 0; row < DESCS; row++) {
      char want[80], *desc = whole_desc(row);
      const void *next = desc;
      for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
         put_size(desc, wrong[i]);
         snprintf(want, sizeof(want), "%s: size is %u", descs[row].name, wrong[i]);
         assert_fails(descs[row].call(desc), AGX_INVALID_ARGUMENT, want);
      }
      put_size(desc, descs[row].size);
      memcpy(desc + 8, &next, sizeof(next));
      assert_fails(descs[row].call(desc), AGX_UNIMPLEMENTED, "next is not NULL");
      free(desc);
   }
}

/* What it lacks to work is said. */
static void no_descriptor_is_one_of_zeros(void **state)
{
   const struct agx_release_callback none = {0};
   struct agx_buffer *buffer;
   for (unsigned row = 0; row < DESCS; row++) {
      char text[512], want_text[512], *zeros = whole_desc(row);
      memset(zeros, 0, descs[row].size);
      put_size(zeros, descs[row].size);
      agx_status want = ask(row, zeros, want_text, sizeof(want_text));
      if (ask(row, NULL, text, sizeof(text)) != want || strcmp(text, want_text) != 0)
         fail_msg("%s of NULL: %s, want %d %s", descs[row].name, text, want, want_text);
      free(zeros);
   }
   assert_fails(agx_buffer_import(set.f.device, NULL, NULL, none, &buffer), AGX_INVALID_ARGUMENT,
                "kind 0");
}

/* Has no `next`, but counts and ends as descriptors do. */
static void external_memory_of_any_version_is_read(void **state)
{
   const struct agx_release_callback none = {0};
   struct agx_buffer *buffer;
   char *external = malloc(sizeof(struct agx_external) + MORE_B), want[80];
   assert_non_null(external);
   memset(external, 0, sizeof(struct agx_external) + MORE_B);
   external[4] = 99; /* kind */
   for (size_t size = 8; size <= sizeof(struct agx_external) + MORE_B; size += 8) {
      char *cut = malloc(size);
      assert_non_null(cut);
      put_size(external, size);
      memcpy(cut, external, size);
      assert_fails(
         agx_buffer_import(set.f.device, NULL, (const struct agx_external *)cut, none, &buffer),
         AGX_INVALID_ARGUMENT, "kind 99");
      free(cut);
   }
   for (size_t at = sizeof(struct agx_external); at < sizeof(struct agx_external) + MORE_B; at++) {
      external[at] = 1;
      snprintf(want, sizeof(want), "agx_external: a field at offset %zu", at);
      assert_fails(agx_buffer_import(set.f.device, NULL, (const struct agx_external *)external,
                                     none, &buffer),
                   AGX_UNIMPLEMENTED, want);
      external[at] = 0;
   }
   free(external);
}

/* ---- operations ----------------------------------------------------------- */

/* Barriers are older than all fields behind their signals; each element says where the next is. */
static void operations_of_any_version_come_in_arrays(void **state)
{
   const size_t sizes[] = {offsetof(struct agx_op, u), sizeof(struct agx_op),
                           sizeof(struct agx_op) + MORE_B};
   for (unsigned i = 0; i < 3; i++) {
      char *ops = calloc(3, sizes[i]);
      struct agx_point points[3];
      uint32_t queued;
      assert_non_null(ops);
      struct agx_semaphore *semaphore = fixture_semaphore(&set.f);
      for (unsigned k = 0; k < 3; k++) {
         points[k] = (struct agx_point){semaphore, k + 1};
         const struct agx_op op = {.size = (uint32_t)sizes[i],
                                   .waits = &points[k - (k > 0)],
                                   .signals = &points[k],
                                   .wait_count = k > 0,
                                   .signal_count = 1};
         memcpy(ops + k * sizes[i], &op, sizes[i] < sizeof(op) ? sizes[i] : sizeof(op));
      }
      assert_ok(agx_submit(set.f.device, (const struct agx_op *)ops, 3, &queued));
      assert_int_equal(queued, 3);
      assert_ok(fixture_wait(semaphore, 3));
      agx_release(semaphore);
      free(ops);
   }
}

static void operations_with_unknown_fields_are_refused(void **state)
{
   char *op = calloc(1, sizeof(struct agx_op) + MORE_B);
   assert_non_null(op);
   put_size(op, sizeof(struct agx_op) + MORE_B);
   op[sizeof(struct agx_op) + 3] = 1;
   assert_fails(agx_submit(set.f.device, (const struct agx_op *)op, 1, NULL), AGX_UNIMPLEMENTED,
                "agx_op: a field at offset 203");
   put_size(op, 0);
   assert_fails(agx_submit(set.f.device, (const struct agx_op *)op, 1, NULL), AGX_INVALID_ARGUMENT,
                "agx_op: size is 0");
   free(op);
}

/* ---- functions by name ---------------------------------------------------- */

typedef agx_proc (*get_proc_fn)(const char *name);
typedef uint32_t (*version_fn)(void);

static unsigned check_map(void *library, get_proc_fn get_proc)
{
   char *path = agx_test_path("../src/hal/device/agxhal.map");
   char *map = agx_test_read_file(path, NULL), name[80];
   unsigned count = 0;
   for (const char *at = map; (at = strstr(at, "\n   agx_")); at++, count++) {
      snprintf(name, sizeof(name), "%.*s", (int)strcspn(at + 4, ";"), at + 4);
      void *symbol = dlsym(library, name);
      if (!symbol || (void *)get_proc(name) != symbol)
         fail_msg("%s is at %p, said to be at %p", name, symbol, (void *)get_proc(name));
   }
   free(map);
   free(path);
   return count;
}

/* The library that programs load; not what this test is linked with. */
static void all_functions_are_found_by_name(void **state)
{
   static const char *const none[] = {"",           "agx_submi",   "agx_submit_", "agx_desc_read",
                                      "AGX_SUBMIT", " agx_submit", "malloc"};
   const char *path = getenv("AGX_TEST_LIBRARY");
   assert_non_null(path);
   void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
   if (!library)
      fail_msg("%s", dlerror());
   get_proc_fn get_proc = (get_proc_fn)dlsym(library, "agx_get_proc");
   assert_non_null(get_proc);
   assert_true(check_map(library, get_proc) > 80);
   for (unsigned i = 0; i < sizeof(none) / sizeof(none[0]); i++)
      assert_null(get_proc(none[i]));
   assert_null(get_proc(NULL));
   assert_int_equal(((version_fn)get_proc("agx_abi_version"))(), AGX_ABI_VERSION);
   assert_int_equal(((version_fn)get_proc("agx_version"))(),
                    AGX_VERSION_MAJOR << 16 | AGX_VERSION_MINOR);
   dlclose(library);
}

/* ---- all ------------------------------------------------------------------ */

static int open_all(void **state)
{
   fixture_open(&set.f, "virtual");
   set.elf = agx_test_kernel_elf(&agx_test_count, set.f.info.chip, &set.elf_B);
   set.count = fixture_kernel(&set.f, &agx_test_count);
   set.buffer = fixture_buffer(&set.f, 4096, &set.words);
   set.binding = (struct agx_binding){.ref = {.buffer = set.buffer, .length_B = AGX_WHOLE_LENGTH}};
   return 0;
}

static int close_all(void **state)
{
   agx_release(set.buffer);
   agx_release(set.count);
   free(set.elf);
   fixture_close(&set.f);
   return 0;
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(shorter_descriptors_count_as_zero_where_they_end),
      cmocka_unit_test(longer_descriptors_work_as_long_as_their_tail_is_zero),
      cmocka_unit_test(sizes_that_no_version_has_and_extensions_are_refused),
      cmocka_unit_test(no_descriptor_is_one_of_zeros),
      cmocka_unit_test(external_memory_of_any_version_is_read),
      cmocka_unit_test(operations_of_any_version_come_in_arrays),
      cmocka_unit_test(operations_with_unknown_fields_are_refused),
      cmocka_unit_test(all_functions_are_found_by_name),
   };
   return cmocka_run_group_tests(tests, open_all, close_all);
}
