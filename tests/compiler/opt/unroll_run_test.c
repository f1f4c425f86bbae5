/* SPDX-License-Identifier: MIT
 *
 * Loops run as they were and with several iterations at a time, for all small counts: the same
 * results, and no access outside of buffers that end where the loop does.
 */
#include "support.h"

#include <stdio.h>

#include "agx/compiler/opt/loads/loads.h"
#include "agx/compiler/opt/opt.h"
#include "ir_eval.h"

#define LANES 32u
#define MAX_N 70u

/* Lanes add up what an index names, and store a square of each; u0 holds addresses, and the
 * limit is read where the test is. */
static const char form[] = "shader main local 32x1x1 shared 0 push 0\n"
                           "%%0:32 = sysval local_index\n"
                           "%%1:32 = imul %%0:32, #%u:32\n"
                           "%%2:32 = iadd %%1:32, #%u:32\n"
                           "loop\n"
                           "%%3:32 = phi %%2:32, %%4:32\n"
                           "%%5:32 = phi #0x3f800000:32, %%6:32\n"
                           "%%7:32 = load_global u0l:64, #0:32, access=const|restrict\n"
                           "%%8:1 = %s %%3:32, %%7:32\n"
                           "branch %%8:1\n"
                           "if\n"
                           "else\n"
                           "break\n"
                           "end\n"
                           "%%9:32 = iadd %%3:32, #%u:32\n"
                           "%%10:32 = ishl %%9:32, #2:32\n"
                           "%%11:32 = load_global u4l:64, %%10:32, access=const|restrict\n"
                           "%%12:32 = ishl %%11:32, #2:32\n"
                           "%%13:32 = load_global u4l:64, %%12:32, access=const|restrict\n"
                           "%%14:32 = imul %%5:32, %s\n"
                           "%%6:32 = iadd %%14:32, %%13:32\n"
                           "store_global u8l:64, %%10:32, %%13:32, access=restrict\n"
                           "%%4:32 = iadd %%3:32, #%u:32\n"
                           "continuing\n"
                           "end\n"
                           "%%15:32 = ishl %%0:32, #2:32\n"
                           "store_global u12l:64, %%15:32, %%5:32, access=restrict\n";

/* What barriers part: one load in each iteration, and what is left of it. */
static const char tiles[] = "shader main local 32x1x1 shared 4 push 0\n"
                            "%%0:32 = sysval local_index\n"
                            "%%1:32 = imul %%0:32, #%u:32\n"
                            "%%2:32 = iadd %%1:32, #%u:32\n"
                            "%%7:32 = load_global u0l:64, #0:32, access=const|restrict\n"
                            "loop\n"
                            "%%3:32 = phi %%2:32, %%4:32\n"
                            "%%5:32 = phi #0x3f800000:32, %%6:32\n"
                            "%%8:1 = %s\n"
                            "branch %%8:1\n"
                            "if\n"
                            "else\n"
                            "break\n"
                            "end\n"
                            "%%9:32 = iadd %%3:32, #%u:32\n"
                            "%%10:32 = ishl %%9:32, #2:32\n"
                            "%%11:32 = load_global u4l:64, %%10:32, access=const|restrict\n"
                            "barrier shared\n"
                            "%%14:32 = imul %%5:32, #3:32\n"
                            "%s"
                            "%%6:32 = iadd %%14:32, %%11:32\n"
                            "barrier shared\n"
                            "store_global u8l:64, %%10:32, %%11:32, access=restrict\n"
                            "%%4:32 = iadd %%3:32, #%u:32\n"
                            "continuing\n"
                            "end\n"
                            "%%15:32 = ishl %%0:32, #2:32\n"
                            "store_global u12l:64, %%15:32, %%5:32, access=restrict\n";

struct memory {
   uint32_t limit, data[MAX_N + 1], squares[MAX_N + 1], sums[LANES];
};

