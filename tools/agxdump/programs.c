/* SPDX-License-Identifier: MIT
 *
 * Reads compiled kernels, finds them by their code, and puts their uniforms into words.
 */
#include "programs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/util.h"

#define MAX_FILE_B ((size_t)64 << 20)
#define MAX_HEAD_B 256u /* in front of the ELF image, in files of a cache */

/* ---- reading --------------------------------------------------------------- */

static agx_status add_program(struct programs *programs, const struct agx_program *program,
                              const char *path)
{
   struct known_program *items =
      realloc(programs->items, (programs->count + 1) * sizeof(*programs->items));
   if (!items)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "no memory for the programs of %s", path);
   programs->items = items;
   struct known_program *known = &items[programs->count];
   *known = (struct known_program){.program = program};
   AGX_TRY(agx_lines_init(program, NULL, &known->lines));
   snprintf(known->file, sizeof(known->file), "%s", path);
   programs->count++;
   return AGX_OK;
}

static agx_status add_module(struct programs *programs, struct agx_module *module, const char *path)
{
   struct agx_module **modules =
      realloc(programs->modules, (programs->module_count + 1) * sizeof(struct agx_module *));
   if (!modules) {
      agx_module_release(module);
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "no memory for the programs of %s", path);
   }
   programs->modules = modules;
   modules[programs->module_count++] = module;
   for (uint32_t i = 0; i < module->program_count; i++) {
      AGX_TRY(add_program(programs, module->programs[i], path));
      if (module->programs[i]->unchecked)
         AGX_TRY(add_program(programs, module->programs[i]->unchecked, path));
   }
   return AGX_OK;
}

/* Files of a cache have a head in front of the image. */
static const uint8_t *find_image(const uint8_t *bytes, size_t size)
{
   for (size_t at = 0; at <= MAX_HEAD_B && at < size; at += 4)
      if (agx_program_is_elf(bytes + at, size - at))
         return bytes + at;
   return NULL;
}

static agx_status add_bytes(struct programs *programs, const uint8_t *bytes, size_t size,
                            const char *path)
{
   const uint8_t *image = find_image(bytes, size);
   struct agx_module *module;
   if (!image)
      return AGX_FAIL(AGX_NOT_FOUND, "%s is no file of `agx compile` and no folder of such files",
                      path);
   AGX_TRY(agx_module_read_elf(image, size - (size_t)(image - bytes), NULL, &module));
   return add_module(programs, module, path);
}

static agx_status add_file(struct programs *programs, const char *path)
{
   FILE *file = fopen(path, "re");
   struct stat info;
   if (!file)
      return agx_status_fail_errno(errno, "%s", path);
   agx_status status = AGX_OK;
   uint8_t *bytes = NULL;
   if (fstat(fileno(file), &info) != 0 || !S_ISREG(info.st_mode) ||
       (size_t)info.st_size > MAX_FILE_B)
      status = AGX_FAIL(AGX_INVALID_ARGUMENT, "%s: no file of at most %zu bytes", path, MAX_FILE_B);
   else if (!(bytes = malloc((size_t)info.st_size + 1)))
      status = AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "no memory for %s", path);
   else
      status = add_bytes(programs, bytes, fread(bytes, 1, (size_t)info.st_size, file), path);
   free(bytes);
   fclose(file);
   return status;
}

/* Of a folder, what is no such file is passed over. */
static agx_status add_folder(struct programs *programs, const char *path, DIR *folder)
{
   size_t before = programs->count;
   for (struct dirent *entry; (entry = readdir(folder));) {
      char name[4096];
      struct stat info;
      snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
      if (stat(name, &info) == 0 && S_ISREG(info.st_mode)) {
         agx_status status = add_file(programs, name);
         if (status == AGX_RESOURCE_EXHAUSTED)
            return status;
      }
   }
   return programs->count > before
             ? AGX_OK
             : AGX_FAIL(AGX_NOT_FOUND, "%s: no file of `agx compile` is in this folder", path);
}

agx_status programs_add(struct programs *programs, const char *path)
{
   DIR *folder = opendir(path);
   if (!folder)
      return add_file(programs, path);
   agx_status status = add_folder(programs, path, folder);
   closedir(folder);
   return status;
}

void programs_free(struct programs *programs)
{
   for (size_t i = 0; i < programs->count; i++)
      agx_lines_fini(&programs->items[i].lines);
   for (size_t i = 0; i < programs->module_count; i++)
      agx_module_release(programs->modules[i]);
   free(programs->items);
   free(programs->modules);
   *programs = (struct programs){0};
}

/* ---- asking ----------------------------------------------------------------- */

static bool is_same(const struct agx_program *program, const struct dump_code *code)
{
   if (program->text_B != code->bytes || code->is_cut)
      return false;
   for (size_t i = 0; i < code->count; i++)
      if (memcmp(program->code + code->instrs[i].offset, code->instrs[i].bytes,
                 code->instrs[i].length) != 0)
         return false;
   return true;
}

const struct known_program *programs_find(const struct programs *programs,
                                          const struct dump_code *code)
{
   for (size_t i = 0; i < programs->count; i++)
      if (is_same(programs->items[i].program, code))
         return &programs->items[i];
   return NULL;
}

