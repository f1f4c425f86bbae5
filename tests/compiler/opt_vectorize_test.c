/* SPDX-License-Identifier: MIT
 *
 * opt_vectorize: what is joined, and what must not be. Bases are the uniforms of two
 * bindings, made by lower_buffer from *_buffer operations. Access bits: 1 coherent, 2 constant, 4
 * restrict.
 */
#include "agx/compiler/opt/opt.h"
#include "agx/compiler/lower/lower.h"
#include "golden_support.h"

#define ID    "%0:32 = sysval #6:64\n%1:32 = ishl %0:32, #5:32\n"
#define PLUS4 "%2:32 = iadd %1:32, #4:32\n"

#define LOAD(value, offset, binding, access)                                                       \
   value " = load_buffer " offset ", #" #binding ":64, #" #access ":64\n"
#define STORE(offset, value, binding, access)                                                      \
   "store_buffer " offset ", " value ", #" #binding ":64, #" #access ":64\n"

#define GLOBAL(value, base, offset, access)                                                        \
   value " = load_global " base ", " offset ", #" #access ":64\n"

/* Two loads of binding 0 with something in between, and a use of both. */
#define BETWEEN(access, middle)                                                                    \
   ID PLUS4 LOAD("%3:32", "%1:32", 0, access)                                                      \
   middle LOAD("%4:32", "%2:32", 0, access) "%5:32 = fadd %3:32, %4:32\n" STORE("%0:32", "%5:32",  \
                                                                                3, 0)

static const pass_fn passes[] = {agxc_lower_buffer, agxc_opt_vectorize};

static struct pass_golden begin(void)
{
   return (struct pass_golden){.passes = passes, .pass_count = AGX_COUNT(passes)};
}

static void loads(void **state)
{
   struct pass_golden g = begin();
   pass_case(&g, "two neighbours", BETWEEN(0, ""));
   pass_case(
      &g, "the higher one first",
      ID PLUS4 LOAD("%3:32", "%2:32", 0, 0)
         LOAD("%4:32", "%1:32", 0, 0) "%5:32 = fsub %3:32, %4:32\n" STORE("%0:32", "%5:32", 3, 0));
   pass_case(&g, "the same twice, and a vector whose head overlaps",
             ID PLUS4 LOAD("%3:32", "%1:32", 0, 0) LOAD("%4:32", "%1:32", 0, 0)
                LOAD("%5:32x2", "%2:32", 0,
                     0) "%6:32, %7:32 = split %5:32x2\n"
                        "%8:32 = fadd %3:32, %6:32\n"
                        "%9:32 = ffma %8:32, %4:32, %7:32\n" STORE("%0:32", "%9:32", 3, 0));
   pass_case(&g, "a store to another space, and to other memory of the same binding",
             BETWEEN(0, "store_shared #0:32, %3:32\n"
                        "%6:32 = iadd %1:32, #8:32\n" STORE("%6:32", "%3:32", 0, 0)));
   pass_case(&g, "a store to another binding, which one of the two forbids",
             BETWEEN(4, STORE("%0:32", "%3:32", 1, 0)));
   pass_case(&g, "constant memory", BETWEEN(2, STORE("%0:32", "%3:32", 1, 0)));
   pass_case(&g, "bytes and halves",
             ID "%2:32 = iadd %1:32, #1:32\n%3:32 = iadd %1:32, #2:32\n" LOAD("%4:8", "%1:32", 0, 0)
                LOAD("%5:8", "%2:32", 0, 0) LOAD("%6:16", "%1:32", 0, 0)
                   LOAD("%7:16", "%3:32", 0, 0) STORE("%1:32", "%4:8", 1, 0)
                      STORE("%1:32", "%5:8", 2, 0) STORE("%1:32", "%6:16", 3, 0)
                         STORE("%2:32", "%7:16", 3, 0));
   pass_case(&g, "products and sums in any order",
             "%0:32 = sysval #6:64\n%1:32 = sysval #7:64\n%2:32 = imul %1:32, %0:32\n"
             "%3:32 = iadd %2:32, %0:32\n%4:32 = ishl %3:32, #2:32\n%5:32 = iadd %0:32, #1:32\n"
             "%6:32 = iadd %5:32, %2:32\n%7:32 = imul %6:32, #4:32\n" LOAD("%8:32", "%4:32", 0, 0)
                LOAD("%9:32", "%7:32", 0, 0) "%10:32 = fadd %8:32, %9:32\n" STORE("%0:32", "%10:32",
                                                                                  3, 0));
   static const pass_fn alone[] = {agxc_opt_vectorize};
   g.passes = alone;
   g.pass_count = 1;
   pass_case(&g, "an address that is no binding's",
             ID PLUS4 GLOBAL("%3:32", "u0l:64", "%1:32", 0)
                GLOBAL("%4:32", "u0l:64", "%2:32", 0) "%5:32 = fadd %3:32, %4:32\n"
                                                      "store_shared #0:32, %5:32\n");
   pass_golden_check(&g, "compiler/opt_vectorize_loads.txt");
}

