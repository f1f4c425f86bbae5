/* SPDX-License-Identifier: MIT
 *
 * The compiler's entry: one arena, the front end, the pipeline, the emitter, and a copy of
 * the result. Whatever fails leaves through the arena's jump buffer, once.
 *
 * Passes recurse over the tree of control flow. Few kernels nest more than a dozen levels, so
 * the caller's stack is used for the first AGXC_SHALLOW_NESTING of them. A module that turns out to
 * be deeper is compiled again by a thread that has stack for all levels the hardware can count.
 */
#include "agx/compiler/compiler.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "agx/compiler/emit/emit.h"
#include "agx/compiler/spirv/frontend.h"
#include "agx/compiler/ir/clone.h"
#include "agx/compiler/pipeline.h"
#include "base/float_env.h"
#include "base/util.h"
#include "base/thread.h"

/* A byte of a large module takes 20 to 600 bytes of memory (make bench-scale). */
#define DEFAULT_LIMIT_B     ((size_t)256 << 20)
#define LIMIT_FOR_EACH_BYTE ((size_t)1024)

/* Of the front end, which needs most; with the address sanitizer, without optimization. Memory
 * for it is only reserved. */
#define STACK_PER_LEVEL_B 8192
#define DEEP_STACK_B      ((size_t)STACK_PER_LEVEL_B * (AGXC_MOST_NESTING + 1))

struct compilation {
   struct agx_arena arena;
   const struct agxc_options *options;
   const void *spirv;
   size_t size;
   uint32_t most_nesting;
   struct agxc_shader *shader; /* NULL until it is made */
   bool is_too_deep;           /* more levels of control flow than that */
   struct agx_program program; /* points into the arena */
};

/* ---- text of the machine code ----------------------------------------- */

struct listing {
   struct agx_arena *arena;
   char *text;
   size_t length, capacity;
};

static void add_line(void *user, const char *line)
{
   struct listing *listing = user;
   size_t bytes = strlen(line) + 1;
   if (listing->length + bytes >= listing->capacity) {
      size_t capacity = AGX_MAX(listing->capacity * 2, listing->length + bytes + 1);
      listing->text = agx_arena_grow(listing->arena, listing->text, listing->length, capacity, 1);
      listing->capacity = capacity;
   }
   memcpy(listing->text + listing->length, line, bytes - 1);
   listing->text[listing->length + bytes - 1] = '\n';
   listing->length += bytes;
}

static void dump_code(struct compilation *c, const char *title, const uint8_t *code,
                      uint32_t text_B)
{
   struct listing listing = {.arena = &c->arena, .capacity = 4096};
   listing.text = agx_arena_alloc(&c->arena, listing.capacity);
   agx_status status = agx_isa_disassemble(code, text_B, 0, add_line, &listing);
   if (status != AGX_OK)
      add_line(&listing, agx_error_peek());
   c->options->dump(c->options->dump_user, title, listing.text);
}

/* ---- stages ----------------------------------------------------------- */

/* What launches add begins where everything else ends. */
static void place_dynamic_shared(struct compilation *c)
{
   struct agxc_shader *shader = c->shader;
   c->program.shared_B = (uint32_t)agx_align_up(shader->shared_B, AGX_PROGRAM_SHARED_ALIGN);
   for (uint32_t i = 0; i < shader->uniform_count; i++)
      if (shader->uniforms[i].kind == AGX_UNIFORM_SHARED_END) {
         shader->uniforms[i].kind = AGX_UNIFORM_CONSTANT;
         shader->uniforms[i].value = c->program.shared_B;
      }
}

