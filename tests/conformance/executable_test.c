/* SPDX-License-Identifier: MIT
 *
 * Executables: formats, entry points, and what they tell about themselves.
 */
#include "conformance.h"

#include <stdlib.h>
#include <string.h>

static char *read_kernel(const char *name, struct agx_executable_desc *desc)
{
   char *path = agx_test_path(name), *bytes = agx_test_read_file(path, &desc->data_B);
   free(path);
   desc->size = sizeof(*desc);
   desc->data = bytes;
   return bytes;
}

static struct agx_executable *create(struct fixture *f, const char *name, const char *entry)
{
   struct agx_executable_desc desc = {.entry = entry};
   struct agx_executable *executable;
   char *bytes = read_kernel(name, &desc);
   assert_ok(agx_executable_create(f->device, &desc, &executable));
   free(bytes);
   return executable;
}

#define ENTRIES "kernels/entries.spv"

/* ---- the cache --------------------------------------------------------- */

static void creating_the_cache(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_cache_stats stats = {.size = sizeof(stats)};
   agx_device_get_cache_stats(f->device, &stats);
   assert_int_equal(stats.size, sizeof(stats));
   assert_true(agx_executable_format_is_known("spirv"));
   assert_true(agx_executable_format_is_known("agx-elf"));
}

static void cant_prepare_unknown_format(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_executable *executable;
   const char *format;
   size_t used_B;
   struct agx_executable_desc desc = {.size = sizeof(desc), .data = "FOO?", .data_B = 4};
   assert_false(agx_executable_format_is_known("FOO?"));
   assert_int_equal(agx_executable_infer_format("FOO?", 4, &format, &used_B), AGX_INCOMPATIBLE);
   assert_null(format);
   assert_fails(agx_executable_create(f->device, &desc, &executable), AGX_INVALID_ARGUMENT,
                "neither SPIR-V nor an ELF file");
   assert_null(executable);
}

static void prepare_executable(void **state)
{
   struct fixture *f = conformance_device(state);
   agx_release(create(f, ENTRIES, NULL));
   agx_release(create(f, ENTRIES, NULL));
}

static void formats_are_inferred(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_executable_desc desc = {0};
   const char *format;
   size_t used_B, size;
   char *spirv = read_kernel(ENTRIES, &desc);
   assert_ok(agx_executable_infer_format(desc.data, desc.data_B, &format, &used_B));
   assert_string_equal(format, "spirv");
   assert_int_equal(used_B, desc.data_B);
   free(spirv);
   uint8_t *elf = agx_test_kernel_elf(&agx_test_count, f->info.chip, &size);
   uint8_t *larger = calloc(1, size + 100); /* as part of something */
   assert_non_null(larger);
   memcpy(larger, elf, size);
   assert_ok(agx_executable_infer_format(larger, size + 100, &format, &used_B));
   assert_string_equal(format, "agx-elf");
   assert_int_equal(used_B, size);
   for (size_t i = 4; i < size; i += 13)
      assert_int_equal(agx_executable_infer_format(elf, i, &format, &used_B), AGX_INVALID_ARGUMENT);
   larger[18] = 62; /* a program of this machine's, say */
   assert_int_equal(agx_executable_infer_format(larger, size, &format, &used_B), AGX_INCOMPATIBLE);
   free(larger);
   free(elf);
}

/* ---- reflection ------------------------------------------------------------ */

static void export_count(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_executable *executable = create(f, ENTRIES, NULL);
   assert_int_equal(agx_executable_get_entry_count(executable), 3);
   agx_release(executable);
   executable = create(f, ENTRIES, "double_it");
   assert_int_equal(agx_executable_get_entry_count(executable), 1);
   agx_release(executable);
}

