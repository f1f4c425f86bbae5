/* SPDX-License-Identifier: MIT
 *
 * Operations between lanes as rows.
 */
#include "agx/compiler/select/select.h"
#include "pass_support.h"

#define PASSES agxc_select

static void lanes_are_counted(void **state)
{
   CASE("%0:32 = active_rank\n"
        "store_shared #0:32, %0:32\n",
        "%0:32 = agx.mfsr #0x3a:64\n"
        "agx.lstore %0:32, _, #0:16, #2:64, #1:64\n",
        PASSES);
}

static void shuffles_name_their_window(void **state)
{
   CASE("%0:32 = load_shared #0:32\n"
        "%1:32 = load_shared #4:32\n"
        "%2:32 = shuffle %0:32, %1:32, #0:64\n"
        "%3:32 = shuffle %0:32, #3:32, #1:64\n"
        "%4:32 = shuffle %0:32, #1:32, #2:64\n"
        "%5:32 = shuffle %0:32, #1:32, #3:64\n"
        "%6:32 = shuffle %0:32, #1:32, #4:64\n"
        "%7:32 = shuffle %0:32, #1:32, #5:64\n"
        "store_shared #0:32, %2:32\n"
        "store_shared #0:32, %3:32\n"
        "store_shared #0:32, %4:32\n"
        "store_shared #0:32, %5:32\n"
        "store_shared #0:32, %6:32\n"
        "store_shared #0:32, %7:32\n",
        "%0:32 = agx.lload _, #0:16, #2:64, #1:64\n"
        "%1:32 = agx.lload _, #1:16, #2:64, #1:64\n"
        "%2:32 = agx.shuffle %0:32, %1:32, #1:64, #0:64, #0:64\n"
        "%3:32 = agx.shuffle %0:32, #3:32, #1:64, #0:64, #1:64\n"
        "%4:32 = agx.shuffle %0:32, #1:32, #1:64, #0:64, #2:64\n"
        "%5:32 = agx.shuffle %0:32, #1:32, #1:64, #0:64, #3:64\n"
        "%6:32 = agx.shuffle %0:32, #1:32, #1:64, #1:64, #2:64\n"
        "%7:32 = agx.shuffle %0:32, #1:32, #0:64, #0:64, #0:64\n"
        "agx.lstore %2:32, _, #0:16, #2:64, #1:64\n"
        "agx.lstore %3:32, _, #0:16, #2:64, #1:64\n"
        "agx.lstore %4:32, _, #0:16, #2:64, #1:64\n"
        "agx.lstore %5:32, _, #0:16, #2:64, #1:64\n"
        "agx.lstore %6:32, _, #0:16, #2:64, #1:64\n"
        "agx.lstore %7:32, _, #0:16, #2:64, #1:64\n",
        PASSES);
   /* The value is in a register, whatever it was. */
   CASE("%0:32 = shuffle u4l:32, #3:32, #1:64\n"
        "%1:16 = shuffle #7:16, #3:32, #1:64\n"
        "store_shared #0:32, %0:32\n"
        "store_shared #4:32, %1:16\n",
        "%2:32 = agx.mov u4l:32\n"
        "%0:32 = agx.shuffle %2:32, #3:32, #1:64, #0:64, #1:64\n"
        "%3:16 = agx.ldimm16 #7:64\n"
        "%1:16 = agx.shuffle %3:16, #3:32, #1:64, #0:64, #1:64\n"
        "agx.lstore %0:32, _, #0:16, #2:64, #1:64\n"
        "agx.lstore %1:16, _, #2:16, #1:64, #1:64\n",
        PASSES);
}

