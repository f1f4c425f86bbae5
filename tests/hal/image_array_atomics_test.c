/* SPDX-License-Identifier: MIT
 *
 * Atomics on images that come in numbers, through every layer (tests/kernels/image_atomics.comp):
 * sums on layers, on elements of arrays and on samples, at places inside and outside of the view
 * that is bound. What lies outside of the view keeps its value.
 */
#include "image_launch.h"

#include <string.h>

#include "base/util.h"

#define MAX_TEXELS 8192u

/* An image, the layers of it that are bound, and what its texels shall be. */
struct target {
   struct agx_image *image;
   uint32_t width, height, depth, samples;
   uint32_t first, count; /* layers of the view */
   uint32_t texels[MAX_TEXELS];
};

static void make(struct image_launch *it, struct target *t, struct agx_image_desc desc,
                 uint32_t first, uint32_t count)
{
   desc.format = "r32ui";
   desc.flags = AGX_IMAGE_ATOMICS;
   *t = (struct target){.image = image_make(it, desc), .first = first, .count = count};
   t->width = desc.width;
   t->height = desc.height;
   t->depth = AGX_MAX(desc.depth, 1u);
   t->samples = AGX_MAX(desc.samples, 1u);
   assert_true(t->width * t->height * t->depth * t->samples <= MAX_TEXELS);
}

static void bind(struct image_launch *it, uint32_t binding, uint32_t element,
                 const struct target *t)
{
   image_bind(it, (struct agx_binding){.binding = binding,
                                       .element = element,
                                       .image = t->image,
                                       .first_layer = t->first,
                                       .layer_count = t->count});
}

/* The texel that a place in the view means, or NULL. */
static uint32_t *texel(struct target *t, int32_t x, int32_t y, int32_t layer, uint32_t sample)
{
   if (x < 0 || y < 0 || layer < 0 || (uint32_t)x >= t->width || (uint32_t)y >= t->height ||
       (uint32_t)layer >= t->count || sample >= t->samples)
      return NULL;
   uint32_t row = ((uint32_t)layer + t->first) * t->height + (uint32_t)y;
   return &t->texels[(row * t->width + (uint32_t)x) * t->samples + sample];
}

static void raise_to(struct target *t, int32_t x, int32_t y, int32_t layer, uint32_t sample,
                     uint32_t value)
{
   uint32_t *at = texel(t, x, y, layer, sample);
   if (at)
      *at = AGX_MAX(*at, value);
}

static void add(struct target *t, int32_t x, int32_t y, int32_t layer, uint32_t value)
{
   uint32_t *at = texel(t, x, y, layer, 0);
   if (at)
      *at += value;
}

static void check(struct target *t, const char *what)
{
   static uint32_t got[MAX_TEXELS];
   for (uint32_t sample = 0; sample < t->samples; sample++) {
      const struct agx_image_region whole = {
         .width = t->width, .height = t->height, .depth = t->depth, .sample = sample};
      assert_ok(agx_image_read(t->image, &whole, got, 0, 0));
      for (uint32_t i = 0; i < t->width * t->height * t->depth; i++)
         if (got[i] != t->texels[i * t->samples + sample])
            fail_msg("%s: texel %u, %u of layer %u, sample %u: %u, want %u", what, i % t->width,
                     i / t->width % t->height, i / t->width / t->height, sample, got[i],
                     t->texels[i * t->samples + sample]);
   }
}

/* Places, and a value of 10 bits with the number of an element or sample above. */
static int32_t (*ask(struct image_launch *it, uint32_t seed, uint32_t which))[4]
{
   int32_t(*requests)[4] = image_bind_buffer(it, 4, IMAGE_REQUESTS * 16);
   uint32_t random = seed;
   for (uint32_t i = 0; i < IMAGE_REQUESTS; i++) {
      for (uint32_t k = 0; k < 3; k++)
         requests[i][k] = (int)(image_random(&random) % 12) - 1;
      if (i % 16 == 3)
         requests[i][image_random(&random) % 3] = (int32_t)(0x10000u << image_random(&random) % 16);
      requests[i][3] =
         (int)(image_random(&random) % 1000 | (image_random(&random) >> 4) % which << 10);
   }
   image_bind_buffer(it, 9, IMAGE_REQUESTS * 16);
   return requests;
}

static void atomics_on_layers_of_a_view(void **state)
{
   static struct target layers, line, lines, cubes;
   struct image_launch *it = *state;
   for (uint32_t first = 0; first < 3; first++) {
      make(it, &layers,
           (struct agx_image_desc){.type = AGX_IMAGE_2D, .width = 7, .height = 9, .depth = 8},
           first, 8 - first);
      make(it, &line, (struct agx_image_desc){.type = AGX_IMAGE_1D, .width = 9, .height = 1}, 0, 1);
      make(it, &lines,
           (struct agx_image_desc){.type = AGX_IMAGE_1D, .width = 9, .height = 1, .depth = 6},
           first, 6 - first);
      make(it, &cubes,
           (struct agx_image_desc){.type = AGX_IMAGE_CUBE, .width = 8, .height = 8, .depth = 18},
           6 * first, 18 - 6 * first);
      bind(it, 0, 0, &layers);
      bind(it, 1, 0, &line);
      bind(it, 2, 0, &lines);
      bind(it, 3, 0, &cubes);
      const int32_t(*r)[4] = (const int32_t(*)[4])ask(it, 3 + first, 1);
      for (uint32_t i = 0; i < IMAGE_REQUESTS; i++) {
         uint32_t value = (uint32_t)r[i][3] & 1023;
         add(&layers, r[i][0], r[i][1], r[i][2], value);
         add(&line, r[i][0], 0, 0, value);
         add(&lines, r[i][0], 0, r[i][2], value);
         add(&cubes, r[i][0], r[i][1], r[i][2], value);
      }
      image_run(it, "kernels/image_atomics_layers.spv");
      check(&layers, "2D array");
      check(&line, "1D");
      check(&lines, "1D array");
      check(&cubes, "cube array");
      image_drop_bindings(it);
   }
}

