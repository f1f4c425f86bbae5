/* SPDX-License-Identifier: MIT
 *
 * Dynamic local size: dispatches choose their workgroups' size, and how much memory they share.
 */
#include "conformance.h"

#include <stdlib.h>
#include <string.h>

#define ANY_SIZE "kernels/any_size.spv"
enum {
   BOTH = AGX_EXECUTABLE_DYNAMIC_LOCAL_SIZE | AGX_EXECUTABLE_DYNAMIC_SHARED,
   ROW = 8
};

static struct agx_executable *create_dynamic(struct fixture *f, uint32_t flags, uint32_t robustness,
                                             const uint32_t local[3])
{
   struct agx_executable_desc desc = {.flags = flags, .robustness = robustness};
   const struct agx_specialization sizes[3] = {
      {0, 4, local[0]}, {1, 4, local[1]}, {2, 4, local[2]}};
   struct agx_executable *executable;
   char *bytes = conformance_read(ANY_SIZE, &desc);
   desc.specializations = sizes;
   desc.specialization_count = 3;
   assert_ok(agx_executable_create(f->device, &desc, &executable));
   free(bytes);
   return executable;
}

static agx_status record_dynamic(struct agx_command_buffer *commands,
                                 struct agx_executable *executable, struct agx_buffer_ref rows,
                                 const uint32_t groups[3], const uint32_t local[3],
                                 uint32_t shared_B)
{
   const uint32_t push = 1;
   const struct agx_binding binding = {0, 0, rows};
   const struct agx_dispatch dispatch = {.size = sizeof(dispatch),
                                         .executable = executable,
                                         .workgroups = {groups[0], groups[1], groups[2]},
                                         .local_size = {local[0], local[1], local[2]},
                                         .shared_B = shared_B,
                                         .binding_count = 1,
                                         .bindings = &binding,
                                         .push = &push,
                                         .push_B = sizeof(push)};
   return agx_cmd_dispatch(commands, &dispatch);
}

/* Threads of one workgroup that runs in x, y, z order: SIMD-groups are 32 of them in a row. */
static void check_rows(const uint32_t *rows, const uint32_t groups[3], const uint32_t local[3])
{
   const uint32_t threads = local[0] * local[1] * local[2];
   uint32_t group_count = groups[0] * groups[1] * groups[2], sum = 0;
   for (uint32_t i = 0; i < threads; i++)
      sum += i * 3 + 1;
   for (uint32_t g = 0; g < group_count; g++)
      for (uint32_t i = 0; i < threads; i++) {
         const uint32_t *row = rows + (g * threads + i) * ROW;
         const uint32_t first = i / 32 * 32, lanes = threads - first < 32 ? threads - first : 32;
         const uint32_t at[3] = {g % groups[0] * local[0] + i % local[0],
                                 g / groups[0] % groups[1] * local[1] + i / local[0] % local[1],
                                 g / groups[0] / groups[1] * local[2] + i / local[0] / local[1]};
         assert_int_equal(row[0], local[i % 3]);
         assert_int_equal(row[1], sum);
         assert_int_equal(row[2], 77);
         assert_int_equal(row[3], (threads + 31) / 32);
         assert_int_equal(row[4], i);
         assert_int_equal(row[5], lanes);
         assert_int_equal(row[6], i & 1 ? i * 5 : 0);
         assert_int_equal(row[7],
                          (at[2] * local[1] * groups[1] + at[1]) * local[0] * groups[0] + at[0]);
      }
}

static const uint32_t local_sizes[][3] = {{1, 1, 1},  {7, 1, 1}, {32, 1, 1}, {33, 1, 1},
                                          {4, 4, 2},  {5, 3, 4}, {64, 1, 1}, {1, 96, 1},
                                          {2, 2, 64}, {8, 8, 8}, {16, 8, 5}, {1024, 1, 1}};
enum {
   LOCAL_SIZES = sizeof(local_sizes) / sizeof(local_sizes[0])
};

static void dispatches_choose_the_workgroup_size(void **state)
{
   static const uint32_t groups[3] = {3, 2, 1}, compiled[][3] = {{64, 1, 1}, {1, 1, 1}, {8, 4, 2}};
   struct fixture *f = conformance_device(state);
   uint32_t *rows;
   const uint64_t size_B = 6 * 1024 * ROW * 4;
   struct agx_buffer *buffer = fixture_buffer(f, size_B, &rows);
   for (uint32_t c = 0; c < 3; c++) {
      struct agx_executable *executable = create_dynamic(f, BOTH, AGX_ROBUST_OFF, compiled[c]);
      struct agx_executable_info info = {.size = sizeof(info)};
      agx_executable_get_info(executable, &info);
      assert_true(info.has_dynamic_local_size);
      assert_true(info.has_dynamic_shared);
      assert_int_equal(info.local_size[0], compiled[c][0]);
      for (uint32_t i = 0; i < LOCAL_SIZES; i++) {
         const uint32_t *local = local_sizes[i], threads = local[0] * local[1] * local[2];
         struct agx_command_buffer *commands = fixture_begin(f);
         memset(rows, 0xee, size_B);
         assert_ok(record_dynamic(commands, executable,
                                  (struct agx_buffer_ref){buffer, 0, AGX_WHOLE_LENGTH}, groups,
                                  local, 4 * threads));
         conformance_run(f, commands);
         check_rows(rows, groups, local);
         for (uint32_t k = 0; k < ROW && threads < 1024; k++)
            assert_int_equal(rows[6 * threads * ROW + k], 0xeeeeeeee);
         agx_release(commands);
      }
      agx_release(executable);
   }
   agx_release(buffer);
}

