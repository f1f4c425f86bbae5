/* SPDX-License-Identifier: MIT
 *
 * tests/golden/dispatch.capture: what small_capture.c records, kept as files of both versions of
 * the format, and what each command makes of them. AGX_UPDATE_GOLDEN=1 records them anew; times,
 * processes and addresses of the host are left out of them, so that the same program gives the same
 * bytes.
 */
#include "small_capture.h"
#include "tool.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/sanitizers.h"
#include "base/util.h"
#include "winsys/asahi_uapi.h"
#include "winsys/capture/capture.h"
#include "winsys/capture/write.h"

#define RUN_BYTES (AGXW_CAPTURE_RUN_PAGES * AGXW_CAPTURE_PAGE_BYTES)

static char text[TOOL_MAX_OUTPUT];

/* ---- making it ---- */

/* Pointers of the host lead to what the record holds; they stand for that only. */
static void hide_pointers(const struct agxw_capture_record *record, uint8_t *argument)
{
   const uint8_t *at = record->blobs;
   for (uint32_t i = 0; i < record->blob_count; i++) {
      struct agxw_capture_blob blob;
      const uint64_t address = 0x1000 * (i + 1);
      memcpy(&blob, at, sizeof(blob));
      memcpy(argument + blob.pointer_at, &address, sizeof(address));
      at += sizeof(blob) + agx_align_up(blob.bytes, 8);
   }
}

struct canon {
   struct agxw_capture_reader *reader;
   struct agxw_capture_writer *writer; /* version 2 */
   FILE *old;                          /* version 1, instead */
   int64_t time_ns;
   uint8_t contents[RUN_BYTES];
};

static void put_old(struct canon *canon, uint32_t type, const struct iovec *parts, int count)
{
   static const uint8_t zero[8];
   struct agxw_capture_record_header_1 header = {.type = type};
   for (int i = 0; i < count; i++)
      header.bytes += parts[i].iov_len;
   assert_int_equal(fwrite(&header, sizeof(header), 1, canon->old), 1);
   for (int i = 0; i < count; i++)
      assert_int_equal(fwrite(parts[i].iov_base, 1, parts[i].iov_len, canon->old),
                       parts[i].iov_len);
   size_t padding = agx_align_up(header.bytes, 8) - header.bytes;
   assert_int_equal(fwrite(zero, 1, padding, canon->old), padding);
}

/* Version 1 has no contents behind submissions: what was there is found by the next one. */
static void put_old_record(struct canon *canon, const struct agxw_capture_record *record)
{
   const struct agxw_capture_request request = {.request = record->request,
                                                .result = record->result,
                                                .argument_bytes = record->argument_bytes,
                                                .blob_count = record->blob_count};
   const struct agxw_capture_pages pages = {.handle = record->handle, .offset = record->offset};
   size_t padded = agx_align_up(record->argument_bytes, 8);
   const struct iovec request_parts[] = {{(void *)&request, AGXW_CAPTURE_REQUEST_1_BYTES},
                                         {(void *)record->before, padded},
                                         {(void *)record->after, padded},
                                         {(void *)record->blobs, record->blobs_bytes}},
                      pages_parts[] = {
                         {(void *)&pages, sizeof(pages)},
                         {canon->contents, record->page_count * AGXW_CAPTURE_PAGE_BYTES}};
   const uint32_t label[] = {record->handle, 0};
   const struct iovec label_parts[] = {{(void *)label, sizeof(label)},
                                       {(void *)record->text, record->text_bytes}};
   if (record->type == AGXW_CAPTURE_REQUEST)
      put_old(canon, record->type, request_parts, 4);
   else if (record->type == AGXW_CAPTURE_PAGES)
      put_old(canon, record->type, pages_parts, 2);
   else if (record->type == AGXW_CAPTURE_LABEL)
      put_old(canon, record->type, label_parts, 2);
}

static void canonize_record(struct canon *canon, struct agxw_capture_record *record)
{
   uint8_t before[128] = {0}, after[128] = {0};
   record->time_ns = ++canon->time_ns * 1000;
   record->process = 1;
   record->duration_ns = 0;
   record->parent = 0;
   if (record->type == AGXW_CAPTURE_PROCESS) {
      record->text = "small";
      record->text_bytes = sizeof("small");
   }
   if (record->type == AGXW_CAPTURE_REQUEST) {
      assert_true(record->argument_bytes <= sizeof(before));
      memcpy(before, record->before, record->argument_bytes);
      memcpy(after, record->after, record->argument_bytes);
      hide_pointers(record, before);
      hide_pointers(record, after);
      record->before = before;
      record->after = after;
      record->caller = 1;
   }
   for (uint64_t i = 0; record->type == AGXW_CAPTURE_PAGES && i < record->page_count; i++) {
      const struct agxw_capture_place place = {record->file_offset, i};
      assert_ok(agxw_capture_page(canon->reader, &place, 0,
                                  canon->contents + i * AGXW_CAPTURE_PAGE_BYTES,
                                  AGXW_CAPTURE_PAGE_BYTES));
   }
   if (canon->old)
      put_old_record(canon, record);
   else if (record->type == AGXW_CAPTURE_PAGES)
      agxw_capture_writer_put_pages(canon->writer, record, canon->contents);
   else
      agxw_capture_writer_put(canon->writer, record);
}

