/* SPDX-License-Identifier: MIT
 *
 * The front end's text output for small kernels, what it says about modules that break
 * a rule or ask for too much, and random damage to modules that are right.
 */
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <spirv/unified1/spirv.h>

#include "spirv_support.h"

static uint32_t *read_module(const char *kernel, size_t *word_count)
{
   char name[96];
   size_t size;
   snprintf(name, sizeof(name), "compiler/spv/%s.spv", kernel);
   char *path = agx_test_path(name);
   uint32_t *words = (uint32_t *)agx_test_read_file(path, &size);
   free(path);
   *word_count = size / 4;
   return words;
}

/* ---- text -------------------------------------------------------------- */

static const char *const kernels[] = {
   "arrays",      "axpy",    "buffers",       "floats",          "integers", "loops",    "matrices",
   "push_arrays", "returns", "shared_memory", "shared_volatile", "specs",    "switches", "vectors",
};

/* Modules that are damaged, too, but have no golden text. */
static const char *const pointer_kernels[] = {
   "addresses",  "buffer_arrays",     "private_memory",     "shared_blocks",  "shared_zeros",
   "switches64", "variable_pointers", "small_float_places", "small_rounding",
};

static void text_is_golden(void **state)
{
   for (size_t i = 0; i < AGX_COUNT(kernels); i++) {
      size_t word_count;
      uint32_t *words = read_module(kernels[i], &word_count);
      struct spirv_front front;
      assert_ok(spirv_front_run(&front, words, word_count, NULL));
      spirv_front_check(&front);
      char name[96];
      snprintf(name, sizeof(name), "compiler/spirv_%s.txt", kernels[i]);
      agx_test_golden(name, agxc_print(front.shader, &front.arena));
      spirv_front_fini(&front);
      free(words);
   }
}

/* The other byte order gives the same text. */
static void bytes_may_be_swapped(void **state)
{
   size_t word_count;
   uint32_t *words = read_module("buffers", &word_count);
   struct spirv_front front;
   assert_ok(spirv_front_run(&front, words, word_count, NULL));
   char *text = strdup(agxc_print(front.shader, &front.arena));
   spirv_front_fini(&front);
   for (size_t i = 0; i < word_count; i++)
      words[i] = __builtin_bswap32(words[i]);
   assert_ok(spirv_front_run(&front, words, word_count, NULL));
   assert_string_equal(text, agxc_print(front.shader, &front.arena));
   spirv_front_fini(&front);
   free(text);
   free(words);
}

/* Bindings are sorted, unused ones are gone, access is what the code does, none may be empty. */
static void declarations_are_filled(void **state)
{
   static const struct agx_program_binding expected[] = {
      {0, 1, AGX_BINDING_STORAGE_BUFFER, AGX_BINDING_READS, 1},
      {0, 3, AGX_BINDING_STORAGE_BUFFER, AGX_BINDING_READS | AGX_BINDING_WRITES, 24},
      {1, 2, AGX_BINDING_STORAGE_BUFFER, AGX_BINDING_READS | AGX_BINDING_WRITES, 16},
   };
   size_t word_count;
   uint32_t *words = read_module("buffers", &word_count);
   struct spirv_front front;
   assert_ok(spirv_front_run(&front, words, word_count, NULL));
   const struct agxc_shader *shader = front.shader;
   assert_int_equal(shader->binding_count, AGX_COUNT(expected));
   for (size_t i = 0; i < AGX_COUNT(expected); i++) {
      const struct agx_program_binding *got = &shader->bindings[i];
      assert_int_equal(got->set, expected[i].set);
      assert_int_equal(got->binding, expected[i].binding);
      assert_int_equal(got->kind, expected[i].kind);
      assert_int_equal(got->access, expected[i].access);
      assert_int_equal(got->min_size_B, expected[i].min_size_B);
   }
   assert_string_equal(shader->name, "main");
   assert_int_equal(shader->local_size[0], 32);
   assert_int_equal(shader->shared_B, 0);
   spirv_front_fini(&front);
   free(words);
}

/* ---- modules that break a rule ----------------------------------------- */

