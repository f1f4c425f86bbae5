/* SPDX-License-Identifier: MIT
 *
 * What a dispatch costs the host: to record, and to submit, in nanoseconds, requests to the kernel
 * and allocations from the heap. Meant for the virtual device with execution switched off;
 * tests/mesa/vkhost.c measures the same of a Vulkan driver.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/debug.h"
#include "base/status.h"
#include "base/util.h"
#include "bench.h"
#include "session.h"
#include "hal/device/device.h"

#define DISPATCHES  1000 /* in one command buffer */
#define SUBMISSIONS 2000
#define FLIGHTS     4
#define ROUNDS      31

/* ---- counting ------------------------------------------------------------- */

static _Atomic uint64_t requests, allocations;
static int (*inner_ioctl)(struct agx_kmd *kmd, unsigned long request, void *argument);

static int counting_ioctl(struct agx_kmd *kmd, unsigned long request, void *argument)
{
   atomic_fetch_add_explicit(&requests, 1, memory_order_relaxed);
   return inner_ioctl(kmd, request, argument);
}

static int (*inner_fd_ioctl)(struct agx_kmd *kmd, int fd, unsigned long request, void *argument);

static int counting_fd_ioctl(struct agx_kmd *kmd, int fd, unsigned long request, void *argument)
{
   atomic_fetch_add_explicit(&requests, 1, memory_order_relaxed);
   return inner_fd_ioctl(kmd, fd, request, argument);
}

static void *counting_alloc(void *user, size_t size)
{
   atomic_fetch_add_explicit(&allocations, 1, memory_order_relaxed);
   return malloc(size);
}

static void counting_free(void *user, void *memory, size_t size)
{
   free(memory);
}

/* The device as it is, but for its requests being counted. */
static agx_status open_counting(const char *name, struct agx_session *out_session)
{
   static struct agx_kmd_ops ops;
   static const struct agx_alloc_callbacks alloc = {.alloc = counting_alloc, .free = counting_free};
   const struct agx_instance_desc instance = {.size = sizeof(instance), .alloc = &alloc};
   struct agx_kmd *kmd = NULL;
   *out_session = (struct agx_session){0};
   AGX_TRY(agx_instance_create(&instance, &out_session->instance));
   AGX_TRY(agxw_kmd_open(name, NULL, &kmd));
   ops = *kmd->ops;
   inner_ioctl = ops.ioctl;
   inner_fd_ioctl = ops.fd_ioctl;
   ops.ioctl = counting_ioctl;
   ops.fd_ioctl = counting_fd_ioctl;
   kmd->ops = &ops;
   AGX_TRY(agx_device_open_kmd(out_session->instance, kmd, &out_session->device));
   /* Nothing is executed, tags neither: each fence would be asked, which is not how it is. */
   if (agxw_device_info(agx_context_of(out_session->device)->winsys)->is_virtual)
      agx_context_of(out_session->device)->debug |= AGX_DEBUG_TRUST;
   return agx_semaphore_create(out_session->device, 0, &out_session->done);
}

struct figure {
   double ns, requests, allocations; /* for each */
};

struct mark {
   uint64_t ns, requests, allocations;
};

static struct mark mark_now(void)
{
   return (struct mark){(uint64_t)agx_now_ns(), requests, allocations};
}

static struct figure since(const struct mark *start, uint32_t count)
{
   struct mark now = mark_now();
   return (struct figure){(double)(now.ns - start->ns) / count,
                          (double)(now.requests - start->requests) / count,
                          (double)(now.allocations - start->allocations) / count};
}

static int compare(const void *a, const void *b)
{
   double x = *(const double *)a, y = *(const double *)b;
   return (x > y) - (x < y);
}

static double median(double *values, unsigned count)
{
   qsort(values, count, sizeof(*values), compare);
   return values[count / 2];
}

/* ---- measuring ------------------------------------------------------------ */

/* What is recorded. */
enum work {
   PLAIN,
   ROBUST,  /* which can be seen to stay inside: code without checks */
   CHECKED, /* which can't */
   IMAGE,
   STORES,
   WORKS,
};