static void put_old_header(struct canon *canon)
{
   struct agxw_capture_header header = {
      .version = 1, .header_bytes = sizeof(header), .page_bytes = AGXW_CAPTURE_PAGE_BYTES};
   memcpy(header.magic, AGXW_CAPTURE_MAGIC, sizeof(header.magic));
   snprintf(header.node, sizeof(header.node), "%s", agxw_capture_node(canon->reader));
   assert_int_equal(fwrite(&header, sizeof(header), 1, canon->old), 1);
}

/* The file at `from` without what differs from run to run. */
static void canonize(const char *from, const char *to, uint32_t version)
{
   struct canon *canon = calloc(1, sizeof(*canon));
   struct agxw_capture_record record;
   bool more = true;
   assert_non_null(canon);
   assert_ok(agxw_capture_open_fd(NULL, open(from, O_RDONLY), &canon->reader));
   if (version == 1) {
      canon->old = fopen(to, "wb");
      assert_non_null(canon->old);
      put_old_header(canon);
   } else {
      assert_ok(agxw_capture_writer_open(to, agxw_capture_node(canon->reader), &canon->writer));
   }
   while (more) {
      assert_ok(agxw_capture_next(canon->reader, &record, &more));
      if (more)
         canonize_record(canon, &record);
   }
   if (canon->old)
      assert_int_equal(fclose(canon->old), 0);
   assert_ok(agxw_capture_writer_close(canon->writer));
   agxw_capture_close(canon->reader);
   free(canon);
}

static void temporary(char path[64], const char *name)
{
   snprintf(path, 64, "/tmp/agx-golden-%d.%s", (int)getpid(), name);
}

/* A record of the known dispatches as it is now. */
static void record_now(const char *path, uint32_t version)
{
   char recorded[64];
   temporary(recorded, "recorded");
   small_capture_record(recorded);
   canonize(recorded, path, version);
   unlink(recorded);
}

static const char *const names[] = {"golden/dispatch.1.capture", "golden/dispatch.capture"};

/* The golden file of a version. */
static char *golden(uint32_t version)
{
   return agx_test_path(names[version - 1]);
}

static int renew(void **state)
{
   for (uint32_t version = 1; version <= 2 && getenv("AGX_UPDATE_GOLDEN"); version++) {
      char *path = golden(version);
      record_now(path, version);
      chmod(path, 0644);
      free(path);
   }
   return 0;
}

/* ---- what is said of it ---- */

static int dump(const char *arguments, uint32_t version)
{
   char line[400], *path = golden(version);
   snprintf(line, sizeof(line), "%s %s", arguments, path);
   free(path);
   return tool_run("AGXDUMP_TOOL", line, text);
}

static void the_same_program_gives_the_same_bytes(void **state)
{
   char path[64], *file[2];
   size_t bytes[2];
   temporary(path, "canon");
   for (int i = 0; i < 2; i++) {
      record_now(path, 2);
      file[i] = agx_test_read_file(path, &bytes[i]);
   }
   assert_int_equal(bytes[0], bytes[1]);
   assert_memory_equal(file[0], file[1], bytes[0]);
   for (int i = 0; i < 2; i++)
      free(file[i]);
   unlink(path);
}

/* The texts that agxdump_test.c has of what it records itself. */
static void both_versions_are_shown(void **state)
{
   for (uint32_t version = 1; version <= 2; version++) {
      assert_int_equal(dump("show", version), 0);
      agx_test_golden("agxdump.txt", text);
      assert_int_equal(dump("show --json", version), 0);
      agx_test_golden("agxdump.json", text);
   }
}

/* The second submission's stream is nowhere. */
static void both_versions_are_replayed(void **state)
{
   assert_int_equal(dump("replay --check --strict", 2), 1);
   assert_non_null(strstr(text, "submission 2, command 0: "));
   assert_non_null(strstr(text, "pages compared; no difference, 1 fault"));
   assert_int_equal(dump("replay --until 1", 2), 0);
   assert_int_equal(dump("replay --until 1", 1), 0);
   assert_non_null(strstr(text, "1 submission, "));
   assert_non_null(strstr(text, "nothing compared"));
}

