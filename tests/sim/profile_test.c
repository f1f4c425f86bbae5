/* SPDX-License-Identifier: MIT
 *
 * Statistics of executed code, each number counted by hand: a comment gives the clock at
 * which every instruction issues, where that isn't plain. Notation: `t+s` is an instruction
 * that could issue at t and waits s cycles.
 */
#include "sim_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agx/sim/check/statistics.h"
#include "base/util.h"

#define MAX_SPOTS 64
#define OUT       0x100000u /* where du4 points, relative to SIM_DATA */

struct counted {
   struct sim_launch launch;
   struct agxs_dispatch_stats stats;
   struct agxs_spot spots[MAX_SPOTS];
   unsigned dispatches;
};

static void keep(void *user, const struct agxs_dispatch_stats *stats)
{
   struct counted *counted = user;
   counted->stats = *stats;
   counted->stats.spots = counted->spots;
   for (uint32_t i = 0; i < stats->spot_count && i < MAX_SPOTS; i++)
      counted->spots[i] = stats->spots[i];
   counted->dispatches++;
}

/* A launch of one workgroup of 32 threads; du0 and du4 address 256 KiB each. */
static void begin(struct counted *counted, const char *program)
{
   memset(counted, 0, sizeof(*counted));
   sim_launch_init(&counted->launch, program);
   counted->launch.grid[0] = counted->launch.local[0] = 32;
   counted->launch.options.profile = true;
   counted->launch.options.check = true;
   counted->launch.options.user = counted;
   counted->launch.options.on_dispatch = keep;
   counted->launch.uniform[0] = SIM_DATA;
   counted->launch.uniform[2] = SIM_DATA + OUT;
}

static void run(struct counted *counted)
{
   struct sim_memory *memory = &counted->launch.memory;
   sim_map(memory, SIM_DATA, 0x40000, true);
   sim_map(memory, SIM_DATA + OUT, 0x40000, true);
   assert_ok(sim_launch_run(&counted->launch));
   assert_int_equal(counted->dispatches, 1);
   assert_int_equal(counted->stats.counts.issue, counted->launch.stats.instructions);
}

static void end(struct counted *counted)
{
   sim_launch_fini(&counted->launch);
}

static struct agxs_model model(const struct counted *counted)
{
   return agxs_model(&counted->stats.counts, counted->stats.chip, 1);
}

/* Quarters are exact. */
#define assert_cycles(value, quarters) assert_int_equal((int64_t)((value)*4), quarters)

struct sums {
   uint64_t issue, stall, complex_pipe, lsu, lines;
};

static void expect(const struct counted *counted, struct sums sums)
{
   const struct agxs_counts *counts = &counted->stats.counts;
   assert_int_equal(counts->issue, sums.issue);
   assert_int_equal(counts->stall, sums.stall);
   assert_int_equal(counts->complex_pipe, sums.complex_pipe);
   assert_int_equal(counts->lsu, sums.lsu);
   assert_int_equal(counts->lines, sums.lines);
}

/* docs/hw/performance.md, the model: load 0; wait 1+199; fadd 201; store 202+2; stop 205. */
static void counts_the_worked_example(void **state)
{
   struct counted counted;
   begin(&counted, "load r=r4 base=du0 index=0 format=i32 mask=x group=a\n"
                   "wait group=a\n"
                   "fadd d=r5 a=r4 b=1.0\n"
                   "store r=r5 base=du4 index=0 format=i32 mask=x group=a");
   run(&counted);
   expect(&counted, (struct sums){5, 201, 0, 4, 2});
   struct agxs_model m = model(&counted);
   assert_cycles(m.term[AGXS_TERM_ISSUE], 5); /* 5 / (4 * 1) */
   assert_cycles(m.term[AGXS_TERM_COMPLEX], 0);
   assert_cycles(m.term[AGXS_TERM_LSU], 16); /* 4 / 1 */
   assert_cycles(m.term[AGXS_TERM_REFETCH], 0);
   assert_cycles(m.term[AGXS_TERM_TRAFFIC], 32);  /* 256 / 32 */
   assert_cycles(m.term[AGXS_TERM_LATENCY], 824); /* 206 / 1 */
   assert_cycles(m.term[AGXS_TERM_LONGEST], 824);
   assert_cycles(m.cold, 64);
   assert_cycles(m.main, 888);
   assert_cycles(m.total, 888);
   assert_int_equal(m.cores, 1);
   assert_int_equal(m.concurrency, 1);
   assert_int_equal(counted.stats.waits_met, 1);
   assert_int_equal(counted.stats.wait_stall, 199);
   assert_int_equal(counted.stats.requested_B, 256);
   end(&counted);
}

