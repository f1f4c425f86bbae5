/* SPDX-License-Identifier: MIT
 *
 * Multisampled images: each sample fetched, stored and loaded, and those that are not there. In
 * the model samples are layers.
 */
#include "format_bench.h"

#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "base/util.h"

struct access {
   int32_t at[3], kind;
   uint32_t texel[4];
};

enum kind {
   STORED,
   FETCHED,
   LOADED,
};

static struct agx_image *make_image(struct subject *subject)
{
   const struct image_shape *shape = subject->shape;
   const struct agx_image_desc desc = {
      .size = sizeof(desc),
      .type = AGX_IMAGE_2D,
      .format = subject->model.name,
      .width = shape->width,
      .height = shape->height,
      .samples = shape->depth,
      .flags = AGX_IMAGE_HOST_READ,
   };
   struct agx_image *image;
   assert_ok(agx_image_create(subject->bench->fixture.device, &desc, &image));
   for (uint32_t s = 0; s < shape->depth; s++) {
      const struct agx_image_region region = {
         .width = shape->width, .height = shape->height, .depth = 1, .sample = s};
      assert_ok(agx_image_write(image, &region, subject_texel(subject, 0, 0, 0, s), 0, 0));
   }
   return image;
}

/* All samples and those around. */
static uint32_t run_accesses(struct subject *subject, struct agx_image *image, enum kind kind)
{
   struct format_bench *it = subject->bench;
   const struct image_shape *shape = subject->shape;
   struct access *accesses = it->request;
   uint32_t count = 0;
   for (int32_t z = -1; z <= (int32_t)shape->depth; z++)
      for (int32_t y = -1; y <= (int32_t)shape->height; y++)
         for (int32_t x = -1; x <= (int32_t)shape->width; x++)
            accesses[count++] = (struct access){.at = {x, y, z}, .kind = (int32_t)kind};
   while (count % LANES)
      accesses[count++] = (struct access){.at = {0, 0, 65536}, .kind = (int32_t)kind};
   for (uint32_t i = 0; i < count; i++)
      for (uint32_t c = 0; c < 4; c++)
         accesses[i].texel[c] = some_value(subject, c);
   const struct agx_binding bindings[] = {
      {.binding = 0, .image = image, .sampler = it->plain},
      {.binding = 1, .image = image},
   };
   format_bench_run(it, SAMPLES_OF_TEXELS, subject->class, count, bindings, 2);
   return count;
}

static void check_read(struct subject *subject, uint32_t count, const char *verb)
{
   const struct access *accesses = subject->bench->request;
   for (uint32_t i = 0; i < count; i++) {
      const int32_t *at = accesses[i].at;
      double want[4];
      char what[80];
      subject_decode(subject, 0, at, want);
      snprintf(what, sizeof(what), "%s of %d, %d, sample %d:", verb, at[0], at[1], at[2]);
      subject_compare(subject, i, want, NULL, what);
   }
}

static void check_written(struct subject *subject, struct agx_image *image, uint32_t count)
{
   const struct access *accesses = subject->bench->request;
   const struct agx_image_region all = subject_level(subject, 0);
   for (uint32_t i = 0; i < count; i++) {
      const int32_t *at = accesses[i].at;
      uint8_t texel[16];
      double value[4];
      if (!is_in_region(&all, at))
         continue;
      const struct agx_image_region region = {.x = (uint32_t)at[0],
                                              .y = (uint32_t)at[1],
                                              .width = 1,
                                              .height = 1,
                                              .depth = 1,
                                              .sample = (uint32_t)at[2]};
      assert_ok(agx_image_read(image, &region, texel, 0, 0));
      for (uint32_t c = 0; c < 4; c++)
         value[c] = number_in(subject, accesses[i].texel[c]);
      if (!format_model_is_stored(&subject->model, texel, value))
         fail_msg("%s: %.9g, %.9g, %.9g, %.9g stored to %d, %d, sample %d", subject->model.name,
                  value[0], value[1], value[2], value[3], at[0], at[1], at[2]);
      memcpy(subject_texel(subject, 0, (uint32_t)at[0], (uint32_t)at[1], (uint32_t)at[2]), texel,
             subject->model.texel_B);
   }
}

void check_multisampled(struct subject *subject)
{
   struct agx_image *image = make_image(subject);
   check_read(subject, run_accesses(subject, image, FETCHED), "fetch");
   check_written(subject, image, run_accesses(subject, image, STORED));
   check_read(subject, run_accesses(subject, image, LOADED), "load");
   agx_release(image);
}
