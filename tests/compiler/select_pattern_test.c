/* SPDX-License-Identifier: MIT
 *
 * Rows that do the work of several operations, and what must not become one.
 */
#include "agx/compiler/select/select.h"
#include "pass_support.h"

#define LOAD2         "%0:32 = load_shared #0:32\n%1:32 = load_shared #4:32\n"
#define LLOAD         "%0:32 = agx.lload _, #0:16, #2:64, #1:64\n"
#define LLOAD2        LLOAD "%1:32 = agx.lload _, #1:16, #2:64, #1:64\n"
#define LSTORE(value) "agx.lstore " value ", _, #0:16, #2:64, #1:64\n"
#define ROW1(ops, row)                                                                             \
   CASE(PASS_LOAD("%0:32") ops PASS_STORE("%9:32"), LLOAD row LSTORE("%9:32"), agxc_select)
#define ROW2(ops, row) CASE(LOAD2 ops PASS_STORE("%9:32"), LLOAD2 row LSTORE("%9:32"), agxc_select)

static void sums_take_long_shifts(void **state)
{
   ROW2("%2:32 = ishl %1:32, #7:32\n%9:32 = iadd %0:32, %2:32\n",
        "%9:32 = agx.imadd %1:32, #0x80:32, %0:32, #0:64, #0:64\n");
   ROW2("%2:32 = ishl %1:32, #7:32\n%9:32 = isub %2:32, %0:32\n",
        "%9:32 = agx.imsub %1:32, #0x80:32, %0:32, #0:64, #0:64\n");
   ROW2("%2:32 = imul %0:32, %1:32\n%9:32 = isub %2:32, %0:32\n",
        "%9:32 = agx.imsub %0:32, %1:32, %0:32, #0:64, #0:64\n");
   /* A shift that is needed anyway. */
   CASE(LOAD2 "%2:32 = ishl %1:32, #7:32\n%9:32 = iadd %0:32, %2:32\n" PASS_STORE("%9:32")
           PASS_STORE("%2:32"),
        LLOAD2 "%2:32 = agx.shl %1:32, #7:32\n%9:32 = agx.iadd %0:32, %2:32, #0:64, #0:64\n" LSTORE(
           "%9:32") LSTORE("%2:32"),
        agxc_select);
}

static void products_become_shifted_sums(void **state)
{
   ROW1("%9:32 = imul %0:32, #9:32\n", "%9:32 = agx.iadd %0:32, %0:32, #3:64, #0:64\n");
   ROW1("%9:32 = imul %0:32, #0xfffffff9:32\n", "%9:32 = agx.isub %0:32, %0:32, #3:64, #0:64\n");
   ROW1("%9:32 = imul %0:32, #7:32\n", "%9:32 = agx.imul %0:32, #7:32, #0:64\n");
}

static void fields_are_extracted(void **state)
{
   ROW1("%2:32 = ushr %0:32, #8:32\n%9:32 = iand %2:32, #0xff:32\n",
        "%9:32 = agx.bfeil #0:16, %0:32, #8:32, #8:64\n");
   ROW1("%2:32 = iand %0:32, #0xff0f:32\n%9:32 = ushr %2:32, #8:32\n",
        "%9:32 = agx.bfeil #0:16, %0:32, #8:32, #8:64\n");
   ROW1("%2:32 = ishl %0:32, #8:32\n%9:32 = ushr %2:32, #0x18:32\n",
        "%9:32 = agx.bfeil #0:16, %0:32, #0x10:32, #8:64\n");
   /* Ones with a gap are no field. */
   ROW1("%2:32 = ushr %0:32, #8:32\n%9:32 = iand %2:32, #5:32\n",
        "%2:32 = agx.shr %0:32, #8:32\n%9:32 = agx.and %2:32, #5:32\n");
}

static void high_halves_need_no_shift(void **state)
{
   ROW1("%2:32 = ushr %0:32, #0x10:32\n%9:32 = imul %2:32, %2:32\n",
        "%10:16, %11:16 = split %0:32\n%9:32 = agx.imul %11:16, %11:16, #0:64\n");
   /* A store wants all 32 bits, a signed compare its own sign. */
   ROW1("%9:32 = ushr %0:32, #0x10:32\n", "%9:32 = agx.shr %0:32, #0x10:32\n");
   ROW1("%2:32 = ushr %0:32, #0x10:32\n%3:1 = slt %2:32, #5:32\n"
        "%9:32 = select %3:1, #1:32, #0:32\n",
        "%2:32 = agx.shr %0:32, #0x10:32\n"
        "%9:32 = agx.icsel %2:32, #5:32, #1:32, #0:32, #5:64\n");
}