static const struct {
   const char *kernel;
   enum agx_robustness robust;
} kernels[WORKS] = {
   [PLAIN] = {"saxpy", AGX_ROBUST_OFF},        [ROBUST] = {"saxpy", AGX_ROBUST_ZERO},
   [CHECKED] = {"saxpy", AGX_ROBUST_ZERO},     [IMAGE] = {"image_lod", AGX_ROBUST_OFF},
   [STORES] = {"image_store", AGX_ROBUST_OFF},
};

/* A kernel of the corpus over what its manifest names: what is recorded. */
struct bench_work {
   struct agx_manifest manifest;
   struct agx_executable *executable;
   struct agx_session_buffer buffers[AGX_MANIFEST_MAX_RESOURCES];
   struct agx_binding bindings[AGX_MANIFEST_MAX_RESOURCES];
   struct agx_dispatch dispatch;
};

struct bench {
   struct agx_session session;
   struct bench_work works[WORKS];
};

/* FOLDER/name.spv, of one workgroup. Close it, also when it failed. */
static agx_status open_work(struct bench_work *work, struct agx_session *session,
                            const char *folder, const char *name, enum agx_robustness robust)
{
   const struct agx_tool_robust mode = {.mode = robust};
   char path[1024];
   *work = (struct bench_work){0};
   snprintf(path, sizeof(path), "%s/%s.txt", folder, name);
   AGX_TRY(agx_manifest_load(path, &work->manifest));
   snprintf(path, sizeof(path), "%s/%s.spv", folder, name);
   AGX_TRY(agx_session_load(session, path, NULL, &work->manifest, &mode, &work->executable));
   AGX_TRY(agx_session_make_buffers(session, work->executable, &work->manifest, work->buffers));
   work->dispatch = (struct agx_dispatch){
      .size = sizeof(work->dispatch),
      .executable = work->executable,
      .workgroups = {1, 1, 1},
      .binding_count = agx_session_bindings(&work->manifest, work->buffers, work->bindings),
      .bindings = work->bindings,
      .push = work->manifest.push,
      .push_B = work->manifest.push_B};
   return AGX_OK;
}

static void close_work(struct bench_work *work)
{
   for (uint32_t i = 0; i < AGX_MANIFEST_MAX_RESOURCES; i++)
      agx_session_release_buffer(&work->buffers[i]);
   agx_release(work->executable);
}

static agx_status prepare(struct bench *bench, const struct bench_options *options)
{
   AGX_TRY(open_counting(options->device, &bench->session));
   for (unsigned i = 0; i < WORKS; i++)
      AGX_TRY(open_work(&bench->works[i], &bench->session, options->folder, kernels[i].kernel,
                        kernels[i].robust));
   /* More threads than elements, and all of them to work. */
   bench->works[CHECKED].dispatch.workgroups[0] = 1u << 20;
   memset(bench->works[CHECKED].manifest.push, 0xff, bench->works[CHECKED].manifest.push_B);
   return AGX_OK;
}

static agx_status record(const struct bench_work *work, struct agx_command_buffer *commands,
                         uint32_t count, bool barriers)
{
   AGX_TRY(agx_command_buffer_begin(commands));
   for (uint32_t i = 0; i < count; i++) {
      AGX_TRY(agx_cmd_dispatch(commands, &work->dispatch));
      if (barriers)
         AGX_TRY(agx_cmd_barrier(commands, NULL));
   }
   return agx_command_buffer_end(commands);
}

/* From begin to end, encoding included; first: of a new command buffer. */
static agx_status time_recording(struct bench *bench, enum work work, bool barriers,
                                 struct figure *first, struct figure *again)
{
   struct agx_command_buffer *commands = NULL;
   double rounds[ROUNDS];
   AGX_TRY(agx_command_buffer_create(bench->session.device, NULL, &commands));
   agx_status status = AGX_OK;
   for (int round = -1; round < ROUNDS && status == AGX_OK; round++) {
      struct figure *figure = round < 0 ? first : again;
      struct mark start = mark_now();
      status = record(&bench->works[work], commands, DISPATCHES, barriers);
      *figure = since(&start, DISPATCHES);
      if (round >= 0)
         rounds[round] = figure->ns;
   }
   agx_release(commands);
   if (status == AGX_OK)
      again->ns = median(rounds, ROUNDS);
   return status;
}

