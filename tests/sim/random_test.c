/* SPDX-License-Identifier: MIT
 *
 * Hostile input: random code, random instructions that decode, random launch words
 * and streams. Nothing may crash, hang or touch memory outside of the mappings;
 * meant to run under the sanitizers too.
 */
#include "sim_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

static struct agx_test_rng rng = {0x5eed5eed};

static uint32_t below(uint32_t bound)
{
   return (uint32_t)agx_test_random_below(&rng, bound);
}

static void fill_random(uint8_t *bytes, size_t count)
{
   for (size_t i = 0; i < count; i++)
      bytes[i] = (uint8_t)agx_test_random(&rng);
}

/* An instruction that decodes: random bytes until they do. Most short ones do. */
static size_t random_instruction(uint8_t *to)
{
   struct agx_isa_instr instr;
   for (;;) {
      uint8_t bytes[AGX_ISA_MAX_BYTES];
      fill_random(bytes, sizeof(bytes));
      /* Any first byte is a little likely; the register fields are kept low, so that
       * fewer instructions end at the register limit. */
      bytes[1] &= below(2) ? 0x1f : 0xff;
      if (agx_isa_decode(bytes, sizeof(bytes), &instr) != AGX_OK)
         continue;
      memcpy(to, bytes, instr.length);
      return instr.length;
   }
}

static bool is_expected(agx_status status)
{
   return status == AGX_OK || status == AGX_INVALID_ARGUMENT || status == AGX_UNIMPLEMENTED ||
          status == AGX_DATA_LOSS || status == AGX_DEADLINE_EXCEEDED ||
          status == AGX_FAILED_PRECONDITION || status == AGX_RESOURCE_EXHAUSTED;
}

struct run {
   struct sim_launch launch;
   uint8_t *usc, *uniforms, *stream, *data;
   uint8_t *spare;
};

/* A launch of 70 threads whose code the caller overwrites. */
static void begin(struct run *run, bool check, bool strict)
{
   sim_launch_init(&run->launch, "mov d=r1 a=0");
   run->launch.options = (struct agxs_options){
      .check = check,
      .strict = strict,
      .thread_count = 1,
      .max_instructions_per_group = 300,
      .max_workgroups = 64,
   };
   run->launch.grid[0] = 70, run->launch.local[0] = 64;
   run->launch.halves = 256;
   run->launch.local[0] = 40;
   run->launch.shared_bytes = 1024;
   run->launch.spill_code = 1 + below(3);
   for (unsigned i = 0; i < 32; i++)
      run->launch.uniform[i] = SIM_DATA + 256 * below(64);
   run->data = sim_map(&run->launch.memory, SIM_DATA, 0x4000, true);
   fill_random(run->data, 0x4000);
   assert_ok(sim_launch_run(&run->launch)); /* maps the rest */
   run->usc = run->launch.memory.region[1].host;
   run->uniforms = run->launch.memory.region[2].host;
   run->stream = run->launch.memory.region[3].host;
}

static agx_status finish(struct run *run)
{
   static const struct agx_chip chip = {.name = "g13g"};
   agx_status status = agxs_run_compute(&chip, &run->launch.memory.interface, &run->launch.options,
                                        SIM_USC_BASE, SIM_STREAM, &run->launch.stats);
   if (!is_expected(status))
      fail_msg("status %d: %s", status, agx_error_peek());
   sim_launch_fini(&run->launch);
   return status;
}

static void survives_random_bytes_as_code(void **state)
{
   for (unsigned i = 0; i < 300; i++) {
      struct run run;
      begin(&run, i & 1, i & 2);
      fill_random(run.usc + SIM_CODE, 0x400);
      finish(&run);
   }
}

static void survives_random_instructions(void **state)
{
   for (unsigned i = 0; i < 600; i++) {
      struct run run;
      begin(&run, i % 3 == 0, false);
      uint8_t *code = run.usc + SIM_CODE;
      static const uint8_t zero_r0l[4] = {0x62, 0, 0, 0};
      memcpy(code, zero_r0l, 4);
      size_t at = 4;
      for (unsigned k = 0; k < 60; k++) {
         struct agx_isa_instr instr;
         size_t length = random_instruction(code + at);
         assert_ok(agx_isa_decode(code + at, length, &instr));
         bool is_end = instr.op == AGX_ISA_OP_STOP || instr.op == AGX_ISA_OP_TRAP ||
                       agx_isa_info(instr.op)->is_guess;
         /* Mostly what does something; ends and unknown rows now and then. */
         if (!is_end || below(50) == 0)
            at += length;
      }
      code[at] = 0x88, code[at + 1] = 0;
      finish(&run);
   }
}

/* Bytes of one line "hex  text"; 0 for a comment. */
static size_t parse_hex(const char *line, uint8_t *out)
{
   size_t count = 0;
   for (unsigned value; count < AGX_ISA_MAX_BYTES && sscanf(line + 2 * count, "%2x", &value) == 1 &&
                        line[2 * count + 1] > ' ';)
      out[count++] = (uint8_t)value;
   return count;
}

