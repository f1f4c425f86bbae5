/* SPDX-License-Identifier: MIT
 *
 * Hints of register sources and results: `^` discard, `$` cache.
 */
#include "agx/compiler/emit/emit.h"
#include "uniform_support.h"

#define STORE(data)  "agx.store " data ":32, u0l:64, r0l:32, #0:64, #2:64, #1:64, #0:64, #0:64\n"
#define ADD(d, a, b) d ":32 = agx.iadd " a ":32, " b ":32, #0:64, #0:64\n"

static void check(const char *before, const char *after)
{
   uniform_check(&(struct uniform_case){
      .pass = agxc_hints, .before = before, .after = after, .stage = AGXC_STAGE_REGISTERS});
}

#define STAYS(text) check(text, text)

static void last_uses_discard(void **state)
{
   check(ADD("r3l", "r1l", "r2l") STORE("r3l"), ADD("r3l", "^r1l", "^r2l") STORE("r3l"));
   /* Also where a load brings something new. */
   check(ADD("r3l", "r1l", "#1") "r1l:32 = agx.load u0l:64, r0l:32, #0:64, #2:64, #1:64, #0:64, "
                                 "#0:64\n" STORE("r3l") STORE("r1l"),
         ADD("r3l", "^r1l", "#1") "r1l:32 = agx.load u0l:64, r0l:32, #0:64, #2:64, #1:64, #0:64, "
                                  "#0:64\n" STORE("r3l") STORE("r1l"));
   /* Or the instruction itself. */
   check(ADD("r1l", "r1l", "#1") STORE("r1l"), ADD("r1l", "^r1l", "#1") STORE("r1l"));
}

static void soon_used_ones_are_kept_near(void **state)
{
   check(ADD("r2l", "r0l", "#1") ADD("r3l", "r2l", "r0l") STORE("r3l"),
         ADD("$r2l", "$r0l", "#1") ADD("r3l", "^r2l", "r0l") STORE("r3l"));
}

static void what_is_needed_is_not_discarded(void **state)
{
   STAYS(ADD("r3l", "r0l", "#1") STORE("r3l"));
   /* By one half only. */
   check(ADD("r3l", "r1l", "#1") "r4l:16 = agx.iadd r1h:16, #1:16, #0:64, #0:64\n" STORE("r3l")
            STORE("r4l"),
         ADD("r3l", "$r1l", "#1") "r4l:16 = agx.iadd ^r1h:16, #1:16, #0:64, #0:64\n" STORE("r3l")
            STORE("r4l"));
}

/* Stores read registers, not what is near the ALU. */
static void other_units_do_not_count(void **state)
{
   STAYS(ADD("r3l", "r0l", "#1") STORE("r3l") STORE("r0l"));
}

#define IF(arm) "agx.if_icmp r0l:32, #9:32, #1:64, #0:64, #2:64\nif\n" arm "else\nend\n"

static void lanes_that_are_away_keep_theirs(void **state)
{
   STAYS(IF(ADD("   r3l", "r1l", "#1")) STORE("r3l"));
   check(IF(ADD("   r2l", "r1l", "#1") ADD("   r3l", "r2l", "#1")) STORE("r3l"),
         IF(ADD("   $r2l", "r1l", "#1") ADD("   r3l", "r2l", "#1")) STORE("r3l"));
}

/* Lanes that skip the arm still have the old value. */
static void writes_of_some_lanes_end_nothing(void **state)
{
   STAYS(ADD("r3l", "r2l", "#1") IF(ADD("   r2l", "r0l", "#1")) STORE("r2l") STORE("r3l"));
}

#define LOOP(body) "loop\n" body "   agx.jmp_any #1:64\ncontinuing\nend\n"

/* The next iteration reads it again. */
static void loops_need_what_they_read(void **state)
{
   check(ADD("r2l", "r1l", "#1") LOOP(ADD("   r3l", "r1l", "r2l") "   " STORE("r3l"))
            ADD("r4l", "r2l", "#1") STORE("r4l"),
         ADD("r2l", "r1l", "#1") LOOP(ADD("   r3l", "r1l", "r2l") "   " STORE("r3l"))
            ADD("r4l", "^r2l", "#1") STORE("r4l"));
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(last_uses_discard),
      cmocka_unit_test(soon_used_ones_are_kept_near),
      cmocka_unit_test(what_is_needed_is_not_discarded),
      cmocka_unit_test(other_units_do_not_count),
      cmocka_unit_test(lanes_that_are_away_keep_theirs),
      cmocka_unit_test(writes_of_some_lanes_end_nothing),
      cmocka_unit_test(loops_need_what_they_read),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
