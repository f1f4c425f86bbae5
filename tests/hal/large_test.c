/* SPDX-License-Identifier: MIT
 *
 * Accesses to buffers of up to 2^33 bytes: elements of all sizes, indices of all forms, by binding
 * and by address, in all modes, at places near every power of two that arithmetic might wrap at.
 * The model is 64-bit arithmetic on what tests/kernels/large.comp says. A binding shows at most
 * AGX_MAX_BINDING_B bytes, anywhere in the buffer; more is refused by name.
 */
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

#define LANES    32u
#define LARGE_B  (1ull << 33)
#define MEDIUM_B 0xffff0000ull /* has sinks in reach */
#define FAR_B    0x60000000ull
#define FORMS    26u

static const struct shape {
   const char *name;
   uint32_t stride_B, component_B, components;
} shapes[] = {
   {"u8", 1, 1, 1},    {"u16", 2, 2, 1},    {"u32", 4, 4, 1},    {"u64", 8, 8, 1},
   {"uvec2", 8, 4, 2}, {"uvec3", 16, 4, 3}, {"uvec4", 16, 4, 4}, {"u16vec4", 8, 2, 4},
};

enum mode {
   OFF,
   CLAMP,
   ZERO
};

struct push {
   uint64_t address;
   uint32_t i, form;
};

struct bench {
   struct fixture fixture;
   struct agx_buffer *large, *medium, *out, *in;
   uint8_t *large_bytes, *medium_bytes, *y;
   uint32_t *places;
   struct agx_semaphore *done;
   uint64_t submitted;
   struct agx_test_rng rng;
};

/* One dispatch. */
struct round {
   const struct shape *shape;
   enum mode mode;
   uint32_t form;
   bool stores;
   uint8_t *bytes; /* of the buffer */
   uint64_t size_B, offset_B, length_B;
   struct push push;
   uint64_t at[LANES][2]; /* in the buffer: what is accessed, and for pairs the second */
   bool inside[LANES];
};

static uint64_t below(struct bench *bench, uint64_t bound)
{
   return agx_test_random_below(&bench->rng, bound);
}

/* ---- where ---------------------------------------------------------------------- */

static bool is_address(uint32_t form)
{
   return (form >= 10 && form <= 22) || form == 24;
}

static bool is_pair(uint32_t form)
{
   return form == 5 || form == 15;
}

static bool is_signed(uint32_t form)
{
   return form >= 20 && form <= 22;
}

static bool is_struct(uint32_t form)
{
   return (form >= 6 && form <= 8) || (form >= 16 && form <= 18) || form == 22;
}

static bool is_far(uint32_t form)
{
   return form >= 23;
}

/* All lanes access what the push constant says. */
static bool is_uniform(uint32_t form)
{
   return form % 10 == 0 ? form < 20 : form == 8 || form == 18;
}

static bool counts_lanes(uint32_t form)
{
   return form == 1 || form == 11;
}

/* What the form adds to the index. */
static int64_t added(uint32_t form)
{
   switch (form) {
   case 3:
   case 13:
      return 5;
   case 4:
   case 14:
      return -3;
   case 5:
   case 15:
      return 1;
   case 7:
   case 17:
      return 2;
   case 21:
      return -7;
   case 25:
      return 9;
   default:
      return 0;
   }
}

/* The first of count elements, near what wraps, near the end, anywhere. */
static uint64_t choose(struct bench *bench, uint64_t count, uint64_t stride_B)
{
   const uint64_t powers[] = {1ull << 31, 1ull << 32, 3ull << 31, 1ull << 30};
   uint64_t n = below(bench, count);
   switch (below(bench, 8)) {
   case 0:
      n = count - 1 - AGX_MIN(below(bench, 8), count - 1);
      break;
   case 1:
      n = below(bench, 8);
      break;
   case 2:
      n = powers[below(bench, 4)] / stride_B - 4 + below(bench, 9);
      break;
   case 3:
      n = powers[below(bench, 4)] - 4 + below(bench, 9);
      break;
   default:
      break;
   }
   return n < count ? n : below(bench, count);
}