static void loads_that_stay(void **state)
{
   struct pass_golden g = begin();
   static const pass_fn lowered[] = {agxc_opt_vectorize};
   g.passes = lowered;
   g.pass_count = 1;
   pass_case_same(&g, "shared: a gap, and a distance that is no element",
                  ID "%2:32 = iadd %1:32, #8:32\n%3:32 = iadd %1:32, #14:32\n"
                     "%4:32 = load_shared %1:32\n%5:32 = load_shared %2:32\n"
                     "%6:32 = load_shared %3:32\n%7:32 = ffma %4:32, %5:32, %6:32\n"
                     "store_shared #0:32, %7:32\n");
   pass_case_same(&g, "shared: other variable parts",
                  ID "%2:32 = ishl %0:32, #4:32\n%3:32 = iadd %2:32, #4:32\n"
                     "%4:32 = load_shared %1:32\n%5:32 = load_shared %3:32\n"
                     "%6:32 = fadd %4:32, %5:32\nstore_shared #0:32, %6:32\n");
   pass_case_same(&g, "shared: a barrier between",
                  ID PLUS4 "%4:32 = load_shared %1:32\nbarrier #3:64\n%5:32 = load_shared %2:32\n"
                           "%6:32 = fadd %4:32, %5:32\nstore_shared #0:32, %6:32\n");
   pass_case_same(&g, "shared: an atomic between",
                  ID PLUS4 "%4:32 = load_shared %1:32\n"
                           "%5:32 = atomic_shared %0:32, #1:32, _, #0:64\n"
                           "%6:32 = load_shared %2:32\n%7:32 = iadd %4:32, %6:32\n"
                           "%8:32 = iadd %7:32, %5:32\nstore_shared #0:32, %8:32\n");
   pass_case_same(&g, "shared: a store to a place that may be the same",
                  ID PLUS4 "%4:32 = load_shared %1:32\nstore_shared %0:32, #1:32\n"
                           "%6:32 = load_shared %2:32\n%7:32 = iadd %4:32, %6:32\n"
                           "store_shared #0:32, %7:32\n");
   pass_case_same(&g, "shared: a store to the very place",
                  ID PLUS4 "%4:32 = load_shared %1:32\nstore_shared %2:32, #1:32\n"
                           "%6:32 = load_shared %2:32\n%7:32 = iadd %4:32, %6:32\n"
                           "store_shared #0:32, %7:32\n");
   pass_case_same(&g, "shared: a wide store that reaches the place",
                  ID PLUS4 "%8:32x2 = collect %0:32, %1:32\n"
                           "%4:32 = load_shared %1:32\nstore_shared %1:32, %8:32x2\n"
                           "%6:32 = load_shared %2:32\n%7:32 = iadd %4:32, %6:32\n"
                           "store_shared #0:32, %7:32\n");
   pass_golden_check(&g, "compiler/opt_vectorize_loads_stay.txt");
}

