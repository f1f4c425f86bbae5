/* SPDX-License-Identifier: MIT
 *
 * Loads that a loop's next iteration needs.
 */
#include "agx/compiler/opt/loads/loads.h"
#include "pass_support.h"

#define N     PASS_LOAD("%9:32")
#define BELOW "%1:1 = ult %0:32, %9:32\n"
#define TOP(test)                                                                                  \
   "loop\n%0:32 = phi #4:32, %2:32\n%8:32 = phi #7:32, %4:32\n" test "branch %1:1\nif\nelse\n"     \
   "break\nend\n"
#define BOTTOM  "%2:32 = iadd %0:32, #1:32\ncontinuing\nend\n" PASS_STORE("%8:32")
#define INDEX   "%10:32 = ishl %0:32, #2:32\n"
#define COLUMN  "%11:32 = load_global u0l:64, %10:32, #2:64\n"
#define ENTRY   "%12:32 = load_global u2l:64, %11:32, #2:64\n"
#define ADD     "%4:32 = iadd %8:32, %12:32\n"
#define BARRIER "barrier #3:32\n"
/* 8 iterations of 12 operations. */
#define WORK                                                                                       \
   "loop\n%20:32 = phi #0:32, %33:32\n%21:1 = ult %20:32, #9:32\nbranch %21:1\nif\nelse\nbreak\n"  \
   "end\n%22:32 = fadd %20:32, %9:32\n%23:32 = fadd %22:32, %9:32\n%24:32 = fadd %23:32, %9:32\n"  \
   "%25:32 = fadd %24:32, %9:32\n%26:32 = fadd %25:32, %9:32\n%27:32 = fadd %26:32, %9:32\n"       \
   "%28:32 = fadd %27:32, %9:32\n%29:32 = fadd %28:32, %9:32\n%30:32 = fadd %29:32, %9:32\n"       \
   "%31:32 = fadd %30:32, %9:32\nstore_shared #8:32, %31:32\n%33:32 = iadd %20:32, #1:32\n"        \
   "continuing\nend\n"
#define KEEP "store_shared #4:32, %11:32\n%4:32 = iadd %8:32, #1:32\n"

/* New values in order of their making: test, load and phi of the first iteration; the next
 * iteration's counter, test, address, load and phi. */
#define FIRST(test, load, phi)                                                                     \
   test ":1 = ult #4:32, %9:32\nbranch " test ":1\nif\n" load                                      \
        ":32 = load_global u0l:64, #0x10:32, #2:64\nelse\nend\n" phi ":32 = phi " load             \
        ":32, #0:32\n"
#define NEXT(i, test, offset, load, phi)                                                           \
   i ":32 = iadd %0:32, #1:32\n" test ":1 = ult " i ":32, %9:32\nbranch " test ":1\nif\n" offset   \
     ":32 = ishl " i ":32, #2:32\n" load ":32 = load_global u0l:64, " offset                       \
     ":32, #2:64\nelse\nend\n" phi ":32 = phi " load ":32, %11:32\n"
#define AHEAD(first, next, i)                                                                      \
   "loop\n%11:32 = phi " first ":32, " next ":32\n%0:32 = phi #4:32, " i                           \
   ":32\n%8:32 = phi #7:32, %4:32\n" BELOW "branch %1:1\nif\nelse\nbreak\nend\n"
#define END "continuing\nend\n" PASS_STORE("%8:32")

/* Of two loads, one of which leads to the other, both are waited for together. */
static void chains_wait_once(void **state)
{
   CASE(N TOP(BELOW) INDEX COLUMN ENTRY ADD BOTTOM,
        N FIRST("%13", "%14", "%15") AHEAD("%15", "%20", "%16")
           ENTRY NEXT("%16", "%17", "%18", "%19", "%20") ADD END,
        agxc_opt_prefetch);
   /* The first iteration surely runs; the loop leaves where the test holds. */
   CASE(PASS_LOAD("%7:32") "loop\n%0:32 = phi #0:32, %2:32\n%8:32 = phi %7:32, %4:32\n"
                           "%1:1 = uge %0:32, #9:32\n"
                           "branch %1:1\nif\nbreak\nelse\nend\n" INDEX COLUMN ENTRY ADD BOTTOM,
        PASS_LOAD("%7:32") "%13:32 = load_global u0l:64, #0:32, #2:64\n"
                           "loop\n%11:32 = phi %13:32, %18:32\n%0:32 = phi #0:32, %14:32\n"
                           "%8:32 = phi %7:32, %4:32\n%1:1 = uge %0:32, #9:32\n"
                           "branch %1:1\nif\nbreak\nelse\nend\n" ENTRY
                           "%14:32 = iadd %0:32, #1:32\n%15:1 = uge %14:32, #9:32\nbranch %15:1\n"
                           "if\nelse\n%16:32 = ishl %14:32, #2:32\n"
                           "%17:32 = load_global u0l:64, %16:32, #2:64\nend\n"
                           "%18:32 = phi %11:32, %17:32\n" ADD END,
        agxc_opt_prefetch);
}