static void run(const char *text, uint32_t count, bool (*pass)(struct agxc_shader *),
                struct memory *memory)
{
   struct agxc_options options = {.chip = agx_chip_find("g13g")};
   struct agx_arena arena;
   jmp_buf failed;
   agx_arena_init(&arena, NULL, SIZE_MAX, &failed);
   struct agxc_shader *shader = NULL;
   assert_ok(agxc_parse(&arena, &options, text, &shader));
   if (pass)
      assert_true(pass(shader));
   agxc_index(shader);
   assert_ok(agxc_validate(shader, AGXC_STAGE_GENERIC));
   uint16_t uniforms[32] = {0, [8] = 1, [16] = 2, [24] = 3}; /* addresses: the buffers' numbers */
   struct ir_eval eval = {
      .shader = shader,
      .buffers = {{(uint8_t *)&memory->limit, 4},
                  {(uint8_t *)memory->data, 4ull * count},
                  {(uint8_t *)memory->squares, 4ull * count},
                  {(uint8_t *)memory->sums, sizeof(memory->sums)}},
      .workgroups = {1, 1, 1},
      .max_steps = 1u << 20,
      .uniforms = uniforms,
   };
   assert_ok(ir_eval_run(&eval));
   agx_arena_fini(&arena);
}

/* Limits of n elements, in turn for each text. */
static void compare_texts(char (*texts)[sizeof(tiles) + 128], bool (*pass)(struct agxc_shader *),
                          uint32_t bias, bool is_inclusive)
{
   for (uint32_t n = 1; n <= MAX_N; n++) {
      const char *text = texts[n % 2];
      struct memory want = {.limit = n - is_inclusive - bias}, got;
      for (uint32_t i = 0; i < n; i++)
         want.data[i] = i * 7 % n;
      got = want;
      run(text, n, NULL, &want);
      run(text, n, pass, &got);
      assert_memory_equal(&want, &got, sizeof(want));
   }
}

/* Lanes begin at lane * apart + first, in a range that `bias` moves to where elements are. */
static void compare(uint32_t apart, uint32_t first, uint32_t step, uint32_t bias, const char *test)
{
   char texts[2][sizeof(tiles) + 128];
   /* The counter is no more than a place, or a factor as well. */
   snprintf(texts[0], sizeof(texts[0]), form, apart, first, test, bias, "#3:32", step);
   snprintf(texts[1], sizeof(texts[1]), form, apart, first, test, bias, "%3:32", step);
   compare_texts(texts, agxc_opt_unroll_predicated, bias, false);
}

static void compare_tiles(uint32_t apart, uint32_t first, uint32_t step, uint32_t bias,
                          const char *test, bool is_inclusive)
{
   char texts[2][sizeof(tiles) + 128];
   /* Two iterations at a time, or four in a longer loop. */
   snprintf(texts[0], sizeof(texts[0]), tiles, apart, first, test, bias, "", step);
   snprintf(texts[1], sizeof(texts[1]), tiles, apart, first, test, bias,
            "%12:32 = ixor %5:32, #5:32\nstore_shared #0:32, %12:32\n", step);
   compare_texts(texts, agxc_opt_batch_loads, bias, is_inclusive);
}

static uint32_t loops_of(const struct agxc_shader *shader)
{
   uint32_t count = 0;
   agxc_foreach_node (node, &shader->body)
      count += node->kind == AGXC_NODE_LOOP;
   return count;
}

/* Four iterations at a time, and an if for what is left over. */
static bool unroll_with_rest(struct agxc_shader *shader)
{
   if (!agxc_opt_unroll_partial(shader) || loops_of(shader) != 2)
      return false;
   agxc_opt_copy_prop(shader);
   agxc_opt_algebraic(shader);
   agxc_opt_copy_prop(shader);
   agxc_opt_cse(shader);
   agxc_opt_copy_prop(shader);
   agxc_opt_dce(shader);
   return agxc_opt_unroll_predicated(shader) && loops_of(shader) == 1;
}

static void compare_rest(uint32_t apart, uint32_t first, uint32_t step, uint32_t bias,
                         const char *test)
{
   char texts[2][sizeof(tiles) + 128];
   snprintf(texts[0], sizeof(texts[0]), form, apart, first, test, bias, "#3:32", step);
   snprintf(texts[1], sizeof(texts[1]), form, apart, first, test, bias, "%3:32", step);
   compare_texts(texts, unroll_with_rest, bias, false);
}

static void nothing_is_left_over(void **state)
{
   compare_rest(1, 0, 1, 0, "ult");
   compare_rest(1, 0, 4, 0, "slt");
   compare_rest(3, 1, 2, 0, "ult");
   compare_rest(1, 0u - 20, 4, 20, "slt");
   compare_rest(1, 0u - MAX_N - 1, 1, MAX_N + 1, "ult");
   compare_rest(1, 0x7fffffffu - MAX_N, 1, 0u - (0x7fffffffu - MAX_N), "slt");
}

