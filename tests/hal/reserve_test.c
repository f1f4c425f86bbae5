/* SPDX-License-Identifier: MIT
 *
 * What recording asks the kernel for: nothing, the first time too, while the reserve lasts; seldom
 * beyond w. What becomes of the reserve.
 */
#include "fixture.h"

#include <errno.h>

#include "base/util.h"
#include "failing_kmd.h"
#include "hal/device/device.h"

#define GEM_CREATE 0x45u
#define AT_ONCE    8 /* command buffers that there is a reserve for */

static struct agx_command_buffer *create(struct work *w)
{
   struct agx_command_buffer *commands;
   assert_ok(agx_command_buffer_create(w->f->device, NULL, &commands));
   return commands;
}

/* How many requests w makes. */
static uint32_t record(struct work *w, struct agx_command_buffer *commands, uint32_t count)
{
   const int most = 1 << 30;
   failing_kmd_arm(w->kmd, most, 0, ENOMEM);
   assert_ok(agx_command_buffer_begin(commands));
   for (uint32_t i = 0; i < count; i++) {
      fixture_dispatch(commands, w->add, 1, w->buffers, 2, &i, 4);
      assert_ok(agx_cmd_barrier(commands, NULL));
   }
   assert_ok(agx_command_buffer_end(commands));
   uint32_t made = (uint32_t)(most - atomic_load(&w->kmd->countdown));
   failing_kmd_disarm(w->kmd);
   return made;
}

static uint64_t mapped_B(struct work *w)
{
   struct agx_memory_stats stats = {.size = sizeof(stats)};
   agx_device_get_memory_stats(w->f->device, &stats);
   return stats.mapped_B;
}

static void a_first_recording_asks_for_nothing(void **state)
{
   struct work w;
   struct agx_command_buffer *commands[AT_ONCE];
   work_open_failing(&w, NULL);
   commands[0] = create(&w);
   assert_int_equal(record(&w, commands[0], 3000), 0);
   agx_release(commands[0]);
   for (int i = 0; i < AT_ONCE; i++)
      commands[i] = create(&w);
   for (int i = 0; i < AT_ONCE; i++)
      assert_int_equal(record(&w, commands[i], 1000), 0);
   for (int i = 0; i < AT_ONCE; i++)
      agx_release(commands[i]);
   /* One after the other, all of which are kept. */
   for (int i = 0; i < AT_ONCE; i++) {
      commands[i] = create(&w);
      assert_int_equal(record(&w, commands[i], 2000), 0);
   }
   for (int i = 0; i < AT_ONCE; i++)
      agx_release(commands[i]);
   work_close(&w);
}

static void a_long_recording_asks_seldom(void **state)
{
   struct work w;
   work_open_failing(&w, NULL);
   struct agx_command_buffer *commands = create(&w);
   uint32_t first = record(&w, commands, 100000);
   assert_in_range(first, 1, 24);
   assert_int_equal(record(&w, commands, 100000), 0);
   agx_release(commands);
   work_close(&w);
}

static void what_is_recorded_over_slabs_of_all_sizes_runs(void **state)
{
   struct fixture f;
   uint32_t *words[2], last = 0;
   fixture_open(&f, "virtual");
   struct agx_executable *add = fixture_kernel(&f, &agx_test_add);
   struct agx_buffer *buffers[2] = {fixture_buffer(&f, 128, &words[0]),
                                    fixture_buffer(&f, 128, &words[1])};
   struct agx_semaphore *done = fixture_semaphore(&f);
   struct agx_command_buffer *commands = fixture_begin(&f);
   for (uint32_t i = 0; i < 12000; i++)
      fixture_dispatch(commands, add, 1, buffers, 2, &i, 4);
   assert_ok(agx_cmd_barrier(commands, NULL));
   last = 77;
   fixture_dispatch(commands, add, 1, buffers, 2, &last, 4);
   assert_ok(agx_command_buffer_end(commands));
   assert_ok(fixture_submit(&f, commands, NO_POINT, (struct agx_point){done, 1}));
   assert_ok(fixture_wait(done, 1));
   assert_int_equal(words[1][31], 77);
   agx_release(commands);
   agx_release(done);
   agx_release(buffers[0]);
   agx_release(buffers[1]);
   agx_release(add);
   fixture_close(&f);
}

