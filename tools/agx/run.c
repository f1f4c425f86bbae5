/* SPDX-License-Identifier: MIT
 *
 * agx run: one kernel with the inputs of a manifest, its outputs written to files or
 * compared with references.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agx.h"
#include "base/util.h"
#include "run_stats.h"
#include "base/json.h"
#include "session.h"

struct run {
   const char *kernel, *entry, *manifest_path, *input, *dump, *check, *device, *trace;
   bool is_json, wants_stats, wants_bounds, is_profiled;
   struct agx_tool_robust robust;
   uint64_t repeat; /* submissions, one behind the other */
   int stats_fd;    /* -1: no statistics */
   char name[128];  /* the kernel's file name without folder and ending */
   struct agx_manifest manifest;
   struct agx_session session;
   struct agx_executable *executable;
   struct agx_session_buffer buffers[AGX_MANIFEST_MAX_RESOURCES];
   uint8_t push[AGX_MANIFEST_MAX_PUSH_B];
   struct agx_json json;
   uint64_t ns;
   uint32_t mismatches;
};

static void data_path(const struct run *run, const char *folder, uint32_t id, char *path,
                      size_t capacity)
{
   snprintf(path, capacity, "%s/%s.%u.bin", folder, run->name, id);
}

/* Buffers get what the input folder has for them instead of what the manifest says. */
static agx_status read_inputs(struct run *run)
{
   for (uint32_t i = 0; i < run->manifest.resource_count; i++) {
      char path[1024];
      uint8_t *data;
      size_t size;
      data_path(run, run->input, run->manifest.resources[i].id, path, sizeof(path));
      if (run->buffers[i].image || access(path, F_OK) != 0)
         continue;
      AGX_TRY(agx_tool_read(path, &data, &size));
      bool fits = size == run->buffers[i].size;
      if (fits)
         memcpy(run->buffers[i].memory, data, size);
      free(data);
      if (!fits)
         return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s: %zu bytes, the buffer has %" PRIu64, path, size,
                         run->buffers[i].size);
   }
   return AGX_OK;
}

/* ---- outputs ----------------------------------------------------------- */

static agx_status dump_output(const struct run *run, uint32_t id, const void *data, uint64_t size)
{
   char path[1024];
   data_path(run, run->dump, id, path, sizeof(path));
   if (mkdir(run->dump, 0777) != 0 && errno != EEXIST)
      return agx_status_fail_errno(errno, "%s", run->dump);
   return agx_tool_write(path, data, size);
}

/* Fills text with how the output compares; *out_same says whether it passes. */
static agx_status check_output(const struct run *run, uint32_t id, const void *data, uint64_t size,
                               char *text, size_t capacity, bool *out_same)
{
   char path[1024];
   uint8_t *reference;
   size_t reference_size;
   data_path(run, run->check, id, path, sizeof(path));
   AGX_TRY(agx_tool_read(path, &reference, &reference_size));
   agx_status status = AGX_OK;
   if (reference_size != size)
      status = AGX_FAIL(AGX_INVALID_ARGUMENT, "%s: %zu bytes, the output has %" PRIu64, path,
                        reference_size, size);
   else
      *out_same = agx_manifest_compare(&run->manifest, data, reference, size, text, capacity);
   free(reference);
   return status;
}

static void report_output(struct run *run, uint32_t id, const void *data, uint64_t size,
                          const char *verdict, const char *text)
{
   uint64_t hash = agx_fnv1a(AGX_FNV_START, data, size);
   if (!run->is_json) {
      printf("  output %u: %" PRIu64 " bytes, fnv %016" PRIx64 "%s%s%s%s\n", id, size, hash,
             *verdict ? ", " : "", verdict, *text ? ": " : "", text);
      return;
   }
   char digits[20];
   snprintf(digits, sizeof(digits), "%016" PRIx64, hash);
   agx_json_open(&run->json, NULL, '{');
   agx_json_number(&run->json, "id", id);
   agx_json_number(&run->json, "bytes", size);
   agx_json_text(&run->json, "fnv", digits);
   if (*verdict)
      agx_json_bool(&run->json, "matches", strcmp(verdict, "matches") == 0);
   if (*text)
      agx_json_text(&run->json, "comparison", text);
   agx_json_close(&run->json, '}');
}

