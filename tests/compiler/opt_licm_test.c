/* SPDX-License-Identifier: MIT
 *
 * What leaves a loop, and what must not.
 */
#include "agx/compiler/opt/opt.h"
#include "uniform_support.h"

static void check(const char *before, const char *after)
{
   uniform_check(&(struct uniform_case){.pass = agxc_opt_licm, .before = before, .after = after});
}

#define X "%0:32 = sysval #6:32\n"
/* A loop that tests at its end, so that its first iteration runs the body: %1 counts, %2 sums. */
#define BEGIN  "loop\n   %1:32 = phi #0:32, %3:32\n   %2:32 = phi #0:32, %4:32\n"
#define SUM(a) "   %4:32 = iadd %2:32, " a "\n"
#define END                                                                                        \
   "   %3:32 = iadd %1:32, #1:32\n   %5:1 = uge %3:32, u6l:32\n   branch %5:1\n"                   \
   "   if\n      break\n   else\n   end\ncontinuing\nend\n"                                        \
   "store_global u2l:64, %0:32, %4:32, #4:64\n"
#define BODY(lines) BEGIN lines END

static void invariant_operations_leave(void **state)
{
   check(X BODY("   %6:32 = imul %0:32, u4l:32\n" SUM("%6:32")),
         X "%6:32 = imul %0:32, u4l:32\n" BODY(SUM("%6:32")));
   /* What changes in each iteration stays, and what needs it. */
   check(X BODY("   %6:32 = imul %1:32, u4l:32\n   %7:32 = imul %6:32, u4l:32\n" SUM("%7:32")),
         NULL);
}

static void equal_operations_of_two_arms_become_one(void **state)
{
   check(X BODY("   %6:1 = ieq %1:32, #7:32\n   branch %6:1\n   if\n"
                "      %7:32 = imul %0:32, u4l:32\n      %8:32 = iadd %7:32, %1:32\n   else\n"
                "      %9:32 = imul %0:32, u4l:32\n   end\n   %10:32 = phi %8:32, %9:32\n" SUM(
                   "%10:32")),
         X "%7:32 = imul %0:32, u4l:32\n" BODY("   %6:1 = ieq %1:32, #7:32\n   branch %6:1\n   if\n"
                                               "      %8:32 = iadd %7:32, %1:32\n   else\n   end\n"
                                               "   %10:32 = phi %8:32, %7:32\n" SUM("%10:32")));
}

static void loops_are_left_one_by_one(void **state)
{
   /* The sum needs the outer counter, the product no counter. */
   check(X "loop\n   %1:32 = phi #0:32, %2:32\n   loop\n      %3:32 = phi #0:32, %4:32\n"
           "      %5:32 = imul %0:32, u4l:32\n      %6:32 = iadd %5:32, %1:32\n"
           "      %4:32 = iadd %3:32, %6:32\n      %7:1 = uge %4:32, u6l:32\n      branch %7:1\n"
           "      if\n         break\n      else\n      end\n   continuing\n   end\n"
           "   %2:32 = iadd %1:32, %4:32\n   %8:1 = uge %2:32, u6l:32\n   branch %8:1\n"
           "   if\n      break\n   else\n   end\ncontinuing\nend\n",
         X "%5:32 = imul %0:32, u4l:32\nloop\n   %1:32 = phi #0:32, %2:32\n"
           "   %6:32 = iadd %5:32, %1:32\n   loop\n      %3:32 = phi #0:32, %4:32\n"
           "      %4:32 = iadd %3:32, %6:32\n      %7:1 = uge %4:32, u6l:32\n      branch %7:1\n"
           "      if\n         break\n      else\n      end\n   continuing\n   end\n"
           "   %2:32 = iadd %1:32, %4:32\n   %8:1 = uge %2:32, u6l:32\n   branch %8:1\n"
           "   if\n      break\n   else\n   end\ncontinuing\nend\n");
}

static void lanes_stay(void **state)
{
   check(X BODY("   %6:32 = reduce %0:32, #0:64, #0x20:64\n" SUM("%6:32")), NULL);
}

#define LOAD "   %6:32 = load_global u0l:64, %0:32, "

static void loads_leave_when_nothing_writes(void **state)
{
   check(X BODY(LOAD "#0:64\n" SUM("%6:32")),
         X "%6:32 = load_global u0l:64, %0:32, #0:64\n" BODY(SUM("%6:32")));
   check(X BODY(LOAD "#1:64\n" SUM("%6:32")), NULL); /* coherent */
   /* A store to memory that may be the same; one to memory that can't be. */
   check(X BODY(LOAD "#0:64\n   store_global u2l:64, %0:32, %1:32, #0:64\n" SUM("%6:32")), NULL);
   check(X BODY(LOAD "#4:64\n   store_global u2l:64, %0:32, %1:32, #4:64\n" SUM("%6:32")),
         X "%6:32 = load_global u0l:64, %0:32, #4:64\n" BODY(
            "   store_global u2l:64, %0:32, %1:32, #4:64\n" SUM("%6:32")));
   check(X BODY(LOAD "#4:64\n   store_global u0l:64, %0:32, %1:32, #4:64\n" SUM("%6:32")), NULL);
   /* Others write between barriers; not to constant memory. */
   check(X BODY(LOAD "#4:64\n   barrier #5:64\n" SUM("%6:32")), NULL);
   check(X BODY(LOAD "#6:64\n   barrier #5:64\n" SUM("%6:32")),
         X "%6:32 = load_global u0l:64, %0:32, #6:64\n" BODY("   barrier #5:64\n" SUM("%6:32")));
   check(
      X BODY(LOAD "#0:64\n   %7:32 = atomic_global u2l:64, #0:32, #1:32, _, #0:64\n" SUM("%6:32")),
      NULL);
}