static void describe(struct compilation *c)
{
   struct agxc_shader *shader = c->shader;
   struct agx_program *program = &c->program;
   agx_program_set_name(program, shader->long_name ? shader->long_name : shader->name);
   snprintf(program->chip, sizeof(program->chip), "%s", shader->chip->name);
   memcpy(program->local_size, shader->local_size, sizeof(program->local_size));
   program->gpr_halves = shader->gpr_halves;
   program->uniform_halves = shader->uniform_halves;
   program->has_dynamic_local_size = shader->has_dynamic_local_size;
   program->has_dynamic_shared = shader->has_dynamic_shared;
   program->shared_B = shader->shared_B;
   if (shader->has_dynamic_shared)
      place_dynamic_shared(c);
   program->scratch_B = agx_program_frame_B(shader->scratch_B);
   program->push_B = shader->push_B;
   program->data = shader->data;
   program->data_B = shader->data_B;
   program->is_vertex = shader->is_vertex;
   program->takes_addresses = shader->takes_addresses;
   program->bindings = shader->bindings;
   program->binding_count = shader->binding_count;
   program->uniforms = shader->uniforms;
   program->uniform_count = shader->uniform_count;
   program->states = shader->states;
   program->state_count = shader->state_count;
   program->stats = shader->stats;
   agxc_emit_lines(shader, program);
   if (!shader->is_unchecked) {
      program->parameters = shader->parameters;
      program->parameter_count = shader->parameter_count;
      program->constants = shader->constants;
      program->constant_count = shader->constant_count;
      program->names = shader->names;
      program->names_B = shader->names_B;
   }
   if (!shader->preamble)
      return;
   program->preamble_gpr_halves = shader->preamble->gpr_halves;
   program->stats.preamble_instructions = shader->preamble->stats.instructions;
}

static void emit_preamble(struct compilation *c)
{
   uint8_t *code = NULL;
   uint32_t text_B;
   agxc_emit(c->shader->preamble, &code, &text_B, &c->program.preamble_B);
   c->program.preamble = code;
   if (c->options->dump)
      dump_code(c, "asm preamble", code, text_B);
}

static bool is_robust(const struct agxc_options *options)
{
   bool robust = options->robustness != AGXC_ROBUST_NONE;
   for (uint32_t i = 0; i < options->robust_binding_count; i++)
      robust |= options->robust_bindings[i].robustness != AGXC_ROBUST_NONE;
   return robust && !(options->debug & AGXC_DEBUG_NO_OPT);
}

static void read_module(struct compilation *c)
{
   c->shader = agxc_shader_create(&c->arena, c->options);
   c->shader->most_nesting = c->most_nesting;
   uint32_t *words = AGX_ARENA_ARRAY(&c->arena, uint32_t, c->size / 4);
   memcpy(words, c->spirv, c->size);
   agxc_spirv_to_ir(c->shader, words, c->size / 4);
}

/* From c->shader as the front end leaves it to c->program. */
static void make_program(struct compilation *c)
{
   uint8_t *code = NULL;
   agxc_run_pipeline(c->shader);
   agxc_emit(c->shader, &code, &c->program.text_B, &c->program.code_B);
   c->program.code = code;
   if (c->options->dump)
      dump_code(c, "asm", code, c->program.text_B);
   if (c->shader->preamble)
      emit_preamble(c);
   describe(c);
}

/* Robust code has an unchecked variant where some checks can be left out. It is made first, of a
 * copy of the IR, and given to the program with checks together with its guards. */
static void make_unchecked(struct compilation *c)
{
   struct agxc_shader *checked = c->shader, *unchecked = agxc_clone_shader(checked);
   c->shader = unchecked;
   unchecked->is_unchecked = true;
   make_program(c);
   struct agx_program *variant = NULL;
   if (unchecked->guard_count) {
      variant = AGX_ARENA_NEW(&c->arena, struct agx_program);
      *variant = c->program;
   }
   c->shader = checked;
   c->program = (struct agx_program){
      .unchecked = variant, .guards = unchecked->guards, .guard_count = unchecked->guard_count};
}

static void run_all(struct compilation *c)
{
   c->program = (struct agx_program){.unchecked = NULL};
   read_module(c);
   if (is_robust(c->options))
      make_unchecked(c);
   make_program(c);
}

/* The stages under the jump buffer; a status of the shader's, or the arena's end. */
static agx_status guarded(struct compilation *c)
{
   jmp_buf exhausted;
   c->arena.exhausted = &exhausted;
   if (setjmp(exhausted) == 0) {
      run_all(c);
      return AGX_OK;
   }
   if (c->shader && c->shader->status != AGX_OK)
      return c->shader->status;
   return AGX_FAIL(AGX_RESOURCE_EXHAUSTED,
                   "compiler: out of memory, or over the limit of %zu bytes", c->arena.limit_B);
}

/* Without one of the caller's it grows with the module, so that it refuses no size of module, but
 * what a small one makes of itself, as by calls of calls. */
