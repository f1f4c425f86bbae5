/* SPDX-License-Identifier: MIT
 *
 * Compares join what asks for them; of two that are connected one becomes a select in front of the
 * other.
 */
#include "agx/compiler/select/select.h"
#include "pass_support.h"

#define LOAD2  "%0:32 = load_shared #0:32\n%1:32 = load_shared #4:32\n"
#define ROWS   "%0:32 = agx.lload _, #0:16, #2:64, #1:64\n%1:32 = agx.lload _, #1:16, #2:64, #1:64\n"
#define LSTORE "agx.lstore %9:32, _, #0:16, #2:64, #1:64\n"
#define LOGIC(ops, rows)                                                                           \
   CASE(LOAD2 ops "%9:32 = select %4:1, #5:32, #6:32\n" PASS_STORE("%9:32"), ROWS rows LSTORE,     \
        agxc_select)

#define LLOAD  "%0:32 = agx.lload _, #0:16, #2:64, #1:64\n"
#define PASSES agxc_select
/* One value or two in, %9 out: operations before, rows after. */
#define ROW1(ops, rows) CASE(PASS_LOAD("%0:32") ops PASS_STORE("%9:32"), LLOAD rows LSTORE, PASSES)
#define ROW2(ops, rows) CASE(LOAD2 ops PASS_STORE("%9:32"), ROWS rows LSTORE, PASSES)

static void compares_are_forced(void **state)
{
   /* x < 7 and x != y: where the first fails, y meets itself. */
   LOGIC("%2:1 = ult %0:32, #7:32\n%3:1 = ine %0:32, %1:32\n%4:1 = iand %2:1, %3:1\n",
         "%11:32 = agx.icsel %0:32, #7:32, %0:32, %1:32, #1:64\n"
         "%9:32 = agx.icsel %11:32, %1:32, #6:32, #5:32, #0:64\n");
   /* x >= 7 or x >= y: nothing is below 0. */
   LOGIC("%2:1 = uge %0:32, #7:32\n%3:1 = uge %0:32, %1:32\n%4:1 = ior %2:1, %3:1\n",
         "%11:32 = agx.icsel %0:32, #7:32, %1:32, #0:32, #1:64\n"
         "%9:32 = agx.icsel %0:32, %11:32, #6:32, #5:32, #1:64\n");
   /* An ordered compare of floats fails for NaN. */
   LOGIC("%2:1 = ult %0:32, #7:32\n%3:1 = flt %0:32, %1:32\n%4:1 = iand %2:1, %3:1\n",
         "%11:32 = agx.icsel %0:32, #7:32, %0:32, u0l:32, #1:64\n"
         "%9:32 = agx.fcsel %11:32, %1:32, #5:32, #6:32, #1:64\n");
}

static void some_cannot_be_forced(void **state)
{
   /* Nothing makes a < b true for every b, nor the other way round. */
   LOGIC("%2:1 = flt %1:32, %0:32\n%3:1 = flt %0:32, %1:32\n%4:1 = ior %2:1, %3:1\n",
         "%2:16 = agx.fcsel %1:32, %0:32, #1:16, #0:16, #1:64\n"
         "%3:16 = agx.fcsel %0:32, %1:32, #1:16, #0:16, #1:64\n"
         "%4:16 = agx.or %2:16, %3:16\n"
         "%9:32 = agx.icsel %4:16, #0:16, #6:32, #5:32, #0:64\n");
   /* A compare that is wanted elsewhere is there anyway. */
   CASE(LOAD2 "%2:1 = ult %0:32, #7:32\n%3:1 = ult %0:32, %1:32\n%4:1 = iand %2:1, %3:1\n"
              "%5:1 = ixor %2:1, %3:1\n%6:32 = select %5:1, #1:32, #2:32\n"
              "%9:32 = select %4:1, %6:32, #6:32\n" PASS_STORE("%9:32"),
        ROWS "%2:16 = agx.icsel %0:32, #7:32, #1:16, #0:16, #1:64\n"
             "%3:16 = agx.icsel %0:32, %1:32, #1:16, #0:16, #1:64\n"
             "%4:16 = agx.and %2:16, %3:16\n%5:16 = agx.xor %2:16, %3:16\n"
             "%6:32 = agx.icsel %5:16, #0:16, #2:32, #1:32, #0:64\n"
             "%9:32 = agx.icsel %4:16, #0:16, #6:32, %6:32, #0:64\n" LSTORE,
        agxc_select);
}

