/* SPDX-License-Identifier: MIT
 *
 * What is a copy of something, and what only looks like one.
 */
#include "agx/compiler/opt/opt.h"
#include "pass_support.h"

#define X          PASS_LOAD("%0:32")
#define OUT(value) PASS_STORE(value)
#define IF         "%9:1 = ieq %0:32, #0:32\nbranch %9:1\nif\nelse\nend\n"
#define LOOP(phi, body, next)                                                                      \
   "loop\n" phi "%9:1 = ieq " body ", #0:32\nbranch %9:1\nif\nbreak\nelse\nend\n"                  \
   "continuing\n" next "end\n"
#define BECOMES(before, after) CASE(before, after, agxc_opt_copy_prop)
#define STAYS(text)            NEGCASE(text, agxc_opt_copy_prop)

static void moves(void **state)
{
   BECOMES(X "%1:32 = mov %0:32\n%2:32 = mov %1:32\n" OUT("%2:32"), X OUT("%0:32"));
   BECOMES("%0:32 = mov #7:32\n" OUT("%0:32"), OUT("#7:32"));
   BECOMES("%0:32 = mov u4l:32\n" OUT("%0:32"), OUT("u4l:32"));
}

static void phis_of_one_value(void **state)
{
   BECOMES(X IF "%1:32 = phi %0:32, %0:32\n" OUT("%1:32"), X IF OUT("%0:32"));
   BECOMES(X IF "%1:32 = phi #5:32, #5:32\n" OUT("%1:32"), X IF OUT("#5:32"));
   /* A loop's variable that never changes. */
   BECOMES(X LOOP("%1:32 = phi %0:32, %1:32\n", "%1:32", "") OUT("%1:32"),
           X LOOP("", "%0:32", "") OUT("%0:32"));
}

static void parts_of_wholes(void **state)
{
   BECOMES(X "%1:32x2 = collect %0:32, #7:32\n%2:32, %3:32 = split %1:32x2\n" OUT("%2:32")
              OUT("%3:32"),
           X OUT("%0:32") OUT("#7:32"));
   BECOMES(X "%1:64 = pack64 %0:32, #7:32\n%2:32, %3:32 = unpack64 %1:64\n" OUT("%2:32")
              OUT("%3:32"),
           X OUT("%0:32") OUT("#7:32"));
   BECOMES(PASS_LOAD("%0:16") "%1:32 = pack32 %0:16, #7:16\n%2:16, %3:16 = unpack32 %1:32\n" OUT(
              "%2:16") OUT("%3:16"),
           PASS_LOAD("%0:16") OUT("%0:16") OUT("#7:16"));
   BECOMES("%0:32, %1:32 = unpack64 #0x100000002:64\n" OUT("%0:32") OUT("%1:32"),
           OUT("#2:32") OUT("#1:32"));
}

static void wholes_of_parts(void **state)
{
   BECOMES(
      PASS_LOAD("%0:32x2") "%1:32, %2:32 = split %0:32x2\n%3:32x2 = collect %1:32, %2:32\n" OUT(
         "%3:32x2"),
      PASS_LOAD("%0:32x2") OUT("%0:32x2"));
   /* In another order, or not all. */
   STAYS(PASS_LOAD("%0:32x2") "%1:32, %2:32 = split %0:32x2\n%3:32x2 = collect %2:32, %1:32\n" OUT(
      "%3:32x2"));
   STAYS(PASS_LOAD("%0:32x2") "%1:32, %2:32 = split %0:32x2\n%3:32x2 = collect %1:32, #0:32\n" OUT(
      "%3:32x2"));
   STAYS(PASS_LOAD("%0:32x3") "%1:32, %2:32, %4:32 = split %0:32x3\n"
                              "%3:32x2 = collect %1:32, %2:32\n" OUT("%3:32x2"));
}

static void phis_of_several_stay(void **state)
{
   STAYS(X IF "%1:32 = phi %0:32, #1:32\n" OUT("%1:32"));
   STAYS(X IF "%1:32 = phi #2:32, #1:32\n" OUT("%1:32"));
   STAYS(X IF "%1:32 = phi u4l:32, u5l:32\n" OUT("%1:32"));
   STAYS(X LOOP("%1:32 = phi %0:32, %2:32\n", "%1:32", "%2:32 = iadd %1:32, #1:32\n") OUT("%1:32"));
}

static void parts_of_something_else_stay(void **state)
{
   STAYS(PASS_LOAD("%0:32x2") "%1:32, %2:32 = split %0:32x2\n" OUT("%1:32") OUT("%2:32"));
   STAYS("%0:64 = load_global u0l:64, #0:32, #0:64\n%1:32, %2:32 = unpack64 %0:64\n" OUT("%1:32")
            OUT("%2:32"));
   /* Halves of a word that was not made of halves. */
   STAYS(X "%1:16, %2:16 = unpack32 %0:32\n" OUT("%1:16") OUT("%2:16"));
   STAYS(X "%1:32 = iadd %0:32, #0:32\n" OUT("%1:32"));
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(moves),
      cmocka_unit_test(phis_of_one_value),
      cmocka_unit_test(parts_of_wholes),
      cmocka_unit_test(wholes_of_parts),
      cmocka_unit_test(phis_of_several_stay),
      cmocka_unit_test(parts_of_something_else_stay),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
