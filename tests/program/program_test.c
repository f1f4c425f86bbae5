/* SPDX-License-Identifier: MIT
 *
 * The container: what is written comes back, readelf finds nothing to say against it,
 * and bytes of strangers are refused with a reason, never trusted.
 */
#include "support.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agx/isa/isa.h"
#include "base/util.h"
#include "program/guards.h"
#include "program/program.h"
#include "failing_alloc.h"

struct sample {
   uint8_t code[256], preamble[128];
   struct agx_program_binding bindings[2];
   struct agx_program_uniform uniforms[4];
   struct agx_program_parameter parameters[4];
   struct agx_program_constant constants[2];
   struct agx_program program;
};

static uint32_t append(uint8_t *code, uint32_t at, const char *line)
{
   struct agx_isa_instr instr;
   size_t length = 0;
   assert_ok(agx_isa_parse(line, strlen(line), &instr));
   assert_ok(agx_isa_encode(&instr, code + at, &length));
   return at + (uint32_t)length;
}

static void make_code(struct sample *sample, const char *const *lines)
{
   uint32_t at = 0;
   for (; *lines; lines++)
      at = append(sample->code, at, *lines);
   sample->program.text_B = at;
   for (int i = 0; i < 8; i++)
      at = append(sample->code, at, "trap");
   sample->program.code_B = at;
}

static void make_sample(struct sample *sample)
{
   static const char *const lines[] = {
      "mfsr d=r1 sr=thread_in_grid_x",
      "load r=r2..r3 base=du0 index=r1.sx format=i32 mask=xy group=a",
      "jmp_none offset=6",
      "wait group=a",
      "fadd d=r2 a=r2 b=u4",
      "stop",
      NULL,
   };
   *sample = (struct sample){
      .bindings = {{0, 1, AGX_BINDING_STORAGE_BUFFER, AGX_BINDING_READS, 16},
                   {2, 0, AGX_BINDING_UNIFORM_BUFFER, AGX_BINDING_READS, 1ull << 33, 7, 0,
                    AGX_PROGRAM_ROBUST_ZERO}},
      .uniforms = {{AGX_UNIFORM_BUFFER_ADDRESS, 0, 4, 0, 0},
                   {AGX_UNIFORM_BUFFER_SIZE, 4, 2, 1, 0},
                   {AGX_UNIFORM_PUSH, 6, 2, 12, 0},
                   {AGX_UNIFORM_CONSTANT, 8, 2, 0, 0x3f800000}},
      .program =
         {.name = "main",
          .chip = "g13g",
          .gpr_halves = 8,
          .uniform_halves = 10,
          .local_size = {64, 2, 1},
          .shared_B = 128,
          .push_B = 16,
          .binding_count = 2,
          .uniform_count = 4,
          .stats = {.instructions = 6, .loads = 1, .waits = 1, .cycles = 9, .threads = 1024}},
   };
   make_code(sample, lines);
   sample->program.code = sample->code;
   static const char names[] = "\0in\0bias\0scale";
   const struct agx_program_parameter parameters[] = {{AGX_PARAMETER_KIND_BINDING, 0, 1, 0, 0, 1},
                                                      {AGX_PARAMETER_KIND_BINDING, 2, 0, 0, 0, 0},
                                                      {AGX_PARAMETER_KIND_CONSTANT, 0, 0, 4, 8, 4},
                                                      {AGX_PARAMETER_KIND_POINTER, 0, 0, 8, 8, 0}};
   const struct agx_program_constant constants[] = {
      {3, AGX_CONSTANT_TYPE_INT, 4, 9, 0xfffffffe},
      {1u << 31, AGX_CONSTANT_TYPE_FLOAT, 8, 0, 1ull << 62}};
   memcpy(sample->parameters, parameters, sizeof(parameters));
   memcpy(sample->constants, constants, sizeof(constants));
   sample->program.parameters = sample->parameters;
   sample->program.parameter_count = 4;
   sample->program.constants = sample->constants;
   sample->program.constant_count = 2;
   sample->program.names = names;
   sample->program.names_B = sizeof(names);
   sample->program.bindings = sample->bindings;
   sample->program.uniforms = sample->uniforms;
}

static void make_preamble(struct sample *sample, const char *const *lines)
{
   uint32_t at = 0;
   for (; *lines; lines++)
      at = append(sample->preamble, at, *lines);
   for (int i = 0; i < 8; i++)
      at = append(sample->preamble, at, "trap");
   sample->program.preamble = sample->preamble;
   sample->program.preamble_B = at;
   sample->program.preamble_gpr_halves = 8;
}

static uint8_t *write_sample(const struct sample *sample, size_t *size)
{
   void *image;
   assert_ok(agx_program_write_elf(&sample->program, NULL, &image, size));
   return image;
}

