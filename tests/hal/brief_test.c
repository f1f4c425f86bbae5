/* SPDX-License-Identifier: MIT
 *
 * The short way of recording writes what the long one does, byte for byte: kernels of the corpus in
 * all robustness modes, over buffers as long as they need and too short, and over images.
 */
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "corpus_job.h"
#include "hal/record.h"

#define PAINT 0xa7

struct pass {
   struct fixture fixture;
   uint32_t robustness;
   unsigned kernels, brief, refused; /* of dispatches */
};

/* A dispatch, a barrier and the same again into memory that was painted before. False: not here. */
static bool record(struct agx_command_buffer *commands, const struct agx_dispatch *dispatch,
                   bool is_brief, uint8_t *out)
{
   const struct agx_chunk *chunk = commands->first;
   assert_ok(agx_command_buffer_begin(commands));
   memset(chunk->memory, PAINT, chunk->usable_B);
   for (unsigned i = 0; i < 2; i++) {
      agx_status status;
      if (!is_brief)
         assert_ok(agx_cmd_dispatch(commands, dispatch));
      else if (!agx_record_brief(commands, dispatch, &status))
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

/* The long way is that of dispatches that name their workgroups' size. */
static void compare(struct pass *pass, const struct agx_dispatch *dispatch, const char *kernel)
{
   static uint8_t brief[AGX_CHUNK_LARGE_B], lengthy[AGX_CHUNK_LARGE_B];
   const struct agx_program *program = dispatch->executable->program;
   struct agx_command_buffer *commands = fixture_begin(&pass->fixture);
   struct agx_dispatch other = *dispatch;
   memcpy(other.local_size, program->local_size, sizeof(other.local_size));
   const bool is_taken = agx_cmd_dispatch(commands, &other) == AGX_OK;
   assert_int_equal(agx_command_buffer_end(commands) == AGX_OK, is_taken);
   pass->refused += !is_taken;
   pass->kernels += is_taken;
   if (is_taken && record(commands, dispatch, true, brief)) {
      pass->brief++;
      assert_true(record(commands, &other, false, lengthy));
      if (memcmp(brief, lengthy, commands->first->usable_B) != 0)
         fail_msg("%s, robustness %u: the two ways write different things", kernel,
                  pass->robustness);
   }
   agx_release(commands);
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
   /* More threads, for which twins may not do; then ranges that are too short. */
   dispatch.workgroups[0] *= 4096;
   compare(pass, &dispatch, kernel);
   for (uint32_t i = 0; i < dispatch.binding_count; i++)
      if (!bindings[i].image && job.sizes[i] >= 64)
         bindings[i].ref = (struct agx_buffer_ref){bindings[i].ref.buffer, 16, 20};
   compare(pass, &dispatch, kernel);
   /* Nothing at all, of which only the long way knows. */
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
      print_message("%u dispatches, %u briefly; %u refused\n", pass.kernels, pass.brief,
                    pass.refused);
      /* All but those without a buffer, and those that are refused. */
      assert_true(pass.kernels > 100);
      assert_true(4 * pass.brief > 3 * pass.kernels - (robustness ? 54 : 0));
      fixture_close(&pass.fixture);
   }
}

int main(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(both_ways_write_the_same),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
