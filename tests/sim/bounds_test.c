/* SPDX-License-Identifier: MIT
 *
 * Accesses outside of what a launch may access: byte by byte, with the rights, told
 * with all that is known of them, and executed nevertheless.
 */
#include "sim_support.h"

#include <string.h>

#include "base/util.h"

#define MAX_SEEN 256

struct seen {
   struct agxs_fault fault[MAX_SEEN];
   unsigned count;
};

static void on_fault(void *user, const struct agxs_fault *fault)
{
   struct seen *seen = user;
   if (seen->count < MAX_SEEN)
      seen->fault[seen->count] = *fault;
   seen->count++;
}

struct bounds_case {
   struct sim_launch launch;
   struct seen seen;
   uint8_t *data;
};

/* One SIMD-group with r1 = thread; du0 = SIM_DATA. */
static void begin(struct bounds_case *c, const char *program, const struct agxs_range *ranges,
                  uint32_t count)
{
   memset(c, 0, sizeof(*c));
   sim_launch_init(&c->launch, program);
   c->launch.grid[0] = c->launch.local[0] = 32;
   c->launch.uniform[0] = SIM_DATA;
   c->launch.options.thread_count = 1;
   c->launch.options.ranges = ranges;
   c->launch.options.range_count = count;
   c->launch.options.on_fault = on_fault;
   c->launch.options.user = &c->seen;
   c->data = sim_map(&c->launch.memory, SIM_DATA, 0x8000, true);
   assert_ok(sim_launch_run(&c->launch));
   assert_int_equal(c->launch.stats.outside, c->seen.count);
}

static void end(struct bounds_case *c)
{
   sim_launch_fini(&c->launch);
}

#define THREAD "mfsr d=r1 sr=thread_in_grid_x\n"

static void stores_outside_are_told_and_done(void **state)
{
   static const struct agxs_range range = {SIM_DATA, 4 * 30 + 2, 0, AGXS_READ | AGXS_WRITE};
   struct bounds_case c;
   begin(&c, THREAD "store r=r1 base=du0 index=r1 format=i32 mask=x group=a", &range, 1);
   assert_int_equal(c.seen.count, 2); /* half of 30's is inside */
   for (unsigned i = 0; i < 2; i++) {
      assert_int_equal(c.seen.fault[i].kind, AGXS_FAULT_BOUNDS);
      assert_int_equal(c.seen.fault[i].va, SIM_DATA + 4 * (30 + i));
      assert_int_equal(c.seen.fault[i].bytes, 4);
      assert_int_equal(c.seen.fault[i].lane_flat, 30 + i);
      assert_int_equal(c.seen.fault[i].pc, SIM_CODE + 4);
      assert_string_equal(c.seen.fault[i].what, "store");
   }
   assert_int_equal(agxs_get_le32(c.data + 4 * 31), 31);
   end(&c);
}

static void each_element_counts(void **state)
{
   static const struct agxs_range range = {SIM_DATA + 4, 8, 0, AGXS_READ};
   struct bounds_case c;
   begin(&c,
         "mov d=r1 a=0\nload r=r2..r5 base=du0 index=r1 format=i32 mask=xyzw group=a\nwait group=a",
         &range, 1);
   assert_int_equal(c.seen.count, 64);
   assert_int_equal(c.seen.fault[0].va, SIM_DATA);
   assert_int_equal(c.seen.fault[1].va, SIM_DATA + 12);
   end(&c);
}

static void rights_count(void **state)
{
   static const struct agxs_range read = {SIM_DATA, 0x8000, 0, AGXS_READ};
   static const struct agxs_range write = {SIM_DATA, 0x8000, 0, AGXS_WRITE};
   static const struct agxs_range both[] = {{SIM_DATA, 0x8000, 0, AGXS_READ},
                                            {SIM_DATA, 4, 0, AGXS_READ | AGXS_WRITE}};
   static const char *const store =
      "mov d=r1 a=0\nstore r=r1 base=du0 index=r1 format=i8 mask=x group=a";
   static const char *const load =
      "load r=r2 base=du0 index=0 format=i16 mask=x group=a\nwait group=a";
   static const char *const atomic =
      "mov d=r1 a=1\natomic r=none s=r1 base=du0 index=0 op=add coherency=coherent1 group=a";
   static const struct {
      const char *program;
      const struct agxs_range *ranges;
      uint32_t count, seen;
   } rows[] = {
      {store, &read, 1, 32}, {store, &write, 1, 0},  {store, both, 2, 0},     {load, &read, 1, 0},
      {load, &write, 1, 32}, {atomic, &read, 1, 32}, {atomic, &write, 1, 32}, {atomic, both, 2, 0},
   };
   for (size_t i = 0; i < AGX_COUNT(rows); i++) {
      struct bounds_case c;
      begin(&c, rows[i].program, rows[i].ranges, rows[i].count);
      assert_int_equal(c.seen.count, rows[i].seen);
      end(&c);
   }
}

/* What isn't executed accesses nothing; other launches' ranges don't count. */
static void lanes_and_launches_are_kept_apart(void **state)
{
   static const struct agxs_range other = {SIM_DATA, 0x8000, 1, AGXS_READ | AGXS_WRITE};
   struct bounds_case c;
   begin(&c, THREAD "store r=r1 base=du0 index=r1 format=i32 mask=x group=a", &other, 1);
   assert_int_equal(c.seen.count, 32);
   end(&c);
   begin(&c,
         THREAD "mov d=r0l a=0\nif_icmp a=r1 b=3 nest=1 cond=ult\n"
                "store r=r1 base=du0 index=r1 format=i32 mask=x group=a\n"
                "pop_exec nest=1",
         &other, 1);
   assert_int_equal(c.seen.count, 3);
   end(&c);
}

/* Also where nothing is mapped, and in a preamble, and in chaos. */
static void every_way_to_run_is_watched(void **state)
{
   static const struct agxs_range range = {SIM_DATA, 16, 0, AGXS_READ | AGXS_WRITE};
   for (unsigned chaos = 0; chaos < 2; chaos++) {
      struct seen seen = {.count = 0};
      struct sim_launch launch;
      sim_launch_init(&launch, THREAD "store r=r1 base=du0 index=r1 format=i32 mask=x group=a");
      launch.preamble = "load r=r2 base=du2 index=0 format=i32 mask=x group=a\nwait group=a";
      launch.grid[0] = launch.local[0] = 4;
      launch.uniform[0] = SIM_DATA;
      launch.uniform[1] = SIM_DATA;
      launch.options = (struct agxs_options){.thread_count = 1,
                                             .chaos_seed = chaos * 5,
                                             .ranges = &range,
                                             .range_count = 1,
                                             .on_fault = on_fault,
                                             .user = &seen};
      sim_map(&launch.memory, SIM_DATA, 0x4000, true);
      assert_ok(sim_launch_run(&launch));
      assert_int_equal(seen.count, 0);
      launch.uniform[1] = 0x5000000000;
      assert_ok(sim_launch_run(&launch));
      assert_int_equal(seen.count, 2); /* it is a soft fault too */
      assert_int_equal(seen.fault[0].kind, AGXS_FAULT_BOUNDS);
      assert_int_equal(seen.fault[0].va, 0x5000000000);
      assert_int_equal(seen.fault[1].kind, AGXS_FAULT_SOFT_LOAD);
      sim_launch_fini(&launch);
   }
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(stores_outside_are_told_and_done),
      cmocka_unit_test(each_element_counts),
      cmocka_unit_test(rights_count),
      cmocka_unit_test(lanes_and_launches_are_kept_apart),
      cmocka_unit_test(every_way_to_run_is_watched),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