static void four_lanes_have_rows_of_their_own(void **state)
{
   CASE("%0:32 = load_shared #0:32\n"
        "%1:32 = reduce %0:32, #3:64, #32:64\n"
        "%2:32 = reduce %0:32, #3:64, #4:64\n"
        "store_shared #0:32, %1:32\n"
        "store_shared #0:32, %2:32\n",
        "%0:32 = agx.lload _, #0:16, #2:64, #1:64\n"
        "%1:32 = agx.simd %0:32, #0:64, #3:64\n"
        "%2:32 = agx.quad %0:32, #0:64, #3:64\n"
        "agx.lstore %1:32, _, #0:16, #2:64, #1:64\n"
        "agx.lstore %2:32, _, #0:16, #2:64, #1:64\n",
        PASSES);
   /* Scans are of all lanes only. */
   CASE("%0:32 = load_shared #0:32\n"
        "%1:32 = scan %0:32, #3:64, #0:64\n"
        "store_shared #0:32, %1:32\n",
        "%0:32 = agx.lload _, #0:16, #2:64, #1:64\n"
        "%1:32 = agx.simd %0:32, #1:64, #3:64\n"
        "agx.lstore %1:32, _, #0:16, #2:64, #1:64\n",
        PASSES);
   /* Equal operations stay two where other lanes run. */
   CASE("%0:32 = load_shared #0:32\n"
        "%1:1 = ult %0:32, #7:32\n"
        "branch %1:1\n"
        "if\n"
        "%2:32 = reduce %0:32, #3:64, #32:64\n"
        "store_shared #0:32, %2:32\n"
        "else\n"
        "%3:32 = reduce %0:32, #3:64, #32:64\n"
        "store_shared #4:32, %3:32\n"
        "end\n",
        "%0:32 = agx.lload _, #0:16, #2:64, #1:64\n"
        "agx.if_icmp %0:32, #7:32, #1:64, #0:64, #1:64\n"
        "if\n"
        "%2:32 = agx.simd %0:32, #0:64, #3:64\n"
        "agx.lstore %2:32, _, #0:16, #2:64, #1:64\n"
        "else\n"
        "%3:32 = agx.simd %0:32, #0:64, #3:64\n"
        "agx.lstore %3:32, _, #1:16, #2:64, #1:64\n"
        "end\n",
        PASSES);
}

static void products_of_matrices_have_the_width_of_their_sum(void **state)
{
   CASE("%0:16x2 = load_shared #0:32\n"
        "%1:16x2 = load_shared #4:32\n"
        "%2:32x2 = load_shared #8:32\n"
        "%3:32x2 = matrix_fma %0:16x2, %1:16x2, %2:32x2\n"
        "store_shared #0:32, %3:32x2\n",
        "%0:16x2 = agx.lload _, #0:16, #1:64, #3:64\n"
        "%1:16x2 = agx.lload _, #2:16, #1:64, #3:64\n"
        "%2:32x2 = agx.lload _, #2:16, #2:64, #3:64\n"
        "%3:32x2 = agx.simd_matrix_fmadd32 %0:16x2, %1:16x2, %2:32x2\n"
        "agx.lstore %3:32x2, _, #0:16, #2:64, #3:64\n",
        PASSES);
   CASE("%0:16x2 = load_shared #0:32\n"
        "%1:16x2 = load_shared #4:32\n"
        "%2:16x2 = load_shared #8:32\n"
        "%3:16x2 = matrix_fma %0:16x2, %1:16x2, %2:16x2\n"
        "store_shared #0:32, %3:16x2\n",
        "%0:16x2 = agx.lload _, #0:16, #1:64, #3:64\n"
        "%1:16x2 = agx.lload _, #2:16, #1:64, #3:64\n"
        "%2:16x2 = agx.lload _, #4:16, #1:64, #3:64\n"
        "%3:16x2 = agx.simd_matrix_fmadd16 %0:16x2, %1:16x2, %2:16x2\n"
        "agx.lstore %3:16x2, _, #0:16, #1:64, #3:64\n",
        PASSES);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(lanes_are_counted),
      cmocka_unit_test(shuffles_name_their_window),
      cmocka_unit_test(four_lanes_have_rows_of_their_own),
      cmocka_unit_test(products_of_matrices_have_the_width_of_their_sum),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