bool programs_find_line(const struct known_program *known, bool in_preamble, uint32_t at,
                        struct agx_source_line *out_line)
{
   uint32_t begin = in_preamble ? agx_program_preamble_at(known->program->code_B) : 0;
   return agx_lines_find(&known->lines, begin + at, out_line);
}

static void add_binding(const struct agx_program *program, uint32_t index, const char *what,
                        struct agx_hw_text *text)
{
   const struct agx_program_binding *binding = &program->bindings[index];
   agx_hw_text_add(text, "%s of binding %u.%u", what, binding->set, binding->binding);
   if (binding->element)
      agx_hw_text_add(text, "[%u]", binding->element);
   for (uint32_t i = 0; i < program->parameter_count; i++) {
      const struct agx_program_parameter *it = &program->parameters[i];
      if (it->kind == AGX_PARAMETER_KIND_BINDING && it->set == binding->set &&
          it->binding == binding->binding && program->names[it->name])
         agx_hw_text_add(text, " %s", program->names + it->name);
   }
}

static void add_push(const struct agx_program *program, const struct agx_program_uniform *uniform,
                     struct agx_hw_text *text)
{
   uint32_t begin = uniform->index, end = begin + 2 * uniform->halves;
   agx_hw_text_add(text, "push constants from byte %u", begin);
   for (uint32_t i = 0; i < program->parameter_count; i++) {
      const struct agx_program_parameter *it = &program->parameters[i];
      if ((it->kind == AGX_PARAMETER_KIND_CONSTANT || it->kind == AGX_PARAMETER_KIND_POINTER) &&
          it->offset_B >= begin && it->offset_B < end && program->names[it->name])
         agx_hw_text_add(text, " %s", program->names + it->name);
   }
}

static const char *image_property(uint64_t value)
{
   static const char *const names[AGX_IMAGE_PROPERTY_COUNT] = {
      [AGX_IMAGE_ADDRESS] = "address",
      [AGX_IMAGE_WIDTH] = "width",
      [AGX_IMAGE_HEIGHT] = "height",
      [AGX_IMAGE_DEPTH] = "depth or layers",
      [AGX_IMAGE_LEVELS] = "levels",
      [AGX_IMAGE_LAST_LEVEL] = "last level",
      [AGX_IMAGE_ROW_TEXELS] = "texels from row to row",
      [AGX_IMAGE_LAYER_TEXELS] = "texels from layer to layer",
      [AGX_IMAGE_SAMPLES] = "samples",
      [AGX_IMAGE_ELEMENTS] = "elements",
      [AGX_IMAGE_TILE_WIDTH] = "columns of a tile",
      [AGX_IMAGE_TILE_HEIGHT] = "rows of a tile",
      [AGX_IMAGE_ROW_TILES] = "tiles of a row",
   };
   uint64_t property = value & ((1u << AGX_IMAGE_ELEMENT_SHIFT) - 1);
   return property < AGX_IMAGE_PROPERTY_COUNT ? names[property] : "property";
}

/* How each kind reads: of a binding, or with the number `index`. */
static const struct {
   const char *words;
   bool of_binding;
} kinds[AGX_UNIFORM_KIND_COUNT] = {
   [AGX_UNIFORM_BUFFER_ADDRESS] = {"address", true},
   [AGX_UNIFORM_BUFFER_SIZE] = {"bytes", true},
   [AGX_UNIFORM_WORKGROUP_COUNT] = {"workgroups, dimension", false},
   [AGX_UNIFORM_CONSTANT] = {"constant", false},
   [AGX_UNIFORM_BUFFER_COUNT] = {"indices inside", true},
   [AGX_UNIFORM_BUFFER_LAST] = {"last index", true},
   [AGX_UNIFORM_BUFFER_SINK] = {"index of the sink", true},
   [AGX_UNIFORM_BUFFER_GUARD] = {"guarded address", true},
   [AGX_UNIFORM_DRAW] = {"draw value", false},
   [AGX_UNIFORM_HEAP] = {"descriptors", true},
   [AGX_UNIFORM_LOCAL_SIZE] = {"threads of a workgroup, dimension", false},
   [AGX_UNIFORM_DATA_ADDRESS] = {"address of the program's constants", false},
   [AGX_UNIFORM_SAMPLER] = {"number of the sampler", true},
};

bool programs_name_uniform(const struct known_program *known, uint32_t half, uint32_t *out_halves,
                           struct agx_hw_text *text)
{
   const struct agx_program *program = known->program;
   for (uint32_t i = 0; i < program->uniform_count; i++) {
      const struct agx_program_uniform *it = &program->uniforms[i];
      if (it->start != half)
         continue;
      *out_halves = it->halves;
      if (it->kind == AGX_UNIFORM_PUSH)
         add_push(program, it, text);
      else if (it->kind == AGX_UNIFORM_IMAGE)
         add_binding(program, it->index, image_property(it->value), text);
      else if (kinds[it->kind].of_binding)
         add_binding(program, it->index, kinds[it->kind].words, text);
      else if (it->kind == AGX_UNIFORM_CONSTANT || it->kind == AGX_UNIFORM_DATA_ADDRESS)
         agx_hw_text_add(text, "%s", kinds[it->kind].words);
      else
         agx_hw_text_add(text, "%s %u", kinds[it->kind].words, it->index);
      if (it->kind == AGX_UNIFORM_BUFFER_ADDRESS && it->value)
         agx_hw_text_add(text, " + %" PRIu64, it->value);
      return true;
   }
   return false;
}
