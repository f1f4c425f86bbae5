/* SPDX-License-Identifier: MIT
 *
 * The compiler's entry: one arena, one way out for all failures, and at the end a copy
 * of the result that outlives the arena.
 */
#include "agx/compiler/compiler.h"

#include <string.h>

#include "agx/compiler/passes.h"
#include "agx/compiler/pipeline.h"

#define DEFAULT_MEMORY_B (256u << 20)

/* Outside of the function that calls setjmp, so that its members keep their values. */
struct compilation {
   struct agx_arena arena;
   jmp_buf exhausted;
   const struct agxc_options *options;
   const void *spirv;
   size_t size;
   struct agxc_shader *shader;
   struct agx_program program;
};

static void copy_name(char *to, size_t capacity, const char *from)
{
   size_t length = strnlen(from, capacity - 1);
   memcpy(to, from, length);
}

static void fill_program(struct compilation *c)
{
   struct agxc_shader *shader = c->shader;
   struct agx_program *program = &c->program;
   uint8_t *code = NULL;
   agxc_emit(shader, &code, &program->text_B, &program->code_B);
   copy_name(program->name, sizeof(program->name), shader->name);
   copy_name(program->chip, sizeof(program->chip), shader->chip->name);
   program->code = code;
   program->gpr_halves = shader->gpr_halves;
   program->uniform_halves = shader->uniform_halves;
   memcpy(program->local_size, shader->local_size, sizeof(program->local_size));
   program->shared_B = shader->shared_B;
   program->push_B = shader->push_B;
   program->binding_count = shader->binding_count;
   program->bindings = shader->bindings;
   program->uniform_count = shader->uniform_count;
   program->uniforms = shader->uniforms;
   program->stats = shader->stats;
}

/* Words: the caller's bytes may lie at any address. */
static const uint32_t *words_of(struct compilation *c)
{
   uint32_t *words = AGX_ARENA_ARRAY(&c->arena, uint32_t, c->size / 4 + 1);
   memcpy(words, c->spirv, c->size);
   return words;
}

static void compile(struct compilation *c)
{
   c->shader = agxc_shader_create(&c->arena, c->options);
   agxc_spirv_to_ir(c->shader, words_of(c), c->size / 4);
   agxc_dump(c->shader, "spirv");
   agxc_run_pipeline(c->shader);
   fill_program(c);
}

/* What the jump out of a pass means: a failure that was told, or no more memory. */
static agx_status failure(const struct compilation *c)
{
   if (c->shader && c->shader->status != AGX_OK)
      return c->shader->status;
   return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "compiler: %zu bytes of memory are not enough",
                   c->arena.limit_B);
}

agx_status agxc_compile(const void *spirv, size_t size, const struct agxc_options *options,
                        struct agx_program **out_program)
{
   *out_program = NULL;
   if (!options || !options->chip)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "compiler: no chip to compile for");
   if (!spirv || size == 0 || size % 4)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "compiler: SPIR-V of %zu bytes: not whole words", size);
   struct compilation *c = agx_host_zalloc(options->alloc, sizeof(*c));
   if (!c)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "compiler: %zu bytes of memory", sizeof(*c));
   c->options = options;
   c->spirv = spirv;
   c->size = size;
   agx_arena_init(&c->arena, options->alloc,
                  options->memory_limit_B ? options->memory_limit_B : DEFAULT_MEMORY_B,
                  &c->exhausted);
   agx_status status = AGX_OK;
   if (setjmp(c->exhausted) == 0) {
      compile(c);
      status = agx_program_copy(&c->program, options->alloc, out_program);
   } else {
      status = failure(c);
   }
   agx_arena_fini(&c->arena);
   agx_host_free(options->alloc, c, sizeof(*c));
   return status;
}