/* Every row of the table, by its own vectors: executed or refused, never a crash. */
static void survives_each_row_alone(void **state)
{
   char *path = agx_test_path("agx/isa_vectors.txt");
   size_t size;
   char *text = agx_test_read_file(path, &size), *rest = text;
   unsigned executed = 0, refused = 0;
   for (char *line = strtok_r(rest, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
      static const uint8_t prologue[4] = {0x62, 0, 0, 0}, stop[2] = {0x88, 0};
      uint8_t bytes[AGX_ISA_MAX_BYTES] = {0};
      size_t length = line[0] == '#' ? 0 : parse_hex(line, bytes);
      if (!length)
         continue;
      struct run run;
      begin(&run, false, false);
      uint8_t *code = run.usc + SIM_CODE;
      memcpy(code, prologue, 4);
      memcpy(code + 4, bytes, length);
      memcpy(code + 4 + length, stop, 2);
      bool is_ok = finish(&run) == AGX_OK;
      executed += is_ok, refused += !is_ok;
   }
   assert_true(executed > 150);
   assert_true(refused > 50);
   free(text);
   free(path);
}

static void survives_random_launch_words(void **state)
{
   static const uint8_t tags[] = {0x1d, 0x3d, 0xdd, 0x9d, 0x4d, 0x0d, 0x8d, 0x58, 0x38, 0x88};
   for (unsigned i = 0; i < 500; i++) {
      struct run run;
      begin(&run, i & 1, i & 2);
      uint8_t *words = run.usc + SIM_WORDS;
      if (i % 5 == 0)
         fill_random(words, 64);
      for (unsigned k = 0; k < 6; k++) {
         if (below(3))
            words[below(40)] = below(2) ? tags[below(sizeof(tags))] : (uint8_t)below(256);
      }
      finish(&run);
   }
}

static void survives_random_streams(void **state)
{
   for (unsigned i = 0; i < 500; i++) {
      struct run run;
      begin(&run, i & 1, false);
      if (i % 3 == 0)
         fill_random(run.stream, 256);
      for (unsigned k = 0; k < 4; k++)
         run.stream[below(48)] = (uint8_t)below(256);
      if (i % 4 == 0)
         run.stream[4 * below(11) + 3] = (uint8_t)(below(8) << 5 | below(32));
      finish(&run);
   }
}

/* Helper programs that are random instructions: alone, and in front of answers and maps. */
static void survives_random_helpers(void **state)
{
   const uint64_t scratch_va = 0x3000000000ull;
   const uint32_t helper = 0x80000;
   static const char *const ends[] = {
      "doorbell imm=32\nmap r=r1 target=0 v=0\nmap r=r2 target=0 v=1\ndoorbell imm=48\n"
      "doorbell imm=32\nunmap r=r1 target=0 v=0\nunmap r=r2 target=0 v=1\ndoorbell imm=48",
      "doorbell imm=49\nstop",
   };
   for (unsigned i = 0; i < 4000; i++) {
      struct sim_launch launch;
      char code[64];
      sim_launch_init(&launch, "stack_adjust index=12\n"
                               "stack_store r=r1 index=4 format=i32 mask=x group=a");
      launch.local[0] = launch.grid[0] = 64;
      launch.spill_code = 1 + below(3);
      launch.options.strict = below(2);
      launch.options.check = below(2);
      launch.options.thread_count = 1;
      launch.options.helper = (struct agxs_helper_program){helper | 1, 0, scratch_va};
      uint8_t *memory = sim_map(&launch.memory, scratch_va, 0x8000, true);
      fill_random(memory, 256);
      uint8_t *to = sim_map(&launch.memory, SIM_USC_BASE + helper, 0x4000, false);
      for (unsigned n = below(6); n; n--)
         to += random_instruction(to);
      /* Often two words that could be blocks. */
      snprintf(code, sizeof(code), "ldimm32 d=r1 imm=%u; ldimm32 d=r2 imm=%u",
               (uint32_t)(scratch_va >> 8) + below(256), (uint32_t)(scratch_va >> 8) + below(256));
      to += sim_assemble(code, to, 64);
      sim_assemble(ends[below(AGX_COUNT(ends))], to, 0x1000);
      agx_status status = sim_launch_run(&launch);
      if (!is_expected(status))
         fail_msg("%s: %s", agx_status_name(status), agx_error_peek());
      sim_launch_fini(&launch);
   }
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(survives_random_bytes_as_code),
      cmocka_unit_test(survives_random_instructions),
      cmocka_unit_test(survives_each_row_alone),
      cmocka_unit_test(survives_random_helpers),
      cmocka_unit_test(survives_random_launch_words),
      cmocka_unit_test(survives_random_streams),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