/* One SIMD-group of one workgroup; shared_bytes 4096, 8 words of stack. */
struct row {
   const char *program;
   struct sums sums;
};

static const struct row rows[] = {
   /* Unit stride is as many lines as one address: mfsr 0; load 1+1; wait 3+199; fadd 203;
    * store 204+2; stop 207. */
   {"mfsr d=r1 sr=thread_index_in_simdgroup\n"
    "load r=r4 base=du0 index=r1 format=i32 mask=x group=a\n"
    "wait group=a\n"
    "fadd d=r5 a=r4 b=1.0\n"
    "store r=r5 base=du4 index=r1 format=i32 mask=x group=a",
    {6, 202, 0, 4, 2}},
   /* A stride of 128 bytes: 32 lines. mfsr 0; shl 1+1 (shared pipe, 4); load 3+3;
    * wait 7+199; stop 207. */
   {"mfsr d=r1 sr=thread_index_in_simdgroup\n"
    "shl d=r1 b=r1 c=5\n"
    "load r=r4 base=du0 index=r1 format=i32 mask=x group=a\n"
    "wait group=a",
    {5, 203, 4, 64, 32}},
   /* Four words for each lane, side by side: 512 bytes, 4 lines. */
   {"mfsr d=r1 sr=thread_index_in_simdgroup\n"
    "load r=r4..r7 base=du0 index=r1 shift=lsl2 format=i32 mask=xyzw group=a\n"
    "wait group=a",
    {4, 200, 0, 8, 4}},
   /* Bytes: one line. Two of a vector that lies across the end of a line: two. */
   {"mfsr d=r1 sr=thread_index_in_simdgroup\n"
    "load r=r4 base=du0 index=r1 format=i8 mask=x group=a\n"
    "load r=r6..r7 base=du0 index=31 format=i32 mask=xy group=a",
    {4, 1, 0, 6, 2}},
   /* Two loads in flight overlap: load 0; load 1; wait 2+199; fadd 202; store 203+2;
    * stop 206. Lines 0 and 1 of du0, one of du4. */
   {"load r=r4 base=du0 index=0 format=i32 mask=x group=a\n"
    "load r=r5 base=du0 index=32 format=i32 mask=x group=a\n"
    "wait group=a\n"
    "fadd d=r6 a=r4 b=r5\n"
    "store r=r6 base=du4 index=0 format=i32 mask=x group=a",
    {6, 201, 0, 6, 3}},
   /* Work behind a load: load 0; eight ldimm 1 to 8; wait 9+191; stop 201. */
   {"load r=r4 base=du0 index=0 format=i32 mask=x group=a\n"
    "ldimm32 d=r5 imm=1; ldimm32 d=r6 imm=1; ldimm32 d=r7 imm=1; ldimm32 d=r8 imm=1\n"
    "ldimm32 d=r5 imm=2; ldimm32 d=r6 imm=2; ldimm32 d=r7 imm=2; ldimm32 d=r8 imm=2\n"
    "wait group=a",
    {11, 191, 0, 2, 1}},
   /* A wait meets a store too: ldimm 0; store 1+1; wait 3+199; stop 203. */
   {"ldimm32 d=r1 imm=7\n"
    "store r=r1 base=du4 index=0 format=i32 mask=x group=b\n"
    "wait group=b",
    {4, 200, 0, 2, 1}},
   /* mfsr 0; atomic 1+1 until 302; wait 3+299; fadd 303; stop 304. */
   {"mfsr d=r1 sr=thread_index_in_simdgroup\n"
    "atomic r=r3 s=r1 base=du0 index=0 op=add coherency=coherent1 group=a\n"
    "wait group=a\n"
    "iadd d=r4 a=r3 b=1",
    {5, 300, 0, 2, 1}},
   /* Threadgroup memory, a word for each lane: mfsr 0; lstore 1+1; lload 3 until 33;
    * fadd 4+29; stop 34. One word in each bank, twice. */
   {"mfsr d=r1 sr=thread_index_in_simdgroup\n"
    "lstore r=r1 base=none index=r1l format=i32 mask=x\n"
    "lload r=r4 base=none index=r1l format=i32 mask=x\n"
    "fadd d=r5 a=r4 b=1.0",
    {5, 30, 0, 2, 0}},
   /* Every second word: two in each of 16 banks. mfsr 0; shl 1+1; lstore 3+3; stop 7. */
   {"mfsr d=r1 sr=thread_index_in_simdgroup\n"
    "shl d=r2 b=r1 c=1\n"
    "lstore r=r1 base=none index=r2l format=i32 mask=x",
    {4, 4, 4, 2, 0}},
   /* Every 32nd word: all in one bank. */
   {"mfsr d=r1 sr=thread_index_in_simdgroup\n"
    "shl d=r2 b=r1 c=5\n"
    "lstore r=r1 base=none index=r2l format=i32 mask=x",
    {4, 4, 4, 32, 0}},
   /* All the same word (1), then halves, two to a word (1). */
   {"mfsr d=r1 sr=thread_index_in_simdgroup\n"
    "lstore r=r1 base=none index=3 format=i32 mask=x\n"
    "lstore r=r1l base=none index=r1l format=i16 mask=x",
    {4, 1, 0, 2, 0}},
   /* Four words for each lane, side by side: 128 words, four in each bank. mfsr 0;
    * shl 1+1; four ldimm 3 to 6 (the last is ready at 8); lstore 7+1; stop 9. */
   {"mfsr d=r1 sr=thread_index_in_simdgroup\n"
    "shl d=r2 b=r1 c=2\n"
    "ldimm32 d=r4 imm=1; ldimm32 d=r5 imm=1; ldimm32 d=r6 imm=1; ldimm32 d=r7 imm=1\n"
    "lstore r=r4..r7 base=none index=r2l format=i32 mask=xyzw",
    {8, 2, 4, 4, 0}},
   /* An atomic of threadgroup memory: all lanes, one word. mfsr 0; lstore 1+1; latomic 3;
    * iadd 4+29; stop 34. */
   {"mfsr d=r1 sr=thread_index_in_simdgroup\n"
    "lstore r=r1 base=none index=2 format=i32 mask=x\n"
    "latomic r=r3 s=r1 base=none index=2 op=add\n"
    "iadd d=r4 a=r3 b=1",
    {5, 30, 0, 2, 0}},
   /* A row for each lane of the shared pipe's own work: mfsr 0; rcp 1+1 until 9; rsqrt 3;
    * log2 4; imul 5 (64 bits: 8); bitrev 6; fadd 7+2 for rcp; stop 10. 6+8+4+8+4. */
   {"mfsr d=r1 sr=thread_index_in_simdgroup\n"
    "rcp d=r2 a=r1; rsqrt d=r3 a=r1; log2 d=r4 a=r1\n"
    "imul d=dr5 a=r1 b=r1; bitrev d=r7 a=r1\n"
    "fadd d=r8 a=r2 b=1.0",
    {8, 3, 30, 0, 0}},
   /* Between lanes: mfsr 0; reduction 1+1 until 32; scan 3; shuffle 4; ballot 5; quad 6;
    * iadd 7+25; stop 33. 16 + 13 + 2 + 2 + 8. */
   {"mfsr d=r1 sr=thread_index_in_simdgroup\n"
    "simd d=r2 a=r1 op=iadd; simd d=r3 a=r1 prefix op=iadd\n"
    "shuffle d=r4 a=r1 b=3 window=quad op=xor\n"
    "icmp_ballot d=r5 a=r1 b=10 window=simd cond=ult\n"
    "quad d=r6 a=r1 op=iadd\n"
    "iadd d=r7 a=r2 b=1",
    {8, 26, 41, 0, 0}},
   /* 16 bits: ldimm 0; icsel 1+1 until 5; hadd 3+2 until 8; hadd 6+2; stop 9. */
   {"ldimm16 d=r1l imm=1\n"
    "icsel d=r2l a=r1l b=1 x=r1l y=r1l cond=ieq\n"
    "hadd d=r3l a=r2l b=r1l\n"
    "hadd d=r3h a=r3l b=r1l",
    {5, 5, 0, 0, 0}},
   /* 32 bits: ldimm 0; icsel 1+1 until 7; fadd 3+4 until 10; imadd 8+2 until 14;
    * fadd 11+3; stop 15. */
   {"ldimm32 d=r1 imm=1\n"
    "icsel d=r2 a=r1 b=1 x=r1 y=r1 cond=ieq\n"
    "fadd d=r3 a=r2 b=r1\n"
    "imadd d=r4 a=r3 b=r1 c=r1\n"
    "fadd d=r5 a=r4 b=r1",
    {6, 10, 4, 0, 0}},
   /* A bit operation has latency 3 and no shared pipe; one half of a register is ready
    * while the other isn't: ldimm 0; ldimm 1; rcp 2+1 (r2l) until 10; mov 4 (r3h); and 5+1
    * of that; stop 7. */
   {"ldimm16 d=r1l imm=1; ldimm32 d=r4 imm=1\n"
    "rcp d=r2l a=r4\n"
    "mov d=r2h a=r1l\n"
    "and d=r5l a=r2h b=r1l",
    {6, 2, 6, 0, 0}},
   /* Two matrix products in a row, 16 each: ldimm 0 to 5; the first 6+1 until 43, the
    * second adds to it 8+35; stop 44. */
   {"ldimm32 d=r2 imm=0; ldimm32 d=r3 imm=0; ldimm32 d=r4 imm=0; ldimm32 d=r5 imm=0\n"
    "ldimm32 d=r6 imm=0; ldimm32 d=r7 imm=0\n"
    "simd_matrix_fmadd32 d=r8..r9 a=r2..r3 b=r4..r5 c=r6..r7\n"
    "simd_matrix_fmadd32 d=r8..r9 a=r2..r3 b=r4..r5 c=r8..r9",
    {9, 36, 36, 0, 0}},
   /* The stack: a word of all lanes is a line. adjust 0; mfsr 1; store 2+1; wait 4+199;
    * load 204; wait 205+199; fadd 405; stop 406. */
   {"stack_adjust index=4\n"
    "mfsr d=r1 sr=thread_index_in_simdgroup\n"
    "stack_store r=r1 index=4 format=i32 mask=x group=a\n"
    "wait group=a\n"
    "stack_load r=r2 index=4 format=i32 mask=x group=b\n"
    "wait group=b\n"
    "iadd d=r3 a=r2 b=1",
    {8, 399, 0, 4, 1}},
};