static void bindings_that_alias(void **state)
{
   static const struct {
      const char *title, *body;
   } cases[] = {
      {"a store to another binding", BETWEEN(0, STORE("%0:32", "%3:32", 1, 0))},
      {"an atomic on another binding",
       BETWEEN(0, "%9:32 = atomic_buffer %0:32, #1:32, _, #1:64, #0:64\n")},
      {"coherent loads", BETWEEN(1, "")},
      {"a store at an unknown place of the binding", BETWEEN(4, STORE("%0:32", "%3:32", 0, 4))},
   };
   struct pass_golden g = begin();
   static const pass_fn none[] = {agxc_lower_buffer};
   for (size_t i = 0; i < AGX_COUNT(cases); i++) {
      /* The text is the same with and without the pass. */
      struct pass_golden with = begin(), without = {.passes = none, .pass_count = 1};
      pass_case(&with, cases[i].title, cases[i].body);
      pass_case(&without, cases[i].title, cases[i].body);
      assert_string_equal(with.text, without.text);
      pass_golden_check(&without, NULL);
      pass_golden_check(&with, NULL);
      pass_case(&g, cases[i].title, cases[i].body);
   }
   pass_golden_check(&g, "compiler/opt_vectorize_aliases.txt");
}

static void stores(void **state)
{
   struct pass_golden g = begin();
   pass_case(&g, "four in any order",
             ID PLUS4
             "%3:32 = iadd %1:32, #8:32\n%4:32 = iadd %1:32, #12:32\n" STORE("%4:32", "%0:32", 0, 0)
                STORE("%1:32", "%1:32", 0, 0) STORE("%3:32", "%2:32", 0, 0)
                   STORE("%2:32", "%3:32", 0, 0));
   pass_case(&g, "five are four and one",
             ID PLUS4 "%3:32 = iadd %1:32, #8:32\n%4:32 = iadd %1:32, #12:32\n"
                      "%5:32 = iadd %1:32, #16:32\n" STORE("%1:32", "#1:32", 0, 0)
                         STORE("%2:32", "#2:32", 0, 0) STORE("%3:32", "#3:32", 0, 0)
                            STORE("%4:32", "#4:32", 0, 0) STORE("%5:32", "#5:32", 0, 0));
   pass_case(&g, "a load of the same binding beside them",
             ID PLUS4 "%3:32 = iadd %1:32, #8:32\n" STORE("%1:32", "#1:32", 0, 0)
                LOAD("%4:32", "%3:32", 0, 0) STORE("%2:32", "%4:32", 0, 0));
   pass_case(&g, "vectors",
             ID PLUS4 "%3:32 = iadd %1:32, #12:32\n%4:32x2 = collect %0:32, %1:32\n" STORE(
                "%2:32", "%4:32x2", 0, 0) STORE("%3:32", "#3:32", 0, 0)
                STORE("%1:32", "#1:32", 0, 0));
   pass_golden_check(&g, "compiler/opt_vectorize_stores.txt");
}

static void stores_that_stay(void **state)
{
   static const pass_fn lowered[] = {agxc_opt_vectorize};
   struct pass_golden g = {.passes = lowered, .pass_count = 1};
   pass_case_same(&g, "a load of what the first one wrote",
                  ID PLUS4 "store_shared %1:32, #1:32\n%3:32 = load_shared %1:32\n"
                           "store_shared %2:32, %3:32\n");
   pass_case_same(&g, "a load from an unknown place",
                  ID PLUS4 "store_shared %1:32, #1:32\n%3:32 = load_shared %0:32\n"
                           "store_shared %2:32, %3:32\n");
   pass_case_same(&g, "a store to an unknown place",
                  ID PLUS4 "store_shared %1:32, #1:32\nstore_shared %0:32, #9:32\n"
                           "store_shared %2:32, #2:32\n");
   pass_case_same(&g, "a barrier",
                  ID PLUS4 "store_shared %1:32, #1:32\nbarrier #3:64\nstore_shared %2:32, #2:32\n");
   pass_case_same(&g, "one in an if",
                  ID PLUS4 "store_shared %1:32, #1:32\n%3:1 = ieq %0:32, #7:32\nbranch %3:1\nif\n"
                           "   store_shared %2:32, #2:32\nelse\nend\n");
   pass_golden_check(&g, "compiler/opt_vectorize_stores_stay.txt");
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(loads),
      cmocka_unit_test(loads_that_stay),
      cmocka_unit_test(bindings_that_alias),
      cmocka_unit_test(stores),
      cmocka_unit_test(stores_that_stay),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
