/* SPDX-License-Identifier: MIT
 *
 * Copies of programs: one allocation that holds the struct and all it points to, and
 * remembers where it came from.
 */
#include "program/program.h"

#include <string.h>

#include "base/list.h"
#include "base/util.h"
#include "program/container.h"

struct program_block {
   struct agx_program program; /* first: what the caller holds */
   struct agx_host_alloc alloc;
   size_t size;
};

#define WORD(field) offsetof(struct agx_program, field)
const uint16_t agx_program_words[] = {
   WORD(text_B),
   WORD(gpr_halves),
   WORD(preamble_gpr_halves),
   WORD(uniform_halves),
   WORD(local_size[0]),
   WORD(local_size[1]),
   WORD(local_size[2]),
   WORD(has_dynamic_local_size),
   WORD(has_dynamic_shared),
   WORD(shared_B),
   WORD(scratch_B),
   WORD(push_B),
   WORD(is_vertex),
   WORD(takes_addresses),
   WORD(binding_count),
   WORD(uniform_count),
   WORD(state_count),
   WORD(stats.instructions),
   WORD(stats.preamble_instructions),
   WORD(stats.spills),
   WORD(stats.fills),
   WORD(stats.loads),
   WORD(stats.waits),
   WORD(stats.cycles),
   WORD(stats.threads),
   WORD(guard_count),
   WORD(parameter_count),
   WORD(constant_count),
};
const size_t agx_program_word_count = AGX_COUNT(agx_program_words);

/* Copies size bytes to *cursor and moves it on, 16-byte aligned. */
static void *place(uint8_t **cursor, const void *from, size_t size)
{
   void *at = *cursor;
   if (size)
      memcpy(at, from, size);
   *cursor += agx_align_up(size, 16);
   return at;
}

agx_status agx_program_copy(const struct agx_program *program, const struct agx_host_alloc *alloc,
                            struct agx_program **out_program)
{
   *out_program = NULL;
   if (!alloc)
      alloc = agx_host_alloc_default();
   AGX_TRY(agx_program_check(program, alloc));

   size_t bindings_B = program->binding_count * sizeof(*program->bindings);
   size_t uniforms_B = program->uniform_count * sizeof(*program->uniforms);
   size_t states_B = program->state_count * sizeof(*program->states);
   size_t guards_B = program->guard_count * sizeof(*program->guards);
   size_t parameters_B = program->parameter_count * sizeof(*program->parameters);
   size_t constants_B = program->constant_count * sizeof(*program->constants);
   struct agx_program *unchecked = NULL;
   if (program->unchecked)
      AGX_TRY(agx_program_copy(program->unchecked, alloc, &unchecked));
   size_t size = agx_align_up(sizeof(struct program_block), 16) + agx_align_up(bindings_B, 16) +
                 agx_align_up(uniforms_B, 16) + agx_align_up(states_B, 16) +
                 agx_align_up(guards_B, 16) + agx_align_up(parameters_B, 16) +
                 agx_align_up(constants_B, 16) + agx_align_up(program->names_B, 16) +
                 agx_align_up(program->code_B, 16) + agx_align_up(program->preamble_B, 16);
   struct program_block *block = agx_host_zalloc(alloc, size);
   if (!block) {
      agx_program_free(unchecked);
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "program %s: no memory for %zu bytes", program->name,
                      size);
   }
   block->program = *program;
   block->program.unchecked = unchecked;
   block->alloc = *alloc;
   block->size = size;
   uint8_t *cursor = (uint8_t *)block + agx_align_up(sizeof(*block), 16);
   block->program.bindings = place(&cursor, program->bindings, bindings_B);
   block->program.uniforms = place(&cursor, program->uniforms, uniforms_B);
   block->program.states = place(&cursor, program->states, states_B);
   block->program.guards = place(&cursor, program->guards, guards_B);
   block->program.parameters = place(&cursor, program->parameters, parameters_B);
   block->program.constants = place(&cursor, program->constants, constants_B);
   block->program.names = place(&cursor, program->names, program->names_B);
   block->program.code = place(&cursor, program->code, program->code_B);
   uint8_t *preamble = place(&cursor, program->preamble, program->preamble_B);
   block->program.preamble = program->preamble_B ? preamble : NULL;
   *out_program = &block->program;
   return AGX_OK;
}

void agx_program_free(struct agx_program *program)
{
   if (!program)
      return;
   struct program_block *block = agx_container_of(program, struct program_block, program);
   struct agx_host_alloc alloc = block->alloc;
   agx_program_free((struct agx_program *)program->unchecked);
   agx_host_free(&alloc, block, block->size);
}

size_t agx_program_bytes(const struct agx_program *program)
{
   size_t bytes = 0;
   for (; program; program = program->unchecked)
      bytes += agx_container_of(program, struct program_block, program)->size;
   return bytes;
}

static bool starts_with(const void *bytes, size_t size, const char *magic)
{
   return size >= 4 && memcmp(bytes, magic, 4) == 0;
}

bool agx_program_is_elf(const void *bytes, size_t size)
{
   return starts_with(bytes, size,
                      "\x7f"
                      "ELF");
}

bool agx_program_is_spirv(const void *bytes, size_t size)
{
   return starts_with(bytes, size, "\x03\x02\x23\x07") ||
          starts_with(bytes, size, "\x07\x23\x02\x03");
}