static void trimming_gives_the_reserve_back(void **state)
{
   struct work w;
   work_open_failing(&w, NULL);
   agx_device_trim(w.f->device);
   uint64_t before_B = mapped_B(&w);
   struct agx_command_buffer *commands = create(&w);
   assert_true(mapped_B(&w) >= before_B + (512u << 10));
   agx_device_trim(w.f->device);
   assert_in_range(mapped_B(&w), before_B, before_B + (64u << 10)); /* tags stay */
   assert_true(record(&w, commands, 1000) > 0);
   agx_device_trim(w.f->device); /* nothing that is in use */
   assert_int_equal(record(&w, commands, 1), 0);
   struct agx_command_buffer *second = create(&w); /* makes a new one */
   assert_int_equal(record(&w, second, 1000), 0);
   agx_release(second);
   agx_release(commands);
   work_close(&w);
}

static void a_reserve_that_cannot_be_had_is_no_failure(void **state)
{
   struct work w;
   work_open_failing(&w, NULL);
   failing_kmd_arm(w.kmd, 0, GEM_CREATE, ENOMEM);
   struct agx_command_buffer *commands = create(&w);
   assert_true(atomic_load(&w.kmd->failed) > 0);
   assert_ok(agx_command_buffer_begin(commands));
   uint32_t push = 1;
   struct agx_binding bindings[2] = {
      {.binding = 0, .ref = {w.buffers[0], 0, AGX_WHOLE_LENGTH}},
      {.binding = 1, .ref = {w.buffers[1], 0, AGX_WHOLE_LENGTH}},
   };
   struct agx_dispatch dispatch = {.size = sizeof(dispatch),
                                   .executable = w.add,
                                   .workgroups = {1, 1, 1},
                                   .binding_count = 2,
                                   .bindings = bindings,
                                   .push = &push,
                                   .push_B = sizeof(push)};
   assert_fails(agx_cmd_dispatch(commands, &dispatch), AGX_RESOURCE_EXHAUSTED, "commands");
   assert_fails(agx_command_buffer_end(commands), AGX_RESOURCE_EXHAUSTED, "earlier");
   failing_kmd_disarm(w.kmd);
   assert_true(record(&w, commands, 1000) > 0);
   agx_release(commands);
   work_close(&w);
}

/* Where a slab of twice the size can't be had, one of the smallest is tried. */
static void large_slabs_give_way_to_small_ones(void **state)
{
   struct work w;
   work_open_failing(&w, NULL);
   struct agx_command_buffer *commands = create(&w);
   assert_true(record(&w, commands, 7000) > 0); /* more slabs than the first */
   assert_ok(agx_command_buffer_begin(commands));
   failing_kmd_arm(w.kmd, 0, GEM_CREATE, ENOMEM);
   atomic_store(&w.kmd->once, true);
   for (uint32_t i = 0; i < 12000; i++)
      fixture_dispatch(commands, w.add, 1, w.buffers, 2, &i, 4);
   assert_ok(agx_command_buffer_end(commands));
   assert_int_equal(atomic_load(&w.kmd->failed), 1);
   agx_release(commands);
   work_close(&w);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_first_recording_asks_for_nothing),
      cmocka_unit_test(a_long_recording_asks_seldom),
      cmocka_unit_test(what_is_recorded_over_slabs_of_all_sizes_runs),
      cmocka_unit_test(trimming_gives_the_reserve_back),
      cmocka_unit_test(a_reserve_that_cannot_be_had_is_no_failure),
      cmocka_unit_test(large_slabs_give_way_to_small_ones),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