/* Chooses the lane's places and where it accesses. */
static void place_lane(struct bench *bench, struct round *r, uint32_t lane, uint64_t uniform)
{
   const uint64_t stride_B = r->shape->stride_B,
                  step_B = is_struct(r->form) ? 21 * stride_B : stride_B;
   const uint64_t base_B =
      r->offset_B + (is_signed(r->form) ? 1ull << 32 : 0) + (is_far(r->form) ? FAR_B : 0);
   const uint64_t space_B = r->offset_B + r->length_B - base_B;
   uint64_t count = AGX_MIN(space_B / step_B - 1, (1ull << 32) - 1);
   uint32_t j = (uint32_t)below(bench, 5), l = (uint32_t)below(bench, 3);
   int64_t n;
   if (is_signed(r->form)) {
      count = AGX_MIN(count, 1ull << 31);
      n = (int64_t)choose(bench, count, step_B);
      if (below(bench, 2))
         n = -1 - (int64_t)AGX_MIN((uint64_t)n, (1ull << 32) / step_B - 1);
   } else {
      n = (int64_t)choose(bench, count, step_B);
   }
   if (r->form == 9 || r->form == 19)
      n = 70000;
   else if (is_uniform(r->form))
      n = (int64_t)uniform;
   else if (counts_lanes(r->form))
      n = (int64_t)uniform + lane;
   r->inside[lane] = true;
   if (r->mode == ZERO && !is_address(r->form) && !is_uniform(r->form) && !counts_lanes(r->form) &&
       r->form != 9 && below(bench, 4) == 0) {
      n = (int64_t)(space_B / step_B + 1 + below(bench, 1000));
      r->inside[lane] = n > UINT32_MAX; /* 32 bits do not hold it: the least index then */
      n = n > UINT32_MAX ? 0 : n;
   }
   uint32_t *place = bench->places + (size_t)4 * lane;
   place[0] = (uint32_t)(n - added(r->form));
   place[1] = j;
   place[2] = l;
   uint64_t at = base_B + (uint64_t)n * step_B;
   if (r->form == 6 || r->form == 16)
      at += stride_B * (1 + 4 * j + 1 + l);
   else if (r->form == 7 || r->form == 17)
      at += stride_B * (1 + 4 * j + 2);
   else if (r->form == 8 || r->form == 18)
      at += stride_B * (1 + 4 * 3);
   else if (r->form == 22)
      at += stride_B * (1 + 4 * j);
   r->at[lane][0] = at;
   r->at[lane][1] = is_pair(r->form) ? at + stride_B : at;
}

static void place(struct bench *bench, struct round *r)
{
   const uint64_t step_B = (is_struct(r->form) ? 21 : 1) * r->shape->stride_B;
   const uint64_t count = AGX_MIN(r->length_B / step_B, 1ull << 32) - LANES - 1;
   const uint64_t uniform = choose(bench, count, step_B);
   r->push.i = (uint32_t)uniform;
   for (uint32_t lane = 0; lane < LANES; lane++)
      place_lane(bench, r, lane, uniform);
}

/* ---- what ----------------------------------------------------------------------- */

/* Of bytes in memory by where they are, so that lanes may store to one place; pairs: all alike. */
static uint8_t byte_of(const struct round *r, uint64_t at)
{
   if (is_pair(r->form))
      at %= r->shape->stride_B;
   return (uint8_t)((at * 0x9e3779b97f4a7c15ull + 0x1234567) >> 37) | 1;
}

static void fill(struct bench *bench, const struct round *r)
{
   const uint32_t bytes = r->shape->component_B * r->shape->components;
   memset(bench->y, 0xee, (size_t)LANES * r->shape->stride_B);
   for (uint32_t lane = 0; lane < LANES; lane++)
      for (uint32_t b = 0; b < bytes; b++) {
         if (r->stores)
            bench->y[lane * r->shape->stride_B + b] = byte_of(r, r->at[lane][0] + b);
         for (uint32_t k = 0; k < 2 && !r->stores && r->inside[lane]; k++)
            r->bytes[r->at[lane][k] + b] = byte_of(r, r->at[lane][k] + b);
      }
}

static uint64_t number(const uint8_t *bytes, uint32_t count)
{
   uint64_t value = 0;
   memcpy(&value, bytes, count);
   return value;
}

static void explain(const struct round *r, uint32_t lane, const uint32_t *place, uint64_t got,
                    uint64_t wanted)
{
   fail_msg(
      "%s mode %u form %u %s lane %u: i 0x%x x 0x%x j %u l %u, part of 0x%llx at 0x%llx, byte "
      "0x%llx of the buffer: 0x%llx, not 0x%llx",
      r->shape->name, (unsigned)r->mode, r->form, r->stores ? "store" : "load", lane, r->push.i,
      place[0], place[1], place[2], (unsigned long long)r->length_B,
      (unsigned long long)r->offset_B, (unsigned long long)r->at[lane][0], (unsigned long long)got,
      (unsigned long long)wanted);
}

