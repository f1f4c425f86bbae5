/* SPDX-License-Identifier: MIT
 *
 * What the hardware says of a thread, moves, and what phis bring, as rows.
 */
#include "agx/compiler/select/select.h"
#include "pass_support.h"

#define PASSES agxc_select

static void positions_are_in_registers_of_the_hardware(void **state)
{
   CASE("%0:32 = sysval #0:64\n"
        "%1:32 = sysval #5:64\n"
        "%2:32 = sysval #12:64\n"
        "%3:32 = sysval #13:64\n"
        "%4:32 = iadd %0:32, %1:32\n"
        "%5:32 = iadd %2:32, %3:32\n"
        "%6:32 = iadd %4:32, %5:32\n"
        "store_shared #0:32, %6:32\n",
        "%0:32 = agx.mfsr #0:64\n"
        "%1:32 = agx.mfsr #0x32:64\n"
        "%2:32 = agx.mfsr #0x33:64\n"
        "%3:32 = agx.mfsr #0x34:64\n"
        "%4:32 = agx.iadd %0:32, %1:32, #0:64, #0:64\n"
        "%5:32 = agx.iadd %2:32, %3:32, #0:64, #0:64\n"
        "%6:32 = agx.iadd %4:32, %5:32, #0:64, #0:64\n"
        "agx.lstore %6:32, _, #0:16, #2:64, #1:64\n",
        PASSES);
}

static void words_and_halves_are_neighbours(void **state)
{
   CASE("%0:32x2 = load_shared #0:32\n"
        "%1:32, %2:32 = split %0:32x2\n"
        "%3:64 = pack64 %1:32, %2:32\n"
        "%4:32 = load_global %3:64, #0:32, #0:64\n"
        "store_shared #0:32, %4:32\n",
        "%0:32x2 = agx.lload _, #0:16, #2:64, #3:64\n"
        "%1:32, %2:32 = split %0:32x2\n"
        "%3:64 = collect %1:32, %2:32\n"
        "%4:32 = agx.load %3:64, #0:32, #0:64, #2:64, #1:64, #0:64, #0:64\n"
        "agx.lstore %4:32, _, #0:16, #2:64, #1:64\n",
        PASSES);
   CASE("%0:32 = load_shared #0:32\n"
        "%1:16, %2:16 = unpack32 %0:32\n"
        "%3:32 = pack32 %2:16, %1:16\n"
        "store_shared #0:32, %3:32\n",
        "%0:32 = agx.lload _, #0:16, #2:64, #1:64\n"
        "%1:16, %2:16 = split %0:32\n"
        "%3:32 = collect %2:16, %1:16\n"
        "agx.lstore %3:32, _, #0:16, #2:64, #1:64\n",
        PASSES);
   /* What is in no register is brought to one. */
   CASE("%0:32 = load_shared #0:32\n"
        "%3:64 = pack64 %0:32, #0:32\n"
        "%4:32 = load_global %3:64, #0:32, #0:64\n"
        "store_shared #0:32, %4:32\n",
        "%0:32 = agx.lload _, #0:16, #2:64, #1:64\n"
        "%5:32 = agx.ldimm32 #0:64, #0:64\n"
        "%3:64 = collect %0:32, %5:32\n"
        "%4:32 = agx.load %3:64, #0:32, #0:64, #2:64, #1:64, #0:64, #0:64\n"
        "agx.lstore %4:32, _, #0:16, #2:64, #1:64\n",
        PASSES);
}

