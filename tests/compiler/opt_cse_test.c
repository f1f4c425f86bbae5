/* SPDX-License-Identifier: MIT
 *
 * What is computed once, and what looks equal but is not.
 */
#include "agx/compiler/opt/opt.h"
#include "pass_support.h"

#define X                      PASS_LOAD("%0:32")
#define OUT(value)             PASS_STORE(value)
#define IF(then, other)        "%9:1 = ieq %0:32, #0:32\nbranch %9:1\nif\n" then "else\n" other "end\n"
#define BECOMES(before, after) CASE(before, after, agxc_opt_cse)
#define STAYS(text)            NEGCASE(text, agxc_opt_cse)

static void equal_ones_become_one(void **state)
{
   BECOMES(X "%1:32 = iadd %0:32, #1:32\n%2:32 = iadd #1:32, %0:32\n" OUT("%1:32") OUT("%2:32"),
           X "%1:32 = iadd %0:32, #1:32\n" OUT("%1:32") OUT("%1:32"));
   /* What was found equal makes its users equal. */
   BECOMES(X "%1:32 = imul %0:32, #3:32\n%2:32 = imul %0:32, #3:32\n"
             "%3:32 = isub %1:32, #1:32\n%4:32 = isub %2:32, #1:32\n" OUT("%3:32") OUT("%4:32"),
           X "%1:32 = imul %0:32, #3:32\n%3:32 = isub %1:32, #1:32\n" OUT("%3:32") OUT("%3:32"));
   /* In front of the if, so also in its arm. */
   BECOMES(X "%1:32 = iadd %0:32, #1:32\n" IF("%2:32 = iadd %0:32, #1:32\n" OUT("%2:32"), "")
              OUT("%1:32"),
           X "%1:32 = iadd %0:32, #1:32\n" IF(OUT("%1:32"), "") OUT("%1:32"));
}

static void the_exact_one_remains(void **state)
{
   BECOMES(X "%1:32 = fmul %0:32, #2:32\n%2:32 = fmul.exact %0:32, #2:32\n" OUT("%1:32")
              OUT("%2:32"),
           X "%1:32 = fmul.exact %0:32, #2:32\n" OUT("%1:32") OUT("%1:32"));
}

static void operands_differ(void **state)
{
   STAYS(X "%1:32 = ishl %0:32, #1:32\n%2:32 = ishl #1:32, %0:32\n" OUT("%1:32") OUT("%2:32"));
   STAYS(X "%1:32 = iadd %0:32, #1:32\n%2:32 = iadd %0:32, #2:32\n" OUT("%1:32") OUT("%2:32"));
   STAYS(X "%1:16 = trunc %0:32\n%2:8 = trunc %0:32\n" OUT("%1:16") OUT("%2:8"));
   /* The sum of a product does not commute with its factors. */
   STAYS(X "%1:32 = ffma %0:32, #2:32, #3:32\n%2:32 = ffma #2:32, #3:32, %0:32\n" OUT("%1:32")
            OUT("%2:32"));
}

static void places_differ(void **state)
{
   /* Neither arm runs before the other, or before what follows. */
   STAYS(
      X IF("%1:32 = iadd %0:32, #1:32\n" OUT("%1:32"), "%2:32 = iadd %0:32, #1:32\n" OUT("%2:32")));
   STAYS(X IF("%1:32 = iadd %0:32, #1:32\n" OUT("%1:32"),
              "") "%2:32 = iadd %0:32, #1:32\n" OUT("%2:32"));
   /* A continue may come around the first. */
   STAYS(X "loop\n" IF("continue\n", "") "%1:32 = iadd %0:32, #1:32\n" OUT(
      "%1:32") "continuing\n%2:32 = iadd %0:32, #1:32\n" OUT("%2:32") "end\n");
}

static void other_lanes_run(void **state)
{
   STAYS(X "%1:32 = broadcast_first %0:32\n" IF("%2:32 = broadcast_first %0:32\n" OUT("%2:32"), "")
            OUT("%1:32"));
   BECOMES(X "%1:32 = broadcast_first %0:32\n%2:32 = broadcast_first %0:32\n" OUT("%1:32")
              OUT("%2:32"),
           X "%1:32 = broadcast_first %0:32\n" OUT("%1:32") OUT("%1:32"));
}

static void effects_happen_twice(void **state)
{
   STAYS(X "%1:32 = atomic_shared #0:32, %0:32, _, #0:64\n"
           "%2:32 = atomic_shared #0:32, %0:32, _, #0:64\n" OUT("%1:32") OUT("%2:32"));
   STAYS(PASS_LOAD("%0:32") OUT("#1:32") PASS_LOAD("%1:32") OUT("%0:32") OUT("%1:32"));
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(equal_ones_become_one), cmocka_unit_test(the_exact_one_remains),
      cmocka_unit_test(operands_differ),       cmocka_unit_test(places_differ),
      cmocka_unit_test(other_lanes_run),       cmocka_unit_test(effects_happen_twice),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
