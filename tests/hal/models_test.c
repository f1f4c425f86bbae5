/* SPDX-License-Identifier: MIT
 *
 * IREE's code for small nets (tests/models, made by scripts/models.sh): every dispatch of
 * every target compiles, and whole nets run on the virtual device and compute what plain C
 * does. Which dispatch takes which buffers is what IREE's host code says (`iree-compile
 * --compile-to=hal`); all lie at the start of their buffers.
 */
#include "fixture.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/half.h"
#include "base/status.h"
#include "base/util.h"

#define MAX_BUFFERS 8

/* ---- everything compiles --------------------------------------------------- */

static const char *const targets[] = {"ampere", "rdna3", "valhall4"};

static struct agx_executable *load(struct fixture *f, const char *target, const char *name,
                                   bool robust)
{
   char file[512];
   struct agx_executable_desc desc = {.size = sizeof(desc),
                                      .robustness = robust ? AGX_ROBUST_CLAMP : AGX_ROBUST_OFF};
   struct agx_executable *executable = NULL;
   snprintf(file, sizeof(file), "models/%s/%s", target, name);
   char *path = agx_test_path(file), *spirv = agx_test_read_file(path, &desc.data_B);
   desc.data = spirv;
   agx_status status = agx_executable_create(f->device, &desc, &executable);
   if (status != AGX_OK)
      fail_msg("%s: %s (%s)", file, agx_error_peek(), agx_status_name(status));
   free(spirv);
   free(path);
   return executable;
}

static unsigned compile_target(struct fixture *f, const char *target)
{
   char folder[64];
   unsigned count = 0;
   snprintf(folder, sizeof(folder), "models/%s", target);
   char *path = agx_test_path(folder);
   DIR *dir = opendir(path);
   assert_non_null(dir);
   for (struct dirent *entry; (entry = readdir(dir));) {
      const char *ending = strrchr(entry->d_name, '.');
      if (!ending || strcmp(ending, ".spv") != 0)
         continue;
      agx_release(load(f, target, entry->d_name, false));
      agx_release(load(f, target, entry->d_name, true));
      count++;
   }
   closedir(dir);
   free(path);
   return count;
}

static void every_dispatch_compiles(void **state)
{
   struct fixture f;
   setenv("AGX_DEBUG", "validate", 1);
   fixture_open(&f, "virtual");
   for (size_t i = 0; i < AGX_COUNT(targets); i++)
      assert_int_equal(compile_target(&f, targets[i]), 18);
   fixture_close(&f);
   unsetenv("AGX_DEBUG");
}

/* ---- nets ------------------------------------------------------------------- */

struct step {
   const char *name;
   uint32_t workgroups, buffer_count;
   uint8_t buffers[4]; /* for bindings 0 and on */
};

struct net {
   const struct step *steps;
   uint32_t step_count, buffer_count;
   const uint32_t *bytes; /* of each buffer */
   const char *target;    /* NULL: ampere */
};

struct run {
   struct fixture fixture;
   struct agx_buffer *buffers[MAX_BUFFERS];
   uint32_t *memory[MAX_BUFFERS];
};

static float *floats(struct run *run, uint32_t i)
{
   return (float *)run->memory[i];
}

static uint16_t *halves(struct run *run, uint32_t i)
{
   return (uint16_t *)run->memory[i];
}

/* Small multiples of 1/16 around 0: sums of their products stay exact for long. */
static float sample(uint32_t seed, uint32_t i)
{
   uint32_t h = (i + 1) * 2654435761u ^ seed * 40503u;
   h ^= h >> 15;
   return (float)((int)(h % 33) - 16) / 16.0f;
}

static void open_run(struct run *run, const struct net *net)
{
   setenv("AGX_VIRTUAL_STRICT", "1", 1);
   setenv("AGX_VIRTUAL_CHECK", "1", 1);
   fixture_open(&run->fixture, "virtual");
   for (uint32_t i = 0; i < net->buffer_count; i++)
      run->buffers[i] = fixture_buffer(&run->fixture, net->bytes[i], &run->memory[i]);
}

static void close_run(struct run *run, const struct net *net)
{
   for (uint32_t i = 0; i < net->buffer_count; i++)
      agx_release(run->buffers[i]);
   fixture_close(&run->fixture);
   unsetenv("AGX_VIRTUAL_STRICT");
   unsetenv("AGX_VIRTUAL_CHECK");
}