static void phis_read_registers(void **state)
{
   /* A constant is made in front of the if when its arm has nothing else. */
   CASE("%0:32 = load_shared #0:32\n"
        "%1:1 = ult %0:32, #7:32\n"
        "branch %1:1\n"
        "if\n"
        "%2:32 = imul %0:32, %0:32\n"
        "store_shared #4:32, %2:32\n"
        "else\n"
        "end\n"
        "%3:32 = phi %2:32, #9:32\n"
        "store_shared #0:32, %3:32\n",
        "%0:32 = agx.lload _, #0:16, #2:64, #1:64\n"
        "%4:32 = agx.ldimm32 #9:64, #0:64\n"
        "agx.if_icmp %0:32, #7:32, #1:64, #0:64, #1:64\n"
        "if\n"
        "%2:32 = agx.imul %0:32, %0:32, #0:64\n"
        "agx.lstore %2:32, _, #1:16, #2:64, #1:64\n"
        "else\n"
        "end\n"
        "%3:32 = phi %2:32, %4:32\n"
        "agx.lstore %3:32, _, #0:16, #2:64, #1:64\n",
        PASSES);
   /* In its arm, when there is something. */
   CASE("%0:32 = load_shared #0:32\n"
        "%1:1 = ult %0:32, #7:32\n"
        "branch %1:1\n"
        "if\n"
        "%2:32 = imul %0:32, %0:32\n"
        "store_shared #4:32, %2:32\n"
        "else\n"
        "store_shared #8:32, %0:32\n"
        "end\n"
        "%3:32 = phi %2:32, #9:32\n"
        "store_shared #0:32, %3:32\n",
        "%0:32 = agx.lload _, #0:16, #2:64, #1:64\n"
        "agx.if_icmp %0:32, #7:32, #1:64, #0:64, #1:64\n"
        "if\n"
        "%2:32 = agx.imul %0:32, %0:32, #0:64\n"
        "agx.lstore %2:32, _, #1:16, #2:64, #1:64\n"
        "else\n"
        "agx.lstore %0:32, _, #2:16, #2:64, #1:64\n"
        "%4:32 = agx.ldimm32 #9:64, #0:64\n"
        "end\n"
        "%3:32 = phi %2:32, %4:32\n"
        "agx.lstore %3:32, _, #0:16, #2:64, #1:64\n",
        PASSES);
   /* Before the iteration's end, when a loop goes on with it. */
   CASE("%0:32 = load_shared #0:32\n"
        "loop\n"
        "%1:32 = phi %0:32, u4l:32\n"
        "%2:1 = ult %1:32, #7:32\n"
        "branch %2:1\n"
        "if\n"
        "break\n"
        "else\n"
        "end\n"
        "continuing\n"
        "store_shared #4:32, %1:32\n"
        "end\n",
        "%0:32 = agx.lload _, #0:16, #2:64, #1:64\n"
        "loop\n"
        "%1:32 = phi %0:32, %3:32\n"
        "agx.if_icmp %1:32, #7:32, #1:64, #0:64, #1:64\n"
        "if\n"
        "break\n"
        "else\n"
        "end\n"
        "continuing\n"
        "agx.lstore %1:32, _, #1:16, #2:64, #1:64\n"
        "%3:32 = agx.mov u4l:32\n"
        "end\n",
        PASSES);
}

static void barriers_are_sequences(void **state)
{
   /* Threadgroup memory alone is in order, but other rows may not cross. */
   CASE("barrier #2:64\n", "agx.memory_barrier\n", PASSES);
   CASE("barrier #1:64\n", "agx.barrier\n", PASSES);
   CASE("barrier #12:64\n",
        "agx.memory_barrier\n"
        "agx.unknown_barrier_1\n"
        "agx.memory_barrier_2\n"
        "agx.device_barrier_2\n"
        "agx.unknown_barrier_2\n"
        "agx.memory_barrier_3\n"
        "agx.device_barrier_1\n",
        PASSES);
   CASE("barrier #21:64\n",
        "agx.memory_barrier\n"
        "agx.memory_barrier_2\n"
        "agx.image_barrier_1\n"
        "agx.image_barrier_2\n"
        "agx.barrier\n"
        "agx.image_barrier_3\n"
        "agx.image_barrier_4\n"
        "agx.flush_memory_to_texture\n",
        PASSES);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(positions_are_in_registers_of_the_hardware),
      cmocka_unit_test(words_and_halves_are_neighbours),
      cmocka_unit_test(phis_read_registers),
      cmocka_unit_test(barriers_are_sequences),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
