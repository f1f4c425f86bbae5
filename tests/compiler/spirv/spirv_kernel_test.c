/* SPDX-License-Identifier: MIT
 *
 * Small kernels (spv/NAME.comp), as glslang makes them and as spirv-opt -O leaves them:
 * their IR is evaluated and compared with the same computation in C.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir_eval.h"
#include "spirv_support.h"

#define THREADS 32

struct buffer {
   uint32_t set, binding;
   void *data;
   uint64_t size_B;
};

struct run {
   const char *kernel;
   struct buffer buffers[4];
   uint8_t push[AGX_PROGRAM_MAX_PUSH_B];
   const struct agxc_spec *specs;
   uint32_t spec_count;
};

static const char *const variants[] = {".spv", ".opt.spv"};

static void run_kernel(const struct run *run, const char *variant)
{
   char name[96];
   size_t size;
   snprintf(name, sizeof(name), "compiler/spv/%s%s", run->kernel, variant);
   char *path = agx_test_path(name), *spirv = agx_test_read_file(path, &size);
   struct agxc_options options = {.specs = run->specs, .spec_count = run->spec_count};
   struct spirv_front front;
   assert_ok(spirv_front_run(&front, spirv, size / 4, &options));
   spirv_front_check(&front);
   struct ir_eval eval = {.shader = front.shader, .workgroups = {1, 1, 1}, .max_steps = 10000000};
   memcpy(eval.push, run->push, sizeof(eval.push));
   for (uint32_t i = 0; i < front.shader->binding_count; i++)
      for (size_t b = 0; b < AGX_COUNT(run->buffers); b++)
         if (run->buffers[b].set == front.shader->bindings[i].set &&
             run->buffers[b].binding == front.shader->bindings[i].binding && run->buffers[b].data)
            eval.buffers[i] = (struct ir_eval_buffer){run->buffers[b].data, run->buffers[b].size_B};
   assert_ok(ir_eval_run(&eval));
   spirv_front_fini(&front);
   free(spirv);
   free(path);
}

/* ---- kernels of one int in, one int out -------------------------------- */

#define UNTOUCHED (-123456)

typedef int (*twin)(int x);

static void check_ints(const char *kernel, twin expected, int first)
{
   for (size_t v = 0; v < AGX_COUNT(variants); v++) {
      int in[THREADS], out[THREADS];
      for (int i = 0; i < THREADS; i++) {
         in[i] = first + i;
         out[i] = UNTOUCHED;
      }
      struct run run = {.kernel = kernel,
                        .buffers = {{0, 0, in, sizeof(in)}, {0, 1, out, sizeof(out)}}};
      run_kernel(&run, variants[v]);
      for (int i = 0; i < THREADS; i++)
         if (out[i] != expected(in[i]))
            fail_msg("%s%s: f(%d) = %d, not %d", kernel, variants[v], in[i], out[i],
                     expected(in[i]));
   }
}

static int switches_twin(int x)
{
   int s = 0;
   for (int k = 0; k < 6; k++) {
      switch (x + k) {
      case 1:
         s += 1;
         /* fall through */
      case 2:
         if (k == 2)
            break;
         s += 20;
         break;
      case 3:
         if (k == 1)
            continue;
         s += 300;
         /* fall through */
      default:
         s += 4000;
         break;
      case 5:
         s += 50000;
      }
      s += 1000000;
   }
   return x == 7 || x == 8 ? -s : s;
}

/* -1 * 0x100000001 isn't -1, and 3 * 0x100000001 isn't 3. */
static int switches64_twin(int x)
{
   return x == 0 ? 1 : x == 1 ? 20 : x == 2 ? 300 : x;
}

static int find(int x, int limit)
{
   if (x < 0)
      return -1;
   for (int i = 0; i < limit; i++) {
      for (int j = 0; j < i; j++) {
         if (i * j == x)
            return i * 100 + j;
         if (j > 6)
            break;
      }
      if (i > 20)
         return 5000;
   }
   return 6000;
}

static int classify(int x)
{
   switch (x & 3) {
   case 0:
      return find(x, 10);
   case 1:
      for (int i = 0; i < 4; i++)
         if ((x >> i) == 2)
            return i;
      break;
   case 2:
      if (x > 9)
         return 77;
   }
   return find(x + 1, 30) + 1;
}

static int returns_twin(int x)
{
   if (x == 13)
      return UNTOUCHED;
   int first = classify(x);
   return first > 0 ? first + find(first, 5) : first;
}

