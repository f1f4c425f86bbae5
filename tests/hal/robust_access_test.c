/* SPDX-License-Identifier: MIT
 *
 * Single accesses of all kinds at indices that may be anything, to bindings of any size: what a
 * shape of data means is written down here once more, in 64-bit arithmetic. Zero: each component
 * that is wholly inside is accessed, all others are 0 or dropped. Clamp: vectors that are wholly
 * inside are as they would be, and no byte outside of the binding changes. The device is told the
 * bounds.
 */
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

#define LANES    32u
#define BUFFER_B 4096u
#define MARK     0x5a

struct shape {
   const char *name;
   uint32_t constant, stride, inner; /* at constant + i * stride + j * inner */
   uint32_t component_B, components;
   uint32_t result_B; /* from one result to the next */
   bool is_sum;       /* the index is i + j, in 32 bits */
};

static const struct shape shapes[] = {
   {"u8", 0, 1, 0, 1, 1, 1, false},
   {"u16", 0, 2, 0, 2, 1, 2, false},
   {"u32_behind_3", 12, 4, 0, 4, 1, 4, false},
   {"u64", 0, 8, 0, 8, 1, 8, false},
   {"uvec2", 0, 8, 0, 4, 2, 8, false},
   {"uvec3", 0, 16, 0, 4, 3, 16, false},
   {"uvec4", 0, 16, 0, 4, 4, 16, false},
   {"u16vec4", 0, 8, 0, 2, 4, 8, false},
   {"u8vec3", 0, 4, 0, 1, 3, 4, false},
   {"u64vec2", 0, 16, 0, 8, 2, 16, false},
   {"f64", 0, 8, 0, 8, 1, 8, false},
   {"dvec2", 0, 16, 0, 8, 2, 16, false},
   {"nested", 4, 24, 4, 4, 1, 4, false},
   {"member", 16, 48, 0, 4, 4, 16, false},
   {"large", 0, 20000, 4, 4, 1, 4, false},
   {"sums", 4, 4, 0, 4, 1, 4, true},
};

struct accesses {
   struct fixture fixture;
   struct agx_buffer *buffers[3];
   uint8_t *data;
   uint32_t *places;
   uint8_t *results;
   struct agx_semaphore *done;
   uint64_t submitted;
   struct agx_test_rng rng;
};

static uint32_t below(struct accesses *it, uint64_t bound)
{
   return (uint32_t)agx_test_random_below(&it->rng, bound);
}

/* ---- what is asked for ---------------------------------------------------------- */

/* Near the end, near 0, near what wraps, anything. */
static uint32_t choose_index(struct accesses *it, uint32_t stride, uint64_t size)
{
   uint64_t end = stride ? size / stride : 4;
   switch (below(it, 8)) {
   case 0:
   case 1:
   case 2:
      return (uint32_t)(end + 3 - below(it, 6));
   case 3:
   case 4:
      return below(it, end + 2);
   case 5:
      return (uint32_t)(((uint64_t)(1 + below(it, 16)) << 32) / AGX_MAX(stride, 1u)) +
             below(it, 4) - 1;
   case 6:
      return UINT32_MAX - below(it, 40);
   default:
      return (uint32_t)agx_test_random(&it->rng) >> below(it, 32);
   }
}

static uint64_t offset_of(const struct shape *shape, const uint32_t place[2])
{
   if (shape->is_sum)
      return shape->constant + (uint64_t)(place[0] + place[1]) * shape->stride;
   return shape->constant + (uint64_t)place[0] * shape->stride + (uint64_t)place[1] * shape->inner;
}

/* What is stored anywhere depends on where, so that lanes may store to one place. */
static uint8_t stored_byte(uint64_t offset)
{
   return (uint8_t)(offset * 167 + (offset >> 8) + 13);
}

static bool is_inside(const struct shape *shape, uint64_t offset, uint64_t size)
{
   return offset < size && shape->component_B <= size - offset;
}