/* Replaces a word of the nth instruction with an opcode; opcode 0: of the header. */
static const struct {
   const char *kernel;
   uint32_t opcode, nth, word, value;
   agx_status code;
   const char *text;
} damages[] = {
   {"axpy", 0, 0, 0, 0x12345678, AGX_INVALID_ARGUMENT, "magic number"},
   {"axpy", 0, 0, 1, 0x00020000, AGX_INVALID_ARGUMENT, "version"},
   {"axpy", 0, 0, 1, 0x00010900, AGX_UNIMPLEMENTED, "version 1.9"},
   {"axpy", 0, 0, 3, 0, AGX_INVALID_ARGUMENT, "bound"},
   {"axpy", 0, 0, 3, 0xffffffff, AGX_INVALID_ARGUMENT, "bound"},
   {"axpy", 0, 0, 3, 5, AGX_INVALID_ARGUMENT, "outside the bound 5"},
   {"axpy", SpvOpCapability, 0, 0, SpvOpCapability, AGX_INVALID_ARGUMENT, "length 0"},
   {"axpy", SpvOpCapability, 0, 0, 0xffff0000 | SpvOpCapability, AGX_INVALID_ARGUMENT, "left"},
   {"axpy", SpvOpCapability, 0, 0, 1 << 16 | SpvOpCapability, AGX_INVALID_ARGUMENT, "needed"},
   {"axpy", SpvOpCapability, 0, 1, SpvCapabilityGroups, AGX_UNIMPLEMENTED, "capability Groups"},
   {"axpy", SpvOpCapability, 0, 0, 2 << 16 | 5000, AGX_UNIMPLEMENTED, "opcode 5000"},
   {"axpy", SpvOpCapability, 0, 1, SpvCapabilityInt64Atomics, AGX_UNIMPLEMENTED,
    "capability Int64Atomics (12) is not supported, since the hardware's atomics have 32 bits and "
    "make no wider ones without a lock: "},
   {"atomic64", SpvOpAtomicIAdd, 0, 0, 7 << 16 | SpvOpAtomicIAdd, AGX_UNIMPLEMENTED,
    "atomic of 64 bits is not supported, since the hardware's have 32: use 32"},
   {"axpy", SpvOpCapability, 0, 1, SpvCapabilityAtomicFloat64AddEXT, AGX_UNIMPLEMENTED,
    "AtomicFloat64AddEXT (6034) is not supported, since the hardware's atomics have 32 bits and"},
   {"axpy", SpvOpCapability, 0, 1, SpvCapabilityShaderClockKHR, AGX_UNIMPLEMENTED,
    "ShaderClockKHR (5055) is not supported, since no clock is known that a kernel could read: "},
   {"axpy", SpvOpCapability, 0, 1, 4213, AGX_UNIMPLEMENTED,
    "capability Float8CooperativeMatrixEXT (4213) is not supported: compile without"},
   {"axpy", SpvOpCapability, 0, 1, 5117, AGX_UNIMPLEMENTED,
    "capability BFloat16DotProductKHR (5117) is not supported: compile without"},
   {"axpy", SpvOpCapability, 0, 1, 5118, AGX_UNIMPLEMENTED,
    "capability BFloat16CooperativeMatrixKHR (5118) is not supported: compile without"},
   {"axpy", SpvOpCapability, 0, 1, 6915, AGX_UNIMPLEMENTED,
    "capability DotProductFloat8AccFloat32VALVE (6915)"},
   {"axpy", SpvOpCapability, 0, 0, 2 << 16 | 4418, AGX_UNIMPLEMENTED, "opcode 4418 (OpUntyped"},
   {"axpy", SpvOpMemoryModel, 0, 1, SpvAddressingModelPhysical64, AGX_UNIMPLEMENTED,
    "addressing model Physical64 (2) is not supported: declare Logical"},
   {"axpy", SpvOpMemoryModel, 0, 2, SpvMemoryModelOpenCL, AGX_UNIMPLEMENTED, "memory model"},
   {"axpy", SpvOpEntryPoint, 0, 1, SpvExecutionModelFragment, AGX_INVALID_ARGUMENT,
    "no compute or vertex entry point"},
   {"axpy", SpvOpEntryPoint, 0, 2, 2, AGX_INVALID_ARGUMENT, "no function"},
   {"axpy", SpvOpExecutionMode, 0, 2, SpvExecutionModeIsolines, AGX_UNIMPLEMENTED,
    "execution mode Isolines (25)"},
   {"axpy", SpvOpExecutionMode, 0, 2, SpvExecutionModeDerivativeGroupQuadsNV, AGX_INVALID_ARGUMENT,
    "DerivativeGroupQuadsKHR with a workgroup of 32 x 1 x 1 threads"},
   {"axpy", SpvOpConstant, 3, 3, 0, AGX_INVALID_ARGUMENT, "workgroup size 0"},
   {"axpy", SpvOpConstant, 3, 3, 2048, AGX_RESOURCE_EXHAUSTED, "threads"},
   {"axpy", SpvOpDecorate, 0, 2, SpvDecorationFlat, AGX_UNIMPLEMENTED, "decoration Flat"},
   {"axpy", SpvOpTypeInt, 0, 2, 64, AGX_INVALID_ARGUMENT, "builtin GlobalInvocationId"},
   {"axpy", SpvOpDecorate, 0, 3, SpvBuiltInSubgroupId, AGX_INVALID_ARGUMENT,
    "builtin SubgroupId of type 9: declare it with 1"},
   {"axpy", SpvOpTypeInt, 0, 2, 33, AGX_INVALID_ARGUMENT, "33 bits"},
   {"axpy", SpvOpTypeFloat, 0, 2, 8, AGX_UNIMPLEMENTED,
    "Float8 without an encoding is not supported: use floats of 16, 32 or 64 bits, BFloat16KHR"},
   {"axpy", SpvOpTypeVector, 0, 3, 5, AGX_INVALID_ARGUMENT, "5 components"},
   {"axpy", SpvOpTypePointer, 0, 1, 1, AGX_INVALID_ARGUMENT, "defined twice"},
   {"axpy", SpvOpVariable, 1, 3, SpvStorageClassImage, AGX_INVALID_ARGUMENT, "no pointer to"},
   {"axpy", SpvOpLoad, 0, 3, 2, AGX_INVALID_ARGUMENT, "id 2 is no pointer"},
   {"axpy", SpvOpLoad, 1, 1, 2, AGX_INVALID_ARGUMENT, "result type 2"},
   {"axpy", SpvOpFMul, 0, 1, 2, AGX_INVALID_ARGUMENT, "another kind of component"},
   {"axpy", SpvOpBranchConditional, 0, 2, 2, AGX_INVALID_ARGUMENT, "id 2 is no label"},
   {"axpy", SpvOpSelectionMerge, 0, 0, 3 << 16 | SpvOpNop, AGX_INVALID_ARGUMENT, "two ways"},
   {"axpy", SpvOpFunctionEnd, 0, 0, 1 << 16 | SpvOpReturn, AGX_INVALID_ARGUMENT, "outside blocks"},
   {"axpy", SpvOpReturn, 0, 0, 1 << 16 | SpvOpNop, AGX_INVALID_ARGUMENT, "no terminator"},
   {"matrices", SpvOpTypeMatrix, 0, 3, 1, AGX_INVALID_ARGUMENT, "1 components"},
   {"matrices", SpvOpExtInst, 0, 4, 76, AGX_UNIMPLEMENTED, "InterpolateAtCentroid"},
   {"matrices", SpvOpExtInst, 0, 3, 2, AGX_INVALID_ARGUMENT, "no extended instruction set"},
   {"returns", SpvOpFunctionCall, 1, 3, 0, AGX_INVALID_ARGUMENT, "id 0"},
   {"addresses", SpvOpTypeForwardPointer, 0, 2, SpvStorageClassFunction, AGX_INVALID_ARGUMENT,
    "storage class Function"},
   {"addresses", SpvOpTypePointer, 0, 2, SpvStorageClassStorageBuffer, AGX_INVALID_ARGUMENT,
    "differs from OpTypeForwardPointer"},
   {"addresses", SpvOpLoad, 9, 5, 3, AGX_INVALID_ARGUMENT, "alignment 3"},
   {"addresses", SpvOpLoad, 9, 5, 2, AGX_UNIMPLEMENTED, "elements of 4 bytes aligned to 2"},
   {"variable_pointers", SpvOpDecorate, 3, 2, SpvDecorationAliased, AGX_INVALID_ARGUMENT,
    "has no ArrayStride"},
   {"variable_pointers", SpvOpTypePointer, 1, 2, SpvStorageClassFunction, AGX_UNIMPLEMENTED,
    "pointer of storage class Function as a value"},
   {"../../kernels/foreign/shared_stride", SpvOpPtrAccessChain, 0, 1, 19, AGX_INVALID_ARGUMENT,
    "pointer type 19 is of another storage class"},
   {"small_rounding", SpvOpDecorate, 0, 3, SpvFPRoundingModeRTZ, AGX_UNIMPLEMENTED,
    "FPRoundingMode 1 of floats of 8 bits, or of bfloat16, is not supported: use RTE (0)"},
   {"small_rounding", SpvOpTypeFloat, 0, 3, 4214, AGX_UNIMPLEMENTED,
    "Float16 of that encoding is not supported: use floats of 16, 32 or 64 bits, BFloat16KHR"},
   {"small_rounding", SpvOpFConvert, 0, 0, 4 << 16 | SpvOpFNegate, AGX_UNIMPLEMENTED,
    "arithmetic on type 2, bfloat16 or a float of 8 bits, is not supported: convert it to 32"},
   {"axpy", SpvOpCapability, 0, 1, 6226, AGX_UNIMPLEMENTED, "BFloat16ArithmeticEXT (6226)"},
   {"small_rounding", SpvOpFConvert, 0, 0, 4 << 16 | SpvOpConvertSToF, AGX_INVALID_ARGUMENT,
    "from type 3 to type 2"},
   {"spec_floats", SpvOpSpecConstantOp, 0, 3, SpvOpFDiv, AGX_UNIMPLEMENTED,
    "OpFDiv of these constants is not supported: write its value"},
   {"spec_floats", SpvOpSpecConstantOp, 1, 3, SpvOpFRem, AGX_UNIMPLEMENTED,
    "OpFRem of these constants is not supported: write its value"},
   {"spec_floats", SpvOpSpecConstantOp, 5, 3, SpvOpIsNan, AGX_UNIMPLEMENTED,
    "OpIsNan in a specialization constant is not supported: compute it in a function"},
   {"shared_memory", SpvOpControlBarrier, 0, 1, 2, AGX_INVALID_ARGUMENT, "no integer constant"},
};

