/* SPDX-License-Identifier: MIT
 *
 * Streams through agxs_run_compute: the worked example, grids, preambles, and
 * streams that are wrong.
 */
#include "sim_support.h"

#include <string.h>
#include <time.h>

/* Source: docs/hw/cmdstream.md 3 (ran on M1). */
static const uint8_t example_usc[] = {
   0x1d, 0x00, 0xc0, 0x00, 0x00, 0x00, 0x00, 0x20, 0x4d, 0x90, 0x00, 0x00,
   0x0d, 0x0c, 0x00, 0x40, 0x00, 0x00, 0x8d, 0x01, 0x00, 0x00, 0x88, 0x00,
};
static const uint8_t example_code[] = {
   0x72, 0x01, 0x10, 0x04, 0x05, 0x09, 0x08, 0x0e, 0x00, 0xc0, 0x12, 0x00, 0x05, 0x11,
   0x04, 0x4e, 0x00, 0xc0, 0x12, 0x00, 0x38, 0x00, 0x38, 0x01, 0x2a, 0x85, 0xc2, 0x42,
   0x2c, 0x00, 0x45, 0x09, 0x00, 0x0e, 0x00, 0xc0, 0x12, 0x00, 0x88, 0x00,
};
static const uint32_t example_stream[] = {
   0x00000002, 0x00008000, 4, 1, 1, 4, 1, 1, 0x600fffff, 0x40000000, 0,
};

static void put_words(uint8_t *to, const uint32_t *words, size_t count)
{
   for (size_t i = 0; i < count; i++)
      agxs_put_le32(to + 4 * i, words[i]);
}

static void put_address(uint8_t *to, uint64_t va)
{
   agxs_put_le32(to, (uint32_t)va);
   agxs_put_le32(to + 4, (uint32_t)(va >> 32));
}

static void runs_the_worked_example(void **state)
{
   static const struct agx_chip chip = {.name = "g13g"};
   struct sim_memory memory;
   sim_memory_init(&memory);
   memcpy(sim_map(&memory, 0x1100004000, 0x4000, false), example_code, sizeof(example_code));
   memcpy(sim_map(&memory, 0x1100008000, 0x4000, false), example_usc, sizeof(example_usc));
   uint8_t *uniforms = sim_map(&memory, 0x2000000000, 0x4000, false);
   put_words(sim_map(&memory, 0x2000004000, 0x4000, false), example_stream, 11);
   uint8_t *a = sim_map(&memory, 0x2000008000, 0x4000, false);
   uint8_t *b = sim_map(&memory, 0x200000c000, 0x4000, false);
   uint8_t *out = sim_map(&memory, 0x2000010000, 0x4000, true);
   put_address(uniforms, 0x2000010000);
   put_address(uniforms + 8, 0x200000c000);
   put_address(uniforms + 16, 0x2000008000);
   for (unsigned i = 0; i < 4; i++) {
      float x = (float)(i + 1), y = (float)(10 * (i + 1));
      uint32_t bits[2];
      memcpy(&bits[0], &x, 4);
      memcpy(&bits[1], &y, 4);
      agxs_put_le32(a + 4 * i, bits[0]);
      agxs_put_le32(b + 4 * i, bits[1]);
   }
   struct agxs_options options = {.strict = true, .check = true, .thread_count = 1};
   struct agxs_stats stats;
   assert_ok(
      agxs_run_compute(&chip, &memory.interface, &options, 0x1100000000, 0x2000004000, &stats));
   const uint32_t expected[5] = {0x41300000, 0x41b00000, 0x42040000, 0x42300000, 0};
   for (unsigned i = 0; i < 5; i++)
      assert_int_equal(agxs_get_le32(out + 4 * i), expected[i]); /* 11, 22, 33, 44, untouched */
   assert_int_equal(stats.dispatches, 1);
   assert_int_equal(stats.workgroups, 1);
   assert_int_equal(stats.simd_groups, 1);
   assert_int_equal(stats.threads, 4);
   assert_int_equal(stats.instructions, 8);
   assert_int_equal(stats.unit_instructions[AGX_ISA_UNIT_MEM], 3);
   assert_int_equal(stats.unit_instructions[AGX_ISA_UNIT_F32], 1);
   sim_memory_fini(&memory);
}

