/* SPDX-License-Identifier: MIT
 *
 * Arithmetic as rows: which constants, shifts, extensions and signs come for free, and which
 * want a row of their own.
 */
#include "agx/compiler/select/select.h"
#include "pass_support.h"

#define LLOAD  "%0:32 = agx.lload _, #0:16, #2:64, #1:64\n"
#define LLOAD2 LLOAD "%1:32 = agx.lload _, #1:16, #2:64, #1:64\n"
#define LOAD2  "%0:32 = load_shared #0:32\n%1:32 = load_shared #4:32\n"
#define LSTORE "agx.lstore %9:32, _, #0:16, #2:64, #1:64\n"
/* One value or two in, %9 out: operations before, rows after. */
#define ROW1(ops, rows) CASE(PASS_LOAD("%0:32") ops PASS_STORE("%9:32"), LLOAD rows LSTORE, PASSES)
#define ROW2(ops, rows) CASE(LOAD2 ops PASS_STORE("%9:32"), LLOAD2 rows LSTORE, PASSES)
#define PASSES          agxc_select

static void small_constants_change_the_sign(void **state)
{
   ROW1("%9:32 = iadd %0:32, #0xffffffff:32\n", "%9:32 = agx.isub %0:32, #1:32, #0:64, #0:64\n");
   ROW1("%9:32 = isub %0:32, #0xfffffffe:32\n", "%9:32 = agx.iadd %0:32, #2:32, #0:64, #0:64\n");
   ROW1("%9:32 = isub %0:32, #5:32\n", "%9:32 = agx.isub %0:32, #5:32, #0:64, #0:64\n");
   /* An immediate has 8 bits. */
   ROW1("%9:32 = iadd %0:32, #0xffffff00:32\n", "%9:32 = agx.iadd %0:32, u0l:32, #0:64, #0:64\n");
   /* The sign of a short integer is its own. */
   ROW1("%2:16 = trunc %0:32\n"
        "%3:16 = iadd %2:16, #0xffff:16\n"
        "%9:32 = zext %3:16\n",
        "%3:16 = agx.isub %0:32, #1:16, #0:64, #0:64\n"
        "%9:32 = agx.mov %3:16\n");
}

static void short_shifts_are_free(void **state)
{
   ROW2("%2:32 = ishl %1:32, #4:32\n"
        "%9:32 = iadd %2:32, %0:32\n",
        "%9:32 = agx.iadd %0:32, %1:32, #4:64, #0:64\n");
   ROW2("%2:32 = ishl %1:32, #2:32\n"
        "%9:32 = isub %0:32, %2:32\n",
        "%9:32 = agx.isub %0:32, %1:32, #2:64, #0:64\n");
   ROW1("%9:32 = ishl %0:32, #4:32\n", "%9:32 = agx.iadd #0:16, %0:32, #4:64, #0:64\n");
   /* Of the second operand only, by constants up to 4. */
   ROW2("%2:32 = ishl %1:32, #2:32\n"
        "%9:32 = isub %2:32, %0:32\n",
        "%2:32 = agx.iadd #0:16, %1:32, #2:64, #0:64\n"
        "%9:32 = agx.isub %2:32, %0:32, #0:64, #0:64\n");
   ROW2("%2:32 = ishl %1:32, %0:32\n"
        "%9:32 = iadd %2:32, %0:32\n",
        "%2:32 = agx.shl %1:32, %0:32\n"
        "%9:32 = agx.iadd %2:32, %0:32, #0:64, #0:64\n");
   ROW1("%9:32 = ishl %0:32, #5:32\n", "%9:32 = agx.shl %0:32, #5:32\n");
   ROW2("%2:32 = ushr %1:32, #2:32\n"
        "%9:32 = iadd %2:32, %0:32\n",
        "%2:32 = agx.shr %1:32, #2:32\n"
        "%9:32 = agx.iadd %2:32, %0:32, #0:64, #0:64\n");
}