static void export_info_out_of_range(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_executable *executable = create(f, ENTRIES, NULL);
   struct agx_executable_info info = {.size = sizeof(info)};
   struct agx_binding_info binding = {.size = sizeof(binding)};
   assert_fails(agx_executable_get_entry(executable, 100, &info), AGX_OUT_OF_RANGE, "100 of 3");
   assert_fails(agx_executable_get_entry(executable, 3, &info), AGX_OUT_OF_RANGE, "3 of 3");
   assert_fails(agx_executable_get_entry_binding(executable, 3, 0, &binding), AGX_OUT_OF_RANGE,
                "3 of 3");
   assert_fails(agx_executable_get_entry_binding(executable, 0, 2, &binding), AGX_OUT_OF_RANGE,
                "2 of 2");
   agx_release(executable);
}

static void export_info(void **state)
{
   static const struct {
      const char *name;
      uint32_t local_x, push_B, bindings, parameters;
   } rows[] = {{"negate", 4, 0, 2, 2}, {"double_it", 8, 4, 2, 4}, {"nothing", 1, 0, 0, 0}};
   struct fixture *f = conformance_device(state);
   struct agx_executable *executable = create(f, ENTRIES, NULL);
   for (uint32_t i = 0; i < 3; i++) {
      struct agx_executable_info info = {.size = sizeof(info)};
      assert_ok(agx_executable_get_entry(executable, i, &info));
      assert_string_equal(info.name, rows[i].name);
      assert_int_equal(info.local_size[0], rows[i].local_x);
      assert_int_equal(info.local_size[1] * info.local_size[2], 1);
      assert_int_equal(info.push_B, rows[i].push_B);
      assert_int_equal(info.binding_count, rows[i].bindings);
      assert_int_equal(info.parameter_count, rows[i].parameters);
      assert_int_equal(info.specialization_count, 3);
      assert_int_equal(info.scratch_B, 0);
      assert_int_equal(info.max_workgroup_threads, 1024);
      assert_false(info.is_vertex);
   }
   struct agx_executable_info first = {.size = sizeof(first)};
   agx_executable_get_info(executable, &first);
   assert_string_equal(first.name, "negate");
   agx_release(executable);
}

static void export_parameters_out_of_range(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_executable *executable = create(f, ENTRIES, NULL);
   struct agx_parameter_info info = {.size = sizeof(info)};
   struct agx_specialization_info constant = {.size = sizeof(constant)};
   assert_fails(agx_executable_get_parameter(executable, 100, 0, &info), AGX_OUT_OF_RANGE,
                "100 of 3");
   assert_fails(agx_executable_get_parameter(executable, 1, 4, &info), AGX_OUT_OF_RANGE, "4 of 4");
   assert_fails(agx_executable_get_specialization(executable, 0, 3, &constant), AGX_OUT_OF_RANGE,
                "3 of 3");
   assert_fails(agx_executable_get_specialization(executable, 3, 0, &constant), AGX_OUT_OF_RANGE,
                "3 of 3");
   agx_release(executable);
}

/* An entry point without any has none to read. */
static void export_parameters_no_capacity(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_executable *executable = create(f, ENTRIES, "nothing");
   struct agx_parameter_info info = {.size = sizeof(info)};
   assert_fails(agx_executable_get_parameter(executable, 0, 0, &info), AGX_OUT_OF_RANGE, "0 of 0");
   agx_release(executable);
}