static uint32_t *find_instruction(uint32_t *words, size_t count, uint32_t opcode, uint32_t nth)
{
   if (opcode == 0)
      return words;
   for (size_t at = 5; at < count; at += words[at] >> 16)
      if ((words[at] & 0xffff) == opcode && nth-- == 0)
         return words + at;
   return NULL;
}

/* What the compiler lacks: the text names it and, behind a colon, says what to do instead. */
static void check_advice(void)
{
   const char *what = strstr(agx_error_peek(), "): ");
   if (what && !strstr(what + 3, ": "))
      fail_msg("no advice: %s", agx_error_peek());
}

static void rules_are_checked(void **state)
{
   unsigned wrong = 0;
   for (size_t i = 0; i < AGX_COUNT(damages); i++) {
      size_t word_count;
      uint32_t *words = read_module(damages[i].kernel, &word_count);
      uint32_t *at = find_instruction(words, word_count, damages[i].opcode, damages[i].nth);
      if (!at)
         fail_msg("damage %zu: no such instruction", i);
      at[damages[i].word] = damages[i].value;
      struct spirv_front front;
      agx_status status = spirv_front_run(&front, words, word_count, NULL);
      if (status == AGX_UNIMPLEMENTED)
         check_advice();
      if (status != damages[i].code || !strstr(agx_error_peek(), damages[i].text)) {
         print_error("damage %zu: %s: %s\n", i, agx_status_name(status), agx_error_peek());
         wrong++;
      }
      spirv_front_fini(&front);
      free(words);
   }
   assert_int_equal(wrong, 0);
}

