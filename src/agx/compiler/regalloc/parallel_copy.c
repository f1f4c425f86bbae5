/* SPDX-License-Identifier: MIT
 *
 * Puts parallel copies in a sequence. A copy may go when no other copy still needs what its
 * destination holds; when only cycles remain, a swap takes one copy out of each. Counts
 * of readers per half make each step cheap.
 *
 * A swap is three xors, or one rotation of the register when the two are its halves.
 *
 *    before   r1 = r2, r2 = r3, r3 = r2    all at once
 *    after    r1 = r2   swap r2, r3
 */
#include "agx/compiler/ir/machine_operand.h"
#include "agx/compiler/regalloc/parallel_copy_impl.h"

struct state {
   struct agxc_builder *b;
   struct agxc_copy *copies;
   uint32_t count, emitted;
   uint16_t readers[AGX_GPR_HALVES]; /* pending copies that read the half */
};

static struct agxc_instr *add_instr(struct state *state, enum agx_isa_op opcode)
{
   struct agxc_instr *instr = agxc_instr_new(state->b->shader, AGXC_OP_ISA + opcode);
   agxc_insert(state->b, instr);
   state->emitted++;
   return instr;
}

static void emit_move(struct state *state, const struct agxc_copy *copy)
{
   struct agxc_ref dest = agxc_reg(copy->half, copy->bits, 1), src = copy->src;
   bool is_wide_imm = src.kind == AGXC_IMM && (uint64_t)src.imm > 0xff;
   if (is_wide_imm && copy->bits == 16) {
      struct agxc_instr *instr = add_instr(state, AGX_ISA_OP_LDIMM16);
      *agxc_machine_d(instr) = dest;
      agxc_set_machine_imm(instr, (uint64_t)src.imm & 0xffff);
   } else if (is_wide_imm) {
      struct agxc_instr *instr = add_instr(state, AGX_ISA_OP_LDIMM32);
      *agxc_machine_d(instr) = dest;
      agxc_set_machine_imm(instr, (uint64_t)src.imm & 0xffffffff);
   } else {
      struct agxc_instr *instr = add_instr(state, AGX_ISA_OP_MOV);
      *agxc_machine_d(instr) = dest;
      *agxc_machine_a(instr) = src;
   }
}

static void emit_xor(struct state *state, uint32_t into, uint32_t other, uint32_t bits)
{
   struct agxc_instr *instr = add_instr(state, AGX_ISA_OP_XOR);
   *agxc_machine_d(instr) = agxc_reg(into, bits, 1);
   *agxc_machine_a(instr) = agxc_reg(into, bits, 1);
   *agxc_machine_b(instr) = agxc_reg(other, bits, 1);
}

static void emit_swap(struct state *state, uint32_t a, uint32_t c, uint32_t bits)
{
   if (bits == 16 && (a ^ c) == 1) { /* the halves of one register: rotate it */
      struct agxc_ref whole = agxc_reg(a & ~1u, 32, 1);
      struct agxc_instr *instr = add_instr(state, AGX_ISA_OP_EXTR);
      *agxc_machine_d(instr) = whole;
      *agxc_machine_a(instr) = whole;
      *agxc_machine_b(instr) = whole;
      *agxc_machine_c(instr) = agxc_imm(16, 64);
      return;
   }
   emit_xor(state, a, c, bits);
   emit_xor(state, c, a, bits);
   emit_xor(state, a, c, bits);
}

static void count_readers(struct state *state, const struct agxc_copy *copy, int change)
{
   if (copy->src.kind != AGXC_REG)
      return;
   for (uint32_t i = 0; i < copy->bits / 16; i++)
      state->readers[copy->src.half + i] = (uint16_t)(state->readers[copy->src.half + i] + change);
}

static void remove_at(struct state *state, uint32_t i)
{
   count_readers(state, &state->copies[i], -1);
   state->copies[i] = state->copies[--state->count];
}

