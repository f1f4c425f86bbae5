/* SPDX-License-Identifier: MIT
 *
 * Vertex fetch end to end on the virtual AGX, which is told what each dispatch may access:
 * attributes of random formats, strides, offsets, divisors, sizes and indices against a model that
 * follows the rules byte by byte. AGX_VERTEX_SETUPS says how many attributes are set up
 * (make random-vertex), AGX_VERTEX_SEED where random numbers begin.
 */
#include "fixture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agx/format.h"
#include "base/half.h"
#include "base/util.h"

#define INPUTS    16
#define DRAWS     8
#define POOL_B    8192u /* of random bytes that vertex buffers are parts of */
#define VERTICES  24
#define INSTANCES 3
#define RECORD    (4 * INPUTS + 4) /* words */

/* ---- the model ----------------------------------------------------------- */

struct attribute {
   const struct agx_vertex_format *format;
   uint32_t stride_B, divisor;
   bool per_instance;
   uint64_t start_B, size_B, offset_B; /* of a vertex buffer in the pool; of element 0 in that */
};

static double real_of(uint32_t type, uint32_t bits, uint32_t value)
{
   int32_t is = (int32_t)(value << (32 - bits)) >> (32 - bits);
   double most = ldexp(1.0, (int)bits) - 1, most_signed = ldexp(1.0, (int)bits - 1) - 1;
   switch (type) {
   case AGX_VERTEX_UNORM:
      return value / most;
   case AGX_VERTEX_SNORM:
      return fmax(is / most_signed, -1.0);
   case AGX_VERTEX_USCALED:
      return value;
   case AGX_VERTEX_SSCALED:
      return is;
   default: /* AGX_VERTEX_FIXED */
      return is / 65536.0;
   }
}

static uint32_t small_float(uint32_t value, uint32_t mantissa_bits)
{
   uint32_t exponent = value >> mantissa_bits, mantissa = value & ((1u << mantissa_bits) - 1);
   double real = exponent ? ldexp(1.0 + ldexp(mantissa, -(int)mantissa_bits), (int)exponent - 15)
                          : ldexp(mantissa, -14 - (int)mantissa_bits);
   float f = exponent == 31 ? (mantissa ? NAN : INFINITY) : (float)real;
   uint32_t bits;
   memcpy(&bits, &f, 4);
   return bits;
}

/* One component's bits as the kernel sees them. */
static uint32_t component(const struct agx_vertex_format *format, uint32_t bits, uint32_t value)
{
   float f;
   uint32_t out;
   if (format->type == AGX_VERTEX_UINT)
      return value;
   if (format->type == AGX_VERTEX_SINT)
      return (uint32_t)((int32_t)(value << (32 - bits)) >> (32 - bits));
   if (format->type == AGX_VERTEX_FLOAT && bits == 32)
      return value;
   if (format->type == AGX_VERTEX_FLOAT && bits == 16) {
      uint32_t exponent = value >> 10 & 31;
      out = small_float(value & 0x7fff, 10);
      if (exponent == 31 && value & 0x3ff)
         out = 0x7fc00000;
      return out | (value & 0x8000) << 16;
   }
   if (format->type == AGX_VERTEX_FLOAT)
      return small_float(value, bits - 5);
   f = (float)real_of(format->type, bits, value);
   memcpy(&out, &f, 4);
   return out;
}

static uint32_t bits_at(const uint8_t *bytes, uint32_t start, uint32_t count)
{
   uint64_t value = 0;
   for (uint32_t i = 0; i < count; i++)
      value |= (uint64_t)(bytes[(start + i) / 8] >> (start + i) % 8 & 1) << i;
   return (uint32_t)value;
}

static void decode(const struct agx_vertex_format *format, const uint8_t *bytes, uint32_t out[4])
{
   bool is_integer = format->type == AGX_VERTEX_UINT || format->type == AGX_VERTEX_SINT;
   uint32_t at = 0;
   memcpy(out, (uint32_t[4]){0, 0, 0, is_integer ? 1 : 0x3f800000}, 16);
   for (uint32_t i = 0; i < format->channels; i++) {
      uint32_t bits = format->bits == 10 && i == 3   ? 2
                      : format->bits == 11 && i == 2 ? 10
                                                     : format->bits;
      uint32_t to = format->is_bgra && i != 3 ? 2 - i : i;
      out[to] = component(format, bits, bits_at(bytes, at, bits));
      at += bits;
   }
}

