/* SPDX-License-Identifier: MIT
 *
 * usage: agx_cost [--rounds N]
 * What submitting a recorded command buffer and waiting for it costs the host through IREE's HAL,
 * beside the same sequence written against <agx/hal.h> on the same device, and beside IREE's
 * local-sync device. Rounds of the three take turns, and the medians count. The AGX device executes
 * nothing: AGX_VIRTUAL_EXECUTE=0 and AGX_DEBUG=trust are set here. iree-benchmark-executable
 * measures the same, with its own clocks in each turn.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agx_iree.h"
#include "iree/hal/drivers/init.h"
#include "iree/io/file_contents.h"

#define MAX_ROUNDS  101
#define SUBMISSIONS 2000 /* of a round */
#define BINDINGS    2
#define CONSTANTS   2

/* A device of IREE's with one kernel. */
struct side {
   iree_hal_device_t *device;
   iree_hal_device_group_t *group;
   iree_hal_executable_cache_t *cache;
   iree_hal_executable_t *executable;
   iree_io_file_contents_t *file;
   iree_hal_buffer_t *buffers[BINDINGS];
   iree_hal_semaphore_t *done;
   iree_hal_command_buffer_t *commands;
   uint64_t value;
};

/* The same on the core's side of an AGX device. */
struct core {
   struct agx_device *device;
   struct agx_semaphore *done;
   struct agx_command_buffer *commands;
   struct agx_iree_dispatch dispatch;
   uint64_t value;
};

static const uint32_t constants[CONSTANTS] = {1, 2};

static iree_const_byte_span_t constant_bytes(void)
{
   return iree_make_const_byte_span(constants, sizeof(constants));
}

static void get_bindings(const struct side *side, iree_hal_buffer_ref_t out_bindings[BINDINGS])
{
   for (unsigned i = 0; i < BINDINGS; i++)
      out_bindings[i] = iree_hal_make_buffer_ref(side->buffers[i], 0, IREE_HAL_WHOLE_BUFFER);
}

/* ---- through IREE -------------------------------------------------------------------------- */

static iree_status_t make_device(const char *uri, struct side *side)
{
   const iree_allocator_t host = iree_allocator_system();
   iree_hal_device_create_params_t params = iree_hal_device_create_params_default();
   iree_async_frontier_tracker_t *tracker = NULL;
   IREE_RETURN_IF_ERROR(iree_async_proactor_pool_create(
      1, NULL, iree_async_proactor_pool_options_default(), host, &params.proactor_pool));
   iree_status_t status =
      iree_hal_create_device(iree_hal_driver_registry_default(), iree_make_cstring_view(uri),
                             &params, host, &side->device);
   iree_async_proactor_pool_release(params.proactor_pool);
   if (iree_status_is_ok(status))
      status = iree_async_frontier_tracker_create(iree_async_frontier_tracker_options_default(),
                                                  host, &tracker);
   if (iree_status_is_ok(status))
      status = iree_hal_device_group_create_from_device(side->device, tracker, host, &side->group);
   iree_async_frontier_tracker_release(tracker);
   return status;
}

static iree_status_t load(struct side *side, const char *path, const char *format)
{
   IREE_RETURN_IF_ERROR(
      iree_hal_executable_cache_create(side->device, IREE_SV("cost"), &side->cache));
   IREE_RETURN_IF_ERROR(iree_io_file_contents_read(iree_make_cstring_view(path),
                                                   iree_allocator_system(), &side->file));
   iree_hal_executable_params_t params;
   iree_hal_executable_params_initialize(&params);
   params.executable_format = iree_make_cstring_view(format);
   params.executable_data = side->file->const_buffer;
   return iree_hal_executable_cache_prepare_executable(side->cache, &params, &side->executable);
}

static iree_status_t side_open(struct side *side, const char *uri, const char *path,
                               const char *format)
{
   IREE_RETURN_IF_ERROR(make_device(uri, side));
   IREE_RETURN_IF_ERROR(load(side, path, format));
   const iree_hal_buffer_params_t params = {
      .usage = IREE_HAL_BUFFER_USAGE_DEFAULT,
      .type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL | IREE_HAL_MEMORY_TYPE_HOST_VISIBLE,
   };
   for (unsigned i = 0; i < BINDINGS; i++) {
      IREE_RETURN_IF_ERROR(iree_hal_allocator_allocate_buffer(
         iree_hal_device_allocator(side->device), params, 8, &side->buffers[i]));
   }
   return iree_hal_semaphore_create(side->device, IREE_HAL_QUEUE_AFFINITY_ANY, 0,
                                    IREE_HAL_SEMAPHORE_FLAG_DEFAULT, &side->done);
}

