/* SPDX-License-Identifier: MIT
 *
 * Programs in the container: what is written comes back, and fields, accesses, bounds, code,
 * textures and states that don't fit together are refused with a reason.
 */
#include "sample.h"

#include <stdlib.h>
#include <string.h>

#include "agx/isa/isa.h"
#include "base/util.h"
#include "program/guards.h"

static void test_round_trip(void **state)
{
   struct sample sample;
   sample_make(&sample);
   static const char *const preamble[] = {
      "load r=r1 base=du0 index=3 format=i32 mask=x group=a",
      "wait group=a",
      "uniform_store u=u4 r=r1",
      "stop",
      NULL,
   };
   sample_set_preamble(&sample, preamble);
   size_t size;
   uint8_t *image = sample_write(&sample, &size);
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
   assert_int_equal(got->uniform_halves, 14);
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
   assert_int_equal(got->data_B, want->data_B);
   assert_memory_equal(got->data, want->data, want->data_B);
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
      CASE("uniform slot 4", program.uniform_halves, 13),
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
      CASE("uniform slot 4", uniforms[4].value, 12),
      CASE("uniform slot 4", uniforms[4].index, 1),
      CASE("uniform slot 4", program.data_B, 8),
      CASE("data_B", program.data_B, (1u << 20) + 1),
#undef CASE
   };
   for (size_t i = 0; i < AGX_COUNT(cases); i++) {
      struct sample sample;
      struct agx_program *copy;
      sample_make(&sample);
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
      sample_make(&sample);
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
   sample_make(&sample);
   sample_make(&variant);
   variant.program.code = variant.code;
   variant.program.bindings = variant.bindings;
   variant.program.uniforms = variant.uniforms;
   sample.program.unchecked = &variant.program;
   sample.program.guards = &guard;
   sample.program.guard_count = 1;
   size_t size;
   uint8_t *image = sample_write(&sample, &size);
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
      {{"mov d=r0 a=u7", "stop"}, "uniform half 15 of 14"},
      {{"uniform_store u=u4 r=r1", "stop"}, "uniform_store is not allowed"},
      {{"stack_adjust index=16", "stop"}, "stack_adjust without scratch memory"},
      {{"stack_load r=r0 index=0 format=i32 mask=x group=a", "stop"}, "without scratch memory"},
   };
   for (size_t i = 0; i < AGX_COUNT(cases); i++) {
      struct sample sample;
      struct agx_program *copy;
      sample_make(&sample);
      sample_set_code(&sample, cases[i].lines);
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
      /* Gradients: two registers an axis, here up to the program's last. */
      {{"smpf r=r0 texture=ts0 sampler=ss0 coord=r0 lod=r0..r3 dim=2d mask=x lod_mode=lod_grad "
        "group=a",
        "stop"},
       true},
      {{"smpf r=r0 texture=ts0 sampler=ss0 coord=r0 lod=r1..r4 dim=2d mask=x lod_mode=lod_grad "
        "group=a",
        "stop"},
       false},
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
      sample_make(&sample);
      sample.bindings[0] =
         (struct agx_program_binding){0, 1, AGX_BINDING_KIND_STORAGE_IMAGE, AGX_BINDING_READS, 0};
      sample.bindings[0].dim = AGX_ISA_DIM_2D;
      sample.program.uniform_count = 0;
      sample.program.states = states;
      sample.program.state_count = AGX_COUNT(states);
      sample_set_code(&sample, cases[i].lines);
      if (!cases[i].fits) {
         assert_fails(agx_program_copy(&sample.program, NULL, &copy), AGX_INVALID_ARGUMENT,
                      "names state or registers that it does not have");
         continue;
      }
      size_t size;
      uint8_t *image = sample_write(&sample, &size);
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
      sample_make(&sample);
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
      {{"uniform_store u=u7 r=r1", "stop"}, "uniform half 15 of 14"},
      {{"uniform_store u=u4 r=r4", "stop"}, "register half 9 of 8"},
      {{"uniform_store_raw r=r1l index=r2 shift=0 format=i16 mask=x group=a", "stop"},
       "is not allowed"},
      {{"stop", "mov d=r1 a=1"}, "must end in stop"},
      {{"stack_load r=r0 index=0 format=i32 mask=x group=a", "stop"}, "without scratch memory"},
   };
   for (size_t i = 0; i < AGX_COUNT(cases); i++) {
      struct sample sample;
      struct agx_program *copy;
      sample_make(&sample);
      sample_set_preamble(&sample, cases[i].lines);
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
      sample_make(&sample);
      sample.program.scratch_B = 64;
      sample_set_code(&sample, cases[i].lines);
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
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