static bool is_inside(const struct attribute *a, uint64_t element)
{
   for (uint32_t i = 0; i < a->format->size_B; i++)
      if (a->offset_B + element * a->stride_B + i >= a->size_B)
         return false;
   return true;
}

/* False: with robustness off no rule says what is read. */
static bool fetch(const struct attribute *a, uint32_t mode, const uint8_t *pool, uint32_t vertex,
                  uint32_t instance, uint32_t base_instance, uint32_t out[4])
{
   static const uint8_t zeros[16];
   uint64_t element = vertex;
   if (a->per_instance)
      element = (uint64_t)base_instance + (a->divisor ? instance / a->divisor : 0);
   const uint8_t *bytes = zeros;
   if (mode == AGX_ROBUST_CLAMP && is_inside(a, 0) && !is_inside(a, element)) {
      element = 0;
      while (is_inside(a, element + 1))
         element++;
   }
   if (is_inside(a, element))
      bytes = pool + a->start_B + a->offset_B + element * a->stride_B;
   else if (mode == AGX_ROBUST_OFF)
      return false;
   decode(a->format, bytes, out);
   return true;
}

/* Numbers of 32 bits are rounded once before they are divided: by one unit in the last place. */
static bool is_same(const struct agx_vertex_format *format, uint32_t got, uint32_t want)
{
   bool is_nan = (want & 0x7fffffff) > 0x7f800000 && (got & 0x7fffffff) > 0x7f800000;
   bool is_wide =
      format->bits == 32 && (format->type == AGX_VERTEX_UNORM || format->type == AGX_VERTEX_SNORM);
   if (got == want || (is_nan && format->type == AGX_VERTEX_FLOAT && format->bits < 32))
      return true;
   return is_wide && (got - want == 1 || want - got == 1);
}

/* ---- set-ups -------------------------------------------------------------- */

struct draw_plan {
   struct agx_test_rng *rng;
   uint32_t mode, index_B;
   struct attribute attributes[INPUTS];
   uint32_t first, base_vertex, base_instance, vertices, instances;
   uint64_t index_start, index_size;
};

static uint32_t below(struct draw_plan *s, uint32_t bound)
{
   return (uint32_t)agx_test_random_below(s->rng, bound);
}

static const struct agx_vertex_format *random_format(struct draw_plan *s, bool is_integer)
{
   uint32_t count = 0;
   while (agx_vertex_format_at(count))
      count++;
   for (;;) {
      const struct agx_vertex_format *format = agx_vertex_format_at(below(s, count));
      if (agx_vertex_format_is_integer(format) == is_integer)
         return format;
   }
}

/* What the code is compiled for. */
static void choose_static(struct draw_plan *s)
{
   static const uint32_t indices[] = {0, 0, 1, 2, 4};
   s->mode = below(s, 3);
   s->index_B = indices[below(s, AGX_COUNT(indices))];
   for (uint32_t i = 0; i < INPUTS; i++) {
      struct attribute *a = &s->attributes[i];
      a->format = random_format(s, i >= INPUTS / 2);
      uint32_t unit = agx_vertex_format_unit_B(a->format);
      a->stride_B = below(s, 3) == 0    ? a->format->size_B
                    : below(s, 20) == 0 ? 8192
                    : below(s, 12) == 0 ? 0
                                        : unit * below(s, 24);
      a->per_instance = below(s, 4) == 0;
      a->divisor = a->per_instance ? below(s, 4) : 0;
   }
}

/* What a draw says. Where nothing may lie outside, buffers are long. */
static void choose_draw(struct draw_plan *s)
{
   bool is_off = s->mode == AGX_ROBUST_OFF;
   s->vertices = 1 + below(s, VERTICES);
   s->instances = 1 + below(s, INSTANCES);
   s->first = below(s, 8);
   s->base_vertex = s->index_B ? below(s, 6) - 3 : 0;
   s->base_instance = below(s, 5);
   if (!is_off && below(s, 6) == 0)
      s->base_instance = UINT32_MAX - below(s, 8) - INSTANCES;
   if (!is_off && below(s, 6) == 0)
      s->first = UINT32_MAX - below(s, 1u << (8 * below(s, 4))) - VERTICES;
   s->index_start = 4 * below(s, 64);
   s->index_size = below(s, 4) ? s->index_B * below(s, 40) + below(s, 4) : 0;
   for (uint32_t i = 0; i < INPUTS; i++) {
      struct attribute *a = &s->attributes[i];
      uint32_t unit = agx_vertex_format_unit_B(a->format);
      a->start_B = 4 * below(s, 100);
      a->size_B = is_off ? POOL_B - a->start_B : below(s, below(s, 3) ? 1000 : 40);
      a->offset_B = unit * below(s, is_off ? 4 : below(s, 5) ? 8 : 100);
   }
}

