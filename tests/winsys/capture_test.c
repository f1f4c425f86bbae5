/* SPDX-License-Identifier: MIT
 *
 * Captures of requests and memory: what a file of them holds after it was read back.
 */
#include "fake_kmd.h"

#include <errno.h>
#include <sys/mman.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/util.h"
#include "winsys/capture/capture.h"
#include "winsys/capture/ranges.h"
#include "winsys/capture/record.h"
#include "winsys/capture/write.h"
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

static void add_one(void *user)
{
   ++*(uint8_t *)user;
}

/* Two submissions of the same stream; between them one page of the data changes. */
static void record_device(struct file *file, bool gpu_writes)
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
   fake.on_submit = gpu_writes ? add_one : NULL;
   fake.submit_user = bytes + 16384 + 9;
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

static void record(struct file *file)
{
   record_device(file, false);
}

static int count_records(const struct file *file, enum agxw_capture_type type, uint32_t request)
{
   struct agxw_capture_reader *reader;
   struct agxw_capture_record record;
   bool more;
   int count = 0;
   assert_ok(agxw_capture_open_memory(NULL, file->data, file->size, &reader));
   for (;;) {
      assert_ok(agxw_capture_next(reader, &record, &more));
      if (!more)
         break;
      count += record.type == type && (request == 0 || record.request == request);
   }
   agxw_capture_close(reader);
   return count;
}

static void what_passes_is_written(void **state)
{
   struct file file;
   record(&file);
   struct agxw_capture_reader *reader;
   assert_ok(agxw_capture_open_memory(NULL, file.data, file.size, &reader));
   assert_string_equal(agxw_capture_node(reader), "fake");
   assert_int_equal(agxw_capture_version(reader), 2);
   agxw_capture_close(reader);
   assert_int_equal(count_records(&file, AGXW_CAPTURE_REQUEST, AGX_IOCTL_ASAHI_SUBMIT), 2);
   assert_int_equal(count_records(&file, AGXW_CAPTURE_REQUEST, AGX_IOCTL_ASAHI_GEM_CREATE), 4);
   assert_int_equal(count_records(&file, AGXW_CAPTURE_REQUEST, AGX_IOCTL_SYNCOBJ_TIMELINE_WAIT), 2);
   assert_int_equal(count_records(&file, AGXW_CAPTURE_LABEL, 0), 4);
   /* Waste, the stream's page, pages 1 and 2 of the data in one, and page 3 before the second. */
   assert_int_equal(count_records(&file, AGXW_CAPTURE_PAGES, 0), 4);
   assert_int_equal(count_records(&file, AGXW_CAPTURE_PROCESS, 0), 1);
   assert_int_equal(count_records(&file, AGXW_CAPTURE_OPEN, 0), 1);
   assert_int_equal(count_records(&file, AGXW_CAPTURE_NOTE, 0), 0);
   free(file.data);
}

static const char *label_at(const struct agxw_capture_device *device, uint64_t va,
                            uint64_t *out_start)
{
   struct agxw_capture_mapping mapping;
   if (!agxw_capture_device_mapping(device, 1, va, &mapping) || mapping.va > va)
      return NULL;
   *out_start = mapping.va;
   return mapping.object->label;
}

static void check_submission(struct agxw_capture_device *device,
                             const struct agxw_capture_record *record, int index)
{
   struct agx_uapi_submit submit;
   uint32_t bytes;
   agxw_capture_argument(record, false, &submit, sizeof(submit));
   const struct agxw_capture_queue *queue = agxw_capture_device_queue(device, submit.queue_id);
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
      agxw_capture_device_read(device, queue->vm_id, compute.cdm_ctrl_stream_base, text, 9));
   assert_memory_equal(text, "CDM words", 9);
   assert_string_equal(label_at(device, compute.cdm_ctrl_stream_base + 50, &start), "stream");
   assert_int_equal(start, compute.cdm_ctrl_stream_base);
   uint8_t *data = malloc(65536);
   assert_true(agxw_capture_device_read(device, queue->vm_id, 0x2000000000, data, 65536));
   assert_int_equal(data[16384], 1);
   assert_int_equal(data[2 * 16384 + 5], 2);
   assert_int_equal(data[3 * 16384 + 7], index == 0 ? 0 : 3);
   assert_false(agxw_capture_device_read(device, queue->vm_id, 0x2000000001, data, 65536));
   assert_false(agxw_capture_device_read(device, queue->vm_id + 1, 0x2000000000, data, 1));
   assert_null(label_at(device, 0x3000000000, &start));
   free(data);
}

