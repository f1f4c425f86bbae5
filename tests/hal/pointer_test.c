/* SPDX-License-Identifier: MIT
 *
 * Pointers and memories of all kinds, from SPIR-V (compiler/spv/NAME.comp) to the virtual
 * device, against the same computation in C: as glslang and as spirv-opt leave the modules,
 * robust and not, optimised and not. Strict and checked.
 */
#include "fixture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "base/util.h"

#define THREADS     64
#define MAX_BUFFERS 12
#define WORDS       2048

struct job {
   struct fixture fixture;
   struct agx_buffer *buffers[MAX_BUFFERS];
   uint32_t *memory[MAX_BUFFERS];
   uint64_t address[MAX_BUFFERS];
   uint32_t push[32];
};

/* One kernel: what it reads, where its buffers are bound, what must come out. */
struct kernel {
   const char *name;
   uint32_t buffers; /* made */
   uint32_t bound;   /* the first of them, at binding 0 and on */
   uint32_t push_B;
   const struct agx_binding *bindings; /* NULL: binding i is buffer i */
   void (*fill)(struct job *job);
   void (*check)(const struct job *job);
};

static struct agx_executable *load(struct job *job, const char *name, const char *suffix,
                                   bool robust)
{
   char path_in[96];
   struct agx_executable_desc desc = {.size = sizeof(desc),
                                      .robustness = robust ? AGX_ROBUST_CLAMP : AGX_ROBUST_OFF};
   struct agx_executable *executable = NULL;
   snprintf(path_in, sizeof(path_in), "compiler/spv/%s%s", name, suffix);
   char *path = agx_test_path(path_in), *spirv = agx_test_read_file(path, &desc.data_B);
   desc.data = spirv;
   agx_status status = agx_executable_create(job->fixture.device, &desc, &executable);
   if (status != AGX_OK)
      fail_msg("%s%s: %s", name, suffix, agx_error_peek());
   free(spirv);
   free(path);
   return executable;
}

static void run(const struct kernel *kernel, const char *suffix, const char *debug, bool robust)
{
   setenv("AGX_DEBUG", debug, 1);
   struct job job = {0};
   fixture_open(&job.fixture, "virtual");
   for (uint32_t i = 0; i < kernel->buffers; i++) {
      struct agx_buffer_info info = {.size = sizeof(info)};
      job.buffers[i] = fixture_buffer(&job.fixture, 4 * WORDS, &job.memory[i]);
      agx_buffer_get_info(job.buffers[i], &info);
      job.address[i] = info.address;
   }
   kernel->fill(&job);
   struct agx_executable *executable = load(&job, kernel->name, suffix, robust);
   struct agx_command_buffer *commands = fixture_begin(&job.fixture);
   struct agx_semaphore *done = fixture_semaphore(&job.fixture);
   struct agx_executable_info info = {.size = sizeof(info)};
   agx_executable_get_info(executable, &info);
   struct agx_binding bindings[2 * MAX_BUFFERS];
   for (uint32_t i = 0; i < kernel->bound; i++) {
      bindings[i] = kernel->bindings ? kernel->bindings[i] : (struct agx_binding){.binding = i};
      bindings[i].ref = (struct agx_buffer_ref){job.buffers[i], 0, AGX_WHOLE_LENGTH};
   }
   struct agx_dispatch dispatch = {
      .size = sizeof(dispatch),
      .executable = executable,
      .workgroups = {THREADS / info.local_size[0], 1, 1},
      .bindings = bindings,
      .binding_count = kernel->bound,
      .push = job.push,
      .push_B = kernel->push_B,
   };
   assert_ok(agx_cmd_dispatch(commands, &dispatch));
   assert_ok(agx_command_buffer_end(commands));
   assert_ok(fixture_submit(&job.fixture, commands, NO_POINT, (struct agx_point){done, 1}));
   assert_ok(fixture_wait(done, 1));
   kernel->check(&job);
   agx_release(commands);
   agx_release(done);
   agx_release(executable);
   for (uint32_t i = 0; i < kernel->buffers; i++)
      agx_release(job.buffers[i]);
   fixture_close(&job.fixture);
   unsetenv("AGX_DEBUG");
}

