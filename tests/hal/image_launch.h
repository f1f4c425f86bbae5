/* SPDX-License-Identifier: MIT
 *
 * For tests of images through every layer: a device, what is bound for a launch, and images whose
 * texels all differ. The simulator runs strict and checked.
 */
#pragma once

#include "fixture.h"

#define IMAGE_MAX_BOUND 32
#define IMAGE_REQUESTS  512 /* threads of image_run() */

struct image_launch {
   struct fixture fixture;
   struct agx_sampler *nearest; /* clamps to the edge */
   struct agx_binding bindings[IMAGE_MAX_BOUND];
   uint32_t count;
   uint32_t robustness; /* of the executable */
};

/* cmocka's set-up and tear-down: a launch as the state. The second watches bounds as well, the
 * third compiles without optimisation besides. */
int image_launch_open(void **state);
int image_launch_open_bounds(void **state);
int image_launch_open_noopt(void **state);
int image_launch_close(void **state);

/* The host may read it; agx_release() it, or bind it. */
struct agx_image *image_make(struct image_launch *it, struct agx_image_desc desc);
/* The launch releases buffer, image and sampler (but `nearest`). */
struct agx_binding *image_bind(struct image_launch *it, struct agx_binding binding);
/* A new buffer, whose memory it returns. */
void *image_bind_buffer(struct image_launch *it, uint32_t binding, uint64_t size);
void image_drop_bindings(struct image_launch *it);

/* Compiles a kernel below tests/ and dispatches it with what is bound; waits for it if submit. */
agx_status image_record(struct image_launch *it, const char *kernel, uint32_t workgroups,
                        bool submit);
void image_run_groups(struct image_launch *it, const char *kernel, uint32_t workgroups);
void image_run(struct image_launch *it, const char *kernel);

/* 24 bits. */
uint32_t image_random(uint32_t *random);
float image_float(uint32_t bits);

/* Writes all levels, layers and samples of an image of 32-bit floats. */
typedef float image_texel(int x, int y, int z, int level, int sample);
void image_fill(struct agx_image *image, image_texel *texel);
/* Different for each texel, and never zero. */
float image_number(int x, int y, int z, int level, int sample);
