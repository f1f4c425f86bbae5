/* SPDX-License-Identifier: MIT
 *
 * Nests of a thousand and of ten thousand ifs, loops and switches, and long rows, compiled as
 * SPIR-V and run on the simulator, against the same computation in C; and that the number of
 * levels ends where the hardware's counter does.
 */
#include "backend_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agx/compiler/compiler.h"
#include "shapes.h"

static agx_status compile(enum shape shape, uint32_t size, uint32_t debug,
                          struct agx_program **out_program)
{
   struct shape_module module;
   struct agxc_options options = {
      .chip = agx_chip_find("g13g"), .debug = debug, .memory_limit_B = (size_t)1 << 30};
   shape_make(&module, shape, size);
   agx_status status = agxc_compile(module.words, module.count * 4, &options, out_program);
   free(module.words);
   return status;
}

static void check(enum shape shape, uint32_t size, uint32_t debug)
{
   struct agx_program *program;
   struct backend backend;
   assert_ok(compile(shape, size, debug, &program));
   backend_init(&backend);
   struct agxc_shader *shader = backend.shader;
   shader->uniform_count = program->uniform_count;
   memcpy(shader->uniforms, program->uniforms, program->uniform_count * sizeof(*program->uniforms));
   shader->gpr_halves = program->gpr_halves;
   shader->scratch_B = program->scratch_B;
   backend_load(&backend, program->code, program->text_B - 2);
   uint32_t *data = calloc(1, 2 * BACKEND_BUFFER_B);
   for (uint32_t i = 0; i < SHAPE_THREADS; i++)
      data[i] = 0x9e3779b9u * (i + size);
   backend_run(&backend, (uint8_t *)data, 2 * BACKEND_BUFFER_B);
   for (uint32_t i = 0; i < SHAPE_THREADS; i++)
      if (data[BACKEND_BUFFER_B / 4 + i] != shape_result(shape, size, data[i]))
         fail_msg("%s, %u, thread %u: %08x instead of %08x", shape_name(shape), size, i,
                  data[BACKEND_BUFFER_B / 4 + i], shape_result(shape, size, data[i]));
   free(data);
   backend_fini(&backend);
   agx_program_free(program);
}

static void shallow_nests_compute(void **state)
{
   for (enum shape shape = 0; shape < SHAPE_MEMORY_ROW; shape++) {
      check(shape, 3, AGXC_DEBUG_VALIDATE);
      check(shape, 90, AGXC_DEBUG_VALIDATE);
      check(shape, 90, AGXC_DEBUG_NO_OPT);
   }
}

/* Deeper than the caller's stack is trusted with. */
static void a_thousand_levels_compute(void **state)
{
   for (enum shape shape = 0; shape <= SHAPE_RETURN_NEST; shape++)
      check(shape, 1000, 0);
}

static void ten_thousand_levels_compute(void **state)
{
   for (enum shape shape = SHAPE_IF_NEST; shape <= SHAPE_SWITCH_NEST; shape++)
      check(shape, 10000, AGXC_DEBUG_NO_OPT);
}

/* The counter of levels has 16 bits. */
static void more_levels_are_refused(void **state)
{
   struct agx_program *program;
   assert_fails(compile(SHAPE_IF_NEST, 33000, AGXC_DEBUG_NO_OPT, &program), AGX_RESOURCE_EXHAUSTED,
                "nested more than 32767 deep");
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(shallow_nests_compute),
      cmocka_unit_test(a_thousand_levels_compute),
      cmocka_unit_test(ten_thousand_levels_compute),
      cmocka_unit_test(more_levels_are_refused),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
