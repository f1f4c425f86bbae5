/* SPDX-License-Identifier: MIT
 *
 * Captures of requests and memory: what a file of them holds after it was read back.
 */
#include "fake_kmd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "winsys/capture.h"
#include "winsys/device_impl.h"

struct file {
   char path[64];
   char *data;
   size_t size;
};

static void make_path(struct file *file)
{
   strcpy(file->path, "/tmp/agx-capture-XXXXXX");
   int fd = mkstemp(file->path);
   assert_true(fd >= 0);
   close(fd);
}

static void load(struct file *file)
{
   file->data = agx_test_read_file(file->path, &file->size);
   unlink(file->path);
}

/* Two submissions of the same stream; between them one page of the data changes. */
static void record(struct file *file)
{
   struct fake_kmd fake;
   fake_kmd_init(&fake);
   make_path(file);
   struct agx_kmd *kmd;
   assert_ok(agx_kmd_capture_open(&fake.base, file->path, &kmd));
   assert_string_equal(kmd->name, "fake");
   struct agxw_device *device;
   struct agxw_queue *queue;
   struct agxw_bo *stream, *data;
   struct agxw_timeline *timeline;
   uint8_t *bytes;
   assert_ok(agxw_device_create(kmd, NULL, &device));
   assert_ok(agxw_queue_create(device, 0, &queue));
   assert_ok(agxw_timeline_create(device, 0, &timeline));
   assert_ok(agxw_bo_create(device, 100, 0, AGXW_BO_USC, "stream", &stream));
   assert_ok(agxw_bo_create(device, 4 * 16384, 0, 0, "data", &data));
   assert_ok(agxw_bo_map(stream, (void **)&bytes));
   memcpy(bytes, "CDM words", 9);
   assert_ok(agxw_bo_map(data, (void **)&bytes));
   bytes[16384] = 1;
   bytes[2 * 16384 + 5] = 2;
   for (uint64_t i = 1; i <= 2; i++) {
      const struct agxw_compute command = {agxw_bo_va(stream), agxw_bo_va(stream) + 8};
      const struct agxw_point signal = {timeline, i};
      const struct agxw_submit submit = {
         .commands = &command, .command_count = 1, .signals = &signal, .signal_count = 1};
      assert_ok(agxw_submit(queue, &submit));
      assert_ok(agxw_wait(device, &signal, 1, false, 0));
      bytes[3 * 16384 + 7] = 3;
   }
   agxw_bo_destroy(stream);
   agxw_bo_destroy(data);
   agxw_timeline_destroy(timeline);
   agxw_queue_destroy(queue);
   agxw_device_destroy(device);
   fake_kmd_assert_clean(&fake);
   load(file);
}

static int count_records(const struct file *file, enum agxw_capture_type type, uint32_t request)
{
   struct agxw_capture_reader reader;
   struct agxw_capture_record record;
   bool more;
   int count = 0;
   assert_ok(agxw_capture_open(&reader, file->data, file->size));
   for (;;) {
      assert_ok(agxw_capture_next(&reader, &record, &more));
      if (!more)
         return count;
      count += record.type == type && (request == 0 || record.request == request);
   }
}

static void what_passes_is_written(void **state)
{
   struct file file;
   record(&file);
   struct agxw_capture_reader reader;
   assert_ok(agxw_capture_open(&reader, file.data, file.size));
   assert_string_equal(reader.node, "fake");
   assert_int_equal(count_records(&file, AGXW_CAPTURE_REQUEST, AGX_IOCTL_ASAHI_SUBMIT), 2);
   assert_int_equal(count_records(&file, AGXW_CAPTURE_REQUEST, AGX_IOCTL_ASAHI_GEM_CREATE), 4);
   assert_int_equal(count_records(&file, AGXW_CAPTURE_REQUEST, AGX_IOCTL_SYNCOBJ_TIMELINE_WAIT), 2);
   assert_int_equal(count_records(&file, AGXW_CAPTURE_LABEL, 0), 4);
   /* Waste, the stream's page, pages 1 and 2 of the data in one, and page 3 before the second. */
   assert_int_equal(count_records(&file, AGXW_CAPTURE_PAGES, 0), 4);
   assert_int_equal(count_records(&file, AGXW_CAPTURE_NOTE, 0), 0);
   free(file.data);
}