/* A scaled index has a sign, which an offset lacks: bases may lie behind what is accessed. */
static void first_indices_below_zero_keep_their_shift(void **state)
{
#define LOOP(phi, from, next)                                                                      \
   "loop\n" phi "%0:32 = phi #0xfffffffe:32, " next                                                \
   ":32\n%8:32 = phi %7:32, %4:32\n%1:1 = slt %0:32, " from                                        \
   ":32\nbranch %1:1\nif\nelse\nbreak\nend\n"
   CASE(PASS_LOAD("%7:32") LOOP("", "#9", "%2") INDEX COLUMN ENTRY ADD BOTTOM,
        PASS_LOAD("%7:32") "%13:32 = ishl #0xfffffffe:32, #2:32\n"
                           "%14:32 = load_global u0l:64, %13:32, #2:64\n" LOOP(
                              "%11:32 = phi %14:32, %19:32\n", "#9", "%15") ENTRY
        "%15:32 = iadd %0:32, #1:32\n%16:1 = slt %15:32, #9:32\nbranch %16:1\n"
        "if\n%17:32 = ishl %15:32, #2:32\n"
        "%18:32 = load_global u0l:64, %17:32, #2:64\nelse\nend\n"
        "%19:32 = phi %18:32, %11:32\n" ADD END,
        agxc_opt_prefetch);
}

/* A second chain behind the place of the first one's load. */
static void chains_follow_each_other(void **state)
{
   CASE(N TOP(BELOW) INDEX COLUMN ENTRY
        "%14:32 = iadd %0:32, #5:32\n%15:32 = ishl %14:32, #2:32\n"
        "%16:32 = load_global u4l:64, %15:32, #2:64\n%17:32 = load_global u2l:64, %16:32, #2:64\n"
        "%18:32 = iadd %12:32, %17:32\n%4:32 = iadd %8:32, %18:32\n" BOTTOM,
        N
        "%19:1 = ult #4:32, %9:32\nbranch %19:1\nif\n%20:32 = load_global u0l:64, #0x10:32, #2:64\n"
        "%21:32 = load_global u4l:64, #0x24:32, #2:64\nelse\nend\n%22:32 = phi %20:32, #0:32\n"
        "%23:32 = phi %21:32, #0:32\nloop\n%16:32 = phi %23:32, %34:32\n"
        "%11:32 = phi %22:32, %28:32\n%0:32 = phi #4:32, %24:32\n%8:32 = phi #7:32, %4:32\n" BELOW
        "branch %1:1\nif\nelse\nbreak\nend\n" ENTRY NEXT(
           "%24", "%25", "%26", "%27",
           "%28") "%17:32 = load_global u2l:64, %16:32, #2:64\nbranch %25:1\nif\n%31:32 = iadd "
                  "%24:32, "
                  "#5:32\n%32:32 = ishl %31:32, #2:32\n%33:32 = load_global u4l:64, %32:32, "
                  "#2:64\nelse\n"
                  "end\n%34:32 = phi %33:32, %16:32\n%18:32 = iadd %12:32, %17:32\n"
                  "%4:32 = iadd %8:32, %18:32\n" END,
        agxc_opt_prefetch);
}

/* What is only read early comes behind the barrier in front of the work. */
static void work_hides_loads(void **state)
{
   CASE(N TOP(BELOW) INDEX COLUMN KEEP BARRIER WORK BARRIER BOTTOM,
        N FIRST("%34", "%35", "%36") AHEAD("%36", "%41", "%37")
           KEEP BARRIER NEXT("%37", "%38", "%39", "%40", "%41") WORK BARRIER END,
        agxc_opt_prefetch);
}