static void run_all(const struct kernel *kernel)
{
   setenv("AGX_VIRTUAL_STRICT", "1", 1);
   setenv("AGX_VIRTUAL_CHECK", "1", 1);
   run(kernel, ".spv", "validate", false);
   run(kernel, ".opt.spv", "validate", false);
   run(kernel, ".spv", "noopt,validate", true);
   run(kernel, ".opt.spv", "", true);
   unsetenv("AGX_VIRTUAL_STRICT");
   unsetenv("AGX_VIRTUAL_CHECK");
}

static void compare(const char *name, const uint32_t *got,
                    uint32_t (*twin)(const struct job *job, uint32_t i), const struct job *job)
{
   for (uint32_t i = 0; i < THREADS; i++)
      if (got[i] != twin(job, i))
         fail_msg("%s: thread %u: %d, not %d", name, i, (int)got[i], (int)twin(job, i));
}

/* ---- private memory ------------------------------------------------------ */

static void fill_small(struct job *job)
{
   for (uint32_t i = 0; i < THREADS; i++)
      job->memory[0][i] = i * 3 % 41;
}

struct pair {
   int key;
   bool odd;
};

static uint32_t private_twin(const struct job *job, uint32_t i)
{
   static const int table[20] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2, 3, 8, 4};
   int v = (int)job->memory[0][i], sp = 0, stack[12] = {0}, counts[40];
   uint32_t sum = 0;
   struct pair pairs[9];
   for (int k = 0; k < 40; k++)
      counts[k] = k;
   for (int k = 0; k < 9; k++)
      pairs[(k * 4 + v) % 9] = (struct pair){k - v, (k ^ v) & 1};
   for (int k = 0; k < 30; k++) {
      stack[sp] = v * k;
      sp = (sp + 1) % 12;
      counts[(v + k * k) % 40] += table[(v + k) % 20];
   }
   for (int k = 0; k < 40; k++)
      sum = sum * 3 + (uint32_t)counts[k];
   for (int k = 0; k < 12; k++)
      sum = sum * 5 + (uint32_t)stack[(sp + k) % 12];
   for (int k = 0; k < 9; k++)
      sum = sum * 9 + (uint32_t)(pairs[k].key + pairs[k].odd);
   for (int k = 0; k < 3; k++) {
      /* m[(j + v) % 3] is j + 1 on the diagonal */
      int j = ((k - v) % 3 + 3) % 3;
      sum = sum * 13 + (uint32_t)((v % 3 == k ? j + 1 : 0) + ((v + 1) % 3 == k ? j + 1 : 0));
   }
   return sum;
}

static void check_private(const struct job *job)
{
   compare("private_memory", job->memory[1], private_twin, job);
}

static void private_memory(void **state)
{
   run_all(&(struct kernel){"private_memory", 2, 2, 0, NULL, fill_small, check_private});
}

struct wide_pair {
   int key;
   bool odd;
   int64_t wide[2];
};

static uint32_t types_twin(const struct job *job, uint32_t i)
{
   static const int table[20] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2, 3, 8, 4};
   int v = (int)job->memory[0][i], sp = 0, stack[12] = {0}, counts[40];
   uint32_t sum = 0;
   struct wide_pair pairs[9];
   uint8_t bytes[33];
   int halves[5][3];
   for (int k = 0; k < 40; k++)
      counts[k] = k;
   for (int k = 0; k < 33; k++)
      bytes[(k * 7 + v) % 33] = (uint8_t)(k + v);
   for (int k = 0; k < 9; k++)
      pairs[(k * 4 + v) % 9] = (struct wide_pair){k - v, (k ^ v) & 1, {k * 1000003ll, -k}};
   for (int k = 0; k < 5; k++)
      memcpy(halves[(k + v) % 5], (int[]){k, k + 1, v}, sizeof(halves[0]));
   for (int k = 0; k < 30; k++) {
      stack[sp] = v * k;
      sp = (sp + 1) % 12;
      counts[(v + k * k) % 40] += table[(v + k) % 20];
   }
   for (int k = 0; k < 40; k++)
      sum = sum * 3 + (uint32_t)counts[k];
   for (int k = 0; k < 12; k++)
      sum = sum * 5 + (uint32_t)stack[(sp + k) % 12];
   for (int k = 0; k < 33; k++)
      sum = sum * 7 + bytes[k];
   for (int k = 0; k < 9; k++)
      sum = sum * 9 + (uint32_t)(pairs[k].key + pairs[k].odd + (int)(pairs[k].wide[v & 1] >> 4));
   for (int k = 0; k < 5; k++)
      sum = sum * 11 + (uint32_t)halves[k][v % 3];
   for (int k = 0; k < 3; k++) {
      /* m[(j + v) % 3] is j + 1 on the diagonal */
      int j = ((k - v) % 3 + 3) % 3;
      sum = sum * 13 + (uint32_t)((v % 3 == k ? j + 1 : 0) + ((v + 1) % 3 == k ? j + 1 : 0));
   }
   return sum;
}

