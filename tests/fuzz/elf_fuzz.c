/* SPDX-License-Identifier: MIT
 *
 * Fuzzes the reader of kernel files. The first byte chooses whether the rest is a file, or changes
 * of a sound one: {offset u16, byte u8} again and again. Nothing may crash, and what is taken must
 * be written and read again.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "program/bundle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHANGE_B 3

/* A file of one program with a binding, uniforms, a parameter and a constant; its code only stops.
 */
static uint8_t *sound_file(size_t *out_size)
{
   static const uint8_t code[] = {0x88, 0, 8, 0, 8, 0, 8, 0, 8, 0, 8, 0, 8, 0, 8, 0, 8, 0};
   static const struct agx_program_binding bindings[] = {
      {.kind = AGX_BINDING_STORAGE_BUFFER, .access = AGX_BINDING_READS, .min_size_B = 16}};
   static const struct agx_program_uniform uniforms[] = {{AGX_UNIFORM_BUFFER_ADDRESS, 0, 4, 0, 0},
                                                         {AGX_UNIFORM_CONSTANT, 4, 2, 0, 7}};
   static const struct agx_program_parameter parameters[] = {{.name = 1}};
   static const struct agx_program_constant constants[] = {
      {3, AGX_CONSTANT_TYPE_INT, 4, 4, 0xfffffffe}};
   const struct agx_program program = {.name = "main",
                                       .chip = "g13g",
                                       .code = code,
                                       .code_B = sizeof(code),
                                       .text_B = 2,
                                       .gpr_halves = 8,
                                       .uniform_halves = 8,
                                       .local_size = {64, 1, 1},
                                       .binding_count = 1,
                                       .bindings = bindings,
                                       .uniform_count = 2,
                                       .uniforms = uniforms,
                                       .parameter_count = 1,
                                       .parameters = parameters,
                                       .constant_count = 1,
                                       .constants = constants,
                                       .names = "\0in\0bias",
                                       .names_B = 9};
   void *image;
   if (agx_program_write_elf(&program, NULL, &image, out_size) != AGX_OK) {
      fprintf(stderr, "%s\n", agx_error_peek());
      abort();
   }
   return image;
}

static void read_file(const uint8_t *data, size_t size)
{
   struct agx_bundle_part parts[AGX_BUNDLE_MAX_CHIPS];
   struct agx_module *module;
   void *image;
   size_t bytes;
   uint32_t count;
   if (agx_bundle_read(data, size, parts, &count) == AGX_OK && parts[0].chip) {
      for (uint32_t i = 0; i < count; i++)
         if (agx_bundle_read_module(data, size, parts[i].chip, NULL, &module) == AGX_OK)
            agx_module_release(module);
      return;
   }
   agx_status status = agx_module_read_elf(data, size, NULL, &module);
   if (status == AGX_RESOURCE_EXHAUSTED || status == AGX_INTERNAL)
      abort();
   if (status != AGX_OK)
      return;
   if (agx_module_write_elf(module, NULL, &image, &bytes) != AGX_OK)
      abort();
   agx_module_release(module);
   if (agx_module_read_elf(image, bytes, NULL, &module) != AGX_OK)
      abort();
   agx_module_release(module);
   agx_host_free(NULL, image, bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
   size_t bytes;
   if (size == 0)
      return 0;
   if (data[0] & 1) {
      read_file(data + 1, size - 1);
      return 0;
   }
   uint8_t *file = sound_file(&bytes);
   for (size_t i = 1; i + CHANGE_B <= size; i += CHANGE_B)
      file[(data[i] | (size_t)data[i + 1] << 8) % bytes] = data[i + 2];
   read_file(file, bytes);
   agx_host_free(NULL, file, bytes);
   return 0;
}
