/* SPDX-License-Identifier: MIT
 *
 * Where waits stand, and where none is needed.
 */
#include "agx/compiler/emit/emit.h"
#include "uniform_support.h"

#define LOAD(d, index) d " = agx.load u0l:64, " index ":32, #0:64, #2:64, #1:64, #0:64, #0:64\n"
#define STORE(data)    "agx.store " data ":32, u0l:64, r1l:32, #0:64, #2:64, #1:64, #0:64, #0:64\n"
#define ADD(d, a, b)   d ":32 = agx.iadd " a ":32, " b ":32, #0:64, #0:64\n"
#define WAIT           "agx.wait #0:64\n"
#define IF             "agx.if_icmp r1l:32, #9:32, #1:64, #0:64, #2:64\n"

static void check(const char *before, const char *after)
{
   uniform_check(&(struct uniform_case){
      .pass = agxc_insert_waits, .before = before, .after = after, .stage = AGXC_STAGE_REGISTERS});
}

#define STAYS(text) check(text, text)

static void results_are_waited_for(void **state)
{
   /* Once, and as late as can be. */
   check(LOAD("r2l:32", "r1l") ADD("r3l", "r1l", "#1") ADD("r4l", "r2l", "#1")
            ADD("r5l", "r2l", "#2"),
         LOAD("r2l:32", "r1l") ADD("r3l", "r1l", "#1") WAIT ADD("r4l", "r2l", "#1")
            ADD("r5l", "r2l", "#2"));
   /* One wait for both. */
   check(LOAD("r2l:32", "r1l") LOAD("r3l:32", "r1l") ADD("r4l", "r2l", "r3l"),
         LOAD("r2l:32", "r1l") LOAD("r3l:32", "r1l") WAIT ADD("r4l", "r2l", "r3l"));
   /* The second half of a result is part of it. */
   check(LOAD("r2l:32", "r1l") "r4l:16 = agx.iadd r2h:16, #1:16, #0:64, #0:64\n",
         LOAD("r2l:32", "r1l") WAIT "r4l:16 = agx.iadd r2h:16, #1:16, #0:64, #0:64\n");
   /* A result that comes late would overwrite what is newer. */
   check(LOAD("r2l:32", "r1l") ADD("r2l", "r1l", "#1"),
         LOAD("r2l:32", "r1l") WAIT ADD("r2l", "r1l", "#1"));
   check(
      "r2l:32 = agx.atomic u0l:64, r1l:32, r3l:32, #0:64, #0:64, #0:64\n" ADD("r4l", "r2l", "#1"),
      "r2l:32 = agx.atomic u0l:64, r1l:32, r3l:32, #0:64, #0:64, #0:64\n" WAIT ADD("r4l", "r2l",
                                                                                   "#1"));
   check(
      "r2l:32 = agx.stack_load #0:32, #0:64, #2:64, #1:64, #0:64\n" ADD("r4l", "r2l", "#1"),
      "r2l:32 = agx.stack_load #0:32, #0:64, #2:64, #1:64, #0:64\n" WAIT ADD("r4l", "r2l", "#1"));
}

static void sources_are_free_at_once(void **state)
{
   STAYS(STORE("r2l") ADD("r2l", "r3l", "#1") ADD("r1l", "r3l", "#1"));
   STAYS(LOAD("r2l:32", "r1l") ADD("r1l", "r3l", "#1"));
}

static void threadgroup_memory_is_synchronous(void **state)
{
   STAYS(
      "r2l:32 = agx.lload r1l:16, #0:16, #2:64, #1:64\n" ADD("r3l", "r2l", "#1") "agx.barrier\n");
}

static void barriers_find_everything_done(void **state)
{
   check(STORE("r2l") "agx.barrier\n", STORE("r2l") WAIT "agx.barrier\n");
   check(LOAD("r2l:32", "r1l") "agx.memory_barrier\n" ADD("r3l", "r2l", "#1"),
         LOAD("r2l:32", "r1l") WAIT "agx.memory_barrier\n" ADD("r3l", "r2l", "#1"));
   STAYS("agx.barrier\n" STORE("r2l"));
}

/* Arms without a jump run in any case, lanes or not, and what waits there has waited. */
static void jumps_come_around_waits(void **state)
{
   check(LOAD("r2l:32", "r1l") IF
         "if\n" ADD("   r3l", "r2l", "#1") "else\nend\n" ADD("r4l", "r2l", "#1"),
         LOAD("r2l:32", "r1l") IF
         "if\n   " WAIT ADD("   r3l", "r2l", "#1") "else\nend\n" ADD("r4l", "r2l", "#1"));
   check(LOAD("r2l:32", "r1l") IF "agx.jmp_none #3:64\nif\n" ADD(
            "   r3l", "r2l", "#1") "else\nend\n" ADD("r4l", "r2l", "#1"),
         LOAD("r2l:32", "r1l") IF "agx.jmp_none #3:64\nif\n   " WAIT ADD(
            "   r3l", "r2l", "#1") "else\nend\n" WAIT ADD("r4l", "r2l", "#1"));
}

#define LOOP(body) "loop\n" body "   agx.jmp_any #1:64\ncontinuing\nend\n"

static void loops(void **state)
{
   /* In front, rather than in each iteration. */
   check(LOAD("r2l:32", "r1l") LOOP(ADD("   r3l", "r3l", "r2l")),
         LOAD("r2l:32", "r1l") WAIT LOOP(ADD("   r3l", "r3l", "r2l")));
   /* For what the iteration before has loaded. */
   check(LOOP(ADD("   r1l", "r1l", "#1") ADD("   r3l", "r3l", "r2l") "   " LOAD("r2l:32", "r1l")),
         LOOP(ADD("   r1l", "r1l", "#1") "   " WAIT ADD("   r3l", "r3l", "r2l") "   " LOAD("r2l:32",
                                                                                           "r1l")));
   /* Not for what nothing in it touches. */
   check(LOAD("r2l:32", "r1l") LOOP(ADD("   r3l", "r3l", "#1")) ADD("r4l", "r2l", "#1"),
         LOAD("r2l:32", "r1l") LOOP(ADD("   r3l", "r3l", "#1")) WAIT ADD("r4l", "r2l", "#1"));
}

/* A group is not done where a block ends: the ninth load takes the other one. */
static void groups_fill_up_across_blocks(void **state)
{
#define FOUR(a, b, c, d) LOAD(a, "r1l") LOAD(b, "r1l") LOAD(c, "r1l") LOAD(d, "r1l")
#define EIGHT                                                                                      \
   FOUR("r2l:32", "r3l:32", "r4l:32", "r5l:32")                                                    \
   IF "if\n" FOUR("   r6l:32", "   r7l:32", "   r8l:32", "   r9l:32") "else\nend\n"
#define NINTH(group)                                                                               \
   "r10l:32 = agx.load u0l:64, r1l:32, #0:64, #2:64, #1:64, #0:64, #" group ":64\n"
   check(EIGHT NINTH("0") ADD("r2l", "r2l", "r6l") ADD("r10l", "r10l", "#1"),
         EIGHT NINTH("1")
            WAIT ADD("r2l", "r2l", "r6l") "agx.wait #1:64\n" ADD("r10l", "r10l", "#1"));
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(results_are_waited_for),
      cmocka_unit_test(sources_are_free_at_once),
      cmocka_unit_test(groups_fill_up_across_blocks),
      cmocka_unit_test(threadgroup_memory_is_synchronous),
      cmocka_unit_test(barriers_find_everything_done),
      cmocka_unit_test(jumps_come_around_waits),
      cmocka_unit_test(loops),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
