/* SPDX-License-Identifier: MIT
 *
 * Helper programs: the driver's own gives every SIMD-group its stack, on any number of cores and
 * threads and in chaos, and takes all of them back; each way to damage it is told by name.
 */
#include "sim_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agx/hw/scratch.h"
#include "base/util.h"

#define HELPER     0x80000u /* in the USC window */
#define SCRATCH    0x3000000000ull
#define WORKGROUPS 20u
#define THREADS    64u
#define CODE_12    2u /* of 12 words, in the launch words */

/* out[i] = 2 * i + 5, by way of the stack, of which it takes 12 words. */
static const char kernel[] = "stack_adjust index=12\n"
                             "mfsr d=r1 sr=thread_in_grid_x\n"
                             "iadd d=r2 a=r1 b=5\n"
                             "stack_store r=r1 index=4 format=i32 mask=x group=a\n"
                             "stack_store r=r2 index=44 format=i32 mask=x group=a\n"
                             "stack_load r=r3 index=4 format=i32 mask=x group=a\n"
                             "stack_load r=r4 index=44 format=i32 mask=x group=a\n"
                             "wait group=a\n"
                             "iadd d=r3 a=r3 b=r4\n"
                             "store r=r3 base=du0 index=r1 format=i32 mask=x group=a\n"
                             "stack_adjust index=-12";

struct scene {
   struct sim_launch launch;
   struct agx_hw_scratch scratch;
   uint8_t *memory; /* header, lists and blocks */
   char *helper;    /* text */
   uint32_t *out;
};

static const uint64_t all_cores[] = {0xff};
static const struct agx_hw_cores cores = {1, 8, all_cores};

static void open_scene(struct scene *s, uint32_t words)
{
   char *path = agx_test_path("../src/hal/record/scratch_kernel/helper.txt");
   size_t length;
   sim_launch_init(&s->launch, kernel);
   s->launch.grid[0] = WORKGROUPS * THREADS;
   s->launch.local[0] = THREADS;
   s->launch.spill_code = CODE_12;
   s->launch.uniform[0] = SIM_DATA;
   s->launch.options.needs_helper = true;
   s->launch.options.helper = (struct agxs_helper_program){.binary = HELPER | 1, .data = SCRATCH};
   s->out = (uint32_t *)sim_map(&s->launch.memory, SIM_DATA, 4 * WORKGROUPS * THREADS, true);
   assert_ok(agx_hw_scratch_plan(words, &cores, &s->scratch));
   s->memory = sim_map(&s->launch.memory, SCRATCH, s->scratch.total_B, true);
   agx_hw_scratch_write(&s->scratch, &cores, SCRATCH, s->memory);
   s->helper = agx_test_read_file(path, &length);
   free(path);
}

static void close_scene(struct scene *s)
{
   free(s->helper);
   sim_launch_fini(&s->launch);
}

static agx_status run(struct scene *s)
{
   uint8_t *code = sim_map(&s->launch.memory, SIM_USC_BASE + HELPER, 0x4000, false);
   sim_assemble(s->helper, code, 0x4000);
   return sim_launch_run(&s->launch);
}

static void expect_results(const struct scene *s)
{
   for (uint32_t i = 0; i < WORKGROUPS * THREADS; i++)
      assert_int_equal(agxs_get_le32((const uint8_t *)&s->out[i]), 2 * i + 5);
   memset(s->out, 0, 4 * WORKGROUPS * THREADS);
}

/* Word `word` of what the header keeps of a core. */
static uint32_t core_word(const struct scene *s, uint32_t core, uint32_t word)
{
   return agxs_get_le32(s->memory + 8 + 88 * core + 4 * word);
}

static void gives_stacks(void **state)
{
   struct scene s;
   open_scene(&s, 12);
   assert_ok(run(&s));
   expect_results(&s);
   uint32_t stacks = 0;
   for (uint32_t core = 0; core < 8; core++) {
      assert_int_equal(core_word(&s, core, 2), 0); /* in use */
      assert_int_equal(core_word(&s, core, 3), 2); /* at most: both SIMD-groups of a workgroup */
      assert_int_equal(core_word(&s, core, 4), 0); /* refused */
      stacks += core_word(&s, core, 6 + CODE_12);
   }
   assert_int_equal(stacks, WORKGROUPS * 2);
   /* The words are in the blocks, not in memory of the simulator's own. */
   assert_int_not_equal(agxs_get_le32(s.memory + s.scratch.blocks_at), 0);
   close_scene(&s);
}

static void gives_stacks_in_every_mode(void **state)
{
   struct scene s;
   open_scene(&s, 12);
   s.launch.options.thread_count = 8;
   assert_ok(run(&s));
   expect_results(&s);
   s.launch.options.check = true;
   assert_ok(run(&s));
   expect_results(&s);
   s.launch.options.profile = true;
   assert_ok(run(&s));
   expect_results(&s);
   s.launch.options = (struct agxs_options){
      .strict = true, .needs_helper = true, .helper = s.launch.options.helper};
   for (uint32_t seed = 1; seed < 12; seed++) {
      s.launch.options.chaos_seed = seed;
      assert_ok(run(&s));
      expect_results(&s);
   }
   for (uint32_t core = 0; core < 8; core++)
      assert_int_equal(core_word(&s, core, 2), 0);
   close_scene(&s);
}

