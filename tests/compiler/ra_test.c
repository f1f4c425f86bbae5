/* SPDX-License-Identifier: MIT
 *
 * Values to registers as text: what shares one, what is copied, and what is not.
 * tests/compiler/backend_test.c looks at limits, control_test.c runs what comes out.
 */
#include "agx/compiler/regalloc/regalloc.h"
#include "pass_support.h"

#include <string.h>

#define LANE         "%0:32 = agx.mfsr #0x34:64\n"
#define ADD(d, a, b) d ":32 = agx.iadd " a ":32, " b ":32, #0:64, #0:64\n"
#define STORE(data, lane)                                                                          \
   "agx.store " data ":32, u0l:64, " lane ":32, #0:64, #2:64, #1:64, #0:64, #0:64\n"
#define LOAD2(d, lane) d ":32x2 = agx.load u0l:64, " lane ":32, #0:64, #2:64, #3:64, #0:64, #0:64\n"
#define STORE2(data, lane)                                                                         \
   "agx.store " data ":32x2, u0l:64, " lane ":32, #0:64, #2:64, #3:64, #0:64, #0:64\n"
#define ASK(a) "agx.if_icmp " a ":32, #9:32, #0:64, #0:64, #2:64\n"

static void check(const char *before, const char *after)
{
   struct agxc_options options = {.chip = agx_chip_find("g13g")};
   struct agx_arena arena;
   jmp_buf failed;
   struct agxc_shader *shader = NULL;
   agx_arena_init(&arena, NULL, SIZE_MAX, &failed);
   assert_ok(
      agxc_parse(&arena, &options, agx_arena_printf(&arena, PASS_HEADER "%s", before), &shader));
   assert_ok(agxc_validate(shader, AGXC_STAGE_MACHINE));
   agxc_ra(shader);
   assert_ok(agxc_validate(shader, AGXC_STAGE_REGISTERS));
   const char *got = agxc_print(shader, &arena) + strlen(PASS_HEADER);
   if (strcmp(got, after) != 0)
      fail_msg("got:\n%swant:\n%s", got, after);
   agx_arena_fini(&arena);
}

static void what_dies_makes_room(void **state)
{
   check(LANE ADD("%1", "%0", "#1") ADD("%2", "%1", "%0") STORE("%2", "%0"),
         "r0l:32 = agx.mfsr #0x34:64\n" ADD("r1l", "r0l", "#1") ADD("r1l", "r1l", "r0l")
            STORE("r1l", "r0l"));
   /* Not what lives on. */
   check(LANE ADD("%1", "%0", "#1") ADD("%2", "%1", "#2") STORE("%1", "%0") STORE("%2", "%0"),
         "r0l:32 = agx.mfsr #0x34:64\n" ADD("r1l", "r0l", "#1") ADD("r2l", "r1l", "#2")
            STORE("r1l", "r0l") STORE("r2l", "r0l"));
}

static void vectors_are_names(void **state)
{
   /* Taken apart and put together where they are. */
   check(LANE LOAD2("%1", "%0") "%2:32, %3:32 = split %1:32x2\n" ADD("%4", "%2", "#1")
            ADD("%5", "%3", "#2") "%6:32x2 = collect %4:32, %5:32\n" STORE2("%6", "%0"),
         "r0l:32 = agx.mfsr #0x34:64\n" LOAD2("r1l", "r0l") ADD("r1l", "r1l", "#1")
            ADD("r2l", "r2l", "#2") STORE2("r1l", "r0l"));
   check(LANE "%1:32 = mov %0:32\n" STORE("%1", "%0"),
         "r0l:32 = agx.mfsr #0x34:64\n" STORE("r0l", "r0l"));
}

/* An element that is in two places is copied to one of them. */
static void elements_in_two_places_are_copied(void **state)
{
   check(LANE ADD("%1", "%0", "#1") "%2:32x2 = collect %1:32, %1:32\n" STORE2("%2", "%0"),
         "r0l:32 = agx.mfsr #0x34:64\n" ADD("r1l", "r0l",
                                            "#1") "r2l:32 = agx.mov r1l:32\n" STORE2("r1l", "r0l"));
   check(LANE LOAD2("%1", "%0") "%2:32, %3:32 = split %1:32x2\n%4:32x2 = collect %3:32, "
                                "%2:32\n" STORE2("%4", "%0"),
         "r0l:32 = agx.mfsr #0x34:64\n" LOAD2("r1l", "r0l") "r3l:32 = agx.mov r1l:32\n" STORE2(
            "r2l", "r0l"));
}