/* In each round another element is not bound, and indices lie behind the end where code is robust.
 */
static void atomics_on_elements_of_arrays(void **state)
{
   static struct target sized[3], unsized[4];
   struct image_launch *it = *state;
   for (uint32_t round = 0; round < 6; round++) {
      uint32_t missing = round % 4, count = 3 + round % 2;
      it->robustness = round < 3 ? AGX_ROBUST_OFF : AGX_ROBUST_ZERO;
      for (uint32_t e = 0; e < 3; e++) {
         make(it, &sized[e],
              (struct agx_image_desc){.type = AGX_IMAGE_2D, .width = 5 + 3 * e, .height = 9 - e}, 0,
              1);
         if (e != missing)
            bind(it, 5, e, &sized[e]);
      }
      for (uint32_t e = 0; e < count; e++) {
         make(it, &unsized[e],
              (struct agx_image_desc){
                 .type = AGX_IMAGE_2D, .width = 10 - e, .height = 4 + e, .depth = 3 + e},
              e, 3);
         bind(it, 6, e, &unsized[e]);
      }
      const int32_t(*r)[4] = (const int32_t(*)[4])ask(it, 17 + round, round < 3 ? 3 : 6);
      for (uint32_t i = 0; i < IMAGE_REQUESTS; i++) {
         uint32_t value = (uint32_t)r[i][3] & 1023, which = (uint32_t)r[i][3] >> 10;
         add(&sized[AGX_MIN(which, 2u)], r[i][0], r[i][1], 0, value);
         add(&sized[1], r[i][1], r[i][0], 0, value);
         raise_to(&unsized[AGX_MIN(which, count - 1)], r[i][0], r[i][1], r[i][2], 0, value);
         raise_to(&unsized[2], r[i][1], r[i][0], r[i][2], 0, value);
      }
      if (missing < 3)
         memset(sized[missing].texels, 0, sizeof(sized[missing].texels));
      image_run(it, "kernels/image_atomics_arrays.spv");
      for (uint32_t e = 0; e < 3; e++)
         check(&sized[e], "array of images");
      for (uint32_t e = 0; e < count; e++)
         check(&unsized[e], "array without a length");
      if (missing < 3)
         agx_release(sized[missing].image);
      image_drop_bindings(it);
   }
}

/* The image that is no array for the kernel may have more layers, of which it sees the first. */
static void atomics_on_samples(void **state)
{
   static struct target samples, more[2];
   struct image_launch *it = *state;
   for (uint32_t round = 0; round < 4; round++) {
      it->robustness = round < 2 ? AGX_ROBUST_OFF : AGX_ROBUST_ZERO;
      make(it, &samples,
           (struct agx_image_desc){.type = AGX_IMAGE_2D,
                                   .width = 9,
                                   .height = 7,
                                   .depth = 3 - round / 2,
                                   .samples = round % 2 ? 2 : 4},
           round % 2, 3 - round / 2 - round % 2);
      bind(it, 7, 0, &samples);
      for (uint32_t e = 0; e < 2; e++) {
         make(it, &more[e],
              (struct agx_image_desc){.type = AGX_IMAGE_2D,
                                      .width = e ? 70 : 8,
                                      .height = 4 + e,
                                      .depth = 4,
                                      .samples = e == round % 2 ? 2 : 4},
              round, 4 - round);
         bind(it, 8, e, &more[e]);
      }
      const int32_t(*r)[4] = (const int32_t(*)[4])ask(it, 29 + round, 10);
      for (uint32_t i = 0; i < IMAGE_REQUESTS; i++) {
         uint32_t value = (uint32_t)r[i][3] & 1023, which = (uint32_t)r[i][3] >> 10;
         uint32_t *at = texel(&samples, r[i][0], r[i][1], 0, which);
         if (at)
            *at += value;
         at = texel(&samples, r[i][1], r[i][0], 0, 1);
         if (at)
            *at += value;
         raise_to(&more[which & 1], r[i][0], r[i][1], r[i][2], which >> 1, value);
         raise_to(&more[1], r[i][1], r[i][0], r[i][2], which & 1, value);
      }
      image_run(it, "kernels/image_atomics_samples.spv");
      check(&samples, "multisampled");
      check(&more[0], "array of multisampled arrays, the first");
      check(&more[1], "array of multisampled arrays, the second");
      image_drop_bindings(it);
   }
}

AGX_TEST_FILE(void)
{
#define CASE(test, open) cmocka_unit_test_setup_teardown(test, open, image_launch_close)
   const struct CMUnitTest tests[] = {
      CASE(atomics_on_layers_of_a_view, image_launch_open_bounds),
      CASE(atomics_on_layers_of_a_view, image_launch_open_noopt),
      CASE(atomics_on_elements_of_arrays, image_launch_open_bounds),
      CASE(atomics_on_elements_of_arrays, image_launch_open_noopt),
      CASE(atomics_on_samples, image_launch_open_bounds),
      CASE(atomics_on_samples, image_launch_open_noopt),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