static void execute(struct run *run, const struct net *net)
{
   struct agx_command_buffer *commands = fixture_begin(&run->fixture);
   struct agx_semaphore *done = fixture_semaphore(&run->fixture);
   struct agx_executable *executables[8];
   for (uint32_t i = 0; i < net->step_count; i++) {
      const struct step *step = &net->steps[i];
      struct agx_buffer *buffers[4];
      for (uint32_t b = 0; b < step->buffer_count; b++)
         buffers[b] = run->buffers[step->buffers[b]];
      executables[i] = load(&run->fixture, net->target ? net->target : "ampere", step->name, false);
      fixture_dispatch(commands, executables[i], step->workgroups, buffers, step->buffer_count,
                       NULL, 0);
      assert_ok(agx_cmd_barrier(commands, NULL));
   }
   assert_ok(agx_command_buffer_end(commands));
   assert_ok(fixture_submit(&run->fixture, commands, NO_POINT, (struct agx_point){done, 1}));
   assert_ok(fixture_wait(done, 1));
   agx_release(commands);
   agx_release(done);
   for (uint32_t i = 0; i < net->step_count; i++)
      agx_release(executables[i]);
}

static void fill_floats(struct run *run, uint32_t i, uint32_t count)
{
   for (uint32_t k = 0; k < count; k++)
      floats(run, i)[k] = sample(i, k);
}

static void fill_halves(struct run *run, uint32_t i, uint32_t count)
{
   for (uint32_t k = 0; k < count; k++)
      halves(run, i)[k] = agx_half_from_float(sample(i, k));
}

static void expect(const char *what, uint32_t i, double got, double want, double tolerance)
{
   double error = fabs(got - want), limit = tolerance * fmax(1.0, fabs(want));
   if (!(error <= limit))
      fail_msg("%s: element %u: %g, not %g", what, i, got, want);
}

/* c = a b, with bias and ReLU where there is one. */
static void layer(const float *a, const float *b, const float *bias, double *c, uint32_t rows,
                  uint32_t inner, uint32_t columns, const double *from)
{
   for (uint32_t i = 0; i < rows; i++)
      for (uint32_t j = 0; j < columns; j++) {
         double sum = 0;
         for (uint32_t k = 0; k < inner; k++)
            sum += (from ? from[i * inner + k] : (double)a[i * inner + k]) * b[k * columns + j];
         if (bias)
            sum = fmax(sum + bias[j], 0);
         c[i * columns + j] = sum;
      }
}

static void a_perceptron_computes_the_same(void **state)
{
   static const struct step steps[] = {
      {"mlp_dispatch_0.spv", 1, 4, {0, 1, 2, 7}},
      {"mlp_dispatch_1.spv", 3, 4, {7, 3, 4, 7}},
      {"mlp_dispatch_2.spv", 320, 3, {7, 5, 6}},
   };
   static const uint32_t bytes[] = {8192, 32768, 512, 49152, 384, 3840, 1280, 28672};
   const struct net net = {steps, AGX_COUNT(steps), AGX_COUNT(bytes), bytes};
   struct run run = {0};
   static double h0[32 * 128], h1[32 * 96], out[32 * 10];
   open_run(&run, &net);
   for (uint32_t i = 0; i < 6; i++)
      fill_floats(&run, i, bytes[i] / 4);
   execute(&run, &net);
   layer(floats(&run, 0), floats(&run, 1), floats(&run, 2), h0, 32, 64, 128, NULL);
   layer(NULL, floats(&run, 3), floats(&run, 4), h1, 32, 128, 96, h0);
   layer(NULL, floats(&run, 5), NULL, out, 32, 96, 10, h1);
   for (uint32_t i = 0; i < AGX_COUNT(out); i++)
      expect("mlp", i, floats(&run, 6)[i], out[i], 1e-4);
   close_run(&run, &net);
}

static void with_cooperative_matrices_too(void **state)
{
   static const struct step steps[] = {
      {"mlp_f16_dispatch_0.spv", 2, 3, {0, 1, 4}},
      {"mlp_f16_dispatch_1.spv", 1, 3, {4, 2, 3}},
   };
   static const uint32_t bytes[] = {4096, 16384, 4096, 2048, 8192};
   const struct net net = {steps, AGX_COUNT(steps), AGX_COUNT(bytes), bytes};
   struct run run = {0};
   open_run(&run, &net);
   for (uint32_t i = 0; i < 3; i++)
      fill_halves(&run, i, bytes[i] / 2);
   execute(&run, &net);
   for (uint32_t i = 0; i < 32; i++)
      for (uint32_t j = 0; j < 16; j++) {
         double sum = 0;
         for (uint32_t k = 0; k < 128; k++) {
            float hidden = 0;
            for (uint32_t m = 0; m < 64; m++)
               hidden += agx_half_to_float(halves(&run, 0)[i * 64 + m]) *
                         agx_half_to_float(halves(&run, 1)[m * 128 + k]);
            hidden = agx_half_to_float(agx_half_from_float(fmaxf(hidden, 0)));
            sum += (double)hidden * agx_half_to_float(halves(&run, 2)[k * 16 + j]);
         }
         expect("mlp_f16", i * 16 + j, floats(&run, 3)[i * 16 + j], sum, 5e-3);
      }
   close_run(&run, &net);
}