static void products_take_an_addend(void **state)
{
   ROW2("%2:32 = imul %0:32, %1:32\n"
        "%9:32 = iadd %2:32, %0:32\n",
        "%9:32 = agx.imadd %0:32, %1:32, %0:32, #0:64, #0:64\n");
   ROW2("%2:32 = imul %0:32, %1:32\n"
        "%3:32 = ishl %1:32, #3:32\n"
        "%9:32 = iadd %3:32, %2:32\n",
        "%9:32 = agx.imadd %0:32, %1:32, %1:32, #3:64, #0:64\n");
   /* Not a product that is needed otherwise. */
   ROW2("%2:32 = imul %0:32, %1:32\n"
        "%3:32 = iadd %2:32, %0:32\n"
        "%9:32 = ixor %3:32, %2:32\n",
        "%2:32 = agx.imul %0:32, %1:32, #0:64\n"
        "%3:32 = agx.iadd %2:32, %0:32, #0:64, #0:64\n"
        "%9:32 = agx.xor %3:32, %2:32\n");
   /* Nor its high word. */
   ROW2("%2:32 = umulh %0:32, %1:32\n"
        "%9:32 = iadd %2:32, %0:32\n",
        "%10:64 = agx.imul %0:32, %1:32, #0:64\n"
        "%11:32, %2:32 = split %10:64\n"
        "%9:32 = agx.iadd %2:32, %0:32, #0:64, #0:64\n");
}

static void high_words_are_halves_of_products(void **state)
{
   ROW2("%9:32 = umulh %0:32, %1:32\n", "%10:64 = agx.imul %0:32, %1:32, #0:64\n"
                                        "%11:32, %9:32 = split %10:64\n");
   ROW2("%9:32 = smulh %0:32, %1:32\n", "%10:64 = agx.imul %0:32.sx, %1:32.sx, #0:64\n"
                                        "%11:32, %9:32 = split %10:64\n");
}

static void truths_are_one_bit(void **state)
{
   ROW1("%9:32 = inot %0:32\n", "%9:32 = agx.not %0:32\n");
   /* Not all bits of the register. */
   ROW2("%2:1 = ult %0:32, %1:32\n"
        "%3:1 = inot %2:1\n"
        "%9:32 = zext %3:1\n",
        "%2:16 = agx.icsel %0:32, %1:32, #1:16, #0:16, #1:64\n"
        "%3:16 = agx.xor %2:16, #1:16\n"
        "%9:32 = agx.mov %3:16\n");
   ROW2("%2:1 = ult %0:32, %1:32\n"
        "%9:32 = sext %2:1\n",
        "%2:16 = agx.icsel %0:32, %1:32, #1:16, #0:16, #1:64\n"
        "%9:32 = agx.isub #0:16, %2:16, #0:64, #0:64\n");
}

static void extensions_join_what_reads_them(void **state)
{
   ROW1("%2:16 = load_shared #8:32\n"
        "%3:32 = zext %2:16\n"
        "%9:32 = iadd %0:32, %3:32\n",
        "%2:16 = agx.lload _, #4:16, #1:64, #1:64\n"
        "%9:32 = agx.iadd %0:32, %2:16, #0:64, #0:64\n");
   ROW1("%2:16 = load_shared #8:32\n"
        "%3:32 = sext %2:16\n"
        "%9:32 = iadd %0:32, %3:32\n",
        "%2:16 = agx.lload _, #4:16, #1:64, #1:64\n"
        "%9:32 = agx.iadd %0:32, %2:16.sx, #0:64, #0:64\n");
   ROW1("%2:8 = load_shared #8:32\n"
        "%3:32 = zext %2:8\n"
        "%9:32 = iadd %0:32, %3:32\n",
        "%2:16 = agx.lload _, #8:16, #0:64, #1:64\n"
        "%9:32 = agx.iadd %0:32, %2:16, #0:64, #0:64\n");
   /* Above a byte that was cut there may be anything; loads leave zeros. */
   ROW1("%2:8 = trunc %0:32\n"
        "%3:32 = zext %2:8\n"
        "%9:32 = iadd %0:32, %3:32\n",
        "%3:32 = agx.and %0:32, #0xff:16\n"
        "%9:32 = agx.iadd %0:32, %3:32, #0:64, #0:64\n");
   ROW1("%2:8 = trunc %0:32\n"
        "%9:32 = sext %2:8\n",
        "%10:32 = agx.shl %0:32, #0x18:16\n"
        "%9:32 = agx.asr %10:32, #0x18:16, #0:16, #0:64\n");
   CASE("%2:8 = load_shared #8:32\n"
        "%9:32 = sext %2:8\n"
        "store_shared #0:32, %9:32\n",
        "%2:16 = agx.lload _, #8:16, #0:64, #1:64\n"
        "%10:16 = agx.xor %2:16, #0x80:16\n"
        "%9:32 = agx.isub %10:16, #0x80:16, #0:64, #0:64\n"
        "agx.lstore %9:32, _, #0:16, #2:64, #1:64\n",
        PASSES);
   /* Logic has no sign extension. */
   ROW1("%2:16 = load_shared #8:32\n"
        "%3:32 = sext %2:16\n"
        "%9:32 = iand %0:32, %3:32\n",
        "%2:16 = agx.lload _, #4:16, #1:64, #1:64\n"
        "%3:32 = agx.iadd %2:16.sx, #0:16, #0:64, #0:64\n"
        "%9:32 = agx.and %0:32, %3:32\n");
}

