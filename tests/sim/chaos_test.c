/* SPDX-License-Identifier: MIT
 *
 * Chaos runs: what a stream and its kernels order is kept to under every seed, and
 * what they don't is found. Each case runs with its barrier under many seeds and must
 * always be right, and without it and must often be wrong; a seed gives the same run
 * every time, so the counts are not a matter of luck.
 */
#include <stdio.h>
#include <string.h>

#include "agx/sim/launch/launch_impl.h"
#include "base/util.h"
#include "sim_support.h"

#define SEEDS     32u
#define BARRIER   0x600fffffu
#define TERMINATE 0x40000000u
#define DATA_B    0x10000u

struct chaos_run {
   struct sim_memory memory;
   struct agxs_options options;
   struct agxs_stats stats;
   uint8_t *usc, *stream, *data;
   uint32_t words, programs;
   bool skips_barriers;
};

static void put(struct chaos_run *it, uint32_t word)
{
   agxs_put_le32(it->stream + 4 * it->words++, word);
}

/* u0 to u7 are the addresses of four areas of data, 16 KiB apart. */
static void chaos_run_init(struct chaos_run *it)
{
   memset(it, 0, sizeof(*it));
   sim_memory_init(&it->memory);
   it->usc = sim_map(&it->memory, SIM_USC_BASE, 0x100000, false);
   it->stream = sim_map(&it->memory, SIM_STREAM, 0x4000, false);
   it->data = sim_map(&it->memory, SIM_DATA, DATA_B, true);
   uint8_t *uniforms = sim_map(&it->memory, SIM_UNIFORMS, 0x4000, false);
   for (unsigned i = 0; i < 4; i++) {
      uint64_t va = SIM_DATA + i * 0x4000;
      agxs_put_le32(uniforms + 8 * i, (uint32_t)va);
      agxs_put_le32(uniforms + 8 * i + 4, (uint32_t)(va >> 32));
   }
   it->options.strict = it->options.check = true;
   it->options.max_instructions_per_group = 2000000;
}

static void put_code(uint8_t *to, const char *text)
{
   static const uint8_t end[18] = {0x88, 0, 8, 0, 8, 0, 8, 0, 8, 0, 8, 0, 8, 0, 8, 0, 8, 0};
   size_t length = sim_assemble(text, to, 0x1000 - sizeof(end));
   memcpy(to + length, end, sizeof(end));
}

/* Returns what a launch names it by. */
static uint32_t add_program(struct chaos_run *it, const char *text, const char *preamble,
                            uint32_t shared_bytes)
{
   uint32_t base = 0x4000 * ++it->programs, code = base + 0x1000, before = base + 0x2000;
   uint8_t *to = it->usc + base;
   put_code(it->usc + code, text);
   if (preamble)
      put_code(it->usc + before, preamble);
   uint64_t uniform = 0x1d | 32u << 20 | SIM_UNIFORMS >> 2 << 26;
   agxs_put_le32(to, (uint32_t)uniform);
   agxs_put_le32(to + 4, (uint32_t)(uniform >> 32));
   agxs_put_le32(to + 8,
                 shared_bytes ? 0x4d | 1 << 8 | 0x24 << 10 | (shared_bytes / 256) << 24 : 0x904d);
   agxs_put_le32(to + 12, 0x0d | 3 << 10 | (code & 0xffff) << 16);
   agxs_put_le16(to + 16, (uint16_t)(code >> 16));
   agxs_put_le32(to + 18, 0x8d | 4 << 8);
   agxs_put_le32(to + 22, preamble ? 0xc0800038 : 0x88);
   agxs_put_le32(to + 26, before);
   return base;
}

static void launch(struct chaos_run *it, uint32_t program, uint32_t threads, uint32_t local)
{
   const uint32_t words[] = {4, program, threads, 1, 1, local, 1, 1};
   for (unsigned i = 0; i < AGX_COUNT(words); i++)
      put(it, words[i]);
}

static void launch_indirect(struct chaos_run *it, uint32_t program, uint64_t va, uint32_t local)
{
   const uint32_t words[] = {4 | 1 << 27, program, (uint32_t)(va >> 32), (uint32_t)va, local, 1, 1};
   for (unsigned i = 0; i < AGX_COUNT(words); i++)
      put(it, words[i]);
}

static void barrier(struct chaos_run *it)
{
   if (!it->skips_barriers)
      put(it, BARRIER);
}

static agx_status run(struct chaos_run *it, uint64_t seed)
{
   static const struct agx_chip chip = {.name = "g13g"};
   put(it, TERMINATE);
   put(it, 0);
   it->options.chaos_seed = seed;
   return agxs_run_compute(&chip, &it->memory.interface, &it->options, SIM_USC_BASE, SIM_STREAM,
                           &it->stats);
}