static const char *text_of(const struct draw_plan *s, const struct attribute *a)
{
   static char text[256];
   snprintf(text, sizeof(text), "mode %u, %s, stride %u, divisor %d, buffer of %llu, offset %llu",
            s->mode, a->format->name, a->stride_B, a->per_instance ? (int)a->divisor : -1,
            (unsigned long long)a->size_B, (unsigned long long)a->offset_B);
   return text;
}

/* ---- runs ------------------------------------------------------------------- */

struct world {
   struct fixture f;
   struct agx_buffer *pool, *out;
   uint32_t *pool_words, *out_words;
   uint64_t done;
   char *spirv;
   size_t spirv_B;
   uint64_t attributes, compared;
};

static struct agx_executable *compile(struct world *w, const struct draw_plan *s)
{
   struct agx_vertex_attribute attributes[INPUTS];
   for (uint32_t i = 0; i < INPUTS; i++)
      attributes[i] =
         (struct agx_vertex_attribute){i, s->attributes[i].format->name, s->attributes[i].stride_B,
                                       s->attributes[i].per_instance, s->attributes[i].divisor};
   const struct agx_vertex_input input = {.size = sizeof(input),
                                          .attributes = attributes,
                                          .attribute_count = INPUTS,
                                          .index_B = s->index_B};
   const struct agx_executable_desc desc = {.size = sizeof(desc),
                                            .data = w->spirv,
                                            .data_B = w->spirv_B,
                                            .robustness = s->mode,
                                            .vertex = &input};
   struct agx_executable *executable = NULL;
   assert_ok(agx_executable_create(w->f.device, &desc, &executable));
   return executable;
}

/* Off: attributes without an element are refused. */
static bool record(struct world *w, const struct draw_plan *s, struct agx_executable *executable,
                   struct agx_command_buffer *commands, uint64_t out_B)
{
   struct agx_vertex_buffer buffers[INPUTS];
   const struct agx_buffer_ref feedback = {w->out, out_B, AGX_WHOLE_LENGTH};
   for (uint32_t i = 0; i < INPUTS; i++) {
      const struct attribute *a = &s->attributes[i];
      buffers[i] = (struct agx_vertex_buffer){i, {w->pool, a->start_B, a->size_B}, a->offset_B};
   }
   const struct agx_vertex_dispatch draw = {
      .size = sizeof(draw),
      .executable = executable,
      .first = s->first,
      .vertex_count = s->vertices,
      .base_vertex = (int32_t)s->base_vertex,
      .base_instance = s->base_instance,
      .instance_count = s->instances,
      .vertex_buffer_count = INPUTS,
      .vertex_buffers = buffers,
      .indices = {s->index_B && s->index_size ? w->pool : NULL, s->index_start, s->index_size},
      .feedback_count = 1,
      .feedback = &feedback,
   };
   assert_ok(agx_cmd_dispatch_vertices(commands, &draw));
   return true;
}

static uint32_t vertex_of(const struct world *w, const struct draw_plan *s, uint32_t x)
{
   const uint8_t *pool = (const uint8_t *)w->pool_words;
   uint64_t position = (uint64_t)s->first + x, count = s->index_B ? s->index_size / s->index_B : 0;
   if (!s->index_B)
      return (uint32_t)position;
   if (position >= count && (s->mode == AGX_ROBUST_ZERO || count == 0))
      return s->base_vertex;
   if (position >= count)
      position = count - 1;
   return s->base_vertex +
          bits_at(pool + s->index_start + position * s->index_B, 0, 8 * s->index_B);
}

/* In mode off indices and vertices must not lead outside. */
static bool stays_inside(const struct world *w, const struct draw_plan *s)
{
   uint32_t scratch[4];
   for (uint32_t i = 0; i < INPUTS && s->mode == AGX_ROBUST_OFF; i++)
      for (uint32_t y = 0; y < s->instances; y++)
         for (uint32_t x = 0; x < s->vertices; x++)
            if (!fetch(&s->attributes[i], s->mode, (const uint8_t *)w->pool_words,
                       vertex_of(w, s, x), y, s->base_instance, scratch))
               return false;
   return true;
}