static void check_types(const struct job *job)
{
   compare("private_types", job->memory[1], types_twin, job);
}

/* The same with 8, 16 and 64 bits beside them. */
static void private_types(void **state)
{
   run_all(&(struct kernel){"private_types", 2, 2, 0, NULL, fill_small, check_types});
}

/* ---- addresses ------------------------------------------------------------ */

/* Buffers: 0 output, 1 list of nodes {value, pad, next}, 2 integers, 3 row, 4 counter. */
static void fill_addresses(struct job *job)
{
   for (uint32_t i = 0; i < 8; i++) {
      uint64_t next = i < 6 ? job->address[1] + 16 * (i + 1) : 0;
      job->memory[1][4 * i] = i * i + 1;
      memcpy(&job->memory[1][4 * i + 2], &next, sizeof(next));
   }
   for (uint32_t i = 0; i < 2 * THREADS; i++)
      job->memory[2][i] = i * 17;
   for (uint32_t i = 0; i < 8; i++) {
      float f = (float)(i * 5);
      memcpy(&job->memory[3][i], &f, sizeof(f));
   }
   for (uint32_t i = 0; i < THREADS; i++)
      job->memory[3][8 + i] = i ^ 5;
   uint64_t push[] = {job->address[1], job->address[2] + 4 * THREADS, job->address[3],
                      job->address[4]};
   memcpy(job->push, push, sizeof(push));
   job->push[8] = THREADS;
}

static uint32_t addresses_list(uint32_t i)
{
   uint32_t s = 0;
   for (uint32_t k = 0; k < i % 9 && k < 7; k++)
      s = s * 3 + k * k + 1;
   return s;
}

static uint32_t addresses_twin(const struct job *job, uint32_t i)
{
   uint32_t s = addresses_list(i) + (THREADS + i) * 17;
   uint32_t picked = THREADS + ((i & 1) ? i : i ^ 2);
   return s + picked * 17 * 7 + ((i & 1) * 4 + (i >> 1 & 1) * 2 + (i >> 2 & 1)) * 5 + (i ^ 5);
}

static void check_addresses(const struct job *job)
{
   compare("addresses", job->memory[0], addresses_twin, job);
   for (uint32_t i = 0; i < THREADS; i++)
      assert_int_equal(job->memory[2][i], addresses_list(i) + (THREADS + i) * 17);
   assert_int_equal(job->memory[4][0], THREADS * (THREADS - 1) / 2);
}

static void addresses(void **state)
{
   run_all(&(struct kernel){"addresses", 5, 1, 36, NULL, fill_addresses, check_addresses});
}

/* ---- variable pointers ----------------------------------------------------- */

static uint32_t x_of(uint32_t i)
{
   return i * i + 3;
}

static uint32_t z_of(uint32_t i)
{
   return 1000 - 7 * i;
}

static void fill_variable(struct job *job)
{
   for (uint32_t i = 0; i < 2 * THREADS; i++) {
      job->memory[0][i] = x_of(i);
      job->memory[2][i] = z_of(i);
   }
}

static uint32_t variable_twin(const struct job *job, uint32_t i)
{
   bool odd = i & 1;
   uint32_t lane = i % 32, group = i - lane, mirror = 31 - lane, at = i, sum = 0;
   for (uint32_t k = 0; k < 5; k++) {
      uint32_t v = odd ? x_of(at) : z_of(at);
      uint32_t w = k > 0 ? x_of(i) : odd ? x_of(group + mirror) : group + mirror;
      sum = sum * 5 + v + w;
      at += odd ? 2 : 1;
   }
   return sum + (at - i) + (odd ? 100 : 0);
}

static void check_variable(const struct job *job)
{
   compare("variable_pointers", job->memory[1], variable_twin, job);
   for (uint32_t i = 0; i < THREADS; i++) {
      assert_int_equal(job->memory[0][128 + i], i & 1 ? i : 0);
      assert_int_equal(job->memory[2][128 + i], i & 1 ? 0 : i);
   }
}