static void check_parameters(struct fixture *f, const char *name, bool has_names)
{
   static const struct agx_parameter_info rows[] = {
      {.kind = AGX_PARAMETER_BINDING, .name = "source", .binding = 0},
      {.kind = AGX_PARAMETER_BINDING, .name = "words_block", .binding = 1},
      {.kind = AGX_PARAMETER_CONSTANT, .name = "bias", .offset_B = 0, .size_B = 4},
      {.kind = AGX_PARAMETER_CONSTANT, .name = "pair", .offset_B = 8, .size_B = 8},
   };
   struct agx_executable *executable = create(f, name, NULL);
   uint32_t entry;
   assert_ok(agx_executable_find_entry(executable, "double_it", &entry));
   for (uint32_t i = 0; i < 4; i++) {
      struct agx_parameter_info info = {.size = sizeof(info)};
      assert_ok(agx_executable_get_parameter(executable, entry, i, &info));
      assert_int_equal(info.kind, rows[i].kind);
      assert_string_equal(info.name, has_names ? rows[i].name : "");
      assert_int_equal(info.set, 0);
      assert_int_equal(info.binding, rows[i].binding);
      assert_int_equal(info.offset_B, rows[i].offset_B);
      assert_int_equal(info.size_B, rows[i].size_B);
   }
   agx_release(executable);
}

static void export_parameters(void **state)
{
   struct fixture *f = conformance_device(state);
   check_parameters(f, ENTRIES, true);
   check_parameters(f, "kernels/entries_stripped.spv", false);
}

static void specializations(void **state)
{
   static const struct agx_specialization_info rows[] = {
      {.id = 3, .type = AGX_SPECIALIZATION_INT, .bytes = 4, .value = 2, .name = "scale"},
      {.id = 7, .type = AGX_SPECIALIZATION_BOOL, .bytes = 1, .value = 1, .name = "is_used"},
      {.id = 9, .type = AGX_SPECIALIZATION_FLOAT, .bytes = 4, .value = 0x3f000000},
   };
   struct fixture *f = conformance_device(state);
   struct agx_executable_desc desc = {0};
   const struct agx_specialization given = {3, 4, 17}; /* which changes code, not this */
   struct agx_executable *executable;
   char *bytes = read_kernel(ENTRIES, &desc);
   desc.specializations = &given;
   desc.specialization_count = 1;
   assert_ok(agx_executable_create(f->device, &desc, &executable));
   free(bytes);
   for (uint32_t i = 0; i < 3; i++) {
      struct agx_specialization_info info = {.size = sizeof(info)};
      assert_ok(agx_executable_get_specialization(executable, 1, i, &info));
      assert_int_equal(info.id, rows[i].id);
      assert_int_equal(info.type, rows[i].type);
      assert_int_equal(info.bytes, rows[i].bytes);
      assert_int_equal(info.value, rows[i].value);
      assert_string_equal(info.name, rows[i].name);
   }
   agx_release(executable);
}

static void lookup_export_by_name_not_found(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_executable *executable = create(f, ENTRIES, NULL);
   uint32_t entry;
   assert_fails(agx_executable_find_entry(executable, "negat", &entry), AGX_NOT_FOUND, "negat");
   assert_fails(agx_executable_find_entry(executable, "", &entry), AGX_NOT_FOUND, "entry point");
   agx_release(executable);
}

static void lookup_export_by_name(void **state)
{
   static const char *const names[] = {"negate", "double_it", "nothing"};
   struct fixture *f = conformance_device(state);
   struct agx_executable *executable = create(f, ENTRIES, NULL);
   for (uint32_t i = 0; i < 3; i++) {
      uint32_t entry;
      assert_ok(agx_executable_find_entry(executable, names[i], &entry));
      assert_int_equal(entry, i);
   }
   agx_release(executable);
}

static void lookup_global_by_name_not_found_or_unsupported(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_executable *executable = create(f, ENTRIES, NULL);
   struct agx_buffer *buffer = NULL;
   assert_fails(agx_executable_get_global(executable, "words", &buffer), AGX_NOT_FOUND, "words");
   assert_null(buffer);
   agx_release(executable);
}

/* ---- running ------------------------------------------------------------------ */