static void compare(struct world *w, const struct draw_plan *s, const uint32_t *got)
{
   for (uint32_t y = 0; y < s->instances; y++)
      for (uint32_t x = 0; x < s->vertices; x++, got += RECORD) {
         uint32_t vertex = vertex_of(w, s, x), want[4];
         assert_int_equal(got[4 * INPUTS], vertex);
         assert_int_equal(got[4 * INPUTS + 1], y + s->base_instance);
         for (uint32_t i = 0; i < INPUTS; i++) {
            assert_true(fetch(&s->attributes[i], s->mode, (const uint8_t *)w->pool_words, vertex, y,
                              s->base_instance, want));
            for (uint32_t c = 0; c < 4; c++, w->compared++)
               if (!is_same(s->attributes[i].format, got[4 * i + c], want[c]))
                  fail_msg("%s: vertex %u (of %u), instance %u, component %u: 0x%08x, not 0x%08x",
                           text_of(s, &s->attributes[i]), vertex, x, y, c, got[4 * i + c], want[c]);
         }
      }
}

static void run_setups(struct world *w, struct agx_test_rng *rng)
{
   const uint64_t draw_B = 4ull * RECORD * VERTICES * INSTANCES;
   struct draw_plan setups[DRAWS], first = {.rng = rng};
   struct agx_command_buffer *commands = fixture_begin(&w->f);
   struct agx_semaphore *semaphore = fixture_semaphore(&w->f);
   choose_static(&first);
   struct agx_executable *executable = compile(w, &first);
   uint32_t count = 0;
   for (uint32_t i = 0; i < DRAWS; i++) {
      setups[count] = first;
      choose_draw(&setups[count]);
      if (!stays_inside(w, &setups[count]))
         continue;
      record(w, &setups[count], executable, commands, count * draw_B);
      count++;
   }
   assert_ok(agx_command_buffer_end(commands));
   assert_ok(fixture_submit(&w->f, commands, NO_POINT, (struct agx_point){semaphore, 1}));
   assert_ok(fixture_wait(semaphore, 1));
   for (uint32_t i = 0; i < count; i++)
      compare(w, &setups[i], w->out_words + i * draw_B / 4);
   w->attributes += count * INPUTS;
   agx_release(commands);
   agx_release(semaphore);
   agx_release(executable);
}

static void open_world(struct world *w, const char *kernel, const char *debug,
                       struct agx_test_rng *rng)
{
   char *path = agx_test_path(kernel);
   *w = (struct world){0};
   setenv("AGX_DEBUG", debug, 1);
   fixture_open(&w->f, "virtual:g13g");
   unsetenv("AGX_DEBUG");
   w->spirv = agx_test_read_file(path, &w->spirv_B);
   free(path);
   w->pool = fixture_buffer(&w->f, POOL_B, &w->pool_words);
   w->out = fixture_buffer(&w->f, 4ull * RECORD * VERTICES * INSTANCES * DRAWS, &w->out_words);
   for (uint32_t i = 0; i < POOL_B / 4; i++)
      w->pool_words[i] = (uint32_t)agx_test_random(rng);
   memset(w->pool_words, 0, 64); /* some small indices too */
   for (uint32_t i = 16; i < 96; i += 2)
      w->pool_words[i] &= 0x07030703;
}

static void close_world(struct world *w)
{
   agx_release(w->pool);
   agx_release(w->out);
   fixture_close(&w->f);
   free(w->spirv);
}

static uint64_t number(const char *name, uint64_t otherwise)
{
   const char *text = getenv(name);
   return text ? strtoull(text, NULL, 0) : otherwise;
}

static void attributes_agree_with_the_model(void **state)
{
   struct agx_test_rng rng = {number("AGX_VERTEX_SEED", 1)};
   uint64_t wanted = number("AGX_VERTEX_SETUPS", 4000);
   struct world w;
   open_world(&w, "kernels/vertex_formats.spv", "bounds", &rng);
   while (w.attributes < wanted)
      run_setups(&w, &rng);
   print_message("%llu attributes set up, %llu components compared\n",
                 (unsigned long long)w.attributes, (unsigned long long)w.compared);
   close_world(&w);
}

static void unoptimised_code_agrees_too(void **state)
{
   struct agx_test_rng rng = {7};
   struct world w;
   open_world(&w, "kernels/vertex_formats.spv", "bounds,noopt,validate", &rng);
   while (w.attributes < 600)
      run_setups(&w, &rng);
   close_world(&w);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(attributes_agree_with_the_model),
      cmocka_unit_test(unoptimised_code_agrees_too),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