static uint32_t data_at(const struct chaos_run *it, unsigned area, unsigned index)
{
   return agxs_get_le32(it->data + area * 0x4000 + 4 * index);
}

/* Runs a case under all seeds; returns how often it came out right. */
static unsigned count_right(void (*build)(struct chaos_run *),
                            bool (*is_right)(const struct chaos_run *), bool skips_barriers)
{
   unsigned right = 0;
   for (uint64_t seed = 1; seed <= SEEDS; seed++) {
      struct chaos_run it;
      chaos_run_init(&it);
      it.skips_barriers = skips_barriers;
      it.options.check = !skips_barriers; /* it finds some of them by itself */
      build(&it);
      assert_ok(run(&it, seed));
      right += is_right(&it);
      sim_memory_fini(&it.memory);
   }
   return right;
}

#define STORE(value, area, index)                                                                  \
   "store r=" value " base=du" area " index=" index " format=i32 mask=x group=a\n"
#define LOAD(to, area, index)                                                                      \
   "load r=" to " base=du" area " index=" index " format=i32 mask=x group=a\nwait group=a\n"
#define THREAD "mfsr d=r1 sr=thread_in_grid_x\n"

/* area 0 [i] = i + 1 */
static const char *const fill = THREAD "iadd d=r2 a=r1 b=1\n" STORE("r2", "0", "r1");
/* area 2 [i] = area 0 [63 - i] */
static const char *const reverse =
   THREAD "isub d=r2 a=63 b=r1\n" LOAD("r3", "0", "r2") STORE("r3", "4", "r1");

static void build_read_after_write(struct chaos_run *it)
{
   launch(it, add_program(it, fill, NULL, 0), 64, 32);
   barrier(it);
   launch(it, add_program(it, reverse, NULL, 0), 64, 32);
}

static bool is_reversed(const struct chaos_run *it)
{
   for (unsigned i = 0; i < 64; i++)
      if (data_at(it, 2, i) != 64 - i)
         return false;
   return true;
}

static void build_write_after_read(struct chaos_run *it)
{
   launch(it, add_program(it, fill, NULL, 0), 64, 32);
   put(it, BARRIER);
   launch(it, add_program(it, reverse, NULL, 0), 64, 32);
   barrier(it);
   launch(it, add_program(it, THREAD "mov d=r2 a=77\n" STORE("r2", "0", "r1"), NULL, 0), 64, 32);
}

static void build_write_after_write(struct chaos_run *it)
{
   launch(it, add_program(it, THREAD "mov d=r2 a=77\n" STORE("r2", "4", "r1"), NULL, 0), 64, 32);
   barrier(it);
   launch(it, add_program(it, THREAD "isub d=r2 a=64 b=r1\n" STORE("r2", "4", "r1"), NULL, 0), 64,
          32);
}

/* The sizes of the second come from the first. */
static void build_indirect(struct chaos_run *it)
{
   static const char *const write_sizes = "mov d=r2 a=2\nmov d=r3 a=1\n" STORE("r2", "2", "0")
      STORE("r3", "2", "1") STORE("r3", "2", "2");
   launch(it, add_program(it, fill, NULL, 0), 64, 32);
   launch(it, add_program(it, write_sizes, NULL, 0), 1, 1);
   barrier(it);
   launch_indirect(it, add_program(it, reverse, NULL, 0), SIM_DATA + 0x4000, 32);
}

/* Each thread reads what the one across the workgroup left in threadgroup memory. */
static void build_threadgroup(struct chaos_run *it)
{
   char text[400];
   snprintf(text, sizeof(text),
            THREAD "isub d=r2 a=64 b=r1\n"
                   "lstore r=r2 base=none index=r1l format=i32 mask=x\n"
                   "%s"
                   "iadd d=r3l a=r1l b=32\n"
                   "and d=r3l a=r3l b=63\n"
                   "lload r=r4 base=none index=r3l format=i32 mask=x\n"
                   "and d=r3 a=r3l b=63\n" STORE("r4", "4", "r3"),
            it->skips_barriers ? "" : "barrier\n");
   launch(it, add_program(it, text, NULL, 256), 64, 64);
}

/* The same through device memory. */
static void build_workgroup_memory(struct chaos_run *it)
{
   char text[400];
   snprintf(text, sizeof(text),
            THREAD "isub d=r2 a=64 b=r1\n" STORE(
               "r2", "0", "r1") "wait group=a\n"
                                "%s"
                                "iadd d=r3 a=r1 b=32\n"
                                "and d=r3 a=r3 b=63\n" LOAD("r4", "0", "r3") STORE("r4", "4", "r3"),
            it->skips_barriers ? "memory_barrier\n" : "memory_barrier\nbarrier\n");
   launch(it, add_program(it, text, NULL, 0), 64, 64);
}