static void counts_one_group(void **state)
{
   for (size_t i = 0; i < AGX_COUNT(rows); i++) {
      const struct sums *sums = &rows[i].sums;
      struct counted counted;
      begin(&counted, rows[i].program);
      counted.launch.shared_bytes = 4096;
      counted.launch.spill_code = 1;
      run(&counted);
      if (counted.stats.counts.longest != sums->issue + sums->stall)
         print_error("row %zu: %s\n", i, rows[i].program);
      assert_int_equal(counted.stats.counts.longest, sums->issue + sums->stall);
      expect(&counted, *sums);
      end(&counted);
   }
}

/* Waits of another group don't wait: load a 0; load b 1; wait a 2+198; wait b 201, whose
 * load ended at 201; stop 202. */
static void tells_waits_that_met(void **state)
{
   struct counted counted;
   begin(&counted, "load r=r4 base=du0 index=0 format=i32 mask=x group=a\n"
                   "load r=r5 base=du0 index=1 format=i32 mask=x group=b\n"
                   "wait group=a\n"
                   "wait group=b");
   run(&counted);
   expect(&counted, (struct sums){5, 198, 0, 4, 1});
   assert_int_equal(counted.stats.classes[AGXS_CLASS_WAIT], 2);
   assert_int_equal(counted.stats.classes[AGXS_CLASS_LOAD], 2);
   assert_int_equal(counted.stats.waits_met, 1);
   assert_int_equal(counted.stats.wait_stall, 198);
   assert_int_equal(counted.stats.line_accesses, 2);
   end(&counted);
}