/* Every thread adds 1 + its flat position at out[position]; u0:u1 = out. */
static const char *const count_program =
   "mfsr d=r1 sr=thread_in_grid_x\n"
   "mfsr d=r2 sr=thread_in_grid_y\n"
   "mfsr d=r3 sr=thread_in_grid_z\n"
   "imadd d=r4 a=r3 b=u2 c=r2\n" /* z * height + y */
   "imadd d=r4 a=r4 b=u3 c=r1\n" /* ... * width + x */
   "iadd d=r5 a=r4 b=1\n"
   "atomic r=none s=r5 base=du0 index=r4 op=add coherency=coherent1 group=a";

static void begin_count(struct sim_launch *launch, uint32_t x, uint32_t y, uint32_t z, uint32_t lx,
                        uint32_t ly, uint32_t lz)
{
   const uint32_t grid[3] = {x, y, z}, local[3] = {lx, ly, lz};
   sim_launch_init(launch, count_program);
   memcpy(launch->grid, grid, sizeof(grid));
   memcpy(launch->local, local, sizeof(local));
   launch->options.check = true;
   launch->uniform[0] = SIM_DATA;
   launch->uniform[1] = y | (uint64_t)x << 32;
}

static void check_count(const uint8_t *out, uint32_t threads)
{
   for (uint32_t i = 0; i < threads; i++)
      assert_int_equal(agxs_get_le32(out + 4 * i), i + 1);
   assert_int_equal(agxs_get_le32(out + 4 * threads), 0);
}

static void runs_every_thread_once(void **state)
{
   static const uint32_t sizes[][6] = {
      {1, 1, 1, 1, 1, 1},   {32, 1, 1, 32, 1, 1},  {100, 1, 1, 64, 1, 1}, /* partial */
      {40, 30, 3, 8, 8, 2}, {17, 5, 7, 4, 4, 4},   {1024, 2, 1, 1024, 1, 1},
      {33, 1, 1, 33, 1, 1}, {5, 5, 5, 10, 10, 10}, {257, 9, 1, 16, 16, 1},
   };
   for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
      const uint32_t *s = sizes[i];
      struct sim_launch launch;
      begin_count(&launch, s[0], s[1], s[2], s[3], s[4], s[5]);
      uint8_t *out = sim_map(&launch.memory, SIM_DATA, 0x10000, true);
      assert_ok(sim_launch_run(&launch));
      check_count(out, s[0] * s[1] * s[2]);
      assert_int_equal(launch.stats.threads, s[0] * s[1] * s[2]);
      sim_launch_fini(&launch);
   }
}

static void runs_nothing_for_an_empty_grid(void **state)
{
   struct sim_launch launch;
   begin_count(&launch, 4, 0, 1, 1, 1, 1);
   assert_ok(sim_launch_run(&launch));
   assert_int_equal(launch.stats.threads, 0);
   assert_int_equal(launch.stats.dispatches, 1);
   sim_launch_fini(&launch);
   begin_count(&launch, 4, 1, 1, 1, 1, 1);
   launch.options.no_execute = true;
   assert_ok(sim_launch_run(&launch));
   assert_int_equal(launch.stats.threads, 0);
   sim_launch_fini(&launch);
}

/* Each SIMD-group writes its part, the barrier, then every thread reads its mirror's,
 * twice over, so that a group that ran ahead would be seen. */