static void test_round_trip(void **state)
{
   struct sample sample;
   make_sample(&sample);
   static const char *const preamble[] = {
      "load r=r1 base=du0 index=3 format=i32 mask=x group=a",
      "wait group=a",
      "uniform_store u=u4 r=r1",
      "stop",
      NULL,
   };
   make_preamble(&sample, preamble);
   size_t size;
   uint8_t *image = write_sample(&sample, &size);
   assert_true(agx_program_is_elf(image, size));
   assert_false(agx_program_is_spirv(image, size));

   struct agx_program *got;
   assert_ok(agx_program_read_elf(image, size, NULL, &got));
   free(image); /* the result is independent of it */
   const struct agx_program *want = &sample.program;
   assert_string_equal(got->name, "main");
   assert_string_equal(got->chip, "g13g");
   assert_int_equal(got->code_B, want->code_B);
   assert_int_equal(got->text_B, want->text_B);
   assert_memory_equal(got->code, want->code, want->code_B);
   assert_int_equal(got->preamble_B, want->preamble_B);
   assert_memory_equal(got->preamble, want->preamble, want->preamble_B);
   assert_memory_equal(got->bindings, want->bindings, sizeof(sample.bindings));
   assert_memory_equal(got->uniforms, want->uniforms, sizeof(sample.uniforms));
   assert_memory_equal(got->local_size, want->local_size, sizeof(want->local_size));
   assert_memory_equal(&got->stats, &want->stats, sizeof(want->stats));
   assert_int_equal(got->gpr_halves, 8);
   assert_int_equal(got->uniform_halves, 10);
   assert_int_equal(got->shared_B, 128);
   assert_int_equal(got->push_B, 16);
   assert_int_equal(got->parameter_count, 4);
   assert_memory_equal(got->parameters, want->parameters, sizeof(sample.parameters));
   assert_int_equal(got->constant_count, 2);
   for (unsigned i = 0; i < 2; i++) {
      assert_int_equal(got->constants[i].id, want->constants[i].id);
      assert_int_equal(got->constants[i].type, want->constants[i].type);
      assert_int_equal(got->constants[i].bytes, want->constants[i].bytes);
      assert_int_equal(got->constants[i].name, want->constants[i].name);
      assert_true(got->constants[i].value == want->constants[i].value);
   }
   assert_int_equal(got->names_B, want->names_B);
   assert_memory_equal(got->names, want->names, want->names_B);
   agx_program_free(got);
}

static void test_fields_are_checked(void **state)
{
   static const struct {
      const char *text;
      size_t offset;
      uint32_t value;
   } cases[] = {
#define CASE(text, field, value) {text, offsetof(struct sample, field), value}
      CASE("parameter 1", parameters[1].kind, AGX_PARAMETER_KIND_COUNT),
      CASE("parameter 0", parameters[0].size_B, 4),
      CASE("parameter 2", parameters[2].set, 1),
      CASE("parameter 3", parameters[3].name, 15),
      CASE("constant 0", constants[0].bytes, 3),
      CASE("constant 1", constants[1].type, AGX_CONSTANT_TYPE_COUNT),
      CASE("constant 1", constants[1].name, 1000),
      CASE("names", program.names_B, 14),
      CASE("no names", program.names_B, 0),
      CASE("names_B", program.names_B, 1u << 20),
      CASE("parameter_count", program.parameter_count, 100000),
      CASE("gpr_halves 300", program.gpr_halves, 300),
      CASE("register half 7 of 7", program.gpr_halves, 7),
      CASE("uniform slot 3", program.uniform_halves, 9),
      CASE("local size 0", program.local_size[2], 0),
      CASE("do not leave room", program.local_size[1], 1000),
      CASE("must end", program.text_B, 14),
      CASE("where the program must end", program.text_B, 10),
      CASE("shared_B", program.shared_B, 32769),
      CASE("scratch_B 65600", program.scratch_B, 65600),
      CASE("binding 1", bindings[1].set, 0),
      CASE("binding 0", bindings[0].kind, 11),
      CASE("binding 1", bindings[1].element, 65536),
      CASE("robustness 3", bindings[1].robustness, 3),
      CASE("uniform slot 0", uniforms[0].index, 2),
      CASE("uniform slot 1", uniforms[1].start, 5),
      CASE("uniform slot 1", uniforms[1].start, 2), /* as slot 0 */
      CASE("uniform slot 2", uniforms[2].index, 253),
      CASE("uniform slot 3", uniforms[3].kind, 5),
#undef CASE
   };
   for (size_t i = 0; i < AGX_COUNT(cases); i++) {
      struct sample sample;
      struct agx_program *copy;
      make_sample(&sample);
      sample.program.code = sample.code;
      memcpy((char *)&sample + cases[i].offset, &cases[i].value, 4);
      assert_fails(agx_program_copy(&sample.program, NULL, &copy), AGX_INVALID_ARGUMENT,
                   cases[i].text);
      assert_null(copy);
   }
}