static void side_close(struct side *side)
{
   iree_hal_command_buffer_release(side->commands);
   iree_hal_semaphore_release(side->done);
   for (unsigned i = 0; i < BINDINGS; i++)
      iree_hal_buffer_release(side->buffers[i]);
   iree_hal_executable_release(side->executable);
   iree_io_file_contents_free(side->file);
   iree_hal_executable_cache_release(side->cache);
   iree_hal_device_group_release(side->group);
   iree_hal_device_release(side->device);
}

static iree_status_t side_record(struct side *side, uint32_t count)
{
   iree_hal_buffer_ref_t bindings[BINDINGS];
   get_bindings(side, bindings);
   iree_hal_command_buffer_release(side->commands);
   side->commands = NULL;
   IREE_RETURN_IF_ERROR(iree_hal_command_buffer_create(
      side->device, IREE_HAL_COMMAND_BUFFER_MODE_DEFAULT, IREE_HAL_COMMAND_CATEGORY_DISPATCH,
      IREE_HAL_QUEUE_AFFINITY_ANY, 0, &side->commands));
   IREE_RETURN_IF_ERROR(iree_hal_command_buffer_begin(side->commands));
   for (uint32_t i = 0; i < count; i++) {
      IREE_RETURN_IF_ERROR(iree_hal_command_buffer_dispatch(
         side->commands, side->executable, iree_hal_executable_function_from_index(0),
         iree_hal_make_static_dispatch_config(1, 1, 1), constant_bytes(),
         (iree_hal_buffer_ref_list_t){BINDINGS, bindings}, IREE_HAL_DISPATCH_FLAG_NONE));
      IREE_RETURN_IF_ERROR(iree_hal_command_buffer_execution_barrier(
         side->commands, IREE_HAL_EXECUTION_STAGE_COMMAND_RETIRE,
         IREE_HAL_EXECUTION_STAGE_COMMAND_ISSUE, IREE_HAL_EXECUTION_BARRIER_FLAG_NONE, 0, NULL, 0,
         NULL));
   }
   return iree_hal_command_buffer_end(side->commands);
}

static iree_status_t side_submit(struct side *side)
{
   side->value++;
   IREE_RETURN_IF_ERROR(iree_hal_device_queue_execute(
      side->device, IREE_HAL_QUEUE_AFFINITY_ANY, iree_hal_semaphore_list_empty(),
      (iree_hal_semaphore_list_t){1, &side->done, &side->value}, side->commands,
      iree_hal_buffer_binding_table_empty(), IREE_HAL_EXECUTE_FLAG_NONE));
   return iree_hal_semaphore_wait(side->done, side->value, iree_infinite_timeout(),
                                  IREE_ASYNC_WAIT_FLAG_NONE);
}

/* ---- against <agx/hal.h> ------------------------------------------------------------------- */

static iree_status_t core_open(struct core *core, const struct side *side)
{
   const struct agx_iree_entry *entry = NULL;
   const iree_hal_dispatch_config_t config = iree_hal_make_static_dispatch_config(1, 1, 1);
   iree_hal_buffer_ref_t bindings[BINDINGS];
   core->device = ((struct agx_iree_device *)side->device)->core;
   IREE_RETURN_IF_ERROR(agx_iree_executable_entry(
      side->executable, iree_hal_executable_function_from_index(0), &entry));
   get_bindings(side, bindings);
   IREE_RETURN_IF_ERROR(agx_iree_dispatch_fill(entry, &config, constant_bytes(),
                                               (iree_hal_buffer_ref_list_t){BINDINGS, bindings},
                                               IREE_HAL_DISPATCH_FLAG_NONE, &core->dispatch));
   IREE_RETURN_IF_ERROR(agx_iree_status(agx_semaphore_create(core->device, 0, &core->done)));
   return agx_iree_status(agx_command_buffer_create(core->device, NULL, &core->commands));
}

static void core_close(struct core *core)
{
   agx_release(core->commands);
   agx_release(core->done);
}

static iree_status_t core_record(struct core *core, uint32_t count)
{
   agx_status status = agx_command_buffer_begin(core->commands);
   for (uint32_t i = 0; i < count && status == AGX_OK; i++) {
      status = agx_cmd_dispatch(core->commands, &core->dispatch.core);
      if (status == AGX_OK)
         status = agx_cmd_barrier(core->commands, NULL);
   }
   if (status == AGX_OK)
      status = agx_command_buffer_end(core->commands);
   return agx_iree_status(status);
}

static iree_status_t core_submit(struct core *core)
{
   const struct agx_point point = {core->done, ++core->value};
   const struct agx_op op = {.size = sizeof(op),
                             .kind = AGX_OP_EXECUTE,
                             .signals = &point,
                             .signal_count = 1,
                             .u.execute.commands = core->commands};
   agx_status status = agx_submit(core->device, &op, 1, NULL);
   if (status == AGX_OK)
      status = agx_semaphore_wait(&point, 1, false, AGX_DEADLINE_NEVER);
   return agx_iree_status(status);
}