static int loops_twin(int x)
{
   int n = 0, m = 1;
   do {
      n++;
      if ((n & 1) == 0)
         continue;
      m += n * x;
   } while (n < x);
   while (!(m < 0 || m > 1000))
      for (int k = 0;; k++) {
         m += k;
         if (k == 3)
            break;
         if (m % 7 == 0)
            return -m;
      }
   int t = x, u = 1;
   while (t > 1) {
      int swap = t;
      t = u;
      u = swap - 1;
   }
   return m + t * 10 + u;
}

static int arrays_twin(int input)
{
   static const int table[8] = {3, 1, 4, 1, 5, 9, 2, 6};
   int x = input & 7, local[5] = {0}, v[2][3] = {{0}}, w[4];
   for (int k = 0; k < 10; k++)
      local[(x + k * k) % 5] += table[(x + k) & 7];
   v[0][0] = x, v[0][1] = local[1], v[0][2] = local[2];
   v[x & 1][1] += 7;
   v[1][x % 3] = 11;
   w[0] = local[0], w[1] = local[3], w[2] = local[4], w[3] = x;
   w[x & 3] += 100;
   return local[x % 5] + v[0][1] * 3 + v[1][0] + v[1][1] * 5 + w[0] + w[(x + 1) & 3];
}

static void switches(void **state)
{
   check_ints("switches", switches_twin, -10);
   check_ints("switches64", switches64_twin, -10);
}

static void returns(void **state)
{
   check_ints("returns", returns_twin, -3);
   check_ints("returns", returns_twin, 90);
}

static void loops(void **state)
{
   check_ints("loops", loops_twin, 0);
}

static void arrays(void **state)
{
   check_ints("arrays", arrays_twin, 0);
}

/* ---- memory ------------------------------------------------------------ */

static void push_arrays(void **state)
{
   int push[23], in[THREADS], out[THREADS];
   for (int i = 0; i < 23; i++)
      push[i] = 3 * i + 1;
   for (int i = 0; i < THREADS; i++)
      in[i] = i;
   for (size_t v = 0; v < AGX_COUNT(variants); v++) {
      struct run run = {.kernel = "push_arrays",
                        .buffers = {{0, 0, in, sizeof(in)}, {0, 1, out, sizeof(out)}}};
      memcpy(run.push, push, sizeof(push));
      run_kernel(&run, variants[v]);
      for (int i = 0; i < THREADS; i++)
         assert_int_equal(out[i],
                          push[(i & 1) * 4 + (i & 3)] + push[16 + i % 6] * 10 + push[22] * 100);
   }
}

static void check_shared_memory(const char *kernel, size_t variant_count)
{
   int in[THREADS], out[THREADS], total = 0, most = -1000;
   for (int i = 0; i < THREADS; i++) {
      in[i] = (i * 7) % 13 - 4;
      total += in[i];
      most = AGX_MAX(most, in[i]);
   }
   for (size_t v = 0; v < variant_count; v++) {
      struct run run = {.kernel = kernel,
                        .buffers = {{0, 0, in, sizeof(in)}, {0, 1, out, sizeof(out)}}};
      run_kernel(&run, variants[v]);
      for (int i = 0; i < THREADS; i++) {
         int other = (i + 5) & 31;
         assert_int_equal(out[i], total * 1000 + most * 100 + other * 10 + other / 8 +
                                     (in[other] > 3 ? 5 : 0));
      }
   }
}

/* shared_split: each barrier is an arrival and a wait of SPV_INTEL_split_barrier. */
static void shared_memory(void **state)
{
   check_shared_memory("shared_memory", AGX_COUNT(variants));
   check_shared_memory("shared_split", 1);
}

static void specs(void **state)
{
   static const struct agxc_spec values[] = {{0, 4, 4}, {1, 4, 5}, {2, 1, 1}, {3, 4, 0x40000000}};
   for (size_t v = 0; v < AGX_COUNT(variants); v++) {
      int out[8] = {0};
      struct run run = {.kernel = "specs", .buffers = {{0, 1, out, sizeof(out)}}};
      run_kernel(&run, variants[v]);
      assert_int_equal(out[1], 18 + 2 + 56 + 1000 + 2);
      run.specs = values;
      run.spec_count = AGX_COUNT(values);
      run_kernel(&run, variants[v]);
      for (int i = 0; i < 8; i++)
         assert_int_equal(out[i], -50 + 8 + 88 + 4000 + 2);
   }
}

