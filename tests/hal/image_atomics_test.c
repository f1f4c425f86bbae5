/* SPDX-License-Identifier: MIT
 *
 * Atomics on floats in images and in buffers of texels (tests/kernels/image_atomic_float.comp), and
 * in buffers and workgroup memory as lavapipe computes them (float_atomics_alone.comp). Sums are of
 * small integers, so that no order changes them.
 */
#include "image_launch.h"
#include "recorded.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

#define COLUMNS 9

enum {
   SUMS,
   LEAST,
   MOST,
   EXCHANGED,
   ROWS
};

struct request {
   int32_t x, y;
   float f;
   uint32_t unused;
};

/* ---- images ---------------------------------------------------------------- */

static void make_requests(struct request *requests, uint32_t seed)
{
   for (uint32_t i = 0; i < IMAGE_REQUESTS; i++) {
      struct request *r = &requests[i];
      *r =
         (struct request){.x = (int32_t)(image_random(&seed) % COLUMNS), .y = (int32_t)(i % ROWS)};
      r->f = (float)(1 + image_random(&seed) % 50);
      if (r->y == LEAST || r->y == MOST)
         r->f = ((float)image_random(&seed) - 8e6f) * 0x1p-20f;
      if (i % 64 < 4) /* outside of either: nothing happens */
         r->x = i % 128 < 64 ? -1000 : 1000;
   }
}

static float start_of(uint32_t row, uint32_t column)
{
   return row == LEAST ? 1.0f : row == MOST ? -1.0f : (float)column;
}

/* What was found at a place, and what was added to it, is what another request found there, or what
 * stands there at last; exchanged floats are handed on. */
static void check_found(const struct request *requests, const float (*found)[2], unsigned which,
                        int32_t y, int32_t x, float last)
{
   for (uint32_t i = 0; i < IMAGE_REQUESTS; i++) {
      if (requests[i].y != y || requests[i].x != x)
         continue;
      float f = requests[i].f, before = found[i][which];
      float after = y == SUMS ? before + f : f;
      bool is_known = after == last;
      for (uint32_t k = 0; k < IMAGE_REQUESTS && !is_known; k++)
         is_known = requests[k].y == y && requests[k].x == x && found[k][which] == after;
      if (!is_known)
         fail_msg("row %d, column %d: %g, found by none", y, x, (double)after);
   }
}

static void check_place(const struct request *requests, const float (*found)[2], unsigned which,
                        int32_t y, int32_t x, float last)
{
   float want = start_of((uint32_t)y, (uint32_t)x);
   for (uint32_t i = 0; i < IMAGE_REQUESTS; i++) {
      if (requests[i].y != y || requests[i].x != x)
         continue;
      float f = requests[i].f;
      want = y == SUMS ? want + f : y == LEAST ? fminf(want, f) : fmaxf(want, f);
   }
   if (y != EXCHANGED && last != want)
      fail_msg("row %d, column %d: %g, not %g", y, x, (double)last, (double)want);
   if (y == SUMS || y == EXCHANGED)
      check_found(requests, found, which, y, x, last);
}

static void floats_in_images(void **state)
{
   struct image_launch *it = *state;
   const struct agx_image_region whole = {.width = COLUMNS, .height = ROWS, .depth = 1};
   float at_start[ROWS][COLUMNS], got[ROWS][COLUMNS];
   for (uint32_t y = 0; y < ROWS; y++)
      for (uint32_t x = 0; x < COLUMNS; x++)
         at_start[y][x] = start_of(y, x);
   struct agx_image *image = image_make(it, (struct agx_image_desc){.type = AGX_IMAGE_2D,
                                                                    .format = "r32f",
                                                                    .width = COLUMNS,
                                                                    .height = ROWS,
                                                                    .flags = AGX_IMAGE_ATOMICS});
   assert_ok(agx_image_write(image, &whole, at_start, 0, 0));
   image_bind(it, (struct agx_binding){.binding = 0, .image = image});
   struct agx_buffer *texels;
   uint32_t *memory;
   texels = fixture_buffer(&it->fixture, sizeof(at_start), &memory);
   memcpy(memory, at_start, sizeof(at_start));
   image_bind(it, (struct agx_binding){
                     .binding = 1, .ref = {texels, 0, sizeof(at_start)}, .format = "r32f"});
   struct request *requests = image_bind_buffer(it, 2, IMAGE_REQUESTS * sizeof(*requests));
   float(*found)[2] = image_bind_buffer(it, 3, IMAGE_REQUESTS * sizeof(*found));
   make_requests(requests, 77);
   image_run(it, "kernels/image_atomic_float.spv");
   assert_ok(agx_image_read(image, &whole, got, 0, 0));
   for (int32_t y = 0; y < ROWS; y++)
      for (int32_t x = 0; x < COLUMNS; x++) {
         float of_buffer;
         memcpy(&of_buffer, &memory[y * COLUMNS + x], sizeof(of_buffer));
         check_place(requests, found, 0, y, x, got[y][x]);
         check_place(requests, found, 1, y, x, of_buffer);
      }
}