static void check_lane(const struct bench *bench, const struct round *r, uint32_t lane)
{
   const uint32_t size = r->shape->component_B;
   for (uint32_t c = 0; c < r->shape->components; c++) {
      const uint8_t *y = bench->y + lane * r->shape->stride_B + c * size;
      uint64_t wanted = 0, got = number(y, size);
      for (uint32_t k = 0; k < 2 && r->inside[lane]; k++) {
         uint8_t bytes[8];
         for (uint32_t b = 0; b < size; b++)
            bytes[b] = byte_of(r, r->at[lane][k] + c * size + b);
         if (k == 0 || (is_pair(r->form) && !r->stores))
            wanted += number(bytes, size);
      }
      wanted &= agx_bits(8 * size);
      for (uint32_t k = 0; k < 2 && r->stores && r->inside[lane]; k++) {
         got = number(r->bytes + r->at[lane][k] + c * size, size);
         if (got != wanted)
            explain(r, lane, bench->places + (size_t)4 * lane, got, wanted);
      }
      if (!r->stores && got != wanted)
         explain(r, lane, bench->places + (size_t)4 * lane, got, wanted);
   }
}

static void check(const struct bench *bench, const struct round *r)
{
   for (uint32_t lane = 0; lane < LANES; lane++)
      check_lane(bench, r, lane);
   for (uint32_t lane = 0; lane < LANES; lane++)
      for (uint32_t k = 0; k < 2 && r->inside[lane]; k++)
         memset(r->bytes + r->at[lane][k], 0, r->shape->component_B * r->shape->components);
}

/* ---- one dispatch ---------------------------------------------------------------- */

static void run(struct bench *bench, struct agx_executable *executable, const struct round *r)
{
   struct agx_buffer *buffer = r->mode == ZERO ? bench->medium : bench->large;
   /* An address takes any size; what is bound then is not used. */
   const uint64_t offset_B = is_address(r->form) ? 0 : r->offset_B;
   const struct agx_buffer_ref part = {buffer, offset_B, AGX_MIN(r->length_B, MEDIUM_B)};
   const struct agx_buffer_ref shown =
      is_address(r->form) ? part : (struct agx_buffer_ref){buffer, offset_B, r->length_B};
   const struct agx_binding bindings[] = {
      {.binding = 0, .ref = shown},
      {.binding = 1, .ref = shown},
      {.binding = 2, .ref = {bench->out, 0, AGX_WHOLE_LENGTH}},
      {.binding = 3, .ref = {bench->in, 0, AGX_WHOLE_LENGTH}},
      {.binding = 4, .ref = shown},
   };
   const struct agx_dispatch dispatch = {.size = sizeof(dispatch),
                                         .executable = executable,
                                         .workgroups = {1, 1, 1},
                                         .binding_count = AGX_COUNT(bindings),
                                         .bindings = bindings,
                                         .push = &r->push,
                                         .push_B = sizeof(r->push)};
   struct agx_command_buffer *commands = fixture_begin(&bench->fixture);
   assert_ok(agx_cmd_dispatch(commands, &dispatch));
   assert_ok(agx_command_buffer_end(commands));
   bench->submitted++;
   assert_ok(fixture_submit(&bench->fixture, commands, NO_POINT,
                            (struct agx_point){bench->done, bench->submitted}));
   assert_ok(fixture_wait(bench->done, bench->submitted));
   agx_release(commands);
}

static void run_round(struct bench *bench, const struct shape *shape, enum mode mode,
                      struct agx_executable *executable)
{
   struct round r = {.shape = shape, .mode = mode};
   r.form = (uint32_t)below(bench, FORMS);
   r.stores = below(bench, 2);
   r.bytes = mode == ZERO ? bench->medium_bytes : bench->large_bytes;
   r.size_B = mode == ZERO ? MEDIUM_B : LARGE_B;
   r.length_B = AGX_MIN(r.size_B, (uint64_t)AGX_MAX_BINDING_B);
   if (below(bench, 2))
      r.length_B = (7ull << 28) + below(bench, r.length_B - (7ull << 28)) / 4 * 4;
   r.offset_B = below(bench, r.size_B - r.length_B + 1) / 16 * 16;
   if (is_address(r.form)) {
      r.bytes = bench->large_bytes;
      r.size_B = r.length_B = LARGE_B;
      r.offset_B = 0;
   }
   r.push.form = r.form << 1 | r.stores;
   struct agx_buffer_info info = {.size = sizeof(info)};
   agx_buffer_get_info(bench->large, &info);
   r.push.address = info.address + (is_signed(r.form) ? 1ull << 32 : 0);
   place(bench, &r);
   fill(bench, &r);
   run(bench, executable, &r);
   check(bench, &r);
}

/* ---- tests ------------------------------------------------------------------------ */

static struct agx_buffer *make_buffer(struct bench *bench, uint64_t size_B, uint8_t **out_bytes)
{
   const struct agx_buffer_desc desc = {.size = sizeof(desc), .size_B = size_B};
   struct agx_buffer *buffer;
   void *bytes;
   assert_ok(agx_buffer_create(bench->fixture.device, &desc, &buffer));
   assert_ok(agx_buffer_map(buffer, &bytes));
   *out_bytes = bytes;
   return buffer;
}

