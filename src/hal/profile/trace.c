/* SPDX-License-Identifier: MIT
 *
 * Source: the "Trace Event Format" that chrome://tracing and Perfetto read.
 */
#include "hal/profile/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/json.h"
#include "base/util.h"
#include "hal/core/context.h"
#include "winsys/winsys.h"

#define CHUNK_B  ((size_t)1 << 20)
#define MAX_ROWS 64
#define FIRST_GPU                                                                                  \
   100 /* rows: host side of queue n is n, the GPU's 100 + n, thread n is 1000 + n                 \
        */
#define FIRST_THREAD 1000

static const char tail[] = "\n]}\n";

struct agx_trace {
   const struct agx_host_alloc *alloc;
   const struct agx_log *log;
   int fd;        /* -1: given up */
   off_t written; /* up to the tail */
   bool has_events;
   uint64_t last_ns; /* the latest time that was seen: of what has none */
   FILE *chunk;      /* over text, or NULL */
   char *text;
   size_t length;
   uint64_t rows[MAX_ROWS]; /* that have a name */
   uint32_t row_count;
   char path[];
};

/* ---- text ----------------------------------------------------------------- */

static void put_text(FILE *to, const char *text)
{
   agx_json_quote(&(struct agx_json){.file = to}, text);
}

static void put_member(FILE *to, const char *name, const char *text)
{
   fprintf(to, ",\"%s\":", name);
   put_text(to, text);
}

static void put_number(FILE *to, const char *name, uint64_t value)
{
   fprintf(to, ",\"%s\":%" PRIu64, name, value);
}

/* In microseconds, as the format has it. */
static void put_time(FILE *to, const char *name, uint64_t ns)
{
   fprintf(to, ",\"%s\":%" PRIu64 ".%03u", name, ns / 1000, (unsigned)(ns % 1000));
}

/* ---- the file ------------------------------------------------------------- */

static void give_up(struct agx_trace *trace, const char *what)
{
   agx_log(trace->log, AGX_LOG_WARNING, "trace %s: %s: %s; nothing more is written", trace->path,
           what, strerror(errno));
   if (trace->fd >= 0)
      close(trace->fd);
   trace->fd = -1;
}

static bool write_at(int fd, const char *text, size_t length, off_t at)
{
   while (length) {
      ssize_t done = pwrite(fd, text, length, at);
      if (done < 0 && errno == EINTR)
         continue;
      if (done < 0)
         return false;
      text += done;
      at += done;
      length -= (size_t)done;
   }
   return true;
}

/* The chunk to write an event to, after its comma; NULL when nothing is written any more. */
static FILE *begin_event(struct agx_trace *trace)
{
   if (trace->fd < 0)
      return NULL;
   if (!trace->chunk)
      trace->chunk = open_memstream(&trace->text, &trace->length);
   if (!trace->chunk) {
      give_up(trace, "memory");
      return NULL;
   }
   fputs(trace->has_events ? ",\n" : "\n", trace->chunk);
   trace->has_events = true;
   return trace->chunk;
}

/* One write, which takes the place of the tail and ends with a new one. */
void agx_trace_flush(struct agx_trace *trace)
{
   if (!trace->chunk)
      return;
   fputs(tail, trace->chunk);
   bool is_whole = !ferror(trace->chunk);
   is_whole = fclose(trace->chunk) == 0 && is_whole;
   trace->chunk = NULL;
   if (trace->fd >= 0 && !is_whole)
      give_up(trace, "memory");
   if (trace->fd >= 0 && !write_at(trace->fd, trace->text, trace->length, trace->written)) {
      int error = errno; /* what was there before stays whole */
      off_t end = trace->written + (off_t)strlen(tail);
      if (write_at(trace->fd, tail, strlen(tail), trace->written) && ftruncate(trace->fd, end) != 0)
         error = errno;
      errno = error;
      give_up(trace, "write");
   }
   trace->written += (off_t)(trace->length - strlen(tail));
   free(trace->text);
   trace->text = NULL;
}

/* ---- rows ----------------------------------------------------------------- */

static void name_row(struct agx_trace *trace, uint64_t row, const char *kind, uint64_t number)
{
   for (uint32_t i = 0; i < trace->row_count; i++)
      if (trace->rows[i] == row)
         return;
   if (trace->row_count == MAX_ROWS)
      return;
   trace->rows[trace->row_count++] = row;
   FILE *to = begin_event(trace);
   if (!to)
      return;
   fprintf(to, "{\"ph\":\"M\",\"pid\":1,\"name\":\"thread_name\"");
   put_number(to, "tid", row);
   fprintf(to, ",\"args\":{\"name\":\"%s %" PRIu64 "\"}}", kind, number);
}

