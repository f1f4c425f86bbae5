/* SPDX-License-Identifier: MIT
 *
 * Four times the kernel is about four times the work, whatever its shape. Work is
 * counted, not timed: the linker puts this file between the passes and what nearly all of their
 * walks ask about instructions and blocks, and the memory that they take counts as well.
 */
#include <stdlib.h>

#include "agx/compiler/compiler.h"
#include "agx/compiler/ir/ir.h"
#include "shapes.h"
#include "support.h"

#define SMALL  300u
#define GROWTH 4u
/* Times what the kernel or its code grew by; a square would be 4, n log n is 1.25. */
#define MOST 1.3

static uint64_t work;

#define COUNTED(type, name, params, ...)                                                           \
   type __real_##name params;                                                                      \
   type __wrap_##name params;                                                                      \
   type __wrap_##name params                                                                       \
   {                                                                                               \
      work++;                                                                                      \
      return __real_##name(__VA_ARGS__);                                                           \
   }

COUNTED(unsigned, agxc_flags, (const struct agxc_instr *instr), instr)
COUNTED(struct agxc_instr *, agxc_terminator, (const struct agxc_block *block), block)
COUNTED(struct agxc_block *, agxc_first_block, (const struct agx_link *list), list)
COUNTED(struct agxc_block *, agxc_last_block, (const struct agx_link *list), list)

void __real_agxc_index(struct agxc_shader *shader);
void __wrap_agxc_index(struct agxc_shader *shader);
void __wrap_agxc_index(struct agxc_shader *shader)
{
   __real_agxc_index(shader);
   work += shader->instr_count + shader->block_count;
}

void *__real_agx_arena_array(struct agx_arena *arena, size_t count, size_t size);
void *__wrap_agx_arena_array(struct agx_arena *arena, size_t count, size_t size);
void *__wrap_agx_arena_array(struct agx_arena *arena, size_t count, size_t size)
{
   work += count * size / 64;
   return __real_agx_arena_array(arena, count, size);
}

static double work_of(enum shape shape, uint32_t size, double *out_bytes)
{
   struct shape_module module;
   struct agx_program *program;
   struct agxc_options options = {.chip = agx_chip_find("g13g")};
   shape_make(&module, shape, size);
   work = 0;
   assert_ok(agxc_compile(module.words, module.count * 4, &options, &program));
   free(module.words);
   *out_bytes = program->text_B;
   agx_program_free(program);
   return (double)work;
}

static void work_grows_like_the_kernel(void **state)
{
   for (enum shape shape = 0; shape < SHAPE_COUNT; shape++) {
      double bytes[2];
      /* Pieces of bulk_shapes.c have more instructions. */
      uint32_t size = shape < SHAPE_BULK ? SMALL : SMALL / 3;
      double small = work_of(shape, size, &bytes[0]);
      double large = work_of(shape, GROWTH * size, &bytes[1]);
      double grown = AGX_MAX((double)GROWTH, bytes[1] / bytes[0]);
      assert_true(small > 1000);
      if (large > MOST * grown * small)
         fail_msg("%s: %.2f times the work for %.2f times the kernel", shape_name(shape),
                  large / small, grown);
   }
}

/* 300 MiB of memory for 5 MiB of module. */
static void large_modules_get_more_memory(void **state)
{
   struct shape_module module;
   struct agx_program *program;
   struct agxc_options options = {.chip = agx_chip_find("g13g")};
   shape_make(&module, SHAPE_CHAINS, 50000);
   assert_ok(agxc_compile(module.words, module.count * 4, &options, &program));
   agx_program_free(program);
   options.memory_limit_B = (size_t)256 << 20;
   assert_fails(agxc_compile(module.words, module.count * 4, &options, &program),
                AGX_RESOURCE_EXHAUSTED, "over the limit of 268435456 bytes");
   free(module.words);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(work_grows_like_the_kernel),
      cmocka_unit_test(large_modules_get_more_memory),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
