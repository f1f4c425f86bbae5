/* SPDX-License-Identifier: MIT
 *
 * What operations between lanes and cooperative matrices are refused, each by name: modules
 * that are right with one word changed, or with other specialization constants. And bitcasts of
 * matrices, made likewise, and functions that 64-bit floats lack.
 */
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <spirv/unified1/GLSL.std.450.h>
#include <spirv/unified1/spirv.h>

#include "agx/compiler/compiler.h"
#include "base/util.h"

#define OP_TYPE_COOPERATIVE    4456 /* newer than some headers; source: the SPIR-V registry */
#define OP_COOPERATIVE_LOAD    4457
#define OP_COOPERATIVE_MUL_ADD 4459
#define FIRST_INSTRUCTION      5
/* Instead of a value: the result of the module's first instruction of that opcode. */
#define RESULT_OF(opcode) (0x80000000u | (opcode))
/* Of the constant with that value. */
#define CONSTANT_OF(value) (0x40000000u | (value))

struct change {
   const char *kernel;
   uint32_t opcode, nth, word, value; /* opcode 0: none */
   const char *message;               /* of what is AGX_UNIMPLEMENTED */
   struct agxc_spec spec;             /* bytes 0: none */
};

static uint32_t *find(uint32_t *words, size_t count, uint32_t opcode, uint32_t nth)
{
   for (size_t at = FIRST_INSTRUCTION; at < count; at += words[at] >> 16)
      if ((words[at] & 0xffff) == opcode && nth-- == 0)
         return words + at;
   fail_msg("no instruction %u", opcode);
   return NULL;
}

/* The nth constant whose value is that. */
static uint32_t *find_constant(uint32_t *words, size_t count, uint32_t value)
{
   for (uint32_t nth = 0;; nth++) {
      uint32_t *at = find(words, count, SpvOpConstant, nth);
      if (at[3] == value)
         return at;
   }
}

static void check(const struct change *change, uint32_t *words, size_t size)
{
   struct agxc_options options = {
      .chip = agx_chip_find("g13g"), .specs = &change->spec, .spec_count = change->spec.bytes != 0};
   struct agx_program *program = NULL;
   agx_status status = agxc_compile(words, size, &options, &program);
   if (status != AGX_UNIMPLEMENTED || !strstr(agx_error_peek(), change->message))
      fail_msg("%s: %s, not \"%s\"", change->kernel, status == AGX_OK ? "taken" : agx_error_peek(),
               change->message);
}

static uint32_t *read_from(const char *folder, const char *kernel, size_t *out_size)
{
   char name[64];
   snprintf(name, sizeof(name), "%s/%s.spv", folder, kernel);
   char *path = agx_test_path(name);
   uint32_t *words = (uint32_t *)(void *)agx_test_read_file(path, out_size);
   free(path);
   return words;
}

static uint32_t *read_kernel(const char *kernel, size_t *out_size)
{
   return read_from("kernels", kernel, out_size);
}

static void each_is_refused_by_name(void **state)
{
   static const struct change changes[] = {
      {"matrix_float_float", OP_TYPE_COOPERATIVE, 0, 2, RESULT_OF(SpvOpTypeInt),
       "cooperative matrix product with integers and floats"},
      {"matrix_int8_t_int8_t_int", OP_COOPERATIVE_MUL_ADD, 2, 6, 0x1b,
       "saturating cooperative matrix of one signedness from a sum of another (operands 0x1b)"},
      {"matrix_int8_t_int8_t_int", OP_COOPERATIVE_MUL_ADD, 2, 6, 0x2f,
       "cooperative matrix operands 0x2f"},
      {"matrix_float_float", 0, 0, 0, 0, "12 rows: multiples of 8 up to 64", {0, 4, 12}},
      {"matrix_float_float", 0, 0, 0, 0, "72 columns: multiples of 8 up to 64", {1, 4, 72}},
      {"matrix_float_float", SpvOpExecutionMode, 0, 3, 33, "whole subgroups of 32"},
      {"matrix_float_float", OP_COOPERATIVE_LOAD, 1, 4, CONSTANT_OF(SpvScopeSubgroup),
       "cooperative matrix layout 3"},
      {"matrix_float16_t_float16_t", OP_TYPE_COOPERATIVE, 0, 2, RESULT_OF(SpvOpTypeBool),
       "cooperative matrix with components of type"},
      {"matmul_float", SpvOpExecutionMode, 0, 2, SpvExecutionModeSubgroupSize,
       "SubgroupSize 128: subgroups have 32 invocations"},
      {"dot", SpvOpSDot, 0, 5, 7, "packed vector format 7"},
   };
   for (size_t i = 0; i < AGX_COUNT(changes); i++) {
      const struct change *change = &changes[i];
      size_t size;
      uint32_t *words = read_kernel(change->kernel, &size), value = change->value;
      if (value & RESULT_OF(0))
         value = find(words, size / 4, value & 0xffff, 0)[1];
      else if (value & CONSTANT_OF(0))
         value = find_constant(words, size / 4, value & 0xffff)[2];
      if (change->opcode)
         find(words, size / 4, change->opcode, change->nth)[change->word] = value;
      check(change, words, size);
      free(words);
   }
}

