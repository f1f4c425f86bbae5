/* SPDX-License-Identifier: MIT
 *
 * agx bench: what the compiler makes of the corpus, and what a dispatch costs the
 * host: to record, and to submit, on the virtual device with execution switched off.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "base/util.h"
#include "bench.h"
#include "session.h"

#define DISPATCHES  2000 /* in one command buffer */
#define SUBMISSIONS 2000
#define ROUNDS      7
#define BEST        5
#define MAX_BEST    1000

struct bench {
   struct agx_session session;
   struct agx_manifest manifest;
   struct agx_executable *executable;
   struct agx_session_buffer buffers[2];
   struct agx_dispatch dispatch;
   struct agx_binding bindings[2];
   uint32_t push[2];
};

/* saxpy of one workgroup. */
static agx_status prepare(struct bench *bench, const char *folder)
{
   char path[1024];
   snprintf(path, sizeof(path), "%s/saxpy.spv", folder);
   AGX_TRY(agx_session_open("virtual", &bench->session));
   AGX_TRY(
      agx_session_load(&bench->session, path, NULL, &bench->manifest, NULL, &bench->executable));
   for (uint32_t i = 0; i < 2; i++) {
      AGX_TRY(agx_session_buffer(&bench->session, 4096, "bench", &bench->buffers[i]));
      bench->bindings[i] =
         (struct agx_binding){.binding = i, .ref = {bench->buffers[i].buffer, 0, AGX_WHOLE_LENGTH}};
   }
   bench->dispatch = (struct agx_dispatch){.size = sizeof(struct agx_dispatch),
                                           .executable = bench->executable,
                                           .workgroups = {1, 1, 1},
                                           .binding_count = 2,
                                           .bindings = bench->bindings,
                                           .push = bench->push,
                                           .push_B = sizeof(bench->push)};
   return AGX_OK;
}

/* *out_ns is the mean of the quickest round, begin and end included. */
static agx_status time_recording(struct bench *bench, uint32_t count, double *out_ns)
{
   *out_ns = 1e18;
   for (int round = 0; round < ROUNDS; round++) {
      struct agx_command_buffer *commands = bench->session.commands;
      uint64_t start = agx_tool_now_ns();
      AGX_TRY(agx_command_buffer_begin(commands));
      for (uint32_t i = 0; i < count; i++)
         AGX_TRY(agx_cmd_dispatch(commands, &bench->dispatch));
      AGX_TRY(agx_command_buffer_end(commands));
      *out_ns = AGX_MIN(*out_ns, (double)(agx_tool_now_ns() - start) / count);
   }
   return AGX_OK;
}

static agx_status time_submission(struct bench *bench, double *out_ns, double *out_round_trip_ns)
{
   *out_ns = *out_round_trip_ns = 1e18;
   for (int round = 0; round < ROUNDS; round++) {
      uint64_t start = agx_tool_now_ns();
      for (uint32_t i = 0; i < SUBMISSIONS; i++)
         AGX_TRY(agx_session_submit(&bench->session, bench->session.commands));
      *out_ns = AGX_MIN(*out_ns, (double)(agx_tool_now_ns() - start) / SUBMISSIONS);
      AGX_TRY(agx_session_wait(&bench->session));
      start = agx_tool_now_ns();
      for (uint32_t i = 0; i < SUBMISSIONS / 10; i++) {
         AGX_TRY(agx_session_submit(&bench->session, bench->session.commands));
         AGX_TRY(agx_session_wait(&bench->session));
      }
      *out_round_trip_ns =
         AGX_MIN(*out_round_trip_ns, (double)(agx_tool_now_ns() - start) / (SUBMISSIONS / 10.0));
   }
   return AGX_OK;
}

static agx_status measure_host(struct bench *bench, const char *folder, struct agx_json *json)
{
   double record_ns, submit_ns, round_trip_ns, one_ns;
   AGX_TRY(prepare(bench, folder));
   AGX_TRY(time_recording(bench, DISPATCHES, &record_ns));
   AGX_TRY(time_recording(bench, 1, &one_ns));
   AGX_TRY(time_submission(bench, &submit_ns, &round_trip_ns));
   if (json) {
      agx_json_open(json, "host_ns", '{');
      agx_json_fixed(json, "record_dispatch", record_ns);
      agx_json_fixed(json, "record_command_buffer", one_ns);
      agx_json_fixed(json, "submit", submit_ns);
      agx_json_fixed(json, "submit_and_wait", round_trip_ns);
      agx_json_close(json, '}');
      return AGX_OK;
   }
   printf("\nhost, virtual device with execution switched off, best of %d rounds\n", ROUNDS);
   printf("  %-44s %9.0f ns\n", "record a dispatch (2000 in a command buffer)", record_ns);
   printf("  %-44s %9.0f ns\n", "record a command buffer of one dispatch", one_ns);
   printf("  %-44s %9.0f ns\n", "submit it", submit_ns);
   printf("  %-44s %9.0f ns\n", "submit it and wait", round_trip_ns);
   return AGX_OK;
}

static void release(struct bench *bench)
{
   for (int i = 0; i < 2; i++)
      agx_release(bench->buffers[i].buffer);
   agx_release(bench->executable);
   agx_session_close(&bench->session);
}

struct parts {
   bool compile, host;
};

static agx_status run_parts(const struct bench_options *options, const struct parts *parts,
                            struct agx_json *json, uint32_t *out_failed)
{
   static struct bench bench;
   agx_status status = AGX_OK;
   if (parts->compile)
      status = bench_compile(options, json, out_failed);
   if (status != AGX_OK || !parts->host)
      return status;
   status = measure_host(&bench, options->folder, json);
   release(&bench);
   return status;
}

/* False: the word is no option, or its value is none. */
static bool take_option(struct bench_options *options, struct parts *parts, const char *word,
                        const char *value)
{
   if (strcmp(word, "--corpus") == 0)
      options->folder = value;
   else if (strcmp(word, "--chip") == 0)
      options->chip = agx_chip_find(value);
   else if (strcmp(word, "--best") == 0)
      options->best = (uint32_t)strtoul(value, NULL, 10);
   else if (strcmp(word, "--only") == 0)
      *parts = (struct parts){strcmp(value, "compile") == 0, strcmp(value, "host") == 0};
   else
      return false;
   return options->chip && options->best > 0 && options->best <= MAX_BEST &&
          (parts->compile || parts->host);
}

int agx_cmd_bench(int argc, char **argv)
{
   struct bench_options options = {.folder = "tests/corpus", .chip = agx_chip_at(0), .best = BEST};
   struct parts parts = {true, true};
   struct agx_json json = {.file = stdout};
   bool is_json = false;
   uint32_t failed = 0;
   for (int i = 1; i < argc; i++) {
      if (strcmp(argv[i], "--json") == 0)
         is_json = true;
      else if (i + 1 < argc && take_option(&options, &parts, argv[i], argv[i + 1]))
         i++;
      else
         return agx_tool_usage(argv[0], "unexpected \"%s\"", argv[i]);
   }
   setenv("AGX_VIRTUAL_EXECUTE", "0", 1);
   if (is_json)
      agx_json_open(&json, NULL, '{');
   agx_status status = run_parts(&options, &parts, is_json ? &json : NULL, &failed);
   if (is_json) {
      agx_json_close(&json, '}');
      putchar('\n');
   }
   if (status != AGX_OK)
      return agx_tool_failed(argv[0]);
   return failed ? AGX_EXIT_FAILURE : AGX_EXIT_OK;
}