/* A branch that 8 lanes take and one that none does. ldimm 0; mfsr 1; if 2+1; jmp 4 (not
 * taken); fadd 5; pop 6; if 7; jmp 8 (taken); pop 9; stop 10. Lanes: 32 32 32 8 8 8 32 0 0 32. */
static void skips_what_a_jump_skips(void **state)
{
   struct counted counted;
   begin(&counted, "ldimm16 d=r0l imm=0\n"
                   "mfsr d=r1 sr=thread_index_in_simdgroup\n"
                   "if_icmp a=r1 b=8 nest=1 cond=ult\n"
                   "jmp_none offset=@first\n"
                   "fadd d=r2 a=r1 b=1.0\n"
                   "first:\n"
                   "pop_exec nest=1\n"
                   "if_icmp a=r1 b=64 nest=1 cond=ugt\n"
                   "jmp_none offset=@second\n"
                   "fadd d=r2 a=r1 b=1.0\n"
                   "rcp d=r2 a=r1\n"
                   "second:\n"
                   "pop_exec nest=1");
   run(&counted);
   expect(&counted, (struct sums){10, 1, 0, 0, 0});
   assert_int_equal(counted.stats.lanes_active, 184);
   assert_int_equal(counted.stats.lanes_existing, 320);
   assert_int_equal(counted.stats.partial, 3);
   assert_int_equal(counted.stats.empty, 2);
   assert_int_equal(counted.stats.units[AGX_ISA_UNIT_F32], 1);
   assert_int_equal(counted.stats.units[AGX_ISA_UNIT_IC], 0);
   assert_int_equal(counted.stats.spot_count, 10);
   assert_int_equal(counted.spots[4].executed, 1);
   assert_int_equal(counted.spots[4].lanes, 8);
   assert_int_equal(counted.spots[2].stall, 1);
   end(&counted);
}