/* A terminal would obey the bytes of a stranger's note. */
static void notes_of_a_replay_are_clean(void **state)
{
   static const char note[8] = "a\033[31mb";
   const struct agxw_capture_record_header header = {
      .type = AGXW_CAPTURE_NOTE, .stored_bytes = sizeof(note), .bytes = sizeof(note)};
   char path[64], line[128], *from = golden(2);
   size_t bytes;
   char *data = agx_test_read_file(from, &bytes);
   temporary(path, "note");
   FILE *file = fopen(path, "wb");
   assert_non_null(file);
   assert_int_equal(fwrite(data, 1, bytes, file), bytes);
   assert_int_equal(fwrite(&header, 1, sizeof(header), file), sizeof(header));
   assert_int_equal(fwrite(note, 1, sizeof(note), file), sizeof(note));
   assert_int_equal(fclose(file), 0);
   snprintf(line, sizeof(line), "replay %s", path);
   tool_run("AGXDUMP_TOOL", line, text);
   assert_non_null(strstr(text, "note: a?[31mb\n"));
   unlink(path);
   free(data);
   free(from);
}

static void both_versions_have_the_same_statistics(void **state)
{
   char first[TOOL_MAX_OUTPUT];
   assert_int_equal(dump("stats --csv", 1), 0);
   snprintf(first, sizeof(first), "%s", text);
   assert_int_equal(dump("stats --csv", 2), 0);
   assert_string_equal(text, first);
   assert_non_null(strstr(text, "\n1.0.0,"));
   assert_non_null(strstr(text, "\n1.0.1,"));
   assert_null(strstr(text, "\n1.0.2,"));
}

/* Contents that the file says it has are what the kernel left: two launches added 5. */
static void the_reader_finds_what_was_written(void **state)
{
   for (uint32_t version = 1; version <= 2; version++) {
      struct agxw_capture_reader *reader;
      struct agxw_capture_record record;
      uint32_t word = 0, handle = 0, submits = 0;
      bool more = true;
      char *path = golden(version);
      assert_ok(agxw_capture_open_fd(NULL, open(path, O_RDONLY), &reader));
      free(path);
      assert_int_equal(agxw_capture_version(reader), version);
      assert_string_equal(agxw_capture_node(reader), "virtual:g13g");
      while (more) {
         assert_ok(agxw_capture_next(reader, &record, &more));
         submits +=
            more && record.type == AGXW_CAPTURE_REQUEST && record.request == AGX_IOCTL_ASAHI_SUBMIT;
         if (more && record.type == AGXW_CAPTURE_LABEL && record.text_bytes == 4 &&
             memcmp(record.text, "data", 4) == 0)
            handle = record.handle;
         const struct agxw_capture_place place = {record.file_offset, 0};
         if (more && record.type == AGXW_CAPTURE_PAGES && record.handle == handle)
            assert_ok(agxw_capture_page(reader, &place, 0, &word, sizeof(word)));
      }
      assert_int_equal(submits, 2);
      assert_int_equal(word, 10);
      agxw_capture_close(reader);
   }
}

/* Version 1 has what the GPU wrote where the next submission finds it. */
static void recordings_of_now_have_the_same_dispatches(void **state)
{
   char line[400], path[64], *old = golden(1), *new = golden(2);
   snprintf(line, sizeof(line), "diff --code %s %s", old, new);
   assert_int_equal(tool_run("AGXDUMP_TOOL", line, text), 1);
   assert_string_equal(text, "contents that submissions find:\n"
                             "  submission 2, buffer 5 at offset 0: written in A only\n");
   temporary(path, "now");
   record_now(path, 2);
   snprintf(line, sizeof(line), "diff --code %s %s", new, path);
   tool_run("AGXDUMP_TOOL", line, text);
   assert_null(strstr(text, "dispatch"));
   unlink(path);
   free(old);
   free(new);
}

