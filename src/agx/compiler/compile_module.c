/* SPDX-License-Identifier: MIT
 *
 * Modules with several entry points: each is compiled on its own, for each sees other
 * variables, sizes and modes.
 */
#include <spirv/unified1/spirv.h>
#include <string.h>

#include "agx/compiler/compiler.h"
#include "base/util.h"

#define HEADER_WORDS 5

struct entries {
   struct {
      size_t at, end; /* words of the module that the name is in */
   } names[AGX_PROGRAM_MAX_ENTRIES];
   uint32_t count;
};

static uint32_t word_at(const uint8_t *bytes, size_t word, bool is_swapped)
{
   uint32_t value = agx_load_u32(bytes + 4 * word);
   return is_swapped ? __builtin_bswap32(value) : value;
}

/* The name that stands in some words of the module, from alloc; *out_B bytes with what follows it
 * there. */
static agx_status read_name(const uint8_t *bytes, const struct entries *entries, uint32_t index,
                            const struct agx_host_alloc *alloc, char **out_name, size_t *out_B)
{
   const bool is_swapped = agx_load_u32(bytes) != SpvMagicNumber;
   const size_t first = entries->names[index].at, end = entries->names[index].end;
   *out_B = 4 * (end - first) + 1;
   *out_name = agx_host_zalloc(alloc, *out_B);
   if (!*out_name)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "SPIR-V: no memory for an entry point's name");
   for (size_t i = 0; i < *out_B - 1; i++)
      (*out_name)[i] = (char)(word_at(bytes, first + i / 4, is_swapped) >> 8 * (i % 4));
   return AGX_OK;
}

/* The entry points of one model, up to the first function. What is malformed ends the search; the
 * front end says what is wrong with it. */
static agx_status list_entries(const uint8_t *bytes, size_t word_count, uint32_t wanted_model,
                               struct entries *entries)
{
   entries->count = 0;
   if (word_count < HEADER_WORDS)
      return AGX_OK;
   bool is_swapped = agx_load_u32(bytes) != SpvMagicNumber;
   for (size_t at = HEADER_WORDS; at < word_count;) {
      uint32_t head = word_at(bytes, at, is_swapped);
      uint32_t opcode = head & 0xffff, length = head >> 16;
      if (length == 0 || length > word_count - at || opcode == SpvOpFunction)
         return AGX_OK;
      if (opcode == SpvOpEntryPoint && length > 3 &&
          word_at(bytes, at + 1, is_swapped) == wanted_model) {
         if (entries->count == AGX_PROGRAM_MAX_ENTRIES)
            return AGX_FAIL(AGX_OUT_OF_RANGE, "SPIR-V word %zu: more than %u entry points", at,
                            AGX_PROGRAM_MAX_ENTRIES);
         entries->names[entries->count].at = at + 3;
         entries->names[entries->count++].end = at + length;
      }
      at += length;
   }
   return AGX_OK;
}

static agx_status compile_entry(const void *spirv, size_t size, const struct agxc_options *options,
                                const struct entries *entries, uint32_t index,
                                struct agx_program **out_program)
{
   const struct agx_host_alloc *alloc = options->alloc ? options->alloc : agx_host_alloc_default();
   struct agxc_options own = *options;
   char *name;
   size_t name_B;
   AGX_TRY(read_name(spirv, entries, index, alloc, &name, &name_B));
   own.entry = name;
   agx_status status = agxc_compile(spirv, size, &own, out_program);
   if (status != AGX_OK)
      agx_error_prefix("entry point %.128s", name);
   agx_host_free(alloc, name, name_B);
   return status;
}

static agx_status compile_all(const void *spirv, size_t size, const struct agxc_options *options,
                              const struct entries *entries, struct agx_module **out_module)
{
   struct agx_program *programs[AGX_PROGRAM_MAX_ENTRIES];
   for (uint32_t i = 0; i < entries->count; i++) {
      agx_status status = compile_entry(spirv, size, options, entries, i, &programs[i]);
      if (status == AGX_OK)
         continue;
      while (i)
         agx_program_free(programs[--i]);
      return status;
   }
   return agx_module_create(programs, entries->count, options->alloc, out_module);
}

static bool declares(const struct agx_program *program, uint32_t id)
{
   if (program->constant_count == AGX_PROGRAM_MAX_CONSTANTS)
      return true; /* further ones are not listed */
   for (uint32_t i = 0; i < program->constant_count; i++)
      if (program->constants[i].id == id)
         return true;
   return false;
}

/* All entry points list the same constants: those of the module. */
static agx_status check_specs(const struct agxc_options *options, const struct agx_program *program)
{
   for (uint32_t i = 0; i < options->spec_count; i++) {
      if (!declares(program, options->specs[i].id))
         return AGX_FAIL(AGX_NOT_FOUND,
                         "specialization constant %u: the module declares none of that id, but %u "
                         "others",
                         options->specs[i].id, program->constant_count);
      for (uint32_t j = 0; j < i; j++)
         if (options->specs[j].id == options->specs[i].id)
            return AGX_FAIL(AGX_INVALID_ARGUMENT, "specialization constant %u is given twice",
                            options->specs[i].id);
   }
   return AGX_OK;
}

static agx_status compile_list(const void *spirv, size_t size, const struct agxc_options *options,
                               const struct entries *entries, struct agx_module **out_module)
{
   struct agx_program *program;
   if (entries->count > 1)
      return compile_all(spirv, size, options, entries, out_module);
   AGX_TRY(agxc_compile(spirv, size, options, &program));
   return agx_module_create(&program, 1, options->alloc, out_module);
}

agx_status agxc_compile_module(const void *spirv, size_t size, const struct agxc_options *options,
                               struct agx_module **out_module)
{
   struct entries entries = {.count = 0};
   *out_module = NULL;
   if (!options->entry) {
      AGX_TRY(list_entries(spirv, size / 4, SpvExecutionModelGLCompute, &entries));
      if (entries.count == 0)
         AGX_TRY(list_entries(spirv, size / 4, SpvExecutionModelVertex, &entries));
   }
   AGX_TRY(compile_list(spirv, size, options, &entries, out_module));
   agx_status status = check_specs(options, (*out_module)->programs[0]);
   if (status != AGX_OK) {
      agx_module_release(*out_module);
      *out_module = NULL;
   }
   return status;
}