/* What a robust access may ask of the driver. */
static void test_accesses_are_checked(void **state)
{
   static const struct {
      uint32_t kind, binding;
      struct agx_program_access access;
      uint64_t flip;
      bool fits;
   } cases[] = {
      {AGX_UNIFORM_BUFFER_COUNT, 1, {12, 8192, 16, true}, 0, true},
      {AGX_UNIFORM_BUFFER_LAST, 1, {UINT32_MAX, 1, 1, false}, 0, true},
      {AGX_UNIFORM_BUFFER_SINK, 1, {0, 4, 4, false}, 0, true},
      {AGX_UNIFORM_BUFFER_SINK, 1, {0, 4, 4, false}, 1ull << 63, false},
      {AGX_UNIFORM_BUFFER_COUNT, 1, {0, 0, 4, false}, 0, false},
      {AGX_UNIFORM_BUFFER_COUNT, 1, {0, 8193, 4, false}, 0, false},
      {AGX_UNIFORM_BUFFER_COUNT, 1, {0, 4, 0, false}, 0, false},
      {AGX_UNIFORM_BUFFER_COUNT, 1, {0, 4, 17, false}, 0, false},
      {AGX_UNIFORM_BUFFER_COUNT, 0, {0, 4, 4, false}, 0, false}, /* not robust */
      {AGX_UNIFORM_BUFFER_COUNT, 2, {0, 4, 4, false}, 0, false},
      {AGX_UNIFORM_BUFFER_GUARD, 1, {0, 1, 4, false}, 0, false}, /* of 4 halves */
   };
   for (size_t i = 0; i < AGX_COUNT(cases); i++) {
      struct sample sample;
      struct agx_program *copy;
      make_sample(&sample);
      sample.program.code = sample.code;
      sample.uniforms[3] =
         (struct agx_program_uniform){cases[i].kind, 8, 2, cases[i].binding,
                                      agx_program_access_pack(cases[i].access) ^ cases[i].flip};
      agx_status status = agx_program_copy(&sample.program, NULL, &copy);
      assert_int_equal(status == AGX_OK, cases[i].fits);
      agx_program_free(copy);
   }
}

static const struct agx_program_step one_step[] = {{AGX_STEP_LAST_THREAD, 0}};

/* Bounds against every value that the kernel may have there. */
static void test_bounds(void **state)
{
#define S(op, value)                                                                               \
   {                                                                                               \
      AGX_STEP_##op, value                                                                         \
   }
   static const struct {
      struct agx_program_step steps[8];
      uint32_t count;
      uint64_t want; /* with push constants 10, 0x80000000, 0, 3 and 2, 3, 4 workgroups of 64x2x1 */
   } cases[] = {
      {{S(CONSTANT, 7)}, 1, 7},
      {{S(PUSH, 4)}, 1, 0x80000000},
      {{S(PUSH, 12)}, 1, 3},
      {{S(SIZE, 1)}, 1, 4096},
      {{S(GROUP_COUNT, 2)}, 1, 4},
      {{S(LAST_GROUP, 1)}, 1, 2},
      {{S(LAST_THREAD, 0)}, 1, 127},
      {{S(LAST_THREAD, 1)}, 1, 5},
      {{S(PUSH, 12), S(PUSH, 0), S(EXACT_SUB, 0)}, 3, 0xfffffff9},
      {{S(PUSH, 4), S(PUSH, 4), S(EXACT_ADD, 0)}, 3, 0},
      {{S(PUSH, 4), S(PUSH, 4), S(ADD, 0)}, 3, UINT32_MAX},
      {{S(PUSH, 4), S(PUSH, 0), S(EXACT_MUL, 0)}, 3, 0},
      {{S(PUSH, 4), S(PUSH, 0), S(MUL, 0)}, 3, UINT32_MAX},
      {{S(PUSH, 4), S(PUSH, 0), S(WIDE_MUL, 0)}, 3, 10ull << 31},
      {{S(PUSH, 4), S(PUSH, 4), S(WIDE_ADD, 0)}, 3, 1ull << 32},
      {{S(PUSH, 0), S(PUSH, 12), S(EXACT_SHL, 0)}, 3, 80},
      {{S(PUSH, 0), S(PUSH, 0), S(EXACT_SHR, 0)}, 3, 0},
      {{S(PUSH, 0), S(PUSH, 12), S(EXACT_AND, 0)}, 3, 2},
      {{S(PUSH, 0), S(PUSH, 12), S(EXACT_UDIV, 0)}, 3, 3},
      {{S(PUSH, 4), S(PUSH, 0), S(EXACT_UMIN, 0)}, 3, 10},
      {{S(PUSH, 4), S(PUSH, 0), S(EXACT_UMAX, 0)}, 3, 0x80000000},
      {{S(PUSH, 4), S(PUSH, 0), S(EXACT_IMIN, 0)}, 3, 0x80000000},
      {{S(PUSH, 4), S(PUSH, 0), S(EXACT_IMAX, 0)}, 3, 10},
      {{S(PUSH, 0), S(PUSH, 12), S(SHR, 0)}, 3, 1},
      {{S(PUSH, 0), S(PUSH, 8), S(UDIV, 0)}, 3, UINT32_MAX}, /* by 0 */
      {{S(PUSH, 0), S(PUSH, 12), S(UMOD, 0)}, 3, 2},
      {{S(PUSH, 12), S(PUSH, 0), S(UMOD, 0)}, 3, 3},
      {{S(PUSH, 0), S(PUSH, 8), S(UMOD, 0)}, 3, UINT32_MAX},
      {{S(PUSH, 0), S(PUSH, 12), S(MIN, 0)}, 3, 3},
      {{S(PUSH, 0), S(PUSH, 12), S(MAX, 0)}, 3, 10},
      {{S(PUSH, 0), S(PUSH, 12), S(BELOW, 0)}, 3, 2},
      {{S(PUSH, 0), S(PUSH, 8), S(BELOW, 0)}, 3, 0},
      {{S(PUSH, 4), S(PUSH, 12), S(BELOW_SIGNED, 0)}, 3, 0x80000000}, /* may be negative */
      {{S(PUSH, 0), S(PUSH, 4), S(BELOW_SIGNED, 0)}, 3, 10},
      {{S(PUSH, 0), S(PUSH, 12), S(BELOW_SIGNED, 0)}, 3, 2},
      {{S(CONSTANT, 0), S(PUSH, 0), S(COUNT_SIGNED, 2)}, 3, 9},
      {{S(CONSTANT, 0), S(CONSTANT, INT32_MAX), S(COUNT_SIGNED, 1)}, 3, UINT32_MAX},
      {{S(CONSTANT, 0), S(CONSTANT, INT32_MAX - 1), S(COUNT_SIGNED, 1)}, 3, INT32_MAX - 2},
      {{S(PUSH, 4), S(PUSH, 0), S(COUNT_SIGNED, 1)}, 3, UINT32_MAX},
      {{S(PUSH, 0), S(PUSH, 12), S(IMIN, 0)}, 3, 3},
      {{S(PUSH, 4), S(PUSH, 12), S(IMIN, 0)}, 3, UINT32_MAX},
      {{S(PUSH, 4), S(PUSH, 12), S(IMAX, 0)}, 3, INT32_MAX},
      {{S(PUSH, 4), S(PUSH, 4), S(IMAX, 0)}, 3, UINT32_MAX},
   };
#undef S
   const uint32_t push[] = {10, 0x80000000, 0, 3};
   const uint32_t workgroups[] = {2, 3, 4}, threads[] = {128, 6, 4};
   for (size_t i = 0; i < AGX_COUNT(cases); i++) {
      struct agx_program_guard guard = {.step_count = cases[i].count, .bytes = 4};
      uint64_t sizes[2] = {cases[i].want + 4, 4096};
      const struct agx_guard_launch launch = {(const uint8_t *)push, workgroups, threads, sizes};
      memcpy(guard.steps, cases[i].steps, sizeof(cases[i].steps));
      assert_true(agx_guard_holds(&guard, &launch));
      sizes[0]--;
      assert_false(agx_guard_holds(&guard, &launch));
   }
}