static void float_specs(void **state)
{
   double out[7];
   struct agxc_spec value = {.id = 0, .bytes = 8};
   struct run run = {.kernel = "spec_floats", .buffers = {{0, 0, out, sizeof(out)}}};
   for (double x = 0.1; x < 9; x += 3.9) {
      float single = (float)x + 0.7f;
      memcpy(&value.value, &x, sizeof(x));
      run.specs = &value;
      run.spec_count = x > 1;
      run_kernel(&run, ".spv");
      const double want[] = {x + 3, x * 3, x - 3, x + 3, (double)single, -3, 0x1.668p-1};
      assert_memory_equal(out, want, sizeof(want));
   }
}

/* hints.spvasm: spirv-opt of our time does not know its instructions. */
static void hints_and_equal_parts(void **state)
{
   static const struct agxc_spec chosen = {5, 4, 90};
   for (uint32_t specs = 0; specs < 2; specs++) {
      int in[THREADS], out[THREADS];
      for (int i = 0; i < THREADS; i++)
         in[i] = i * 31 % 17 - 5;
      struct run run = {.kernel = "hints",
                        .buffers = {{0, 0, in, sizeof(in)}, {0, 1, out, sizeof(out)}},
                        .specs = &chosen,
                        .spec_count = specs};
      run_kernel(&run, ".spv");
      for (int i = 0; i < THREADS; i++)
         assert_int_equal(out[i], (in[i] + (specs ? 90 : 11)) * 7);
   }
}

static void empty_arrays(void **state)
{
   static const struct agxc_spec none = {0, 4, 0};
   for (size_t v = 0; v < AGX_COUNT(variants); v++) {
      int in[THREADS], out[THREADS];
      for (int i = 0; i < THREADS; i++)
         in[i] = i * 31 % 17;
      struct run run = {.kernel = "empty_arrays",
                        .buffers = {{0, 0, in, sizeof(in)}, {0, 1, out, sizeof(out)}},
                        .specs = &none,
                        .spec_count = 1};
      run_kernel(&run, variants[v]);
      for (int i = 0; i < THREADS; i++)
         assert_int_equal(out[i], in[i] + 7);
   }
}

struct node {
   uint32_t next, pad[3];
   float p[3], w[2], pad2[3];
};

static void buffers(void **state)
{
   for (size_t v = 0; v < AGX_COUNT(variants); v++) {
      struct {
         uint32_t count, pad[3];
         struct node nodes[20];
      } nodes = {0};
      _Static_assert(sizeof(struct node) == 48, "std430");
      float bias[4] = {1, 2, 3, 4};
      int counters[6] = {0};
      for (uint32_t i = 0; i < 20; i++)
         nodes.nodes[i] = (struct node){.next = i, .p = {i, 2, 3}, .w = {5, 6}};
      struct run run = {.kernel = "buffers",
                        .buffers = {{1, 2, &nodes, sizeof(nodes)},
                                    {0, 3, counters, sizeof(counters)},
                                    {0, 1, bias, sizeof(bias)}}};
      run_kernel(&run, variants[v]);
      for (uint32_t i = 0; i < 20; i++) {
         const struct node *node = &nodes.nodes[i];
         assert_true(node->next == i && node->p[0] == i + bias[i & 3] &&
                     node->p[2] == 3 + bias[i & 3] && node->w[0] == 5 && node->w[1] == 4);
      }
      const int expected[] = {0 + 4 + 8 + 12 + 16, 45, 50, 55, -7, 1};
      assert_memory_equal(counters, expected, sizeof(expected));
      assert_int_equal(nodes.count, 0);
   }
}

/* ---- arithmetic -------------------------------------------------------- */

static uint32_t field(uint32_t x, unsigned offset, unsigned count)
{
   return x >> offset & (uint32_t)agx_bits(count);
}