/* Only active lanes touch lines: 4 of 32 that stand in lines of their own. */
static void counts_active_lanes_only(void **state)
{
   struct counted counted;
   begin(&counted, "ldimm16 d=r0l imm=0\n"
                   "mfsr d=r1 sr=thread_index_in_simdgroup\n"
                   "shl d=r2 b=r1 c=5\n"
                   "if_icmp a=r1 b=4 nest=1 cond=ult\n"
                   "store r=r1 base=du4 index=r2 format=i32 mask=x group=a\n"
                   "pop_exec nest=1");
   run(&counted);
   assert_int_equal(counted.stats.counts.lsu, 8);
   assert_int_equal(counted.stats.counts.lines, 4);
   assert_int_equal(counted.stats.requested_B, 16);
   end(&counted);
}

/* Code of `body` instructions of 8 bytes in a loop that runs `times`. The head has 10 bytes,
 * the loop's end 20, pop_exec and stop 8. */
static void run_loop(struct counted *counted, unsigned body, unsigned times)
{
   static const char filler[] = "isub d=r2 a=r1 b=1\n";
   char *text = calloc(body + 20, sizeof(filler));
   assert_non_null(text);
   char *at = text + sprintf(text, "ldimm16 d=r0l imm=0\nldimm32 d=r1 imm=%u\nagain:\n", times);
   for (unsigned i = 0; i < body; i++) {
      memcpy(at, filler, sizeof(filler) - 1);
      at += sizeof(filler) - 1;
   }
   strcpy(at, "isub d=r1 a=r1 b=1\nwhile_icmp a=r1 b=0 nest=1 cond=ugt\njmp_any offset=@again\n"
              "pop_exec nest=1");
   begin(counted, text);
   run(counted);
   free(text);
   assert_int_equal(counted->stats.counts.issue, 2 + times * (body + 3) + 2);
   /* The first use of r1, and in each round while_icmp, which waits for isub. */
   assert_int_equal(counted->stats.counts.stall, 1 + 2 * times);
}

/* 10 + 1530 * 8 + 28 = 12278 bytes are 96 lines: all of them stay. With 10 more the loop has
 * 97, with 1585 it has 100, and each round but the first misses every line. */
static void fetches_long_loops_again(void **state)
{
   static const struct {
      unsigned body, times, lines, misses;
   } cases[] = {
      {1530, 3, 96, 0},
      {1540, 1, 97, 0},
      {1540, 3, 97, 2 * 97},
      {1585, 2, 100, 100},
   };
   for (size_t i = 0; i < AGX_COUNT(cases); i++) {
      struct counted counted;
      run_loop(&counted, cases[i].body, cases[i].times);
      assert_int_equal(counted.stats.counts.code_lines, cases[i].lines);
      assert_int_equal(counted.stats.counts.refetch, cases[i].misses * 16);
      struct agxs_model m = model(&counted);
      assert_cycles(m.cold, cases[i].lines * 16 * 4);
      assert_cycles(m.term[AGXS_TERM_REFETCH], cases[i].misses * 16);
      end(&counted);
   }
}

/* The first of two SIMD-groups skips four instructions. Both: ldimm 0; mfsr 1; if 2+1; jmp 4.
 * The first: pop 5; stop 6. The second: four ldimm 5 to 8; pop 9; stop 10. */
static void keeps_the_longest_group(void **state)
{
   struct counted counted;
   begin(&counted, "ldimm16 d=r0l imm=0\n"
                   "mfsr d=r1 sr=simdgroup_index_in_threadgroup\n"
                   "if_icmp a=r1 b=1 nest=1 cond=ieq\n"
                   "jmp_none offset=@end\n"
                   "ldimm32 d=r5 imm=1; ldimm32 d=r6 imm=1; ldimm32 d=r7 imm=1\n"
                   "ldimm32 d=r8 imm=1\n"
                   "end:\n"
                   "pop_exec nest=1");
   counted.launch.grid[0] = counted.launch.local[0] = 64;
   run(&counted);
   expect(&counted, (struct sums){16, 2, 0, 0, 0});
   assert_int_equal(counted.stats.counts.longest, 11);
   assert_int_equal(counted.stats.counts.simd_groups, 2);
   struct agxs_model m = model(&counted);
   assert_cycles(m.term[AGXS_TERM_ISSUE], 16);      /* 16 / (4 * 1) */
   assert_cycles(m.term[AGXS_TERM_LATENCY], 4 * 9); /* 18 / 2 */
   assert_cycles(m.term[AGXS_TERM_LONGEST], 4 * 11);
   assert_int_equal(m.bound, AGXS_TERM_LONGEST);
   end(&counted);
}

