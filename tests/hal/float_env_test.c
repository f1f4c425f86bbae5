/* SPDX-License-Identifier: MIT
 *
 * Programs change their floating-point environment. The corpus, compiled and executed by a device
 * that was opened by a thread that rounds otherwise, gives the same bytes as with the default
 * environment, and the thread still rounds as it did. Functions that only check and refuse raise no
 * flag, nor the trap behind it, of a thread that lets floats trap.
 */
#include <fenv.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "corpus_job.h"

#define MOST_OUTPUTS 4096

struct outputs {
   int rounding; /* while the library is called */
   struct fixture fixture;
   uint32_t count;
   uint64_t sums[MOST_OUTPUTS];
};

static uint64_t sum_of(const uint8_t *bytes, uint64_t size)
{
   uint64_t sum = 0xcbf29ce484222325;
   for (uint64_t i = 0; i < size; i++)
      sum = (sum ^ bytes[i]) * 0x100000001b3;
   return sum;
}

static void run_kernel(void *user, unsigned tier, const char *kernel)
{
   struct outputs *outputs = user;
   struct corpus_job job = {.fixture = &outputs->fixture};
   if (tier != 1)
      return;
   corpus_load_manifest(&job, kernel);
   fesetround(outputs->rounding);
   assert_ok(corpus_compile(&job, kernel, AGX_ROBUST_OFF));
   fesetround(FE_TONEAREST); /* for the inputs */
   corpus_prepare(&job);
   fesetround(outputs->rounding);
   assert_ok(corpus_run(&job));
   assert_int_equal(fegetround(), outputs->rounding);
   fesetround(FE_TONEAREST);
   for (uint32_t i = 0; i < job.manifest.resource_count; i++) {
      assert_true(outputs->count < MOST_OUTPUTS);
      if (job.manifest.resources[i].is_output)
         outputs->sums[outputs->count++] = sum_of((uint8_t *)job.memory[i], job.sizes[i]);
   }
   corpus_release(&job);
   agx_release(job.executable);
}

static void run_all(struct outputs *outputs)
{
   fesetround(outputs->rounding); /* the device's threads are started here */
   fixture_open(&outputs->fixture, "virtual:g13g");
   fesetround(FE_TONEAREST);
   corpus_for_each(run_kernel, outputs);
   fixture_close(&outputs->fixture);
}

static void results_do_not_depend_on_the_callers_environment(void **state)
{
   static const int roundings[] = {FE_UPWARD, FE_TOWARDZERO};
   static struct outputs plain = {.rounding = FE_TONEAREST};
   run_all(&plain);
   assert_true(plain.count > 20);
   for (size_t i = 0; i < AGX_COUNT(roundings); i++) {
      static struct outputs changed;
      changed.rounding = roundings[i];
      changed.count = 0;
      run_all(&changed);
      assert_int_equal(changed.count, plain.count);
      assert_memory_equal(changed.sums, plain.sums, plain.count * sizeof(plain.sums[0]));
   }
}

static void refuse_everything(struct fixture *f)
{
   struct agx_sampler *sampler;
   struct agx_sampler_desc desc = {.size = sizeof(desc), .min_lod = -1.3f};
   struct agx_semaphore *semaphore = fixture_semaphore(f);
   const struct agx_point point = {semaphore, 1};
   assert_int_equal(agx_sampler_create(f->device, &desc, &sampler), AGX_INVALID_ARGUMENT);
   desc.min_lod = NAN;
   assert_int_equal(agx_sampler_create(f->device, &desc, &sampler), AGX_INVALID_ARGUMENT);
   desc = (struct agx_sampler_desc){.size = sizeof(desc), .max_lod = NAN};
   assert_int_equal(agx_sampler_create(f->device, &desc, &sampler), AGX_INVALID_ARGUMENT);
   assert_int_equal(agx_semaphore_wait(&point, 1, false, 12345), AGX_DEADLINE_EXCEEDED);
   agx_release(semaphore);
}

static void refusals_raise_nothing(void **state)
{
   struct fixture f;
   fenv_t before;
   fixture_open(&f, "virtual:g13g");
   fegetenv(&before);
   feclearexcept(FE_ALL_EXCEPT);
   refuse_everything(&f);
   assert_int_equal(fetestexcept(FE_ALL_EXCEPT), 0);
#ifdef __GLIBC__
   feenableexcept(FE_ALL_EXCEPT); /* where the processor can, SIGFPE would end this */
   refuse_everything(&f);
#endif
   fesetenv(&before);
   fixture_close(&f);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(refusals_raise_nothing),
      cmocka_unit_test(results_do_not_depend_on_the_callers_environment),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