static void narrow_integers_are_converted(void **state)
{
   CASE("%2:16 = load_shared #8:32\n"
        "%3:32 = sext %2:16\n"
        "%9:32 = s2f %3:32\n"
        "store_shared #0:32, %9:32\n",
        "%2:16 = agx.lload _, #4:16, #1:64, #1:64\n"
        "%9:32 = agx.s16_to_f %2:16, #1:64\n"
        "agx.lstore %9:32, _, #0:16, #2:64, #1:64\n",
        PASSES);
   /* What zeros extended is positive. */
   CASE("%2:16 = load_shared #8:32\n"
        "%3:32 = zext %2:16\n"
        "%9:32 = s2f %3:32\n"
        "store_shared #0:32, %9:32\n",
        "%2:16 = agx.lload _, #4:16, #1:64, #1:64\n"
        "%9:32 = agx.u16_to_f %2:16, #1:64\n"
        "agx.lstore %9:32, _, #0:16, #2:64, #1:64\n",
        PASSES);
   /* What signs extended is large when it is unsigned. */
   CASE("%2:16 = load_shared #8:32\n"
        "%3:32 = sext %2:16\n"
        "%9:32 = u2f %3:32\n"
        "store_shared #0:32, %9:32\n",
        "%2:16 = agx.lload _, #4:16, #1:64, #1:64\n"
        "%3:32 = agx.iadd %2:16.sx, #0:16, #0:64, #0:64\n"
        "%9:32 = agx.u32_to_f %3:32, #1:64\n"
        "agx.lstore %9:32, _, #0:16, #2:64, #1:64\n",
        PASSES);
   /* Truths are not bytes. */
   ROW1("%2:1 = ult %0:32, #5:32\n"
        "%3:32 = zext %2:1\n"
        "%9:32 = u2f %3:32\n",
        "%2:16 = agx.icsel %0:32, #5:32, #1:16, #0:16, #1:64\n"
        "%3:32 = agx.mov %2:16\n"
        "%9:32 = agx.u32_to_f %3:32, #1:64\n");
}

static void signs_join_what_reads_them(void **state)
{
   ROW2("%2:32 = fneg %0:32\n"
        "%9:32 = fmul %2:32, %1:32\n",
        "%9:32 = agx.fmul %0:32.neg, %1:32, #0:64\n");
   /* Inside an absolute value they don't count. */
   ROW2("%2:32 = fneg %0:32\n"
        "%3:32 = fabs %2:32\n"
        "%4:32 = fneg %3:32\n"
        "%9:32 = fmul %4:32, %1:32\n",
        "%9:32 = agx.fmul %0:32.abs.neg, %1:32, #0:64\n");
   /* Conversions to integers have none. */
   ROW1("%2:32 = fneg %0:32\n"
        "%9:32 = f2s %2:32\n",
        "%2:32 = agx.xor %0:32, u0l:32\n"
        "%9:32 = agx.f_to_s32 %2:32, #0:64\n");
   ROW1("%9:32 = fabs %0:32\n", "%9:32 = agx.and %0:32, u0l:32\n");
}