/* A barrier is an issue slot, and no group's clock waits for the other's. Each of two groups:
 * mfsr 0; lstore 1+1; barrier 3; lload 4 until 34; iadd 5+29; stop 35. */
static void goes_on_after_a_barrier(void **state)
{
   struct counted counted;
   begin(&counted, "mfsr d=r1 sr=thread_index_in_threadgroup\n"
                   "lstore r=r1 base=none index=r1l format=i32 mask=x\n"
                   "barrier\n"
                   "lload r=r2 base=none index=5 format=i32 mask=x\n"
                   "iadd d=r3 a=r2 b=1");
   counted.launch.grid[0] = counted.launch.local[0] = 64;
   counted.launch.shared_bytes = 256;
   run(&counted);
   expect(&counted, (struct sums){12, 60, 0, 4, 0});
   assert_int_equal(counted.stats.counts.longest, 36);
   assert_int_equal(counted.stats.classes[AGXS_CLASS_BARRIER], 2);
   end(&counted);
}

/* A line counts once in each workgroup, whichever of its groups touches it, and once in
 * each instruction for the load-store unit. Three workgroups of two groups, the last with
 * 40 of 64 threads: 4 groups with 32 lanes, one with 32, one with 8. */
static void counts_lines_per_workgroup(void **state)
{
   struct counted counted;
   begin(&counted, "load r=r4 base=du0 index=0 format=i32 mask=x group=a\n"
                   "load r=r5 base=du0 index=32 format=i32 mask=x group=a");
   counted.launch.local[0] = 64;
   counted.launch.grid[0] = 2 * 64 + 40;
   run(&counted);
   const struct agxs_counts *counts = &counted.stats.counts;
   assert_int_equal(counts->workgroups, 3);
   assert_int_equal(counts->simd_groups, 6);
   assert_int_equal(counts->threads, 168);
   assert_int_equal(counts->lines, 3 * 2);
   assert_int_equal(counts->lsu, 6 * 2 * 2);
   assert_int_equal(counted.stats.requested_B, 168 * 2 * 4);
   assert_int_equal(counted.stats.lanes_active, 168 * 3);
   assert_int_equal(counted.stats.lanes_existing, 168 * 3);
   assert_int_equal(counted.stats.partial, 0);
   end(&counted);
}

/* More lines than the first table of them holds: 1024 threads, each with two lines of its
 * own, in each of two workgroups; every SIMD-group touches 32 lines at a time. */
static void counts_many_lines(void **state)
{
   struct counted counted;
   begin(&counted, "mfsr d=r1 sr=thread_index_in_threadgroup\n"
                   "shl d=r1 b=r1 c=5\n"
                   "load r=r4 base=du0 index=r1 format=i32 mask=x group=a\n"
                   "iadd d=r2 a=r1 b=u20\n"
                   "load r=r5 base=du0 index=r2 format=i32 mask=x group=a\n"
                   "load r=r6 base=du0 index=r1 format=i32 mask=x group=a");
   counted.launch.local[0] = 1024;
   counted.launch.grid[0] = 2048;
   counted.launch.uniform[10] = 0x8000; /* words: 128 KiB */
   run(&counted);
   assert_int_equal(counted.stats.counts.lines, 2 * 2048);
   assert_int_equal(counted.stats.counts.lsu, 64 * 3 * 64);
   assert_int_equal(counted.stats.line_accesses, 64 * 3 * 32);
   end(&counted);
}

/* The same kernel, sixteen workgroups of it on an M1: 8 cores. */
static void spreads_over_cores(void **state)
{
   struct counted counted;
   begin(&counted, "load r=r4 base=du0 index=0 format=i32 mask=x group=a\n"
                   "wait group=a\n"
                   "fadd d=r5 a=r4 b=1.0\n"
                   "store r=r5 base=du4 index=0 format=i32 mask=x group=a");
   counted.launch.grid[0] = 16 * 32;
   run(&counted);
   const struct agxs_counts *counts = &counted.stats.counts;
   struct agxs_model m = model(&counted);
   assert_int_equal(m.cores, 8);
   assert_int_equal(m.occupancy, 32);
   assert_int_equal(m.concurrency, 16);
   assert_cycles(m.term[AGXS_TERM_ISSUE], 10);       /* 16 * 5 / 32 = 2.5 */
   assert_cycles(m.term[AGXS_TERM_LSU], 4 * 8);      /* 16 * 4 / 8 */
   assert_cycles(m.term[AGXS_TERM_TRAFFIC], 4 * 16); /* 16 * 256 / (32 * 8) */
   assert_cycles(m.term[AGXS_TERM_LATENCY], 4 * 206);
   assert_cycles(m.main, 4 * 222);
   /* For a race: 32 * 8 groups, 16 times the grid. */
   assert_int_equal(agxs_model_repeats(counts, counted.stats.chip), 16);
   m = agxs_model(counts, counted.stats.chip, 16);
   assert_int_equal(m.concurrency, 256);
   assert_cycles(m.term[AGXS_TERM_LSU], 4 * 128);
   assert_cycles(m.term[AGXS_TERM_TRAFFIC], 4 * 256);
   assert_cycles(m.term[AGXS_TERM_LATENCY], 4 * 206);
   assert_int_equal(m.bound, AGXS_TERM_TRAFFIC);
   assert_cycles(m.main, 4 * 272);
   /* On an M1 Ultra the sixteen workgroups take 16 of 64 cores. */
   m = agxs_model(counts, agx_chip_find("g13d"), 1);
   assert_int_equal(m.cores, 16);
   assert_cycles(m.term[AGXS_TERM_LSU], 4 * 4);
   assert_int_equal(agxs_model_repeats(counts, agx_chip_find("g13d")), 128);
   end(&counted);
}