/* ---- one dispatch ------------------------------------------------------------------ */

static void run(struct accesses *it, struct agx_executable *executable, uint64_t offset,
                uint64_t size, uint32_t writes)
{
   const struct agx_binding bindings[3] = {
      {.binding = 0, .ref = {size ? it->buffers[0] : NULL, offset, size}},
      {.binding = 1, .ref = {it->buffers[1], 0, AGX_WHOLE_LENGTH}},
      {.binding = 2, .ref = {it->buffers[2], 0, AGX_WHOLE_LENGTH}}};
   const struct agx_dispatch dispatch = {.size = sizeof(dispatch),
                                         .executable = executable,
                                         .workgroups = {1, 1, 1},
                                         .binding_count = 3,
                                         .bindings = bindings,
                                         .push = &writes,
                                         .push_B = 4};
   struct agx_command_buffer *commands = fixture_begin(&it->fixture);
   assert_ok(agx_cmd_dispatch(commands, &dispatch));
   assert_ok(agx_command_buffer_end(commands));
   it->submitted++;
   assert_ok(fixture_submit(&it->fixture, commands, NO_POINT,
                            (struct agx_point){it->done, it->submitted}));
   assert_ok(fixture_wait(it->done, it->submitted));
   agx_release(commands);
}

/* The bytes of a component's result, or what was stored, against what they should be. */
static void check_load(const struct accesses *it, const struct shape *shape, const uint8_t *before,
                       uint64_t size, bool is_zero)
{
   for (uint32_t lane = 0; lane < LANES; lane++) {
      uint64_t offset = offset_of(shape, it->places + (size_t)2 * lane);
      if (!is_zero &&
          !is_inside(shape, offset + (shape->components - 1) * shape->component_B, size))
         continue;
      for (uint32_t c = 0; c < shape->components; c++, offset += shape->component_B) {
         const uint8_t *got = it->results + lane * shape->result_B + c * shape->component_B;
         const uint8_t zeros[8] = {0};
         bool inside = is_inside(shape, offset, size);
         if (memcmp(got, inside ? before + offset : zeros, shape->component_B) != 0)
            fail_msg("%s, %s, lane %u, component %u at %llu of %llu bytes: %02x", shape->name,
                     is_zero ? "zero" : "clamp", lane, c, (unsigned long long)offset,
                     (unsigned long long)size, got[0]);
      }
   }
}

static void check_store(const struct accesses *it, const struct shape *shape, const uint8_t *before,
                        uint64_t at, uint64_t size, bool is_zero)
{
   uint8_t wanted[BUFFER_B];
   bool any_outside = false;
   memcpy(wanted, before, BUFFER_B);
   for (uint32_t lane = 0; lane < LANES; lane++) {
      uint64_t offset = offset_of(shape, it->places + (size_t)2 * lane);
      for (uint32_t c = 0; c < shape->components; c++, offset += shape->component_B) {
         bool inside = is_inside(shape, offset, size);
         any_outside |= !inside;
         for (uint32_t b = 0; inside && b < shape->component_B; b++)
            wanted[at + offset + b] = stored_byte(offset + b);
      }
   }
   for (uint64_t i = 0; i < BUFFER_B; i++) {
      bool is_bound = i >= at && i < at + size;
      if (it->data[i] != wanted[i] && !(is_bound && any_outside && !is_zero))
         fail_msg("%s, %s of %llu bytes: byte %lld is %02x, not %02x", shape->name,
                  is_zero ? "zero" : "clamp", (unsigned long long)size, (long long)(i - at),
                  it->data[i], wanted[i]);
   }
}

