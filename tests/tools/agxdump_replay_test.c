/* SPDX-License-Identifier: MIT
 *
 * agxdump replay over captures of requests that are made here, one by one, and of some that no
 * kernel would have answered so.
 */
#include "small_capture.h"
#include "tool.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/util.h"
#include "winsys/asahi_uapi.h"
#include "winsys/capture/write.h"
#include "winsys/kmd.h"
#include "winsys/winsys.h"

static char path[] = "/tmp/agx-dump-replay-XXXXXX";
static char text[TOOL_MAX_OUTPUT];

static int make_file(void **state)
{
   close(mkstemp(path));
   return 0;
}

static int remove_file(void **state)
{
   return unlink(path);
}

static void request(struct agx_kmd *kmd, unsigned long number, void *argument)
{
   assert_int_equal(kmd->ops->ioctl(kmd, number, argument), 0);
}

/* A recorded program may export something in each frame, and close it: descriptors that a replay
 * kept would come to an end. */
static void descriptors_are_closed_as_they_were(void **state)
{
   char arguments[128];
   struct agx_kmd *kmd;
   struct agx_uapi_syncobj_create create = {.flags = AGX_UAPI_SYNCOBJ_CREATE_SIGNALED};
   assert_ok(agxw_kmd_open("virtual:g13g", path, &kmd));
   request(kmd, AGX_IOCTL_SYNCOBJ_CREATE, &create);
   for (int i = 0; i < 300; i++) {
      struct agx_uapi_syncobj_handle handle = {.handle = create.handle};
      request(kmd, AGX_IOCTL_SYNCOBJ_HANDLE_TO_FD, &handle);
      close(handle.fd);
   }
   kmd->ops->close(kmd);
   struct rlimit limit;
   assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
   const struct rlimit few = {100, limit.rlim_max};
   assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
   snprintf(arguments, sizeof(arguments), "replay %s", path);
   int code = tool_run("AGXDUMP_TOOL", arguments, text);
   assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
   assert_int_equal(code, 0);
   assert_non_null(strstr(text, "301 requests"));
}

/* ---- captures of strangers ---- */

static struct agxw_capture_writer *writer;

static void begin(void)
{
   assert_ok(agxw_capture_writer_open(path, "virtual:g13g", &writer));
}

static int replay(const char *options)
{
   char arguments[128];
   assert_ok(agxw_capture_writer_close(writer));
   snprintf(arguments, sizeof(arguments), "replay %s %s", options, path);
   return tool_run("AGXDUMP_TOOL", arguments, text);
}

static void put(uint32_t number, const void *before, const void *after, uint32_t bytes)
{
   const struct agxw_capture_record record = {.type = AGXW_CAPTURE_REQUEST,
                                              .process = 1,
                                              .file = 1,
                                              .request = number,
                                              .argument_bytes = bytes,
                                              .before = before,
                                              .after = after};
   agxw_capture_writer_put(writer, &record);
}

/* Memory is taken for what the device has made, not for what the file says that came back. */
static void a_size_that_was_not_asked_for_is_not_taken(void **state)
{
   static const uint8_t page[AGXW_CAPTURE_PAGE_BYTES] = {1};
   const struct agx_uapi_gem_create in = {.size = AGXW_CAPTURE_PAGE_BYTES},
                                    out = {.size = UINT64_C(1) << 60, .handle = 1};
   const struct agxw_capture_record pages = {
      .type = AGXW_CAPTURE_PAGES, .process = 1, .file = 1, .handle = 1, .page_count = 1};
   begin();
   put(AGX_IOCTL_ASAHI_GEM_CREATE, &in, &out, sizeof(in));
   agxw_capture_writer_put_pages(writer, &pages, page);
   assert_int_equal(replay(""), 0);
   assert_non_null(strstr(text, "1 requests; no difference"));
}

/* What copy_golden changes: the record's numbers, its argument before and after, and its pages. */
typedef void change_fn(struct agxw_capture_record *record, uint8_t *before, uint8_t *after,
                       uint8_t *contents);

/* The golden capture with every record changed. */
static void copy_golden(const char *golden, change_fn *change)
{
   static uint8_t contents[AGXW_CAPTURE_RUN_PAGES * AGXW_CAPTURE_PAGE_BYTES];
   struct agxw_capture_reader *reader;
   struct agxw_capture_record record;
   bool more;
   begin();
   assert_ok(agxw_capture_open_fd(NULL, open(golden, O_RDONLY), &reader));
   for (;;) {
      uint8_t before[128], after[128];
      assert_ok(agxw_capture_next(reader, &record, &more));
      if (!more)
         break;
      for (uint64_t i = 0; record.type == AGXW_CAPTURE_PAGES && i < record.page_count; i++)
         assert_ok(agxw_capture_page(reader, &(struct agxw_capture_place){record.file_offset, i}, 0,
                                     contents + i * AGXW_CAPTURE_PAGE_BYTES,
                                     AGXW_CAPTURE_PAGE_BYTES));
      if (record.type == AGXW_CAPTURE_REQUEST) {
         agxw_capture_argument(&record, false, before, sizeof(before));
         agxw_capture_argument(&record, true, after, sizeof(after));
         record.before = before;
         record.after = after;
      }
      change(&record, before, after, contents);
      if (record.type == AGXW_CAPTURE_PAGES)
         agxw_capture_writer_put_pages(writer, &record, contents);
      else
         agxw_capture_writer_put(writer, &record);
   }
   agxw_capture_close(reader);
}

