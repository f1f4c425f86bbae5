/* SPDX-License-Identifier: MIT
 *
 * The corpus through every layer: SPIR-V, compiler, HAL, stream, virtual kernel, simulator.
 * Tier 1 must match its references; what lies beyond must match too, or be refused with the
 * name of what is missing. Runs strict and checked: a stray access, or a
 * result read without a wait, or an access outside of what is bound, fails the dispatch.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "base/util.h"
#include "corpus_job.h"

static void compare(const struct corpus_job *job, const char *kernel)
{
   for (uint32_t i = 0; i < job->manifest.resource_count; i++) {
      const struct agx_manifest_resource *resource = &job->manifest.resources[i];
      if (!resource->is_output)
         continue;
      char text[256];
      size_t size;
      char *path = corpus_path("corpus/ref/%s.%u.bin", kernel, resource->id);
      char *reference = agx_test_read_file(path, &size);
      assert_int_equal(size, job->sizes[i]);
      if (!agx_manifest_compare(&job->manifest, job->memory[i], reference, size, text,
                                sizeof(text)))
         fail_msg("%s: output %u: %s", kernel, resource->id, text);
      free(reference);
      free(path);
   }
}

struct pass {
   struct fixture fixture;
   uint32_t robustness, flags;
   unsigned ran[4], listed[4]; /* by tier */
};

/* Returns whether the kernel ran; if not, a capability was named. */
static bool run_kernel(struct pass *pass, const char *kernel)
{
   struct corpus_job job = {.fixture = &pass->fixture, .flags = pass->flags};
   corpus_load_manifest(&job, kernel);
   agx_status status = corpus_compile(&job, kernel, pass->robustness);
   if (status != AGX_OK) {
      if (status != AGX_UNIMPLEMENTED)
         fail_msg("%s: %s (%s)", kernel, agx_error_peek(), agx_status_name(status));
      return false;
   }
   corpus_prepare(&job);
   assert_ok(corpus_run(&job));
   compare(&job, kernel);
   corpus_release(&job);
   agx_release(job.executable);
   return true;
}

static void take_kernel(void *user, unsigned tier, const char *kernel)
{
   struct pass *pass = user;
   bool done = run_kernel(pass, kernel);
   if (tier == 1 && !done && !pass->flags)
      fail_msg("%s: tier 1, but %s", kernel, agx_error_peek());
   pass->listed[tier]++;
   pass->ran[tier] += done;
}

static struct pass run_corpus(const char *device, const char *debug, uint32_t robustness,
                              uint32_t flags)
{
   struct pass pass = {.robustness = robustness, .flags = flags};
   setenv("AGX_VIRTUAL_STRICT", "1", 1);
   setenv("AGX_VIRTUAL_CHECK", "1", 1);
   setenv("AGX_DEBUG", debug, 1);
   fixture_open(&pass.fixture, device);
   corpus_for_each(take_kernel, &pass);
   print_message("tier 1: %u of %u, tier 2: %u of %u, tier 3: %u of %u\n", pass.ran[1],
                 pass.listed[1], pass.ran[2], pass.listed[2], pass.ran[3], pass.listed[3]);
   assert_int_equal(pass.listed[1] + pass.listed[2] + pass.listed[3], 54);
   fixture_close(&pass.fixture);
   unsetenv("AGX_VIRTUAL_STRICT");
   unsetenv("AGX_VIRTUAL_CHECK");
   unsetenv("AGX_DEBUG");
   return pass;
}

static void every_kernel_matches_or_is_refused_by_name(void **state)
{
   run_corpus("virtual", "validate,bounds", AGX_ROBUST_OFF, 0);
}

static void without_optimisation_too(void **state)
{
   run_corpus("virtual:g14s", "noopt,validate,bounds", AGX_ROBUST_OFF, 0);
}

static void robust_code_computes_the_same(void **state)
{
   run_corpus("virtual:g13s", "bounds", AGX_ROBUST_CLAMP, 0);
   run_corpus("virtual:g13s", "bounds", AGX_ROBUST_ZERO, 0);
}

/* Even where nothing needs them. */
static void checks_let_the_same_be_computed(void **state)
{
   run_corpus("virtual:g13g", "bounds,checked", AGX_ROBUST_CLAMP, 0);
   run_corpus("virtual:g13g", "bounds,checked", AGX_ROBUST_ZERO, 0);
}

/* The same results from code that takes no size for known. One kernel has an array as long as its
 * workgroup. */
static void no_size_is_taken_for_known(void **state)
{
   for (uint32_t robustness = AGX_ROBUST_OFF; robustness <= AGX_ROBUST_ZERO; robustness += 2) {
      struct pass pass =
         run_corpus("virtual", "validate,bounds", robustness, AGX_EXECUTABLE_DYNAMIC_LOCAL_SIZE);
      assert_true(pass.ran[1] + pass.ran[2] + pass.ran[3] >= 53);
   }
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_kernel_matches_or_is_refused_by_name),
      cmocka_unit_test(without_optimisation_too),
      cmocka_unit_test(robust_code_computes_the_same),
      cmocka_unit_test(checks_let_the_same_be_computed),
      cmocka_unit_test(no_size_is_taken_for_known),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
