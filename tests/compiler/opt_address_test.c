/* SPDX-License-Identifier: MIT
 *
 * opt_address: what becomes of byte offsets. Bases are bindings' addresses (lower_buffer).
 */
#include "agx/compiler/opt/opt.h"
#include "agx/compiler/lower/lower.h"
#include "golden_support.h"

#define ID                           "%0:32 = sysval #6:64\n%1:32 = sysval #7:64\n"
#define LOAD(value, offset, binding) value " = load_buffer " offset ", #" #binding ":64, #0:64\n"
#define OUT(value)                   "store_shared #0:32, " value "\n"

static const pass_fn passes[] = {agxc_lower_buffer, agxc_opt_algebraic, agxc_opt_address,
                                 agxc_opt_cse};

static void device(void **state)
{
   struct pass_golden g = {.passes = passes, .pass_count = AGX_COUNT(passes)};
   pass_case(&g, "constants go into the base, before it too",
             ID "%2:32 = ishl %0:32, #2:32\n%3:32 = iadd %2:32, #20:32\n"
                "%4:32 = iadd %2:32, #0xfffffffc:32\n" LOAD("%5:32", "%3:32", 0)
                   LOAD("%6:32", "%4:32", 0) "%7:32 = iadd %5:32, %6:32\n" OUT("%7:32"));
   pass_case(&g, "constants below products and in several summands",
             ID "%2:32 = iadd %0:32, #3:32\n%3:32 = imul %2:32, #12:32\n"
                "%4:32 = iadd %1:32, #1:32\n%5:32 = ishl %4:32, #4:32\n"
                "%6:32 = iadd %3:32, %5:32\n" LOAD("%7:32", "%6:32", 0) OUT("%7:32"));
   pass_case(&g, "a sum of strides is divided by what they share",
             ID "%2:32 = ishl %0:32, #6:32\n%3:32 = ishl %1:32, #4:32\n"
                "%4:32 = iadd %2:32, %3:32\n" LOAD("%5:32", "%4:32", 0) OUT("%5:32"));
   pass_case(&g, "a vector's shift reaches two beyond its element's",
             ID "%2:32 = ishl %0:32, #7:32\n" LOAD(
                "%3:32x4", "%2:32", 0) "%4:32, %5:32, %6:32, %7:32 = split %3:32x4\n" OUT("%7:32"));
   pass_case(&g, "halves",
             ID "%2:32 = imul %0:32, #18:32\n%3:32 = iadd %2:32, #2:32\n" LOAD(
                "%4:16", "%3:32", 0) "%5:32 = zext %4:16\n" OUT("%5:32"));
   pass_case(&g, "bytes have no factor of their own, but a range",
             ID "%2:32 = ishl %0:32, #2:32\n%3:32 = iadd %2:32, #1:32\n%4:32 = sysval #3:64\n"
                "%5:32 = ishl %4:32, #2:32\n" LOAD("%6:8", "%3:32", 0) LOAD(
                   "%7:8", "%5:32", 1) "%8:8 = iadd %6:8, %7:8\n%9:32 = zext %8:8\n" OUT("%9:32"));
   pass_case(&g, "what the application shifts stays inside of the index",
             ID "%2:32 = ishl.exact %0:32, #1:32\n%3:32 = ishl %2:32, #2:32\n"
                "%4:32 = iadd %3:32, #4:32\n" LOAD("%5:32", "%4:32", 0) OUT("%5:32"));
   pass_case(&g, "a constant before the buffer stays when nothing divides it",
             ID "%2:32 = iadd %0:32, #0xffffffff:32\n" LOAD("%3:8", "%2:32",
                                                            0) "%4:32 = zext %3:8\n" OUT("%4:32"));
   pass_case(&g, "far constants and near ones",
             ID LOAD("%2:32", "#0x20000:32", 0)
                LOAD("%3:32", "#0x1fffc:32", 0) "%4:32 = iadd %2:32, %3:32\n" OUT("%4:32"));
   pass_golden_check(&g, "compiler/opt_address_device.txt");
}

static void shared(void **state)
{
   struct pass_golden g = {.passes = passes, .pass_count = AGX_COUNT(passes), .shared_B = 16384};
#define LOCAL "%0:32 = sysval #3:64\n%1:32 = sysval #4:64\n"
   pass_case(&g, "a scaled index and constants",
             LOCAL "%2:32 = ishl %0:32, #2:32\n%3:32 = iadd %2:32, #64:32\n"
                   "%4:32 = load_shared %2:32\n%5:32 = load_shared %3:32\n"
                   "%6:32 = fadd %4:32, %5:32\n" OUT("%6:32"));
   pass_case(&g, "a sum in bytes and a constant before it",
             LOCAL "%2:32 = ishl %1:32, #6:32\n%3:32 = ishl %0:32, #2:32\n"
                   "%4:32 = iadd %2:32, %3:32\n%5:32 = iadd %4:32, #0xfffffffc:32\n"
                   "%6:32 = load_shared %5:32\n" OUT("%6:32"));
   pass_case(&g, "what may be below zero keeps its constant inside",
             LOCAL "%2:32 = isub %0:32, %1:32\n%3:32 = ishl %2:32, #2:32\n"
                   "%4:32 = iadd %3:32, #64:32\n%5:32 = umin %4:32, #1020:32\n"
                   "%6:32 = load_shared %5:32\n" OUT("%6:32"));
   pass_case_same(&g, "what may be anything stays",
                  "%2:32 = sysval #6:64\n%3:32 = ishl %2:32, #2:32\n%4:32 = iadd %3:32, #64:32\n"
                  "%5:32 = load_shared %4:32\n" OUT("%5:32"));
   pass_golden_check(&g, "compiler/opt_address_shared.txt");
}

/* A constant whose high bits a shift would drop keeps its place: (x + 2^31) << 2 is x << 2
 * as an offset, but as an index it is not x. */
static void constants_that_a_shift_cuts(void **state)
{
   static const pass_fn algebraic[] = {agxc_opt_algebraic, agxc_opt_address, agxc_opt_cse};
   struct pass_golden g = {.passes = algebraic, .pass_count = AGX_COUNT(algebraic)};
   pass_case_same(
      &g, "cut by the shift",
      "%0:32 = sysval #6:64\n%2:32 = iadd %0:32, #0x80000000:32\n%3:32 = ishl %2:32, #2:32\n"
      "%4:32 = load_global u0l:64, %3:32, #0:64\n" OUT("%4:32"));
   pass_case(&g, "an address that is no binding's",
             "%0:32 = sysval #6:64\n%2:32 = imul %0:32, #12:32\n%3:32 = iadd %2:32, #4:32\n"
             "%4:32 = load_global u0l:64, %3:32, #0:64\n" OUT("%4:32"));
   pass_golden_check(&g, "compiler/opt_address_same.txt");
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(device),
      cmocka_unit_test(shared),
      cmocka_unit_test(constants_that_a_shift_cuts),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