static agx_status handle_output(struct run *run, uint32_t index)
{
   const struct agx_manifest_resource *resource = &run->manifest.resources[index];
   const uint8_t *data = run->buffers[index].memory;
   uint64_t size = run->buffers[index].size;
   char text[256] = "";
   bool same = true;
   if (run->buffers[index].image)
      AGX_TRY(agx_session_copy_image(resource, &run->buffers[index], false));
   if (run->dump)
      AGX_TRY(dump_output(run, resource->id, data, size));
   if (run->check)
      AGX_TRY(check_output(run, resource->id, data, size, text, sizeof(text), &same));
   run->mismatches += !same;
   const char *verdict = !run->check ? "" : same ? "matches" : "DIFFERS";
   report_output(run, resource->id, data, size, verdict, text);
   return AGX_OK;
}

static void begin_report(struct run *run)
{
   struct agx_device_info info = {.size = sizeof(info)};
   agx_device_get_info(run->session.device, &info);
   if (!run->is_json) {
      printf("%s on %s%s: %.3f ms\n", run->name, info.name, info.is_virtual ? ", virtual" : "",
             (double)run->ns / 1e6);
      return;
   }
   agx_json_open(&run->json, NULL, '{');
   agx_json_text(&run->json, "kernel", run->name);
   agx_json_text(&run->json, "device", info.name);
   agx_json_bool(&run->json, "virtual", info.is_virtual);
   agx_json_number(&run->json, "ns", run->ns);
   agx_json_open(&run->json, "outputs", '[');
}

static agx_status report(struct run *run)
{
   agx_status status = AGX_OK;
   begin_report(run);
   for (uint32_t i = 0; i < run->manifest.resource_count && status == AGX_OK; i++)
      if (run->manifest.resources[i].is_output)
         status = handle_output(run, i);
   if (!run->is_json)
      return status == AGX_OK && run->wants_stats ? agx_run_stats_print(run->stats_fd, NULL)
                                                  : status;
   agx_json_close(&run->json, ']');
   if (status == AGX_OK && run->wants_stats)
      status = agx_run_stats_print(run->stats_fd, &run->json);
   if (status != AGX_OK)
      agx_json_text(&run->json, "error", agx_error_peek());
   agx_json_close(&run->json, '}');
   putchar('\n');
   return status;
}

/* ---- command ----------------------------------------------------------- */

static void set_name(struct run *run)
{
   const char *start;
   int length = agx_tool_kernel_name(run->kernel, &start);
   snprintf(run->name, sizeof(run->name), "%.*s", AGX_MIN(length, (int)sizeof(run->name) - 1),
            start);
}

/* Adds to AGX_DEBUG, which is read when a device opens. */
static agx_status request_bounds(void)
{
   char flags[512];
   const char *debug = getenv("AGX_DEBUG");
   int length = snprintf(flags, sizeof(flags), "%s,bounds", debug ? debug : "");
   if (length < 0 || (size_t)length >= sizeof(flags) || setenv("AGX_DEBUG", flags, 1) != 0)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "environment: AGX_DEBUG");
   return AGX_OK;
}

/* Everything that the device can tell: counters, too, where it counts. */
static agx_status begin_trace(struct run *run)
{
   struct agx_profile_desc desc = {
      .size = sizeof(desc),
      .families = AGX_PROFILE_QUEUE | AGX_PROFILE_DEVICE_QUEUE | AGX_PROFILE_DISPATCH |
                  AGX_PROFILE_HOST | AGX_PROFILE_MEMORY | AGX_PROFILE_COUNTERS,
      .path = run->trace,
   };
   agx_status status = agx_profile_begin(run->session.device, &desc);
   desc.families &= ~(uint64_t)AGX_PROFILE_COUNTERS;
   if (status == AGX_UNAVAILABLE)
      status = agx_profile_begin(run->session.device, &desc);
   run->is_profiled = status == AGX_OK;
   return status;
}

static agx_status open_device(struct run *run)
{
   struct agx_device_info info = {.size = sizeof(info)};
   if (run->wants_bounds)
      AGX_TRY(request_bounds());
   if (run->wants_stats)
      AGX_TRY(agx_run_stats_begin(run->is_json, &run->stats_fd));
   AGX_TRY(agx_session_open(run->device, &run->session));
   agx_device_get_info(run->session.device, &info);
   if (run->wants_stats && !info.is_virtual)
      return AGX_FAIL(AGX_UNIMPLEMENTED, "--stats: %s does not count; a virtual device does",
                      info.name);
   return run->trace ? begin_trace(run) : AGX_OK;
}

