/* SPDX-License-Identifier: MIT
 *
 * Parallel copies against a register file that is moved at once: the sequence must leave
 * the same halves, whatever cycles and sizes there are.
 */
#include "support.h"

#include <string.h>

#include "agx/compiler/ir/machine_operand.h"
#include "agx/compiler/regalloc/parallel_copy_impl.h"
#include "base/util.h"

#define HALVES 24

struct file {
   uint16_t half[HALVES];
};

static uint32_t get(const struct file *file, const struct agxc_ref *ref)
{
   if (ref->kind == AGXC_IMM)
      return (uint32_t)ref->imm;
   if (ref->kind == AGXC_UNIFORM)
      return 0xcafe0000u + ref->half;
   uint32_t value = file->half[ref->half];
   return ref->bits == 32 ? value | (uint32_t)file->half[ref->half + 1] << 16 : value;
}

static void set(struct file *file, uint32_t half, uint32_t bits, uint32_t value)
{
   file->half[half] = (uint16_t)value;
   if (bits == 32)
      file->half[half + 1] = (uint16_t)(value >> 16);
}

/* The few rows that copies are made of. */
static void execute(struct file *file, const struct agxc_instr *instr)
{
   const struct agxc_ref *d = instr->operand;
   bool is_constant = agxc_opcode_has(agxc_opcode(instr), AGXC_MACHINE_IMM);
   uint32_t value = get(file, is_constant ? agxc_machine_imm(instr) : agxc_machine_a(instr));
   if (agxc_has_opcode(instr, AGX_ISA_OP_XOR))
      value ^= get(file, agxc_machine_b(instr));
   else if (agxc_has_opcode(instr, AGX_ISA_OP_EXTR))
      value = value >> 16 | value << 16;
   else
      assert_true(agxc_has_opcode(instr, AGX_ISA_OP_MOV) ||
                  agxc_has_opcode(instr, AGX_ISA_OP_LDIMM16) ||
                  agxc_has_opcode(instr, AGX_ISA_OP_LDIMM32));
   set(file, d->half, d->bits, value);
}

static uint32_t check(const struct agxc_copy *copies, uint32_t count)
{
   struct file want, got;
   for (unsigned i = 0; i < HALVES; i++)
      want.half[i] = got.half[i] = (uint16_t)(0x1111 * (i + 1));
   for (uint32_t i = 0; i < count; i++)
      set(&want, copies[i].half, copies[i].bits, get(&got, &copies[i].src));

   struct agx_arena arena;
   jmp_buf exhausted;
   struct agxc_options options = {.chip = agx_chip_find("g13g")};
   struct agxc_copy scratch[HALVES];
   agx_arena_init(&arena, NULL, 1u << 20, &exhausted);
   if (setjmp(exhausted))
      fail_msg("no memory for a shader");
   struct agxc_shader *shader = agxc_shader_create(&arena, &options);
   memcpy(scratch, copies, count * sizeof(*copies));
   struct agxc_block *block = agxc_first_block(&shader->body);
   struct agxc_builder b = agxc_at_end(shader, block);
   uint32_t emitted = agxc_parallel_copy(&b, scratch, count), found = 0;
   agxc_foreach_instr (instr, block) {
      execute(&got, instr);
      found++;
   }
   assert_int_equal(found, emitted);
   assert_memory_equal(got.half, want.half, sizeof(want.half));
   agx_arena_fini(&arena);
   return emitted;
}

static struct agxc_copy reg(uint32_t to, uint32_t from, uint32_t bits)
{
   return (struct agxc_copy){to, bits, agxc_reg(from, bits, 1)};
}

static void test_shapes(void **state)
{
   struct agxc_copy chain[] = {reg(4, 2, 32), reg(6, 4, 32), reg(8, 6, 32)};
   assert_int_equal(check(chain, 3), 3);
   struct agxc_copy fan[] = {reg(4, 2, 32), reg(6, 2, 32), reg(9, 2, 16)};
   assert_int_equal(check(fan, 3), 3);
   struct agxc_copy swap[] = {reg(2, 4, 32), reg(4, 2, 32)};
   assert_int_equal(check(swap, 2), 3);
   struct agxc_copy halves[] = {reg(2, 3, 16), reg(3, 2, 16)};
   assert_int_equal(check(halves, 2), 1);
   struct agxc_copy still[] = {reg(2, 2, 32)};
   assert_int_equal(check(still, 1), 0);
   struct agxc_copy late[] = {reg(4, 2, 32), {2, 32, agxc_imm(0x12345678, 32)}};
   assert_int_equal(check(late, 2), 2);
   struct agxc_copy mixed[] = {reg(2, 4, 32), reg(4, 3, 16), reg(5, 2, 16)};
   check(mixed, 3);
}

static void test_random(void **state)
{
   struct agx_test_rng rng = {0xc0b1e5};
   for (unsigned round = 0; round < 4000; round++) {
      struct agxc_copy copies[HALVES];
      uint32_t count = 0;
      for (uint32_t half = 0; half < HALVES;) {
         uint32_t bits = half % 2 == 0 && agx_test_random_below(&rng, 2) ? 32 : 16;
         uint32_t kind = (uint32_t)agx_test_random_below(&rng, 12);
         struct agxc_copy *copy = &copies[count];
         if (kind < 9) {
            uint32_t from = (uint32_t)agx_test_random_below(&rng, HALVES);
            *copy = reg(half, bits == 32 ? from & ~1u : from, bits);
         } else if (kind == 9) {
            *copy = (struct agxc_copy){half, bits, agxc_imm(agx_test_random(&rng), bits)};
         } else if (kind == 10) {
            *copy = (struct agxc_copy){half, bits, agxc_uniform(half, bits, 1)};
         }
         count += kind < 11;
         half += bits / 16;
      }
      check(copies, count);
   }
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_shapes),
      cmocka_unit_test(test_random),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