static void check_submission(struct agxw_capture_state *device,
                             const struct agxw_capture_record *record, int index)
{
   struct agx_uapi_submit submit;
   uint32_t bytes;
   agxw_capture_argument(record, false, &submit, sizeof(submit));
   const struct agxw_capture_queue *queue = agxw_capture_state_queue(device, submit.queue_id);
   assert_non_null(queue);
   assert_int_equal(queue->usc_base, 0x1100000000);
   const uint8_t *commands =
      agxw_capture_find_blob(record, offsetof(struct agx_uapi_submit, cmdbuf), &bytes);
   assert_int_equal(bytes, 72);
   struct agx_uapi_cmd_compute compute;
   memcpy(&compute, commands + 8, sizeof(compute));
   const struct agx_uapi_sync *syncs =
      agxw_capture_find_blob(record, offsetof(struct agx_uapi_submit, syncs), &bytes);
   assert_int_equal(bytes, 16);
   assert_int_equal(syncs->timeline_value, index + 1);

   char text[9];
   uint64_t start;
   assert_true(
      agxw_capture_state_read(device, queue->vm_id, compute.cdm_ctrl_stream_base, text, 9));
   assert_memory_equal(text, "CDM words", 9);
   assert_string_equal(
      agxw_capture_state_label(device, queue->vm_id, compute.cdm_ctrl_stream_base + 50, &start),
      "stream");
   assert_int_equal(start, compute.cdm_ctrl_stream_base);
   uint8_t *data = malloc(65536);
   assert_true(agxw_capture_state_read(device, queue->vm_id, 0x2000000000, data, 65536));
   assert_int_equal(data[16384], 1);
   assert_int_equal(data[2 * 16384 + 5], 2);
   assert_int_equal(data[3 * 16384 + 7], index == 0 ? 0 : 3);
   assert_false(agxw_capture_state_read(device, queue->vm_id, 0x2000000001, data, 65536));
   assert_false(agxw_capture_state_read(device, queue->vm_id + 1, 0x2000000000, data, 1));
   assert_null(agxw_capture_state_label(device, queue->vm_id, 0x3000000000, &start));
   free(data);
}

static void memory_is_as_it_was_at_each_submission(void **state)
{
   struct file file;
   record(&file);
   struct agxw_capture_reader reader;
   struct agxw_capture_state *device;
   struct agxw_capture_record record;
   bool more = true;
   int submissions = 0;
   assert_ok(agxw_capture_open(&reader, file.data, file.size));
   assert_ok(agxw_capture_state_create(NULL, &device));
   for (;;) {
      assert_ok(agxw_capture_next(&reader, &record, &more));
      if (!more)
         break;
      assert_ok(agxw_capture_state_apply(device, &record));
      if (record.type == AGXW_CAPTURE_REQUEST && record.request == AGX_IOCTL_ASAHI_SUBMIT)
         check_submission(device, &record, submissions++);
   }
   assert_int_equal(submissions, 2);
   /* Closed with the buffer. */
   uint8_t byte;
   assert_false(agxw_capture_state_read(device, 1, 0x2000000000, &byte, 1));
   agxw_capture_state_destroy(device);
   free(file.data);
}

/* Memory that another made is recorded as one's own. */
static void imported_buffers_are_recorded(void **state)
{
   struct file file;
   struct fake_kmd fake;
   struct agx_kmd *kmd;
   struct agxw_device *device;
   struct agxw_queue *queue;
   struct agxw_bo *import;
   void *bytes;
   fake_kmd_init(&fake);
   fake.dmabuf_bytes = 2 * 16384;
   make_path(&file);
   assert_ok(agx_kmd_capture_open(&fake.base, file.path, &kmd));
   assert_ok(agxw_device_create(kmd, NULL, &device));
   assert_ok(agxw_queue_create(device, 0, &queue));
   assert_ok(agxw_bo_import(device, 7, 0, "theirs", &import));
   assert_ok(agxw_bo_map(import, &bytes));
   ((uint8_t *)bytes)[16384 + 3] = 8;
   uint64_t va = agxw_bo_va(import), start;
   const struct agxw_compute command = {va, va + 8};
   assert_ok(agxw_submit(queue, &(struct agxw_submit){.commands = &command, .command_count = 1}));
   agxw_queue_destroy(queue);
   agxw_device_destroy((agxw_bo_destroy(import), device));
   load(&file);
   struct agxw_capture_reader reader;
   struct agxw_capture_state *then;
   struct agxw_capture_record record;
   bool more = true;
   assert_ok(agxw_capture_open(&reader, file.data, file.size));
   assert_ok(agxw_capture_state_create(NULL, &then));
   do {
      assert_ok(agxw_capture_next(&reader, &record, &more));
      assert_true(more);
      assert_ok(agxw_capture_state_apply(then, &record));
   } while (record.type != AGXW_CAPTURE_REQUEST || record.request != AGX_IOCTL_ASAHI_SUBMIT);
   uint8_t byte = 0;
   const uint32_t vm_id = 1;
   assert_string_equal(agxw_capture_state_label(then, vm_id, va, &start), "theirs");
   assert_true(agxw_capture_state_read(then, vm_id, va + 16384 + 3, &byte, 1));
   assert_int_equal(byte, 8);
   agxw_capture_state_destroy(then);
   free(file.data);
}

