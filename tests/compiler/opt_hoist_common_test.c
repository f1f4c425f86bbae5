/* SPDX-License-Identifier: MIT
 *
 * What both arms of an if begin with.
 */
#include "agx/compiler/opt/loads/loads.h"
#include "agx/compiler/opt/opt.h"
#include "pass_support.h"

#define CONDITION PASS_LOAD("%0:32") "%1:1 = ieq %0:32, #0:32\n"
#define IF        "branch %1:1\nif\n"

static void equal_loads_rise(void **state)
{
   CASE(CONDITION IF
        "%2:32 = load_shared %0:32\n%3:32 = iadd %2:32, #1:32\n"
        "else\n%4:32 = load_shared %0:32\nend\n%5:32 = phi %3:32, %4:32\n" PASS_STORE("%5:32"),
        CONDITION "%2:32 = load_shared %0:32\n" IF "%3:32 = iadd %2:32, #1:32\n"
                  "else\nend\n%5:32 = phi %3:32, %2:32\n" PASS_STORE("%5:32"),
        agxc_opt_hoist_common, agxc_opt_copy_prop);
}

static void chains_rise_after_each_other(void **state)
{
   CASE(CONDITION IF "%2:32 = imul %0:32, #3:32\n%3:32 = load_shared %2:32\n" PASS_STORE(
           "%3:32") "else\n%4:32 = imul %0:32, #3:32\n%5:32 = load_shared %4:32\n%6:32 = iadd "
                    "%5:32, #1:32\n" PASS_STORE("%6:32") "end\n",
        CONDITION "%2:32 = imul %0:32, #3:32\n%3:32 = load_shared %2:32\n" IF PASS_STORE(
           "%3:32") "else\n%6:32 = iadd %3:32, #1:32\n" PASS_STORE("%6:32") "end\n",
        agxc_opt_hoist_common, agxc_opt_copy_prop);
}

static void others_stay(void **state)
{
   /* A store comes before one of them. */
   NEGCASE(CONDITION IF PASS_STORE("#1:32") "%2:32 = load_shared %0:32\n" PASS_STORE(
              "%2:32") "else\n%4:32 = load_shared %0:32\n" PASS_STORE("%4:32") "end\n",
           agxc_opt_hoist_common);
   NEGCASE(CONDITION IF "%2:32 = load_shared %0:32\n" PASS_STORE("%2:32") "else\n" PASS_STORE(
              "#1:32") "%4:32 = load_shared %0:32\n" PASS_STORE("%4:32") "end\n",
           agxc_opt_hoist_common);
   /* Operations between lanes see other lanes there. */
   NEGCASE(CONDITION IF "%2:32 = broadcast_first %0:32\n" PASS_STORE(
              "%2:32") "else\n"
                       "%4:32 = broadcast_first %0:32\n" PASS_STORE("%4:32") "end\n",
           agxc_opt_hoist_common);
   /* In one arm only. */
   NEGCASE(CONDITION IF "%2:32 = load_shared %0:32\n" PASS_STORE("%2:32") "else\nend\n",
           agxc_opt_hoist_common);
}

#define LOAD1                  PASS_LOAD("%0:32")
#define OUT                    PASS_STORE("%9:32")
#define PASSES                 agxc_opt_hoist_common, agxc_opt_copy_prop
#define BECOMES(before, after) CASE(before, after, PASSES)
#define STAYS(text)            NEGCASE(text, PASSES)

/* Exact or not, coherent or not, an atomic, another address, a barrier before. */
static void looks_deceive(void **state)
{
   STAYS(LOAD1 "%2:1 = ult %0:32, #9:32\n"
               "branch %2:1\n"
               "if\n"
               "%3:32 = fadd %0:32, #0x3f800000:32\n"
               "store_shared #8:32, %3:32\n"
               "else\n"
               "%4:32 = fadd.exact %0:32, #0x3f800000:32\n"
               "store_shared #0xc:32, %4:32\n"
               "end\n"
               "%9:32 = iadd %0:32, #1:32\n" OUT);
   STAYS(LOAD1 "%2:1 = ult %0:32, #9:32\n"
               "branch %2:1\n"
               "if\n"
               "%3:32 = load_global u0l:64, %0:32, #0:64\n"
               "store_shared #8:32, %3:32\n"
               "else\n"
               "%4:32 = load_global u0l:64, %0:32, #1:64\n"
               "store_shared #0xc:32, %4:32\n"
               "end\n"
               "%9:32 = iadd %0:32, #1:32\n" OUT);
   STAYS(LOAD1 "%2:1 = ult %0:32, #9:32\n"
               "branch %2:1\n"
               "if\n"
               "%3:32 = atomic_shared #0x10:32, %0:32, _, #0:64\n"
               "store_shared #8:32, %3:32\n"
               "else\n"
               "%4:32 = atomic_shared #0x10:32, %0:32, _, #0:64\n"
               "store_shared #0xc:32, %4:32\n"
               "end\n"
               "%9:32 = iadd %0:32, #1:32\n" OUT);
   STAYS(LOAD1 "%2:1 = ult %0:32, #9:32\n"
               "branch %2:1\n"
               "if\n"
               "%3:32 = iadd %0:32, #2:32\n"
               "%4:32 = load_shared %3:32\n"
               "store_shared #8:32, %4:32\n"
               "else\n"
               "%5:32 = iadd %0:32, #3:32\n"
               "%6:32 = load_shared %5:32\n"
               "store_shared #0xc:32, %6:32\n"
               "end\n"
               "%9:32 = iadd %0:32, #1:32\n" OUT);
   STAYS(LOAD1 "%2:1 = ult %0:32, #9:32\n"
               "branch %2:1\n"
               "if\n"
               "barrier #3:64\n"
               "%3:32 = load_shared %0:32\n"
               "store_shared #8:32, %3:32\n"
               "else\n"
               "%4:32 = load_shared %0:32\n"
               "store_shared #0xc:32, %4:32\n"
               "end\n"
               "%9:32 = iadd %0:32, #1:32\n" OUT);
   BECOMES(LOAD1 "%2:1 = ult %0:32, #9:32\n"
                 "branch %2:1\n"
                 "if\n"
                 "%3:32 = fadd.exact %0:32, #0x3f800000:32\n"
                 "store_shared #8:32, %3:32\n"
                 "else\n"
                 "%4:32 = fadd.exact %0:32, #0x3f800000:32\n"
                 "store_shared #0xc:32, %4:32\n"
                 "end\n"
                 "%9:32 = iadd %0:32, #1:32\n" OUT,
           LOAD1 "%2:1 = ult %0:32, #9:32\n"
                 "%3:32 = fadd.exact %0:32, #0x3f800000:32\n"
                 "branch %2:1\n"
                 "if\n"
                 "store_shared #8:32, %3:32\n"
                 "else\n"
                 "store_shared #0xc:32, %3:32\n"
                 "end\n"
                 "%9:32 = iadd %0:32, #1:32\n" OUT);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(equal_loads_rise),
      cmocka_unit_test(chains_rise_after_each_other),
      cmocka_unit_test(others_stay),
      cmocka_unit_test(looks_deceive),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