static void test_variants(void **state)
{
   struct sample sample, variant;
   struct agx_program_guard guard = {
      .binding = 1, .bytes = 16, .step_count = 1, .steps = {one_step[0]}};
   make_sample(&sample);
   make_sample(&variant);
   variant.program.code = variant.code;
   variant.program.bindings = variant.bindings;
   variant.program.uniforms = variant.uniforms;
   sample.program.unchecked = &variant.program;
   sample.program.guards = &guard;
   sample.program.guard_count = 1;
   size_t size;
   uint8_t *image = write_sample(&sample, &size);
   struct agx_program *got;
   assert_ok(agx_program_read_elf(image, size, NULL, &got));
   assert_non_null(got->unchecked);
   assert_memory_equal(got->unchecked->code, variant.code, variant.program.code_B);
   assert_int_equal(got->guard_count, 1);
   assert_memory_equal(got->guards, &guard, sizeof(guard));
   agx_program_free(got);
   free(image);

   const struct {
      void *field;
      uint32_t value;
   } wrong[] = {
      {&guard.binding, 2},
      {&guard.step_count, 0},
      {&guard.step_count, 2},
      {&guard.step_count, AGX_PROGRAM_MAX_STEPS + 1},
      {&guard.steps[0].value, 3},
      {&guard.steps[0].op, AGX_STEP_ADD},
      {&guard.steps[0].op, AGX_STEP_COUNT},
      {&sample.program.guard_count, AGX_PROGRAM_MAX_GUARDS + 1},
      {&variant.bindings[0].set, 3},
      {&variant.program.push_B, 0},
      {&variant.program.local_size[1], 1},
   };
   for (size_t i = 0; i < AGX_COUNT(wrong); i++) {
      uint32_t was;
      memcpy(&was, wrong[i].field, 4);
      memcpy(wrong[i].field, &wrong[i].value, 4);
      assert_int_equal(agx_program_copy(&sample.program, NULL, &got), AGX_INVALID_ARGUMENT);
      memcpy(wrong[i].field, &was, 4);
   }
}