#define STAYS(text) NEGCASE(text, agxc_opt_prefetch)

static void other_loads_stay(void **state)
{
   /* Something in the loop may write what is read, or others may. */
   STAYS(N TOP(BELOW) INDEX "%11:32 = load_global u0l:64, %10:32, #0:64\n" ENTRY ADD
                            "store_global u4l:64, %10:32, %4:32, #0:64\n" BOTTOM);
   STAYS(N TOP(BELOW) INDEX
         "%11:32 = load_global u0l:64, %10:32, #0:64\n" ENTRY ADD BARRIER BOTTOM);
   STAYS(N TOP(BELOW) INDEX "%11:32 = load_global u0l:64, %10:32, #1:64\n" ENTRY ADD BOTTOM);
   /* Not each iteration loads, or some iteration leaves before it does. */
   STAYS(N TOP(BELOW) INDEX
         "%5:1 = ult %0:32, #3:32\nbranch %5:1\nif\n" COLUMN ENTRY
         "store_shared #4:32, %12:32\nelse\nend\n%4:32 = iadd %8:32, #1:32\n" BOTTOM);
   STAYS(N TOP(BELOW) INDEX
         "%5:1 = ult %0:32, #3:32\nbranch %5:1\nif\nreturn\nelse\nend\n" COLUMN ENTRY ADD BOTTOM);
   /* The next address or test is not known yet. */
   STAYS(N TOP(BELOW) "%10:32 = ishl %8:32, #2:32\n" COLUMN ENTRY ADD BOTTOM);
   STAYS(N TOP("%6:32 = load_shared %0:32\n%5:32 = iadd %6:32, %9:32\n%1:1 = ult %0:32, %5:32\n")
            INDEX COLUMN ENTRY ADD BOTTOM);
   /* Nothing hides it: no work, a barrier in the way, or another load that is not hidden. */
   STAYS(N TOP(BELOW) INDEX COLUMN KEEP BARRIER BOTTOM);
   STAYS(N TOP(BELOW) INDEX COLUMN BARRIER WORK KEEP BOTTOM);
   STAYS(N TOP(BELOW) INDEX COLUMN KEEP BARRIER WORK BARRIER
         "%13:32 = load_global u2l:64, %10:32, #2:64\nstore_shared #0xc:32, %13:32\n" BOTTOM);
}

#define FOUR(value, at) value ":32x4 = load_shared #" at ":32\n"
#define BACK(value, at) "store_shared #" at ":32, " value ":32x4\n"
/* 88 halves that live across a loop. */
#define MANY                                                                                       \
   FOUR("%40", "0")                                                                                \
   FOUR("%41", "0x10")                                                                             \
   FOUR("%42", "0x20")                                                                             \
   FOUR("%43", "0x30")                                                                             \
   FOUR("%44", "0x40")                                                                             \
   FOUR("%45", "0x50")                                                                             \
   FOUR("%46", "0x60")                                                                             \
   FOUR("%47", "0x70") FOUR("%48", "0x80") FOUR("%49", "0x90") FOUR("%50", "0xa0")
#define MANY_BACK                                                                                  \
   BACK("%40", "0")                                                                                \
   BACK("%41", "0x10")                                                                             \
   BACK("%42", "0x20")                                                                             \
   BACK("%43", "0x30")                                                                             \
   BACK("%44", "0x40")                                                                             \
   BACK("%45", "0x50")                                                                             \
   BACK("%46", "0x60")                                                                             \
   BACK("%47", "0x70") BACK("%48", "0x80") BACK("%49", "0x90") BACK("%50", "0xa0")

/* Where it would cost a step of occupancy: 100 halves live at once, and 12 are kept free. */
static void registers_may_lack(void **state)
{
   STAYS(N MANY "%51:32x2 = load_shared #0xb0:32\n" TOP(BELOW)
            INDEX COLUMN ENTRY ADD BOTTOM MANY_BACK "store_shared #0xb0:32, %51:32x2\n");
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(chains_wait_once),
      cmocka_unit_test(chains_follow_each_other),
      cmocka_unit_test(first_indices_below_zero_keep_their_shift),
      cmocka_unit_test(work_hides_loads),
      cmocka_unit_test(other_loads_stay),
      cmocka_unit_test(registers_may_lack),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