#define WHILE(load)                                                                                \
   "loop\n   %1:32 = phi #0:32, %3:32\n   %5:1 = uge %1:32, u6l:32\n   branch %5:1\n"              \
   "   if\n      break\n   else\n   end\n" load "continuing\n   %3:32 = iadd %1:32, #1:32\nend\n"

static void loads_that_may_never_run_leave_when_they_are_safe(void **state)
{
#define STORE "   store_global u2l:64, %1:32, %6:32, #4:64\n"
   check(X WHILE("   %6:32 = load_global u0l:64, %0:32, #6:64\n" STORE), NULL);
   check(WHILE("   %6:32 = load_global u0l:64, #0xc:32, #6:64\n" STORE),
         "%6:32 = load_global u0l:64, #0xc:32, #6:64\n" WHILE(STORE));
   check(X WHILE("   %6:32 = load_global u0l:64, #0x10:32, #6:64\n" STORE), NULL);
   /* In an arm of an if it may not run either. */
   check(X BODY("   %7:1 = ieq %1:32, #7:32\n   branch %7:1\n   if\n"
                "      %6:32 = load_global u0l:64, %0:32, #6:64\n"
                "      store_global u2l:64, %0:32, %6:32, #4:64\n   else\n   end\n" SUM("%1:32")),
         NULL);
}

/* Whatever may change memory in an iteration. */
static void loads_stay_with_what_writes(void **state)
{
   /* Threads that meet may have written; */
   check("%0:32 = load_shared #0:32\n"
         "loop\n"
         "   %8:32 = load_shared %0:32\n"
         "   barrier #1:64\n"
         "   %3:1 = ult %8:32, #9:32\n"
         "   branch %3:1\n"
         "   if\n"
         "      break\n"
         "   else\n"
         "   end\n"
         "continuing\n"
         "end\n"
         "store_shared #4:32, %8:32\n",
         NULL);
   /* others see coherent memory, and change it; */
   check("%0:32 = load_shared #0:32\n"
         "loop\n"
         "   %8:32 = load_global u0l:64, %0:32, #1:64\n"
         "   %3:1 = ult %8:32, #9:32\n"
         "   branch %3:1\n"
         "   if\n"
         "      break\n"
         "   else\n"
         "   end\n"
         "continuing\n"
         "end\n"
         "store_shared #4:32, %8:32\n",
         NULL);
   /* so they do with what is read atomically; */
   check("%0:32 = load_shared #0:32\n"
         "loop\n"
         "   %8:32 = load_shared.exact %0:32\n"
         "   %3:1 = ult %8:32, #9:32\n"
         "   branch %3:1\n"
         "   if\n"
         "      break\n"
         "   else\n"
         "   end\n"
         "continuing\n"
         "end\n"
         "store_shared #4:32, %8:32\n",
         NULL);
   /* an image may be the same memory; */
   check("%0:32 = load_shared #0:32\n"
         "%5:32x2 = collect %0:32, %0:32\n"
         "%6:32x4 = collect %0:32, %0:32, %0:32, %0:32\n"
         "loop\n"
         "   %8:32 = load_global u0l:64, %0:32, #0:64\n"
         "   image_store %5:32x2, %6:32x4, _, _, #1:64, #2:64, #0:64\n"
         "   %3:1 = ult %8:32, #9:32\n"
         "   branch %3:1\n"
         "   if\n"
         "      break\n"
         "   else\n"
         "   end\n"
         "continuing\n"
         "end\n"
         "store_shared #4:32, %8:32\n",
         NULL);
   /* and a loop in it may store. */
   check("%0:32 = load_shared #0:32\n"
         "%1:32 = load_shared #4:32\n"
         "%4:1 = ult %1:32, #3:32\n"
         "loop\n"
         "   %8:32 = load_shared %0:32\n"
         "   loop\n"
         "      store_shared %1:32, %8:32\n"
         "      branch %4:1\n"
         "      if\n"
         "         break\n"
         "      else\n"
         "      end\n"
         "   continuing\n"
         "   end\n"
         "   %3:1 = ult %8:32, #9:32\n"
         "   branch %3:1\n"
         "   if\n"
         "      break\n"
         "   else\n"
         "   end\n"
         "continuing\n"
         "end\n"
         "store_shared #4:32, %8:32\n",
         NULL);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(invariant_operations_leave),
      cmocka_unit_test(equal_operations_of_two_arms_become_one),
      cmocka_unit_test(loops_are_left_one_by_one),
      cmocka_unit_test(lanes_stay),
      cmocka_unit_test(loads_leave_when_nothing_writes),
      cmocka_unit_test(loads_that_may_never_run_leave_when_they_are_safe),
      cmocka_unit_test(loads_stay_with_what_writes),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