static void test_code_is_checked(void **state)
{
   static const struct {
      const char *lines[4], *text;
   } cases[] = {
      {{"jmp_any offset=8", "stop"}, "jump to 8"},
      {{"jmp_any offset=2", "stop"}, "jump to 2"},
      {{"jmp_any offset=-2", "stop"}, "jump to -2"},
      {{"ret target=r1", "stop"}, "ret is not allowed"},
      {{"stop", "wait group=a"}, "must end in stop"},
      {{"mov d=r4 a=r0", "stop"}, "register half 9 of 8"},
      {{"mov d=r0 a=u5", "stop"}, "uniform half 11 of 10"},
      {{"uniform_store u=u4 r=r1", "stop"}, "uniform_store is not allowed"},
      {{"stack_adjust index=16", "stop"}, "stack_adjust without scratch memory"},
      {{"stack_load r=r0 index=0 format=i32 mask=x group=a", "stop"}, "without scratch memory"},
   };
   for (size_t i = 0; i < AGX_COUNT(cases); i++) {
      struct sample sample;
      struct agx_program *copy;
      make_sample(&sample);
      make_code(&sample, cases[i].lines);
      assert_fails(agx_program_copy(&sample.program, NULL, &copy), AGX_INVALID_ARGUMENT,
                   cases[i].text);
   }
}

/* Texture rows say only where their vectors begin, and name state that a table must fill. */
static void test_textures_are_checked(void **state)
{
   static const struct {
      const char *lines[3];
      bool fits;
   } cases[] = {
      {{"smpi r=r0..r3 texture=ts0 sampler=ss0 coord=r2 dim=2d mask=xyzw group=a", "stop"}, true},
      {{"smpi r=r0..r3 texture=ts2 sampler=ss0 coord=r2 dim=2d mask=xyzw group=a", "stop"}, false},
      {{"smpi r=r0..r3 texture=ts0 sampler=ss1 coord=r2 dim=2d mask=xyzw group=a", "stop"}, false},
      {{"smpi r=r0..r3 texture=ts0 sampler=ss0 coord=r3 dim=2d mask=xyzw group=a", "stop"}, false},
      {{"smpi r=r0..r3 texture=ts0 sampler=ss0 coord=r2 dim=3d mask=xyzw group=a", "stop"}, false},
      {{"smpi r=r1 texture=ts0 sampler=ss0 coord=r2 dim=2d mask=x group=a", "stop"}, false},
      {{"smpi r=r0 texture=ts0 sampler=ss0 coord=r2 dim=2d mask=x group=a", "stop"}, true},
      {{"smpi r=r0..r3 heap=du0 texture=r3 sampler=ss0 coord=r2 dim=2d mask=xyzw group=a", "stop"},
       false}, /* of no array's heap */
      {{"imgw r=r0..r3 heap=du0 texture=r3 coord=r2 lod=0 dim=2d", "stop"}, false},
      {{"imgw r=r0..r3 texture=ts1 coord=r2 lod=0 dim=2d", "stop"}, true},
      {{"imgw r=r0..r3 texture=ts2 coord=r2 lod=0 dim=2d", "stop"}, false},
      {{"imgw r=r0..r3 texture=ts1 coord=r2 lod=0 dim=2d_array", "stop"}, false},
   };
   static const struct agx_program_state states[] = {
      {AGX_STATE_TEXTURE, 0}, {AGX_STATE_FETCH_SAMPLER, 0}, {AGX_STATE_IMAGE, 0}};
   for (size_t i = 0; i < AGX_COUNT(cases); i++) {
      struct sample sample;
      struct agx_program *copy;
      make_sample(&sample);
      sample.bindings[0] =
         (struct agx_program_binding){0, 1, AGX_BINDING_KIND_STORAGE_IMAGE, AGX_BINDING_READS, 0};
      sample.bindings[0].dim = AGX_ISA_DIM_2D;
      sample.program.uniform_count = 0;
      sample.program.states = states;
      sample.program.state_count = AGX_COUNT(states);
      make_code(&sample, cases[i].lines);
      if (!cases[i].fits) {
         assert_fails(agx_program_copy(&sample.program, NULL, &copy), AGX_INVALID_ARGUMENT,
                      "names state or registers that it does not have");
         continue;
      }
      size_t size;
      uint8_t *image = write_sample(&sample, &size);
      assert_ok(agx_program_read_elf(image, size, NULL, &copy));
      assert_int_equal(copy->state_count, 3);
      assert_int_equal(copy->states[2].kind, AGX_STATE_IMAGE);
      assert_int_equal(copy->bindings[0].kind, AGX_BINDING_KIND_STORAGE_IMAGE);
      assert_int_equal(copy->bindings[0].dim, AGX_ISA_DIM_2D);
      agx_program_free(copy);
      free(image);
   }
}

static void test_states_are_checked(void **state)
{
   static const struct {
      struct agx_program_state states[2];
      uint32_t count;
   } cases[] = {
      {{{AGX_STATE_KIND_COUNT, 0}}, 1},    /* no such kind */
      {{{AGX_STATE_TEXTURE, 0}}, 1},       /* of a buffer */
      {{{AGX_STATE_SAMPLER, 2}}, 1},       /* of no binding */
      {{{AGX_STATE_FETCH_SAMPLER, 1}}, 1}, /* of a binding */
   };
   for (size_t i = 0; i < AGX_COUNT(cases); i++) {
      struct sample sample;
      struct agx_program *copy;
      make_sample(&sample);
      sample.program.states = cases[i].states;
      sample.program.state_count = cases[i].count;
      assert_fails(agx_program_copy(&sample.program, NULL, &copy), AGX_INVALID_ARGUMENT,
                   "state register 0");
   }
}

