/* SPDX-License-Identifier: MIT
 *
 * Kernels that take more samplers than there are state registers: arrays that code indexes, long
 * ones and those without a length, and many by constant index. The device's heap holds them; how
 * many different ones it takes, and that slots are used again.
 */
#include "image_launch.h"

#include <stdlib.h>

#include "base/util.h"

/* At x = 1.3125 and y = 0.0625 of an image with 8 columns, by what is outside of it. */
#define COLUMN 10
static const struct {
   uint32_t wrap, border;
   int column; /* that is seen; -1: the border */
   float value;
} kinds[] = {
   {AGX_WRAP_EDGE, AGX_BORDER_TRANSPARENT_BLACK, 7, 0},
   {AGX_WRAP_BORDER, AGX_BORDER_OPAQUE_WHITE, -1, 1},
   {AGX_WRAP_REPEAT, AGX_BORDER_TRANSPARENT_BLACK, COLUMN - 8, 0},
   {AGX_WRAP_MIRROR, AGX_BORDER_TRANSPARENT_BLACK, 15 - COLUMN, 0},
   {AGX_WRAP_BORDER, AGX_BORDER_TRANSPARENT_BLACK, -1, 0},
};

static struct agx_sampler *make_kind(const struct image_launch *it, uint32_t kind)
{
   const uint32_t wrap = kinds[kind].wrap;
   const struct agx_sampler_desc desc = {
      .size = sizeof(desc), .wrap = {wrap, wrap, wrap}, .border = kinds[kind].border};
   struct agx_sampler *sampler;
   assert_ok(agx_sampler_create(it->fixture.device, &desc, &sampler));
   return sampler;
}

static float expect(uint32_t kind)
{
   return kinds[kind].column < 0 ? kinds[kind].value : image_number(kinds[kind].column, 0, 0, 0, 0);
}

/* Which kind the element of a binding is, different for each binding. */
static uint32_t kind_of(uint32_t binding, uint32_t element)
{
   return (binding + element * 3 + element / 7) % AGX_COUNT(kinds);
}

/* ---- what is bound ------------------------------------------------------- */

#define MOST 2048

struct scene {
   struct image_launch *it;
   struct agx_image *image;
   struct agx_binding bindings[MOST];
   uint32_t count;
   float *results;
   struct agx_buffer *buffer;
   struct agx_executable *executable;
};

static struct scene *scene_open(struct image_launch *it, const char *kernel, uint32_t robustness)
{
   static struct scene s;
   s = (struct scene){.it = it};
   struct agx_executable_desc desc = {.size = sizeof(desc), .robustness = robustness};
   uint32_t *memory;
   char *path = agx_test_path(kernel);
   char *spirv = agx_test_read_file(path, &desc.data_B);
   desc.data = spirv;
   assert_ok(agx_executable_create(it->fixture.device, &desc, &s.executable));
   free(spirv);
   free(path);
   s.image = image_make(
      it, (struct agx_image_desc){.type = AGX_IMAGE_2D, .format = "r32f", .width = 8, .height = 8});
   image_fill(s.image, image_number);
   s.buffer = fixture_buffer(&it->fixture, (uint64_t)MOST * 128, &memory);
   s.results = (float *)memory;
   return &s;
}

static void bind(struct scene *s, struct agx_binding binding)
{
   assert_true(s->count < MOST);
   s->bindings[s->count++] = binding;
}

static void bind_kinds(struct scene *s, uint32_t binding, uint32_t count, bool with_image)
{
   for (uint32_t e = 0; e < count; e++)
      bind(s, (struct agx_binding){.binding = binding,
                                   .element = e,
                                   .image = with_image ? s->image : NULL,
                                   .sampler = make_kind(s->it, kind_of(binding, e))});
}

static agx_status dispatch(const struct scene *s, uint32_t workgroups)
{
   static const float at[2] = {1.3125f, 0.0625f};
   struct fixture *fixture = &s->it->fixture;
   const struct agx_dispatch dispatch = {
      .size = sizeof(dispatch),
      .executable = s->executable,
      .workgroups = {workgroups, 1, 1},
      .bindings = s->bindings,
      .binding_count = s->count,
      .push = at,
      .push_B = sizeof(at),
   };
   struct agx_command_buffer *commands = fixture_begin(fixture);
   agx_status status = agx_cmd_dispatch(commands, &dispatch);
   if (status == AGX_OK) {
      struct agx_semaphore *done = fixture_semaphore(fixture);
      assert_ok(agx_command_buffer_end(commands));
      assert_ok(fixture_submit(fixture, commands, NO_POINT, (struct agx_point){done, 1}));
      assert_ok(fixture_wait(done, 1));
      agx_release(done);
   }
   agx_release(commands);
   return status;
}

static void scene_close(struct scene *s)
{
   for (uint32_t i = 0; i < s->count; i++)
      agx_release(s->bindings[i].sampler);
   agx_release(s->image);
   agx_release(s->buffer);
   agx_release(s->executable);
}

/* ---- right samplers ------------------------------------------------------ */

static void check_row(const float *row, uint32_t i)
{
   const uint32_t want[] = {
      kind_of(1, i % 5), kind_of(2, i % 40), kind_of(3, i % 7),  kind_of(1, 2),
      kind_of(2, 39),    kind_of(3, 6),      kind_of(5, i % 18),
   };
   for (uint32_t k = 0; k < AGX_COUNT(want); k++)
      if (row[k] != expect(want[k]))
         fail_msg("result %u of thread %u: %g, want %g", k, i, (double)row[k],
                  (double)expect(want[k]));
   assert_true(row[7] == 0.0f); /* a fetch outside */
   assert_true(row[8] == (i < 64 ? image_number((int)i % 8, (int)i / 8, 0, 0, 0) : 0.0f));
   for (uint32_t e = 0; e < 20; e++)
      if (row[9 + e] != expect(kind_of(4, e)))
         fail_msg("element %u: %g, want %g", e, (double)row[9 + e], (double)expect(kind_of(4, e)));
}