static void holds_groups_at_barriers(void **state)
{
   struct sim_launch launch;
   sim_launch_init(&launch, "mfsr d=r1 sr=thread_index_in_threadgroup\n"
                            "mfsr d=r2 sr=threadgroup_in_grid_x\n"
                            "mfsr d=r6 sr=simdgroup_index_in_threadgroup\n"
                            "imadd d=r3 a=r2 b=200 c=r1\n" /* 200 * group + thread */
                            "lstore r=r3 base=none index=r1l format=i32 mask=x\n"
                            "barrier\n"
                            "ldimm32 d=r4 imm=255\n"
                            "isub d=r4 a=r4 b=r1\n"
                            "lload r=r5 base=none index=r4l format=i32 mask=x\n"
                            "barrier\n"
                            "iadd d=r5 a=r5 b=r6\n"
                            "lstore r=r5 base=none index=r1l format=i32 mask=x\n"
                            "barrier\n"
                            "lload r=r5 base=none index=r4l format=i32 mask=x\n"
                            "imadd d=r3 a=r2 b=u2l c=r1\n"
                            "store r=r5 base=du0 index=r3 format=i32 mask=x group=a");
   launch.grid[0] = 5 * 256, launch.local[0] = 256;
   launch.shared_bytes = 1024;
   launch.options.check = true;
   launch.uniform[0] = SIM_DATA;
   launch.uniform[1] = 256;
   const uint8_t *out = sim_map(&launch.memory, SIM_DATA, 0x4000, true);
   assert_ok(sim_launch_run(&launch));
   for (uint32_t g = 0; g < 5; g++) {
      for (uint32_t t = 0; t < 256; t++)
         assert_int_equal(agxs_get_le32(out + 4 * (256 * g + t)), 200 * g + t + (255 - t) / 32);
   }
   assert_int_equal(launch.stats.workgroups, 5);
   assert_int_equal(launch.stats.simd_groups, 40);
   assert_int_equal(launch.stats.instructions, 40 * 17);
   sim_launch_fini(&launch);
}

/* Groups that stop early do not hold the others up. */
static void lets_groups_end_before_a_barrier(void **state)
{
   struct sim_launch launch;
   sim_launch_init(&launch,
                   "ldimm16 d=r0l imm=0\n"
                   "mfsr d=r1 sr=simdgroup_index_in_threadgroup\n"
                   "if_icmp a=r1 b=1 nest=1 cond=ieq\n"
                   "jmp_none offset=@wait\n"
                   "stop\n"
                   "wait:\n"
                   "pop_exec nest=1\n"
                   "barrier\n"
                   "atomic r=none s=r1 base=du0 index=0 op=add coherency=coherent1 group=a");
   launch.grid[0] = launch.local[0] = 128;
   launch.uniform[0] = SIM_DATA;
   const uint8_t *out = sim_map(&launch.memory, SIM_DATA, 0x4000, true);
   assert_ok(sim_launch_run(&launch));
   assert_int_equal(agxs_get_le32(out), 32 * (0 + 2 + 3));
   sim_launch_fini(&launch);
}

/* The first SIMD-group spins on a flag that the last one sets: both get their turns. */
static void lets_groups_wait_for_each_other(void **state)
{
   struct sim_launch launch;
   sim_launch_init(&launch, "ldimm16 d=r0l imm=0\n"
                            "mfsr d=r1 sr=simdgroup_index_in_threadgroup\n"
                            "if_icmp a=r1 b=3 nest=1 cond=ieq\n"
                            "mov d=r2 a=7\n"
                            "store r=r2 base=du0 index=0 format=i32 mask=x group=a\n"
                            "pop_exec nest=1\n"
                            "top:\n"
                            "load r=r3 base=du0 index=0 format=i32 mask=x group=a\n"
                            "wait group=a\n"
                            "while_icmp a=r3 b=7 nest=1 cond=ine\n"
                            "jmp_any offset=@top\n"
                            "pop_exec nest=1\n"
                            "iadd d=r1 a=r1 b=1\n"
                            "store r=r3 base=du0 index=r1 format=i32 mask=x group=a");
   launch.grid[0] = launch.local[0] = 128;
   launch.options.max_instructions_per_group = 3000000;
   launch.uniform[0] = SIM_DATA;
   const uint8_t *out = sim_map(&launch.memory, SIM_DATA, 0x4000, true);
   assert_ok(sim_launch_run(&launch));
   for (uint32_t group = 0; group < 4; group++)
      assert_int_equal(agxs_get_le32(out + 4 * group + 4), 7);
   sim_launch_fini(&launch);
}