/* ---- rounds -------------------------------------------------------------------------------- */

enum way {
   HAL,
   AGX,
   LOCAL,
   WAYS,
};

struct costs {
   struct core core;
   struct side agx, local;
   unsigned rounds;
};

static double now_ns(void)
{
   struct timespec now;
   clock_gettime(CLOCK_MONOTONIC, &now);
   return now.tv_sec * 1e9 + now.tv_nsec;
}

static iree_status_t submit(struct costs *costs, enum way way)
{
   if (way == HAL)
      return core_submit(&costs->core);
   return side_submit(way == AGX ? &costs->agx : &costs->local);
}

static int compare(const void *a, const void *b)
{
   const double x = *(const double *)a, y = *(const double *)b;
   return (x > y) - (x < y);
}

/* Medians of the ns of a submission, by way. */
static iree_status_t measure(struct costs *costs, uint32_t count, double out_ns[WAYS])
{
   double rounds[WAYS][MAX_ROUNDS];
   IREE_RETURN_IF_ERROR(core_record(&costs->core, count));
   IREE_RETURN_IF_ERROR(side_record(&costs->agx, count));
   IREE_RETURN_IF_ERROR(side_record(&costs->local, count));
   for (unsigned round = 0; round < costs->rounds; round++) {
      for (unsigned way = 0; way < WAYS; way++) {
         /* local-sync runs each dispatch when it is submitted. */
         const unsigned submissions = way == LOCAL ? SUBMISSIONS / 20 : SUBMISSIONS;
         const double start_ns = now_ns();
         for (unsigned i = 0; i < submissions; i++) {
            IREE_RETURN_IF_ERROR(submit(costs, way));
         }
         rounds[way][round] = (now_ns() - start_ns) / submissions;
      }
   }
   for (unsigned way = 0; way < WAYS; way++) {
      qsort(rounds[way], costs->rounds, sizeof(double), compare);
      out_ns[way] = rounds[way][costs->rounds / 2];
   }
   return iree_ok_status();
}

static iree_status_t run(struct costs *costs)
{
   static const uint32_t counts[] = {1, 64, 1024};
   IREE_RETURN_IF_ERROR(
      iree_hal_register_all_available_drivers(iree_hal_driver_registry_default()));
   IREE_RETURN_IF_ERROR(side_open(&costs->agx, "agx", AGX_COST_VULKAN, "vulkan-spirv-fb"));
   IREE_RETURN_IF_ERROR(
      side_open(&costs->local, "local-sync", AGX_COST_LOCAL, "embedded-elf-x86_64"));
   IREE_RETURN_IF_ERROR(core_open(&costs->core, &costs->agx));
   printf("ns of wall time for each dispatch, submitted and waited for; medians of %u rounds\n"
          "%10s %12s %12s %12s %14s %14s\n",
          costs->rounds, "dispatches", "<agx/hal.h>", "IREE", "local-sync", "IREE/hal.h",
          "IREE/local");
   for (unsigned i = 0; i < IREE_ARRAYSIZE(counts); i++) {
      double ns[WAYS];
      IREE_RETURN_IF_ERROR(measure(costs, counts[i], ns));
      printf("%10u %12.2f %12.2f %12.2f %14.2f %14.3f\n", counts[i], ns[HAL] / counts[i],
             ns[AGX] / counts[i], ns[LOCAL] / counts[i], ns[AGX] / ns[HAL], ns[AGX] / ns[LOCAL]);
   }
   return iree_ok_status();
}

int main(int argc, char **argv)
{
   static struct costs costs = {.rounds = 31};
   if (argc == 3 && strcmp(argv[1], "--rounds") == 0)
      costs.rounds = (unsigned)atoi(argv[2]);
   else if (argc > 1)
      costs.rounds = 0;
   if (costs.rounds < 1 || costs.rounds > MAX_ROUNDS) {
      fprintf(stderr, "usage: agx_cost [--rounds N], N from 1 to %d\n", MAX_ROUNDS);
      return 2;
   }
   setenv("AGX_DEVICE", "virtual", 1);
   setenv("AGX_VIRTUAL_EXECUTE", "0", 1);
   setenv("AGX_DEBUG", "trust", 1);
   iree_status_t status = run(&costs);
   core_close(&costs.core);
   side_close(&costs.agx);
   side_close(&costs.local);
   if (iree_status_is_ok(status))
      return 0;
   iree_status_fprint(stderr, status);
   iree_status_free(status);
   return 1;
}
