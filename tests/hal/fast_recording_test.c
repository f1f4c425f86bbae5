/* SPDX-License-Identifier: MIT
 *
 * The fast path of recording writes what the general path does, byte for byte: kernels of the
 * corpus in all robustness modes, over buffers as long as they need and too short, and over images.
 */
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "corpus_job.h"
#include "hal/memory/image.h"
#include "hal/record/command_fast.h"

#define PAINT 0xa7

struct pass {
   struct fixture fixture;
   uint32_t robustness;
   unsigned kernels, fast, refused; /* of dispatches */
};

/* A dispatch or a draw, given in order, and so that only the general path takes it. */
struct pair {
   struct agx_dispatch fast, general;
   const struct agx_vertex_dispatch *fast_draw, *general_draw;
};

static agx_status record_general(struct agx_command_buffer *commands, const struct pair *pair)
{
   agx_status status;
   assert_false(agx_record_fast(commands, &pair->general, pair->general_draw, &status));
   return pair->general_draw ? agx_cmd_dispatch_vertices(commands, pair->general_draw)
                             : agx_cmd_dispatch(commands, &pair->general);
}

/* The same twice with a barrier each, into memory that was painted before. False: not here. */
static bool record(struct agx_command_buffer *commands, const struct pair *pair, bool is_fast,
                   uint8_t *out)
{
   const struct agx_chunk *chunk = commands->first;
   assert_ok(agx_command_buffer_begin(commands));
   memset(chunk->memory, PAINT, chunk->usable_B);
   for (unsigned i = 0; i < 2; i++) {
      agx_status status;
      if (!is_fast)
         assert_ok(record_general(commands, pair));
      else if (!agx_record_fast(commands, &pair->fast, pair->fast_draw, &status))
         return false;
      else
         assert_ok(status);
      assert_ok(agx_cmd_barrier(commands, NULL));
   }
   assert_ok(agx_command_buffer_end(commands));
   assert_ptr_equal(commands->first, chunk);
   assert_ptr_equal(commands->last, chunk);
   memcpy(out, chunk->memory, chunk->usable_B);
   return true;
}

static void compare_pair(struct pass *pass, const struct pair *pair, const char *kernel)
{
   static uint8_t fast[AGX_CHUNK_LARGE_B], general[AGX_CHUNK_LARGE_B];
   struct agx_command_buffer *commands = fixture_begin(&pass->fixture);
   const bool is_taken = record_general(commands, pair) == AGX_OK;
   assert_int_equal(agx_command_buffer_end(commands) == AGX_OK, is_taken);
   pass->refused += !is_taken;
   pass->kernels += is_taken;
   if (is_taken && record(commands, pair, true, fast)) {
      pass->fast++;
      assert_true(record(commands, pair, false, general));
      if (memcmp(fast, general, commands->first->usable_B) != 0)
         fail_msg("%s, robustness %u: the two ways write different things", kernel,
                  pass->robustness);
   }
   agx_release(commands);
}

/* The general path is that of dispatches that name their workgroups' size. */
static void compare(struct pass *pass, const struct agx_dispatch *dispatch, const char *kernel)
{
   const struct agx_program *program = dispatch->executable->program;
   struct pair pair = {.fast = *dispatch, .general = *dispatch};
   memcpy(pair.general.local_size, program->local_size, sizeof(program->local_size));
   compare_pair(pass, &pair, kernel);
}

static void take_kernel(void *user, unsigned tier, const char *kernel)
{
   struct pass *pass = user;
   struct corpus_job job = {.fixture = &pass->fixture};
   struct agx_binding bindings[AGX_MANIFEST_MAX_RESOURCES];
   corpus_load_manifest(&job, kernel);
   if (corpus_compile(&job, kernel, pass->robustness) != AGX_OK)
      return;
   corpus_prepare(&job);
   const struct agx_manifest *m = &job.manifest;
   struct agx_dispatch dispatch = {
      .size = sizeof(dispatch),
      .executable = job.executable,
      .workgroups = {m->workgroups[0], m->workgroups[1], m->workgroups[2]},
      .bindings = bindings,
      .binding_count = corpus_bindings(&job, bindings),
      .push = job.push,
      .push_B = m->push_B,
   };
   compare(pass, &dispatch, kernel);
   /* The whole of an image by number, which is the same; and its last level. */
   for (uint32_t last = 0; last < 2; last++) {
      for (uint32_t i = 0; i < dispatch.binding_count; i++)
         if (bindings[i].image) {
            bindings[i].first_level = last ? bindings[i].image->levels - 1 : 0;
            bindings[i].level_count = last ? 0 : bindings[i].image->levels;
            bindings[i].layer_count = last ? 0 : bindings[i].image->depth;
         }
      compare(pass, &dispatch, kernel);
   }
   /* More threads, for which unchecked variants may not do; then ranges that are too short. */
   dispatch.workgroups[0] *= 4096;
   compare(pass, &dispatch, kernel);
   for (uint32_t i = 0; i < dispatch.binding_count; i++)
      if (!bindings[i].image && job.sizes[i] >= 64)
         bindings[i].ref = (struct agx_buffer_ref){bindings[i].ref.buffer, 16, 20};
   compare(pass, &dispatch, kernel);
   /* Nothing at all, of which only the general path knows. */
   bindings[0].ref.buffer = NULL;
   bindings[0].image = NULL;
   compare(pass, &dispatch, kernel);
   corpus_release(&job);
   agx_release(job.executable);
}

