/* SPDX-License-Identifier: MIT
 *
 * Products of signed bytes that become products of scaled halves in pairs, and those that don't.
 */
#include "agx/compiler/opt/opt.h"
#include "pass_support.h"

#define VECTORS                                                                                    \
   "%0:8x2 = load_shared #0:32\n%1:8, %2:8 = split %0:8x2\n"                                       \
   "%3:8x2 = load_shared #4:32\n%4:8, %5:8 = split %3:8x2\n"
#define EXTENDED                                                                                   \
   VECTORS "%6:32 = sext %1:8\n%7:32 = sext %2:8\n%8:32 = sext %4:8\n%9:32 = sext %5:8\n"
#define PRODUCTS EXTENDED "%10:32 = imul %6:32, %8:32\n%11:32 = imul %7:32, %9:32\n"
#define SUM      "%12:32 = iadd %10:32, %11:32\n"

#define PAIR                                                                                       \
   VECTORS "%13:16 = zext %1:8\n%14:16 = zext %2:8\n%15:32 = pack32 %13:16, %14:16\n"              \
           "%16:32 = ishl %15:32, #8:32\n%17:16, %18:16 = unpack32 %16:32\n"                       \
           "%19:32 = sext %17:16\n%20:32 = sext %18:16\n"                                          \
           "%21:16 = zext %4:8\n%22:16 = zext %5:8\n%23:32 = pack32 %21:16, %22:16\n"              \
           "%24:32 = ishl %23:32, #8:32\n%25:16, %26:16 = unpack32 %24:32\n"                       \
           "%27:32 = sext %25:16\n%28:32 = sext %26:16\n"                                          \
           "%29:32 = imul %19:32, %27:32\n%30:32 = iadd %29:32, #0xffff0000:32\n"                  \
           "%31:32 = imul %20:32, %28:32\n%32:32 = iadd %31:32, %30:32\n"                          \
           "%33:16, %34:16 = unpack32 %32:32\n%35:32 = sext %34:16\n"                              \
           "%36:32 = iadd %35:32, #1:32\n%12:32 = mov %36:32\n"

static void neighbours_pair_up(void **state)
{
   CASE(PRODUCTS SUM PASS_STORE("%12:32"), PAIR PASS_STORE("%12:32"), agxc_opt_byte_dot);
}

static void factors_come_in_any_order(void **state)
{
   CASE(EXTENDED
        "%10:32 = imul %6:32, %8:32\n%11:32 = imul %9:32, %7:32\n" SUM PASS_STORE("%12:32"),
        PAIR PASS_STORE("%12:32"), agxc_opt_byte_dot);
}

#define STAYS(text) NEGCASE(text, agxc_opt_byte_dot)

static void other_products_stay(void **state)
{
   /* Crosswise: the halves that meet are not neighbours in the same way. */
   STAYS(VECTORS "%6:32 = sext %1:8\n%7:32 = sext %2:8\n%10:32 = imul %6:32, %6:32\n"
                 "%8:32 = sext %4:8\n%11:32 = imul %7:32, %8:32\n" SUM PASS_STORE("%12:32"));
   /* A product that is needed otherwise, */
   STAYS(PRODUCTS SUM PASS_STORE("%10:32") PASS_STORE("%12:32"));
   /* a difference, */
   STAYS(PRODUCTS "%12:32 = isub %10:32, %11:32\n" PASS_STORE("%12:32"));
   /* one product alone, */
   STAYS(VECTORS "%6:32 = sext %1:8\n%8:32 = sext %4:8\n%10:32 = imul %6:32, %8:32\n"
                 "%12:32 = iadd %10:32, %6:32\n" PASS_STORE("%12:32"));
}

static void other_bytes_stay(void **state)
{
   /* Unsigned ones cost nothing to extend. */
   STAYS(VECTORS
         "%6:32 = zext %1:8\n%7:32 = zext %2:8\n%8:32 = zext %4:8\n%9:32 = zext %5:8\n"
         "%10:32 = imul %6:32, %8:32\n%11:32 = imul %7:32, %9:32\n" SUM PASS_STORE("%12:32"));
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(neighbours_pair_up),
      cmocka_unit_test(factors_come_in_any_order),
      cmocka_unit_test(other_products_stay),
      cmocka_unit_test(other_bytes_stay),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