/* The same, with a step that the pass does not know, before the loop or in it. */
static void compare_steps(uint32_t apart, uint32_t first, uint32_t step, uint32_t bias,
                          const char *test)
{
   static const char step_is[] = "%%20:32 = iadd %%0:32, #%u:32\n%%21:32 = isub %%20:32, %%0:32\n";
   char texts[2][sizeof(tiles) + 128], known[sizeof(tiles) + 128], next[32], made[128];
   snprintf(known, sizeof(known), form, apart, first, test, bias, "#3:32", step);
   snprintf(next, sizeof(next), "%%4:32 = iadd %%3:32, #%u", step);
   snprintf(made, sizeof(made), step_is, step);
   for (unsigned i = 0; i < 2; i++) {
      const char *at = strstr(known, i ? next : "loop\n"), *update = strstr(known, next);
      snprintf(texts[i], sizeof(texts[i]), "%.*s%s%.*s%%4:32 = iadd %%3:32, %%21%s",
               (int)(at - known), known, made, (int)(update - at), at, update + strlen(next));
   }
   compare_texts(texts, agxc_opt_unroll_predicated, bias, false);
}

static void steps_are_not_known(void **state)
{
   compare_steps(1, 0, 32, 0, "ult");
   compare_steps(1, 0, 1, 0, "slt");
   compare_steps(3, 1, 2, 0, "ult");
   compare_steps(1, 0, 7, 0, "ult");
   compare_steps(1, 0u - 20, 4, 20, "slt");
   compare_steps(1, 0u - MAX_N - 1, 1, MAX_N + 1, "ult");
}

static void lanes_share_a_loop(void **state)
{
   compare(1, 0, 32, 0, "ult");
   compare(1, 0, 32, 0, "slt");
}

static void lanes_have_their_own(void **state)
{
   compare(1, 0, 1, 0, "ult");
   compare(0, 0, 1, 0, "ult");
   compare(3, 1, 2, 0, "ult");
}

/* From below 0; and up to the greatest number. */
static void ranges_end_anywhere(void **state)
{
   compare(1, 0u - 20, 1, 20, "slt");
   compare(1, 0u - 20, 4, 20, "slt");
   compare(1, 0u - MAX_N - 1, 1, MAX_N + 1, "ult");
   compare(1, 0x7fffffffu - MAX_N, 1, 0u - (0x7fffffffu - MAX_N), "slt");
}

#define BELOW(op) op " %3:32, %7:32"
#define UPTO(op)  op " %7:32, %3:32"

static void loads_go_ahead(void **state)
{
   compare_tiles(0, 0, 16, 0, BELOW("ult"), false);
   compare_tiles(0, 3, 4, 0, BELOW("slt"), false);
   compare_tiles(0, 0, 1, 0, BELOW("ult"), false);
   compare_tiles(0, 1, 2, 0, UPTO("uge"), true);
   compare_tiles(0, 0, 8, 0, UPTO("sge"), true);
}

/* Each lane has iterations of its own. */
static void lanes_go_ahead_alone(void **state)
{
   compare_tiles(1, 0, 32, 0, BELOW("ult"), false);
   compare_tiles(3, 1, 2, 0, BELOW("ult"), false);
   compare_tiles(1, 0, 1, 0, UPTO("uge"), true);
}

static void ranges_ahead_end_anywhere(void **state)
{
   compare_tiles(1, 0u - 20, 4, 20, BELOW("slt"), false);
   compare_tiles(1, 0u - 20, 4, 20, UPTO("sge"), true);
   compare_tiles(1, 0u - MAX_N - 1, 1, MAX_N + 1, BELOW("ult"), false);
   compare_tiles(1, 0x7fffffffu - MAX_N, 1, 0u - (0x7fffffffu - MAX_N), BELOW("slt"), false);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(lanes_share_a_loop),   cmocka_unit_test(lanes_have_their_own),
      cmocka_unit_test(ranges_end_anywhere),  cmocka_unit_test(loads_go_ahead),
      cmocka_unit_test(lanes_go_ahead_alone), cmocka_unit_test(ranges_ahead_end_anywhere),
      cmocka_unit_test(nothing_is_left_over), cmocka_unit_test(steps_are_not_known),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