static void integers_twin(int x, int y, int *r)
{
   uint32_t ux = (uint32_t)x, uy = (uint32_t)y, reversed = 0;
   int64_t product = (int64_t)x * y;
   for (unsigned i = 0; i < 32; i++)
      reversed |= (uy >> i & 1) << (31 - i);
   r[0] = (int)(ux + uy);
   r[1] = ux + uy < ux;
   r[2] = (int)(ux - uy);
   r[3] = ux < uy;
   r[4] = (int)((uint64_t)ux * uy >> 32);
   r[5] = (int)(product >> 32);
   r[6] = (int)product;
   r[8] = (int)field(ux, 5, 9);
   r[7] = r[8] >= 256 ? r[8] - 512 : r[8];
   r[9] = (int)((ux & ~0x3f8u) | (uy << 3 & 0x3f8u));
   r[10] = x ? __builtin_ctz(ux) : -1;
   uint32_t magnitude = x < 0 ? ~ux : ux;
   r[11] = magnitude ? 31 - __builtin_clz(magnitude) : -1;
   r[12] = x ? 31 - __builtin_clz(ux) : -1;
   r[13] = (int)((uint32_t)__builtin_popcount(ux) + reversed);
   r[14] = (int)((x < 0 ? 0 - ux : ux) + (uint32_t)((y > 0) - (y < 0)));
   r[15] = AGX_MIN(x, y) ^ (int)AGX_MAX(ux, uy);
   r[16] = AGX_MIN(AGX_MAX(x, -100), 100) + (int)AGX_MIN(AGX_MAX(uy, 5u), 50u);
   r[17] = y ? (int)((int64_t)x / y) : 0;
   r[18] = y ? (int)(ux / uy) : 0;
   r[19] = (int)((int64_t)x >> (y & 31));
   r[20] = (int)(ux >> (y & 31) | ux << (y & 7));
   r[21] = (x < y) | (ux < uy) << 1 | (x >= y) << 2 | (ux <= uy) << 3;
   r[22] = ~x & (x | y);
   r[23] = (x < y || y < 3) && !(x == y && y == 1);
}

static void integers(void **state)
{
   struct agx_test_rng rng = {77};
   static const int special[] = {0, 1, -1, 7, 0x7fffffff, (int)0x80000000, 31, -32};
   int in[2 * THREADS], out[THREADS][24], expected[24];
   for (int i = 0; i < 2 * THREADS; i++)
      in[i] = i < 48 ? special[(i & 1 ? i / 16 + i / 2 : i / 2) % 8] : (int)agx_test_random(&rng);
   for (size_t v = 0; v < AGX_COUNT(variants); v++) {
      struct run run = {.kernel = "integers",
                        .buffers = {{0, 0, in, sizeof(in)}, {0, 1, out, sizeof(out)}}};
      run_kernel(&run, variants[v]);
      for (int i = 0; i < THREADS; i++) {
         integers_twin(in[2 * i], in[2 * i + 1], expected);
         for (int j = 0; j < 24; j++)
            if (out[i][j] != expected[j])
               fail_msg("integers%s: r[%d] of %d, %d is %d, not %d", variants[v], j, in[2 * i],
                        in[2 * i + 1], out[i][j], expected[j]);
      }
   }
}

static void floats_twin(double x, double *r)
{
   double u = fabs(x) - floor(fabs(x)), t = AGX_MIN(AGX_MAX((x + 2) / 4, 0), 1), whole;
   int e;
   r[0] = rint(x) + trunc(x) * 10;
   r[1] = floor(x) + ceil(x) * 10;
   r[2] = (x > 0) - (x < 0);
   r[3] = x * 3.14159265358979323846 / 180;
   r[4] = x * 180 / 3.14159265358979323846;
   r[5] = sin(x);
   r[6] = cos(x);
   r[7] = tan(x);
   r[8] = asin(2 * u - 1);
   r[9] = acos(2 * u - 1);
   r[10] = atan(x);
   r[11] = atan2(x, u - 0.5);
   r[12] = sinh(x);
   r[13] = cosh(x);
   r[14] = tanh(x);
   r[15] = asinh(x);
   r[16] = acosh(1 + fabs(x));
   r[17] = atanh(u * 0.9 - 0.45);
   r[18] = pow(fabs(x), u);
   r[19] = exp(x);
   r[20] = log(fabs(x) + 0.01);
   r[21] = 1 / sqrt(fabs(x) + 1);
   r[22] = x * (1 - u) + 3 * u;
   r[23] = (u < 0.5 ? 0 : 1) + t * t * (3 - 2 * t) * 4;
   r[24] = x * u + 2;
   r[25] = frexp(x, &e);
   r[26] = e;
   r[27] = ldexp(u + 1, (int)x);
   r[28] = modf(x, &whole);
   r[28] += whole * 16;
   r[29] = x - 1.7 * floor(x / 1.7);
   r[30] = AGX_MIN(AGX_MAX(x, -1), 1) + AGX_MIN(x, u) * AGX_MAX(x, u);
   r[31] = x != u ? 4 : 0;
}

