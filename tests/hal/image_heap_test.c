/* SPDX-License-Identifier: MIT
 *
 * Arrays of images, samplers and buffers of texels that code indexes, through every layer: elements
 * of different sizes, indices beyond the end, and elements that are not bound.
 */
#include "image_launch.h"

#include "base/util.h"

static const uint32_t wraps[] = {AGX_WRAP_EDGE, AGX_WRAP_BORDER, AGX_WRAP_REPEAT};

struct heap_request {
   uint32_t which;
   int32_t x, y, level;
};

struct heap_answer {
   uint32_t texels[4], sizes[4], list[4];
};

/* Binding 0: four images, of which `missing` is not bound; 1: `unsized` images of a runtime array;
 * 2 and 3: samplers, and images to store to; 7: buffers of texels, of which the second is bound. */
struct heap {
   struct image_launch *it;
   uint32_t unsized, missing;
   struct agx_image *stored[3];
   struct heap_request *requests;
   struct heap_answer *answers;
};

static float by_which;
static float of_which(int x, int y, int z, int level, int sample)
{
   return image_number(x, y, z, level, sample) + by_which;
}

static float expect_of(uint32_t which, int x, int y, int z, int level, int size, int levels)
{
   int side = AGX_MAX(size >> level, 1);
   bool is_there = level < levels && x >= 0 && y >= 0 && x < side && y < side;
   return is_there ? image_number(x, y, z, level, 0) + 100000.0f * (float)which : 0.0f;
}

static struct agx_image *make_element(const struct heap *heap, uint32_t e, uint32_t side,
                                      uint32_t depth, uint32_t levels)
{
   struct agx_image *image = image_make(heap->it, (struct agx_image_desc){.type = AGX_IMAGE_2D,
                                                                          .format = "r32f",
                                                                          .width = side,
                                                                          .height = side,
                                                                          .depth = depth,
                                                                          .levels = levels});
   by_which = 100000.0f * (float)e;
   image_fill(image, of_which);
   return image;
}

static void bind_images(const struct heap *heap)
{
   for (uint32_t e = 0; e < 4; e++) {
      if (e != heap->missing)
         image_bind(heap->it, (struct agx_binding){.binding = 0,
                                                   .element = e,
                                                   .image = make_element(heap, e, 32u >> e, 0, 3)});
   }
   for (uint32_t e = 0; e < heap->unsized; e++)
      image_bind(heap->it,
                 (struct agx_binding){.binding = 1,
                                      .element = e,
                                      .image = make_element(heap, e, 16, 2 + e, 1 + e % 3)});
}

static void bind_samplers_and_targets(struct heap *heap)
{
   for (uint32_t e = 0; e < 3; e++) {
      const struct agx_sampler_desc desc = {.size = sizeof(desc),
                                            .wrap = {wraps[e], wraps[e], wraps[e]},
                                            .border = AGX_BORDER_OPAQUE_WHITE};
      struct agx_sampler *sampler;
      assert_ok(agx_sampler_create(heap->it->fixture.device, &desc, &sampler));
      image_bind(heap->it, (struct agx_binding){.binding = 2, .element = e, .sampler = sampler});
      heap->stored[e] = image_make(
         heap->it, (struct agx_image_desc){
                      .type = AGX_IMAGE_2D, .format = "r32f", .width = 32, .height = 16});
      image_bind(heap->it,
                 (struct agx_binding){.binding = 3, .element = e, .image = heap->stored[e]});
   }
}

static void bind_list(const struct heap *heap)
{
   uint32_t *list;
   struct agx_buffer *texels = fixture_buffer(&heap->it->fixture, 64, &list);
   for (uint32_t i = 0; i < 16; i++)
      ((float *)list)[i] = (float)i * 3.0f;
   image_bind(heap->it, (struct agx_binding){
                           .binding = 7, .element = 1, .ref = {texels, 16, 40}, .format = "r32f"});
}

static void ask(const struct heap *heap)
{
   uint32_t random = 9 + heap->unsized, indices = AGX_MIN(heap->unsized, 4u);
   for (uint32_t i = 0; i < IMAGE_REQUESTS; i++) {
      bool wild = heap->it->robustness != AGX_ROBUST_OFF && i % 16 == 3;
      heap->requests[i] = (struct heap_request){
         wild ? 3u << image_random(&random) % 30 : image_random(&random) % indices,
         (int)(image_random(&random) % 24) - 3, (int)(image_random(&random) % 24) - 3,
         (int)(image_random(&random) % 4)};
   }
}

/* At normalised coordinates of image 0, of 32 texels a side: all but the first column and row are
 * beyond the last texel. */
