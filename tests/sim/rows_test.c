/* SPDX-License-Identifier: MIT
 *
 * Every row of the instruction table with random operands: it executes, or stops with
 * AGX_UNIMPLEMENTED and its name. What is refused, and why, is listed here in full.
 */
#include "sim_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "rows.h"

#define ROUNDS   200 /* encodings of each row */
#define MAX_TEXT 400

/* `reason` NULL: every encoding; else only those whose refusal has this text. */
struct refusal {
   enum agx_isa_op op;
   const char *reason;
};

#define ALWAYS(row)                                                                                \
   {                                                                                               \
      AGX_ISA_OP_##row, NULL                                                                       \
   }
#define SOMETIMES(row, reason)                                                                     \
   {                                                                                               \
      AGX_ISA_OP_##row, reason                                                                     \
   }
#define ROUND      "this rounding mode is unknown"
#define ICOND      "this integer condition is unknown"
#define FCOND      "this float condition is unknown"
#define FORMAT     "this memory format is unknown"
#define IMAGE_FORM "this form of a texture operand is unknown"
#define DIM        "this dimension is unknown"

static const struct refusal refusals[] = {
   /* docs/hw/unknowns.md: no source says what they do. */
   ALWAYS(MFSR_UNK),
   ALWAYS(IUNOP_UNK),
   ALWAYS(FUNOP_UNK),
   ALWAYS(JMP_INCOMPLETE),
   ALWAYS(UNK_C030),
   ALWAYS(UNK_C040),
   ALWAYS(UNK_C0),
   ALWAYS(UNK_75),
   ALWAYS(UNK_E8),
   ALWAYS(UNK_0C),
   ALWAYS(UNK_101C),
   ALWAYS(UNK_62CC),
   ALWAYS(ASYNC_LOAD),
   ALWAYS(ASYNC_STORE),
   /* The same: scratch comes without a helper program. */
   ALWAYS(DOORBELL),
   ALWAYS(MAP),
   ALWAYS(UNMAP),
   /* Vertex output, coverage, depth and varyings: no compute thread has them. */
   ALWAYS(NO_VAR),
   ALWAYS(ST_VAR),
   ALWAYS(SAMPLE_MASK),
   ALWAYS(ZS_EMIT),
   ALWAYS(ITER),
   ALWAYS(ITERPROJ),
   ALWAYS(LDCF),
   /* Numbers in a field that no source gives a meaning [U]. */
   SOMETIMES(U8_TO_F, ROUND),
   SOMETIMES(S8_TO_F, ROUND),
   SOMETIMES(U16_TO_F, ROUND),
   SOMETIMES(S16_TO_F, ROUND),
   SOMETIMES(U32_TO_F, ROUND),
   SOMETIMES(S32_TO_F, ROUND),
   SOMETIMES(F_TO_U16, ROUND),
   SOMETIMES(F_TO_S16, ROUND),
   SOMETIMES(F_TO_U32, ROUND),
   SOMETIMES(F_TO_S32, ROUND),
   SOMETIMES(ICSEL, ICOND),
   SOMETIMES(ICMP_BALLOT, ICOND),
   SOMETIMES(IF_ICMP, ICOND),
   SOMETIMES(ELSE_ICMP, ICOND),
   SOMETIMES(WHILE_ICMP, ICOND),
   SOMETIMES(FCSEL, FCOND),
   SOMETIMES(FCMP_BALLOT, FCOND),
   SOMETIMES(IF_FCMP, FCOND),
   SOMETIMES(ELSE_FCMP, FCOND),
   SOMETIMES(WHILE_FCMP, FCOND),
   SOMETIMES(LOAD, FORMAT),
   SOMETIMES(STORE, FORMAT),
   SOMETIMES(LLOAD, FORMAT),
   SOMETIMES(LSTORE, FORMAT),
   SOMETIMES(STACK_LOAD, "this format is not known to work on the stack"),
   SOMETIMES(STACK_STORE, "this format is not known to work on the stack"),
   SOMETIMES(STACK_LOAD, FORMAT),
   SOMETIMES(STACK_STORE, FORMAT),
   SOMETIMES(ATOMIC, "this atomic operation is unknown"),
   SOMETIMES(LATOMIC, "this atomic operation is unknown"),
   SOMETIMES(SHUFFLE, "rotation is only known for op=up"),
   SOMETIMES(QUAD, "this reduction is unknown"),
   SOMETIMES(SIMD, "this reduction is unknown"),
   SOMETIMES(MFSR, "this special register is not modelled"),
   SOMETIMES(UNIFORM_STORE_RAW, "uniforms are stored from 16-bit registers as i16 only"),
   SOMETIMES(UNIFORM_STORE_RAW, "what a shift does to a uniform's number is unknown"),
   /* Textures: fields without a known meaning, and what compute threads don't have. */
   SOMETIMES(SMPF, "this gather mode is unknown"),
   SOMETIMES(SMPI, "this gather mode is unknown"),
   SOMETIMES(SMPI, "gather, comparing and level queries are not known of texel fetches"),
   SOMETIMES(SMPI, "a texel fetch takes a level only"),
   SOMETIMES(SMPF, "filtering of multisampled textures is not known"),
   SOMETIMES(SMPF, IMAGE_FORM),
   SOMETIMES(SMPI, IMAGE_FORM),
   SOMETIMES(IMGW, IMAGE_FORM),
   SOMETIMES(IMGWBLK, IMAGE_FORM),
   SOMETIMES(SMPF, DIM),
   SOMETIMES(SMPI, DIM),
   SOMETIMES(IMGW, DIM),
   SOMETIMES(IMGWBLK, DIM),
   SOMETIMES(IMGW, "single samples of an image can't be stored"),
   SOMETIMES(IMGWBLK, "single samples of an image can't be stored"),
   SOMETIMES(IMGWBLK, "a compute program has no tile of its own"),
   SOMETIMES(IMGWBLK, FORMAT),
   SOMETIMES(LD_TILE, FORMAT),
   SOMETIMES(ST_TILE, FORMAT),
   SOMETIMES(LD_TILE, "a compute program has no pixel of its own"),
   SOMETIMES(ST_TILE, "a compute program has no pixel of its own"),
   SOMETIMES(LD_TILE, "samples of tile memory are not modelled"),
   SOMETIMES(ST_TILE, "samples of tile memory are not modelled"),
   /* One stack pointer for all lanes. */
   SOMETIMES(STACK_ADJUST, "adjusts the stack by"),
};

