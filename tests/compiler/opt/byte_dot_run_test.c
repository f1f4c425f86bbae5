/* SPDX-License-Identifier: MIT
 *
 * Sums of products of signed bytes, two at a time: every pair of bytes, beside the extremes and
 * beside arbitrary ones, gives what C does.
 */
#include "support.h"

#include "agx/compiler/opt/opt.h"
#include "ir_eval.h"

#define THREADS 65536u

/* u0l, u2l and u4l hold the addresses; the second vector is multiplied the other way round in two
 * products. */
static const char kernel[] = "shader main local 32x1x1 shared 0 push 0\n"
                             "%0:32 = sysval global_id_x\n"
                             "%1:32 = ishl %0:32, #2:32\n"
                             "%2:8x4 = load_global u0l:64, %1:32, access=const\n"
                             "%3:8, %4:8, %5:8, %6:8 = split %2:8x4\n"
                             "%7:8x4 = load_global u2l:64, %1:32, access=const\n"
                             "%8:8, %9:8, %10:8, %11:8 = split %7:8x4\n"
                             "%12:32 = sext %3:8\n"
                             "%13:32 = sext %4:8\n"
                             "%14:32 = sext %5:8\n"
                             "%15:32 = sext %6:8\n"
                             "%16:32 = sext %8:8\n"
                             "%17:32 = sext %9:8\n"
                             "%18:32 = sext %10:8\n"
                             "%19:32 = sext %11:8\n"
                             "%20:32 = imul %12:32, %16:32\n"
                             "%21:32 = imul %17:32, %13:32\n"
                             "%22:32 = imul %18:32, %14:32\n"
                             "%23:32 = imul %15:32, %19:32\n"
                             "%24:32 = iadd %20:32, %23:32\n"
                             "%25:32 = iadd %24:32, %22:32\n"
                             "%26:32 = iadd %21:32, %25:32\n"
                             "%27:32 = iadd %26:32, %0:32\n"
                             "store_global u4l:64, %1:32, %27:32, access=restrict\n";

/* The same of words, whose bytes shifts take out. */
static const char kernel_of_words[] = "shader main local 32x1x1 shared 0 push 0\n"
                                      "%0:32 = sysval global_id_x\n"
                                      "%1:32 = ishl %0:32, #2:32\n"
                                      "%2:32 = load_global u0l:64, %1:32, access=const\n"
                                      "%3:32 = ishl %2:32, #24:32\n"
                                      "%4:32 = ishl %2:32, #16:32\n"
                                      "%5:32 = ishl %2:32, #8:32\n"
                                      "%7:32 = load_global u2l:64, %1:32, access=const\n"
                                      "%8:32 = ishl %7:32, #24:32\n"
                                      "%9:32 = ishl %7:32, #16:32\n"
                                      "%10:32 = ishl %7:32, #8:32\n"
                                      "%12:32 = ashr %3:32, #24:32\n"
                                      "%13:32 = ashr %4:32, #24:32\n"
                                      "%14:32 = ashr %5:32, #24:32\n"
                                      "%15:32 = ashr %2:32, #24:32\n"
                                      "%16:32 = ashr %8:32, #24:32\n"
                                      "%17:32 = ashr %9:32, #24:32\n"
                                      "%18:32 = ashr %10:32, #24:32\n"
                                      "%19:32 = ashr %7:32, #24:32\n"
                                      "%20:32 = imul %12:32, %16:32\n"
                                      "%21:32 = imul %17:32, %13:32\n"
                                      "%22:32 = imul %18:32, %14:32\n"
                                      "%23:32 = imul %15:32, %19:32\n"
                                      "%24:32 = iadd %20:32, %23:32\n"
                                      "%25:32 = iadd %24:32, %22:32\n"
                                      "%26:32 = iadd %21:32, %25:32\n"
                                      "%27:32 = iadd %26:32, %0:32\n"
                                      "store_global u4l:64, %1:32, %27:32, access=restrict\n";

static int8_t a[THREADS][4], b[THREADS][4];
static uint32_t sums[THREADS];

static void run_one(const char *text)
{
   struct agxc_options options = {.chip = agx_chip_find("g13g")};
   struct agx_arena arena;
   jmp_buf failed;
   agx_arena_init(&arena, NULL, SIZE_MAX, &failed);
   struct agxc_shader *shader = NULL;
   assert_ok(agxc_parse(&arena, &options, text, &shader));
   assert_true(agxc_opt_byte_dot(shader));
   agxc_index(shader);
   assert_ok(agxc_validate(shader, AGXC_STAGE_GENERIC));
   uint16_t uniforms[32] = {0, [4] = 1, [8] = 2}; /* addresses: the buffers' numbers */
   struct ir_eval eval = {
      .shader = shader,
      .buffers = {{(uint8_t *)a, sizeof(a)},
                  {(uint8_t *)b, sizeof(b)},
                  {(uint8_t *)sums, sizeof(sums)}},
      .workgroups = {THREADS / 32, 1, 1},
      .max_steps = 1u << 24,
      .uniforms = uniforms,
   };
   assert_ok(ir_eval_run(&eval));
   agx_arena_fini(&arena);
   for (uint32_t i = 0; i < THREADS; i++) {
      uint32_t want = i;
      for (unsigned j = 0; j < 4; j++)
         want += (uint32_t)(a[i][j] * b[i][j]);
      assert_int_equal(sums[i], want);
   }
}

static void run(void)
{
   run_one(kernel);
   run_one(kernel_of_words);
}

/* The first product takes all values, the others one of the extremes' products. */
static void fill(int8_t x, int8_t y)
{
   for (uint32_t i = 0; i < THREADS; i++) {
      for (unsigned j = 1; j < 4; j++)
         a[i][j] = x, b[i][j] = y;
      a[i][0] = (int8_t)i, b[i][0] = (int8_t)(i >> 8);
   }
}

static void every_pair_beside_extremes(void **state)
{
   static const int8_t ends[] = {-128, -1, 127};
   for (unsigned x = 0; x < 3; x++) {
      for (unsigned y = 0; y < 3; y++) {
         fill(ends[x], ends[y]);
         run();
      }
   }
}

static void any_bytes(void **state)
{
   struct agx_test_rng rng = {.state = 5};
   for (uint32_t i = 0; i < THREADS; i++) {
      uint64_t word = agx_test_random(&rng);
      memcpy(a[i], &word, 4);
      memcpy(b[i], (uint8_t *)&word + 4, 4);
   }
   run();
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_pair_beside_extremes),
      cmocka_unit_test(any_bytes),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
