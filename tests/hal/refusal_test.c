/* SPDX-License-Identifier: MIT
 *
 * What a refusal says: the object, the value, the limit, and what to do; one case for each mistake
 * that an application can make in a dispatch, an image copy, a sampler or a wait.
 */
#include "fixture.h"

#include <string.h>

#include "base/clock.h"
#include "base/util.h"

/* All of it stands in the thread's error text. */
static void assert_tells(const char *const *parts)
{
   char text[512];
   agx_error_text(text, sizeof(text));
   for (; *parts; parts++)
      if (!strstr(text, *parts))
         fail_msg("\"%s\" does not say \"%s\"", text, *parts);
}

/* ---- dispatches ---------------------------------------------------------------- */

#define X(...)                                                                                     \
   {                                                                                               \
      .binding = 0, .ref = { __VA_ARGS__ }                                                         \
   }
#define Y(...)                                                                                     \
   {                                                                                               \
      .binding = 1, .ref = { __VA_ARGS__ }                                                         \
   }

struct dispatch_case {
   struct agx_binding bindings[3];
   uint32_t binding_count, push_B, workgroups;
   bool has_no_push;
   agx_status status;
   const char *parts[5];
};

static void try_dispatch(struct fixture *f, struct agx_executable *executable,
                         const struct dispatch_case *it)
{
   static const uint32_t push[64];
   const struct agx_dispatch dispatch = {.size = sizeof(dispatch),
                                         .executable = executable,
                                         .workgroups = {it->workgroups, 1, 1},
                                         .bindings = it->bindings,
                                         .binding_count = it->binding_count,
                                         .push = it->has_no_push ? NULL : push,
                                         .push_B = it->push_B};
   struct agx_command_buffer *commands = fixture_begin(f);
   assert_int_equal(agx_cmd_dispatch(commands, &dispatch), it->status);
   assert_tells(it->parts);
   /* The call that ends the recording says it again, also behind other failures. */
   assert_fails(agx_cmd_dispatch(commands, NULL), AGX_INVALID_ARGUMENT, "NULL");
   assert_int_equal(agx_command_buffer_end(commands), it->status);
   assert_tells(it->parts);
   agx_release(commands);
}

static void dispatches_tell_what_is_wrong(void **state)
{
   struct fixture f;
   uint32_t *words;
   fixture_open(&f, "virtual");
   struct agx_executable *add = fixture_kernel(&f, &agx_test_add);
   const struct agx_buffer_desc desc = {
      .size = sizeof(desc), .size_B = 256, .label = "the target", .usage = AGX_USAGE_DISPATCH};
   struct agx_buffer *x = fixture_buffer(&f, 256, &words), *y;
   assert_ok(agx_buffer_create(f.device, &desc, &y));
   const struct dispatch_case cases[] = {
      {{X(x, 0, 128), Y(y, 3, AGX_WHOLE_LENGTH)},
       2,
       4,
       1,
       false,
       AGX_INVALID_ARGUMENT,
       {"add: set 0 binding 1: ", "offset 3", "the target", "no multiple of 4"}},
      {{X(x, 0, 128), Y(y, 260, AGX_WHOLE_LENGTH)},
       2,
       4,
       1,
       false,
       AGX_OUT_OF_RANGE,
       {"offset 260 in buffer the target of 256 bytes"}},
      {{X(x, 0, 128), Y(y, 252, 8)},
       2,
       4,
       1,
       false,
       AGX_OUT_OF_RANGE,
       {"offset 252, length 8 in buffer the target of 256 bytes"}},
      {{X(x, 0, 128), Y(y, 0, 128)},
       2,
       8,
       1,
       true,
       AGX_INVALID_ARGUMENT,
       {"add: 8 bytes of push constants at NULL"}},
      {{X(x, 0, 128), Y(y, 0, 128)},
       2,
       4,
       UINT32_MAX,
       false,
       AGX_OUT_OF_RANGE,
       {"4294967295 workgroups of 32 threads in dimension 0", "2147483647 workgroups",
        "2^32-1 threads"}},
      {{X(x, 0, 128), Y(y, 0, 128), X(x, 4, 128)},
       3,
       4,
       1,
       false,
       AGX_INVALID_ARGUMENT,
       {"set 0 binding 0 element 0 is given twice, as bindings[0] and bindings[2]"}},
      {{X(x, 0, 128), Y(y, 0, 128), Y(y, 0, 128)},
       3,
       4,
       0, /* also where nothing runs */
       false,
       AGX_INVALID_ARGUMENT,
       {"set 0 binding 1 element 0 is given twice, as bindings[1] and bindings[2]"}},
      {{X(x, 0, 128), Y(y, 0, 128), {.binding = 7, .ref = {y, 0, 128}}},
       3,
       4,
       1,
       false,
       AGX_INVALID_ARGUMENT,
       {"dispatch of add: bindings[2]: its module declares no set 0 binding 7"}},
   };
   for (size_t i = 0; i < AGX_COUNT(cases); i++)
      try_dispatch(&f, add, &cases[i]);
   agx_release(x);
   agx_release(y);
   agx_release(add);
   fixture_close(&f);
}

/* ---- images ---------------------------------------------------------------------- */