static agx_status run_kernel(struct run *run)
{
   AGX_TRY(agx_manifest_load(run->manifest_path, &run->manifest));
   AGX_TRY(open_device(run));
   AGX_TRY(agx_session_load(&run->session, run->kernel, run->entry, &run->manifest, &run->robust,
                            &run->executable));
   AGX_TRY(agx_session_make_buffers(&run->session, run->executable, &run->manifest, run->buffers));
   AGX_TRY(agx_session_fill_buffers(&run->manifest, run->buffers, run->push));
   if (run->input)
      AGX_TRY(read_inputs(run));
   AGX_TRY(agx_session_record(&run->session, run->executable, &run->manifest, run->buffers,
                              run->push, run->manifest.workgroups, 1));
   for (uint64_t i = 0; i < run->repeat; i++) {
      uint64_t ns;
      AGX_TRY(agx_session_execute(&run->session, &ns));
      run->ns += ns;
   }
   return report(run);
}

static void release(struct run *run)
{
   if (run->is_profiled)
      (void)!agx_profile_end(run->session.device);
   for (uint32_t i = 0; i < run->manifest.resource_count; i++)
      agx_session_release_buffer(&run->buffers[i]);
   agx_release(run->executable);
   agx_session_close(&run->session);
   if (run->stats_fd >= 0)
      close(run->stats_fd);
}

/* Options with a value. */
static const char **value_option(struct run *run, const char *word)
{
   if (strcmp(word, "--manifest") == 0)
      return &run->manifest_path;
   if (strcmp(word, "--input") == 0)
      return &run->input;
   if (strcmp(word, "--dump") == 0)
      return &run->dump;
   if (strcmp(word, "--check") == 0)
      return &run->check;
   if (strcmp(word, "--entry") == 0)
      return &run->entry;
   if (strcmp(word, "--profile") == 0)
      return &run->trace;
   return strcmp(word, "--device") == 0 ? &run->device : NULL;
}

int agx_cmd_run(int argc, char **argv)
{
   static struct run run; /* large */
   run = (struct run){.device = "auto", .repeat = 1, .stats_fd = -1, .json = {.file = stdout}};
   for (int i = 1; i < argc; i++) {
      const char **value = value_option(&run, argv[i]);
      if (strcmp(argv[i], "--json") == 0)
         run.is_json = true;
      else if (strcmp(argv[i], "--stats") == 0)
         run.wants_stats = true;
      else if (strcmp(argv[i], "--bounds") == 0)
         run.wants_bounds = true;
      else if (strcmp(argv[i], "--repeat") == 0 && i + 1 < argc) {
         char *end;
         run.repeat = strtoull(argv[++i], &end, 10);
         if (argv[i][0] < '0' || argv[i][0] > '9' || *end || run.repeat == 0)
            return agx_tool_usage(argv[0], "--repeat %s: a number from 1 on is wanted", argv[i]);
      } else if (strcmp(argv[i], "--robust") == 0 && i + 1 < argc) {
         if (!agx_tool_robust_parse(&run.robust, argv[++i]))
            return agx_tool_usage(argv[0], "--robust %s: " AGX_TOOL_ROBUST_VALUES, argv[i]);
      } else if (value && i + 1 < argc)
         *value = argv[++i];
      else if (value || strcmp(argv[i], "--robust") == 0 || strcmp(argv[i], "--repeat") == 0)
         return agx_tool_usage(argv[0], "%s needs a value", argv[i]);
      else if (argv[i][0] == '-')
         return agx_tool_usage(argv[0], "unknown option %s", argv[i]);
      else if (run.kernel)
         return agx_tool_usage(argv[0], "two kernels: %s and %s", run.kernel, argv[i]);
      else
         run.kernel = argv[i];
   }
   if (!run.kernel || !run.manifest_path)
      return agx_tool_usage(argv[0], "a kernel and --manifest FILE are needed");
   set_name(&run);
   agx_status status = run_kernel(&run);
   release(&run);
   if (status != AGX_OK)
      return agx_tool_failed(argv[0]);
   return run.mismatches ? AGX_EXIT_FAILURE : AGX_EXIT_OK;
}
