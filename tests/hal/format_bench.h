/* SPDX-License-Identifier: MIT
 *
 * Images of every format and shape for image_formats_test.c: filled by the host, run over by the
 * kernels image_formats_*, and compared.
 */
#pragma once

#include "fixture.h"

#include "agx/format.h"
#include "format_model.h"

#define LANES        32u
#define MAX_REQUESTS (1u << 16)
#define MAX_IMAGE_B  (1u << 17)

/* As the kernels number them. */
enum dimension {
   LINE,
   LINES,
   FLAT,
   LAYERS,
   SOLID,
   CUBE,
   CUBES,
   DIMENSIONS,
};

struct image_shape {
   enum dimension dimension;
   uint32_t width, height, depth, levels, flags;
};

enum kernel {
   FETCH,
   SAMPLE,
   STORE,
   TEXELS,            /* of buffers */
   SAMPLES_OF_TEXELS, /* of multisampled images */
   KERNELS,
};

struct format_bench {
   struct fixture fixture;
   struct agx_executable *executables[KERNELS][3];
   struct agx_sampler *plain;
   struct agx_buffer *requests, *results;
   void *request, *result;
   struct agx_test_rng rng;
   uint32_t turn;      /* of short runs */
   uint32_t dimension; /* what the kernels' push constant says */
   bool takes_all;
   uint64_t texels[KERNELS], images;
};

/* One image of one format, what the host wrote to it, and its model. */
struct subject {
   struct format_bench *bench;
   const struct image_shape *shape;
   struct format_model model;
   enum format_class class;
   struct agx_image *image;
   uint8_t texels[MAX_IMAGE_B];
   uint32_t level_at[16];
};

/* cmocka's set-up and tear-down: a bench as the state. */
int format_bench_open(void **state);
int format_bench_close(void **state);
uint32_t format_bench_below(struct format_bench *it, uint32_t bound);

typedef void check_subject(struct subject *subject);

/* An image after the other; in short runs the formats take turns with the shapes. Moderate
 * floats are finite and not far from 1. */
void for_each_subject(struct format_bench *it, check_subject *check, bool is_moderate);

struct agx_image_region subject_level(const struct subject *subject, uint32_t level);

/* The host's copy of a texel that is there. */
uint8_t *subject_texel(struct subject *subject, uint32_t level, uint32_t x, uint32_t y, uint32_t z);
bool is_in_region(const struct agx_image_region *region, const int32_t at[3]);

/* What a texel reads as; outside of the image: zeros, but 1 for an alpha that the format does
 * not have. */
void subject_decode(struct subject *subject, uint32_t level, const int32_t at[3], double out[4]);

/* Runs a kernel over bench->request and waits for bench->result. */
void subject_run(struct subject *subject, enum kernel kernel, uint32_t count, uint32_t first_level,
                 struct agx_sampler *sampler);

/* Fails the test where a result is further from want than the format allows, and slack. */
void subject_compare(const struct subject *subject, uint32_t request, const double want[4],
                     const double slack[4], const char *what);

/* Runs a kernel with these bindings, then requests and results behind them. */
void format_bench_run(struct format_bench *it, enum kernel kernel, enum format_class class,
                      uint32_t count, const struct agx_binding *bound, uint32_t bound_count);

/* The register of channel c of a texel to store: a number that the channel can hold, where those
 * are integers. And which number that is. */
uint32_t some_value(struct subject *subject, uint32_t c);
double number_in(const struct subject *subject, uint32_t word);

/* As for_each_subject, with one shape of one level; there is no image. Short runs give large
 * ones to few formats. */
void for_each_format(struct format_bench *it, check_subject *check,
                     const struct image_shape *shape);

check_subject check_nearest, check_linear; /* image_formats_sample.c */
check_subject check_stores;                /* image_formats_store.c */
check_subject check_multisampled;          /* image_formats_samples.c */
check_subject check_texels;                /* image_formats_texels.c */