static void compares_join_what_asks(void **state)
{
   ROW2("%2:1 = slt %0:32, %1:32\n"
        "%9:32 = select %2:1, %0:32, #5:32\n",
        "%9:32 = agx.icsel %0:32, %1:32, %0:32, #5:32, #5:64\n");
   /* Selects have no inversion: what is chosen swaps places. */
   ROW2("%2:1 = sge %0:32, %1:32\n"
        "%9:32 = select %2:1, %0:32, #5:32\n",
        "%9:32 = agx.icsel %0:32, %1:32, #5:32, %0:32, #5:64\n");
   ROW2("%2:1 = ine %0:32, %1:32\n"
        "%3:1 = inot %2:1\n"
        "%4:1 = inot %3:1\n"
        "%5:1 = inot %4:1\n"
        "%9:32 = select %5:1, %0:32, #5:32\n",
        "%9:32 = agx.icsel %0:32, %1:32, %0:32, #5:32, #0:64\n");
   /* Each that asks compares anew; a truth that is stored is a number. */
   ROW1("%2:1 = ult %0:32, #0x100:32\n"
        "%3:32 = select %2:1, %0:32, #5:32\n"
        "%4:32 = zext %2:1\n"
        "%9:32 = iadd %3:32, %4:32\n",
        "%2:16 = agx.icsel %0:32, u0l:32, #1:16, #0:16, #1:64\n"
        "%3:32 = agx.icsel %0:32, u0l:32, %0:32, #5:32, #1:64\n"
        "%9:32 = agx.iadd %3:32, %2:16, #0:64, #0:64\n");
}

static void not_a_number_is_not_ordered(void **state)
{
   ROW2("%2:1 = flt %0:32, %1:32\n"
        "%3:1 = inot %2:1\n"
        "%9:32 = select %3:1, %0:32, #5:32\n",
        "%9:32 = agx.fcsel %0:32, %1:32, #5:32, %0:32, #1:64\n");
   ROW2("%2:1 = fge %0:32, %1:32\n"
        "%9:32 = select %2:1, %0:32, #5:32\n",
        "%9:32 = agx.fcsel %0:32, %1:32, %0:32, #5:32, #5:64\n");
   ROW2("%2:1 = fne %0:32, %1:32\n"
        "%9:32 = select %2:1, %0:32, #5:32\n",
        "%9:32 = agx.fcsel %0:32, %1:32, #5:32, %0:32, #0:64\n");
}

static void signs_join_compares_of_floats(void **state)
{
   ROW2("%2:32 = fneg %0:32\n"
        "%3:32 = fabs %1:32\n"
        "%4:1 = flt %2:32, %3:32\n"
        "%9:32 = select %4:1, #1:32, #0:32\n",
        "%9:32 = agx.fcsel %0:32.neg, %1:32.abs, #1:32, #0:32, #1:64\n");
   /* What is chosen is bits. */
   ROW2("%2:32 = fneg %0:32\n"
        "%3:1 = flt %2:32, %1:32\n"
        "%9:32 = select %3:1, %2:32, %1:32\n",
        "%2:32 = agx.xor %0:32, u0l:32\n"
        "%9:32 = agx.fcsel %0:32.neg, %1:32, %2:32, %1:32, #1:64\n");
   /* So is what a minimum compares. */
   ROW2("%2:32 = fneg %0:32\n"
        "%9:32 = fmin %2:32, %1:32\n",
        "%2:32 = agx.xor %0:32, u0l:32\n"
        "%9:32 = agx.fcsel %2:32, %1:32, %2:32, %1:32, #3:64\n");
}

static void extremes_are_selects(void **state)
{
   ROW2("%9:32 = imin %0:32, %1:32\n", "%9:32 = agx.icsel %0:32, %1:32, %0:32, %1:32, #5:64\n");
   ROW1("%9:32 = umax %0:32, #5:32\n", "%9:32 = agx.icsel %0:32, #5:32, %0:32, #5:32, #2:64\n");
   ROW2("%9:32 = fmin %0:32, %1:32\n", "%9:32 = agx.fcsel %0:32, %1:32, %0:32, %1:32, #3:64\n");
   ROW1("%9:32 = fmax %0:32, #0:32\n", "%9:32 = agx.fcsel %0:32, f0:16, %0:32, #0:32, #7:64\n");
   /* Minus zero is no immediate of 32 bits. */
   ROW1("%9:32 = fmax %0:32, #0x80000000:32\n",
        "%9:32 = agx.fcsel %0:32, u0l:32, %0:32, u0l:32, #7:64\n");
   ROW1("%9:32 = fmin %0:32, #0x3f800000:32\n",
        "%9:32 = agx.fcsel %0:32, u0l:32, %0:32, u0l:32, #3:64\n");
}