/* A program whose headers have longer arguments. */
static void make_longer(struct agxw_capture_record *record, uint8_t *before, uint8_t *after,
                        uint8_t *contents)
{
   record->request += 8u << 16;
}

/* Kernels look at a request's number; its size is that of the caller's argument. */
static void requests_of_other_sizes_are_the_same(void **state)
{
   static const char *const commands[] = {"show", "replay", "stats"};
   static char wanted[TOOL_MAX_OUTPUT];
   char *golden = agx_test_path("golden/dispatch.capture"), arguments[512];
   copy_golden(golden, make_longer);
   assert_ok(agxw_capture_writer_close(writer));
   for (size_t i = 0; i < AGX_COUNT(commands); i++) {
      snprintf(arguments, sizeof(arguments), "%s '%s'", commands[i], golden);
      int code = tool_run("AGXDUMP_TOOL", arguments, wanted);
      assert_non_null(strstr(wanted, "submission"));
      snprintf(arguments, sizeof(arguments), "%s %s", commands[i], path);
      assert_int_equal(tool_run("AGXDUMP_TOOL", arguments, text), code);
      assert_string_equal(text, wanted);
   }
   snprintf(arguments, sizeof(arguments), "diff '%s' %s", golden, path);
   assert_int_equal(tool_run("AGXDUMP_TOOL", arguments, text), 0);
   free(golden);
}

/* The address space has a high number, and the first submission is said to leave something else. */
static void move_space(struct agxw_capture_record *record, uint8_t *before, uint8_t *after,
                       uint8_t *contents)
{
   const uint32_t id = 4000;
   if (agxw_capture_is_request(record, AGX_IOCTL_ASAHI_VM_CREATE))
      memcpy(after + offsetof(struct agx_uapi_vm_create, vm_id), &id, sizeof(id));
   const struct {
      unsigned long request;
      size_t at;
   } users[] = {
      {AGX_IOCTL_ASAHI_VM_BIND, offsetof(struct agx_uapi_vm_bind, vm_id)},
      {AGX_IOCTL_ASAHI_VM_DESTROY, offsetof(struct agx_uapi_vm_destroy, vm_id)},
      {AGX_IOCTL_ASAHI_GEM_CREATE, offsetof(struct agx_uapi_gem_create, vm_id)},
      {AGX_IOCTL_ASAHI_QUEUE_CREATE, offsetof(struct agx_uapi_queue_create, vm_id)},
   };
   for (size_t i = 0; i < AGX_COUNT(users); i++)
      if (agxw_capture_is_request(record, users[i].request) &&
          agx_load_u32(before + users[i].at) != 0)
         memcpy(before + users[i].at, &id, sizeof(id));
   if (record->type == AGXW_CAPTURE_PAGES && record->moment == AGXW_CAPTURE_AFTER)
      contents[0] ^= 1;
}

static void differences_have_addresses_in_any_space(void **state)
{
   char *golden = agx_test_path("golden/dispatch.capture");
   copy_golden(golden, move_space);
   assert_int_equal(replay(""), 1);
   assert_non_null(strstr(text, "first difference behind submission 1: buffer"));
   assert_non_null(strstr(text, "\"data\" at offset 0, address 0x2000008000"));
   free(golden);
}

/* The kernel jumps to itself. */
static void make_endless(struct agxw_capture_record *record, uint8_t *before, uint8_t *after,
                         uint8_t *contents)
{
   static const uint8_t load[] = {0x05, 0x01, 0x00, 0x0d}, jump[] = {0x00, 0xc0, 0, 0, 0, 0};
   if (record->type == AGXW_CAPTURE_PAGES && memcmp(contents, load, sizeof(load)) == 0)
      memcpy(contents, jump, sizeof(jump));
}

static void endless_kernels_end(void **state)
{
   char *golden = agx_test_path("golden/dispatch.capture");
   copy_golden(golden, make_endless);
   assert_int_equal(replay("--instructions 1000"), 1);
   assert_non_null(strstr(text, "AGX_VIRTUAL_TIMEOUT=1000"));
   assert_non_null(strstr(text, "--instructions N allows more"));
   assert_int_equal(tool_run("AGXDUMP_TOOL", "replay --instructions 0 x", text), 2);
   assert_non_null(strstr(text, "--instructions 0: a number from 1 on is wanted"));
   free(golden);
}

/* The first submission runs without its memory being recorded, and the third. */
static void ranges_of_memory_are_replayed(void **state)
{
   struct small_device small;
   char arguments[128];
   small_device_open(&small, "virtual:g13g", path);
   for (uint64_t i = 1; i <= 3; i++) {
      assert_int_equal(agxw_device_record(small.device, i == 2, NULL), 0);
      small_device_submit(&small, agxw_bo_va(small.bos[1]), i);
      if (i == 1)
         memset(small.data, 7, 1);
   }
   assert_int_equal(small.data[0], 27);
   small_device_close(&small);
   snprintf(arguments, sizeof(arguments), "replay %s", path);
   assert_int_equal(tool_run("AGXDUMP_TOOL", arguments, text), 0);
   assert_non_null(strstr(text, "3 submissions"));
   assert_non_null(strstr(text, "no difference, 0 faults"));
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(descriptors_are_closed_as_they_were),
      cmocka_unit_test(a_size_that_was_not_asked_for_is_not_taken),
      cmocka_unit_test(requests_of_other_sizes_are_the_same),
      cmocka_unit_test(differences_have_addresses_in_any_space),
      cmocka_unit_test(endless_kernels_end),
      cmocka_unit_test(ranges_of_memory_are_replayed),
   };
   return cmocka_run_group_tests(tests, make_file, remove_file);
}