static void assert_close(const char *what, int j, double x, double got, double expected, double rel)
{
   if (!(fabs(got - expected) <= rel * (fabs(expected) + 0.1)))
      fail_msg("%s: r[%d] of %.9g is %.9g, not %.9g", what, j, x, got, expected);
}

static void floats(void **state)
{
   static const float in[THREADS] = {0,      0.1f,  -0.1f, 0.25f,  0.49f,  0.51f, 0.625f, -0.7f,
                                     0.9f,   0.99f, 1,     -1.01f, 1.3f,   1.5f,  -1.75f, 2.25f,
                                     -2.6f,  3.1f,  3.3f,  -3.9f,  4.4f,   5.8f,  -6.6f,  7.7f,
                                     -8.15f, 9.2f,  10.4f, 12.6f,  -13.3f, 17.2f, 20.5f,  -25.75f};
   float inputs[THREADS], out[THREADS][32];
   double expected[32];
   memcpy(inputs, in, sizeof(in));
   for (size_t v = 0; v < AGX_COUNT(variants); v++) {
      struct run run = {.kernel = "floats",
                        .buffers = {{0, 0, inputs, sizeof(inputs)}, {0, 1, out, sizeof(out)}}};
      run_kernel(&run, variants[v]);
      for (int i = 0; i < THREADS; i++) {
         floats_twin(in[i], expected);
         for (int j = 0; j < 32; j++)
            if (!(j == 18 && in[i] == 0)) /* pow(0, 0) is undefined */
               assert_close(variants[v], j, in[i], out[i][j], expected[j], 1e-5);
      }
   }
}

/* ---- vectors and matrices ---------------------------------------------- */

