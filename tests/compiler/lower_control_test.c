/* SPDX-License-Identifier: MIT
 *
 * Ifs and loops to masks: who pushes, who pops, what a lane that leaves waits for.
 * tests/compiler/control_test.c runs random programs.
 */
#include "agx/compiler/emit/emit.h"
#include "uniform_support.h"

#define ADD(d, n) d ":32 = agx.iadd r1l:32, #" n ":32, #0:64, #0:64\n"
#define LEVEL(n)  "r0l:16 = agx.ldimm16 #" n ":64\n"
#define COMPARE(kind, nest, cond)                                                                  \
   "agx." kind "_icmp r1l:32, #9:32, #" nest ":64, #0:64, #" cond ":64\n"
#define ASK      COMPARE("if", "0", "2") /* as selection leaves it */
#define IF       COMPARE("if", "1", "2")
#define IF_NOT   COMPARE("if", "1", "0xa")
#define ELSE     "agx.else_fcmp f0:16x0, f0:16x0, #1:64, #0:64, #0:64\n"
#define PUSH(n)  "agx.if_fcmp f0:16x0, f0:16x0, #" n ":64, #0:64, #0:64\n"
#define POP(n)   "agx.pop_exec #" n ":64, #0:64\n"
#define RETURNED "0x8000"
#define LOAD     "r2l:32 = agx.load u0l:64, r1l:32, #0:64, #2:64, #1:64, #0:64, #0:64\n"
#define LONG                                                                                       \
   "   r2l:32 = agx.load u0l:64, r1l:32, #0:64, #2:64, #1:64, #0:64, #0:64\n"                      \
   "   r2l:32 = agx.load u0l:64, r2l:32, #0:64, #2:64, #1:64, #0:64, #0:64\n"

static void check(const char *before, const char *after)
{
   uniform_check(&(struct uniform_case){
      .pass = agxc_lower_control, .before = before, .after = after, .stage = AGXC_STAGE_REGISTERS});
}

/* Also no counter of levels. */
static void a_straight_line_stays(void **state)
{
   check(ADD("r2l", "1"), ADD("r2l", "1"));
   check(ADD("r2l", "1") "return\n", ADD("r2l", "1"));
}

static void ifs(void **state)
{
   check(ASK "if\n   " ADD("r2l", "1") "else\n   " ADD("r2l", "2") "end\n" ADD("r3l", "3"),
         LEVEL("0") IF "if\n   " ADD("r2l", "1") "else\n   " ELSE
                                                 "   " ADD("r2l", "2") "end\n" POP("1")
                                                    ADD("r3l", "3"));
   /* One arm: it comes first, the condition turned round. */
   check(ASK "if\nelse\n   " ADD("r2l", "2") "end\n" ADD("r3l", "3"),
         LEVEL("0") IF_NOT "if\nelse\n   " ADD("r2l", "2") "end\n" POP("1") ADD("r3l", "3"));
   /* At the end nobody needs its lanes back. */
   check(ASK "if\n   " ADD("r2l", "1") "else\nend\n",
         LEVEL("0") IF "if\n   " ADD("r2l", "1") "else\nend\n");
}

/* Over what costs more than the jump, and over nothing else. */
static void long_arms_are_jumped_over(void **state)
{
   check(ASK "if\n" LONG "else\nend\n" ADD("r3l", "3"),
         LEVEL("0") IF "agx.jmp_none #3:64\nif\n" LONG "else\nend\n" POP("1") ADD("r3l", "3"));
   check(ASK "if\n" LONG "else\n   " ADD("r2l", "1") "end\n" ADD("r3l", "3"),
         LEVEL("0") IF "agx.jmp_none #2:64\nif\n" LONG "else\n   " ELSE
                       "   " ADD("r2l", "1") "end\n" POP("1") ADD("r3l", "3"));
   check(ASK "if\n   " ADD("r2l", "1") "else\n" LONG "end\n" ADD("r3l", "3"),
         LEVEL("0") IF "if\n   " ADD("r2l", "1") "else\n   " ELSE "   agx.jmp_none #3:64\n" LONG
                                                 "end\n" POP("1") ADD("r3l", "3"));
}

/* Nothing behind the test runs for no lane where a load would be waited for. */
static void tests_before_loads_jump(void **state)
{
   check("loop\n   " ASK "   if\n   else\n      break\n   end\n" LONG
         "continuing\nend\n" ADD("r3l", "3"),
         LEVEL("0") "loop\n   " COMPARE("while", "1", "2") "   if\n   else\n   end\n"
                                                           "   agx.jmp_none #6:64\n" LONG
                                                           "continuing\n   agx.jmp_any #1:64\n"
                                                           "end\n" POP("1") ADD("r3l", "3"));
   /* The load of the next iteration, in an if. */
   check("loop\n   " ASK "   if\n   else\n      break\n   end\n   " ASK "   if\n" LOAD
         "   else\n   end\ncontinuing\nend\n" ADD("r3l", "3"),
         LEVEL("0") "loop\n   " COMPARE(
            "while", "1",
            "2") "   if\n   else\n   end\n"
                 "   agx.jmp_none #9:64\n   " IF "   if\n      " LOAD
                 "   else\n   end\n   " POP("1") "continuing\n   agx.jmp_any #1:64\nend\n" POP("1")
                    ADD("r3l", "3"));
   /* The loads come before the test, or only some lanes reach it: no jump. */
   check(
      "loop\n" LONG "   " ASK "   if\n   else\n      break\n   end\n   " ADD(
         "r1l", "1") "continuing\nend\n" ADD("r3l", "3"),
      LEVEL("0") "loop\n" LONG "   " COMPARE("while", "1", "2") "   if\n   else\n   end\n   " ADD(
         "r1l", "1") "continuing\n   agx.jmp_any #1:64\nend\n" POP("1") ADD("r3l", "3"));
}