/* Made where the vector wants them, in whatever order. */
static void elements_know_their_vector(void **state)
{
   check(LANE ADD("%1", "%0", "#1")
            ADD("%2", "%0", "#2") "%3:32x2 = collect %2:32, %1:32\n" STORE2("%3", "%0"),
         "r0l:32 = agx.mfsr #0x34:64\n" ADD("r2l", "r0l", "#1") ADD("r1l", "r0l", "#2")
            STORE2("r1l", "r0l"));
}

/* The second arm's value goes where the first one's had to, though another is free. */
static void sources_know_their_phi(void **state)
{
   check(LANE ASK("%0") "if\n   " ADD("%5", "%0", "#3") "   " ADD("%1", "%5", "#1") "   " STORE(
            "%5", "%0") "else\n   " ADD("%2", "%0",
                                        "#2") "end\n%3:32 = phi %1:32, %2:32\n" STORE("%3", "%0"),
         "r1l:32 = agx.mfsr #0x34:64\n" ASK("r1l") "if\n   " ADD("r2l", "r1l", "#3") "   " ADD(
            "r3l", "r2l",
            "#1") "   " STORE("r2l", "r1l") "else\n   " ADD("r3l", "r1l",
                                                            "#2") "end\n" STORE("r3l", "r1l"));
}

/* r0l counts levels as soon as there is control flow. */
static void phis_share_with_their_sources(void **state)
{
   check(LANE ASK("%0") "if\n   " ADD("%1", "%0", "#1") "else\n   " ADD(
            "%2", "%0", "#2") "end\n%3:32 = phi %1:32, %2:32\n" STORE("%3", "%0"),
         "r1l:32 = agx.mfsr #0x34:64\n" ASK("r1l") "if\n   " ADD(
            "r2l", "r1l", "#1") "else\n   " ADD("r2l", "r1l", "#2") "end\n" STORE("r2l", "r1l"));
   /* Not with one that lives on; a constant has to be made. */
   check(LANE ASK("%0") "if\nelse\nend\n%3:32 = phi %0:32, #7:32\n" STORE("%3", "%0"),
         "r1l:32 = agx.mfsr #0x34:64\n" ASK("r1l") "if\n   r2l:32 = agx.mov r1l:32\nelse\n"
                                                   "   r2l:32 = agx.mov #7:32\nend\n" STORE("r2l",
                                                                                            "r1l"));
}

static void loops(void **state)
{
   check(
      LANE "loop\n   %1:32 = phi %0:32, %2:32\n   " ASK(
         "%1") "   if\n      break\n   else\n"
               "   end\ncontinuing\n   " ADD("%2", "%1", "#1") "end\n" STORE("%1", "%0"),
      "r1l:32 = agx.mfsr #0x34:64\nr2l:32 = agx.mov r1l:32\nloop\n   " ASK(
         "r2l") "   if\n      break\n   else\n   end\ncontinuing\n   " ADD("r2l", "r2l",
                                                                           "#1") "end\n" STORE("r2"
                                                                                               "l",
                                                                                               "r1"
                                                                                               "l"));
   /* Two that change places, without a third. */
   check(
      LANE "loop\n   %1:32 = phi %0:32, %2:32\n   %2:32 = phi #5:32, %1:32\n   " ASK(
         "%1") "   if\n      break\n   else\n   end\ncontinuing\nend\n" STORE("%1", "%0"),
      "r1l:32 = agx.mfsr #0x34:64\nr2l:32 = agx.mov r1l:32\nr3l:32 = agx.mov #5:32\nloop\n   " ASK(
         "r2l") "   if\n      break\n   else\n   end\ncontinuing\n"
                "   r2l:32 = agx.xor r2l:32, r3l:32\n   r3l:32 = agx.xor r3l:32, r2l:32\n"
                "   r2l:32 = agx.xor r2l:32, r3l:32\nend\n" STORE("r2l", "r1l"));
}

#define SIDE(x, y, lane) "   " ADD(x, lane, "#3") "   " ADD(y, lane, "#1") "   " STORE(x, lane)

/* A constant that the phi takes from one way is in its place before the ways part: what the other
 * way computes on the side leaves that alone. */