/* 32 groups on one core, each: mfsr 0; rcp 1+1; 3; 4; 5; stop 6: 6 + 1, 24 of the pipe. */
static void is_bound_by_the_shared_pipe(void **state)
{
   struct counted counted;
   begin(&counted, "mfsr d=r1 sr=thread_index_in_simdgroup\n"
                   "rcp d=r2 a=r1; rcp d=r3 a=r1; rcp d=r4 a=r1; rcp d=r5 a=r1");
   counted.launch.grid[0] = counted.launch.local[0] = 1024;
   run(&counted);
   expect(&counted, (struct sums){32 * 6, 32, 32 * 24, 0, 0});
   struct agxs_model m = model(&counted);
   assert_cycles(m.term[AGXS_TERM_ISSUE], 192);       /* 32 * 6 / 4 */
   assert_cycles(m.term[AGXS_TERM_COMPLEX], 4 * 192); /* 32 * 24 / 4 */
   assert_cycles(m.term[AGXS_TERM_LATENCY], 4 * 7);   /* 32 * 7 / 32 */
   assert_int_equal(m.bound, AGXS_TERM_COMPLEX);
   assert_cycles(m.main, 4 * (192 + 16));
   end(&counted);
}

/* 40 workgroups of two groups with 20 KiB and 256 halves: 3 workgroups a core, 48 groups at a
 * time on 8 cores. Each group: mfsr 0; lstore 1+1; stop 3: T = 4. 80 * 4 / 48. */
static void fills_cores_by_occupancy(void **state)
{
   struct counted counted;
   begin(&counted, "mfsr d=r1 sr=thread_index_in_threadgroup\n"
                   "lstore r=r1 base=none index=r1l format=i32 mask=x");
   counted.launch.local[0] = 64;
   counted.launch.grid[0] = 40 * 64;
   counted.launch.halves = 248;
   counted.launch.shared_bytes = 20480;
   run(&counted);
   assert_int_equal(counted.stats.counts.gpr_halves, 248);
   assert_int_equal(counted.stats.counts.shared_B, 20480);
   struct agxs_model m = model(&counted);
   assert_int_equal(m.occupancy, 6);
   assert_int_equal(m.concurrency, 48);
   assert_int_equal((int)(m.term[AGXS_TERM_LATENCY] * 3), 20);
   end(&counted);
}

/* load 0; wait 1+199; iadd 201; uniform_store 202+2; stop 205: 206, once, and no code lines. */
static void adds_the_preamble_to_the_total(void **state)
{
   struct counted counted;
   begin(&counted, "mfsr d=r1 sr=thread_index_in_simdgroup");
   counted.launch.preamble = "load r=r1 base=du0 index=0 format=i32 mask=x group=a\n"
                             "wait group=a\n"
                             "iadd d=r1 a=r1 b=5\n"
                             "uniform_store u=u20 r=r1";
   counted.launch.grid[0] = 4 * 32;
   sim_map(&counted.launch.memory, SIM_DATA, 0x4000, true);
   assert_ok(sim_launch_run(&counted.launch));
   expect(&counted, (struct sums){8, 0, 0, 0, 0});
   assert_int_equal(counted.stats.counts.preamble, 206);
   struct agxs_model m = model(&counted);
   assert_cycles(m.main, 4 * (2 + 16));
   assert_cycles(m.total, 4 * (2 + 16 + 206));
   m = agxs_model(&counted.stats.counts, counted.stats.chip, 1000);
   assert_cycles(m.total - m.main, 4 * 206);
   end(&counted);
}