static void dispatch(struct agx_command_buffer *commands, struct agx_executable *executable,
                     uint32_t entry, struct agx_buffer *in, struct agx_buffer *out, int32_t bias)
{
   const struct agx_binding bindings[] = {{0, 0, {in, 0, AGX_WHOLE_LENGTH}},
                                          {0, 1, {out, 0, AGX_WHOLE_LENGTH}}};
   struct agx_dispatch dispatch = {.size = sizeof(dispatch),
                                   .executable = executable,
                                   .entry = entry,
                                   .workgroups = {8 / (entry ? 8 : 4), 1, 1},
                                   .binding_count = 2,
                                   .bindings = bindings,
                                   .push = &bias,
                                   .push_B = sizeof(bias)};
   assert_ok(agx_cmd_dispatch(commands, &dispatch));
}

/* -in and 2 in, from one executable that the application lets go before they run. */
static void negate_and_double(void **state)
{
   struct fixture *f = conformance_device(state);
   uint32_t *in, *out[3];
   struct agx_buffer *source = fixture_buffer(f, 32, &in), *results[3];
   struct agx_executable *executable = create(f, ENTRIES, NULL);
   struct agx_command_buffer *commands = fixture_begin(f);
   for (uint32_t i = 0; i < 8; i++)
      in[i] = i * 3;
   for (uint32_t i = 0; i < 3; i++)
      results[i] = fixture_buffer(f, 32, &out[i]);
   dispatch(commands, executable, 0, source, results[0], 0);
   dispatch(commands, executable, 1, source, results[1], 5);
   assert_ok(agx_cmd_barrier(commands, NULL));
   dispatch(commands, executable, 1, results[0], results[2], 0);
   agx_release(executable);
   conformance_run(f, commands);
   for (uint32_t i = 0; i < 8; i++) {
      assert_int_equal(out[0][i], -3 * i);
      assert_int_equal(out[1][i], 6 * i + 5);
      assert_int_equal(out[2][i], -6 * i);
   }
   agx_release(commands);
   agx_release(source);
   for (uint32_t i = 0; i < 3; i++)
      agx_release(results[i]);
}

static void entry_points_out_of_range(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_executable *executable = create(f, ENTRIES, NULL);
   struct agx_command_buffer *commands = fixture_begin(f);
   struct agx_dispatch dispatch = {
      .size = sizeof(dispatch), .executable = executable, .entry = 3, .workgroups = {1, 1, 1}};
   assert_fails(agx_cmd_dispatch(commands, &dispatch), AGX_OUT_OF_RANGE, "entry point 3 of 3");
   assert_int_equal(agx_command_buffer_end(commands), AGX_OUT_OF_RANGE);
   assert_ok(agx_command_buffer_begin(commands));
   dispatch.entry = 2;
   assert_ok(agx_cmd_dispatch(commands, &dispatch));
   conformance_run(f, commands);
   agx_release(commands);
   agx_release(executable);
}

/* ---- workgroups that dispatches shape ------------------------------------------- */

#define ANY_SIZE "kernels/any_size.spv"
enum {
   BOTH = AGX_EXECUTABLE_DYNAMIC_LOCAL_SIZE | AGX_EXECUTABLE_DYNAMIC_SHARED,
   ROW = 8
};

static struct agx_executable *create_shaped(struct fixture *f, uint32_t flags, uint32_t robustness,
                                            const uint32_t local[3])
{
   struct agx_executable_desc desc = {.flags = flags, .robustness = robustness};
   const struct agx_specialization sizes[3] = {
      {0, 4, local[0]}, {1, 4, local[1]}, {2, 4, local[2]}};
   struct agx_executable *executable;
   char *bytes = read_kernel(ANY_SIZE, &desc);
   desc.specializations = sizes;
   desc.specialization_count = 3;
   assert_ok(agx_executable_create(f->device, &desc, &executable));
   free(bytes);
   return executable;
}