/* With 0 of a dimension, the executable's; and several sizes of one executable in flight. */
static void local_sizes_mix(void **state)
{
   static const uint32_t groups[3] = {2, 1, 1}, compiled[3] = {16, 2, 1}, none[3] = {0, 0, 0},
                         wide[3] = {48, 0, 0}, deep[3] = {0, 0, 3};
   static const uint32_t results[3][3] = {{16, 2, 1}, {48, 2, 1}, {16, 2, 3}};
   const uint32_t *given[3] = {none, wide, deep};
   struct fixture *f = conformance_device(state);
   uint32_t *rows[3];
   struct agx_buffer *buffers[3];
   struct agx_executable *executable = create_dynamic(f, BOTH, AGX_ROBUST_OFF, compiled);
   struct agx_command_buffer *commands = fixture_begin(f);
   for (uint32_t i = 0; i < 3; i++) {
      buffers[i] = fixture_buffer(f, 2 * 96 * ROW * 4, &rows[i]);
      assert_ok(record_dynamic(commands, executable,
                               (struct agx_buffer_ref){buffers[i], 0, AGX_WHOLE_LENGTH}, groups,
                               given[i], 96 * 4));
   }
   conformance_run(f, commands);
   for (uint32_t i = 0; i < 3; i++) {
      check_rows(rows[i], groups, results[i]);
      agx_release(buffers[i]);
   }
   agx_release(commands);
   agx_release(executable);
}

/* Robust code knows the launch's size, also where it leaves checks out. */
static void robust_dispatches_of_any_local_size_stay_inside(void **state)
{
   static const uint32_t groups[3] = {2, 1, 1}, compiled[3] = {8, 1, 1};
   struct fixture *f = conformance_device(state);
   for (uint32_t mode = AGX_ROBUST_CLAMP; mode <= AGX_ROBUST_ZERO; mode++) {
      struct agx_executable *executable = create_dynamic(f, BOTH, mode, compiled);
      for (uint32_t x = 4; x <= 256; x *= 2) {
         const uint32_t local[3] = {x, 1, 1};
         const uint64_t length_B = 2ull * 16 * ROW * 4, guard_B = 1024;
         uint32_t *rows;
         struct agx_buffer *buffer = fixture_buffer(f, length_B + guard_B, &rows);
         struct agx_command_buffer *commands = fixture_begin(f);
         memset(rows, 0xee, length_B + guard_B);
         assert_ok(record_dynamic(commands, executable,
                                  (struct agx_buffer_ref){buffer, 0, length_B}, groups, local,
                                  4 * x));
         conformance_run(f, commands);
         if (x <= 16)
            check_rows(rows, groups, local);
         else if (mode == AGX_ROBUST_ZERO)
            assert_int_equal(rows[1], 3 * (x * (x - 1) / 2) + x);
         for (uint64_t i = length_B / 4; i < (length_B + guard_B) / 4; i++)
            assert_int_equal(rows[i], 0xeeeeeeee);
         agx_release(commands);
         agx_release(buffer);
      }
      agx_release(executable);
   }
}

static void check_refused(struct fixture *f, struct agx_executable *executable,
                          const uint32_t local[3], uint32_t shared_B, agx_status status,
                          const char *text)
{
   static const uint32_t one[3] = {1, 1, 1};
   uint32_t *rows;
   struct agx_buffer *buffer = fixture_buffer(f, 65536, &rows);
   struct agx_command_buffer *commands = fixture_begin(f);
   assert_fails(record_dynamic(commands, executable,
                               (struct agx_buffer_ref){buffer, 0, AGX_WHOLE_LENGTH}, one, local,
                               shared_B),
                status, text);
   agx_release(commands);
   agx_release(buffer);
}