static void variable_pointers(void **state)
{
   run_all(&(struct kernel){"variable_pointers", 3, 3, 0, NULL, fill_variable, check_variable});
}

/* ---- arrays of buffers ------------------------------------------------------ */

/* Buffers 0 to 2 are ins, 3 and 4 rows, 5 to 9 outs. */
static const struct agx_binding array_bindings[] = {
   {.binding = 0, .element = 0}, {.binding = 0, .element = 1}, {.binding = 0, .element = 2},
   {.binding = 1, .element = 0}, {.binding = 1, .element = 1}, {.binding = 2, .element = 0},
   {.binding = 2, .element = 1}, {.binding = 2, .element = 2}, {.binding = 2, .element = 3},
   {.binding = 2, .element = 4},
};

static void fill_arrays(struct job *job)
{
   for (uint32_t b = 0; b < 3; b++)
      for (uint32_t i = 0; i < THREADS; i++)
         job->memory[b][i] = (b + 2) * i + b;
   for (uint32_t b = 0; b < 2; b++) {
      for (uint32_t i = 0; i < 4; i++)
         job->memory[3 + b][i] = 10 * b + i;
      for (uint32_t i = 0; i < 8; i++) { /* columns of three, 16 bytes apart */
         float f = (float)(100 * b + i);
         memcpy(&job->memory[3 + b][4 + i], &f, sizeof(f));
      }
   }
}

static uint32_t arrays_b(uint32_t i)
{
   return (i % 3 + 2) * i + i % 3 + WORDS;
}

static uint32_t arrays_twin(const struct job *job, uint32_t i)
{
   uint32_t a = 2 * i + (4 * i + 2) * 3;
   uint32_t c = 10 * (i & 1) + (i & 3) + 11 + 100 * (i >> 1 & 1) + 4 * (i & 1) + i % 3;
   return a + arrays_b(i) * 5 + c * 7;
}

static void check_arrays(const struct job *job)
{
   compare("buffer_arrays", job->memory[9], arrays_twin, job);
   uint32_t sums[2] = {0};
   for (uint32_t i = 0; i < THREADS; i++) {
      assert_int_equal(job->memory[5 + (i & 1)][i + 2], arrays_b(i));
      sums[i & 1] += i;
   }
   assert_int_equal(job->memory[7][0], sums[0]);
   assert_int_equal(job->memory[8][0], sums[1]);
}

static void buffer_arrays(void **state)
{
   run_all(&(struct kernel){"buffer_arrays", 10, 10, 0, array_bindings, fill_arrays, check_arrays});
}

/* ---- workgroup memory -------------------------------------------------------- */

/* Words, bytes and halves are the same memory; mat2 m comes behind 64 words. */
static uint32_t blocks_twin(const struct job *job, uint32_t i)
{
   uint32_t lane = i % 32, words[68];
   for (uint32_t k = 0; k < 32; k++) {
      words[k] = job->memory[0][i - lane + k] * 0x01030507u;
      words[32 + k] = k;
   }
   static const float m[4] = {1, 2, 3, 4};
   uint32_t at = (lane * 4 + 1) % 128;
   uint32_t byte = words[at / 4] >> 8 * (at % 4) & 0xff;
   uint32_t half = words[2 + lane / 2] >> 16 * (lane % 2) & 0xffff;
   uint32_t s = byte + half * 3 + (uint32_t)m[(lane & 1) * 2 + (lane >> 1 & 1)];
   for (uint32_t k = 0; k < 32; k++) {
      words[k / 4] &= ~(0xffu << 8 * (k % 4));
      words[k / 4] |= (k + 7) << 8 * (k % 4);
   }
   return s + words[lane / 4] * 5;
}

static void check_blocks(const struct job *job)
{
   compare("shared_blocks", job->memory[1], blocks_twin, job);
}

static void workgroup_blocks(void **state)
{
   run_all(&(struct kernel){"shared_blocks", 2, 2, 0, NULL, fill_small, check_blocks});
}

static uint32_t zeros_twin(const struct job *job, uint32_t i)
{
   uint32_t counts[41] = {0}, sum = 0;
   for (uint32_t k = 0; k < 32; k++)
      counts[job->memory[0][i / 32 * 32 + k]]++;
   for (uint32_t k = 0; k < 41; k++)
      sum = sum * 3 + counts[k];
   return sum + 9;
}

