/* SPDX-License-Identifier: MIT
 *
 * Executables: formats, entry points, and what they tell about themselves.
 */
#include "conformance.h"

#include <stdlib.h>
#include <string.h>

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
   for (unsigned i = 0; i < 2; i++) {
      struct agx_executable *executable = conformance_kernel(f, ENTRIES, NULL);
      assert_non_null(executable);
      assert_int_equal(agx_executable_get_entry_count(executable), 3);
      agx_release(executable);
   }
}

static void formats_are_inferred(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_executable_desc desc = {0};
   const char *format;
   size_t used_B, size;
   char *spirv = conformance_read(ENTRIES, &desc);
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
   struct agx_executable *executable = conformance_kernel(f, ENTRIES, NULL);
   assert_int_equal(agx_executable_get_entry_count(executable), 3);
   agx_release(executable);
   executable = conformance_kernel(f, ENTRIES, "double_it");
   assert_int_equal(agx_executable_get_entry_count(executable), 1);
   agx_release(executable);
}

static void export_info_out_of_range(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_executable *executable = conformance_kernel(f, ENTRIES, NULL);
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
   struct agx_executable *executable = conformance_kernel(f, ENTRIES, NULL);
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
   struct agx_executable *executable = conformance_kernel(f, ENTRIES, NULL);
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
   struct agx_executable *executable = conformance_kernel(f, ENTRIES, "nothing");
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
   struct agx_executable *executable = conformance_kernel(f, name, NULL);
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
   char *bytes = conformance_read(ENTRIES, &desc);
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
   struct agx_executable *executable = conformance_kernel(f, ENTRIES, NULL);
   uint32_t entry;
   assert_fails(agx_executable_find_entry(executable, "negat", &entry), AGX_NOT_FOUND, "negat");
   assert_fails(agx_executable_find_entry(executable, "", &entry), AGX_NOT_FOUND, "entry point");
   agx_release(executable);
}

static void lookup_export_by_name(void **state)
{
   static const char *const names[] = {"negate", "double_it", "nothing"};
   struct fixture *f = conformance_device(state);
   struct agx_executable *executable = conformance_kernel(f, ENTRIES, NULL);
   for (uint32_t i = 0; i < 3; i++) {
      uint32_t entry;
      assert_ok(agx_executable_find_entry(executable, names[i], &entry));
      assert_int_equal(entry, i);
   }
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

/* The code is of the value that was given. */
static void specialization_constants_reach_code(void **state)
{
   struct fixture *f = conformance_device(state);
   uint32_t *in, *out;
   struct agx_buffer *source = fixture_buffer(f, 32, &in), *result = fixture_buffer(f, 32, &out);
   for (uint32_t scale = 3; scale < 40; scale += 12) {
      struct agx_executable_desc desc = {.entry = "double_it"};
      const struct agx_specialization given[] = {{3, 4, scale}, {100, 4, 1}};
      struct agx_executable *executable;
      struct agx_command_buffer *commands = fixture_begin(f);
      char *bytes = conformance_read(ENTRIES, &desc);
      desc.specializations = given;
      desc.specialization_count = 2; /* the module has no constant 100 */
      assert_fails(agx_executable_create(f->device, &desc, &executable), AGX_NOT_FOUND,
                   "specialization constant 100");
      desc.specialization_count = 1;
      assert_ok(agx_executable_create(f->device, &desc, &executable));
      free(bytes);
      for (uint32_t i = 0; i < 8; i++)
         in[i] = i + 1;
      const int32_t bias = 2;
      const struct agx_binding bindings[] = {{0, 0, {source, 0, AGX_WHOLE_LENGTH}},
                                             {0, 1, {result, 0, AGX_WHOLE_LENGTH}}};
      const struct agx_dispatch one = {.size = sizeof(one),
                                       .executable = executable,
                                       .workgroups = {1, 1, 1},
                                       .binding_count = 2,
                                       .bindings = bindings,
                                       .push = &bias,
                                       .push_B = sizeof(bias)};
      assert_ok(agx_cmd_dispatch(commands, &one));
      conformance_run(f, commands);
      for (uint32_t i = 0; i < 8; i++)
         assert_int_equal(out[i], (i + 1) * scale + 2);
      agx_release(commands);
      agx_release(executable);
   }
   agx_release(source);
   agx_release(result);
}

/* -in and 2 in, from one executable that the application lets go before they run. */
static void negate_and_double(void **state)
{
   struct fixture *f = conformance_device(state);
   uint32_t *in, *out[3];
   struct agx_buffer *source = fixture_buffer(f, 32, &in), *results[3];
   struct agx_executable *executable = conformance_kernel(f, ENTRIES, NULL);
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
   struct agx_executable *executable = conformance_kernel(f, ENTRIES, NULL);
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

AGX_TEST_FILE(void)
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
      cmocka_unit_test(specialization_constants_reach_code),
      cmocka_unit_test(negate_and_double),
      cmocka_unit_test(entry_points_out_of_range),
   };
   return cmocka_run_group_tests(tests, conformance_open, conformance_close);
}
