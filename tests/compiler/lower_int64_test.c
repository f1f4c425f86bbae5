/* SPDX-License-Identifier: MIT
 *
 * lower_int64 as text: pairs of words, fewer where a word is known.
 */
#include "agx/compiler/lower/lower.h"
#include "golden_support.h"

#define WORDS                                                                                      \
   "%0:32 = load_shared #0:32\n%1:32 = load_shared #4:32\n%2:32 = load_shared #8:32\n"             \
   "%3:32 = load_shared #12:32\n"
#define WIDE WORDS "%4:64 = pack64 %0:32, %1:32\n%5:64 = pack64 %2:32, %3:32\n"
#define OUT  "store_shared #0:32, %9:32\n"
#define OUT_PAIR                                                                                   \
   "%7:32, %8:32 = unpack64 %6:64\nstore_shared #0:32, %7:32\nstore_shared #4:32, %8:32\n"
#define OUT_BOOL "%9:32 = zext %6:1\n" OUT
#define PAIR(op) WIDE "%6:64 = " op "\n" OUT_PAIR
#define BOOL(op) WIDE "%6:1 = " op "\n" OUT_BOOL

static const pass_fn passes[] = {agxc_lower_int64};

static struct pass_golden begin(void)
{
   return (struct pass_golden){.passes = passes, .pass_count = AGX_COUNT(passes), .shared_B = 64};
}

static void arithmetic(void **state)
{
   struct pass_golden g = begin();
   pass_case(&g, "sums have a row", PAIR("iadd %4:64, %5:64"));
   pass_case(&g, "a product is three", PAIR("imul %4:64, %5:64"));
   pass_case(&g, "bits word by word, known ones left out", PAIR("ixor %4:64, #0xffffffff:64"));
   pass_case(&g, "the smaller one", PAIR("umin %4:64, %5:64"));
   pass_case(&g, "ones", PAIR("bitcount %4:64"));
   pass_case(&g, "reversed words change places", PAIR("bitrev %4:64"));
   pass_golden_check(&g, "compiler/lower_int64_arithmetic.txt");
}

static void shifts(void **state)
{
   struct pass_golden g = begin();
   pass_case(&g, "left by a few", PAIR("ishl %4:64, #8:32"));
   pass_case(&g, "left by a word and more", PAIR("ishl %4:64, #40:32"));
   pass_case(&g, "right by a word", PAIR("ushr %4:64, #32:32"));
   pass_case(&g, "right with the sign", PAIR("ashr %4:64, #40:32"));
   pass_case(&g, "right by a value", PAIR("ushr %4:64, %2:32"));
   pass_golden_check(&g, "compiler/lower_int64_shifts.txt");
}

static void compares(void **state)
{
   struct pass_golden g = begin();
   pass_case(&g, "equal", BOOL("ieq %4:64, %5:64"));
   pass_case(&g, "below", BOOL("ult %4:64, %5:64"));
   pass_case(&g, "below, signed: so are the high words", BOOL("slt %4:64, %5:64"));
   pass_case(&g, "negative", BOOL("slt %4:64, #0:64"));
   pass_golden_check(&g, "compiler/lower_int64_compares.txt");
}

static void conversions(void **state)
{
   struct pass_golden g = begin();
   pass_case(&g, "the low word", WIDE "%9:32 = trunc %4:64\n" OUT);
   pass_case(&g, "zeros above", PAIR("zext %0:32"));
   pass_case(&g, "signs above", PAIR("sext %0:32"));
   pass_case(&g, "phis of words, where the word is used",
             WIDE "%6:1 = ieq %0:32, #0:32\nbranch %6:1\nif\nelse\nend\n"
                  "%7:64 = phi %4:64, %5:64\n%8:64 = ushr %7:64, #32:32\n"
                  "%9:32 = trunc %8:64\n" OUT);
   pass_golden_check(&g, "compiler/lower_int64_conversions.txt");
}

static void addresses_stay_whole(void **state)
{
   struct pass_golden g = begin();
   pass_case_same(&g, "of a uniform", "%9:32 = load_global u0l:64, #0:32, #0:64\n" OUT);
   pass_case_same(&g, "words",
                  WORDS "%9:32 = iadd %0:32, %1:32\nstore_shared #4:32, %2:32\n"
                        "store_shared #8:32, %3:32\n" OUT);
   pass_golden_check(&g, NULL);
   g = begin();
   pass_case(&g, "moved by a constant",
             WIDE "%6:64 = iadd %4:64, #8:64\n%9:32 = load_global %6:64, #0:32, #0:64\n" OUT);
   pass_golden_check(&g, "compiler/lower_int64_addresses.txt");
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(arithmetic),
      cmocka_unit_test(shifts),
      cmocka_unit_test(compares),
      cmocka_unit_test(conversions),
      cmocka_unit_test(addresses_stay_whole),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
