/* SPDX-License-Identifier: MIT
 *
 * What accesses become: the index counts elements, shifts and constants join it.
 */
#include "agx/compiler/select/select.h"
#include "pass_support.h"

#define ID           "%0:32 = sysval #3:64\n"
#define LANE         "%0:32 = agx.mfsr #0x30:64\n"
#define SHIFT(n)     "%1:32 = ishl %0:32, #" n ":32\n"
#define GET(at)      "%2:32 = load_global u0l:64, " at ":32, #0:64\n"
#define LOAD(at, by) "%2:32 = agx.load u0l:64, " at ":32, #" by ":64, #2:64, #1:64, #0:64, #0:64\n"
#define OUT(at)      "store_global u2l:64, #" at ":32, %2:32, #0:64\n"
#define STORE(at)    "agx.store %2:32, u2l:64, #" at ":32, #0:64, #2:64, #1:64, #0:64, #0:64\n"

static void shifts_join_the_index(void **state)
{
   CASE(ID SHIFT("2") GET("%1") OUT("4"), LANE LOAD("%0", "0") STORE("1"), agxc_select);
   CASE(ID SHIFT("4") GET("%1") OUT("4"), LANE LOAD("%0", "2") STORE("1"), agxc_select);
}

/* What the application shifts wraps at 32 bits, and the row's shift does not. */
static void shifts_that_wrap_stay(void **state)
{
   CASE(ID "%1:32 = ishl.exact %0:32, #2:32\n" GET("%1") OUT("4"),
        LANE "%1:32 = agx.iadd #0:16, %0:32, #2:64, #0:64\n%3:32 = agx.shr %1:32, #2:16\n" LOAD(
           "%3", "0") STORE("1"),
        agxc_select);
}

/* Two bits more than the element has are all that the row can do. */
static void others_are_computed(void **state)
{
   CASE(ID GET("%0") OUT("0"), LANE "%3:32 = agx.shr %0:32, #2:16\n" LOAD("%3", "0") STORE("0"),
        agxc_select);
}

static void bytes_count_by_one(void **state)
{
   CASE("%2:8 = load_global u0l:64, #3:32, #0:64\nstore_global u2l:64, #5:32, %2:8, #0:64\n",
        "%2:16 = agx.load u0l:64, #3:32, #0:64, #0:64, #1:64, #0:64, #0:64\n"
        "agx.store %2:16, u2l:64, #5:32, #0:64, #0:64, #1:64, #0:64, #0:64\n",
        agxc_select);
}

/* Threadgroup memory is in order; device memory is not. */
static void fences_are_for_device_memory(void **state)
{
   CASE("barrier #3:64\n", "agx.barrier\n", agxc_select);
   CASE("barrier #5:64\n", "agx.memory_barrier\nagx.barrier\n", agxc_select);
}

/* What a phi takes beside a load is there before the load: an arm could not write it without
 * waiting. */
static void constants_come_before_loads(void **state)
{
   CASE(ID "%1:1 = ieq %0:32, #7:32\nbranch %1:1\nif\n" GET(
           "%0") "else\nend\n"
                 "%3:32 = phi %2:32, #0:32\nstore_global u2l:64, #4:32, %3:32, #0:64\n",
        LANE "%5:32 = agx.ldimm32 #0:64, #0:64\nagx.if_icmp %0:32, #7:32, #1:64, #0:64, #0:64\n"
             "if\n%4:32 = agx.shr %0:32, #2:16\n" LOAD(
                "%4", "0") "else\nend\n"
                           "%3:32 = phi %2:32, %5:32\n"
                           "agx.store %3:32, u2l:64, #1:32, #0:64, #2:64, #1:64, #0:64, #0:64\n",
        agxc_select);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(shifts_join_the_index), cmocka_unit_test(constants_come_before_loads),
      cmocka_unit_test(shifts_that_wrap_stay), cmocka_unit_test(others_are_computed),
      cmocka_unit_test(bytes_count_by_one),    cmocka_unit_test(fences_are_for_device_memory),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