static struct agx_test_rng rng = {0x0153};

static agx_status run(const char *text)
{
   struct sim_memory memory;
   char program[MAX_TEXT + 32];
   sim_memory_init(&memory);
   sim_map(&memory, SIM_DATA, 0x4000, true);
   snprintf(program, sizeof(program), "ldimm16 d=r0l imm=0\n%s", text);
   struct sim_group *group = sim_group_new(program);
   group->memory = &memory;
   group->options = (struct agxs_options){.max_instructions_per_group = 64};
   group->shared_bytes = 4096;
   group->stack_words = 64;
   /* Preambles can't stand at barriers, nothing else stores uniforms and state. */
   group->is_preamble = strncmp(text, "uniform_store", 13) == 0 || strstr(text, "_state_store");
   for (unsigned r = 0; r < 128; r++) {
      for (unsigned lane = 0; lane < 32; lane++)
         group->reg[r][lane] = (uint32_t)agx_test_random(&rng) & 0xfff;
   }
   agx_status status = sim_group_run(group);
   free(group);
   sim_memory_fini(&memory);
   return status;
}

/* The listed refusal that the last error is, or -1. */
static int find_refusal(enum agx_isa_op op, const char *error)
{
   for (unsigned i = 0; i < AGX_COUNT(refusals); i++) {
      if (refusals[i].op == op && (!refusals[i].reason || strstr(error, refusals[i].reason)))
         return (int)i;
   }
   return -1;
}

/* Counts how often each listed refusal was met; returns how many encodings executed. */
static unsigned try_row(enum agx_isa_op op, unsigned *met)
{
   const char *name = agx_isa_info(op)->name;
   unsigned executed = 0;
   for (unsigned i = 0; i < ROUNDS; i++) {
      struct agx_isa_instr instr;
      char text[MAX_TEXT];
      if (!random_row_instr(op, &rng, &instr))
         fail_msg("%s: no encoding found", name);
      assert_true(agx_isa_print(&instr, text, sizeof(text)) < sizeof(text));
      agx_status status = run(text);
      /* Jumps may lead to what is refused itself. */
      bool is_refused = status == AGX_UNIMPLEMENTED && strstr(agx_error_peek(), " pc 0x4: ");
      executed += !is_refused && status != AGX_INVALID_ARGUMENT;
      if (!is_refused)
         continue;
      int refusal = find_refusal(op, agx_error_peek());
      if (refusal < 0 || !strstr(agx_error_peek(), text))
         fail_msg("%s: %s", text, agx_error_peek());
      met[refusal]++;
   }
   return executed;
}

static void executes_or_refuses_by_name(void **state)
{
   unsigned met[AGX_COUNT(refusals)] = {0};
   for (unsigned op = 0; op < AGX_ISA_OP_COUNT; op++) {
      unsigned executed = try_row((enum agx_isa_op)op, met);
      bool is_refused = false;
      for (unsigned i = 0; i < AGX_COUNT(refusals); i++)
         is_refused |= refusals[i].op == op && !refusals[i].reason;
      if (executed == 0 && !is_refused)
         fail_msg("%s: nothing of it executes", agx_isa_info((enum agx_isa_op)op)->name);
      if (executed && is_refused)
         fail_msg("%s: executes, but stands in the list", agx_isa_info((enum agx_isa_op)op)->name);
   }
   /* The list has nothing that doesn't happen. */
   for (unsigned i = 0; i < AGX_COUNT(refusals); i++) {
      if (!met[i])
         fail_msg("%s: never refused with \"%s\"", agx_isa_info(refusals[i].op)->name,
                  refusals[i].reason ? refusals[i].reason : "");
   }
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(executes_or_refuses_by_name),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