/* By cooperative matrices for rdna3. */
static void a_product_of_bytes_is_exact(void **state)
{
   static const uint32_t workgroups[AGX_COUNT(targets)] = {1, 1, 16};
   static const uint32_t bytes[] = {8192, 8192, 16384};
   for (size_t t = 0; t < AGX_COUNT(targets); t++) {
      const struct step step = {"bytes_dispatch_0.spv", workgroups[t], 3, {0, 1, 2}};
      const struct net net = {&step, 1, AGX_COUNT(bytes), bytes, targets[t]};
      struct agx_test_rng rng = {0x1b};
      struct run run = {0};
      open_run(&run, &net);
      const int8_t *a = (int8_t *)run.memory[0], *b = (int8_t *)run.memory[1];
      for (uint32_t i = 0; i < 2 * 8192 / 4; i++)
         run.memory[i / 2048][i % 2048] = (uint32_t)agx_test_random(&rng);
      execute(&run, &net);
      for (uint32_t i = 0; i < 64 * 64; i++) {
         int32_t sum = 0;
         for (uint32_t k = 0; k < 128; k++)
            sum += a[i / 64 * 128 + k] * b[k * 64 + i % 64];
         expect(targets[t], i, (int32_t)run.memory[2][i], sum, 0);
      }
      close_run(&run, &net);
   }
}

static double convolved(const float *x, const float *w, uint32_t width, uint32_t channels,
                        uint32_t filters, uint32_t row, uint32_t column, uint32_t filter)
{
   double sum = 0;
   for (uint32_t ky = 0; ky < 3; ky++)
      for (uint32_t kx = 0; kx < 3; kx++)
         for (uint32_t c = 0; c < channels; c++)
            sum += (double)x[((row + ky) * width + column + kx) * channels + c] *
                   w[((ky * 3 + kx) * channels + c) * filters + filter];
   return sum;
}

static void conv_reference(struct run *run, double *out)
{
   static double pooled[16][16][16], deep[14][14][16];
   for (uint32_t y = 0; y < 16; y++)
      for (uint32_t x = 0; x < 16; x++)
         for (uint32_t c = 0; c < 16; c++) {
            double most = 0; /* ReLU before the pooling */
            for (uint32_t k = 0; k < 4; k++)
               most = fmax(most, convolved(floats(run, 0), floats(run, 1), 34, 4, 16, 2 * y + k / 2,
                                           2 * x + k % 2, c));
            pooled[y][x][c] = most;
         }
   for (uint32_t y = 0; y < 14; y++)
      for (uint32_t x = 0; x < 14; x++)
         for (uint32_t c = 0; c < 16; c++) {
            deep[y][x][c] = 0;
            for (uint32_t k = 0; k < 9; k++)
               deep[y][x][c] += pooled[y + k / 3][x + k % 3][c] * floats(run, 2)[k * 16 + c];
         }
   for (uint32_t f = 0; f < 32; f++) {
      out[f] = 0;
      for (uint32_t i = 0; i < 196; i++)
         for (uint32_t c = 0; c < 16; c++)
            out[f] += deep[i / 14][i % 14][c] * floats(run, 3)[c * 32 + f] / 196;
   }
}

static void a_convolution_net_computes_the_same(void **state)
{
   static const struct step steps[] = {
      {"conv_dispatch_0.spv", 512, 3, {0, 1, 5}}, {"conv_dispatch_1.spv", 128, 2, {5, 5}},
      {"conv_dispatch_2.spv", 98, 3, {5, 2, 5}},  {"conv_dispatch_3.spv", 49, 3, {5, 3, 5}},
      {"conv_dispatch_4.spv", 1, 2, {5, 4}},
   };
   static const uint32_t bytes[] = {18496, 2304, 576, 2048, 128, 81920};
   const struct net net = {steps, AGX_COUNT(steps), AGX_COUNT(bytes), bytes};
   struct run run = {0};
   double out[32];
   open_run(&run, &net);
   for (uint32_t i = 0; i < 4; i++)
      fill_floats(&run, i, bytes[i] / 4);
   execute(&run, &net);
   conv_reference(&run, out);
   for (uint32_t i = 0; i < AGX_COUNT(out); i++)
      expect("conv", i, floats(&run, 4)[i], out[i], 1e-4);
   close_run(&run, &net);
}