static void check_zeros(const struct job *job)
{
   compare("shared_zeros", job->memory[1], zeros_twin, job);
}

static void workgroup_zeros(void **state)
{
   run_all(&(struct kernel){"shared_zeros", 2, 2, 0, NULL, fill_small, check_zeros});
}

/* ---- small floats ----------------------------------------------------------- */

/* What small_float_places.comp reads, as its blocks lie in memory. */
struct small_floats {
   uint16_t b[32][3];
   uint8_t e[32][2], f[32];
   struct {
      uint16_t b;
      uint8_t e, f;
   } mixed[96];
};

struct small_uniforms {
   uint16_t b;
   uint8_t f[2][4], e;
};

struct small_push {
   uint16_t b[2];
   uint8_t e[4], f;
};

#define RESULTS 24 /* of a thread */

static uint16_t bfloat16(float x)
{
   uint32_t bits;
   memcpy(&bits, &x, sizeof(bits));
   return (uint16_t)(bits >> 16);
}

static float of_bfloat16(uint16_t code)
{
   uint32_t bits = (uint32_t)code << 16;
   float x;
   memcpy(&x, &bits, sizeof(x));
   return x;
}

static float of_8_bits(uint8_t code, unsigned fraction_bits, int bias)
{
   int fraction = code & ((1 << fraction_bits) - 1), exponent = (code & 0x7f) >> fraction_bits;
   if (exponent)
      fraction |= 1 << fraction_bits;
   float x = ldexpf((float)fraction, AGX_MAX(exponent, 1) - bias - (int)fraction_bits);
   return code & 0x80 ? -x : x;
}

static float of_e4m3(uint8_t code)
{
   return of_8_bits(code, 3, 7);
}

static float of_e5m2(uint8_t code)
{
   return of_8_bits(code, 2, 15);
}

/* What E4M3 holds as well: b[0] and b[1]; what E5M2 does: mixed.e. No NaN or infinity. */
static void fill_small_floats(struct job *job)
{
   struct small_floats *x = (struct small_floats *)job->memory[1];
   struct small_uniforms *uniforms = (struct small_uniforms *)job->memory[2];
   struct small_push *push = (struct small_push *)job->push;
   for (uint32_t i = 0; i < 32; i++) {
      x->b[i][0] = bfloat16((float)(i % 15 + 1) / 8);
      x->b[i][1] = bfloat16(-(float)(i % 16));
      x->b[i][2] = (uint16_t)(i * 2017);
      x->e[i][1] = (uint8_t)(i * 37 % 0x7f | (i & 1) << 7);
      x->f[i] = (uint8_t)(i * 53 % 0x7c | (i & 2) << 6);
      x->mixed[i].e = (uint8_t)((i * 29 % 0x7e & ~1u) | (i & 4) << 5);
   }
   uniforms->b = bfloat16(-3e20f);
   uniforms->e = 0xc5;
   for (uint8_t i = 0; i < 8; i++)
      uniforms->f[i / 4][i % 4] = (uint8_t)(i * 15 + 1);
   *push = (struct small_push){{0x4049, 0xbfb5}, {1, 2, 3, 0x7e}, 0x83};
}

static void small_floats_twin(const struct job *job, uint32_t i, float *r)
{
   static const float chain[5] = {-0.4375f, 0.4375f, 1.5f, 3, 5};
   /* 0 to 31 with three bits, halves to even. */
   static const float integers[32] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  8,  10,
                                      12, 12, 12, 14, 16, 16, 16, 16, 20, 20, 20,
                                      24, 24, 24, 24, 24, 28, 28, 28, 32, 32};
   static const uint16_t table[4] = {0x3f80, 0xc000, 0x3f00, 0x4480};
   const struct small_floats *x = (const struct small_floats *)job->memory[1];
   const struct small_uniforms *uniforms = (const struct small_uniforms *)job->memory[2];
   const struct small_push *push = (const struct small_push *)job->push;
   for (unsigned k = 0; k < 3; k++)
      r[k] = of_bfloat16(x->b[i][k]);
   r[3] = of_e4m3(x->e[i][1]);
   r[4] = of_e5m2(x->f[i]);
   r[5] = of_e4m3(x->mixed[i].e);
   r[6] = of_bfloat16(uniforms->b);
   r[7] = of_e5m2(uniforms->f[i % 2][i % 4]);
   r[8] = of_e4m3(uniforms->e);
   r[9] = of_bfloat16(push->b[i % 2]);
   r[10] = of_e4m3(push->e[3]);
   r[11] = of_e5m2(push->f);
   r[12] = 1.5f - 0.4375f;
   r[13] = 3.5f;
   r[14] = of_bfloat16(table[i % 4]);
   r[15] = of_bfloat16(x->b[31 - i][2]);
   r[16] = of_e5m2(x->f[31 - i]);
   r[17] = integers[31 - i];
   r[18] = i < 7 ? r[0] : 1.5f;
   r[19] = chain[i % 5];
   r[20] = (float)((i % 3 - i) & 3);
   r[21] = r[5];
   r[22] = r[0];
   r[23] = r[1];
}

