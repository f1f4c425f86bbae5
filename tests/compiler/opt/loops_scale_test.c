/* SPDX-License-Identifier: MIT
 *
 * Passes that copy loops take memory, and so work, in proportion to how many loops there are; and
 * which loops are too long for copies.
 */
#include <stdio.h>

#include "agx/compiler/opt/loads/loads.h"
#include "agx/compiler/opt/opt.h"
#include "pass_support.h"

#define FEW    250u
#define MANY   2000u
#define LINE_B 400u

/* A loop of four turns with some 220 instructions, that reads an element of an array of four at
 * `offset`. */
static const char *make_long_loop(struct agx_arena *arena, const char *offset)
{
   char *text = agx_arena_alloc(arena, 32768), *at = text;
   at += sprintf(at,
                 PASS_HEADER "%%0:32 = load_shared #0:32\nprivate variable=0, size_B=0x10\n"
                             "loop\n%%1:32 = phi #0:32, %%2:32\n%%3:1 = ult %%1:32, #0x10:32\n"
                             "branch %%3:1\nif\nelse\nbreak\nend\n"
                             "%%4:32 = load_private %s, variable=0\n",
                 offset);
   for (uint32_t id = 5; id < 220; id++)
      at += sprintf(at, "%%%u:32 = imul %%%u:32, %%0:32\n", id, id - 1);
   sprintf(at, "store_shared #0:32, %%219:32\n%%2:32 = iadd %%1:32, #4:32\ncontinuing\nend\n");
   return text;
}

static bool is_unrolled(const char *offset)
{
   struct agxc_options options = {.chip = agx_chip_find("g13g")};
   struct agx_arena arena;
   jmp_buf failed;
   agx_arena_init(&arena, NULL, SIZE_MAX, &failed);
   struct agxc_shader *shader = NULL;
   assert_ok(agxc_parse(&arena, &options, make_long_loop(&arena, offset), &shader));
   bool result = agxc_opt_unroll(shader);
   assert_ok(agxc_validate(shader, AGXC_STAGE_GENERIC));
   agx_arena_fini(&arena);
   return result;
}

/* Loops over i < limit, one behind the other, that add up what they load. */
static const char *make_loops(struct agx_arena *arena, uint32_t count, const char *limit,
                              const char *step)
{
   char *text = agx_arena_alloc(arena, (size_t)count * LINE_B + 200), *at = text;
   at += sprintf(at, PASS_HEADER "%%0:32 = load_shared #0:32\n");
   for (uint32_t i = 0, id = 1; i < count; i++, id += 6)
      at += sprintf(at,
                    "loop\n%%%u:32 = phi #0:32, %%%u:32\n%%%u:32 = phi #0:32, %%%u:32\n"
                    "%%%u:1 = ult %%%u:32, %s\nbranch %%%u:1\nif\nelse\nbreak\nend\n"
                    "%%%u:32 = load_global u0l:64, %%%u:32, access=const|restrict\n%%%u:32 = iadd "
                    "%%%u:32, %%%u:32\n"
                    "%%%u:32 = iadd %%%u:32, %s\ncontinuing\nend\nstore_shared #0:32, %%%u:32\n",
                    id, id + 1, id + 2, id + 3, id + 4, id, limit, id + 4, id + 5, id, id + 3,
                    id + 2, id + 5, id + 1, id, step, id + 2);
   return text;
}

static uint64_t taken_by(bool (*pass)(struct agxc_shader *), uint32_t count, const char *limit,
                         const char *step)
{
   struct agxc_options options = {.chip = agx_chip_find("g13g")};
   struct agx_arena arena, text;
   jmp_buf failed;
   agx_arena_init(&arena, NULL, SIZE_MAX, &failed);
   agx_arena_init(&text, NULL, SIZE_MAX, &failed);
   struct agxc_shader *shader = NULL;
   assert_ok(agxc_parse(&arena, &options, make_loops(&text, count, limit, step), &shader));
   uint64_t before = arena.total_B;
   assert_true(pass(shader));
   uint64_t taken = arena.total_B - before;
   assert_ok(agxc_validate(shader, AGXC_STAGE_GENERIC));
   agx_arena_fini(&text);
   agx_arena_fini(&arena);
   return taken;
}

/* The host gives memory in blocks, hence a margin; a square would be eight times as much. */
static void check(bool (*pass)(struct agxc_shader *), const char *limit, const char *step)
{
   uint64_t few = taken_by(pass, FEW, limit, step), many = taken_by(pass, MANY, limit, step);
   if (many > 2 * (MANY / FEW) * few)
      fail_msg("%u loops take %llu bytes, %u take %llu", FEW, (unsigned long long)few, MANY,
               (unsigned long long)many);
}

static void known_turns(void **state)
{
   check(agxc_opt_unroll, "#0x60:32", "#0x20:32");
}

static void several_turns(void **state)
{
   check(agxc_opt_unroll_partial, "%0:32", "#1:32");
}

static void masked_turns(void **state)
{
   check(agxc_opt_unroll_predicated, "%0:32", "#0x20:32");
}

/* More copies are made of a loop that chooses among the elements of an array. */
static void arrays_are_worth_copies(void **state)
{
   assert_true(is_unrolled("%1:32"));
   assert_false(is_unrolled("%0:32"));
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(known_turns),
      cmocka_unit_test(several_turns),
      cmocka_unit_test(masked_turns),
      cmocka_unit_test(arrays_are_worth_copies),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
