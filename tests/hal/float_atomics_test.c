/* SPDX-License-Identifier: MIT
 *
 * Atomics on floats through all layers (tests/kernels/float_atomics.comp): threads of several
 * workgroups contend for few words. Sums are of small integers, so that no order changes them; what
 * the threads found before is checked too, for each came once.
 */
#include "fixture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

#define THREADS 512u
#define GROUP   64u
#define PLACES  8u

/* Rows of PLACES words each. */
enum {
   SUMS,
   LEAST,
   MOST,
   EXCHANGED,
   OF_GROUPS,
   ROWS
};

struct request {
   uint32_t what, place; /* what: 0 adds, 1 exchanges */
   float f, g;
};

struct scene {
   struct fixture f;
   struct agx_buffer *buffers[4];
   uint32_t *memory[4]; /* requests, near words, what was found, words behind an address */
};

static float float_of(uint32_t bits)
{
   float f;
   memcpy(&f, &bits, sizeof(f));
   return f;
}

/* By the order of the number line, on which -0 comes before 0. */
static bool is_less(float a, float b)
{
   return a < b || (a == b && signbit(a) && !signbit(b));
}

static float special(struct agx_test_rng *rng)
{
   static const uint32_t bits[] = {0,          0x80000000, 1,          0x80000001, 0x007fffff,
                                   0x807fffff, 0x7f800000, 0xff800000, 0x7f7fffff, 0x3f800000,
                                   0xbf800000, 0x7fc00000, 0xffc00000, 0x7f800001};
   if (agx_test_random_below(rng, 3) == 0)
      return float_of((uint32_t)agx_test_random(rng));
   return float_of(bits[agx_test_random_below(rng, AGX_COUNT(bits))]);
}

static void make_requests(struct scene *s, struct agx_test_rng *rng, uint32_t places)
{
   struct request *requests = (void *)s->memory[0];
   for (uint32_t i = 0; i < THREADS; i++)
      requests[i] = (struct request){
         .what = (uint32_t)agx_test_random_below(rng, 3) == 0,
         .place = (uint32_t)agx_test_random_below(rng, places),
         .f = (float)(1 + agx_test_random_below(rng, 50)),
         .g = special(rng),
      };
   for (uint32_t k = 1; k < 4; k += 2)
      for (uint32_t i = 0; i < ROWS * PLACES; i++) {
         float start = i / PLACES == LEAST ? INFINITY : i / PLACES == MOST ? -INFINITY : 0;
         memcpy(&s->memory[k][i], &start, sizeof(start));
      }
   memset(s->memory[2], 0, THREADS * 3 * 4);
}

static void run(struct scene *s)
{
   struct agx_executable_desc desc = {.size = sizeof(desc)};
   struct agx_buffer_info info = {.size = sizeof(info)};
   struct agx_executable *executable;
   char *path = agx_test_path("kernels/float_atomics.spv");
   char *spirv = agx_test_read_file(path, &desc.data_B);
   desc.data = spirv;
   assert_ok(agx_executable_create(s->f.device, &desc, &executable));
   agx_buffer_get_info(s->buffers[3], &info);
   struct agx_command_buffer *commands = fixture_begin(&s->f);
   struct agx_semaphore *done = fixture_semaphore(&s->f);
   fixture_dispatch(commands, executable, THREADS / GROUP, s->buffers, 3, &info.address, 8);
   assert_ok(agx_command_buffer_end(commands));
   assert_ok(fixture_submit(&s->f, commands, NO_POINT, (struct agx_point){done, 1}));
   assert_ok(fixture_wait(done, 1));
   agx_release(commands);
   agx_release(done);
   agx_release(executable);
   free(spirv);
   free(path);
}

static void check_limits(const struct scene *s, uint32_t place)
{
   const struct request *requests = (const void *)s->memory[0];
   float least = INFINITY, most = -INFINITY;
   for (uint32_t i = 0; i < THREADS; i++) {
      if (requests[i].place != place || isnan(requests[i].g))
         continue;
      least = is_less(requests[i].g, least) ? requests[i].g : least;
      most = is_less(most, requests[i].g) ? requests[i].g : most;
   }
   for (uint32_t k = 1; k < 4; k += 2) {
      assert_memory_equal(&s->memory[k][LEAST * PLACES + place], &least, 4);
      assert_memory_equal(&s->memory[k][MOST * PLACES + place], &most, 4);
   }
}