static void recursion_is_refused(void **state)
{
   size_t word_count;
   uint32_t *words = read_module("returns", &word_count);
   /* The last call that classify makes goes to classify. */
   uint32_t *to_find = find_instruction(words, word_count, SpvOpFunctionCall, 1);
   uint32_t *to_classify = find_instruction(words, word_count, SpvOpFunctionCall, 0);
   assert_non_null(to_find);
   assert_int_not_equal(to_find[3], to_classify[3]);
   uint32_t callee = to_classify[3];
   for (uint32_t n = 1; n < 5; n++) {
      uint32_t *call = find_instruction(words, word_count, SpvOpFunctionCall, n);
      if (call)
         call[3] = callee;
   }
   struct spirv_front front;
   assert_fails(spirv_front_run(&front, words, word_count, NULL), AGX_INVALID_ARGUMENT,
                "recursive call");
   spirv_front_fini(&front);
   free(words);
}

static void entry_points_are_chosen(void **state)
{
   size_t word_count;
   uint32_t *words = read_module("axpy", &word_count);
   struct spirv_front front;
   struct agxc_options options = {.entry = "other"};
   assert_fails(spirv_front_run(&front, words, word_count, &options), AGX_INVALID_ARGUMENT,
                "no compute or vertex entry point named other");
   spirv_front_fini(&front);
   options.entry = "main";
   assert_ok(spirv_front_run(&front, words, word_count, &options));
   spirv_front_fini(&front);
   free(words);
}

