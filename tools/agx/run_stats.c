/* SPDX-License-Identifier: MIT
 *
 * Collects statistics for agx run --stats: the virtual device writes them to a memory file, and
 * this file prints its records without those of the library's own launches.
 */
#include "run_stats.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/status.h"

agx_status agx_run_stats_begin(bool is_json, int *out_fd)
{
   char value[64];
   *out_fd = memfd_create("agx-statistics", MFD_CLOEXEC);
   if (*out_fd < 0)
      return agx_status_fail_errno(errno, "statistics: memory file");
   snprintf(value, sizeof(value), "%s:/proc/self/fd/%d", is_json ? "json" : "table", *out_fd);
   if (setenv("AGX_VIRTUAL_STATS", value, 1) != 0)
      return agx_status_fail_errno(errno, "environment: AGX_VIRTUAL_STATS");
   return AGX_OK;
}

/* ---- records ----------------------------------------------------------- */

/* What was written, from record to record: a line of JSON, or a table. */
struct records {
   char *text;
   size_t length, at; /* of the next record */
};

struct record {
   const char *text;
   size_t length;
   uint64_t submission, command;
   bool is_single; /* one thread */
};

static size_t end_of_line(const struct records *records, size_t at)
{
   const char *newline = memchr(records->text + at, '\n', records->length - at);
   return newline ? (size_t)(newline - records->text) + 1 : records->length;
}

static bool starts_record(const struct records *records, size_t at)
{
   static const char table[] = "submission ";
   return records->text[at] == '{' || strncmp(records->text + at, table, strlen(table)) == 0;
}

/* False: there are no more. The text ends with a '\0'. */
static bool next_record(struct records *records, struct record *out)
{
   size_t at = records->at, end = at;
   if (at == records->length)
      return false;
   do
      end = end_of_line(records, end);
   while (end < records->length && !starts_record(records, end));
   records->at = end;
   *out = (struct record){.text = records->text + at, .length = end - at};
   unsigned long long submission = 0, command = 0;
   bool is_json = out->text[0] == '{';
   (void)sscanf(out->text,
                is_json ? "{\"submission\": %llu, \"command\": %llu"
                        : "submission %llu, command %llu",
                &submission, &command);
   out->submission = submission;
   out->command = command;
   const char *grid = is_json ? "\"grid\": [1, 1, 1], \"local\": [1, 1, 1]"
                              : "grid 1 x 1 x 1 in workgroups of 1 x 1 x 1:";
   out->is_single = memmem(out->text, out->length, grid, strlen(grid)) != NULL;
   return true;
}

/* The library ends each of its streams with a launch of one thread, by which it learns that the
 * stream has run: no work of the kernel. */
static bool is_last(const struct records *records, const struct record *record)
{
   struct records rest = *records;
   struct record next;
   return !next_record(&rest, &next) || next.submission != record->submission ||
          next.command != record->command;
}

static void print_records(struct records *records, struct agx_json *json)
{
   struct record record;
   while (next_record(records, &record)) {
      if (record.is_single && is_last(records, &record))
         continue;
      size_t length = record.length;
      if (json) {
         agx_json_name(json, NULL);
         length -= record.text[length - 1] == '\n';
      }
      fwrite(record.text, 1, length, json ? json->file : stdout);
   }
}

static agx_status read_records(int fd, struct records *out_records)
{
   struct stat stat;
   *out_records = (struct records){0};
   if (fstat(fd, &stat) != 0)
      return agx_status_fail_errno(errno, "statistics");
   size_t size = (size_t)stat.st_size;
   char *text = malloc(size + 1);
   if (!text)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "statistics: no memory for %zu bytes", size);
   ssize_t done = pread(fd, text, size, 0);
   if (done < 0) {
      free(text);
      return agx_status_fail_errno(errno, "statistics");
   }
   text[done] = '\0';
   *out_records = (struct records){.text = text, .length = (size_t)done};
   return AGX_OK;
}

agx_status agx_run_stats_print(int fd, struct agx_json *json)
{
   struct records records;
   AGX_TRY(read_records(fd, &records));
   if (json)
      agx_json_open(json, "statistics", '[');
   print_records(&records, json);
   if (json)
      agx_json_close(json, ']');
   free(records.text);
   return AGX_OK;
}