/* Found values, in order, step by what was added where each found the sum. */
static void check_found(const struct scene *s, uint32_t place, uint32_t which, uint32_t group)
{
   const struct request *requests = (const void *)s->memory[0];
   static bool seen[THREADS * 50];
   memset(seen, 0, sizeof(seen));
   uint32_t sum = 0, at = 0, steps = 0, count = 0;
   for (uint32_t i = 0; i < THREADS; i++)
      if (requests[i].place == place && requests[i].what == 0 &&
          (group == UINT32_MAX || i / GROUP == group)) {
         uint32_t found = (uint32_t)float_of(s->memory[2][3 * i + which]);
         assert_true(found < AGX_COUNT(seen) && !seen[found]);
         seen[found] = true;
         sum += (uint32_t)requests[i].f;
         count++;
      }
   while (at < sum && steps <= count) {
      uint32_t next = UINT32_MAX;
      for (uint32_t i = 0; i < THREADS; i++)
         if (requests[i].place == place && requests[i].what == 0 &&
             (group == UINT32_MAX || i / GROUP == group) &&
             (uint32_t)float_of(s->memory[2][3 * i + which]) == at)
            next = at + (uint32_t)requests[i].f;
      assert_true(next != UINT32_MAX);
      at = next;
      steps++;
   }
   assert_int_equal(steps, count);
   if (group == UINT32_MAX)
      assert_true(float_of(s->memory[which ? 3 : 1][place]) == (float)sum);
}

/* What was exchanged: all that came, and the start, are what was found and what stands there. */
static void check_exchanged(const struct scene *s, uint32_t place, float *in_groups)
{
   const struct request *requests = (const void *)s->memory[0];
   double in = 0, out = float_of(s->memory[1][EXCHANGED * PLACES + place]);
   *in_groups = 0;
   for (uint32_t i = 0; i < THREADS; i++)
      if (requests[i].place == place) {
         in += requests[i].what == 1 ? requests[i].f : 0;
         out += requests[i].what == 1 ? float_of(s->memory[2][3 * i]) : 0;
         *in_groups += requests[i].what == 0 ? requests[i].f : 0;
      }
   assert_true(in == out);
}

static void floats_are_counted(void **state)
{
   static const char *const modes[] = {"validate", "noopt,validate"};
   struct scene s;
   struct agx_test_rng rng = {0xf10a7};
   setenv("AGX_VIRTUAL_CHECK", "1", 1);
   for (uint32_t mode = 0; mode < 2; mode++) {
      setenv("AGX_DEBUG", modes[mode], 1);
      fixture_open(&s.f, "virtual");
      const uint32_t sizes_B[] = {THREADS * 16, ROWS * PLACES * 4, THREADS * 12, ROWS * PLACES * 4};
      for (uint32_t k = 0; k < 4; k++)
         s.buffers[k] = fixture_buffer(&s.f, sizes_B[k], &s.memory[k]);
      for (uint32_t places = 1; places <= PLACES; places += PLACES - 1) {
         make_requests(&s, &rng, places);
         run(&s);
         for (uint32_t place = 0; place < places; place++) {
            float in_groups;
            check_limits(&s, place);
            check_found(&s, place, 0, UINT32_MAX);
            check_found(&s, place, 1, UINT32_MAX);
            for (uint32_t group = 0; group < THREADS / GROUP; group++)
               check_found(&s, place, 2, group);
            check_exchanged(&s, place, &in_groups);
            assert_true(float_of(s.memory[1][OF_GROUPS * PLACES + place]) == in_groups);
         }
      }
      for (uint32_t k = 0; k < 4; k++)
         agx_release(s.buffers[k]);
      fixture_close(&s.f);
   }
   unsetenv("AGX_VIRTUAL_CHECK");
   unsetenv("AGX_DEBUG");
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(floats_are_counted),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