static void a_convolution_of_halves_does_too(void **state)
{
   static const struct step steps[] = {{"conv_f16_dispatch_0.spv", 128, 3, {0, 1, 2}}};
   static const uint32_t bytes[] = {5184, 2304, 8192};
   const struct net net = {steps, AGX_COUNT(steps), AGX_COUNT(bytes), bytes};
   struct run run = {0};
   static float x[18 * 18 * 8], w[3 * 3 * 8 * 16];
   open_run(&run, &net);
   fill_halves(&run, 0, AGX_COUNT(x));
   fill_halves(&run, 1, AGX_COUNT(w));
   execute(&run, &net);
   for (uint32_t i = 0; i < AGX_COUNT(x); i++)
      x[i] = agx_half_to_float(halves(&run, 0)[i]);
   for (uint32_t i = 0; i < AGX_COUNT(w); i++)
      w[i] = agx_half_to_float(halves(&run, 1)[i]);
   for (uint32_t i = 0; i < 16 * 16 * 16; i++)
      expect("conv_f16", i, agx_half_to_float(halves(&run, 2)[i]),
             convolved(x, w, 18, 8, 16, i / 256, i / 16 % 16, i % 16), 2e-2);
   close_run(&run, &net);
}

/* One position of one head. */
static void attend(struct run *run, uint32_t head, uint32_t row, double *out)
{
   const float *q = floats(run, 0), *k = floats(run, 1), *v = floats(run, 2);
   double score[64], most = -INFINITY, total = 0, squares = 0;
   for (uint32_t j = 0; j < 64; j++) {
      score[j] = 0;
      for (uint32_t d = 0; d < 32; d++)
         score[j] += (double)q[(head * 64 + row) * 32 + d] * k[(head * 64 + j) * 32 + d];
      most = fmax(most, score[j]);
   }
   for (uint32_t j = 0; j < 64; j++)
      total += score[j] = exp((score[j] - most) * 0.17677669);
   for (uint32_t d = 0; d < 32; d++) {
      out[d] = 0;
      for (uint32_t j = 0; j < 64; j++)
         out[d] += score[j] * v[(head * 64 + j) * 32 + d] / total;
      squares += out[d] * out[d];
   }
   for (uint32_t d = 0; d < 32; d++)
      out[d] /= sqrt(squares / 32 + 1e-5);
}

static void an_attention_block_computes_the_same(void **state)
{
   static const struct step steps[] = {
      {"attention_dispatch_0.spv", 4, 3, {0, 1, 4}}, {"attention_dispatch_1.spv", 256, 2, {4, 4}},
      {"attention_dispatch_2.spv", 4, 3, {4, 2, 4}}, {"attention_dispatch_3.spv", 256, 2, {4, 4}},
      {"attention_dispatch_4.spv", 256, 2, {4, 3}},
   };
   static const uint32_t bytes[] = {32768, 32768, 32768, 32768, 131072};
   const struct net net = {steps, AGX_COUNT(steps), AGX_COUNT(bytes), bytes};
   struct run run = {0};
   open_run(&run, &net);
   for (uint32_t i = 0; i < 3; i++)
      fill_floats(&run, i, bytes[i] / 4);
   execute(&run, &net);
   for (uint32_t i = 0; i < 4 * 64; i++) {
      double out[32];
      attend(&run, i / 64, i % 64, out);
      for (uint32_t d = 0; d < 32; d++)
         expect("attention", i * 32 + d, floats(&run, 3)[i * 32 + d], out[d], 1e-3);
   }
   close_run(&run, &net);
}

static void scores_of_halves_do_too(void **state)
{
   static const struct step steps[] = {{"scores_f16_dispatch_0.spv", 4, 3, {0, 1, 2}}};
   static const uint32_t bytes[] = {16384, 16384, 32768};
   const struct net net = {steps, AGX_COUNT(steps), AGX_COUNT(bytes), bytes};
   struct run run = {0};
   open_run(&run, &net);
   fill_halves(&run, 0, bytes[0] / 2);
   fill_halves(&run, 1, bytes[1] / 2);
   execute(&run, &net);
   for (uint32_t i = 0; i < 4 * 64 * 64; i++) {
      uint32_t head = i / 4096, row = i / 64 % 64, column = i % 64;
      double sum = 0;
      for (uint32_t d = 0; d < 32; d++)
         sum += (double)agx_half_to_float(halves(&run, 0)[(head * 64 + row) * 32 + d]) *
                agx_half_to_float(halves(&run, 1)[(head * 32 + d) * 64 + column]);
      expect("scores_f16", i, agx_half_to_float(halves(&run, 2)[i]), sum, 1e-2);
   }
   close_run(&run, &net);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_dispatch_compiles),
      cmocka_unit_test(a_perceptron_computes_the_same),
      cmocka_unit_test(with_cooperative_matrices_too),
      cmocka_unit_test(a_product_of_bytes_is_exact),
      cmocka_unit_test(a_convolution_net_computes_the_same),
      cmocka_unit_test(a_convolution_of_halves_does_too),
      cmocka_unit_test(an_attention_block_computes_the_same),
      cmocka_unit_test(scores_of_halves_do_too),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