/* A preamble has one thread, no workgroup, and no output but uniforms that are declared. */
static void test_preamble_is_checked(void **state)
{
   static const struct {
      const char *lines[4], *text;
   } cases[] = {
      {{"mfsr d=r1 sr=thread_in_grid_x", "stop"}, "preamble at 0x0: mfsr is not allowed"},
      {{"mfsr d=r1 sr=dispatch_threads_per_threadgroup_x", "stop"}, NULL},
      {{"barrier", "stop"}, "barrier is not allowed"},
      {{"lload r=r1 base=r0l index=0 format=i32 mask=x", "stop"}, "lload is not allowed"},
      {{"store r=r1 base=du0 index=0 format=i32 mask=x group=a", "stop"}, "store is not allowed"},
      {{"uniform_store u=u4 r=r1", "stop"}, NULL},
      {{"uniform_store u=u5 r=r1", "stop"}, "uniform half 11 of 10"},
      {{"uniform_store u=u4 r=r4", "stop"}, "register half 9 of 8"},
      {{"uniform_store_raw r=r1l index=r2 shift=0 format=i16 mask=x group=a", "stop"},
       "is not allowed"},
      {{"stop", "mov d=r1 a=1"}, "must end in stop"},
      {{"stack_load r=r0 index=0 format=i32 mask=x group=a", "stop"}, "without scratch memory"},
   };
   for (size_t i = 0; i < AGX_COUNT(cases); i++) {
      struct sample sample;
      struct agx_program *copy;
      make_sample(&sample);
      make_preamble(&sample, cases[i].lines);
      if (cases[i].text) {
         assert_fails(agx_program_copy(&sample.program, NULL, &copy), AGX_INVALID_ARGUMENT,
                      cases[i].text);
         continue;
      }
      assert_ok(agx_program_copy(&sample.program, NULL, &copy));
      agx_program_free(copy);
   }
}

/* A frame is taken once, whole, before anything else. */
static void test_scratch_is_checked(void **state)
{
   static const struct {
      const char *lines[4], *text;
   } cases[] = {
      {{"mov d=r0 a=1", "stop"}, "does not begin by taking 64 bytes"},
      {{"stack_adjust index=12", "stop"}, "does not begin by taking 64 bytes"},
      {{"stack_adjust index=20", "stop"}, "does not begin by taking 64 bytes"},
      {{"stack_adjust index=r0.sx", "stop"}, "does not begin by taking 64 bytes"},
      {{"stack_adjust index=16", "stack_adjust index=16", "stop"}, "at 0x6: stack_adjust without"},
      {{"stack_adjust index=16", "jmp_any offset=-6", "stop"}, "jump to 0"},
      {{"stack_adjust index=16", "stack_load r=r0 index=64 format=i32 mask=x group=a", "stop"},
       "scratch bytes 64 to 68 of 64"},
      {{"stack_adjust index=16", "stack_store r=r0 index=-4 format=i32 mask=x group=a", "stop"},
       "scratch bytes -4 to 0"},
      {{"stack_adjust index=16", "stack_load r=r0..r1 index=56 format=i32 mask=zw group=a", "stop"},
       "scratch bytes 56 to 72"},
      {{"stack_adjust index=16", "stack_load r=r0 index=60 format=i32 mask=x group=a", "stop"},
       NULL},
   };
   for (size_t i = 0; i < AGX_COUNT(cases); i++) {
      struct sample sample;
      struct agx_program *copy;
      make_sample(&sample);
      sample.program.scratch_B = 64;
      make_code(&sample, cases[i].lines);
      if (cases[i].text) {
         assert_fails(agx_program_copy(&sample.program, NULL, &copy), AGX_INVALID_ARGUMENT,
                      cases[i].text);
         continue;
      }
      assert_ok(agx_program_copy(&sample.program, NULL, &copy));
      assert_int_equal(copy->scratch_B, 64);
      agx_program_free(copy);
   }
}

static void test_versions_and_names(void **state)
{
   struct sample sample;
   make_sample(&sample);
   size_t size;
   uint8_t *image = write_sample(&sample, &size);
   static const uint8_t note[] = {4, 0, 0, 0, 1, 0, 0, 0, 'a', 'g', 'x', 'h', 'a', 'l', 0, 0};
   uint8_t *at = memmem(image, size, note, sizeof(note));
   assert_non_null(at);
   at[sizeof(note)]++;
   struct agx_program *got;
   assert_fails(agx_program_read_elf(image, size, NULL, &got), AGX_INCOMPATIBLE, "ABI version 7");
   free(image);

   strcpy(sample.program.name, "h\xc3\xa4lfte");
   assert_ok(agx_program_copy(&sample.program, NULL, &got));
   agx_program_free(got);
   strcpy(sample.program.name, "two\nlines");
   assert_fails(agx_program_copy(&sample.program, NULL, &got), AGX_INVALID_ARGUMENT, "byte 0x0a");
   strcpy(sample.program.name, "main");
   strcpy(sample.program.chip, "g99z");
   assert_fails(agx_program_copy(&sample.program, NULL, &got), AGX_INCOMPATIBLE, "g99z");
}