static void floats_have_few_immediates(void **state)
{
   ROW1("%9:32 = fadd %0:32, #0x3e200000:32\n", "%9:32 = agx.fadd %0:32, f10:16, #0:64\n");
   ROW1("%9:32 = fsub %0:32, #0x3f800000:32\n", "%9:32 = agx.fadd %0:32, f176:16, #0:64\n");
   ROW1("%9:32 = fmul %0:32, #0x80000000:32\n", "%9:32 = agx.fmul %0:32, f128:16, #0:64\n");
   /* A tenth is none, nor are 31.5, 32 and infinity. */
   ROW1("%9:32 = fsub %0:32, #0x3dcccccd:32\n", "%9:32 = agx.fadd %0:32, u0l:32.neg, #0:64\n");
   ROW1("%9:32 = fadd %0:32, #0x41fc0000:32\n", "%9:32 = agx.fadd %0:32, u0l:32, #0:64\n");
   ROW1("%9:32 = fadd %0:32, #0x42000000:32\n", "%9:32 = agx.fadd %0:32, u0l:32, #0:64\n");
   ROW1("%9:32 = fadd %0:32, #0x7f800000:32\n", "%9:32 = agx.fadd %0:32, u0l:32, #0:64\n");
}

static void rows_round_to_halves(void **state)
{
   ROW2("%2:32 = fmul %0:32, %1:32\n"
        "%3:16 = f2f %2:32\n"
        "%9:32 = zext %3:16\n",
        "%3:16 = agx.fmul %0:32, %1:32, #0:64\n"
        "%9:32 = agx.mov %3:16\n");
   ROW2("%2:16 = f2f %0:32\n"
        "%3:32 = f2f %2:16\n"
        "%9:32 = fadd %3:32, %1:32\n",
        "%2:16 = agx.fadd %0:32, f128:16, #0:64\n"
        "%9:32 = agx.fadd %2:16, %1:32, #0:64\n");
   /* What is wanted in full, too, keeps its bits. */
   ROW2("%2:32 = fmul %0:32, %1:32\n"
        "%3:16 = f2f %2:32\n"
        "%4:32 = zext %3:16\n"
        "%9:32 = fadd %4:32, %2:32\n",
        "%2:32 = agx.fmul %0:32, %1:32, #0:64\n"
        "%3:16 = agx.fadd %2:32, f128:16, #0:64\n"
        "%4:32 = agx.mov %3:16\n"
        "%9:32 = agx.fadd %4:32, %2:32, #0:64\n");
   /* A minimum does not round. */
   ROW2("%2:32 = fmin %0:32, %1:32\n"
        "%3:16 = f2f %2:32\n"
        "%9:32 = zext %3:16\n",
        "%2:32 = agx.fcsel %0:32, %1:32, %0:32, %1:32, #3:64\n"
        "%3:16 = agx.fadd %2:32, f128:16, #0:64\n"
        "%9:32 = agx.mov %3:16\n");
}

static void the_rest_are_sequences(void **state)
{
   ROW1("%9:32 = fsqrt %0:32\n", "%10:32 = agx.rsqrts %0:32, #0:64\n"
                                 "%9:32 = agx.fmul %0:32, %10:32, #0:64\n");
   ROW1("%9:32 = ffract %0:32\n", "%10:32 = agx.floor %0:32, #0:64\n"
                                  "%9:32 = agx.fadd %0:32, %10:32.neg, #0:64\n");
   ROW1("%9:32 = fsin %0:32\n", "%10:32 = agx.fmul %0:32, u0l:32, #0:64\n"
                                "%11:32 = agx.floor %10:32, #0:64\n"
                                "%12:32 = agx.fadd %10:32, %11:32.neg, #0:64\n"
                                "%13:32 = agx.fmul %12:32, f80:16, #0:64\n"
                                "%14:32 = agx.sinr %13:32, #0:64\n"
                                "%15:32 = agx.sinc %14:32, #0:64\n"
                                "%9:32 = agx.fmul %15:32, %14:32, #0:64\n");
   ROW2("%9:32 = bfi %0:32, %1:32, #3:32, #5:32\n", "%9:32 = agx.bfi %0:32, %1:32, #3:32, #5:64\n");
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(small_constants_change_the_sign),
      cmocka_unit_test(short_shifts_are_free),
      cmocka_unit_test(products_take_an_addend),
      cmocka_unit_test(high_words_are_halves_of_products),
      cmocka_unit_test(truths_are_one_bit),
      cmocka_unit_test(extensions_join_what_reads_them),
      cmocka_unit_test(narrow_integers_are_converted),
      cmocka_unit_test(signs_join_what_reads_them),
      cmocka_unit_test(floats_have_few_immediates),
      cmocka_unit_test(rows_round_to_halves),
      cmocka_unit_test(the_rest_are_sequences),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