static agx_status time_submissions(struct bench *bench, bool waits, struct figure *out)
{
   struct agx_session *session = &bench->session;
   double rounds[ROUNDS];
   for (unsigned round = 0; round < ROUNDS; round++) {
      struct mark start = mark_now();
      for (uint32_t i = 0; i < SUBMISSIONS; i++) {
         AGX_TRY(agx_session_submit(session, session->commands));
         if (waits)
            AGX_TRY(agx_session_wait(session));
      }
      *out = since(&start, SUBMISSIONS);
      rounds[round] = out->ns;
      AGX_TRY(agx_session_wait(session));
   }
   out->ns = median(rounds, ROUNDS);
   return AGX_OK;
}

static uint64_t own_cpu_ns(void)
{
   struct timespec now;
   clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
   return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* One command buffer over and over, so that FLIGHTS of its submissions are in flight: each waits
 * for the one that many before, whose success has to be told from theirs. Time of this thread,
 * without what it sleeps. */
static agx_status time_flights(struct agx_session *session, struct figure *out)
{
   struct mark start = mark_now();
   uint64_t start_ns = own_cpu_ns();
   for (uint32_t i = 0; i < SUBMISSIONS; i++) {
      AGX_TRY(agx_session_submit(session, session->commands));
      if (session->value < FLIGHTS)
         continue;
      const struct agx_point done = {session->done, session->value - FLIGHTS + 1};
      AGX_TRY(agx_semaphore_wait(&done, 1, false, AGX_DEADLINE_NEVER));
   }
   *out = since(&start, SUBMISSIONS);
   out->ns = (double)(own_cpu_ns() - start_ns) / SUBMISSIONS;
   return agx_session_wait(session);
}

enum row {
   RECORD,
   RECORD_FIRST,
   RECORD_BARRIER,
   RECORD_BARRIER_FIRST,
   RECORD_ROBUST,
   RECORD_CHECKED,
   RECORD_IMAGE,
   RECORD_STORES,
   CREATE_FIRST,
   SUBMIT,
   SUBMIT_WAIT,
   SUBMIT_WAIT_64,
   SUBMIT_WAIT_1024,
   SUBMIT_5000,
   IN_FLIGHT,
   ROWS,
};

static const struct {
   const char *name, *sentence;
} rows[ROWS] = {
   [RECORD] = {"record", "record a dispatch, 1000 in a command buffer"},
   [RECORD_FIRST] = {"record_first", "the same, first time"},
   [RECORD_BARRIER] = {"record_barrier", "with a barrier each"},
   [RECORD_BARRIER_FIRST] = {"record_barrier_first", "the same, first time"},
   [RECORD_ROBUST] = {"record_robust", "record a robust dispatch that stays inside"},
   [RECORD_CHECKED] = {"record_checked", "record a robust dispatch with checks"},
   [RECORD_IMAGE] = {"record_image", "record a dispatch with image and sampler"},
   [RECORD_STORES] = {"record_stores", "record a dispatch with two storage images"},
   [CREATE_FIRST] = {"create_first", "create a device's first command buffer"},
   [SUBMIT] = {"submit", "submit one dispatch, signal"},
   [SUBMIT_WAIT] = {"submit_wait", "the same, and wait"},
   [SUBMIT_WAIT_64] = {"submit_wait_64", "submit 64 dispatches with barriers, and wait"},
   [SUBMIT_WAIT_1024] = {"submit_wait_1024", "submit 1024 with barriers, and wait"},
   [SUBMIT_5000] = {"submit_5000", "submit 5000 dispatches, signal"},
   [IN_FLIGHT] = {"in_flight", "one buffer, 4 in flight (executed, CPU time)"},
};

/* The first one brings memory for recording with it. */
static agx_status time_first(struct bench *bench, struct figure *out)
{
   struct mark start = mark_now();
   AGX_TRY(agx_command_buffer_create(bench->session.device, NULL, &bench->session.commands));
   *out = since(&start, 1);
   return AGX_OK;
}

static agx_status measure_recording(struct bench *bench, struct figure figures[ROWS])
{
   static const struct {
      enum work work;
      enum row row;
   } others[] = {
      {ROBUST, RECORD_ROBUST},
      {CHECKED, RECORD_CHECKED},
      {IMAGE, RECORD_IMAGE},
      {STORES, RECORD_STORES},
   };
   struct figure first;
   /* Barriers first, while nothing has been recorded before. */
   AGX_TRY(
      time_recording(bench, PLAIN, true, &figures[RECORD_BARRIER_FIRST], &figures[RECORD_BARRIER]));
   AGX_TRY(time_recording(bench, PLAIN, false, &figures[RECORD_FIRST], &figures[RECORD]));
   for (size_t i = 0; i < AGX_COUNT(others); i++)
      AGX_TRY(time_recording(bench, others[i].work, false, &first, &figures[others[i].row]));
   return AGX_OK;
}

static agx_status measure(struct bench *bench, struct figure figures[ROWS])
{
   const struct bench_work *plain = &bench->works[PLAIN];
   AGX_TRY(time_first(bench, &figures[CREATE_FIRST]));
   AGX_TRY(measure_recording(bench, figures));
   AGX_TRY(record(plain, bench->session.commands, 1, false));
   AGX_TRY(time_submissions(bench, false, &figures[SUBMIT]));
   AGX_TRY(time_submissions(bench, true, &figures[SUBMIT_WAIT]));
   AGX_TRY(record(plain, bench->session.commands, 64, true));
   AGX_TRY(time_submissions(bench, true, &figures[SUBMIT_WAIT_64]));
   AGX_TRY(record(plain, bench->session.commands, 1024, true));
   AGX_TRY(time_submissions(bench, true, &figures[SUBMIT_WAIT_1024]));
   AGX_TRY(record(plain, bench->session.commands, 5000, false));
   return time_submissions(bench, false, &figures[SUBMIT_5000]);
}

/* Whether the device has to be asked can only be seen where things are executed, and by a device
 * that is slower than the host. */
static agx_status measure_executed(const struct bench_options *options, struct figure figures[ROWS])
{
   struct agx_session session;
   static struct bench_work work;
   setenv("AGX_VIRTUAL_EXECUTE", "1", 1);
   setenv("AGX_VIRTUAL_INJECT", "slow 1 200", 1);
   agx_status status = open_counting("virtual", &session);
   setenv("AGX_VIRTUAL_EXECUTE", "0", 1);
   unsetenv("AGX_VIRTUAL_INJECT");
   if (status == AGX_OK) {
      agx_context_of(session.device)->debug &= ~(uint32_t)AGX_DEBUG_TRUST;
      status = agx_command_buffer_create(session.device, NULL, &session.commands);
   }
   if (status == AGX_OK)
      status = open_work(&work, &session, options->folder, "saxpy", AGX_ROBUST_OFF);
   if (status == AGX_OK)
      status = record(&work, session.commands, 1, false);
   if (status == AGX_OK)
      status = time_flights(&session, &figures[IN_FLIGHT]);
   close_work(&work);
   agx_session_close(&session);
   return status;
}

static void print(const struct figure *figures, struct agx_json *json)
{
   if (!json)
      printf(
         "\nhost, execution switched off, medians of %d rounds; for each\n  %-46s %9s %9s %11s\n",
         ROUNDS, "", "ns", "requests", "allocations");
   else
      agx_json_open(json, "host", '{');
   for (unsigned i = 0; i < ROWS; i++) {
      if (json) {
         agx_json_open(json, rows[i].name, '{');
         agx_json_fixed(json, "ns", figures[i].ns);
         agx_json_fixed(json, "requests", figures[i].requests);
         agx_json_fixed(json, "allocations", figures[i].allocations);
         agx_json_close(json, '}');
      } else {
         printf("  %-46s %9.1f %9.4f %11.4f\n", rows[i].sentence, figures[i].ns,
                figures[i].requests, figures[i].allocations);
      }
   }
   if (json)
      agx_json_close(json, '}');
}

agx_status bench_host(const struct bench_options *options, struct agx_json *json)
{
   static struct bench bench;
   struct figure figures[ROWS] = {{0}};
   agx_status status = prepare(&bench, options);
   if (status == AGX_OK)
      status = measure(&bench, figures);
   for (unsigned i = 0; i < WORKS; i++)
      close_work(&bench.works[i]);
   agx_session_close(&bench.session);
   if (status == AGX_OK)
      status = measure_executed(options, figures);
   if (status == AGX_OK)
      print(figures, json);
   return status;
}