/* A module of two samples and one with an unchecked variant of its own, as a file. */
static uint8_t *write_module(size_t *size)
{
   static const char *const names[] = {"main", "second", "third"};
   struct agx_program *programs[3];
   struct agx_module *module;
   struct sample sample, unchecked;
   void *image;
   for (int i = 0; i < 3; i++) {
      make_sample(&sample);
      make_sample(&unchecked);
      strcpy(sample.program.name, names[i]);
      sample.program.local_size[0] = 8u << i;
      unchecked.program.local_size[0] = 8u << i;
      unchecked.program.parameter_count = unchecked.program.constant_count = 0;
      if (i == 1)
         sample.program.unchecked = &unchecked.program;
      assert_ok(agx_program_copy(&sample.program, NULL, &programs[i]));
   }
   assert_ok(agx_module_create(programs, 3, NULL, &module));
   assert_true(module->bytes > 3 * sizeof(struct agx_program));
   assert_ok(agx_module_write_elf(module, NULL, &image, size));
   agx_module_release(module);
   return image;
}

static void test_modules(void **state)
{
   size_t size;
   uint8_t *image = write_module(&size);
   struct agx_program *program;
   struct agx_module *module;
   assert_fails(agx_program_read_elf(image, size, NULL, &program), AGX_INVALID_ARGUMENT,
                "3 entry points");
   assert_ok(agx_module_read_elf(image, size, NULL, &module));
   free(image);
   assert_int_equal(module->program_count, 3);
   assert_int_equal(agx_module_find(module, "main"), 0);
   assert_int_equal(agx_module_find(module, "third"), 2);
   assert_int_equal(agx_module_find(module, "fourth"), 3);
   for (uint32_t i = 0; i < 3; i++)
      assert_int_equal(module->programs[i]->local_size[0], 8u << i);
   assert_non_null(module->programs[1]->unchecked);
   assert_null(module->programs[2]->unchecked);
   agx_module_retain(module);
   agx_module_release(module);
   assert_string_equal(module->programs[0]->name, "main");
   agx_module_release(module);
   agx_module_release(NULL);
}

static void test_modules_are_checked(void **state)
{
   struct agx_program *programs[AGX_PROGRAM_MAX_ENTRIES + 1];
   struct agx_module *module;
   struct sample sample;
   make_sample(&sample);
   for (int i = 0; i < 2; i++)
      assert_ok(agx_program_copy(&sample.program, NULL, &programs[i]));
   assert_fails(agx_module_create(programs, 2, NULL, &module), AGX_INVALID_ARGUMENT,
                "two entry points");
   assert_ok(agx_program_copy(&sample.program, NULL, &programs[0]));
   strcpy(sample.program.name, "other");
   strcpy(sample.program.chip, "g14s");
   assert_ok(agx_program_copy(&sample.program, NULL, &programs[1]));
   assert_fails(agx_module_create(programs, 2, NULL, &module), AGX_INVALID_ARGUMENT, "g14s");
   assert_fails(agx_module_create(programs, 0, NULL, &module), AGX_OUT_OF_RANGE, "0 entry points");
   for (uint32_t i = 0; i < AGX_COUNT(programs); i++) {
      snprintf(sample.program.name, sizeof(sample.program.name), "entry %u", i);
      assert_ok(agx_program_copy(&sample.program, NULL, &programs[i]));
   }
   assert_fails(agx_module_create(programs, AGX_COUNT(programs), NULL, &module), AGX_OUT_OF_RANGE,
                "65 entry points");
}

/* Reads a copy of exactly that size, so that a sanitizer sees each byte beyond. */
static void read_hostile(const uint8_t *image, size_t size)
{
   uint8_t *copy = malloc(size ? size : 1);
   assert_non_null(copy);
   memcpy(copy, image, size);
   struct agx_module *got = NULL;
   agx_status status = agx_module_read_elf(copy, size, NULL, &got);
   assert_true((status == AGX_OK) == (got != NULL));
   free(copy);
   agx_module_release(got);
}

static void test_hostile_modules(void **state)
{
   size_t size;
   uint8_t *image = write_module(&size);
   struct agx_test_rng rng = {0xc0ffee};
   for (size_t i = 0; i < size; i += 37)
      read_hostile(image, i);
   for (int round = 0; round < 6000; round++) {
      size_t at[3];
      uint8_t saved[3];
      int count = 1 + round % 3;
      for (int i = 0; i < count; i++) {
         at[i] = agx_test_random_below(&rng, size);
         saved[i] = image[at[i]];
         image[at[i]] = round % 2 ? (uint8_t)agx_test_random(&rng)
                                  : image[at[i]] ^ (uint8_t)(1u << agx_test_random_below(&rng, 8));
      }
      read_hostile(image, size);
      for (int i = count; i-- > 0;)
         image[at[i]] = saved[i];
   }
   free(image);
}