/* Robust code must not take what lies 4 GiB further for what lies at the start. */
static void far_members_are_refused(void **state)
{
   size_t word_count;
   uint32_t *words = read_module("far_members", &word_count);
   struct spirv_front front;
   struct agxc_options options = {.robustness = AGXC_ROBUST_ZERO};
   assert_fails(spirv_front_run(&front, words, word_count, &options), AGX_UNIMPLEMENTED,
                "at byte 4294967312: a binding shows at most");
   spirv_front_fini(&front);
   assert_ok(spirv_front_run(&front, words, word_count, NULL)); /* outside is not checked */
   spirv_front_fini(&front);
   uint32_t *load = find_instruction(words, word_count, SpvOpLoad, 0);
   uint32_t *chain = find_instruction(words, word_count, SpvOpAccessChain, 0);
   uint32_t *pointer = find_instruction(words, word_count, SpvOpTypePointer, 0);
   assert_true(load && chain && pointer);
   load[1] = pointer[3]; /* the block as a whole */
   load[3] = chain[3];
   assert_fails(spirv_front_run(&front, words, word_count, NULL), AGX_UNIMPLEMENTED,
                "lies more than 4 GiB behind the start of the value: access the part by itself");
   spirv_front_fini(&front);
   free(words);
}

/* Only debug information uses it, by rule of its extension. */
static void forward_references_are_skipped(void **state)
{
   size_t word_count;
   uint32_t *words = read_module("axpy", &word_count);
   size_t at = (size_t)(find_instruction(words, word_count, SpvOpFunction, 0) - words);
   const uint32_t extra[] = {5 << 16 | 4433, 2, words[3]++, 1, 1};
   uint32_t *longer = malloc((word_count + AGX_COUNT(extra)) * 4);
   memcpy(longer, words, at * 4);
   memcpy(longer + at, extra, sizeof(extra));
   memcpy(longer + at + AGX_COUNT(extra), words + at, (word_count - at) * 4);
   longer[3] = words[3];
   struct spirv_front front;
   assert_ok(spirv_front_run(&front, longer, word_count + AGX_COUNT(extra), NULL));
   spirv_front_fini(&front);
   free(longer);
   free(words);
}

/* ---- random damage ----------------------------------------------------- */

static void try_module(const uint32_t *words, size_t word_count)
{
   struct spirv_front front;
   agx_status status = spirv_front_run(&front, words, word_count, NULL);
   if (status == AGX_OK)
      spirv_front_check(&front);
   else if (status == AGX_UNIMPLEMENTED)
      check_advice();
   else
      assert_true(status == AGX_INVALID_ARGUMENT || status == AGX_RESOURCE_EXHAUSTED);
   spirv_front_fini(&front);
}