static void other_scopes_are_refused(void **state)
{
   static const struct change changes[] = {
      {.kernel = "subgroup_uint", .message = "execution scope 2: Subgroup (3) only"},
      {.kernel = "matrix_float_float", .message = "cooperative matrix of scope 2"},
   };
   for (size_t i = 0; i < AGX_COUNT(changes); i++) {
      size_t size;
      uint32_t *words = read_kernel(changes[i].kernel, &size);
      find_constant(words, size / 4, SpvScopeSubgroup)[3] = SpvScopeWorkgroup;
      check(&changes[i], words, size);
      free(words);
   }
}

/* Those that GLSL.std.450 defines for 16 and 32 bits only, in place of Sqrt and FMin of 64. */
static void functions_of_doubles_are_refused(void **state)
{
   static const struct {
      uint32_t function;
      const char *name;
   } functions[] = {
      {GLSLstd450Radians, "Radians"}, {GLSLstd450Degrees, "Degrees"}, {GLSLstd450Sin, "Sin"},
      {GLSLstd450Cos, "Cos"},         {GLSLstd450Tan, "Tan"},         {GLSLstd450Asin, "Asin"},
      {GLSLstd450Acos, "Acos"},       {GLSLstd450Atan, "Atan"},       {GLSLstd450Sinh, "Sinh"},
      {GLSLstd450Cosh, "Cosh"},       {GLSLstd450Tanh, "Tanh"},       {GLSLstd450Asinh, "Asinh"},
      {GLSLstd450Acosh, "Acosh"},     {GLSLstd450Atanh, "Atanh"},     {GLSLstd450Exp, "Exp"},
      {GLSLstd450Log, "Log"},         {GLSLstd450Exp2, "Exp2"},       {GLSLstd450Log2, "Log2"},
      {GLSLstd450Atan2, "Atan2"},     {GLSLstd450Pow, "Pow"},
   };
   for (size_t i = 0; i < AGX_COUNT(functions); i++) {
      uint32_t function = functions[i].function;
      bool is_of_two = function == GLSLstd450Atan2 || function == GLSLstd450Pow;
      uint32_t there = is_of_two ? GLSLstd450FMin : GLSLstd450Sqrt, nth = 0, *at;
      char message[64];
      struct change change = {"doubles", .message = message,
                              .spec = {0, 4, is_of_two ? 12 : 4}}; /* which case of the kernel */
      size_t size;
      uint32_t *words = read_from("compiler/spv", change.kernel, &size);
      do
         at = find(words, size / 4, SpvOpExtInst, nth++);
      while (at[4] != there);
      at[4] = function;
      snprintf(message, sizeof(message), "%s of 64-bit floats is not supported", functions[i].name);
      check(&change, words, size);
      free(words);
   }
}

/* A matrix is no input of a stage: what its elements would be nobody says. */
static void matrices_are_no_inputs(void **state)
{
   static const struct {
      const char *kernel;
      agx_status code;
      const char *message;
   } cases[] = {
      {"matrix_builtin", AGX_INVALID_ARGUMENT, "builtin LocalInvocationIndex of type"},
      {"matrix_attribute", AGX_UNIMPLEMENTED, "which is no number"},
   };
   for (size_t i = 0; i < AGX_COUNT(cases); i++) {
      struct agxc_options options = {.chip = agx_chip_find("g13g")};
      struct agx_program *program = NULL;
      size_t size;
      uint32_t *words = read_from("compiler/spv", cases[i].kernel, &size);
      assert_fails(agxc_compile(words, size, &options, &program), cases[i].code, cases[i].message);
      free(words);
   }
}

/* ---- bitcasts ---------------------------------------------------------- */

/* Compiles a kernel of matrices whose negation is a bitcast. */
static agx_status compile_cast(const char *kernel, uint32_t rows, uint32_t columns)
{
   const struct agxc_spec specs[] = {{0, 4, rows}, {1, 4, columns}};
   struct agxc_options options = {
      .chip = agx_chip_find("g13g"), .specs = specs, .spec_count = AGX_COUNT(specs)};
   struct agx_program *program = NULL;
   size_t size;
   uint32_t *words = read_kernel(kernel, &size);
   *find(words, size / 4, SpvOpFNegate, 0) = 4u << 16 | SpvOpBitcast;
   agx_status status = agxc_compile(words, size, &options, &program);
   agx_program_free(program);
   free(words);
   return status;
}

static void matrices_of_all_sizes_are_cast(void **state)
{
   for (uint32_t size = 8; size <= 64; size *= 2)
      assert_ok(compile_cast("matrix_float_float", size, size));
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_is_refused_by_name),
      cmocka_unit_test(other_scopes_are_refused),
      cmocka_unit_test(functions_of_doubles_are_refused),
      cmocka_unit_test(matrices_are_no_inputs),
      cmocka_unit_test(matrices_of_all_sizes_are_cast),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