static size_t memory_limit(const struct compilation *c)
{
   if (c->options->memory_limit_B)
      return c->options->memory_limit_B;
   size_t each = AGX_MIN(c->size, SIZE_MAX / LIMIT_FOR_EACH_BYTE) * LIMIT_FOR_EACH_BYTE;
   return AGX_MIN(each, SIZE_MAX - DEFAULT_LIMIT_B) + DEFAULT_LIMIT_B;
}

static agx_status compile(struct compilation *c, struct agx_program **out_program)
{
   const struct agx_host_alloc *alloc = c->options->alloc;
   agx_arena_init(&c->arena, alloc, memory_limit(c), NULL);
   agx_status status = guarded(c);
   if (status == AGX_OK)
      status = agx_program_copy(&c->program, alloc, out_program);
   c->is_too_deep = c->shader && c->shader->is_too_deep;
   agx_arena_fini(&c->arena);
   return status;
}

/* ---- deep nests -------------------------------------------------------- */

struct deep {
   struct compilation compilation;
   struct agx_program *program;
   agx_status status;
   char error[256]; /* the text of the other thread's failure */
};

static void *compile_deep(void *user)
{
   struct deep *deep = user;
   deep->status = compile(&deep->compilation, &deep->program);
   if (deep->status != AGX_OK)
      snprintf(deep->error, sizeof(deep->error), "%s", agx_error_peek());
   return NULL;
}

static agx_status compile_on_deep_stack(struct deep *deep, struct agx_program **out_program)
{
   pthread_attr_t attributes;
   pthread_t thread;
   int error = pthread_attr_init(&attributes);
   if (error)
      return agx_status_fail_errno(error, "compiler: thread for deep control flow");
   error = pthread_attr_setstacksize(&attributes, DEEP_STACK_B);
   if (!error)
      error = agx_thread_start(&thread, &attributes, compile_deep, deep);
   pthread_attr_destroy(&attributes);
   if (error)
      return agx_status_fail_errno(error, "compiler: thread with a stack of %zu bytes",
                                   DEEP_STACK_B);
   pthread_join(thread, NULL);
   if (deep->status != AGX_OK)
      return AGX_FAIL(deep->status, "%s", deep->error);
   *out_program = deep->program;
   return AGX_OK;
}

/* Compiles with the stack of the caller, or where that may not do, with another. */
static agx_status compile_on_some_stack(const void *spirv, size_t size,
                                        const struct agxc_options *options,
                                        struct agx_program **out_program)
{
   struct compilation c = {
      .options = options, .spirv = spirv, .size = size, .most_nesting = AGXC_SHALLOW_NESTING};
   agx_status status = compile(&c, out_program);
   if (!c.is_too_deep)
      return status;
   struct deep deep = {.compilation = c};
   deep.compilation.most_nesting = AGXC_MOST_NESTING;
   deep.compilation.shader = NULL;
   return compile_on_deep_stack(&deep, out_program);
}

/* Tells what is handed over by mistake: source text, or what is compiled already. */
static agx_status check_magic(const void *bytes, size_t size)
{
   if (agx_program_is_spirv(bytes, size))
      return AGX_OK;
   if (agx_program_is_elf(bytes, size))
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "an ELF file, no SPIR-V: it is compiled already");
   if (size < 4)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "SPIR-V: %zu bytes, without a whole word", size);
   return AGX_FAIL(AGX_INVALID_ARGUMENT,
                   "SPIR-V word 0: magic number 0x%08x, where a module has 0x07230203; source text "
                   "becomes SPIR-V by a compiler such as glslangValidator or clang",
                   agx_load_u32(bytes));
}

agx_status agxc_compile(const void *spirv, size_t size, const struct agxc_options *options,
                        struct agx_program **out_program)
{
   *out_program = NULL;
   if (!options->chip)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "compiler: no chip");
   AGX_TRY(check_magic(spirv, size));
   if (size % 4)
      return AGX_FAIL(AGX_INVALID_ARGUMENT,
                      "SPIR-V: %zu bytes are no whole number of words; the module is cut short, or "
                      "something follows it",
                      size);
   struct agx_float_env env;
   agx_float_env_enter(&env);
   agx_status status = compile_on_some_stack(spirv, size, options, out_program);
   agx_float_env_leave(&env);
   return status;
}
