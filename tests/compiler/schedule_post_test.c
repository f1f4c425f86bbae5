/* SPDX-License-Identifier: MIT
 *
 * The scheduler behind register allocation: what is independent goes between a result and
 * its user, and nothing passes what it must not pass.
 */
#include "agx/compiler/schedule/schedule.h"
#include "pass_support.h"

#define LOAD(d, index) d ":32 = agx.load u0l:64, " index ":32, #0:64, #2:64, #1:64, #0:64, #0:64\n"
#define STORE(data, index)                                                                         \
   "agx.store " data ":32, u0l:64, " index ":32, #0:64, #2:64, #1:64, #0:64, #0:64\n"
#define LLOAD(d, index)     d ":32 = agx.lload #0:16, " index ":16, #2:64, #1:64\n"
#define LSTORE(data, index) "agx.lstore " data ":32, #0:16, " index ":16, #2:64, #1:64\n"
#define ADD(d, a, b)        d ":32 = agx.iadd " a ":32, " b ":32, #0:64, #0:64\n"
#define MUL(d, a, b)        d ":32 = agx.imul " a ":32, " b ":32, #0:64\n"
#define MOV(d, a)           d ":32 = agx.mov " a ":32\n"

/* Two chains; and a copy that stands in front of what others wait for. */
static void chains_interleave(void **state)
{
   CASE(ADD("r2l", "r1l", "r1l") ADD("r2l", "r2l", "r1l") ADD("r3l", "r1l", "#3")
           ADD("r3l", "r3l", "r1l") STORE("r2l", "r1l"),
        ADD("r2l", "r1l", "r1l") ADD("r3l", "r1l", "#3") ADD("r2l", "r2l", "r1l")
           ADD("r3l", "r3l", "r1l") STORE("r2l", "r1l"),
        agxc_schedule_post);
   CASE(MUL("r2l", "r1l", "r1l") ADD("r3l", "r2l", "r1l") MOV("r4l", "r1l") MOV("r5l", "r1l")
           MOV("r6l", "r1l") MOV("r7l", "r1l") STORE("r3l", "r1l"),
        MUL("r2l", "r1l", "r1l") MOV("r4l", "r1l") MOV("r5l", "r1l") MOV("r6l", "r1l")
           ADD("r3l", "r2l", "r1l") MOV("r7l", "r1l") STORE("r3l", "r1l"),
        agxc_schedule_post);
}

/* One register for two results: the second is not made before the first is read. */
static void registers_are_read_before_they_are_written(void **state)
{
   NEGCASE(MUL("r2l", "r1l", "r1l") ADD("r3l", "r2l", "r1l") MOV("r2l", "r1l") STORE("r3l", "r1l"),
           agxc_schedule_post);
   /* A half of it is enough. */
   NEGCASE(MUL("r2l", "r1l", "r1l")
              ADD("r3l", "r2l", "r1l") "r2h:16 = agx.mov r1l:16\n" STORE("r3l", "r1l"),
           agxc_schedule_post);
   /* And the later of two results is what stays. */
   NEGCASE(MUL("r2l", "r1l", "r1l") MUL("r3l", "r2l", "r1l") MOV("r3l", "r1l") STORE("r2l", "r1l"),
           agxc_schedule_post);
}

/* Loads don't pass stores, whatever they would hide. */
static void memory_keeps_its_order(void **state)
{
   NEGCASE(MUL("r2l", "r1l", "r1l") STORE("r2l", "r1l") LOAD("r3l", "r1l") STORE("r3l", "r1l"),
           agxc_schedule_post);
   NEGCASE(MUL("r2l", "r1l", "r1l") LSTORE("r2l", "r1l") LLOAD("r3l", "r1h") STORE("r3l", "r1l"),
           agxc_schedule_post);
}

static void barriers_keep_memory(void **state)
{
   NEGCASE(MUL("r2l", "r1l", "r1l") LSTORE("r2l", "r1l") "agx.barrier\n" LLOAD("r3l", "r1h")
              STORE("r3l", "r1l"),
           agxc_schedule_post);
}

static void the_frame_comes_first(void **state)
{
   NEGCASE("agx.stack_adjust #4:32\n" MUL("r2l", "r1l", "r1l") ADD("r3l", "r2l", "r1l")
              STORE("r3l", "r1l"),
           agxc_schedule_post);
}

/* A load goes earlier, and nothing goes in front of it to its cost. */
static void loads_move_up_only(void **state)
{
   CASE(MUL("r2l", "r1l", "r1l") ADD("r4l", "r2l", "r1l") LOAD("r3l", "r1l") STORE("r3l", "r4l"),
        LOAD("r3l", "r1l") MUL("r2l", "r1l", "r1l") ADD("r4l", "r2l", "r1l") STORE("r3l", "r4l"),
        agxc_schedule_post);
   NEGCASE(MUL("r2l", "r1l", "r1l") LOAD("r3l", "r2l") MOV("r4l", "r1l") STORE("r3l", "r4l"),
           agxc_schedule_post);
}

/* What needs a wait stays behind the load that it doesn't need, or that wait would come
 * while the other one is not under way. */
static void waits_stay_where_they_were(void **state)
{
   NEGCASE(LOAD("r2l", "r1l") MUL("r5l", "r1l", "r1l") LOAD("r3l", "r5l") ADD("r4l", "r2l", "r1l")
              STORE("r4l", "r1l"),
           agxc_schedule_post);
   /* What a load will still write is not written, nor read, in front of its turn. */
   NEGCASE(LOAD("r2l", "r1l") ADD("r3l", "r2l", "r1l") LOAD("r2l", "r3l") STORE("r2l", "r1l"),
           agxc_schedule_post);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(chains_interleave),
      cmocka_unit_test(registers_are_read_before_they_are_written),
      cmocka_unit_test(memory_keeps_its_order),
      cmocka_unit_test(barriers_keep_memory),
      cmocka_unit_test(the_frame_comes_first),
      cmocka_unit_test(loads_move_up_only),
      cmocka_unit_test(waits_stay_where_they_were),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