static void local_sizes_are_checked(void **state)
{
   static const uint32_t compiled[3] = {32, 1, 1}, none[3] = {0, 0, 0};
   struct fixture *f = conformance_device(state);
   struct agx_executable *executable = create_dynamic(f, BOTH, AGX_ROBUST_OFF, compiled);
   check_refused(f, executable, (uint32_t[3]){1025, 1, 1}, 64, AGX_OUT_OF_RANGE, "1025");
   check_refused(f, executable, (uint32_t[3]){64, 17, 1}, 64, AGX_OUT_OF_RANGE, "64x17x1");
   check_refused(f, executable, (uint32_t[3]){UINT32_MAX, UINT32_MAX, UINT32_MAX}, 64,
                 AGX_OUT_OF_RANGE, "local size");
   check_refused(f, executable, none, 32768, AGX_OUT_OF_RANGE, "32768 bytes");
   check_refused(f, executable, none, UINT32_MAX, AGX_OUT_OF_RANGE, "bytes");
   agx_release(executable);

   executable = create_dynamic(f, AGX_EXECUTABLE_DYNAMIC_SHARED, AGX_ROBUST_OFF, compiled);
   check_refused(f, executable, (uint32_t[3]){64, 1, 1}, 0, AGX_FAILED_PRECONDITION,
                 "AGX_EXECUTABLE_DYNAMIC_LOCAL_SIZE");
   agx_release(executable);

   executable = conformance_kernel(f, "kernels/entries.spv", "negate");
   check_refused(f, executable, none, 4, AGX_FAILED_PRECONDITION, "AGX_EXECUTABLE_DYNAMIC_SHARED");
   agx_release(executable);

   struct agx_executable_desc desc = {.flags = AGX_EXECUTABLE_DYNAMIC_SHARED};
   char *bytes = conformance_read("kernels/entries.spv", &desc);
   assert_fails(agx_executable_create(f->device, &desc, &executable), AGX_INVALID_ARGUMENT,
                "workgroup variable");
   desc.flags = 1u << 31;
   assert_fails(agx_executable_create(f->device, &desc, &executable), AGX_INVALID_ARGUMENT,
                "0x80000000");
   free(bytes);
}

/* Constants of the module that depend on the size are values of the launch. */
static void constants_follow_the_size(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_executable_desc desc = {.flags = AGX_EXECUTABLE_DYNAMIC_LOCAL_SIZE};
   struct agx_executable *executable;
   char *bytes = conformance_read("kernels/any_size_index.spv", &desc);
   assert_ok(agx_executable_create(f->device, &desc, &executable));
   free(bytes);
   for (uint32_t x = 1; x <= 40; x += 3) {
      uint32_t *words;
      struct agx_buffer *buffer = fixture_buffer(f, 2 * x * 4, &words);
      struct agx_command_buffer *commands = fixture_begin(f);
      const struct agx_binding binding = {0, 0, {buffer, 0, AGX_WHOLE_LENGTH}};
      const struct agx_dispatch dispatch = {.size = sizeof(dispatch),
                                            .executable = executable,
                                            .workgroups = {2, 1, 1},
                                            .local_size = {x, 0, 0},
                                            .binding_count = 1,
                                            .bindings = &binding};
      assert_ok(agx_cmd_dispatch(commands, &dispatch));
      conformance_run(f, commands);
      for (uint32_t i = 0; i < 2 * x; i++) {
         const uint32_t where = (x + 1) & 3;
         assert_int_equal(words[i], i + 10 * where + (x > 16 ? 1000 : 0) + 100000 * where);
      }
      agx_release(commands);
      agx_release(buffer);
   }
   agx_release(executable);
}

static void what_needs_a_size_is_refused(void **state)
{
   static const struct {
      const char *name;
      agx_status status;
      const char *text;
   } rows[] = {
      {"kernels/any_size_length.spv", AGX_UNIMPLEMENTED, "array whose length depends"},
      {"kernels/matmul_float.spv", AGX_UNIMPLEMENTED, "cooperative matrix"},
      {"kernels/vertex_store.spv", AGX_INVALID_ARGUMENT, "vertex stage"},
   };
   struct fixture *f = conformance_device(state);
   for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
      struct agx_executable_desc desc = {.flags = AGX_EXECUTABLE_DYNAMIC_LOCAL_SIZE};
      struct agx_executable *executable;
      char *bytes = conformance_read(rows[i].name, &desc);
      assert_fails(agx_executable_create(f->device, &desc, &executable), rows[i].status,
                   rows[i].text);
      free(bytes);
   }
}

/* The same size, said aloud, is no choice. */
static void the_own_size_needs_no_flag(void **state)
{
   static const uint32_t groups[3] = {3, 1, 1}, compiled[3] = {10, 2, 1};
   struct fixture *f = conformance_device(state);
   uint32_t *rows;
   struct agx_executable *executable =
      create_dynamic(f, AGX_EXECUTABLE_DYNAMIC_SHARED, AGX_ROBUST_OFF, compiled);
   struct agx_buffer *buffer = fixture_buffer(f, 60 * ROW * 4, &rows);
   struct agx_command_buffer *commands = fixture_begin(f);
   assert_ok(record_dynamic(commands, executable,
                            (struct agx_buffer_ref){buffer, 0, AGX_WHOLE_LENGTH}, groups, compiled,
                            20 * 4));
   conformance_run(f, commands);
   check_rows(rows, groups, compiled);
   agx_release(commands);
   agx_release(buffer);
   agx_release(executable);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(dispatches_choose_the_workgroup_size),
      cmocka_unit_test(local_sizes_mix),
      cmocka_unit_test(robust_dispatches_of_any_local_size_stay_inside),
      cmocka_unit_test(local_sizes_are_checked),
      cmocka_unit_test(constants_follow_the_size),
      cmocka_unit_test(what_needs_a_size_is_refused),
      cmocka_unit_test(the_own_size_needs_no_flag),
   };
   return cmocka_run_group_tests(tests, conformance_open, conformance_close);
}
