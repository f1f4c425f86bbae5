/* SPDX-License-Identifier: MIT
 *
 * Scratch memory and its helper program below the public interface: streams go to a queue of the
 * test's own with the helper program that a submission would name, without one, or with a damaged
 * one, and a strict virtual device tells the difference.
 */
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "fixture.h"
#include "hal/record/command_buffer.h"
#include "hal/record/scratch.h"
#include "winsys/winsys.h"

#define TOTAL (64u * 4)
#define WORDS 100u

struct world {
   struct fixture f;
   struct agxw_device *winsys;
   struct agxw_queue *queue;
   struct agxw_timeline *timeline;
   uint64_t point;
   struct agx_executable *kernel;
   struct agx_buffer *in, *out;
   struct agx_command_buffer *commands;
   struct agx_scratch *scratch;
   uint32_t *result;
};

static void open_world(struct world *w, const char *strict)
{
   const struct agx_specialization size = {.id = 0, .bytes = 4, .value = WORDS};
   struct agx_executable_desc desc = {
      .size = sizeof(desc), .specializations = &size, .specialization_count = 1};
   char *path = agx_test_path("kernels/scratch.spv");
   uint32_t *rounds;
   *w = (struct world){0};
   setenv("AGX_VIRTUAL_STRICT", strict, 1);
   fixture_open(&w->f, "virtual");
   unsetenv("AGX_VIRTUAL_STRICT");
   w->winsys = agx_context_of(w->f.device)->winsys;
   assert_ok(agxw_queue_create(w->winsys, 0, &w->queue));
   assert_ok(agxw_timeline_create(w->winsys, 0, &w->timeline));
   char *bytes = agx_test_read_file(path, &desc.data_B);
   desc.data = bytes;
   assert_ok(agx_executable_create(w->f.device, &desc, &w->kernel));
   free(bytes);
   free(path);
   w->in = fixture_buffer(&w->f, 4 * TOTAL, &rounds);
   w->out = fixture_buffer(&w->f, 4 * TOTAL, &w->result);
   memset(w->result, 0xee, 4 * TOTAL);
   for (uint32_t i = 0; i < TOTAL; i++)
      rounds[i] = 1;
   w->commands = fixture_begin(&w->f);
   struct agx_buffer *buffers[] = {w->in, w->out};
   fixture_dispatch(w->commands, w->kernel, TOTAL / 64, buffers, 2, NULL, 0);
   assert_ok(agx_command_buffer_end(w->commands));
   assert_true(w->commands->scratch_B >= 4 * WORDS);
   assert_ok(agx_scratch_provide(w->f.device, w->commands->scratch_B, &w->scratch));
}

static void close_world(struct world *w)
{
   agx_release(w->scratch);
   agx_release(w->commands);
   agx_release(w->out);
   agx_release(w->in);
   agx_release(w->kernel);
   agxw_timeline_destroy(w->timeline);
   agxw_queue_destroy(w->queue);
   fixture_close(&w->f);
}

/* What became of the stream with this helper program; the device's own words in *text. */
static agx_status run(struct world *w, const struct agxw_helper *helper, char text[512])
{
   struct agxw_compute stream;
   assert_true(agx_command_buffer_stream(w->commands, &stream));
   const struct agxw_point signal = {w->timeline, ++w->point};
   const struct agxw_submit submit = {.commands = &stream,
                                      .command_count = 1,
                                      .signals = &signal,
                                      .signal_count = 1,
                                      .helper = helper};
   assert_ok(agxw_submit(w->queue, &submit));
   assert_ok(agxw_wait(w->winsys, &signal, 1, false, INT64_MAX));
   agxw_device_fault_text(w->winsys, text, 512);
   return agxw_point_status(&signal);
}

/* own[(id + 0) % WORDS] of what the kernel stores first, with one round. */
static void expect_results(const struct world *w)
{
   for (uint32_t id = 0; id < TOTAL; id++) {
      uint32_t own[WORDS];
      for (uint32_t i = 0; i < WORDS; i++)
         own[(i * 7u + id) % WORDS] = id * 2654435761u + i;
      assert_int_equal(w->result[id], own[id % WORDS]);
   }
   memset(w->result, 0xee, 4 * TOTAL);
}

