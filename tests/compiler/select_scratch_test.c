/* SPDX-License-Identifier: MIT
 *
 * The thread's own memory: offsets are bytes, in an immediate of 15 bits or a
 * register.
 */
#include "agx/compiler/select/select.h"
#include "pass_support.h"

#define PASSES agxc_select

static void offsets_count_bytes(void **state)
{
   CASE("%0:32 = load_shared #0:32\n"
        "%2:32 = load_scratch %0:32\n"
        "store_scratch %0:32, %2:32\n",
        "%0:32 = agx.lload _, #0:16, #2:64, #1:64\n"
        "%2:32 = agx.stack_load %0:32, #0:64, #2:64, #1:64, #0:64\n"
        "agx.stack_store %2:32, %0:32, #0:64, #2:64, #1:64, #0:64\n",
        PASSES);
   CASE("%2:32 = load_scratch #0x7ffc:32\n"
        "store_scratch #4:32, %2:32\n",
        "%2:32 = agx.stack_load #0x7ffc:32, #0:64, #2:64, #1:64, #0:64\n"
        "agx.stack_store %2:32, #4:32, #0:64, #2:64, #1:64, #0:64\n",
        PASSES);
   CASE("%2:16x3 = load_scratch #8:32\n"
        "store_scratch #32:32, %2:16x3\n",
        "%2:16x3 = agx.stack_load #8:32, #0:64, #1:64, #7:64, #0:64\n"
        "agx.stack_store %2:16x3, #0x20:32, #0:64, #1:64, #7:64, #0:64\n",
        PASSES);
   CASE("%2:8 = load_scratch #3:32\n"
        "store_scratch #5:32, %2:8\n",
        "%2:16 = agx.stack_load #3:32, #0:64, #0:64, #1:64, #0:64\n"
        "agx.stack_store %2:16, #5:32, #0:64, #0:64, #1:64, #0:64\n",
        PASSES);
}

static void shifts_do_not_join(void **state)
{
   CASE("%0:32 = load_shared #0:32\n"
        "%1:32 = ishl %0:32, #2:32\n"
        "%2:32 = load_scratch %1:32\n"
        "store_scratch #0:32, %2:32\n",
        "%0:32 = agx.lload _, #0:16, #2:64, #1:64\n"
        "%1:32 = agx.iadd #0:16, %0:32, #2:64, #0:64\n"
        "%2:32 = agx.stack_load %1:32, #0:64, #2:64, #1:64, #0:64\n"
        "agx.stack_store %2:32, #0:32, #0:64, #2:64, #1:64, #0:64\n",
        PASSES);
}

static void far_offsets_want_a_register(void **state)
{
   CASE("%2:32 = load_scratch #0x8000:32\n"
        "store_scratch #0xfffc:32, %2:32\n",
        "%3:32 = agx.ldimm32 #0x8000:64, #0:64\n"
        "%2:32 = agx.stack_load %3:32, #0:64, #2:64, #1:64, #0:64\n"
        "%4:32 = agx.ldimm32 #0xfffc:64, #0:64\n"
        "agx.stack_store %2:32, %4:32, #0:64, #2:64, #1:64, #0:64\n",
        PASSES);
}

static void data_is_in_registers(void **state)
{
   CASE("store_scratch #0:32, #7:32\n"
        "store_scratch #4:32, u4l:32\n",
        "%0:32 = agx.ldimm32 #7:64, #0:64\n"
        "agx.stack_store %0:32, #0:32, #0:64, #2:64, #1:64, #0:64\n"
        "%1:32 = agx.mov u4l:32\n"
        "agx.stack_store %1:32, #4:32, #0:64, #2:64, #1:64, #0:64\n",
        PASSES);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(offsets_count_bytes),
      cmocka_unit_test(shifts_do_not_join),
      cmocka_unit_test(far_offsets_want_a_register),
      cmocka_unit_test(data_is_in_registers),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