static void name_process(struct agx_trace *trace, const char *name)
{
   FILE *to = begin_event(trace);
   if (!to)
      return;
   fprintf(to, "{\"ph\":\"M\",\"pid\":1,\"tid\":0,\"name\":\"process_name\",\"args\":{\"name\":");
   put_text(to, name);
   fputs("}}", to);
}

/* ---- events --------------------------------------------------------------- */

static void put_head(FILE *to, const char *phase, uint64_t row, const char *name)
{
   fprintf(to, "{\"ph\":\"%s\",\"pid\":1", phase);
   put_number(to, "tid", row);
   put_member(to, "name", name);
}

/* Operations overlap: they are parked, and run side by side. */
static void put_operation(struct agx_trace *trace, const struct agx_profile_record *it)
{
   static const char *const phases[] = {"b", "n", "e"};
   const uint64_t times[] = {it->submitted_ns, it->start_ns, it->end_ns};
   name_row(trace, it->queue, "queue", it->queue);
   for (unsigned i = 0; i < AGX_COUNT(phases); i++) {
      FILE *to = begin_event(trace);
      if (!to)
         return;
      put_head(to, phases[i], it->queue, i == 1 ? "started" : it->name);
      fprintf(to, ",\"cat\":\"operation\"");
      put_number(to, "id", it->submission);
      put_time(to, "ts", times[i]);
      fprintf(to, ",\"args\":{\"submission\":%" PRIu64, it->submission);
      put_member(to, "label", it->label);
      put_member(to, "status", agx_status_name(it->status));
      fputs("}}", to);
   }
}

static uint64_t time_of(const struct agx_trace *trace, const struct agx_profile_record *it)
{
   return it->start_ns ? it->start_ns : trace->last_ns;
}

static void put_slice(struct agx_trace *trace, const struct agx_profile_record *it, uint64_t row,
                      const char *name)
{
   static const char *const granularities[] = {"none", "host", "submission", "span", "dispatch"};
   FILE *to = begin_event(trace);
   if (!to)
      return;
   put_head(to, it->granularity == AGX_PROFILE_NO_TIME ? "i" : "X", row, name);
   put_time(to, "ts", time_of(trace, it));
   if (it->granularity != AGX_PROFILE_NO_TIME)
      put_time(to, "dur", it->end_ns - it->start_ns);
   fputs(",\"args\":{\"granularity\":", to);
   put_text(to, granularities[AGX_MIN(it->granularity, AGX_COUNT(granularities) - 1)]);
   put_member(to, "label", it->label);
   put_number(to, "submission", it->submission);
   if (it->tag)
      put_number(to, "tag", it->tag);
   if (it->payload_B)
      put_number(to, "bytes", it->payload_B);
   if (it->command_index != AGX_PROFILE_NONE)
      fprintf(to, ",\"command\":%u,\"workgroups\":[%u,%u,%u]", it->command_index, it->workgroups[0],
              it->workgroups[1], it->workgroups[2]);
   fputs("}}", to);
}

static void put_dispatch(struct agx_trace *trace, const struct agx_profile_record *it)
{
   char name[256];
   uint64_t row = FIRST_GPU + it->queue;
   name_row(trace, row, "GPU queue", it->queue);
   snprintf(name, sizeof(name), "%u dispatches from %s", it->span_count, it->name);
   bool is_span = it->granularity == AGX_PROFILE_SPAN;
   /* A slice for all of a span: its dispatches have no times of their own. */
   if (!is_span || it->span_index == 0)
      put_slice(trace, it, row, is_span ? name : it->name);
}

static void put_value(struct agx_trace *trace, const char *track, uint64_t ns, uint64_t value)
{
   FILE *to = begin_event(trace);
   if (!to)
      return;
   put_head(to, "C", 0, track);
   put_time(to, "ts", ns);
   fprintf(to, ",\"args\":{\"value\":%" PRIu64 "}}", value);
}