static void words_are_joined(void **state)
{
   ROW1("%2:32 = ishl %0:32, #5:32\n%3:32 = ushr %0:32, #0x1b:32\n%9:32 = ior %2:32, %3:32\n",
        "%9:32 = agx.extr %0:32, %0:32, #0x1b:32, #0:64\n");
   ROW2("%2:32 = ishl %0:32, #5:32\n%3:32 = ushr %1:32, #0x1b:32\n%9:32 = ior %2:32, %3:32\n",
        "%9:32 = agx.extr %1:32, %0:32, #0x1b:32, #0:64\n");
   ROW2("%2:32 = isub #0x20:32, u4l:32\n%3:32 = ushr %0:32, u4l:32\n"
        "%4:32 = ishl %1:32, %2:32\n%9:32 = ior %3:32, %4:32\n",
        "%9:32 = agx.extr %0:32, %1:32, u4l:32, #0:64\n");
   /* Amounts that don't add up. */
   ROW2("%2:32 = ishl %0:32, #5:32\n%3:32 = ushr %1:32, #0x1c:32\n%9:32 = iadd %2:32, %3:32\n",
        "%3:32 = agx.shr %1:32, #0x1c:32\n"
        "%9:32 = agx.imadd %0:32, #0x20:32, %3:32, #0:64, #0:64\n");
   ROW2("%2:32 = iand %0:32, #0xff:32\n%3:32 = ishl %1:32, #8:32\n%9:32 = ior %2:32, %3:32\n",
        "%9:32 = agx.bfi %0:32, %1:32, #8:32, #0:64\n");
   /* The mask leaves a bit too much. */
   ROW2("%2:32 = iand %0:32, #0x1ff:32\n%3:32 = ishl %1:32, #8:32\n%9:32 = ior %2:32, %3:32\n",
        "%2:32 = agx.and %0:32, u0l:32\n%3:32 = agx.shl %1:32, #8:32\n"
        "%9:32 = agx.or %2:32, %3:32\n");
   ROW2("%2:32 = iand %0:32, #0xffff00ff:32\n%3:32 = ishl %1:32, #8:32\n"
        "%4:32 = iand %3:32, #0xff00:32\n%9:32 = ior %2:32, %4:32\n",
        "%9:32 = agx.bfi %0:32, %1:32, #8:32, #8:64\n");
}

static void inversions_join_logic(void **state)
{
   ROW2("%2:32 = inot %0:32\n%9:32 = iand %2:32, %1:32\n", "%9:32 = agx.andn2 %1:32, %0:32\n");
   ROW2("%2:32 = inot %1:32\n%9:32 = ior %0:32, %2:32\n", "%9:32 = agx.orn2 %0:32, %1:32\n");
   ROW2("%2:32 = ixor %0:32, %1:32\n%9:32 = inot %2:32\n", "%9:32 = agx.xnor %0:32, %1:32\n");
}

static void floats_saturate_where_they_are_made(void **state)
{
   ROW2("%2:32 = fsub %0:32, %1:32\n%9:32 = fsat %2:32\n",
        "%9:32 = agx.fadd %0:32, %1:32.neg, #1:64\n");
   CASE(LOAD2 "%2:32 = fadd %0:32, %1:32\n%9:32 = fsat %2:32\n" PASS_STORE("%9:32")
           PASS_STORE("%2:32"),
        LLOAD2 "%2:32 = agx.fadd %0:32, %1:32, #0:64\n"
               "%9:32 = agx.fadd %2:32, f128:16, #1:64\n" LSTORE("%9:32") LSTORE("%2:32"),
        agxc_select);
   ROW1("%2:32 = iand %0:32, #0xff:32\n%9:32 = u2f %2:32\n", "%9:32 = agx.u8_to_f %0:32, #1:64\n");
   ROW1("%2:32 = iand %0:32, #0xff:32\n%9:32 = s2f %2:32\n", "%9:32 = agx.u8_to_f %0:32, #1:64\n");
   /* A mask that keeps the sign. */
   ROW1("%3:16 = trunc %0:32\n%2:16 = iand %3:16, #0xffff:16\n%9:32 = s2f %2:16\n",
        "%2:16 = agx.and %0:32, u0l:16\n%9:32 = agx.s16_to_f %2:16, #1:64\n");
}

static void constant_addresses_get_a_register(void **state)
{
   CASE(PASS_LOAD("%0:32") "store_global #0x100000040:64, #4:32, %0:32, #0:64\n",
        LLOAD "%1:32 = agx.ldimm32 #0x40:64, #0:64\n%2:32 = agx.ldimm32 #1:64, #0:64\n"
              "%3:64 = collect %1:32, %2:32\n"
              "agx.store %0:32, %3:64, #1:32, #0:64, #2:64, #1:64, #0:64, #0:64\n",
        agxc_select);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(sums_take_long_shifts),
      cmocka_unit_test(products_become_shifted_sums),
      cmocka_unit_test(fields_are_extracted),
      cmocka_unit_test(high_halves_need_no_shift),
      cmocka_unit_test(words_are_joined),
      cmocka_unit_test(inversions_join_logic),
      cmocka_unit_test(floats_saturate_where_they_are_made),
      cmocka_unit_test(constant_addresses_get_a_register),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