/* A copy in which the data that the first submission left begins with another word. */
static void spoil_result(const char *path, uint32_t word)
{
   static uint8_t contents[RUN_BYTES];
   struct agxw_capture_reader *reader;
   struct agxw_capture_writer *writer;
   struct agxw_capture_record record;
   bool more = true;
   char *from = golden(2);
   assert_ok(agxw_capture_open_fd(NULL, open(from, O_RDONLY), &reader));
   free(from);
   assert_ok(agxw_capture_writer_open(path, agxw_capture_node(reader), &writer));
   while (more) {
      assert_ok(agxw_capture_next(reader, &record, &more));
      if (!more)
         break;
      for (uint64_t i = 0; record.type == AGXW_CAPTURE_PAGES && i < record.page_count; i++) {
         const struct agxw_capture_place place = {record.file_offset, i};
         assert_ok(agxw_capture_page(reader, &place, 0, contents + i * AGXW_CAPTURE_PAGE_BYTES,
                                     AGXW_CAPTURE_PAGE_BYTES));
      }
      if (record.type == AGXW_CAPTURE_PAGES && record.moment == AGXW_CAPTURE_AFTER &&
          record.handle == 5)
         memcpy(contents, &word, sizeof(word));
      if (record.type == AGXW_CAPTURE_PAGES)
         agxw_capture_writer_put_pages(writer, &record, contents);
      else
         agxw_capture_writer_put(writer, &record);
   }
   assert_ok(agxw_capture_writer_close(writer));
   agxw_capture_close(reader);
}

static void a_difference_names_its_dispatch(void **state)
{
   char line[400], path[64];
   temporary(path, "spoiled");
   spoil_result(path, 11);
   snprintf(line, sizeof(line), "replay %s", path);
   assert_int_equal(tool_run("AGXDUMP_TOOL", line, text), 1);
   assert_non_null(strstr(text, "first difference behind submission 1: buffer 5 \"data\" at "
                                "offset 0, address 0x"));
   assert_non_null(strstr(text, "  recorded 0b000000"));
   assert_non_null(strstr(text, "  replayed 0a000000"));
   assert_non_null(strstr(text, "  last written by dispatch 1.0.1, kernel "));
   assert_non_null(strstr(text, "grid 1x1x1; 2 dispatches wrote there\n"));
   snprintf(line, sizeof(line), "replay --chaos 1 - < %s", path); /* which orders dispatches anew */
   assert_int_equal(tool_run("AGXDUMP_TOOL", line, text), 1);
   assert_null(strstr(text, "dispatch 1.0.1"));
   snprintf(line, sizeof(line), "replay - < %s", path);
   assert_int_equal(tool_run("AGXDUMP_TOOL", line, text), 1);
   assert_non_null(strstr(text, "dispatch 1.0.1"));
   unlink(path);
}

/* A buffer of a gigabyte, of which the kernel reads the first 4000 bytes, is a hole in the replay's
 * memory as it was in the recorder's. */
static void holes_cost_no_memory(void **state)
{
#if AGX_SANITIZED
   skip(); /* shadow memory counts, too */
#endif
   static const char manifest[] = "push f32 2.5\npush u32 1000\n"
                                  "buf 0 0 0 ssbo 1073741824 zero\n"
                                  "buf 1 0 1 ssbo 4000 rand_f32 2 -1 1 out\ndispatch 16 1 1\n";
   char path[64], list[64], line[900], *kernel = agx_test_path("corpus/saxpy.spv");
   struct rusage used;
   int status;
   temporary(path, "holes");
   temporary(list, "txt");
   FILE *file = fopen(list, "w");
   assert_non_null(file);
   fputs(manifest, file);
   assert_int_equal(fclose(file), 0);
   snprintf(line, sizeof(line), "AGX_CAPTURE=%s '%s' run %s --manifest %s --device virtual >%s.out",
            path, getenv("AGX_TOOL"), kernel, list, list);
   assert_int_equal(system(line), 0);
   snprintf(line, sizeof(line), "%s.out", list);
   pid_t child = fork();
   if (child == 0) {
      if (!freopen(line, "w", stdout))
         _exit(1);
      execl(getenv("AGXDUMP_TOOL"), "agxdump", "replay", path, (char *)NULL);
      _exit(1);
   }
   assert_int_equal(wait4(child, &status, 0, &used), child);
   assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
   struct sysinfo host;
   assert_int_equal(sysinfo(&host), 0);
   if (host.totalswap == host.freeswap) /* else nothing tells holes */
      assert_true(used.ru_maxrss < 64 << 10);
   unlink(line);
   unlink(path);
   unlink(list);
   free(kernel);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_same_program_gives_the_same_bytes),
      cmocka_unit_test(the_reader_finds_what_was_written),
      cmocka_unit_test(both_versions_are_shown),
      cmocka_unit_test(both_versions_are_replayed),
      cmocka_unit_test(notes_of_a_replay_are_clean),
      cmocka_unit_test(both_versions_have_the_same_statistics),
      cmocka_unit_test(holes_cost_no_memory),
      cmocka_unit_test(a_difference_names_its_dispatch),
      cmocka_unit_test(recordings_of_now_have_the_same_dispatches),
   };
   return cmocka_run_group_tests(tests, renew, NULL);
}