static void memory_is_as_it_was_at_each_submission(void **state)
{
   struct file file;
   record(&file);
   struct agxw_capture_reader *reader;
   struct agxw_capture_state *then;
   struct agxw_capture_device *device = NULL;
   struct agxw_capture_record record;
   bool more = true;
   int submissions = 0;
   assert_ok(agxw_capture_open_memory(NULL, file.data, file.size, &reader));
   assert_ok(agxw_capture_state_create(NULL, reader, &then));
   for (;;) {
      assert_ok(agxw_capture_next(reader, &record, &more));
      if (!more)
         break;
      assert_ok(agxw_capture_state_apply(then, &record));
      device = record.file ? agxw_capture_state_device(then, &record) : device;
      if (record.type == AGXW_CAPTURE_REQUEST && record.request == AGX_IOCTL_ASAHI_SUBMIT)
         check_submission(device, &record, submissions++);
   }
   assert_int_equal(submissions, 2);
   /* Closed with the buffer. */
   uint8_t byte;
   assert_false(agxw_capture_device_read(device, 1, 0x2000000000, &byte, 1));
   assert_ok(agxw_capture_state_damage(then));
   agxw_capture_state_destroy(then);
   agxw_capture_close(reader);
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
   struct agxw_capture_reader *reader;
   struct agxw_capture_state *then;
   struct agxw_capture_record record;
   bool more = true;
   assert_ok(agxw_capture_open_memory(NULL, file.data, file.size, &reader));
   assert_ok(agxw_capture_state_create(NULL, reader, &then));
   do {
      assert_ok(agxw_capture_next(reader, &record, &more));
      assert_true(more);
      assert_ok(agxw_capture_state_apply(then, &record));
   } while (record.type != AGXW_CAPTURE_REQUEST || record.request != AGX_IOCTL_ASAHI_SUBMIT);
   uint8_t byte = 0;
   struct agxw_capture_device *opened = agxw_capture_state_device(then, &record);
   assert_string_equal(label_at(opened, va, &start), "theirs");
   assert_true(agxw_capture_device_read(opened, 1, va + 16384 + 3, &byte, 1));
   assert_int_equal(byte, 8);
   agxw_capture_state_destroy(then);
   agxw_capture_close(reader);
   free(file.data);
}

/* Looks at what a record and the state then have. */
static void look(struct agxw_capture_state *then, const struct agxw_capture_record *record)
{
   uint8_t bytes[40];
   uint64_t start;
   uint32_t length;
   struct agxw_capture_device *device = agxw_capture_state_device(then, record);
   agxw_capture_find_blob(record, 8, &length);
   if (!device)
      return;
   agxw_capture_device_read(device, 1, 0x1100004000, bytes, sizeof(bytes));
   agxw_capture_device_read(device, 1, 0x2000004000, bytes, sizeof(bytes));
   label_at(device, 0x2000000000, &start);
}

static agx_status read_records(struct agxw_capture_reader *reader, struct agxw_capture_state *then)
{
   for (;;) {
      struct agxw_capture_record record;
      bool more;
      AGX_TRY(agxw_capture_next(reader, &record, &more));
      if (!more)
         return agxw_capture_state_damage(then);
      AGX_TRY(agxw_capture_state_apply(then, &record));
      look(then, &record);
   }
}