static void loops_that_only_break(void **state)
{
   check("loop\n   " ASK "   if\n      break\n   else\n   end\ncontinuing\n   " ADD(
            "r1l", "1") "end\n" ADD("r2l", "2"),
         LEVEL("0") "loop\n   " COMPARE(
            "while", "1", "0xa") "   if\n   else\n   end\n"
                                 "continuing\n   " ADD("r1l",
                                                       "1") "   agx.jmp_any #1:64\nend\n" POP("1")
                                    ADD("r2l", "2"));
   check("loop\n   " ASK "   if\n   else\n      break\n   end\ncontinuing\n   " ADD(
            "r1l", "1") "end\n" ADD("r2l", "2"),
         LEVEL("0") "loop\n   " COMPARE(
            "while", "1", "2") "   if\n   else\n   end\n"
                               "continuing\n   " ADD("r1l", "1") "   agx.jmp_any #1:64\nend\n" POP(
                                  "1") ADD("r2l", "2"));
   /* Something before the break: over the if's level and the loop's. */
   check("loop\n   " ASK "   if\n      " ADD("r2l", "1") "      break\n   else\n   end\n"
                                                         "continuing\nend\n" ADD("r3l", "3"),
         LEVEL("0") "loop\n   " IF "   if\n      " ADD("r2l", "1") "      " LEVEL(
            "2") "   else\n   end\n   " POP("1") "continuing\n   agx.jmp_any #1:64\nend\n" POP("1")
            ADD("r3l", "3"));
}

/* A second level, where those wait that have continued; the next iteration begins with them. */
static void loops_that_continue(void **state)
{
   check("loop\n   " ASK "   if\n      break\n   else\n   end\n   " ASK
         "   if\n      continue\n   else\n   end\n   " ADD("r2l",
                                                           "1") "continuing\nend\n" ADD("r3l", "3"),
         LEVEL("0") "loop\n   " IF "   if\n      " LEVEL("3") "   else\n   end\n   " POP(
            "1") "   " IF
                 "   if\n      " LEVEL("2") "   else\n   end\n   " POP("1") "   " ADD(
                    "r2l", "1") "continuing\n   agx.while_icmp #0:64, #0:64, #2:64, #0:64, #0:64\n"
                                "   agx.jmp_any #1:64\nend\n" POP("2") ADD("r3l", "3"));
}

/* Lanes that are away before a loop must not come back with those that it lets go. */
static void loops_inside_push(void **state)
{
   check(
      ASK "if\n   loop\n      break\n   continuing\n   end\nelse\nend\n" ADD("r2l", "2"),
      LEVEL("0") IF
      "agx.jmp_none #6:64\nif\n   " PUSH("1") "   loop\n      " LEVEL("1") "      " POP(
         "0") "   continuing\n      agx.jmp_any #2:64\n   end\n   " POP("1") "else\nend\n" POP("1")
         ADD("r2l", "2"));
}

static void returns(void **state)
{
   /* At top level nothing pops what it has not pushed. */
   check(ASK "if\n   return\nelse\nend\n" ADD("r2l", "2"),
         LEVEL("0") IF_NOT "if\nelse\nend\n" ADD("r2l", "2"));
   check(ASK "if\n   " ADD("r2l", "1") "   return\nelse\nend\n" ADD("r3l", "3"), LEVEL("0") IF
         "if\n   " ADD("r2l", "1") "   " LEVEL(RETURNED) "else\nend\n" POP("1") ADD("r3l", "3"));
   /* Deeper, more than any number of pops. */
   check(ASK
         "if\n   " ASK
         "   if\n      return\n   else\n   end\n   " ADD("r2l", "1") "else\nend\n" ADD("r3l", "3"),
         LEVEL("0") IF "if\n   " IF "   if\n      " LEVEL(RETURNED) "   else\n   end\n   " POP(
            "1") "   " ADD("r2l", "1") "else\nend\n" POP("1") ADD("r3l", "3"));
   /* Where lanes may have returned, a loop pushes. */
   check("loop\n   " ASK "   if\n      return\n   else\n   end\ncontinuing\nend\n",
         LEVEL("0") PUSH("1") "loop\n   " IF "   if\n      " LEVEL(
            RETURNED) "   else\n   end\n   " POP("1") "continuing\n   agx.jmp_any #1:64\nend\n");
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_straight_line_stays),     cmocka_unit_test(ifs),
      cmocka_unit_test(long_arms_are_jumped_over), cmocka_unit_test(tests_before_loads_jump),
      cmocka_unit_test(loops_that_only_break),     cmocka_unit_test(loops_that_continue),
      cmocka_unit_test(loops_inside_push),         cmocka_unit_test(returns),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