static void both_ways_write_the_same(void **state)
{
   static const char *const devices[] = {"virtual:g13g", "virtual:g14d", "virtual:g13s"};
   for (uint32_t robustness = AGX_ROBUST_OFF; robustness <= AGX_ROBUST_ZERO; robustness++) {
      struct pass pass = {.robustness = robustness};
      fixture_open(&pass.fixture, devices[robustness]);
      corpus_for_each(take_kernel, &pass);
      print_message("%u dispatches, %u by the fast path; %u refused\n", pass.kernels, pass.fast,
                    pass.refused);
      /* All but those without a buffer, and those that are refused. */
      assert_true(pass.kernels > 100);
      assert_true(4 * pass.fast > 3 * pass.kernels - (robustness ? 54 : 0));
      fixture_close(&pass.fixture);
   }
}

/* ---- draws --------------------------------------------------------------- */

static struct agx_executable *load_stage(struct pass *pass)
{
   struct agx_executable_desc desc = {.size = sizeof(desc), .robustness = pass->robustness};
   struct agx_executable *executable;
   char *path = agx_test_path("kernels/vertex_default.spv");
   char *spirv = agx_test_read_file(path, &desc.data_B);
   desc.data = spirv;
   assert_ok(agx_executable_create(pass->fixture.device, &desc, &executable));
   free(spirv);
   free(path);
   return executable;
}

/* The general path is that of what binds more than is used. */
static void compare_draw(struct pass *pass, const struct agx_vertex_dispatch *draw)
{
   static const struct agx_binding more = {.set = 9};
   struct agx_vertex_dispatch general = *draw;
   general.binding_count = 1;
   general.bindings = &more;
   const struct agx_dispatch dispatch = {.size = sizeof(dispatch), .executable = draw->executable};
   struct pair pair = {dispatch, dispatch, draw, &general};
   pair.general.binding_count = 1;
   pair.general.bindings = &more;
   compare_pair(pass, &pair, "vertex_default");
}

static void draws_are_written_the_same(void **state)
{
   for (uint32_t robustness = AGX_ROBUST_OFF; robustness <= AGX_ROBUST_ZERO; robustness++) {
      struct pass pass = {.robustness = robustness};
      uint32_t *words;
      fixture_open(&pass.fixture, "virtual:g13g");
      struct agx_executable *stage = load_stage(&pass);
      struct agx_buffer *in = fixture_buffer(&pass.fixture, 4096, &words);
      struct agx_buffer *out = fixture_buffer(&pass.fixture, 4096, &words);
      struct agx_vertex_buffer buffers[] = {{1, {in, 0, 60}, 0}, {4, {in, 60, 20}, 0}};
      const struct agx_buffer_ref feedback = {out, 16, AGX_WHOLE_LENGTH};
      struct agx_vertex_dispatch draw = {.size = sizeof(draw),
                                         .executable = stage,
                                         .first = 1,
                                         .vertex_count = 3,
                                         .instance_count = 2,
                                         .draw_index = 7,
                                         .vertex_buffer_count = 2,
                                         .vertex_buffers = buffers,
                                         .feedback_count = 1,
                                         .feedback = &feedback};
      compare_draw(&pass, &draw);
      draw.vertex_count = 10;
      buffers[0].ref.length_B = buffers[0].offset_B = 24;
      compare_draw(&pass, &draw);
      assert_int_equal(pass.fast, pass.kernels);
      /* No buffer, and feedback that is too short. */
      buffers[0].ref.buffer = NULL;
      compare_draw(&pass, &draw);
      draw.vertex_count = 1000;
      compare_draw(&pass, &draw);
      assert_int_equal(pass.kernels, robustness ? 3 : 1);
      assert_int_equal(pass.refused, robustness ? 1 : 3);
      assert_int_equal(pass.fast, pass.kernels);
      agx_release(in);
      agx_release(out);
      agx_release(stage);
      fixture_close(&pass.fixture);
   }
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(both_ways_write_the_same),
      cmocka_unit_test(draws_are_written_the_same),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
