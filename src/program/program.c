/* SPDX-License-Identifier: MIT
 *
 * Copies of programs: one allocation that holds the struct and all it points to, and
 * remembers where it came from; and modules, the programs of one file.
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

/* ---- names --------------------------------------------------------------- */

bool agx_program_cut_name(const char *name, char out[AGX_PROGRAM_NAME_BYTES])
{
   size_t length = strnlen(name, AGX_PROGRAM_NAME_BYTES);
   const bool has_room = length < AGX_PROGRAM_NAME_BYTES;
   if (!has_room) {
      length = AGX_PROGRAM_NAME_BYTES - sizeof("...");
      while (length && ((unsigned char)name[length] & 0xc0) == 0x80) /* inside of a character */
         length--;
   }
   memset(out, 0, AGX_PROGRAM_NAME_BYTES);
   memcpy(out, name, length);
   if (!has_room)
      memcpy(out + length, "...", 3);
   return has_room;
}

void agx_program_set_name(struct agx_program *program, const char *name)
{
   program->long_name = agx_program_cut_name(name, program->name) ? NULL : name;
}

/* ---- programs ------------------------------------------------------------- */

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
   size_t name_B = program->long_name ? strlen(program->long_name) + 1 : 0;
   size_t size = agx_align_up(sizeof(struct program_block), 16) + agx_align_up(bindings_B, 16) +
                 agx_align_up(name_B, 16) + agx_align_up(uniforms_B, 16) +
                 agx_align_up(states_B, 16) + agx_align_up(guards_B, 16) +
                 agx_align_up(parameters_B, 16) + agx_align_up(constants_B, 16) +
                 agx_align_up(program->names_B, 16) + agx_align_up(program->code_B, 16) +
                 agx_align_up(program->preamble_B, 16) + agx_align_up(program->data_B, 16) +
                 agx_align_up(program->lines_B, 16) + agx_align_up(program->texts_B, 16);
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
   const char *long_name = place(&cursor, program->long_name, name_B);
   block->program.long_name = name_B ? long_name : NULL;
   uint8_t *preamble = place(&cursor, program->preamble, program->preamble_B);
   block->program.preamble = program->preamble_B ? preamble : NULL;
   uint8_t *data = place(&cursor, program->data, program->data_B);
   block->program.data = program->data_B ? data : NULL;
   uint8_t *lines = place(&cursor, program->lines, program->lines_B);
   block->program.lines = program->lines_B ? lines : NULL;
   uint8_t *texts = place(&cursor, program->texts, program->texts_B);
   block->program.texts = program->texts_B ? texts : NULL;
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
   return starts_with(bytes, size, "\177ELF");
}

bool agx_program_is_spirv(const void *bytes, size_t size)
{
   return starts_with(bytes, size, "\x03\x02\x23\x07") ||
          starts_with(bytes, size, "\x07\x23\x02\x03");
}

/* ---- modules ------------------------------------------------------------ */

static agx_status check_programs(struct agx_program *const *programs, uint32_t count)
{
   if (count == 0 || count > AGX_PROGRAM_MAX_ENTRIES)
      return AGX_FAIL(AGX_OUT_OF_RANGE, "program: %u entry points; a file has 1 to %u", count,
                      AGX_PROGRAM_MAX_ENTRIES);
   for (uint32_t i = 1; i < count; i++) {
      if (strcmp(programs[i]->chip, programs[0]->chip) != 0)
         return AGX_FAIL(AGX_INVALID_ARGUMENT, "program %s: compiled for %s, but %s for %s",
                         programs[i]->name, programs[i]->chip, programs[0]->name,
                         programs[0]->chip);
      for (uint32_t j = 0; j < i; j++)
         if (strcmp(agx_program_name(programs[i]), agx_program_name(programs[j])) == 0)
            return AGX_FAIL(AGX_INVALID_ARGUMENT, "program %s: two entry points of that name",
                            programs[i]->name);
   }
   return AGX_OK;
}

agx_status agx_module_create(struct agx_program *const *programs, uint32_t count,
                             const struct agx_host_alloc *alloc, struct agx_module **out_module)
{
   if (!alloc)
      alloc = agx_host_alloc_default();
   *out_module = NULL;
   size_t size = sizeof(struct agx_module) + count * sizeof(*programs);
   agx_status status = check_programs(programs, count);
   struct agx_module *module = status == AGX_OK ? agx_host_zalloc(alloc, size) : NULL;
   if (status == AGX_OK && !module)
      status =
         AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "program %s: out of host memory", programs[0]->name);
   if (status != AGX_OK) {
      for (uint32_t i = 0; i < count; i++)
         agx_program_free(programs[i]);
      return status;
   }
   atomic_init(&module->references, 1);
   module->alloc = *alloc;
   module->bytes = size;
   module->program_count = count;
   for (uint32_t i = 0; i < count; i++) {
      module->programs[i] = programs[i];
      module->bytes += agx_program_bytes(programs[i]);
   }
   *out_module = module;
   return AGX_OK;
}

struct agx_module *agx_module_retain(struct agx_module *module)
{
   atomic_fetch_add_explicit(&module->references, 1, memory_order_relaxed);
   return module;
}

void agx_module_release(struct agx_module *module)
{
   if (!module || atomic_fetch_sub_explicit(&module->references, 1, memory_order_acq_rel) != 1)
      return;
   struct agx_host_alloc alloc = module->alloc;
   size_t size = sizeof(*module) + module->program_count * sizeof(module->programs[0]);
   for (uint32_t i = 0; i < module->program_count; i++)
      agx_program_free(module->programs[i]);
   agx_host_free(&alloc, module, size);
}

uint32_t agx_module_find(const struct agx_module *module, const char *name)
{
   uint32_t i = 0;
   while (i < module->program_count && strcmp(agx_program_name(module->programs[i]), name) != 0)
      i++;
   return i;
}