static void try_one(struct accesses *it, const struct shape *shape,
                    struct agx_executable *executable, bool is_zero)
{
   uint8_t before[BUFFER_B];
   uint64_t at = 8 * below(it, 20);
   uint64_t size = below(it, 8) == 0 ? 0 : below(it, below(it, 2) ? 80 : 1500);
   for (uint32_t i = 0; i < BUFFER_B; i++)
      it->data[i] = before[i] = (uint8_t)agx_test_random(&it->rng);
   for (uint32_t lane = 0; lane < LANES; lane++) {
      uint32_t *place = it->places + (size_t)2 * lane;
      place[0] = choose_index(it, shape->stride, size);
      place[1] = shape->is_sum ? choose_index(it, 4, size) - place[0] : 0;
      if (shape->inner)
         place[1] = below(it, 3) ? below(it, 6) : choose_index(it, shape->inner, size);
   }
   memset(it->results, MARK, LANES * 16);
   run(it, executable, at, size, 0);
   check_load(it, shape, before + at, size, is_zero);
   assert_memory_equal(it->data, before, BUFFER_B);
   for (uint32_t lane = 0; lane < LANES; lane++) {
      uint64_t offset = offset_of(shape, it->places + (size_t)2 * lane);
      for (uint32_t b = 0; b < shape->component_B * shape->components; b++)
         it->results[lane * shape->result_B + b] = stored_byte(offset + b);
   }
   run(it, executable, at, size, 1);
   check_store(it, shape, before, at, size, is_zero);
}

/* ---- all of them --------------------------------------------------------------------- */

static struct agx_executable *load(struct accesses *it, const char *name, uint32_t robustness)
{
   static const struct agx_binding_robustness off[] = {{0, 1, AGX_ROBUST_OFF},
                                                       {0, 2, AGX_ROBUST_OFF}};
   char file[64];
   snprintf(file, sizeof(file), "kernels/robust_%s.spv", name);
   struct agx_executable_desc desc = {
      .size = sizeof(desc), .robustness = robustness, .overrides = off, .override_count = 2};
   char *path = agx_test_path(file), *spirv = agx_test_read_file(path, &desc.data_B);
   struct agx_executable *executable;
   desc.data = spirv;
   assert_ok(agx_executable_create(it->fixture.device, &desc, &executable));
   free(spirv);
   free(path);
   return executable;
}

static void try_all(const char *debug, uint32_t rounds)
{
   struct accesses it = {.rng = {rounds}};
   setenv("AGX_DEBUG", debug, 1);
   setenv("AGX_VIRTUAL_CHECK", "1", 1);
   fixture_open(&it.fixture, "virtual");
   unsetenv("AGX_VIRTUAL_CHECK");
   unsetenv("AGX_DEBUG");
   it.done = fixture_semaphore(&it.fixture);
   it.buffers[0] = fixture_buffer(&it.fixture, BUFFER_B, (uint32_t **)&it.data);
   it.buffers[1] = fixture_buffer(&it.fixture, LANES * 8, &it.places);
   it.buffers[2] = fixture_buffer(&it.fixture, LANES * 16, (uint32_t **)&it.results);
   for (size_t s = 0; s < AGX_COUNT(shapes); s++) {
      for (uint32_t mode = AGX_ROBUST_CLAMP; mode <= AGX_ROBUST_ZERO; mode++) {
         struct agx_executable *executable = load(&it, shapes[s].name, mode);
         for (uint32_t round = 0; round < rounds; round++)
            try_one(&it, &shapes[s], executable, mode == AGX_ROBUST_ZERO);
         agx_release(executable);
      }
   }
   for (int i = 0; i < 3; i++)
      agx_release(it.buffers[i]);
   agx_release(it.done);
   fixture_close(&it.fixture);
}

static void accesses_at_any_index_are_inside_or_nowhere(void **state)
{
   try_all("bounds", 100);
}

static void without_optimisation_too(void **state)
{
   try_all("bounds,noopt,validate", 30);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(accesses_at_any_index_are_inside_or_nowhere),
      cmocka_unit_test(without_optimisation_too),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