/* Workgroups pass a sum on: each draws a number, waits for the flag of the one before, reads
 * its sum, and sets its own flag. Flags are atomics and coherent loads; the sum needs barriers
 * of the device's scope. */
static void build_chain(struct chaos_run *it)
{
   const char *wide = it->skips_barriers ? "memory_barrier\n"
                                         : "memory_barrier\nunknown_barrier_1\nmemory_barrier_2\n"
                                           "device_barrier_2\nunknown_barrier_2\n"
                                           "memory_barrier_3\ndevice_barrier_1\n";
   char text[1200];
   snprintf(
      text, sizeof(text),
      "ldimm16 d=r0l imm=0\n"
      "mov d=r2 a=1\n"
      "atomic r=r1 s=r2 base=du2 index=0 op=add coherency=coherent1 group=a\n"
      "wait group=a\n"
      "top:\n"
      "load r=r3 base=du4 index=r1 format=i32 mask=x coherency=coherent group=a\n"
      "wait group=a\n"
      "while_icmp a=r3 b=0 nest=1 cond=ieq\n"
      "jmp_any offset=@top\n"
      "pop_exec nest=1\n"
      "%s" LOAD(
         "r4", "0",
         "r1") "iadd d=r4 a=r4 b=r1\n"
               "iadd d=r4 a=r4 b=1\n"
               "iadd d=r1 a=r1 b=1\n" STORE(
                  "r4", "0",
                  "r1") "wait group=a\n"
                        "%s"
                        "atomic r=none s=r2 base=du4 index=r1 op=or coherency=coherent1 group=a",
      wide, wide);
   agxs_put_le32(it->data + 2 * 0x4000, 1);
   launch(it, add_program(it, text, NULL, 0), 24, 1);
}

static bool is_summed(const struct chaos_run *it)
{
   for (unsigned i = 0; i <= 24; i++)
      if (data_at(it, 0, i) != i * (i + 1) / 2)
         return false;
   return true;
}

/* A total by atomics, which the next launch reads. */
static void build_atomics(struct chaos_run *it)
{
   launch(it,
          add_program(it,
                      THREAD
                      "iadd d=r2 a=r1 b=1\n"
                      "atomic r=none s=r2 base=du2 index=0 op=add coherency=coherent1 group=a",
                      NULL, 0),
          128, 32);
   barrier(it);
   launch(it, add_program(it, THREAD LOAD("r2", "2", "0") STORE("r2", "4", "r1"), NULL, 0), 64, 32);
}

static bool is_total(const struct chaos_run *it)
{
   for (unsigned i = 0; i < 64; i++)
      if (data_at(it, 2, i) != 128 * 129 / 2)
         return false;
   return true;
}

static void missing_barriers_are_found(void **state)
{
   static const struct {
      const char *name;
      void (*build)(struct chaos_run *);
      bool (*is_right)(const struct chaos_run *);
      unsigned most_right; /* of SEEDS, without the barrier */
   } rows[] = {
      {"read after write", build_read_after_write, is_reversed, SEEDS / 8},
      {"write after read", build_write_after_read, is_reversed, SEEDS * 7 / 8},
      {"write after write", build_write_after_write, is_reversed, SEEDS * 3 / 4},
      {"indirect sizes", build_indirect, is_reversed, SEEDS / 4},
      {"threadgroup memory", build_threadgroup, is_reversed, SEEDS * 3 / 4},
      {"memory in a workgroup", build_workgroup_memory, is_reversed, SEEDS * 3 / 4},
      {"a chain of workgroups", build_chain, is_summed, SEEDS / 8},
      {"a total by atomics", build_atomics, is_total, SEEDS * 7 / 8},
   };
   for (unsigned i = 0; i < AGX_COUNT(rows); i++) {
      unsigned with = count_right(rows[i].build, rows[i].is_right, false);
      unsigned without = count_right(rows[i].build, rows[i].is_right, true);
      if (with != SEEDS || without > rows[i].most_right)
         fail_msg("%s: right under %u of %u seeds with barriers, under %u without", rows[i].name,
                  with, SEEDS, without);
   }
}