static double dot3(const double *a, const double *b)
{
   return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void normalized(const double *a, double add, double *out)
{
   double sum[3] = {a[0] + add, a[1] + add, a[2] + add};
   for (int i = 0; i < 3; i++)
      out[i] = sum[i] / sqrt(dot3(sum, sum));
}

static double refracted(const double *v, const double *n, double eta, int i)
{
   double d = dot3(n, v), k = 1 - eta * eta * (1 - d * d);
   return k < 0 ? 0 : eta * v[i] - (eta * d + sqrt(k)) * n[i];
}

static void vectors_twin(const float *a, double *r)
{
   double v[3] = {a[0], a[1], a[2]}, w[3] = {a[3], a[2], a[1]}, n[3], m[3], minus[3], apart[3];
   normalized(w, 5, n);
   for (int i = 0; i < 3; i++) {
      minus[i] = -n[i];
      apart[i] = v[i] - n[i];
   }
   r[0] = sqrt(dot3(v, v));
   r[1] = sqrt(dot3(apart, apart));
   r[2] = v[2] * n[0] - v[0] * n[2];
   normalized(v, 9, m);
   r[3] = m[2];
   r[4] = dot3(n, v) < 0 ? n[0] : -n[0];
   r[5] = v[2] - 2 * dot3(n, v) * n[2];
   normalized(v, 8, m);
   r[6] = refracted(m, n, 0.7, 0);
   r[7] = refracted(m, minus, 1.9, 1);
   r[8] = (double)a[0] * a[3] + (double)a[1] * a[0] + (double)a[2] * a[1] + (double)a[3] * a[2];
   r[9] = a[1];
   r[10] = AGX_MIN(AGX_MAX(a[3], 0), 1);
   r[11] = AGX_MIN(AGX_MAX(a[0], -1), 1);
   r[12] = AGX_MIN(AGX_MAX(a[1], 0), 1);
   r[13] = AGX_MIN(AGX_MAX(a[2], -1), 1);
   r[14] = v[1] > n[1] ? n[1] : v[1];
   r[15] = n[1] * 3 + n[0];
}

static void vectors(void **state)
{
   struct agx_test_rng rng = {5};
   float in[THREADS][4], out[THREADS][16];
   double expected[16];
   for (int i = 0; i < THREADS; i++)
      for (int c = 0; c < 4; c++)
         in[i][c] = (float)(int)agx_test_random_below(&rng, 4000) / 1000 - 2;
   for (size_t v = 0; v < AGX_COUNT(variants); v++) {
      struct run run = {.kernel = "vectors",
                        .buffers = {{0, 0, in, sizeof(in)}, {0, 1, out, sizeof(out)}}};
      run_kernel(&run, variants[v]);
      for (int i = 0; i < THREADS; i++) {
         vectors_twin(in[i], expected);
         for (int j = 0; j < 16; j++) {
            double rel = j == 10 || j == 11 ? 0.05 : j == 9 ? 1e-3 : 1e-4;
            assert_close(variants[v], j, in[i][0], out[i][j], expected[j], rel);
         }
      }
   }
}

/* The uniform block of matrices.comp, by its std140 offsets, in floats. */
enum {
   ROWS = 0,     /* three rows of 4 */
   COLUMNS = 12, /* three columns of 4 */
   LIST = 24,    /* 3 x 4 */
   ITEMS = 36,   /* 2 x (2 columns of 4, f at 8, stride 12) */
   WIDE = 60,    /* two rows of 4 */
   BLOCK = 68,
};

static double from_rows(const float *u, int column, int row)
{
   return u[ROWS + 4 * row + column];
}

static double from_columns(const float *u, int column, int row)
{
   return u[COLUMNS + 4 * column + row];
}

static double determinant3(const float *u)
{
   double d = 0;
   for (int c = 0; c < 3; c++) {
      int a = (c + 1) % 3, b = (c + 2) % 3;
      d += from_columns(u, c, 0) * (from_columns(u, a, 1) * from_columns(u, b, 2) -
                                    from_columns(u, b, 1) * from_columns(u, a, 2));
   }
   return d;
}

/* product, turned and inverted: columns of 4 floats. */
static void check_square_results(const float *u, const float *out)
{
   for (int c = 0; c < 3; c++)
      for (int r = 0; r < 3; r++) {
         double product = 0, identity = 0;
         for (int k = 0; k < 3; k++) {
            product += from_rows(u, k, r) * from_columns(u, c, k);
            identity += from_columns(u, k, r) * out[24 + 4 * c + k];
         }
         assert_close("product", 3 * c + r, 0, out[4 * c + r], product, 1e-5);
         assert_close("turned", 3 * c + r, 0, out[12 + 4 * c + r], from_rows(u, r, c), 1e-6);
         assert_close("inverted", 3 * c + r, 0, identity, c == r, 1e-4);
      }
}

static void matrices(void **state)
{
   struct agx_test_rng rng = {9};
   for (size_t v = 0; v < AGX_COUNT(variants); v++) {
      float u[BLOCK], out[36 + 8 + 4 + 8] = {0};
      for (int i = 0; i < BLOCK; i++)
         u[i] = (float)(int)agx_test_random_below(&rng, 1000) / 100 - 5;
      struct run run = {.kernel = "matrices",
                        .buffers = {{0, 0, u, sizeof(u)}, {0, 1, out, sizeof(out)}}};
      run_kernel(&run, variants[v]);
      check_square_results(u, out);
      /* mat2x3 picked, row-major in std430: three rows of two. */
      for (int c = 0; c < 2; c++)
         for (int r = 0; r < 3; r++)
            assert_close("picked", c, r, out[36 + 2 * r + c], u[ITEMS + 12 + 4 * c + r], 1e-6);
      const float *moved = out + 44, *values = moved + 3;
      for (int c = 0; c < 3; c++) {
         double sum = from_rows(u, 0, c);
         for (int r = 0; r < 3; r++)
            sum += (r + 1) * from_columns(u, c, r);
         assert_close("moved", c, 0, moved[c], sum, 1e-5);
      }
      const double expected[8] = {
         determinant3(u),
         u[LIST + 8] + u[ITEMS + 12 + 8],
         u[WIDE + 2] * u[WIDE + 3] + u[WIDE + 6] * u[WIDE + 7],
         18,
         2 * from_columns(u, 1, 2),
         108,
         -1.0 / 9,
         from_rows(u, 1, 2),
      };
      for (int i = 0; i < 8; i++)
         assert_close("values", i, 0, values[i], expected[i], 1e-4);
   }
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(switches),     cmocka_unit_test(returns),
      cmocka_unit_test(loops),        cmocka_unit_test(arrays),
      cmocka_unit_test(specs),        cmocka_unit_test(float_specs),
      cmocka_unit_test(push_arrays),  cmocka_unit_test(shared_memory),
      cmocka_unit_test(buffers),      cmocka_unit_test(integers),
      cmocka_unit_test(floats),       cmocka_unit_test(vectors),
      cmocka_unit_test(matrices),     cmocka_unit_test(hints_and_equal_parts),
      cmocka_unit_test(empty_arrays),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