/* Blocks of every size and number hold what was planned, and no word more. */
static void gives_stacks_of_every_size(void **state)
{
   static const uint32_t sizes[] = {8, 12, 16, 24, 32, 33, 64, 96, 128, 200, 384, 512};
   for (unsigned i = 0; i < AGX_COUNT(sizes); i++) {
      char program[512];
      struct scene s;
      open_scene(&s, sizes[i]);
      snprintf(program, sizeof(program),
               "stack_adjust index=%u\nmfsr d=r1 sr=thread_in_grid_x\niadd d=r2 a=r1 b=5\n"
               "stack_store r=r1 index=0 format=i32 mask=x group=a\n"
               "stack_store r=r2 index=%u format=i32 mask=x group=a\n"
               "stack_load r=r3 index=0 format=i32 mask=x group=a\n"
               "stack_load r=r4 index=%u format=i32 mask=x group=a\nwait group=a\n"
               "iadd d=r3 a=r3 b=r4\nstore r=r3 base=du0 index=r1 format=i32 mask=x group=a",
               s.scratch.words, 4 * s.scratch.words - 4, 4 * s.scratch.words - 4);
      s.launch.program = program;
      s.launch.spill_code = 9; /* more than enough */
      assert_ok(run(&s));
      expect_results(&s);
      snprintf(program, sizeof(program), "stack_adjust index=%u", s.scratch.words + 4);
      assert_fails(run(&s), AGX_DATA_LOSS, "but the blocks that the helper program mapped hold");
      close_scene(&s);
   }
}

static void stacks_need_a_helper(void **state)
{
   struct scene s;
   open_scene(&s, 12);
   s.launch.options.helper = (struct agxs_helper_program){0};
   assert_fails(run(&s), AGX_DATA_LOSS,
                "a kernel takes 12 words of stack for each thread, but the submission names no "
                "helper program");
   s.launch.options.needs_helper = false;
   assert_ok(run(&s));
   expect_results(&s);
   s.launch.options.helper = (struct agxs_helper_program){HELPER, 0, SCRATCH};
   assert_fails(run(&s), AGX_INVALID_ARGUMENT, "bit 0 of the field");
   close_scene(&s);
}

static void preambles_have_stacks(void **state)
{
   struct scene s;
   open_scene(&s, 12);
   s.launch.preamble = "stack_adjust index=4\nldimm32 d=r1 imm=7\n"
                       "stack_store r=r1 index=4 format=i32 mask=x group=a\n"
                       "stack_adjust index=-4";
   assert_fails(run(&s), AGX_DATA_LOSS, "is not for preambles (bit 16 of its cfg)");
   s.launch.options.helper.cfg = AGXS_HELPER_PREAMBLE;
   assert_ok(run(&s));
   expect_results(&s);
   close_scene(&s);
}

#define DOORBELL(number) "jmp_if_skipping_doorbell offset=6\ndoorbell imm=" #number "\n"