static void runs_a_preamble_first(void **state)
{
   struct sim_launch launch;
   sim_launch_init(&launch, "mfsr d=r1 sr=thread_in_grid_x\n"
                            "iadd d=r2 a=r1 b=u20\n"
                            "store r=r2 base=du0 index=r1 format=i32 mask=x group=a");
   launch.preamble = "load r=r1 base=du2 index=0 format=i32 mask=x group=a\n"
                     "wait group=a\n"
                     "iadd d=r1 a=r1 b=5\n"
                     "uniform_store u=u20 r=r1";
   launch.grid[0] = launch.local[0] = 64;
   launch.options.check = true;
   launch.uniform[0] = SIM_DATA;
   launch.uniform[1] = SIM_DATA + 0x100000;
   const uint8_t *out = sim_map(&launch.memory, SIM_DATA, 0x4000, true);
   agxs_put_le32(sim_map(&launch.memory, SIM_DATA + 0x100000, 0x4000, false), 1000);
   assert_ok(sim_launch_run(&launch));
   for (uint32_t i = 0; i < 64; i++)
      assert_int_equal(agxs_get_le32(out + 4 * i), 1005 + i);
   assert_int_equal(launch.stats.threads, 64);
   assert_int_equal(launch.stats.instructions, 5 + 2 * 4);
   sim_launch_fini(&launch);
   /* What it may not do. */
   sim_launch_init(&launch, "mov d=r1 a=0");
   launch.preamble = "barrier";
   assert_fails(sim_launch_run(&launch), AGX_INVALID_ARGUMENT, "preamble pc 0x14000: barrier");
   sim_launch_fini(&launch);
}

static void spills_to_a_stack(void **state)
{
   struct sim_launch launch;
   sim_launch_init(&launch, "stack_adjust index=12\n"
                            "mfsr d=r1 sr=thread_in_grid_x\n"
                            "stack_store r=r1 index=4 format=i32 mask=x group=a\n"
                            "wait group=a\n"
                            "stack_load r=r2 index=4 format=i32 mask=x group=a\n"
                            "wait group=a\n"
                            "store r=r2 base=du0 index=r1 format=i32 mask=x group=a");
   launch.grid[0] = 200, launch.local[0] = 100;
   launch.options.check = true;
   launch.uniform[0] = SIM_DATA;
   launch.spill_code = 2; /* 16 words */
   const uint8_t *out = sim_map(&launch.memory, SIM_DATA, 0x4000, true);
   assert_ok(sim_launch_run(&launch));
   for (uint32_t i = 0; i < 200; i++)
      assert_int_equal(agxs_get_le32(out + 4 * i), i);
   sim_launch_fini(&launch);
   sim_launch_init(&launch, "stack_adjust index=12");
   launch.spill_code = 1; /* 8 words */
   assert_fails(sim_launch_run(&launch), AGX_DATA_LOSS, "stack pointer 12 outside of the 8 words");
   sim_launch_fini(&launch);
}

static void keeps_to_limits(void **state)
{
   static const struct {
      uint32_t local[3], halves, shared;
      const char *text;
   } rows[] = {
      {{32, 32, 2}, 32, 0, "2048 threads in a workgroup"},
      {{0, 1, 1}, 32, 0, "local size 0,1,1"},
      {{1025, 1, 1}, 32, 0, "local size 1025,1,1"},
      {{1024, 1, 1},
       112,
       0,
       "1024 threads in a workgroup, but 112 register halves leave room for 896"},
      {{32, 1, 1}, 32, 33024, "33024 bytes of threadgroup memory"},
   };
   for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
      struct sim_launch launch;
      sim_launch_init(&launch, "mov d=r1 a=0");
      memcpy(launch.local, rows[i].local, sizeof(launch.local));
      memcpy(launch.grid, rows[i].local, sizeof(launch.grid));
      launch.halves = rows[i].halves;
      launch.shared_bytes = rows[i].shared;
      assert_fails(sim_launch_run(&launch), AGX_INVALID_ARGUMENT, rows[i].text);
      sim_launch_fini(&launch);
   }
   struct sim_launch launch;
   sim_launch_init(&launch, "mov d=r1 a=0");
   launch.grid[0] = launch.grid[1] = 0xffffffff;
   launch.options.max_workgroups = 1000000;
   assert_fails(sim_launch_run(&launch), AGX_DEADLINE_EXCEEDED, "more than 1000000 workgroups");
   sim_launch_fini(&launch);
   atomic_bool cancel = true;
   sim_launch_init(&launch, "mov d=r1 a=0");
   launch.options.cancel = &cancel;
   assert_fails(sim_launch_run(&launch), AGX_CANCELLED, "cancelled");
   sim_launch_fini(&launch);
   sim_launch_init(&launch, "top:\njmp_any offset=@top");
   launch.options.max_instructions_per_group = 500;
   assert_fails(sim_launch_run(&launch), AGX_DEADLINE_EXCEEDED, "more instructions than");
   assert_int_equal(launch.stats.instructions, 500);
   sim_launch_fini(&launch);
   for (uint64_t chaos = 0; chaos < 2; chaos++) {
      struct timespec now;
      clock_gettime(CLOCK_MONOTONIC, &now);
      sim_launch_init(&launch, "top:\njmp_any offset=@top");
      launch.options.chaos_seed = chaos;
      launch.options.deadline_ns = now.tv_sec * 1000000000ll + now.tv_nsec + 20000000;
      assert_fails(sim_launch_run(&launch), AGX_DEADLINE_EXCEEDED, "over the time limit");
      sim_launch_fini(&launch);
   }
}

