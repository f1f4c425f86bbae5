/* SPDX-License-Identifier: MIT
 *
 * Part of the build: compiles the driver's own kernels for each chip and writes them as a C table,
 * one image for all chips whose code is the same; all say the same chip, which the driver corrects.
 * Usage: make_builtins OUT.inc FILE.spv..., in the order of the table below; or
 *        make_builtins --assemble OUT.inc FILE.txt..., for what is written as machine instructions
 * (assemble.c).
 *
 * Such a kernel takes addresses at the front of its push constants. Here they become bindings, so
 * that the recording code sees what buffers they use: the first is written, the second read. The
 * source of an update stays an address, since it lies in the recording itself.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agx/chip.h"
#include "agx/compiler/compiler.h"
#include "base/util.h"
#include "hal/executable/builtin/assemble.h"
#include "program/program.h"

#define MAX_FILE_B    (1u << 20)
#define MAX_CHIPS     32
#define ADDRESS_B     8u
#define MAX_ADDRESSES 2u

/* As enum agx_builtin. */
static const struct kernel {
   const char *name;
   uint32_t addresses;
} kernels[] = {
   {"fill", 1}, {"copy", 2}, {"update", 1}, {"copy_image", 2}, {"clear_image", 1},
};

struct image {
   void *bytes;
   size_t size;
};

static agx_status read_file(const char *path, uint8_t **out_bytes, size_t *out_size)
{
   FILE *file = fopen(path, "rb");
   if (!file)
      return AGX_FAIL(AGX_NOT_FOUND, "%s can't be opened", path);
   *out_bytes = malloc(MAX_FILE_B);
   *out_size = *out_bytes ? fread(*out_bytes, 1, MAX_FILE_B, file) : 0;
   fclose(file);
   if (*out_size > 0 && *out_size < MAX_FILE_B)
      return AGX_OK;
   free(*out_bytes);
   return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s: empty, or too large", path);
}

/* ---- addresses become bindings ------------------------------------------- */

static const struct agx_program_binding address_bindings[MAX_ADDRESSES] = {
   {.binding = 0,
    .kind = AGX_BINDING_STORAGE_BUFFER,
    .access = AGX_BINDING_WRITES | AGX_BINDING_BYTES},
   {.binding = 1,
    .kind = AGX_BINDING_STORAGE_BUFFER,
    .access = AGX_BINDING_READS | AGX_BINDING_BYTES},
};

/* Slots that continue the one before, in registers and in push constants, become one. */
static uint32_t join_slots(const struct agx_program *program, struct agx_program_uniform *out)
{
   uint32_t count = 0;
   for (uint32_t i = 0; i < program->uniform_count; i++) {
      const struct agx_program_uniform *slot = &program->uniforms[i];
      struct agx_program_uniform *last = count ? &out[count - 1] : NULL;
      if (last && last->kind == AGX_UNIFORM_PUSH && slot->kind == AGX_UNIFORM_PUSH &&
          last->start + last->halves == slot->start &&
          last->index + last->halves * 2u == slot->index)
         last->halves += slot->halves;
      else
         out[count++] = *slot;
   }
   return count;
}

/* Splits a slot of push constants: addresses first, then what remains of it. */
static agx_status split_slot(const struct agx_program_uniform *slot, uint32_t addresses,
                             struct agx_program_uniform *out, uint32_t *count)
{
   struct agx_program_uniform rest = *slot;
   while (rest.kind == AGX_UNIFORM_PUSH && rest.halves && rest.index < addresses * ADDRESS_B) {
      if (rest.index % ADDRESS_B || rest.halves * 2u < ADDRESS_B ||
          *count == AGX_PROGRAM_MAX_UNIFORMS)
         return AGX_FAIL(AGX_INTERNAL, "push constants at %u, %u halves: a part of an address",
                         rest.index, rest.halves);
      out[(*count)++] = (struct agx_program_uniform){.kind = AGX_UNIFORM_BUFFER_ADDRESS,
                                                     .start = rest.start,
                                                     .halves = ADDRESS_B / 2,
                                                     .index = rest.index / ADDRESS_B};
      rest.index += ADDRESS_B;
      rest.start += ADDRESS_B / 2;
      rest.halves -= ADDRESS_B / 2;
   }
   if (*count == AGX_PROGRAM_MAX_UNIFORMS)
      return AGX_FAIL(AGX_INTERNAL, "too many slots");
   if (rest.halves)
      out[(*count)++] = rest;
   return AGX_OK;
}

