/* SPDX-License-Identifier: MIT
 *
 * No command executes without a place among those for which released memory is kept,
 * even where as many programs execute as there are places.
 */
#include <stdatomic.h>
#include <sys/wait.h>

#include "device.h"
#include "winsys/virtual/store/node.h"

static _Atomic bool had_place;
static struct agx_virtual_node *the_node;

static unsigned places_of(int32_t pid)
{
   unsigned count = 0;
   for (unsigned i = 0; i < AGXV_MAX_RUNNING; i++)
      count += the_node->shared->running[i].since && the_node->shared->running[i].pid == pid;
   return count;
}

static agx_status look(const struct agx_chip *chip, const struct agxs_memory *memory,
                       const struct agxs_options *options, uint64_t usc_base, uint64_t stream_va,
                       struct agxs_stats *out_stats)
{
   agxv_lock(the_node);
   atomic_store(&had_place, places_of(the_node->pid) > 0);
   agxv_unlock(the_node);
   return AGX_OK;
}

static void fill(int32_t pid)
{
   agxv_lock(the_node);
   for (unsigned i = 0; i < AGXV_MAX_RUNNING; i++)
      the_node->shared->running[i] = (struct agxv_running){++the_node->shared->run_count, pid};
   agxv_unlock(the_node);
}

static void dead_programs_hold_no_place(void **state)
{
   (void)state;
   struct device device = device_open(look);
   the_node = device.node;
   pid_t dead = fork();
   if (dead == 0)
      _exit(0);
   assert_int_equal(waitpid(dead, NULL, 0), dead);
   fill(dead);
   run(&device, PAGE);
   assert_true(atomic_load(&had_place));
   device_close(&device);
}

static void a_command_waits_for_a_place(void **state)
{
   (void)state;
   struct device device = device_open(look);
   the_node = device.node;
   fill(getppid()); /* which lives as long as this */
   uint32_t handle = make_syncobj(&device);
   struct agx_uapi_sync out = {AGX_UAPI_SYNC_SYNCOBJ, handle, 0};
   struct compute_record command = compute_command(PAGE);
   assert_int_equal(submit(&device, &command, &out, 0, 1), 0);
   usleep(20000); /* whenever the place comes free, the command has one */
   agxv_lock(the_node);
   the_node->shared->running[7].since = 0;
   agxv_unlock(the_node);
   assert_int_equal(wait_syncobj(&device, handle, INT64_MAX, AGX_UAPI_SYNCOBJ_WAIT_ALL), 0);
   assert_true(atomic_load(&had_place));
   device_close(&device);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(dead_programs_hold_no_place),
      cmocka_unit_test(a_command_waits_for_a_place),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