/* A stream of given words after a launch was set up; words[] replaces the stream. */
static agx_status run_words(struct sim_launch *launch, const uint32_t *words, size_t count)
{
   static const struct agx_chip chip = {.name = "g13g"};
   struct agxs_options empty = launch->options;
   launch->options.no_execute = true;
   assert_ok(sim_launch_run(launch));
   launch->options = empty;
   uint8_t *stream = sim_map(&launch->memory, SIM_STREAM + 0x8000, 0x4000, false);
   put_words(stream, words, count);
   return agxs_run_compute(&chip, &launch->memory.interface, &launch->options, SIM_USC_BASE,
                           SIM_STREAM + 0x8000, &launch->stats);
}

#define BARRIER   0x600fffffu
#define TERMINATE 0x40000000u, 0
#define HIGH      (uint32_t)(SIM_STREAM >> 32)
#define AT(bytes) (uint32_t)(SIM_STREAM + 0x8000 + (bytes))

static void takes_sizes_from_memory(void **state)
{
   struct sim_launch launch;
   /* 5 workgroups of 8; then 43 threads in workgroups of 8. */
   const uint32_t words[] = {4 | 1 << 27, SIM_WORDS, HIGH,        AT(60),    8,    1,
                             1,           BARRIER,   4 | 2 << 27, SIM_WORDS, HIGH, AT(60 + 12),
                             BARRIER,     TERMINATE, 5,           1,         1,    43,
                             1,           1,         8,           1,         1};
   begin_count(&launch, 1, 1, 1, 1, 1, 1);
   uint8_t *out = sim_map(&launch.memory, SIM_DATA, 0x4000, true);
   assert_ok(run_words(&launch, words, sizeof(words) / 4));
   assert_int_equal(launch.stats.dispatches, 2);
   assert_int_equal(launch.stats.workgroups, 5 + 6);
   assert_int_equal(launch.stats.threads, 40 + 43);
   assert_int_equal(agxs_get_le32(out + 4 * 39), 80);
   assert_int_equal(agxs_get_le32(out + 4 * 42), 43);
   assert_int_equal(agxs_get_le32(out + 4 * 43), 0);
   sim_launch_fini(&launch);
}

static void follows_links_calls_and_returns(void **state)
{
   struct sim_launch launch;
   /* 0: call 40; 8: call 76; 16: link 24; 24: terminate; 40: launch, return; 76: barrier
    * with return. */
   const uint32_t words[] = {1u << 29 | 1u << 28 | HIGH,
                             AT(40),
                             1u << 29 | 1u << 28 | HIGH,
                             AT(80),
                             1u << 29 | HIGH,
                             AT(24),
                             TERMINATE,
                             0,
                             0,
                             4,
                             SIM_WORDS,
                             1,
                             1,
                             1,
                             1,
                             1,
                             1,
                             4u << 29,
                             0,
                             BARRIER | 1u << 27};
   begin_count(&launch, 1, 1, 1, 1, 1, 1);
   sim_map(&launch.memory, SIM_DATA, 0x4000, true);
   assert_ok(run_words(&launch, words, sizeof(words) / 4));
   assert_int_equal(launch.stats.dispatches, 1);
   sim_launch_fini(&launch);
}