static void expect_told(struct world *w, const struct agxw_helper *helper, const char *told)
{
   char text[512];
   assert_int_not_equal(run(w, helper, text), AGX_OK);
   if (!strstr(text, told))
      fail_msg("expected \"%s\": %s", told, text);
}

static void strict_devices_want_a_helper(void **state)
{
   struct world w;
   char text[512];
   open_world(&w, "1");
   assert_ok(run(&w, agx_scratch_helper(w.scratch), text));
   expect_results(&w);
   expect_told(&w, NULL, "but the submission names no helper program that gives it memory");
   close_world(&w);
   open_world(&w, "0");
   assert_ok(run(&w, NULL, text));
   expect_results(&w);
   assert_ok(run(&w, agx_scratch_helper(w.scratch), text));
   expect_results(&w);
   close_world(&w);
}

/* Whatever mode the device is in. */
static void damaged_helpers_are_told(void **state)
{
   for (unsigned strict = 0; strict < 2; strict++) {
      struct world w;
      open_world(&w, strict ? "1" : "0");
      const struct agxw_helper sound = *agx_scratch_helper(w.scratch);
      struct agxw_helper helper = sound;
      helper.data_va = 0x1000;
      expect_told(&w, &helper, "is not mapped so: helper program of core");
      helper = sound;
      helper.data_va += 88; /* no count of SIMD-groups there: all are refused */
      expect_told(&w, &helper, "refuses a SIMD-group");
      helper = sound;
      helper.code_offset += 8;
      expect_told(&w, &helper, "helper program of core");
      helper.code_offset = 0xfff00000;
      expect_told(&w, &helper, "code fetch from unmapped memory");
      helper.code_offset = w.kernel->code_offset_B; /* a kernel is none */
      expect_told(&w, &helper, "helper program of core");
      close_world(&w);
   }
}

/* A smaller need changes nothing, a larger one gives another object, and the old one stays with
 * those who hold it. */
static void grows_and_never_shrinks(void **state)
{
   struct world w;
   char text[512];
   open_world(&w, "1");
   struct agx_scratch *old = w.scratch;
   const uint64_t old_va = agx_scratch_helper(old)->data_va;
   assert_ok(agx_scratch_provide(w.f.device, 4, &w.scratch));
   assert_ptr_equal(w.scratch, old);
   agx_retain(old);
   assert_ok(agx_scratch_provide(w.f.device, 16384, &w.scratch));
   assert_ptr_not_equal(w.scratch, old);
   assert_true(agx_scratch_helper(w.scratch)->data_va != old_va);
   assert_ok(run(&w, agx_scratch_helper(old), text));
   expect_results(&w);
   assert_ok(run(&w, agx_scratch_helper(w.scratch), text));
   expect_results(&w);
   agx_release(old);
   close_world(&w);
}

/* 32 threads of 128 SIMD-groups on 8 cores with 512 KiB each. */
static void says_how_much_is_missing(void **state)
{
   struct world w;
   open_world(&w, "1");
   struct agx_scratch *before = w.scratch;
   assert_fails(agx_scratch_provide(w.f.device, 512u << 10, &w.scratch), AGX_RESOURCE_EXHAUSTED,
                "scratch of 524288 bytes for each thread: no 16");
   assert_ptr_equal(w.scratch, before);
   assert_fails(agx_scratch_provide(w.f.device, (512u << 10) + 4, &w.scratch), AGX_OUT_OF_RANGE,
                "131073 words for each thread; 1 to 131072 are possible");
   close_world(&w);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(strict_devices_want_a_helper),
      cmocka_unit_test(damaged_helpers_are_told),
      cmocka_unit_test(grows_and_never_shrinks),
      cmocka_unit_test(says_how_much_is_missing),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
