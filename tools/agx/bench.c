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
   AGX_TRY(agx_session_load(&bench->session, path, &bench->manifest, &bench->executable));
   for (uint32_t i = 0; i < 2; i++) {
      AGX_TRY(agx_session_buffer(&bench->session, 4096, "bench", &bench->buffers[i]));
      bench->bindings[i] =
         (struct agx_binding){.binding = i, .ref = {bench->buffers[i].buffer, 0, AGX_WHOLE_LENGTH}};
   }
   bench->dispatch = (struct agx_dispatch){.executable = bench->executable,
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

static agx_status measure_host(struct bench *bench, const char *folder)
{
   double record_ns, submit_ns, round_trip_ns, one_ns;
   AGX_TRY(prepare(bench, folder));
   AGX_TRY(time_recording(bench, DISPATCHES, &record_ns));
   AGX_TRY(time_recording(bench, 1, &one_ns));
   AGX_TRY(time_submission(bench, &submit_ns, &round_trip_ns));
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

int agx_cmd_bench(int argc, char **argv)
{
   static struct bench bench;
   const char *folder = "tests/corpus";
   const struct agx_chip *chip = agx_chip_at(0);
   for (int i = 1; i < argc; i++) {
      if (strcmp(argv[i], "--corpus") == 0 && i + 1 < argc)
         folder = argv[++i];
      else if (strcmp(argv[i], "--chip") == 0 && i + 1 < argc && agx_chip_find(argv[i + 1]))
         chip = agx_chip_find(argv[++i]);
      else
         return agx_tool_usage(argv[0], "unexpected \"%s\"", argv[i]);
   }
   uint32_t failed = 0;
   setenv("AGX_VIRTUAL_EXECUTE", "0", 1);
   agx_status status = bench_compile(folder, chip, &failed);
   if (status == AGX_OK)
      status = measure_host(&bench, folder);
   release(&bench);
   if (status != AGX_OK)
      return agx_tool_failed(argv[0]);
   return failed ? AGX_EXIT_FAILURE : AGX_EXIT_OK;
}
