/* SPDX-License-Identifier: MIT
 *
 * opt_memory: loads of what is known, stores that nothing reads, and everything that must
 * come between.
 */
#include "agx/compiler/opt/opt.h"
#include "agx/compiler/lower/lower.h"
#include "golden_support.h"

#define ID     "%0:32 = sysval #3:64\n%1:32 = ishl %0:32, #2:32\n%2:32 = iadd %1:32, #64:32\n"
#define ONE    "%0:32 = sysval #3:64\n%1:32 = ishl %0:32, #2:32\n"
#define KEEP   "store_shared #1024:32, "
#define DEVICE "load_buffer "

static const pass_fn passes[] = {agxc_lower_buffer, agxc_opt_memory};

static struct pass_golden begin(void)
{
   return (struct pass_golden){.passes = passes, .pass_count = AGX_COUNT(passes), .shared_B = 8192};
}

static void known(void **state)
{
   struct pass_golden g = begin();
   pass_case(&g, "the same load twice",
             ID "%3:32 = load_shared %1:32\n%4:32 = load_shared %1:32\n"
                "%5:32 = fadd %3:32, %4:32\n" KEEP "%5:32\n");
   pass_case(&g, "a load of what was stored, past a store beside it",
             ID "store_shared %1:32, %0:32\nstore_shared %2:32, #7:32\n"
                "%3:32 = load_shared %1:32\n" KEEP "%3:32\n");
   pass_case(&g, "elements of vectors",
             ID "%3:32x2 = collect %0:32, %1:32\nstore_shared %1:32, %3:32x2\n"
                "%4:32 = iadd %1:32, #4:32\n%5:32 = load_shared %4:32\n"
                "%6:32x2 = load_shared %1:32\n%7:32, %8:32 = split %6:32x2\n"
                "%9:32 = iadd %5:32, %7:32\n" KEEP "%9:32\n");
   pass_case(&g, "a vector of two scalars",
             ID "%3:32 = iadd %1:32, #4:32\n%4:32 = load_shared %3:32\n%5:32 = load_shared %1:32\n"
                "%6:32x2 = load_shared %1:32\n%7:32, %8:32 = split %6:32x2\n"
                "%9:32 = iadd %4:32, %8:32\n%10:32 = iadd %9:32, %7:32\n"
                "%11:32 = iadd %10:32, %5:32\n" KEEP "%11:32\n");
   pass_case(&g, "in the arms of an if and behind it",
             ID "%3:32 = load_shared %1:32\n%4:1 = ieq %3:32, #0:32\nbranch %4:1\nif\n"
                "   %5:32 = load_shared %1:32\n   " KEEP "%5:32\nelse\nend\n"
                "%6:32 = load_shared %2:32\n" KEEP "%6:32\n");
   pass_case(&g, "constant memory past a barrier and stores",
             ID "%3:32 = " DEVICE "%1:32, #0:64, #2:64\nbarrier #3:64\n"
                "store_buffer %1:32, %3:32, #1:64, #0:64\n%4:32 = " DEVICE
                "%1:32, #0:64, #2:64\n" KEEP "%4:32\n");
   pass_case(&g, "a store that a wider one covers",
             ID "store_shared %1:32, %0:32\n%3:32x2 = collect %0:32, %1:32\n"
                "store_shared %1:32, %3:32x2\n");
   /* Lowered, but two loads still. */
   pass_case(&g, "volatile loads",
             "%3:32 = " DEVICE "#0:32, #0:64, #1:64\n%4:32 = " DEVICE
             "#0:32, #0:64, #1:64\n%5:32 = iadd %3:32, %4:32\n" KEEP "%5:32\n");
   pass_golden_check(&g, "compiler/opt_memory.txt");
}