static void image_copies_tell_what_is_wrong(void **state)
{
   struct fixture f;
   uint8_t texels[8 * 8 * 2 * 4];
   struct agx_image *image;
   const struct agx_image_desc desc = {.size = sizeof(desc),
                                       .type = AGX_IMAGE_2D,
                                       .format = "rgba8",
                                       .width = 8,
                                       .height = 8,
                                       .depth = 2,
                                       .label = "the map"};
   const struct {
      struct agx_image_region region;
      uint64_t row_B, slice_B;
      void *texels;
      agx_status status;
      const char *parts[4];
   } cases[] = {
      {{0, 0, 0, 0, 9, 8, 1},
       0,
       0,
       texels,
       AGX_OUT_OF_RANGE,
       {"the map: image copy of 9 x 8 x 1 texels at 0, 0, 0; level 0 has 8 x 8 x 2"}},
      {{0, 0, 0, 0, 8, 8, 0}, 0, 0, texels, AGX_INVALID_ARGUMENT, {"8 x 8 x 0", "at least 1"}},
      {{0, 0, 0, 0, 0, 8, 1}, 0, 0, texels, AGX_INVALID_ARGUMENT, {"0 x 8 x 1", "at least 1"}},
      {{0, 0, 0, 0, 8, 8, 1},
       8,
       0,
       texels,
       AGX_INVALID_ARGUMENT,
       {"the map: image copy with row_B 8; a row of 8 texels has 32 bytes"}},
      {{0, 0, 0, 0, 8, 8, 2},
       32,
       128,
       texels,
       AGX_INVALID_ARGUMENT,
       {"the map: image copy with slice_B 128", "has 256 bytes"}},
      {{0, 0, 0, 0, 8, 8, 1}, 0, 0, NULL, AGX_INVALID_ARGUMENT, {"the map", "at NULL"}},
      {{1, 0, 0, 0, 4, 4, 1}, 0, 0, texels, AGX_OUT_OF_RANGE, {"level 1; it has 1"}},
   };
   fixture_open(&f, "virtual");
   assert_ok(agx_image_create(f.device, &desc, &image));
   for (size_t i = 0; i < AGX_COUNT(cases); i++) {
      assert_int_equal(agx_image_write(image, &cases[i].region, cases[i].texels, cases[i].row_B,
                                       cases[i].slice_B),
                       cases[i].status);
      assert_tells(cases[i].parts);
   }
   agx_release(image);
   fixture_close(&f);
}

static void a_sampler_tells_the_field(void **state)
{
   struct fixture f;
   struct agx_sampler *sampler;
   const struct {
      struct agx_sampler_desc desc;
      const char *text;
   } cases[] = {
      {{.minify = 2}, "sampler: minify is 2; the last is AGX_FILTER_LINEAR, 1"},
      {{.wrap = {0, 0, 5}}, "sampler: wrap[2] is 5; the last is AGX_WRAP_MIRROR_ONCE, 4"},
      {{.compare = 9}, "sampler: compare is 9"},
      {{.max_anisotropy = 3}, "sampler: max_anisotropy is 3; it takes 0, 1, 2, 4, 8 or 16"},
      {{.min_lod = -1}, "sampler: min_lod is -1; it must be 0 or more"},
   };
   fixture_open(&f, "virtual");
   for (size_t i = 0; i < AGX_COUNT(cases); i++) {
      struct agx_sampler_desc desc = cases[i].desc;
      desc.size = sizeof(desc);
      assert_fails(agx_sampler_create(f.device, &desc, &sampler), AGX_INVALID_ARGUMENT,
                   cases[i].text);
      assert_null(sampler);
   }
   fixture_close(&f);
}

/* ---- waits ----------------------------------------------------------------------- */

static void a_wait_tells_of_a_deadline_in_the_past(void **state)
{
   struct fixture f;
   char text[512];
   fixture_open(&f, "virtual");
   struct agx_semaphore *semaphore = fixture_semaphore(&f);
   const struct agx_point point = {semaphore, 9};
   assert_ok(agx_semaphore_signal(semaphore, 5));
   assert_fails(agx_semaphore_wait(&point, 1, false, agx_now_ns() - 2000000000),
                AGX_DEADLINE_EXCEEDED, "CLOCK_MONOTONIC, was 2.0");
   assert_fails(agx_semaphore_wait(&point, 1, false, agx_now_ns() - 1), AGX_DEADLINE_EXCEEDED,
                "semaphore at 5, waited for 9");
   assert_fails(agx_semaphore_wait(&point, 1, false, 0), AGX_DEADLINE_EXCEEDED, "semaphore at 5");
   agx_error_text(text, sizeof(text));
   assert_null(strstr(text, "deadline")); /* a question, not a mistake */
   assert_fails(agx_semaphore_wait(&point, 1, false, agx_now_ns() + 1000000), AGX_DEADLINE_EXCEEDED,
                "semaphore at 5");
   agx_error_text(text, sizeof(text));
   assert_null(strstr(text, "deadline"));
   agx_release(semaphore);
   fixture_close(&f);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(dispatches_tell_what_is_wrong),
      cmocka_unit_test(image_copies_tell_what_is_wrong),
      cmocka_unit_test(a_sampler_tells_the_field),
      cmocka_unit_test(a_wait_tells_of_a_deadline_in_the_past),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