static void refuses_malformed_streams(void **state)
{
   static const struct {
      uint32_t words[12];
      unsigned count;
      agx_status code;
      const char *text;
   } rows[] = {
      {{5u << 29}, 1, AGX_DATA_LOSS, "block type 5 is none"},
      {{4u << 29, 0}, 2, AGX_DATA_LOSS, "nothing was called"},
      {{4 | 3u << 27, SIM_WORDS}, 2, AGX_DATA_LOSS, "mode 3 is none"},
      {{4 | 1 << 20, SIM_WORDS}, 2, AGX_DATA_LOSS, "CDM Launch Word 0"},
      {{4, SIM_WORDS + 4}, 2, AGX_DATA_LOSS, "CDM Launch Word 1"},
      {{4, 0x80000000, 1, 1, 1, 1, 1, 1}, 8, AGX_DATA_LOSS, "USC words at 0x1180000000"},
      {{4, SIM_CODE, 1, 1, 1, 1, 1, 1}, 8, AGX_DATA_LOSS, "tag 0x62 is none"},
      {{1u << 29 | HIGH, AT(0)}, 2, AGX_RESOURCE_EXHAUSTED, "no end after"},
      {{1u << 29 | 1u << 28 | HIGH, AT(0)}, 2, AGX_RESOURCE_EXHAUSTED, "deeper than"},
      {{1u << 29 | 0x7f, 0}, 2, AGX_DATA_LOSS, "stream at 0x7f00000000: 4 bytes are not mapped"},
      {{4 | 1 << 27, SIM_WORDS, 0x7f, 0, 1, 1, 1}, 7, AGX_DATA_LOSS, "indirect parameters"},
      {{4 | 1 << 27, SIM_WORDS, 0x17f, 0, 1, 1, 1}, 7, AGX_DATA_LOSS, "CDM Indirect"},
      {{4 | 1 << 27, SIM_WORDS, HIGH, AT(28), 16, 1, 1, 0xffffffff, 1, 1},
       10,
       AGX_INVALID_ARGUMENT,
       "exceeds 32 bits"},
   };
   for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
      struct sim_launch launch;
      sim_launch_init(&launch, "ldimm16 d=r0l imm=0");
      assert_fails(run_words(&launch, rows[i].words, rows[i].count), rows[i].code, rows[i].text);
      sim_launch_fini(&launch);
   }
}

/* Two more words after the second, on chips that have them. */
static void knows_the_chips_extra_words(void **state)
{
   static const struct agx_chip chip = {.name = "g14s", .cdm_has_unk_words = true};
   const uint32_t good[] = {4, SIM_WORDS, 0, 0x40000000, 1, 1, 1, 1, 1, 1, TERMINATE};
   struct sim_launch launch;
   sim_launch_init(&launch, "mov d=r1 a=0");
   assert_ok(sim_launch_run(&launch));
   put_words(sim_map(&launch.memory, SIM_STREAM + 0x8000, 0x4000, false), good, 12);
   assert_ok(agxs_run_compute(&chip, &launch.memory.interface, &launch.options, SIM_USC_BASE,
                              SIM_STREAM + 0x8000, NULL));
   assert_fails(agxs_run_compute(&chip, &launch.memory.interface, &launch.options, SIM_USC_BASE,
                                 SIM_STREAM, NULL),
                AGX_DATA_LOSS, "CDM Unk G14X");
   sim_launch_fini(&launch);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(runs_the_worked_example),
      cmocka_unit_test(runs_every_thread_once),
      cmocka_unit_test(runs_nothing_for_an_empty_grid),
      cmocka_unit_test(holds_groups_at_barriers),
      cmocka_unit_test(lets_groups_end_before_a_barrier),
      cmocka_unit_test(lets_groups_wait_for_each_other),
      cmocka_unit_test(runs_a_preamble_first),
      cmocka_unit_test(spills_to_a_stack),
      cmocka_unit_test(keeps_to_limits),
      cmocka_unit_test(takes_sizes_from_memory),
      cmocka_unit_test(follows_links_calls_and_returns),
      cmocka_unit_test(refuses_malformed_streams),
      cmocka_unit_test(knows_the_chips_extra_words),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