static void truncate_all(const char *const *names, size_t count)
{
   for (size_t i = 0; i < count; i++) {
      size_t word_count;
      uint32_t *words = read_module(names[i], &word_count);
      for (size_t length = 0; length < word_count; length += 7) {
         /* A copy of its own, so that reads beyond it are seen. */
         uint32_t *part = malloc(length ? length * 4 : 1);
         memcpy(part, words, length * 4);
         try_module(part, length);
         free(part);
      }
      free(words);
   }
}

static void truncation_is_survived(void **state)
{
   truncate_all(kernels, AGX_COUNT(kernels));
   truncate_all(pointer_kernels, AGX_COUNT(pointer_kernels));
}

#define ROUNDS 250

static void damage(struct agx_test_rng *rng, uint32_t *words, size_t word_count)
{
   uint64_t changes = 1 + agx_test_random_below(rng, 3);
   for (uint64_t c = 0; c < changes; c++) {
      uint32_t *word = &words[3 + agx_test_random_below(rng, word_count - 3)];
      switch (agx_test_random_below(rng, 4)) {
      case 0:
         *word ^= 1u << agx_test_random_below(rng, 32);
         break;
      case 1:
         *word = words[5 + agx_test_random_below(rng, word_count - 5)];
         break;
      case 2:
         *word = (uint32_t)agx_test_random_below(rng, 200); /* often an id */
         break;
      default:
         *word += (uint32_t)agx_test_random_below(rng, 5) - 2;
      }
   }
}

static void damage_all(const char *const *names, size_t count)
{
   struct agx_test_rng rng = {0x5eed};
   for (size_t i = 0; i < count; i++) {
      size_t word_count;
      uint32_t *words = read_module(names[i], &word_count);
      uint32_t *copy = malloc(word_count * 4);
      for (unsigned round = 0; round < ROUNDS; round++) {
         memcpy(copy, words, word_count * 4);
         damage(&rng, copy, word_count);
         try_module(copy, word_count);
      }
      free(copy);
      free(words);
   }
}

static void damage_is_survived(void **state)
{
   damage_all(kernels, AGX_COUNT(kernels));
   damage_all(pointer_kernels, AGX_COUNT(pointer_kernels));
}

/* ---- damage to each module below tests/ --------------------------------- */

#define EACH_ROUNDS 24

static unsigned module_count;

static int damage_file(const char *path, const struct stat *status, int type, struct FTW *at)
{
   size_t length = strlen(path), size;
   if (type != FTW_F || length < 4 || strcmp(path + length - 4, ".spv") != 0)
      return 0;
   uint32_t *words = (uint32_t *)agx_test_read_file(path, &size);
   size_t count = size / 4;
   struct agx_test_rng rng = {0x5eed};
   for (unsigned round = 0; round < EACH_ROUNDS; round++) {
      size_t kept = round % 4 ? count : agx_test_random_below(&rng, count);
      uint32_t *copy = malloc(AGX_MAX(kept, 1u) * 4);
      memcpy(copy, words, kept * 4);
      if (round % 4)
         damage(&rng, copy, kept);
      try_module(copy, kept);
      free(copy);
   }
   free(words);
   module_count++;
   return 0;
}

/* Corpus, kernels and modules of other compilers, those to come, too. */
static void damage_to_any_module_is_survived(void **state)
{
   char *path = agx_test_path("");
   assert_int_equal(nftw(path, damage_file, 16, FTW_PHYS), 0);
   assert_true(module_count > 200);
   free(path);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(text_is_golden),
      cmocka_unit_test(bytes_may_be_swapped),
      cmocka_unit_test(declarations_are_filled),
      cmocka_unit_test(rules_are_checked),
      cmocka_unit_test(recursion_is_refused),
      cmocka_unit_test(entry_points_are_chosen),
      cmocka_unit_test(far_members_are_refused),
      cmocka_unit_test(forward_references_are_skipped),
      cmocka_unit_test(truncation_is_survived),
      cmocka_unit_test(damage_is_survived),
      cmocka_unit_test(damage_to_any_module_is_survived),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