/* Sections of the same bytes again and again would make a small file a large module. */
static void test_entries_do_not_share_bytes(void **state)
{
   size_t size;
   uint8_t *image = write_module(&size);
   Elf64_Ehdr header;
   Elf64_Shdr sections[64], *first = NULL, *largest = NULL;
   memcpy(&header, image, sizeof(header));
   assert_in_range(header.e_shnum, 3, AGX_COUNT(sections));
   memcpy(sections, image + header.e_shoff, header.e_shnum * sizeof(sections[0]));
   const char *names = (const char *)image + sections[header.e_shstrndx].sh_offset;
   for (uint32_t i = 0; i < header.e_shnum; i++) {
      if (strcmp(names + sections[i].sh_name, ".rodata.agx.entry") != 0)
         continue;
      if (!first)
         first = &sections[i];
      largest = &sections[i];
   }
   assert_ptr_not_equal(first, largest);
   first->sh_offset = largest->sh_offset = 0; /* the whole file, twice */
   first->sh_size = largest->sh_size = size;
   memcpy(image + header.e_shoff, sections, header.e_shnum * sizeof(sections[0]));
   struct agx_module *got;
   assert_fails(agx_module_read_elf(image, size, NULL, &got), AGX_INVALID_ARGUMENT,
                "entry point inside another");
   free(image);
}

static void test_truncated(void **state)
{
   struct sample sample;
   make_sample(&sample);
   size_t size;
   uint8_t *image = write_sample(&sample, &size);
   for (size_t i = 0; i < size; i++) {
      struct agx_program *got;
      uint8_t *copy = malloc(i ? i : 1);
      assert_non_null(copy);
      memcpy(copy, image, i);
      assert_int_not_equal(agx_program_read_elf(copy, i, NULL, &got), AGX_OK);
      free(copy);
   }
   free(image);
}

static void test_bit_flips(void **state)
{
   struct sample sample;
   make_sample(&sample);
   size_t size;
   uint8_t *image = write_sample(&sample, &size);
   for (size_t bit = 0; bit < size * 8; bit++) {
      image[bit / 8] ^= (uint8_t)(1u << bit % 8);
      read_hostile(image, size);
      image[bit / 8] ^= (uint8_t)(1u << bit % 8);
   }
   struct agx_test_rng rng = {0x5eed};
   for (int round = 0; round < 3000; round++) {
      uint8_t saved[8];
      size_t at[8];
      for (int i = 0; i < 8; i++) {
         at[i] = agx_test_random_below(&rng, size);
         saved[i] = image[at[i]];
         image[at[i]] = (uint8_t)agx_test_random(&rng);
      }
      read_hostile(image, size);
      for (int i = 8; i-- > 0;)
         image[at[i]] = saved[i];
   }
   free(image);
}

static void test_no_memory(void **state)
{
   size_t size;
   uint8_t *image = write_module(&size);
   struct agx_module *got = NULL;
   size_t needed = 0;
   for (; !got; needed++) {
      struct failing_alloc failing;
      failing_alloc_init(&failing, needed);
      agx_status status = agx_module_read_elf(image, size, &failing.alloc, &got);
      if (status != AGX_OK) {
         assert_int_equal(status, AGX_RESOURCE_EXHAUSTED);
         assert_int_equal(failing.live, 0);
         continue;
      }
      agx_module_release(got);
      assert_int_equal(failing.live, 0);
   }
   assert_true(needed > 2);
   free(image);
}

static void test_readelf(void **state)
{
   if (system("readelf --version > /dev/null 2>&1") != 0)
      skip();
   struct sample sample;
   make_sample(&sample);
   size_t size;
   uint8_t *image = write_sample(&sample, &size);
   char path[] = "/tmp/agx-program-XXXXXX", command[128], line[256];
   int fd = mkstemp(path);
   assert_true(fd >= 0);
   assert_int_equal(write(fd, image, size), size);
   close(fd);
   snprintf(command, sizeof(command), "LC_ALL=C readelf -aW %s 2>&1", path);
   FILE *pipe = popen(command, "r");
   assert_non_null(pipe);
   int notes = 0, symbols = 0;
   while (fgets(line, sizeof(line), pipe)) {
      assert_null(strstr(line, "Warning"));
      assert_null(strstr(line, "Error"));
      notes += strstr(line, "agxhal") != NULL;
      symbols += strstr(line, "FUNC    GLOBAL DEFAULT    1 main") != NULL;
   }
   assert_int_equal(pclose(pipe), 0);
   unlink(path);
   assert_int_equal(notes, 3);
   assert_int_equal(symbols, 1);
   free(image);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_round_trip),
      cmocka_unit_test(test_fields_are_checked),
      cmocka_unit_test(test_code_is_checked),
      cmocka_unit_test(test_accesses_are_checked),
      cmocka_unit_test(test_bounds),
      cmocka_unit_test(test_variants),
      cmocka_unit_test(test_textures_are_checked),
      cmocka_unit_test(test_states_are_checked),
      cmocka_unit_test(test_preamble_is_checked),
      cmocka_unit_test(test_scratch_is_checked),
      cmocka_unit_test(test_versions_and_names),
      cmocka_unit_test(test_truncated),
      cmocka_unit_test(test_bit_flips),
      cmocka_unit_test(test_no_memory),
      cmocka_unit_test(test_modules),
      cmocka_unit_test(test_modules_are_checked),
      cmocka_unit_test(test_hostile_modules),
      cmocka_unit_test(test_entries_do_not_share_bytes),
      cmocka_unit_test(test_readelf),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