static bool is_done(const struct agxc_copy *copy)
{
   return copy->src.kind == AGXC_REG && copy->src.half == copy->half;
}

static bool is_ready(const struct state *state, const struct agxc_copy *copy)
{
   return state->readers[copy->half] == 0 &&
          (copy->bits == 16 || state->readers[copy->half + 1] == 0);
}

/* Emits what can go now; false when only cycles are left. */
static bool emit_ready(struct state *state)
{
   bool progress = false;
   for (uint32_t i = 0; i < state->count;) {
      if (!is_done(&state->copies[i]) && !is_ready(state, &state->copies[i])) {
         i++;
         continue;
      }
      if (!is_done(&state->copies[i]))
         emit_move(state, &state->copies[i]);
      remove_at(state, i);
      progress = true;
   }
   return progress;
}

static bool overlap(uint32_t a, uint32_t a_bits, uint32_t c, uint32_t c_bits)
{
   return a < c + c_bits / 16 && c < a + a_bits / 16;
}

static bool touches(const struct agxc_copy *wide, const struct agxc_copy *narrow)
{
   uint32_t halves[2] = {narrow->half, narrow->src.half};
   for (unsigned i = 0; i < 2; i++)
      if (overlap(wide->half, 32, halves[i], 16) || overlap(wide->src.half, 32, halves[i], 16))
         return true;
   return false;
}

/* Splits 32-bit copies that share a register with a 16-bit one; then sizes within a
 * cycle agree. The array has room: each copy came with space for two. */
static bool split_mixed(struct state *state)
{
   for (uint32_t i = 0; i < state->count; i++) {
      if (state->copies[i].bits != 32)
         continue;
      bool is_mixed = false;
      for (uint32_t j = 0; j < state->count && !is_mixed; j++)
         is_mixed = state->copies[j].bits == 16 && touches(&state->copies[i], &state->copies[j]);
      if (!is_mixed)
         continue;
      struct agxc_copy low = state->copies[i], high = low;
      low.bits = high.bits = low.src.bits = high.src.bits = 16;
      high.half++;
      high.src.half++;
      state->copies[i] = low;
      state->copies[state->count++] = high;
      return true;
   }
   return false;
}

/* Takes one copy out of its cycle: exchanges the two registers, and redirects copies that read
 * one of them to the other. */
static void swap_one(struct state *state)
{
   struct agxc_copy copy = state->copies[0];
   emit_swap(state, copy.half, copy.src.half, copy.bits);
   remove_at(state, 0);
   for (uint32_t i = 0; i < state->count; i++) {
      struct agxc_copy *other = &state->copies[i];
      count_readers(state, other, -1);
      if (overlap(other->src.half, other->bits, copy.half, copy.bits))
         other->src.half += copy.src.half - copy.half;
      else if (overlap(other->src.half, other->bits, copy.src.half, copy.bits))
         other->src.half += copy.half - copy.src.half;
      count_readers(state, other, 1);
   }
}

uint32_t agxc_parallel_copy(struct agxc_builder *b, struct agxc_copy *copies, uint32_t count)
{
   struct state state = {.b = b};
   /* Constants and uniforms last: no copy waits for them, and they may wait for others. */
   struct agxc_copy *moving = AGX_ARENA_ARRAY(b->shader->arena, struct agxc_copy, 2ull * count);
   state.copies = moving;
   for (uint32_t i = 0; i < count; i++) {
      if (copies[i].src.kind == AGXC_REG)
         moving[state.count++] = copies[i];
   }
   for (uint32_t i = 0; i < state.count; i++)
      count_readers(&state, &moving[i], 1);
   while (state.count > 0)
      if (!emit_ready(&state) && !split_mixed(&state))
         swap_one(&state);
   for (uint32_t i = 0; i < count; i++)
      if (copies[i].src.kind != AGXC_REG)
         emit_move(&state, &copies[i]);
   return state.emitted;
}