static const char *const mixed = "ldimm16 d=r0l imm=0\n"
                                 "mfsr d=r1 sr=thread_in_grid_x\n"
                                 "mfsr d=r2 sr=thread_index_in_threadgroup\n"
                                 "load r=r3 base=du0 index=r1 format=i32 mask=x group=a\n"
                                 "lstore r=r1 base=none index=r2l format=i32 mask=x\n"
                                 "barrier\n"
                                 "and d=r4 a=r1 b=96\n"
                                 "if_icmp a=r4 b=32 nest=1 cond=ieq\n"
                                 "jmp_none offset=@end\n"
                                 "rcp d=r5 a=r1\n"
                                 "wait group=a\n"
                                 "iadd d=r3 a=r3 b=7\n"
                                 "end:\n"
                                 "pop_exec nest=1\n"
                                 "wait group=a\n"
                                 "store r=r3 base=du4 index=r1 format=i32 mask=x group=a";

/* The same numbers and the same memory, whatever the number of threads, and the same
 * memory without counting. */
static void counts_the_same_on_any_number_of_threads(void **state)
{
   struct agxs_dispatch_stats first = {0};
   struct agxs_spot spots[MAX_SPOTS];
   static uint8_t memory[0x4000], code[1024];
   size_t length = sim_assemble(mixed, code, sizeof(code));
   assert_true(length > 0);
   for (unsigned threads = 0; threads <= 4; threads++) {
      struct counted counted;
      begin(&counted, mixed);
      counted.launch.options.check = false; /* a load is in flight at the barrier */
      counted.launch.options.profile = threads > 0;
      counted.launch.options.thread_count = threads;
      counted.launch.local[0] = 96;
      counted.launch.grid[0] = 4000;
      counted.launch.shared_bytes = 512;
      uint8_t *in = sim_map(&counted.launch.memory, SIM_DATA, 0x4000, true);
      const uint8_t *out = sim_map(&counted.launch.memory, SIM_DATA + OUT, 0x4000, true);
      for (unsigned i = 0; i < 0x4000; i++)
         in[i] = (uint8_t)(i * 7);
      assert_ok(sim_launch_run(&counted.launch));
      assert_int_equal(counted.dispatches, threads > 0);
      if (threads == 0)
         memcpy(memory, out, sizeof(memory));
      assert_memory_equal(memory, out, sizeof(memory));
      if (threads == 1) {
         first = counted.stats;
         memcpy(spots, counted.spots, sizeof(spots));
      }
      if (threads > 1) {
         assert_memory_equal(&first.counts, &counted.stats.counts, sizeof(first.counts));
         assert_memory_equal(first.units, counted.stats.units, sizeof(first.units));
         assert_int_equal(first.wait_stall, counted.stats.wait_stall);
         assert_int_equal(first.lanes_active, counted.stats.lanes_active);
         assert_int_equal(first.spot_count, counted.stats.spot_count);
         assert_memory_equal(spots, counted.spots, first.spot_count * sizeof(*spots));
      }
      end(&counted);
   }
}

static void is_silent_about_failures(void **state)
{
   struct counted counted;
   begin(&counted, "load r=r4 base=du8 index=0 format=i32 mask=x group=a");
   assert_fails(sim_launch_run(&counted.launch), AGX_DATA_LOSS, "is not mapped so");
   assert_int_equal(counted.dispatches, 0);
   end(&counted);
   begin(&counted, "load r=r4 base=du0 index=0 format=i32 mask=x group=a\nmov d=r5 a=r4");
   sim_map(&counted.launch.memory, SIM_DATA, 0x4000, true);
   assert_fails(sim_launch_run(&counted.launch), AGX_FAILED_PRECONDITION, "r4l is read");
   assert_int_equal(counted.dispatches, 0);
   end(&counted);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(counts_the_worked_example),
      cmocka_unit_test(counts_one_group),
      cmocka_unit_test(tells_waits_that_met),
      cmocka_unit_test(skips_what_a_jump_skips),
      cmocka_unit_test(counts_active_lanes_only),
      cmocka_unit_test(fetches_long_loops_again),
      cmocka_unit_test(keeps_the_longest_group),
      cmocka_unit_test(goes_on_after_a_barrier),
      cmocka_unit_test(counts_lines_per_workgroup),
      cmocka_unit_test(counts_many_lines),
      cmocka_unit_test(spreads_over_cores),
      cmocka_unit_test(is_bound_by_the_shared_pipe),
      cmocka_unit_test(fills_cores_by_occupancy),
      cmocka_unit_test(adds_the_preamble_to_the_total),
      cmocka_unit_test(counts_the_same_on_any_number_of_threads),
      cmocka_unit_test(is_silent_about_failures),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