static void phis_keep_their_place(void **state)
{
   check(LANE "%4:32 = agx.ldimm32 #7:64, #0:64\n" ASK("%0") "if\n" SIDE(
            "%5", "%1", "%0") "else\nend\n%3:32 = phi %1:32, %4:32\n" STORE("%3", "%0"),
         "r1l:32 = agx.mfsr #0x34:64\nr2l:32 = agx.ldimm32 #7:64, #0:64\n" ASK("r1l") "if\n" SIDE(
            "r3l", "r2l", "r1l") "else\nend\n" STORE("r2l", "r1l"));
}

#define TURN(lane) "   " ASK(lane) "   if\n      break\n   else\n   end\ncontinuing\n"
#define STEPS(a0, a1, a2, b0, b1, b2, c0, c1, c2)                                                  \
   "   " ADD(a0, a1, a2) "   " ADD(b0, b1, b2) "   " ADD(c0, c1, c2) "end\n"
#define PHIS "loop\n   %1:32 = phi %0:32, %4:32\n   %2:32 = phi %0:32, %3:32\n"
#define MOVS "r1l:32 = agx.mfsr #0x34:64\nr2l:32 = agx.mov r1l:32\nr3l:32 = agx.mov r1l:32\nloop\n"

/* The sum's first step keeps off the place that the other variable goes to. */
static void steps_stay_where_their_phi_is(void **state)
{
   check(LANE PHIS TURN("%0") STEPS("%5", "%2", "%1", "%4", "%0", "#5", "%3", "%5", "#1")
            STORE("%1", "%0") STORE("%2", "%0"),
         MOVS TURN("r1l") STEPS("r3l", "r3l", "r2l", "r2l", "r1l", "#5", "r3l", "r3l", "#1")
            STORE("r2l", "r1l") STORE("r3l", "r1l"));
}

/* Results of texture rows lie over coordinates that die, as Mesa's do; those of the matrix unit,
 * which reads its factors late, don't lie over these. */
static void some_rows_read_late(void **state)
{
#define TEXEL(d, at)                                                                               \
   d ":32x4 = agx.smpi _, #0:32, #0:32, " at ":32x2, u0l:16, _, #0:64, #0:64, #0:64, #0:64, "      \
     "#0:64, #0:64, #2:64, #0xf:64, #2:64, #0:64, #0:64\n"
#define STORE4(data, lane)                                                                         \
   "agx.store " data ":32x4, u0l:64, " lane ":32, #0:64, #2:64, #0xf:64, #0:64, #0:64\n"
   check(LANE LOAD2("%1", "%0") TEXEL("%2", "%1") STORE4("%2", "%0"),
         "r0l:32 = agx.mfsr #0x34:64\n" LOAD2("r1l", "r0l") TEXEL("r1l", "r1l")
            STORE4("r1l", "r0l"));
   /* Not over what lives on. */
   check(LANE LOAD2("%1", "%0") TEXEL("%2", "%1") STORE2("%1", "%0") STORE4("%2", "%0"),
         "r0l:32 = agx.mfsr #0x34:64\n" LOAD2("r1l", "r0l") TEXEL("r3l", "r1l") STORE2("r1l", "r0l")
            STORE4("r3l", "r0l"));
#define MATRIX(d, a, b, c) d ":32x2 = agx.simd_matrix_fmadd32 " a ":32x2, " b ":32x2, " c ":32x2\n"
   check(LANE LOAD2("%1", "%0") LOAD2("%2", "%0") MATRIX("%3", "%1", "%1", "%2") STORE2("%2", "%0")
            STORE2("%3", "%0"),
         "r0l:32 = agx.mfsr #0x34:64\n" LOAD2("r1l", "r0l") LOAD2("r3l", "r0l")
            MATRIX("r5l", "r1l", "r1l", "r3l") STORE2("r3l", "r0l") STORE2("r5l", "r0l"));
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_dies_makes_room),
      cmocka_unit_test(vectors_are_names),
      cmocka_unit_test(elements_in_two_places_are_copied),
      cmocka_unit_test(elements_know_their_vector),
      cmocka_unit_test(sources_know_their_phi),
      cmocka_unit_test(phis_keep_their_place),
      cmocka_unit_test(phis_share_with_their_sources),
      cmocka_unit_test(loops),
      cmocka_unit_test(some_rows_read_late),
      cmocka_unit_test(steps_stay_where_their_phi_is),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