/* ---- as lavapipe computes them ---------------------------------------------- */

#define LANES   64
#define RESULTS (4 * LANES)

struct lane {
   uint32_t place;
   float f;
};

/* No NaNs and no zeros of two signs, of which the extension leaves open what becomes of them. */
static void fill_lanes(struct lane lanes[LANES], float y[RESULTS], uint32_t operation,
                       uint32_t seed)
{
   static const float specials[] = {INFINITY, -INFINITY, 0x1p127f, -0x1p127f, 0x1p-126f, 1};
   memset(y, 0, RESULTS * sizeof(*y));
   for (uint32_t i = 0; i < LANES; i++) {
      lanes[i] = (struct lane){image_random(&seed) % 8, (float)(image_random(&seed) % 1000) + 1};
      if (operation != SUMS && image_random(&seed) % 4 == 0)
         lanes[i].f = specials[image_random(&seed) % AGX_COUNT(specials)];
      else if (operation != SUMS)
         lanes[i].f = ((float)image_random(&seed) - 8e6f) * ldexpf(1, (int)(seed >> 20 & 63) - 40);
      y[i] = operation == LEAST ? 3.5f + (float)i : operation == MOST ? -3.5f - (float)i : (float)i;
   }
}

static void run_recorded(struct fixture *f, uint32_t operation, uint32_t seed)
{
   static struct lane lanes[LANES];
   static float y[RESULTS];
   char name[32];
   snprintf(name, sizeof(name), "floats.%u.%u", operation, seed);
   fill_lanes(lanes, y, operation, seed);
   const struct agx_specialization chosen = {.id = 0, .bytes = 4, .value = operation};
   struct recorded_dispatch dispatch = {.name = name,
                                        .kernel = "float_atomics_alone",
                                        .specializations = &chosen,
                                        .specialization_count = 1,
                                        .buffer_count = 2,
                                        .buffers = {lanes, y},
                                        .sizes_B = {sizeof(lanes), sizeof(y)},
                                        .output = 1};
   struct agx_executable_desc desc = {
      .size = sizeof(desc), .specializations = &chosen, .specialization_count = 1};
   struct agx_executable *executable;
   struct agx_buffer *buffers[2];
   uint32_t *memory[2];
   char *path = agx_test_path("kernels/float_atomics_alone.spv");
   char *spirv = agx_test_read_file(path, &desc.data_B);
   desc.data = spirv;
   assert_ok(agx_executable_create(f->device, &desc, &executable));
   for (unsigned i = 0; i < 2; i++) {
      buffers[i] = fixture_buffer(f, dispatch.sizes_B[i], &memory[i]);
      memcpy(memory[i], dispatch.buffers[i], dispatch.sizes_B[i]);
   }
   recorded_write(&dispatch);
   struct agx_command_buffer *commands = fixture_begin(f);
   struct agx_semaphore *done = fixture_semaphore(f);
   fixture_dispatch(commands, executable, 1, buffers, 2, NULL, 0);
   assert_ok(agx_command_buffer_end(commands));
   assert_ok(fixture_submit(f, commands, NO_POINT, (struct agx_point){done, 1}));
   assert_ok(fixture_wait(done, 1));
   recorded_check(&dispatch, "float_atomics", memory[1]);
   agx_release(commands);
   agx_release(done);
   agx_release(executable);
   for (unsigned i = 0; i < 2; i++)
      agx_release(buffers[i]);
   free(spirv);
   free(path);
}

static void floats_as_recorded(void **state)
{
   struct image_launch *it = *state;
   for (uint32_t operation = SUMS; operation < ROWS; operation++)
      for (uint32_t seed = 1; seed <= 8; seed++)
         run_recorded(&it->fixture, operation, seed);
}

AGX_TEST_FILE(void)
{
#define CASE(test, how)                                                                            \
   cmocka_unit_test_setup_teardown(test, image_launch_##how, image_launch_close)
   const struct CMUnitTest tests[] = {
      CASE(floats_in_images, open_bounds),
      CASE(floats_in_images, open_noopt),
      CASE(floats_as_recorded, open_bounds),
      CASE(floats_as_recorded, open_noopt),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
