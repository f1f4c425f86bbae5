/* SPDX-License-Identifier: MIT
 *
 * What check mode takes for defined really is: every row of the instruction table runs
 * twice from registers that differ only in their undefined bits, and the results may
 * differ only in bits that the shadow calls undefined. Random operands, random masks.
 */
#include "sim_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rows.h"

#define ROUNDS   60 /* encodings of each row */
#define MAX_TEXT 400

static struct agx_test_rng rng = {0x5ad0};

static uint32_t random32(void)
{
   return (uint32_t)agx_test_random(&rng);
}

/* Full of edges: small numbers, sign bits, runs of ones, exponents. */
static uint32_t random_value(void)
{
   switch (agx_test_random_below(&rng, 4)) {
   case 0:
      return random32() & 31;
   case 1:
      return ~0u << agx_test_random_below(&rng, 32);
   default:
      return random32();
   }
}

static uint32_t random_mask(void)
{
   switch (agx_test_random_below(&rng, 6)) {
   case 0:
      return random32() & random32() & random32();
   case 1:
      return 1u << agx_test_random_below(&rng, 32);
   default:
      return 0;
   }
}

struct twin {
   struct sim_memory memory;
   struct sim_group *group;
};

static void begin(struct twin *twin, const char *program, bool is_preamble)
{
   sim_memory_init(&twin->memory);
   uint8_t *data = sim_map(&twin->memory, SIM_DATA, 0x4000, true);
   for (unsigned i = 0; i < 0x4000; i++)
      data[i] = (uint8_t)(i * 37);
   twin->group = sim_group_new(program);
   twin->group->memory = &twin->memory;
   twin->group->options = (struct agxs_options){.check = true, .max_instructions_per_group = 64};
   twin->group->shared_bytes = 512;
   twin->group->stack_words = 64;
   twin->group->is_preamble = is_preamble;
}

static void end(struct twin *twin)
{
   free(twin->group);
   sim_memory_fini(&twin->memory);
}

/* Fills both alike, but for bits that are marked undefined. */
static void fill(struct twin *a, struct twin *b)
{
   bool is_partial = agx_test_random_below(&rng, 4) == 0;
   a->group->exists = b->group->exists = is_partial ? random32() | 1 : ~0u;
   for (unsigned r = 1; r < 128; r++) {
      for (unsigned lane = 0; lane < 32; lane++) {
         uint32_t mask = random_mask();
         a->group->reg[r][lane] = random_value();
         b->group->reg[r][lane] = a->group->reg[r][lane] ^ (random32() & mask);
         a->group->undefined[r][lane] = b->group->undefined[r][lane] = mask;
      }
   }
}

static void compare(const struct twin *a, const struct twin *b, const char *program)
{
   for (unsigned r = 0; r < 128; r++) {
      for (unsigned lane = 0; lane < 32; lane++) {
         uint32_t undefined = a->group->undefined[r][lane];
         uint32_t x = a->group->reg[r][lane], y = b->group->reg[r][lane];
         if (a->group->exists >> lane & 1 && ((x ^ y) & ~undefined))
            fail_msg("%s: r%u of lane %u is 0x%08x or 0x%08x, but only 0x%08x is undefined",
                     program, r, lane, x, y, undefined);
      }
   }
}

/* Returns whether it executed: what is refused or reported says nothing. */
static bool run_twins(const char *text)
{
   char program[MAX_TEXT + 200];
   /* Some of threadgroup memory and the stack comes from registers with holes. */
   snprintf(program, sizeof(program), "ldimm16 d=r0l imm=0\n%s%s",
            strncmp(text, "lload", 5) && strncmp(text, "latomic", 7)
               ? ""
               : "mfsr d=r9l sr=thread_index_in_simdgroup\n"
                 "lstore r=r10 base=none index=r9l format=i32 mask=x\n",
            text);
   struct twin a, b;
   bool is_preamble = strncmp(text, "uniform_store", 13) == 0;
   begin(&a, program, is_preamble);
   begin(&b, program, is_preamble);
   fill(&a, &b);
   agx_status status = sim_group_run(a.group), other = sim_group_run(b.group);
   /* Addresses and branches are defined, or reported whatever the bits are. */
   if (status != other)
      fail_msg("%s: %s and %s", program, agx_status_name(status), agx_status_name(other));
   if (status == AGX_OK)
      compare(&a, &b, program);
   end(&a);
   end(&b);
   return status == AGX_OK;
}

static void calls_nothing_defined_that_is_not(void **state)
{
   unsigned executed = 0;
   for (unsigned op = 0; op < AGX_ISA_OP_COUNT; op++) {
      for (unsigned i = 0; i < ROUNDS; i++) {
         struct agx_isa_instr instr;
         char text[MAX_TEXT];
         assert_true(random_row_instr((enum agx_isa_op)op, &rng, &instr));
         agx_isa_print(&instr, text, sizeof(text));
         executed += run_twins(text);
      }
   }
   print_message("%u instructions executed twice\n", executed);
   assert_true(executed > 4000);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(calls_nothing_defined_that_is_not),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