/* Reads everything; the status of the first failure. */
static agx_status read_all(const void *data, size_t size)
{
   struct agxw_capture_reader reader;
   struct agxw_capture_state *device;
   struct agxw_capture_record record;
   bool more = true;
   AGX_TRY(agxw_capture_open(&reader, data, size));
   AGX_TRY(agxw_capture_state_create(NULL, &device));
   agx_status status = AGX_OK;
   while (more && status == AGX_OK) {
      status = agxw_capture_next(&reader, &record, &more);
      if (status == AGX_OK && more)
         status = agxw_capture_state_apply(device, &record);
      uint8_t bytes[40];
      uint64_t start;
      uint32_t length;
      if (status == AGX_OK && more) {
         agxw_capture_state_read(device, 1, 0x1100004000, bytes, sizeof(bytes));
         agxw_capture_state_label(device, 1, 0x2000000000, &start);
         agxw_capture_find_blob(&record, 8, &length);
      }
   }
   agxw_capture_state_destroy(device);
   return status;
}

/* A copy of its own size, so that the sanitizer sees a read beyond it. */
static agx_status read_copy(const char *data, size_t size)
{
   char *copy = malloc(size ? size : 1);
   assert_non_null(copy);
   memcpy(copy, data, size);
   agx_status status = read_all(copy, size);
   free(copy);
   return status;
}

static void cut_files_are_called_cut(void **state)
{
   struct file file;
   record(&file);
   assert_ok(read_copy(file.data, file.size));
   int good = 0;
   for (size_t size = 0; size < file.size; size += size < 4000 ? 1 : 997) {
      agx_status status = read_copy(file.data, size);
      good += status == AGX_OK;
      if (status != AGX_OK)
         assert_int_equal(status, size < 8 ? AGX_INCOMPATIBLE : AGX_DATA_LOSS);
   }
   assert_in_range(good, 1, 60); /* cuts between two records */
   assert_fails(read_copy(file.data, file.size - 3), AGX_DATA_LOSS, "cut off");
   free(file.data);
}

static void foreign_files_are_named(void **state)
{
   struct file file;
   record(&file);
   assert_fails(read_copy("\177ELF and so on", 12), AGX_INCOMPATIBLE, "not a capture");
   assert_fails(read_copy("", 0), AGX_INCOMPATIBLE, "not a capture");
   file.data[8] = 2;
   assert_fails(read_copy(file.data, file.size), AGX_INCOMPATIBLE, "version 2");
   free(file.data);
}

static void damaged_files_do_no_harm(void **state)
{
   struct file file;
   record(&file);
   struct agx_test_rng rng = {99};
   int failed = 0;
   for (int i = 0; i < 3000; i++) {
      size_t at = 8 + agx_test_random_below(&rng, i % 2 ? 4000 : file.size - 8);
      char old = file.data[at];
      file.data[at] = (char)agx_test_random(&rng);
      failed += read_all(file.data, file.size) != AGX_OK;
      if (i % 8 == 0) /* let damage pile up a little */
         file.data[at] = old;
      if (i % 64 == 63) {
         free(file.data);
         record(&file);
      }
   }
   assert_true(failed > 100);
   free(file.data);
}

static void an_unwritable_file_is_told(void **state)
{
   struct fake_kmd fake;
   fake_kmd_init(&fake);
   struct agx_kmd *kmd;
   assert_fails(agx_kmd_capture_open(&fake.base, "/nonexistent/file", &kmd), AGX_NOT_FOUND,
                "/nonexistent/file");
   assert_true(fake.closed);
   if (access("/dev/full", W_OK) != 0)
      return;
   fake_kmd_init(&fake);
   struct agxw_device *device;
   struct agxw_queue *queue;
   struct agxw_bo *bo;
   assert_ok(agx_kmd_capture_open(&fake.base, "/dev/full", &kmd));
   assert_ok(agxw_device_create(kmd, NULL, &device));
   assert_ok(agxw_queue_create(device, 0, &queue));
   assert_ok(agxw_bo_create(device, 1 << 20, 0, 0, "bo", &bo));
   uint8_t *bytes;
   assert_ok(agxw_bo_map(bo, (void **)&bytes));
   memset(bytes, 1, 1 << 20);
   const struct agxw_compute command = {0x1000, 0x1008};
   assert_fails(agxw_submit(queue, &(struct agxw_submit){.commands = &command, .command_count = 1}),
                AGX_RESOURCE_EXHAUSTED, "the capture file can't be written: No space");
   assert_int_equal(fake.submit_count, 0);
   agxw_bo_destroy(bo);
   agxw_queue_destroy(queue);
   agxw_device_destroy(device);
   fake_kmd_assert_clean(&fake);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_passes_is_written),
      cmocka_unit_test(memory_is_as_it_was_at_each_submission),
      cmocka_unit_test(imported_buffers_are_recorded),
      cmocka_unit_test(cut_files_are_called_cut),
      cmocka_unit_test(foreign_files_are_named),
      cmocka_unit_test(damaged_files_do_no_harm),
      cmocka_unit_test(an_unwritable_file_is_told),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