static void check_small_floats(const struct job *job)
{
   const struct small_floats *x = (const struct small_floats *)job->memory[1];
   for (uint32_t i = 0; i < THREADS; i++) {
      float want[RESULTS], got[RESULTS];
      small_floats_twin(job, i % 32, want);
      memcpy(got, job->memory[0] + RESULTS * i, sizeof(got));
      for (unsigned k = 0; k < RESULTS; k++)
         if (memcmp(&got[k], &want[k], sizeof(*got)))
            fail_msg("thread %u: result %u is %g, not %g", i, k, (double)got[k], (double)want[k]);
      assert_int_equal(x->mixed[32 + i].e, x->mixed[i % 32].e);
      float e = of_e4m3(x->mixed[i % 32].e);
      assert_true(e == of_bfloat16(x->mixed[32 + i].b) && e == of_e5m2(x->mixed[32 + i].f));
   }
}

static void small_floats(void **state)
{
   run_all(&(struct kernel){"small_float_places", 3, 3, 12, NULL, fill_small_floats,
                            check_small_floats});
}

/* ---- indices -------------------------------------------------------------- */

static void fill_wraps(struct job *job)
{
   for (uint32_t i = 0; i < THREADS; i++)
      job->memory[0][i] = i - 1;
   for (uint32_t i = 0; i < WORDS; i++) {
      job->memory[1][i] = i * 2654435761u;
      job->memory[4][i] = i;
   }
}

static uint32_t wraps_twin(const struct job *job, uint32_t i)
{
   const uint32_t *x = job->memory[1];
   return x[i] + 3 * x[i + 2] + 5 * x[2 * i] + 7 * x[2 * i + 3] + 11 * x[4 * i];
}

static void check_wraps(const struct job *job)
{
   compare("index_wraps", job->memory[2], wraps_twin, job);
   for (uint32_t i = 0; i < THREADS; i++) {
      assert_int_equal(job->memory[3][i], i + job->memory[1][i + 1]);
      assert_int_equal(job->memory[4][i], i + 2 + i);
   }
}

static void index_wraps(void **state)
{
   run_all(&(struct kernel){"index_wraps", 5, 5, 0, NULL, fill_wraps, check_wraps});
}

/* ---- the Vulkan memory model --------------------------------------------------- */

static uint32_t model_twin(const struct job *job, uint32_t i)
{
   return job->memory[0][i ^ 31] * 3 + ((i % 32 ^ 31) + 1) * 1000;
}

static void check_model(const struct job *job)
{
   compare("memory_model", job->memory[1], model_twin, job);
   for (uint32_t k = 0; k < 4; k++) {
      uint32_t sum = 0;
      for (uint32_t i = k; i < THREADS; i += 4)
         sum += (i % 32 ^ 31) + 1;
      assert_int_equal(job->memory[1][512 + k], sum);
   }
}

static void memory_model(void **state)
{
   run_all(&(struct kernel){"memory_model", 3, 3, 0, NULL, fill_small, check_model});
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(private_memory),  cmocka_unit_test(private_types),
      cmocka_unit_test(addresses),       cmocka_unit_test(variable_pointers),
      cmocka_unit_test(buffer_arrays),   cmocka_unit_test(workgroup_blocks),
      cmocka_unit_test(workgroup_zeros), cmocka_unit_test(memory_model),
      cmocka_unit_test(index_wraps),     cmocka_unit_test(small_floats),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