/* Reads everything; the status of the first failure. */
static agx_status read_all(const void *data, size_t size)
{
   struct agxw_capture_reader *reader;
   struct agxw_capture_state *then;
   AGX_TRY(agxw_capture_open_memory(NULL, data, size, &reader));
   assert_ok(agxw_capture_state_create(NULL, reader, &then));
   agx_status status = read_records(reader, then);
   agxw_capture_state_destroy(then);
   agxw_capture_close(reader);
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
   assert_in_range(good, 1, 70); /* cuts between two records */
   assert_fails(read_copy(file.data, file.size - 3), AGX_DATA_LOSS, "cut off");
   free(file.data);
}

static void foreign_files_are_named(void **state)
{
   struct file file;
   record(&file);
   assert_fails(read_copy("\177ELF and so on", 12), AGX_INCOMPATIBLE, "not a capture");
   assert_fails(read_copy("", 0), AGX_INCOMPATIBLE, "not a capture");
   file.data[8] = 3;
   assert_fails(read_copy(file.data, file.size), AGX_INCOMPATIBLE, "version 3");
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

static void results_are_errors(void **state)
{
   static const int32_t results[] = {INT32_MIN, -4096, 1};
   struct file file;
   struct agxw_capture_reader *reader;
   struct agxw_capture_record record;
   bool more;
   record_device(&file, false);
   assert_ok(agxw_capture_open_memory(NULL, file.data, file.size, &reader));
   do {
      assert_ok(agxw_capture_next(reader, &record, &more));
   } while (record.type != AGXW_CAPTURE_REQUEST);
   size_t at = record.file_offset + sizeof(struct agxw_capture_record_header) +
               offsetof(struct agxw_capture_request, result);
   for (size_t i = 0; i < AGX_COUNT(results); i++) {
      memcpy(file.data + at, &results[i], sizeof(results[i]));
      agxw_capture_seek(reader, record.file_offset);
      struct agxw_capture_record again;
      assert_int_equal(agxw_capture_next(reader, &again, &more), AGX_DATA_LOSS);
   }
   agxw_capture_close(reader);
   free(file.data);
}

/* ---- version 1 ---- */

static size_t append(uint8_t *out, size_t at, const void *data, size_t bytes)
{
   memcpy(out + at, data, bytes);
   memset(out + at + bytes, 0, (8 - bytes % 8) % 8);
   return at + (bytes + 7) / 8 * 8;
}

/* The same records as a recorder of version 1 wrote them: short headers, contents as they are. */
static size_t write_version_1(const struct file *file, uint8_t *out)
{
   struct agxw_capture_reader *reader;
   struct agxw_capture_record record;
   bool more;
   memcpy(out, file->data, sizeof(struct agxw_capture_header));
   out[8] = 1;
   size_t at = sizeof(struct agxw_capture_header);
   assert_ok(agxw_capture_open_memory(NULL, file->data, file->size, &reader));
   for (;;) {
      assert_ok(agxw_capture_next(reader, &record, &more));
      if (!more)
         break;
      size_t begin = at, padding = 0;
      at += sizeof(struct agxw_capture_record_header_1);
      if (record.type == AGXW_CAPTURE_REQUEST) {
         const struct agxw_capture_request head = {record.request, record.result,
                                                   record.argument_bytes, record.blob_count};
         at = append(out, at, &head, AGXW_CAPTURE_REQUEST_1_BYTES);
         at = append(out, at, record.before, record.argument_bytes);
         at = append(out, at, record.after, record.argument_bytes);
         at = append(out, at, record.blobs, record.blobs_bytes);
      } else if (record.type == AGXW_CAPTURE_PAGES) {
         const struct agxw_capture_pages pages = {.handle = record.handle, .offset = record.offset};
         at = append(out, at, &pages, sizeof(pages));
         for (uint64_t i = 0; i < record.page_count; i++, at += 16384) {
            const struct agxw_capture_place place = {record.file_offset, i};
            assert_ok(agxw_capture_page(reader, &place, 0, out + at, 16384));
         }
      } else if (record.type == AGXW_CAPTURE_LABEL) {
         const struct agxw_capture_label label = {.handle = record.handle};
         at = append(out, at, &label, sizeof(label));
         padding = (8 - record.text_bytes % 8) % 8;
         at = append(out, at, record.text, record.text_bytes);
      } else {
         at = begin; /* version 1 has none of these */
         continue;
      }
      const struct agxw_capture_record_header_1 header = {
         .type = record.type, .bytes = at - begin - sizeof(header) - padding};
      memcpy(out + begin, &header, sizeof(header));
   }
   agxw_capture_close(reader);
   return at;
}

static void files_of_version_1_are_read(void **state)
{
   struct file file, old = {.data = malloc(1 << 20)};
   record(&file);
   assert_non_null(old.data);
   old.size = write_version_1(&file, (uint8_t *)old.data);
   assert_ok(read_copy(old.data, old.size));
   assert_int_equal(count_records(&old, AGXW_CAPTURE_REQUEST, 0),
                    count_records(&file, AGXW_CAPTURE_REQUEST, 0));
   assert_int_equal(count_records(&old, AGXW_CAPTURE_PAGES, 0), 4);
   struct agxw_capture_reader *reader;
   struct agxw_capture_state *then;
   struct agxw_capture_record record;
   bool more = true;
   int submissions = 0;
   assert_ok(agxw_capture_open_memory(NULL, old.data, old.size, &reader));
   assert_int_equal(agxw_capture_version(reader), 1);
   assert_ok(agxw_capture_state_create(NULL, reader, &then));
   while (agxw_capture_next(reader, &record, &more) == AGX_OK && more) {
      assert_ok(agxw_capture_state_apply(then, &record));
      if (record.type == AGXW_CAPTURE_REQUEST && record.request == AGX_IOCTL_ASAHI_SUBMIT)
         check_submission(agxw_capture_state_device(then, &record), &record, submissions++);
   }
   assert_int_equal(submissions, 2);
   agxw_capture_state_destroy(then);
   agxw_capture_close(reader);
   free(old.data);
   free(file.data);
}

/* ---- parts of records ---- */

/* Where record `index` stands, and its bytes. */
static size_t find_place(const struct file *file, int index, size_t *out_bytes)
{
   struct agxw_capture_reader *reader;
   struct agxw_capture_record record, next;
   bool more = true;
   assert_ok(agxw_capture_open_memory(NULL, file->data, file->size, &reader));
   for (int i = 0; i <= index; i++)
      assert_ok(agxw_capture_next(reader, &record, &more));
   assert_ok(agxw_capture_next(reader, &next, &more));
   agxw_capture_close(reader);
   assert_true(more);
   *out_bytes = next.file_offset - record.file_offset;
   return record.file_offset;
}

static bool is_place(const struct file *file, size_t offset)
{
   struct agxw_capture_reader *reader;
   struct agxw_capture_record record = {.file_offset = 0};
   bool more = true;
   assert_ok(agxw_capture_open_memory(NULL, file->data, file->size, &reader));
   while (more && record.file_offset < offset)
      assert_ok(agxw_capture_next(reader, &record, &more));
   agxw_capture_close(reader);
   return record.file_offset == offset;
}

/* As by a writer that was killed, or found the disk full for some time: whatever it has written of
 * a record, what other processes write behind that is read; unless it ends where one of theirs
 * does, and so looks whole. */
static void parts_of_records_are_left_out(void **state)
{
   static const int places[] = {2, 5, 20}; /* in front of these records */
   struct file file;
   record(&file);
   int all = count_records(&file, AGXW_CAPTURE_REQUEST, 0);
   for (size_t i = 0; i < AGX_COUNT(places); i++) {
      size_t bytes, ignored, from = find_place(&file, 4, &bytes);
      size_t to = find_place(&file, places[i], &ignored);
      for (size_t part = 1; part < bytes; part++) {
         if (is_place(&file, to + bytes - part))
            continue;
         struct file parted = {.data = malloc(file.size + part), .size = file.size + part};
         assert_non_null(parted.data);
         memcpy(parted.data, file.data, to);
         memcpy(parted.data + to, file.data + from, part);
         memcpy(parted.data + to + part, file.data + to, file.size - to);
         assert_ok(read_copy(parted.data, parted.size));
         assert_int_equal(count_records(&parted, AGXW_CAPTURE_REQUEST, 0), all);
         assert_int_equal(count_records(&parted, AGXW_CAPTURE_NOTE, 0), 1);
         free(parted.data);
      }
   }
   free(file.data);
}

/* ---- where files come from ---- */

/* A pipe that gets a few bytes at a time from a child reads as the file does. */
static void a_pipe_is_read_as_it_comes(void **state)
{
   struct file file;
   struct agxw_capture_reader *reader;
   struct agxw_capture_state *then;
   int ends[2], exit_status;
   record(&file);
   assert_int_equal(pipe(ends), 0);
   pid_t child = fork();
   if (child == 0) {
      close(ends[0]);
      for (size_t at = 0; at < file.size;) {
         ssize_t put = write(ends[1], file.data + at, AGX_MIN(file.size - at, 777));
         if (put < 0)
            _exit(1);
         at += (size_t)put;
      }
      _exit(0);
   }
   close(ends[1]);
   assert_ok(agxw_capture_open_fd(NULL, ends[0], &reader));
   assert_ok(agxw_capture_state_create(NULL, reader, &then));
   assert_ok(read_records(reader, then));
   agxw_capture_state_destroy(then);
   agxw_capture_close(reader);
   assert_int_equal(waitpid(child, &exit_status, 0), child);
   assert_int_equal(exit_status, 0);
   free(file.data);
}

static void only_the_owner_may_read_the_file(void **state)
{
   struct file file;
   struct agxw_capture_file *capture;
   struct stat info;
   const struct agxw_capture_options options = {0}, joining = {.joins = true};
   make_path(&file);
   unlink(file.path);
   assert_fails(agxw_capture_file_open(file.path, "x", &joining, &capture), AGX_NOT_FOUND,
                file.path);
   assert_ok(agxw_capture_file_open(file.path, "x", &options, &capture));
   assert_int_equal(stat(file.path, &info), 0);
   assert_int_equal(info.st_mode & 0777, 0600);
   agxw_capture_file_release(capture);
   /* Nor one that others could read before. */
   assert_int_equal(chmod(file.path, 0644), 0);
   assert_ok(agxw_capture_file_open(file.path, "x", &options, &capture));
   agxw_capture_file_release(capture);
   assert_int_equal(stat(file.path, &info), 0);
   assert_int_equal(info.st_mode & 0777, 0600);
   struct agxw_capture_writer *writer;
   assert_int_equal(chmod(file.path, 0644), 0);
   assert_ok(agxw_capture_writer_open(file.path, "x", &writer));
   assert_ok(agxw_capture_writer_close(writer));
   assert_int_equal(stat(file.path, &info), 0);
   assert_int_equal(info.st_mode & 0777, 0600);
   unlink(file.path);
}

/* ---- recording ---- */

/* Each submission's page stands behind it, and not once more before the next. */
static void what_a_submission_left_is_recorded_behind_it(void **state)
{
   struct file file;
   record_device(&file, true);
   struct agxw_capture_reader *reader;
   struct agxw_capture_record record;
   bool more = true;
   int submits = 0, before = 0, after = 0;
   assert_ok(agxw_capture_open_memory(NULL, file.data, file.size, &reader));
   while (agxw_capture_next(reader, &record, &more) == AGX_OK && more) {
      submits += record.type == AGXW_CAPTURE_REQUEST && record.request == AGX_IOCTL_ASAHI_SUBMIT;
      before += record.type == AGXW_CAPTURE_PAGES && record.moment == AGXW_CAPTURE_BEFORE;
      if (record.type != AGXW_CAPTURE_PAGES || record.moment != AGXW_CAPTURE_AFTER)
         continue;
      const struct agxw_capture_place place = {record.file_offset, 0};
      uint8_t byte;
      assert_int_equal(++after, submits);
      assert_int_equal(record.offset, 16384);
      assert_int_equal(record.page_count, 1);
      assert_ok(agxw_capture_page(reader, &place, 9, &byte, 1));
      assert_int_equal(byte, submits);
   }
   assert_int_equal(before, 4);
   assert_int_equal(after, 2);
   agxw_capture_close(reader);
   free(file.data);
   assert_int_equal(setenv("AGX_CAPTURE_OPTIONS", "pipelined", 1), 0);
   record_device(&file, true);
   assert_int_equal(unsetenv("AGX_CAPTURE_OPTIONS"), 0);
   assert_int_equal(count_records(&file, AGXW_CAPTURE_PAGES, 0), 5); /* the second's stays away */
   free(file.data);
}

static void options_are_words(void **state)
{
   struct agxw_capture_options options;
   assert_ok(agxw_capture_options_parse(NULL, &options));
   assert_ok(agxw_capture_options_parse("  submits=3-9 bytes=2M seconds=60 pipelined ", &options));
   assert_int_equal(options.first_submit, 3);
   assert_int_equal(options.last_submit, 9);
   assert_int_equal(options.max_bytes, 2 << 20);
   assert_int_equal(options.max_seconds, 60);
   assert_true(options.is_pipelined);
   assert_ok(agxw_capture_options_parse("submits=7", &options));
   assert_int_equal(options.last_submit, 7);
   assert_ok(agxw_capture_options_parse("submits=7-", &options));
   assert_int_equal(options.last_submit, 0);
   static const char *const wrong[] = {"submits=0",
                                       "submits=9-3",
                                       "submits=",
                                       "submits=1-x",
                                       "bytes=0",
                                       "bytes=1T",
                                       "bytes=99999999999999999999",
                                       "bytes=17179869184G",
                                       "seconds=-1",
                                       "pipeline",
                                       "submits=3,9"};
   for (size_t i = 0; i < AGX_COUNT(wrong); i++)
      assert_fails(agxw_capture_options_parse(wrong[i], &options), AGX_INVALID_ARGUMENT, wrong[i]);
}

/* Records as `record` does, with options of the environment. */
static void record_with(struct file *file, const char *options)
{
   assert_int_equal(setenv("AGX_CAPTURE_OPTIONS", options, 1), 0);
   record(file);
   assert_int_equal(unsetenv("AGX_CAPTURE_OPTIONS"), 0);
}

static void limits_end_the_recording_not_the_program(void **state)
{
   struct file file;
   record_with(&file, "submits=2");
   /* The second submission finds all pages that the first would have had. */
   assert_int_equal(count_records(&file, AGXW_CAPTURE_REQUEST, AGX_IOCTL_ASAHI_SUBMIT), 2);
   assert_int_equal(count_records(&file, AGXW_CAPTURE_PAGES, 0), 3);
   assert_int_equal(count_records(&file, AGXW_CAPTURE_NOTE, 0), 1);
   assert_int_equal(count_records(&file, AGXW_CAPTURE_REQUEST, AGX_IOCTL_GEM_CLOSE), 0);
   free(file.data);
   record_with(&file, "bytes=2K");
   assert_int_equal(count_records(&file, AGXW_CAPTURE_NOTE, 0), 1);
   assert_in_range(file.size, 2048, 4096);
   assert_non_null(memmem(file.data, file.size, "the limit is 2048", 17));
   free(file.data);
}

/* Requests are there all the time, contents only of the second of three submissions. */
static void memory_is_recorded_where_it_is_wanted(void **state)
{
   struct fake_kmd fake;
   struct file file;
   struct agx_kmd *kmd;
   struct agxw_device *device;
   struct agxw_queue *queue;
   struct agxw_bo *stream;
   uint8_t *bytes;
   fake_kmd_init(&fake);
   make_path(&file);
   assert_ok(agxw_device_create(&fake.base, NULL, &device));
   assert_int_equal(agxw_device_record(device, false, NULL), -EOPNOTSUPP);
   agxw_device_destroy(device);
   fake_kmd_init(&fake);
   assert_ok(agx_kmd_capture_open(&fake.base, file.path, &kmd));
   assert_ok(agxw_device_create(kmd, NULL, &device));
   assert_int_equal(agxw_device_record(device, true, NULL), -EALREADY);
   assert_int_equal(agxw_device_record(device, false, NULL), 0);
   assert_int_equal(agxw_device_record(device, false, NULL), -EALREADY);
   assert_ok(agxw_queue_create(device, 0, &queue));
   assert_ok(agxw_bo_create(device, 100, 0, AGXW_BO_USC, "stream", &stream));
   assert_ok(agxw_bo_map(stream, (void **)&bytes));
   for (uint32_t i = 0; i < 3; i++) {
      const struct agxw_compute command = {agxw_bo_va(stream), agxw_bo_va(stream) + 8};
      const struct agxw_submit submit = {.commands = &command, .command_count = 1};
      bytes[i] = 1;
      if (i == 1)
         assert_int_equal(agxw_device_record(device, true, "the second"), 0);
      assert_ok(agxw_submit(queue, &submit));
      if (i == 1)
         assert_int_equal(agxw_device_record(device, false, NULL), 0);
   }
   agxw_bo_destroy(stream);
   agxw_queue_destroy(queue);
   agxw_device_destroy(device);
   load(&file);
   assert_int_equal(count_records(&file, AGXW_CAPTURE_REQUEST, AGX_IOCTL_ASAHI_SUBMIT), 3);
   /* Waste, and the stream's page. */
   assert_int_equal(count_records(&file, AGXW_CAPTURE_PAGES, 0), 2);
   assert_non_null(memmem(file.data, file.size, "recorded from here on: the second", 33));
   free(file.data);
}

/* ---- ranges ---- */

#define RANGE_PAGES 64

/* Random ranges over a few pages, against an array that has an entry per page. */
static void ranges_cover_each_other(void **state)
{
   struct agx_test_rng rng = {7};
   struct agxw_ranges ranges;
   struct {
      uint32_t object;
      uint64_t offset;
   } model[RANGE_PAGES] = {{0}};
   agxw_ranges_init(&ranges, NULL);
   for (uint32_t i = 1; i < 20000; i++) {
      uint64_t first = agx_test_random_below(&rng, RANGE_PAGES);
      uint64_t count = 1 + agx_test_random_below(&rng, RANGE_PAGES - (uint32_t)first);
      const struct agxw_range range = {.start = first * 16384,
                                       .bytes = count * 16384,
                                       .object = i % 3 ? i : 0,
                                       .single_page = i % 5 == 0,
                                       .offset = i * UINT64_C(16384)};
      assert_ok(agxw_ranges_set(&ranges, &range));
      for (uint64_t j = 0; j < count; j++) {
         model[first + j].object = range.object;
         model[first + j].offset = range.offset + (range.single_page ? 0 : j * 16384);
      }
      for (uint64_t j = 0; j < RANGE_PAGES; j++) {
         const struct agxw_range *found = agxw_ranges_find(&ranges, j * 16384 + 5);
         bool is_there = found && found->start <= j * 16384;
         assert_int_equal(is_there ? found->object : 0, model[j].object);
         if (is_there && !found->single_page)
            assert_int_equal(found->offset + j * 16384 - found->start, model[j].offset);
         else if (is_there)
            assert_int_equal(found->offset, model[j].offset);
      }
   }
   agxw_ranges_fini(&ranges);
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

/* ---- nothing ---- */

/* A first record of no bytes is read before there is a buffer. */
static void empty_records_have_a_text(void **state)
{
   struct {
      struct agxw_capture_header header;
      struct agxw_capture_record_header record;
   } file = {{.version = AGXW_CAPTURE_VERSION,
              .header_bytes = sizeof(file.header),
              .page_bytes = AGXW_CAPTURE_PAGE_BYTES},
             {.type = AGXW_CAPTURE_CLOSE}};
   struct agxw_capture_reader *reader;
   struct agxw_capture_record record;
   bool more;
   memcpy(file.header.magic, AGXW_CAPTURE_MAGIC, sizeof(file.header.magic));
   assert_ok(agxw_capture_open_memory(NULL, &file, sizeof(file), &reader));
   assert_ok(agxw_capture_next(reader, &record, &more));
   assert_true(more);
   assert_non_null(record.text);
   assert_int_equal(record.text_bytes, 0);
   agxw_capture_close(reader);
}

/* ---- holes ---- */

/* Looking which pages there are doesn't make more of them. */
static void holes_stay_holes(void **state)
{
   enum {
      PAGES = 64,
      PAGE = AGXW_CAPTURE_PAGE_BYTES
   };
   struct stat before, after;
   int fd = memfd_create("holes", MFD_CLOEXEC);
   assert_int_equal(ftruncate(fd, (off_t)PAGES * PAGE), 0);
   uint8_t *memory = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
   assert_ptr_not_equal(memory, MAP_FAILED);
   assert_int_equal(pwrite(fd, "x", 1, 7 * PAGE + 100), 1); /* not through the mapping */
   memory[20 * PAGE + PAGE - 1] = 1;
   assert_int_equal(fstat(fd, &before), 0);
   uint64_t present = agxw_capture_present(memory, PAGES);
   assert_int_equal(fstat(fd, &after), 0);
   assert_int_equal(before.st_blocks, after.st_blocks);
   assert_true(present >> 7 & 1 && present >> 20 & 1);
   if (present != UINT64_MAX && sysconf(_SC_PAGESIZE) <= PAGE) /* all: something is swapped out */
      assert_true(present == (UINT64_C(1) << 7 | UINT64_C(1) << 20));
   assert_true(agxw_capture_present(memory + 20 * PAGE, 1) == 1);
   munmap(memory, PAGES * PAGE);
   close(fd);
}

/* A device whose waits make another request through the recorder. */
struct nested {
   struct agx_kmd base;
   struct agx_kmd *outer;
   int requests;
};

static int nested_ioctl(struct agx_kmd *kmd, unsigned long request, void *argument)
{
   struct nested *nested = (struct nested *)kmd;
   struct agx_uapi_get_time get = {0};
   nested->requests++;
   return AGX_UAPI_NR(request) == AGX_UAPI_NR(AGX_IOCTL_SYNCOBJ_WAIT)
             ? nested->outer->ops->ioctl(nested->outer, AGX_IOCTL_ASAHI_GET_TIME, &get)
             : 0;
}

static void nested_close(struct agx_kmd *kmd) {}

/* The argument of a wait has grown by a deadline; older programs name it without. Recorded under
 * the lock, such a wait would keep out the request that ends it. */
static void waits_of_any_size_let_others_pass(void **state)
{
   static const struct agx_kmd_ops ops = {.ioctl = nested_ioctl, .close = nested_close};
   static const struct agx_kmd_inspection inspection = {0};
   struct nested nested = {.base = {&ops, &inspection, "nested", -1}};
   struct agx_uapi_syncobj_wait wait = {0};
   struct file file;
   make_path(&file);
   assert_ok(agx_kmd_capture_open(&nested.base, file.path, &nested.outer));
   const unsigned long old = (AGX_IOCTL_SYNCOBJ_WAIT & ~(0x3ffful << 16)) | 32ul << 16;
   assert_int_equal(nested.outer->ops->ioctl(nested.outer, old, &wait), 0);
   assert_int_equal(nested.requests, 2);
   nested.outer->ops->close(nested.outer);
   load(&file);
   free(file.data);
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
      cmocka_unit_test(results_are_errors),
      cmocka_unit_test(files_of_version_1_are_read),
      cmocka_unit_test(holes_stay_holes),
      cmocka_unit_test(empty_records_have_a_text),
      cmocka_unit_test(parts_of_records_are_left_out),
      cmocka_unit_test(a_pipe_is_read_as_it_comes),
      cmocka_unit_test(only_the_owner_may_read_the_file),
      cmocka_unit_test(what_a_submission_left_is_recorded_behind_it),
      cmocka_unit_test(options_are_words),
      cmocka_unit_test(limits_end_the_recording_not_the_program),
      cmocka_unit_test(memory_is_recorded_where_it_is_wanted),
      cmocka_unit_test(ranges_cover_each_other),
      cmocka_unit_test(an_unwritable_file_is_told),
      cmocka_unit_test(waits_of_any_size_let_others_pass),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