static void unknown(void **state)
{
   struct pass_golden g = begin();
   pass_case_same(&g, "a store between",
                  ONE "%3:32 = load_shared %1:32\nstore_shared %0:32, #1:32\n"
                      "%4:32 = load_shared %1:32\n%5:32 = fadd %3:32, %4:32\n" KEEP "%5:32\n");
   pass_case_same(&g, "a barrier between",
                  ONE "store_shared %1:32, %0:32\nbarrier #3:64\n%3:32 = load_shared %1:32\n" KEEP
                      "%3:32\n");
   pass_case_same(&g, "an atomic between",
                  ONE "%3:32 = load_shared %1:32\n%4:32 = atomic_shared %0:32, #1:32, _, #0:64\n"
                      "%5:32 = load_shared %1:32\n%6:32 = iadd %3:32, %5:32\n"
                      "%7:32 = iadd %4:32, %6:32\n" KEEP "%7:32\n");
   pass_case_same(&g, "a store in one arm",
                  ONE "%3:32 = load_shared %1:32\n%4:1 = ieq %3:32, #0:32\nbranch %4:1\nif\n"
                      "   store_shared %0:32, #1:32\nelse\nend\n%5:32 = load_shared %1:32\n" KEEP
                      "%5:32\n");
   pass_case_same(&g, "a load in one arm",
                  ONE "%4:1 = ieq %0:32, #0:32\nbranch %4:1\nif\n   %3:32 = load_shared %1:32\n"
                      "   " KEEP "%3:32\nelse\nend\n%5:32 = load_shared %1:32\n" KEEP "%5:32\n");
   pass_case_same(&g, "a store later in the loop",
                  ONE "%3:32 = load_shared %1:32\nloop\n   %4:32 = load_shared %1:32\n"
                      "   %5:1 = ieq %4:32, %3:32\n   branch %5:1\n   if\n      break\n   else\n"
                      "   end\n   store_shared %0:32, %4:32\ncontinuing\nend\n");
   pass_case_same(&g, "elements of another size",
                  ONE
                  "store_shared %1:32, %0:32\n%3:16 = load_shared %1:32\n%4:32 = zext %3:16\n" KEEP
                  "%4:32\n");
   pass_case_same(&g, "a store that is read, and one that another thread may read",
                  ONE "store_shared %1:32, %0:32\n%3:32 = load_shared %0:32\n"
                      "store_shared %1:32, %3:32\nbarrier #3:64\nstore_shared %1:32, #3:32\n");
   pass_golden_check(&g, "compiler/opt_memory_stays.txt");
}

/* What overlaps, what others see, and what ends between. */
static void shared_with_others(void **state)
{
   struct pass_golden g = begin();
   pass_case_same(&g, "an overlapping store",
                  ONE "store_shared %1:32, %0:32\n%2:32 = iadd %1:32, #2:32\nstore_shared %2:32, "
                      "#5:32\n%3:32 = load_shared %1:32\n" KEEP "%3:32\n");
   pass_case_same(&g, "an overlapping store before it",
                  ONE "store_shared %1:32, %0:32\n%2:32 = iadd %1:32, #0xfffffffe:32\nstore_shared "
                      "%2:32, #5:32\n%3:32 = load_shared %1:32\n" KEEP "%3:32\n");
   pass_case_same(&g, "a part is newer",
                  ONE "store_shared %1:32, %0:32\n%2:16 = trunc %0:32\nstore_shared %1:32, "
                      "%2:16\n%3:32 = load_shared %1:32\n" KEEP "%3:32\n");
   pass_case_same(&g, "threads meet",
                  ONE "store_shared %1:32, %0:32\nbarrier #1:64\n%3:32 = load_shared %1:32\n" KEEP
                      "%3:32\n");
   pass_case_same(&g, "atomic loads",
                  ONE "%2:32 = load_shared.exact %1:32\n%3:32 = load_shared.exact %1:32\n%4:32 = "
                      "iadd %2:32, %3:32\n" KEEP "%4:32\n");
   pass_case_same(&g, "others see coherent memory",
                  ONE "%2:32 = load_global u0l:64, %1:32, #0:64\n%3:32 = load_global u0l:64, "
                      "%1:32, #1:64\n%4:32 = iadd %2:32, %3:32\n" KEEP "%4:32\n");
   pass_case_same(&g, "an address that may be the same",
                  ONE "store_global u0l:64, %1:32, #7:32, #0:64\nstore_global u2l:64, %1:32, "
                      "#8:32, #0:64\n%3:32 = load_global u0l:64, %1:32, #0:64\n" KEEP "%3:32\n");
   pass_case_same(
      &g, "an image may be that memory",
      ONE "%2:32x2 = collect %0:32, %1:32\n%3:32x4 = collect %0:32, %1:32, %0:32, "
          "%1:32\nstore_global u0l:64, %1:32, #7:32, #0:64\nimage_store %2:32x2, "
          "%3:32x4, _, _, #1:64, #2:64, #0:64\n%4:32 = load_global u0l:64, %1:32, #0:64\n" KEEP
          "%4:32\n");
   pass_case_same(
      &g, "coherent stores",
      ONE "store_global u0l:64, %1:32, #7:32, #1:64\nstore_global u0l:64, %1:32, #8:32, #1:64\n");
   pass_case_same(&g, "a thread may end between two stores",
                  ONE "store_global u0l:64, %1:32, #7:32, #0:64\n%4:1 = ieq %0:32, #0:32\nbranch "
                      "%4:1\nif\n   return\nelse\nend\nstore_global u0l:64, %1:32, #8:32, #0:64\n");
   pass_case_same(
      &g, "a store that is covered in part",
      ONE
      "%2:32x2 = collect %0:32, %1:32\nstore_shared #16:32, %2:32x2\nstore_shared #16:32, #5:32\n");
   pass_golden_check(&g, NULL);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(known),
      cmocka_unit_test(unknown),
      cmocka_unit_test(shared_with_others),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