static const struct {
   const char *from, *to, *told; /* from: its first place in the helper program */
} damages[] = {
   {"map r=r15 target=0 v=3\nwait group=a\n" DOORBELL(48), "map r=r15 target=0 v=3\n",
    "asks for the next operation without an answer (doorbell 48 or 49) to the allocation"},
   {"mask=xyzw group=a\nwait group=a\n" DOORBELL(48), "mask=xyzw group=a\n",
    "asks for the next operation without an answer (doorbell 48 or 49) to the freeing"},
   {DOORBELL(48), DOORBELL(48) DOORBELL(48), "answers where no operation waits for it"},
   {DOORBELL(48), DOORBELL(50), "only doorbells 32 (next), 48 (done) and 49 (refused) are known"},
   {"mfsr d=r1 sr=core_index", "mov d=r1 a=0",
    "where the helper program of core 0 has stored: each core needs a record of its own"},
   {"mfsr d=r1 sr=core_index", "mfsr d=r1 sr=core_index\niadd d=r1 a=r1 b=8",
    "is not mapped so: helper program of core 0"},
   {"map r=r12 target=0 v=0\n", "", "block 0 is not mapped"},
   {"map r=r13 target=0 v=1\n", "", "the blocks that the helper program mapped hold 8 words"},
   {"map r=r13 target=0 v=1\nmap r=r14 target=0 v=2", "map r=r13 target=0 v=2",
    "block 2 is mapped and block 1 is not"},
   {"map r=r12 target=0 v=0\n", "map r=r12 target=0 v=4\n", "a stack has blocks 0 to 3"},
   {"map r=r12 target=0 v=0\n", "iadd d=r13 a=r13 b=2\nmap r=r12 target=0 v=0\n",
    "which is no address of 1024 bytes"},
   {"map r=r12 target=0 v=0\n",
    "ldimm32 d=r5 imm=268435456\niadd d=r12 a=r12 b=r5\nmap r=r12 target=0 v=0\n",
    "1024 bytes, which is not mapped for reading and writing at 0x"},
   {"map r=r12 target=0 v=0\n", "ldimm32 d=r12 imm=255\nmap r=r12 target=0 v=0\n",
    "of size code 7; the largest is 6"},
   {"iadd d=r10 a=r10 b=1\n", "", "which another SIMD-group has"},
   {"cond=ult", "cond=ugt", "refuses a SIMD-group of dispatch 0 a stack of 12 words"},
   {"unmap r=r13 target=0 v=1\n", "", "leaves block 1 mapped"},
   {"icsel d=r5 a=r6 b=1", "icsel d=r5 a=r6 b=2", "refuses to free the stack"},
   {"unmap r=r12 target=0 v=0\n", "map r=r12 target=0 v=0\n",
    "this belongs to an allocation, which is not the operation"},
   {"map r=r12 target=0 v=0\n", "unmap r=r12 target=0 v=0\n",
    "this belongs to the freeing of a stack, which is not the operation"},
   {"next:\n", "map r=r4 target=0 v=0\nnext:\n",
    "which is not the operation that waits for an answer"},
   {"if_icmp a=r6 b=15", "if_icmp a=r6 b=0", "ends without an answer"},
   {"if_icmp a=r6 b=15", "if_icmp a=r6 b=14", "answers where no operation waits for it"},
   {"if_icmp a=r6 b=15 nest=1 cond=ine\njmp_none offset=@end",
    "if_icmp a=r6 b=15 nest=1 cond=ine\njmp_none offset=@answered",
    "asks for another operation after operation 15, where it has to stop"},
   {"next:\n" DOORBELL(32), "next:\nstop\n", "ends before it asks for an operation"},
   {"next:\n", "next:\nspin:\njmp_any offset=@spin\n", "more instructions than a SIMD-group"},
   {"mfsr d=r6 sr=helper_op", "mfsr d=r16 sr=helper_op", "register"},
   {"mfsr d=r3 sr=helper_arg_h", "mov d=r3 a=0", "is not mapped so: helper program of core 0"},
};

static void damage(struct scene *s, const char *from, const char *to)
{
   const char *at = strstr(s->helper, from);
   assert_non_null(at);
   size_t length = strlen(s->helper) + strlen(to) + 1;
   char *text = malloc(length);
   snprintf(text, length, "%.*s%s%s", (int)(at - s->helper), s->helper, to, at + strlen(from));
   free(s->helper);
   s->helper = text;
}

static void damaged_helpers_are_told(void **state)
{
   for (unsigned i = 0; i < AGX_COUNT(damages); i++) {
      struct scene s;
      open_scene(&s, 12);
      damage(&s, damages[i].from, damages[i].to);
      agx_status status = run(&s);
      if (status == AGX_OK || !strstr(agx_error_peek(), damages[i].told))
         fail_msg("damage %u: expected \"%s\": %s: %s", i, damages[i].told, agx_status_name(status),
                  status == AGX_OK ? "" : agx_error_peek());
      close_scene(&s);
   }
}

/* Lists that are damaged while the program is sound. */
static void damaged_lists_are_told(void **state)
{
   struct scene s;
   open_scene(&s, 12);
   memcpy(s.memory + 8 + 88, s.memory + 8, 8); /* core 1 has core 0's list */
   assert_fails(run(&s), AGX_DATA_LOSS,
                "helper program of core 1: maps the block at 0x3000007800, which is core 0's");
   close_scene(&s);
   open_scene(&s, 12);
   memset(s.memory + 8 + 88, 0, 8); /* and here none, as if it were not enabled */
   assert_fails(run(&s), AGX_DATA_LOSS, "is not mapped so: helper program of core 1");
   close_scene(&s);
}

/* On many threads a broken helper program fails the launch, and nothing waits for ever. */
static void damaged_helpers_end(void **state)
{
   for (unsigned i = 0; i < AGX_COUNT(damages); i++) {
      struct scene s;
      open_scene(&s, 12);
      s.launch.options.thread_count = 8;
      damage(&s, damages[i].from, damages[i].to);
      assert_int_not_equal(run(&s), AGX_OK);
      close_scene(&s);
   }
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(gives_stacks),
      cmocka_unit_test(gives_stacks_in_every_mode),
      cmocka_unit_test(gives_stacks_of_every_size),
      cmocka_unit_test(stacks_need_a_helper),
      cmocka_unit_test(preambles_have_stacks),
      cmocka_unit_test(damaged_helpers_are_told),
      cmocka_unit_test(damaged_lists_are_told),
      cmocka_unit_test(damaged_helpers_end),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
