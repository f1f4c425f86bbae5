/* SPDX-License-Identifier: MIT
 *
 * The compiler's entry: one arena, the front end, the pipeline, the emitter, and a copy of
 * the result. Whatever fails leaves through the arena's jump buffer, once.
 */
#include "agx/compiler/compiler.h"

#include <stdio.h>
#include <string.h>

#include "agx/compiler/passes.h"
#include "agx/compiler/pipeline.h"

#define DEFAULT_LIMIT_B ((size_t)256 << 20)

struct compilation {
   struct agx_arena arena;
   const struct agxc_options *options;
   struct agxc_shader *shader; /* NULL until it is made */
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

static void describe(struct compilation *c)
{
   struct agxc_shader *shader = c->shader;
   struct agx_program *program = &c->program;
   snprintf(program->name, sizeof(program->name), "%s", shader->name);
   snprintf(program->chip, sizeof(program->chip), "%s", shader->chip->name);
   memcpy(program->local_size, shader->local_size, sizeof(program->local_size));
   program->gpr_halves = shader->gpr_halves;
   program->uniform_halves = shader->uniform_halves;
   program->shared_B = shader->shared_B;
   program->scratch_B = agx_program_frame_B(shader->scratch_B);
   program->push_B = shader->push_B;
   program->takes_addresses = shader->takes_addresses;
   program->bindings = shader->bindings;
   program->binding_count = shader->binding_count;
   program->uniforms = shader->uniforms;
   program->uniform_count = shader->uniform_count;
   program->states = shader->states;
   program->state_count = shader->state_count;
   program->stats = shader->stats;
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

static void run(struct compilation *c, const void *spirv, size_t size)
{
   uint8_t *code = NULL;
   c->shader = agxc_shader_create(&c->arena, c->options);
   uint32_t *words = AGX_ARENA_ARRAY(&c->arena, uint32_t, size / 4);
   memcpy(words, spirv, size);
   agxc_spirv_to_ir(c->shader, words, size / 4);
   agxc_run_pipeline(c->shader);
   agxc_emit(c->shader, &code, &c->program.text_B, &c->program.code_B);
   c->program.code = code;
   if (c->options->dump)
      dump_code(c, "asm", code, c->program.text_B);
   if (c->shader->preamble)
      emit_preamble(c);
   describe(c);
}

/* The stages under the jump buffer; a status of the shader's, or the arena's end. */
static agx_status guarded(struct compilation *c, const void *spirv, size_t size)
{
   jmp_buf exhausted;
   c->arena.exhausted = &exhausted;
   if (setjmp(exhausted) == 0) {
      run(c, spirv, size);
      return AGX_OK;
   }
   if (c->shader && c->shader->status != AGX_OK)
      return c->shader->status;
   return AGX_FAIL(AGX_RESOURCE_EXHAUSTED,
                   "compiler: out of memory, or over the limit of %zu bytes", c->arena.limit_B);
}

agx_status agxc_compile(const void *spirv, size_t size, const struct agxc_options *options,
                        struct agx_program **out_program)
{
   *out_program = NULL;
   if (!options->chip)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "compiler: no chip");
   if (size % 4)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "SPIR-V: %zu bytes are no whole number of words", size);
   struct compilation c = {.options = options};
   size_t limit_B = options->memory_limit_B ? options->memory_limit_B : DEFAULT_LIMIT_B;
   agx_arena_init(&c.arena, options->alloc, limit_B, NULL);
   agx_status status = guarded(&c, spirv, size);
   if (status == AGX_OK)
      status = agx_program_copy(&c.program, options->alloc, out_program);
   agx_arena_fini(&c.arena);
   return status;
}