static agx_status bind_addresses(struct agx_program *program, uint32_t addresses,
                                 struct agx_program_uniform *slots)
{
   struct agx_program_uniform joined[AGX_PROGRAM_MAX_UNIFORMS];
   uint32_t count = 0, joined_count = join_slots(program, joined);
   if (program->binding_count || !program->takes_addresses || program->unchecked)
      return AGX_FAIL(AGX_INTERNAL, "%s: it must take addresses only", program->name);
   for (uint32_t i = 0; i < joined_count; i++)
      AGX_TRY(split_slot(&joined[i], addresses, slots, &count));
   program->uniforms = slots;
   program->uniform_count = count;
   program->bindings = address_bindings;
   program->binding_count = addresses;
   program->takes_addresses = 0;
   return AGX_OK;
}

/* ---- one kernel ------------------------------------------------------------ */

/* The kernel for one chip, as an ELF file. */
static agx_status make_image(const struct kernel *kernel, const char *path,
                             const struct agx_chip *chip, struct image *out)
{
   uint8_t *spirv = NULL;
   size_t size = 0;
   struct agx_program *program = NULL;
   struct agx_program_uniform slots[AGX_PROGRAM_MAX_UNIFORMS];
   const struct agxc_options options = {.chip = chip};
   AGX_TRY(read_file(path, &spirv, &size));
   agx_status status = agxc_compile(spirv, size, &options, &program);
   free(spirv);
   AGX_TRY(status);
   struct agx_program bound = *program;
   snprintf(bound.name, sizeof(bound.name), "%s", kernel->name);
   snprintf(bound.chip, sizeof(bound.chip), "%s", agx_chip_at(0)->name);
   status = bind_addresses(&bound, kernel->addresses, slots);
   if (status == AGX_OK)
      status = agx_program_write_elf(&bound, NULL, &out->bytes, &out->size);
   agx_program_free(program);
   return status;
}

static void print_image(FILE *out, const char *name, size_t chip, const struct image *image)
{
   const uint8_t *bytes = image->bytes;
   fprintf(out, "static const uint8_t %s_%zu[] = {", name, chip);
   for (size_t i = 0; i < image->size; i++)
      fprintf(out, "%s%u,", i % 24 ? "" : "\n   ", bytes[i]);
   fprintf(out, "\n};\n");
}

/* The image of a chip is that of the first chip whose code is the same. */
static agx_status print_kernel(FILE *out, const struct kernel *kernel, const char *path)
{
   struct image images[MAX_CHIPS] = {0};
   agx_status status = AGX_OK;
   for (size_t i = 0; status == AGX_OK && i < MAX_CHIPS && agx_chip_at(i); i++) {
      size_t same = 0;
      status = make_image(kernel, path, agx_chip_at(i), &images[i]);
      if (status != AGX_OK)
         break;
      while (images[same].size != images[i].size ||
             memcmp(images[same].bytes, images[i].bytes, images[i].size) != 0)
         same++;
      if (same == i)
         print_image(out, kernel->name, i, &images[i]);
      fprintf(out, "#define %s_for_%zu %s_%zu\n", kernel->name, i, kernel->name, same);
   }
   for (size_t i = 0; i < MAX_CHIPS; i++)
      agx_host_free(NULL, images[i].bytes, images[i].size);
   return status;
}

static void print_table(FILE *out)
{
   fprintf(out, "static const struct builtin_row builtin_rows[] = {\n");
   for (size_t i = 0; i < MAX_CHIPS && agx_chip_at(i); i++) {
      fprintf(out, "   {\"%s\", {", agx_chip_at(i)->name);
      for (size_t k = 0; k < AGX_COUNT(kernels); k++)
         fprintf(out, "{%s_for_%zu, sizeof(%s_for_%zu)}, ", kernels[k].name, i, kernels[k].name, i);
      fprintf(out, "}},\n");
   }
   fprintf(out, "};\n");
}

int main(int argc, char **argv)
{
   const bool is_text = argc > 3 && strcmp(argv[1], "--assemble") == 0;
   FILE *out = is_text || argc == AGX_COUNT(kernels) + 2 ? fopen(argv[is_text ? 2 : 1], "w") : NULL;
   if (!out) {
      fprintf(stderr,
              "usage: make_builtins OUT.inc FILE.spv... | --assemble OUT.inc FILE.txt...\n");
      return 2;
   }
   if (is_text)
      return !assemble_kernels(out, argv + 3) || fclose(out) != 0;
   fprintf(out, "/* Made by make_builtins. */\n");
   for (size_t i = 0; i < AGX_COUNT(kernels); i++)
      if (print_kernel(out, &kernels[i], argv[i + 2]) != AGX_OK) {
         fprintf(stderr, "make_builtins: %s: %s\n", kernels[i].name, agx_error_peek());
         return 1;
      }
   print_table(out);
   return fclose(out) != 0;
}
