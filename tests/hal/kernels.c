/* SPDX-License-Identifier: MIT
 *
 * Kernels as text of the assembler that many tests of the HAL run.
 */
#include "kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agx/isa/isa.h"
#include "base/alloc.h"
#include "program/program.h"

#define TRAPS 8

const struct agx_test_kernel agx_test_count = {
   .name = "count",
   .text = "mfsr d=r0 sr=thread_in_grid_x\n"
           "iadd d=r1 a=r0 b=1\n"
           "store r=r1 base=du0 index=r0 format=i32 mask=x group=a\n",
   .local_size = {64, 1, 1},
   .gpr_halves = 4,
   .bindings = 1,
   .written = 1,
};

const struct agx_test_kernel agx_test_add = {
   .name = "add",
   .text = "mfsr d=r0 sr=thread_in_grid_x\n"
           "load r=r1 base=du0 index=r0 format=i32 mask=x group=a\n"
           "wait group=a\n"
           "iadd d=r1 a=r1 b=u4\n"
           "store r=r1 base=du2 index=r0 format=i32 mask=x group=a\n",
   .local_size = {32, 1, 1},
   .gpr_halves = 4,
   .push_B = 4,
   .bindings = 2,
   .written = 2,
};

const struct agx_test_kernel agx_test_stray = {
   .name = "stray",
   .text = "ldimm32 d=r0 imm=7\n"
           "store r=r0 base=du0 index=0 format=i32 mask=x group=a\n",
   .local_size = {1, 1, 1},
   .gpr_halves = 2,
   .push_B = 8,
};

static void append(uint8_t *code, uint32_t *code_B, const char *text, size_t length)
{
   struct agx_isa_instr instr;
   size_t bytes = 0;
   assert_ok(agx_isa_parse(text, length, &instr));
   assert_ok(agx_isa_encode(&instr, code + *code_B, &bytes));
   *code_B += (uint32_t)bytes;
}

static uint32_t assemble(const char *text, uint8_t *code, uint32_t *out_text_B)
{
   uint32_t code_B = 0;
   for (; *text; text += strcspn(text, "\n") + 1)
      append(code, &code_B, text, strcspn(text, "\n"));
   append(code, &code_B, "stop", 4);
   *out_text_B = code_B;
   for (int i = 0; i < TRAPS; i++)
      append(code, &code_B, "trap", 4);
   return code_B;
}

void *agx_test_kernel_elf(const struct agx_test_kernel *kernel, const char *chip, size_t *out_size)
{
   uint8_t code[1024];
   struct agx_program_binding bindings[8] = {0};
   struct agx_program_uniform uniforms[9] = {0};
   struct agx_program program = {
      .code = code,
      .gpr_halves = kernel->gpr_halves,
      .local_size = {kernel->local_size[0], kernel->local_size[1], kernel->local_size[2]},
      .push_B = kernel->push_B,
      .takes_addresses = kernel->takes_addresses,
      .bindings = bindings,
      .uniforms = uniforms,
      .binding_count = kernel->bindings,
      .uniform_count = kernel->bindings + (kernel->push_B > 0),
   };
   for (uint32_t i = 0; i < kernel->bindings; i++) {
      uint32_t access = kernel->written >> i & 1 ? AGX_BINDING_WRITES : AGX_BINDING_READS;
      if (kernel->untouched >> i & 1)
         access = 0;
      bindings[i] = (struct agx_program_binding){.binding = i, .access = access};
      uniforms[i] = (struct agx_program_uniform){
         .kind = AGX_UNIFORM_BUFFER_ADDRESS, .start = i * 4, .halves = 4, .index = i};
   }
   uniforms[kernel->bindings] = (struct agx_program_uniform){
      .kind = AGX_UNIFORM_PUSH, .start = kernel->bindings * 4, .halves = kernel->push_B / 2};
   program.uniform_halves = kernel->bindings * 4 + kernel->push_B / 2;
   snprintf(program.name, sizeof(program.name), "%s", kernel->name);
   snprintf(program.chip, sizeof(program.chip), "%s", chip);
   program.code_B = assemble(kernel->text, code, &program.text_B);
   program.stats.instructions = 1;
   void *image = NULL;
   assert_ok(agx_program_write_elf(&program, NULL, &image, out_size));
   return image;
}