/* Bytes that two cores write side by side in one line don't disturb each other. */
static void neighbours_stay(void **state)
{
   for (uint64_t seed = 1; seed <= 8; seed++) {
      struct chaos_run it;
      chaos_run_init(&it);
      launch(&it,
             add_program(&it,
                         THREAD "iadd d=r2 a=r1 b=1\n"
                                "store r=r2 base=du0 index=r1 format=i8 mask=x group=a",
                         NULL, 0),
             200, 1);
      assert_ok(run(&it, seed));
      for (unsigned i = 0; i < 200; i++)
         assert_int_equal(it.data[i], i + 1);
      assert_int_equal(it.stats.threads, 200);
      assert_int_equal(it.stats.workgroups, 200);
      assert_int_equal(it.stats.dispatches, 1);
      sim_memory_fini(&it.memory);
   }
}

/* More launches than are open at once, each with a preamble of its own and other uniforms. */
static void open_launches_keep_apart(void **state)
{
   struct chaos_run it;
   uint32_t programs[40];
   chaos_run_init(&it);
   for (unsigned i = 0; i < 40; i++) {
      char preamble[64];
      snprintf(preamble, sizeof(preamble), "mov d=r1 a=%u\nuniform_store u=u20 r=r1", i + 1);
      programs[i] = add_program(&it,
                                THREAD "iadd d=r2 a=r1 b=u20\n"
                                       "iadd d=r1 a=r1 b=u20 shift=lsl2\n" STORE("r2", "0", "r1"),
                                preamble, 0);
      launch(&it, programs[i], 4, 2);
   }
   assert_ok(run(&it, 3));
   for (unsigned i = 1; i <= 40; i++)
      for (unsigned thread = 0; thread < 4; thread++)
         assert_int_equal(data_at(&it, 0, 4 * i + thread), thread + i);
   assert_int_equal(it.stats.dispatches, 40);
   sim_memory_fini(&it.memory);
}

/* The order in which workgroups begin, as they write it down. */
static void read_order(uint64_t seed, uint32_t *order)
{
   struct chaos_run it;
   chaos_run_init(&it);
   launch(&it,
          add_program(&it,
                      THREAD
                      "mov d=r2 a=1\n"
                      "atomic r=r3 s=r2 base=du2 index=0 op=add coherency=coherent1 group=a\n"
                      "wait group=a\n" STORE("r3", "0", "r1"),
                      NULL, 0),
          64, 1);
   assert_ok(run(&it, seed));
   for (unsigned i = 0; i < 64; i++)
      order[i] = data_at(&it, 0, i);
   sim_memory_fini(&it.memory);
}

static void a_seed_is_an_order(void **state)
{
   uint32_t first[64], again[64], other[64];
   read_order(11, first);
   read_order(11, again);
   read_order(12, other);
   assert_memory_equal(first, again, sizeof(first));
   assert_memory_not_equal(first, other, sizeof(first));
}

static void permutations_are_whole(void **state)
{
   static const uint32_t counts[] = {1, 2, 3, 4, 5, 63, 64, 65, 1000, 4096};
   for (unsigned i = 0; i < AGX_COUNT(counts); i++) {
      bool seen[4096] = {0};
      for (uint32_t n = 0; n < counts[i]; n++) {
         uint64_t to = agxs_chaos_permute(7 * i, counts[i], n);
         assert_true(to < counts[i] && !seen[to]);
         seen[to] = true;
      }
   }
   assert_true(agxs_chaos_permute(5, UINT64_MAX, UINT64_MAX - 1) < UINT64_MAX);
}

static void failures_name_their_launch(void **state)
{
   struct chaos_run it;
   chaos_run_init(&it);
   launch(&it, add_program(&it, fill, NULL, 0), 64, 32);
   launch(&it, add_program(&it, "trap", NULL, 0), 1, 1);
   assert_fails(run(&it, 5), AGX_DATA_LOSS, "dispatch 1, workgroup 0,0,0");
   sim_memory_fini(&it.memory);
   chaos_run_init(&it);
   launch(&it, add_program(&it, "top:\njmp_any offset=@top", NULL, 0), 1, 1);
   assert_fails(run(&it, 5), AGX_DEADLINE_EXCEEDED, "more instructions");
   sim_memory_fini(&it.memory);
   atomic_bool cancel = true;
   chaos_run_init(&it);
   it.options.cancel = &cancel;
   launch(&it, add_program(&it, fill, NULL, 0), 0xffffffff, 1);
   assert_fails(run(&it, 5), AGX_CANCELLED, "cancelled");
   sim_memory_fini(&it.memory);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(missing_barriers_are_found), cmocka_unit_test(neighbours_stay),
      cmocka_unit_test(open_launches_keep_apart),   cmocka_unit_test(a_seed_is_an_order),
      cmocka_unit_test(permutations_are_whole),     cmocka_unit_test(failures_name_their_launch),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