static void put_memory(struct agx_trace *trace, const struct agx_profile_record *it)
{
   put_value(trace, "GPU memory", it->start_ns, it->total_B);
   name_row(trace, FIRST_THREAD + it->thread, "thread", it->thread);
   FILE *to = begin_event(trace);
   if (!to)
      return;
   put_head(to, "i", FIRST_THREAD + it->thread,
            it->kind == AGX_PROFILE_RECORD_FREE ? "free" : "allocate");
   put_time(to, "ts", it->start_ns);
   fputs(",\"s\":\"t\",\"args\":{\"granularity\":\"host\"", to);
   put_member(to, "buffer", it->name);
   put_number(to, "bytes", it->size_B);
   fprintf(to, ",\"address\":\"0x%" PRIx64 "\"}}", it->address);
}

static void put_counters(struct agx_trace *trace, const struct agx_profile_record *it)
{
   FILE *to = begin_event(trace);
   if (!to)
      return;
   put_head(to, "i", FIRST_GPU + it->queue, "counters");
   put_time(to, "ts", time_of(trace, it));
   fputs(",\"s\":\"t\",\"args\":{\"granularity\":\"dispatch\"", to);
   put_member(to, "dispatch", it->name);
   for (uint32_t i = 0; i < it->counter_count; i++)
      put_number(to, it->counters[i].name, it->counters[i].value);
   fputs("}}", to);
}

static void put_host(struct agx_trace *trace, const struct agx_profile_record *it)
{
   uint64_t row = FIRST_THREAD + it->thread;
   name_row(trace, row, "thread", it->thread);
   put_slice(trace, it, row, it->name);
}

void agx_trace_put(struct agx_trace *trace, const struct agx_profile_record *record)
{
   trace->last_ns = AGX_MAX(trace->last_ns, record->end_ns);
   switch (record->kind) {
   case AGX_PROFILE_RECORD_QUEUE:
      put_operation(trace, record);
      break;
   case AGX_PROFILE_RECORD_DEVICE_QUEUE:
      name_row(trace, FIRST_GPU + record->queue, "GPU queue", record->queue);
      put_slice(trace, record, FIRST_GPU + record->queue,
                *record->label ? record->label : record->name);
      break;
   case AGX_PROFILE_RECORD_DISPATCH:
      put_dispatch(trace, record);
      break;
   case AGX_PROFILE_RECORD_HOST:
      put_host(trace, record);
      break;
   case AGX_PROFILE_RECORD_ALLOCATE:
   case AGX_PROFILE_RECORD_FREE:
      put_memory(trace, record);
      break;
   case AGX_PROFILE_RECORD_COUNTERS:
      put_counters(trace, record);
      break;
   default:
      put_value(trace, "dropped records", record->start_ns, record->dropped);
      break;
   }
   if (trace->chunk && ftello(trace->chunk) > (off_t)CHUNK_B)
      agx_trace_flush(trace);
}

/* ---- lifetime ------------------------------------------------------------- */

agx_status agx_trace_open(struct agx_device *device, const char *path, struct agx_trace **out_trace)
{
   static const char head[] = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[";
   size_t path_B = strlen(path) + 1;
   *out_trace = NULL;
   struct agx_trace *trace =
      agx_host_zalloc(agx_context_of(device)->alloc, sizeof(*trace) + path_B);
   if (!trace)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "trace %.256s: out of host memory", path);
   memcpy(trace->path, path, path_B);
   trace->alloc = agx_context_of(device)->alloc;
   trace->log = agx_context_of(device)->log;
   trace->fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
   /* A file that can't be locked for other reasons is taken as it is. */
   bool is_taken =
      trace->fd >= 0 && flock(trace->fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
   agx_status status = AGX_OK;
   if (is_taken)
      status = AGX_FAIL(AGX_ALREADY_EXISTS, "trace %.256s: another session writes to it", path);
   else if (trace->fd < 0 || (ftruncate(trace->fd, 0) != 0 && errno != EINVAL) ||
            !write_at(trace->fd, head, strlen(head), 0))
      status = agx_status_fail_errno(errno, "trace %.256s", path);
   if (status != AGX_OK) {
      agx_trace_close(trace);
      return status;
   }
   trace->written = (off_t)strlen(head);
   name_process(trace, agxw_device_info(agx_context_of(device)->winsys)->name);
   agx_trace_flush(trace);
   *out_trace = trace;
   return AGX_OK;
}

void agx_trace_close(struct agx_trace *trace)
{
   if (!trace)
      return;
   agx_trace_flush(trace);
   if (trace->fd >= 0)
      close(trace->fd);
   agx_host_free(trace->alloc, trace, sizeof(*trace) + strlen(trace->path) + 1);
}