static void check_heap(struct image_launch *it, uint32_t robustness)
{
   struct scene *s = scene_open(it, "kernels/image_sampler_heap.spv", robustness);
   bind(s, (struct agx_binding){.binding = 0, .image = s->image});
   bind_kinds(s, 1, 5, false);
   bind_kinds(s, 2, 40, false);
   bind_kinds(s, 3, 7, false);
   bind_kinds(s, 4, 20, true);
   bind_kinds(s, 5, 18, true);
   bind(s, (struct agx_binding){.binding = 6, .ref = {s->buffer, 0, AGX_WHOLE_LENGTH}});
   assert_ok(dispatch(s, 4));
   for (uint32_t i = 0; i < 128; i++)
      check_row(s->results + (size_t)32 * i, i);
   scene_close(s);
}

static void each_sampler_is_the_right_one(void **state)
{
   check_heap(*state, AGX_ROBUST_OFF);
   check_heap(*state, AGX_ROBUST_CLAMP);
   check_heap(*state, AGX_ROBUST_ZERO);
}

static void constant_and_computed_indices_mix(void **state)
{
   struct scene *s = scene_open(*state, "kernels/image_sampler_mixed.spv", AGX_ROBUST_OFF);
   bind(s, (struct agx_binding){.binding = 0, .image = s->image});
   bind_kinds(s, 1, 4, false);
   bind(s, (struct agx_binding){.binding = 2, .ref = {s->buffer, 0, AGX_WHOLE_LENGTH}});
   assert_ok(dispatch(s, 1));
   for (uint32_t i = 0; i < 32; i++) {
      assert_true(s->results[2 * i] == expect(kind_of(1, 2)));
      assert_true(s->results[2 * i + 1] == expect(kind_of(1, i % 4)));
   }
   scene_close(s);
}

/* ---- how many ------------------------------------------------------------ */

/* They differ in the least level, of which there are 14 * 64 from 0 on, and in their wrap mode. */
static struct agx_sampler *make_different(const struct image_launch *it, uint32_t i)
{
   const uint32_t wrap = i >= 800 ? AGX_WRAP_MIRROR : AGX_WRAP_REPEAT;
   const struct agx_sampler_desc desc = {
      .size = sizeof(desc), .wrap = {wrap, wrap, wrap}, .min_lod = (float)(i % 800) / 64};
   struct agx_sampler *sampler;
   assert_ok(agx_sampler_create(it->fixture.device, &desc, &sampler));
   return sampler;
}

#define LIMIT ((uint32_t)AGX_MAX_HEAP_SAMPLERS)

static void as_many_as_the_limit_says(void **state)
{
   struct image_launch *it = *state;
   struct scene *s = scene_open(it, "kernels/image_samplers.spv", AGX_ROBUST_CLAMP);
   bind(s, (struct agx_binding){.binding = 0, .image = s->image});
   bind(s, (struct agx_binding){.binding = 2, .ref = {s->buffer, 0, AGX_WHOLE_LENGTH}});
   for (uint32_t e = 0; e < LIMIT; e++)
      bind(s, (struct agx_binding){.binding = 1, .element = e, .sampler = make_different(it, e)});
   assert_ok(dispatch(s, 4));
   /* Equal ones share a slot, in other bindings and other objects too. */
   bind(s, (struct agx_binding){.binding = 1, .element = LIMIT, .sampler = make_different(it, 5)});
   assert_ok(dispatch(s, 4));
   agx_release(s->bindings[s->count - 1].sampler);
   s->bindings[s->count - 1].sampler = make_different(it, LIMIT);
   assert_fails(dispatch(s, 4), AGX_RESOURCE_EXHAUSTED,
                "1023 different ones are in use by kernels with more than 16 samplers");
   /* What has gone leaves its slot. */
   agx_release(s->bindings[7].sampler);
   s->bindings[7].sampler = make_different(it, 9);
   assert_ok(dispatch(s, 4));
   scene_close(s);
   each_sampler_is_the_right_one(state);
}

static void elements_that_are_not_bound_are_the_drivers(void **state)
{
   struct image_launch *it = *state;
   struct scene *s = scene_open(it, "kernels/image_samplers.spv", AGX_ROBUST_CLAMP);
   bind(s, (struct agx_binding){.binding = 0, .image = s->image});
   bind(s, (struct agx_binding){.binding = 2, .ref = {s->buffer, 0, AGX_WHOLE_LENGTH}});
   bind(s, (struct agx_binding){.binding = 1, .element = 20, .sampler = make_kind(it, 1)});
   assert_ok(dispatch(s, 1));
   /* In the middle of the image, but to the driver's own between its first texels. */
   for (uint32_t i = 0; i < 32; i++)
      assert_true(s->results[4 * i] == image_number(i < 20 ? 0 : 4, i < 20 ? 0 : 4, 0, 0, 0));
   scene_close(s);
}

AGX_TEST_FILE(void)
{
#define CASE(test)                                                                                 \
   cmocka_unit_test_setup_teardown(test, image_launch_open_bounds, image_launch_close)
   const struct CMUnitTest tests[] = {
      CASE(each_sampler_is_the_right_one),
      cmocka_unit_test_setup_teardown(each_sampler_is_the_right_one, image_launch_open_noopt,
                                      image_launch_close),
      CASE(constant_and_computed_indices_mix),
      CASE(as_many_as_the_limit_says),
      CASE(elements_that_are_not_bound_are_the_drivers),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