static void open_bench(struct bench *bench)
{
   setenv("AGX_VIRTUAL_MEMORY", "0x400000000", 1);
   fixture_open(&bench->fixture, "virtual");
   unsetenv("AGX_VIRTUAL_MEMORY");
   const char *seed = getenv("AGX_LARGE_SEED");
   bench->rng.state = seed ? strtoull(seed, NULL, 0) : 1;
   bench->large = make_buffer(bench, LARGE_B, &bench->large_bytes);
   bench->medium = make_buffer(bench, MEDIUM_B, &bench->medium_bytes);
   bench->out = make_buffer(bench, 4096, &bench->y);
   bench->in = fixture_buffer(&bench->fixture, 4096, &bench->places);
   bench->done = fixture_semaphore(&bench->fixture);
   bench->submitted = 0;
}

static void close_bench(struct bench *bench)
{
   agx_release(bench->large);
   agx_release(bench->medium);
   agx_release(bench->out);
   agx_release(bench->in);
   agx_release(bench->done);
   fixture_close(&bench->fixture);
}

static struct agx_executable *make_executable(struct bench *bench, const struct shape *shape,
                                              enum mode mode)
{
   static const uint32_t modes[] = {AGX_ROBUST_OFF, AGX_ROBUST_CLAMP, AGX_ROBUST_ZERO};
   const struct agx_binding_robustness own[] = {{0, 2, AGX_ROBUST_OFF}, {0, 3, AGX_ROBUST_OFF}};
   char name[64], *path;
   snprintf(name, sizeof(name), "kernels/large_%s.spv", shape->name);
   path = agx_test_path(name);
   struct agx_executable_desc desc = {.size = sizeof(desc),
                                      .robustness = modes[mode],
                                      .overrides = own,
                                      .override_count = AGX_COUNT(own)};
   char *spirv = agx_test_read_file(path, &desc.data_B);
   struct agx_executable *executable;
   desc.data = spirv;
   assert_ok(agx_executable_create(bench->fixture.device, &desc, &executable));
   free(spirv);
   free(path);
   return executable;
}

/* AGX_LARGE_CASES: how many accesses in all. */
static void every_byte_of_a_large_buffer_is_reached(void **state)
{
   const char *given = getenv("AGX_LARGE_CASES");
   const uint64_t cases = given ? strtoull(given, NULL, 0) : 24576;
   const uint64_t rounds = cases / LANES / (AGX_COUNT(shapes) * 3) + 1;
   struct bench bench;
   open_bench(&bench);
   for (size_t i = 0; i < AGX_COUNT(shapes); i++)
      for (enum mode mode = OFF; mode <= ZERO; mode++) {
         struct agx_executable *executable = make_executable(&bench, &shapes[i], mode);
         for (uint64_t n = 0; n < rounds; n++)
            run_round(&bench, &shapes[i], mode, executable);
         agx_release(executable);
      }
   close_bench(&bench);
}

static void more_than_a_binding_shows_is_refused_by_name(void **state)
{
   struct bench bench;
   open_bench(&bench);
   assert_int_equal(bench.fixture.info.max_binding_B, AGX_MAX_BINDING_B);
   for (enum mode mode = OFF; mode <= ZERO; mode++) {
      struct agx_executable *executable = make_executable(&bench, &shapes[2], mode);
      const struct push push = {0};
      for (uint32_t k = 0; k < 2; k++) {
         const struct agx_buffer_ref whole = {bench.large, 0, k ? 1ull << 32 : AGX_WHOLE_LENGTH};
         const struct agx_binding bindings[] = {
            {.binding = 0, .ref = whole},
            {.binding = 1, .ref = {bench.medium, 0, AGX_WHOLE_LENGTH}},
            {.binding = 2, .ref = {bench.out, 0, AGX_WHOLE_LENGTH}},
            {.binding = 3, .ref = {bench.in, 0, AGX_WHOLE_LENGTH}},
            {.binding = 4, .ref = {bench.medium, 0, AGX_WHOLE_LENGTH}},
         };
         const struct agx_dispatch dispatch = {.size = sizeof(dispatch),
                                               .executable = executable,
                                               .workgroups = {1, 1, 1},
                                               .binding_count = AGX_COUNT(bindings),
                                               .bindings = bindings,
                                               .push = &push,
                                               .push_B = sizeof(push)};
         struct agx_command_buffer *commands = fixture_begin(&bench.fixture);
         assert_fails(agx_cmd_dispatch(commands, &dispatch), AGX_OUT_OF_RANGE,
                      k ? "set 0 binding 0: 4294967296 bytes"
                        : "set 0 binding 0: 8589934592 bytes");
         agx_release(commands);
      }
      agx_release(executable);
   }
   close_bench(&bench);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_byte_of_a_large_buffer_is_reached),
      cmocka_unit_test(more_than_a_binding_shows_is_refused_by_name),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
