/* SPDX-License-Identifier: MIT
 *
 * See sample.h.
 */
#include "sample.h"

#include <string.h>

#include "agx/isa/isa.h"

static uint32_t append(uint8_t *code, uint32_t at, const char *line)
{
   struct agx_isa_instr instr;
   size_t length = 0;
   assert_ok(agx_isa_parse(line, strlen(line), &instr));
   assert_ok(agx_isa_encode(&instr, code + at, &length));
   return at + (uint32_t)length;
}

void sample_set_code(struct sample *sample, const char *const *lines)
{
   uint32_t at = 0;
   for (; *lines; lines++)
      at = append(sample->code, at, *lines);
   sample->program.text_B = at;
   for (int i = 0; i < 8; i++)
      at = append(sample->code, at, "trap");
   sample->program.code_B = at;
}

void sample_make(struct sample *sample)
{
   static const char *const lines[] = {
      "mfsr d=r1 sr=thread_in_grid_x",
      "load r=r2..r3 base=du0 index=r1.sx format=i32 mask=xy group=a",
      "jmp_none offset=6",
      "wait group=a",
      "fadd d=r2 a=r2 b=u4",
      "stop",
      NULL,
   };
   *sample = (struct sample){
      .bindings = {{0, 1, AGX_BINDING_STORAGE_BUFFER, AGX_BINDING_READS, 16},
                   {2, 0, AGX_BINDING_UNIFORM_BUFFER, AGX_BINDING_READS, 1ull << 33, 7, 0,
                    AGX_PROGRAM_ROBUST_ZERO}},
      .uniforms = {{AGX_UNIFORM_BUFFER_ADDRESS, 0, 4, 0, 0},
                   {AGX_UNIFORM_BUFFER_SIZE, 4, 2, 1, 0},
                   {AGX_UNIFORM_PUSH, 6, 2, 12, 0},
                   {AGX_UNIFORM_CONSTANT, 8, 2, 0, 0x3f800000},
                   {AGX_UNIFORM_DATA_ADDRESS, 10, 4, 0, 8}},
      .program =
         {.name = "main",
          .chip = "g13g",
          .gpr_halves = 8,
          .uniform_halves = 14,
          .local_size = {64, 2, 1},
          .shared_B = 128,
          .push_B = 16,
          .binding_count = 2,
          .uniform_count = 5,
          .stats = {.instructions = 6, .loads = 1, .waits = 1, .cycles = 9, .threads = 1024}},
   };
   sample_set_code(sample, lines);
   sample->program.code = sample->code;
   static const uint8_t data[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
   sample->program.data = data;
   sample->program.data_B = sizeof(data);
   static const char names[] = "\0in\0bias\0scale";
   const struct agx_program_parameter parameters[] = {{AGX_PARAMETER_KIND_BINDING, 0, 1, 0, 0, 1},
                                                      {AGX_PARAMETER_KIND_BINDING, 2, 0, 0, 0, 0},
                                                      {AGX_PARAMETER_KIND_CONSTANT, 0, 0, 4, 8, 4},
                                                      {AGX_PARAMETER_KIND_POINTER, 0, 0, 8, 8, 0}};
   const struct agx_program_constant constants[] = {
      {3, AGX_CONSTANT_TYPE_INT, 4, 9, 0xfffffffe},
      {1u << 31, AGX_CONSTANT_TYPE_FLOAT, 8, 0, 1ull << 62}};
   memcpy(sample->parameters, parameters, sizeof(parameters));
   memcpy(sample->constants, constants, sizeof(constants));
   sample->program.parameters = sample->parameters;
   sample->program.parameter_count = 4;
   sample->program.constants = sample->constants;
   sample->program.constant_count = 2;
   sample->program.names = names;
   sample->program.names_B = sizeof(names);
   sample->program.bindings = sample->bindings;
   sample->program.uniforms = sample->uniforms;
}

void sample_set_preamble(struct sample *sample, const char *const *lines)
{
   uint32_t at = 0;
   for (; *lines; lines++)
      at = append(sample->preamble, at, *lines);
   for (int i = 0; i < 8; i++)
      at = append(sample->preamble, at, "trap");
   sample->program.preamble = sample->preamble;
   sample->program.preamble_B = at;
   sample->program.preamble_gpr_halves = 8;
}

uint8_t *sample_write(const struct sample *sample, size_t *size)
{
   void *image;
   assert_ok(agx_program_write_elf(&sample->program, NULL, &image, size));
   return image;
}