static agx_status record_shaped(struct agx_command_buffer *commands,
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

static const uint32_t shapes[][3] = {{1, 1, 1},  {7, 1, 1}, {32, 1, 1}, {33, 1, 1},
                                     {4, 4, 2},  {5, 3, 4}, {64, 1, 1}, {1, 96, 1},
                                     {2, 2, 64}, {8, 8, 8}, {16, 8, 5}, {1024, 1, 1}};
enum {
   SHAPES = sizeof(shapes) / sizeof(shapes[0])
};

static void dispatches_choose_the_workgroup_size(void **state)
{
   static const uint32_t groups[3] = {3, 2, 1}, compiled[][3] = {{64, 1, 1}, {1, 1, 1}, {8, 4, 2}};
   struct fixture *f = conformance_device(state);
   uint32_t *rows;
   const uint64_t size_B = 6 * 1024 * ROW * 4;
   struct agx_buffer *buffer = fixture_buffer(f, size_B, &rows);
   for (uint32_t c = 0; c < 3; c++) {
      struct agx_executable *executable = create_shaped(f, BOTH, AGX_ROBUST_OFF, compiled[c]);
      struct agx_executable_info info = {.size = sizeof(info)};
      agx_executable_get_info(executable, &info);
      assert_true(info.has_dynamic_local_size);
      assert_true(info.has_dynamic_shared);
      assert_int_equal(info.local_size[0], compiled[c][0]);
      for (uint32_t i = 0; i < SHAPES; i++) {
         const uint32_t *local = shapes[i], threads = local[0] * local[1] * local[2];
         struct agx_command_buffer *commands = fixture_begin(f);
         memset(rows, 0xee, size_B);
         assert_ok(record_shaped(commands, executable,
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

/* With 0 of a dimension, the executable's; and several shapes of one executable in flight. */
static void shapes_mix(void **state)
{
   static const uint32_t groups[3] = {2, 1, 1}, compiled[3] = {16, 2, 1}, none[3] = {0, 0, 0},
                         wide[3] = {48, 0, 0}, deep[3] = {0, 0, 3};
   static const uint32_t results[3][3] = {{16, 2, 1}, {48, 2, 1}, {16, 2, 3}};
   const uint32_t *given[3] = {none, wide, deep};
   struct fixture *f = conformance_device(state);
   uint32_t *rows[3];
   struct agx_buffer *buffers[3];
   struct agx_executable *executable = create_shaped(f, BOTH, AGX_ROBUST_OFF, compiled);
   struct agx_command_buffer *commands = fixture_begin(f);
   for (uint32_t i = 0; i < 3; i++) {
      buffers[i] = fixture_buffer(f, 2 * 96 * ROW * 4, &rows[i]);
      assert_ok(record_shaped(commands, executable,
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
static void shaped_robust_dispatches_stay_inside(void **state)
{
   static const uint32_t groups[3] = {2, 1, 1}, compiled[3] = {8, 1, 1};
   struct fixture *f = conformance_device(state);
   for (uint32_t mode = AGX_ROBUST_CLAMP; mode <= AGX_ROBUST_ZERO; mode++) {
      struct agx_executable *executable = create_shaped(f, BOTH, mode, compiled);
      for (uint32_t x = 4; x <= 256; x *= 2) {
         const uint32_t local[3] = {x, 1, 1};
         const uint64_t length_B = 2ull * 16 * ROW * 4, guard_B = 1024;
         uint32_t *rows;
         struct agx_buffer *buffer = fixture_buffer(f, length_B + guard_B, &rows);
         struct agx_command_buffer *commands = fixture_begin(f);
         memset(rows, 0xee, length_B + guard_B);
         assert_ok(record_shaped(commands, executable, (struct agx_buffer_ref){buffer, 0, length_B},
                                 groups, local, 4 * x));
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
   assert_fails(record_shaped(commands, executable,
                              (struct agx_buffer_ref){buffer, 0, AGX_WHOLE_LENGTH}, one, local,
                              shared_B),
                status, text);
   agx_release(commands);
   agx_release(buffer);
}

static void shapes_are_checked(void **state)
{
   static const uint32_t compiled[3] = {32, 1, 1}, none[3] = {0, 0, 0};
   struct fixture *f = conformance_device(state);
   struct agx_executable *executable = create_shaped(f, BOTH, AGX_ROBUST_OFF, compiled);
   check_refused(f, executable, (uint32_t[3]){1025, 1, 1}, 64, AGX_OUT_OF_RANGE, "1025");
   check_refused(f, executable, (uint32_t[3]){64, 17, 1}, 64, AGX_OUT_OF_RANGE, "64x17x1");
   check_refused(f, executable, (uint32_t[3]){UINT32_MAX, UINT32_MAX, UINT32_MAX}, 64,
                 AGX_OUT_OF_RANGE, "local size");
   check_refused(f, executable, none, 32768, AGX_OUT_OF_RANGE, "32768 bytes");
   check_refused(f, executable, none, UINT32_MAX, AGX_OUT_OF_RANGE, "bytes");
   agx_release(executable);

   executable = create_shaped(f, AGX_EXECUTABLE_DYNAMIC_SHARED, AGX_ROBUST_OFF, compiled);
   check_refused(f, executable, (uint32_t[3]){64, 1, 1}, 0, AGX_FAILED_PRECONDITION,
                 "AGX_EXECUTABLE_DYNAMIC_LOCAL_SIZE");
   agx_release(executable);

   executable = create(f, ENTRIES, "negate");
   check_refused(f, executable, none, 4, AGX_FAILED_PRECONDITION, "AGX_EXECUTABLE_DYNAMIC_SHARED");
   agx_release(executable);

   struct agx_executable_desc desc = {.flags = AGX_EXECUTABLE_DYNAMIC_SHARED};
   char *bytes = read_kernel(ENTRIES, &desc);
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
   char *bytes = read_kernel("kernels/any_size_index.spv", &desc);
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
      char *bytes = read_kernel(rows[i].name, &desc);
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
      create_shaped(f, AGX_EXECUTABLE_DYNAMIC_SHARED, AGX_ROBUST_OFF, compiled);
   struct agx_buffer *buffer = fixture_buffer(f, 60 * ROW * 4, &rows);
   struct agx_command_buffer *commands = fixture_begin(f);
   assert_ok(record_shaped(commands, executable,
                           (struct agx_buffer_ref){buffer, 0, AGX_WHOLE_LENGTH}, groups, compiled,
                           20 * 4));
   conformance_run(f, commands);
   check_rows(rows, groups, compiled);
   agx_release(commands);
   agx_release(buffer);
   agx_release(executable);
}

int main(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(creating_the_cache),
      cmocka_unit_test(cant_prepare_unknown_format),
      cmocka_unit_test(prepare_executable),
      cmocka_unit_test(formats_are_inferred),
      cmocka_unit_test(export_count),
      cmocka_unit_test(export_info_out_of_range),
      cmocka_unit_test(export_info),
      cmocka_unit_test(export_parameters_out_of_range),
      cmocka_unit_test(export_parameters_no_capacity),
      cmocka_unit_test(export_parameters),
      cmocka_unit_test(specializations),
      cmocka_unit_test(lookup_export_by_name_not_found),
      cmocka_unit_test(lookup_export_by_name),
      cmocka_unit_test(lookup_global_by_name_not_found_or_unsupported),
      cmocka_unit_test(negate_and_double),
      cmocka_unit_test(entry_points_out_of_range),
      cmocka_unit_test(dispatches_choose_the_workgroup_size),
      cmocka_unit_test(shapes_mix),
      cmocka_unit_test(shaped_robust_dispatches_stay_inside),
      cmocka_unit_test(shapes_are_checked),
      cmocka_unit_test(constants_follow_the_size),
      cmocka_unit_test(what_needs_a_size_is_refused),
      cmocka_unit_test(the_own_size_needs_no_flag),
   };
   return cmocka_run_group_tests(tests, conformance_open, conformance_close);
}