static void branches_ask_themselves(void **state)
{
   CASE("%0:32 = load_shared #0:32\n"
        "%1:1 = uge %0:32, #7:32\n"
        "branch %1:1\n"
        "if\n"
        "store_shared #0:32, #1:32\n"
        "else\n"
        "end\n",
        "%0:32 = agx.lload _, #0:16, #2:64, #1:64\n"
        "agx.if_icmp %0:32, #7:32, #1:64, #0:64, #9:64\n"
        "if\n"
        "%2:32 = agx.ldimm32 #1:64, #0:64\n"
        "agx.lstore %2:32, _, #0:16, #2:64, #1:64\n"
        "else\n"
        "end\n",
        PASSES);
   CASE("%0:32 = load_shared #0:32\n"
        "%1:1 = flt %0:32, #0x40000000:32\n"
        "%2:1 = inot %1:1\n"
        "branch %2:1\n"
        "if\n"
        "store_shared #0:32, #1:32\n"
        "else\n"
        "end\n",
        "%0:32 = agx.lload _, #0:16, #2:64, #1:64\n"
        "agx.if_fcmp %0:32, f64:16, #1:64, #0:64, #9:64\n"
        "if\n"
        "%3:32 = agx.ldimm32 #1:64, #0:64\n"
        "agx.lstore %3:32, _, #0:16, #2:64, #1:64\n"
        "else\n"
        "end\n",
        PASSES);
   /* A truth that a phi brings is a number. */
   CASE("%0:32 = load_shared #0:32\n"
        "%1:1 = uge %0:32, #7:32\n"
        "branch %1:1\n"
        "if\n"
        "%2:32 = load_shared #4:32\n"
        "%3:1 = ult %2:32, #9:32\n"
        "else\n"
        "end\n"
        "%4:1 = phi %3:1, #0:1\n"
        "branch %4:1\n"
        "if\n"
        "store_shared #0:32, #1:32\n"
        "else\n"
        "end\n",
        "%0:32 = agx.lload _, #0:16, #2:64, #1:64\n"
        "%6:16 = agx.ldimm16 #0:64\n"
        "agx.if_icmp %0:32, #7:32, #1:64, #0:64, #9:64\n"
        "if\n"
        "%2:32 = agx.lload _, #1:16, #2:64, #1:64\n"
        "%3:16 = agx.icsel %2:32, #9:32, #1:16, #0:16, #1:64\n"
        "else\n"
        "end\n"
        "%4:16 = phi %3:16, %6:16\n"
        "agx.if_icmp %4:16, #0:16, #1:64, #0:64, #8:64\n"
        "if\n"
        "%5:32 = agx.ldimm32 #1:64, #0:64\n"
        "agx.lstore %5:32, _, #0:16, #2:64, #1:64\n"
        "else\n"
        "end\n",
        PASSES);
}

static void ballots_take_registers(void **state)
{
   CASE("%0:32 = load_shared #0:32\n"
        "%1:1 = ult %0:32, #7:32\n"
        "%9:32 = ballot %1:1\n"
        "store_shared #0:32, %9:32\n",
        "%0:32 = agx.lload _, #0:16, #2:64, #1:64\n"
        "%9:32 = agx.icmp_ballot %0:32, #7:32, #1:64, #1:64\n"
        "agx.lstore %9:32, _, #0:16, #2:64, #1:64\n",
        PASSES);
   /* Whether they take uniforms is not known. */
   CASE("%0:32 = load_shared #0:32\n"
        "%1:1 = ult %0:32, u4l:32\n"
        "%9:32 = ballot %1:1\n"
        "store_shared #0:32, %9:32\n",
        "%0:32 = agx.lload _, #0:16, #2:64, #1:64\n"
        "%10:32 = agx.mov u4l:32\n"
        "%9:32 = agx.icmp_ballot %0:32, %10:32, #1:64, #1:64\n"
        "agx.lstore %9:32, _, #0:16, #2:64, #1:64\n",
        PASSES);
   CASE("%9:32 = ballot #1:1\n"
        "store_shared #0:32, %9:32\n",
        "%9:32 = agx.icmp_ballot #0:16, #0:16, #1:64, #0:64\n"
        "agx.lstore %9:32, _, #0:16, #2:64, #1:64\n",
        PASSES);
   CASE("%9:32 = ballot #0:1\n"
        "store_shared #0:32, %9:32\n",
        "%9:32 = agx.icmp_ballot #0:16, #0:16, #1:64, #8:64\n"
        "agx.lstore %9:32, _, #0:16, #2:64, #1:64\n",
        PASSES);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(compares_are_forced),
      cmocka_unit_test(some_cannot_be_forced),
      cmocka_unit_test(compares_join_what_asks),
      cmocka_unit_test(not_a_number_is_not_ordered),
      cmocka_unit_test(signs_join_compares_of_floats),
      cmocka_unit_test(extremes_are_selects),
      cmocka_unit_test(branches_ask_themselves),
      cmocka_unit_test(ballots_take_registers),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