static float expect_sample(const struct heap *heap, const struct heap_request *r)
{
   uint32_t wrap = wraps[r->which % 3];
   int x = r->x < 0 ? 0 : r->x > 0 ? 31 : 16, y = r->y < 0 ? 0 : r->y > 0 ? 31 : 16;
   if (heap->missing == 0)
      return 0;
   if (wrap == AGX_WRAP_REPEAT)
      return image_number(16, 16, 0, 0, 0);
   return wrap == AGX_WRAP_EDGE || (!r->x && !r->y) ? image_number(x, y, 0, 0, 0) : 1.0f;
}

static void check_answer(const struct heap *heap, const struct heap_request *r,
                         const struct heap_answer *answer)
{
   uint32_t s = AGX_MIN(r->which, 3u), u = AGX_MIN(r->which, heap->unsized - 1);
   bool is_missing = s == heap->missing;
   const float want[4] = {
      is_missing ? 0 : expect_of(s, r->x, r->y, 0, r->level, 32 >> s, 3),
      expect_of(u, r->x, r->y, 1, r->level, 16, 1 + (int)u % 3),
      heap->missing == 2 ? 0 : expect_of(2, r->x, r->y, 0, 0, 8, 3),
      expect_sample(heap, r),
   };
   for (uint32_t k = 0; k < 4; k++)
      if (image_float(answer->texels[k]) != want[k])
         fail_msg("%u of element %u at %d, %d level %d: %g, want %g", k, r->which, r->x, r->y,
                  r->level, (double)image_float(answer->texels[k]), (double)want[k]);
   assert_int_equal(answer->sizes[0], is_missing ? 0 : 32 >> s);
   assert_int_equal(answer->sizes[1], is_missing ? 0 : 32 >> s);
   assert_int_equal(answer->sizes[2], 2 + u);
   assert_int_equal(answer->sizes[3], is_missing ? 0 : 3);
   float want_list = (r->which & 1) && r->x >= 0 && r->x < 10 ? (float)(r->x + 4) * 3.0f : 0.0f;
   assert_true(image_float(answer->list[0]) == want_list);
}

static void check_stored(const struct heap *heap)
{
   for (uint32_t e = 0; e < 3; e++) {
      const struct agx_image_region all = {.width = 32, .height = 16, .depth = 1};
      float got[IMAGE_REQUESTS];
      assert_ok(agx_image_read(heap->stored[e], &all, got, 0, 0));
      for (uint32_t i = 0; i < IMAGE_REQUESTS; i++)
         assert_true(got[i] == (heap->requests[i].which % 3 == e ? (float)(i + 1) : 0.0f));
   }
}

static void check_heap(struct image_launch *it, uint32_t unsized, uint32_t missing,
                       uint32_t robustness)
{
   struct heap heap = {it, unsized, missing};
   it->robustness = robustness;
   bind_images(&heap);
   bind_samplers_and_targets(&heap);
   heap.requests = image_bind_buffer(it, 4, IMAGE_REQUESTS * sizeof(*heap.requests));
   heap.answers = image_bind_buffer(it, 5, IMAGE_REQUESTS * sizeof(*heap.answers));
   image_bind(it, (struct agx_binding){.binding = 6, .sampler = it->nearest});
   bind_list(&heap);
   ask(&heap);
   image_run(it, "kernels/image_heap.spv");
   for (uint32_t i = 0; i < IMAGE_REQUESTS; i++)
      check_answer(&heap, &heap.requests[i], &heap.answers[i]);
   check_stored(&heap);
   image_drop_bindings(it);
}

static void arrays_are_indexed(void **state)
{
   check_heap(*state, 4, 9, AGX_ROBUST_OFF);
   check_heap(*state, 2, 9, AGX_ROBUST_OFF);
}

static void wild_indices_are_the_last(void **state)
{
   check_heap(*state, 4, 9, AGX_ROBUST_CLAMP);
   check_heap(*state, 3, 9, AGX_ROBUST_ZERO);
}

static void missing_elements_read_zero(void **state)
{
   for (uint32_t missing = 0; missing < 4; missing++)
      check_heap(*state, 4, missing, AGX_ROBUST_OFF);
}

AGX_TEST_FILE(void)
{
#define CASE(test)                                                                                 \
   cmocka_unit_test_setup_teardown(test, image_launch_open_bounds, image_launch_close)
   const struct CMUnitTest tests[] = {
      CASE(arrays_are_indexed),
      CASE(wild_indices_are_the_last),
      CASE(missing_elements_read_zero),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
