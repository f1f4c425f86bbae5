/* SPDX-License-Identifier: MIT
 *
 * Image stores and tiles through a whole launch, what textures and images cost in statistics, and
 * what check mode finds in their operands.
 */
#include "image_support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "agx/sim/check/statistics.h"
#include "base/util.h"

/* ---- Stores ---------------------------------------------------------------------- */

static void test_store_outside(void **state)
{
   struct image_case c;
   image_begin(&c, READ "imgw r=r8..r11 texture=ts1 coord=r4 lod=0 dim=2d" WRITE);
   for (unsigned i = 0; i < THREADS; i++) {
      c.input[i][0] = i % 10, c.input[i][1] = i / 10 * 4;
      c.input[i][4] = image_bits((float)(i + 1));
   }
   assert_ok(image_run(&c));
   struct agx_layout layout = image_layout((struct agx_layout_shape){.width = 8, .height = 8});
   for (unsigned i = 0; i < 64; i++) {
      uint32_t x = i % 8, y = i / 8;
      uint32_t got = agxs_get_le32(c.pixels + agx_layout_offset(&layout, 0, 0, x, y, 0));
      float expected = y % 4 ? 0.0f : (float)(y / 4 * 10 + x + 1);
      assert_true(image_float(got) == expected);
   }
   for (unsigned i = 256; i < 0x4000; i++)
      assert_int_equal(c.pixels[i], 0);
   image_end(&c);
}

/* A null descriptor as Mesa packs it: one dimension, one texel of a byte. Stores at any place lie
 * outside of it or go to that texel, in check mode, too. */
static void a_store_to_a_null_image_is_dropped(void **state)
{
   static const char *const dims[] = {"1d", "2d", "3d", "1d_array", "2d_array"};
   for (size_t i = 0; i < 2 * AGX_COUNT(dims); i++) {
      struct image_case c;
      char program[1024];
      snprintf(program, sizeof(program), READ "imgw r=r8..r11 texture=ts1 coord=r4 lod=0 dim=%s",
               dims[i / 2]);
      image_begin(&c, program);
      c.launch.options.check = i % 2;
      c.pbe = agx_hw_pbe_default();
      c.pbe.dimension = AGX_HW_TEXTURE_DIMENSION_1D;
      c.pbe.layout = AGX_HW_LAYOUT_TWIDDLED;
      c.pbe.channels = AGX_HW_CHANNELS_R8;
      c.pbe.type = AGX_HW_TEXTURE_TYPE_UNORM;
      c.pbe.width = c.pbe.height = c.pbe.levels = 1;
      c.pbe.buffer = PIXELS;
      for (unsigned t = 0; t < THREADS; t++) {
         c.input[t][0] = t % 3, c.input[t][1] = t * 1000003, c.input[t][2] = t << 16 | t;
         c.input[t][4] = image_bits(1.0f);
      }
      assert_ok(image_run(&c));
      for (unsigned at = 1; at < 0x4000; at++)
         assert_int_equal(c.pixels[at], 0);
      image_end(&c);
   }
}

/* A tile goes from threadgroup memory to an image as Mesa's copies do it. */
static void test_tile(void **state)
{
   struct image_case c;
   image_begin(&c, READ
               "mov d=r2l a=r0l\nshr d=r2h b=r0 c=31\n"
               "st_tile r=r8..r11 coord=r2l..r2h samples=1 offset=0 explicit_coords format=i32 "
               "mask=xyzw\n"
               "ld_tile r=r20..r21 coord=r2l..r2h samples=1 offset=0 format=i32 mask=xy\n"
               "barrier\nldimm32 d=r12 imm=0\nmov d=r3 a=r0\nldimm16 d=r0l imm=0\n"
               "if_icmp a=r3 b=0 nest=1 cond=ieq\n"
               "imgwblk r=r12l texture=ts1 coord=r4 lod=0 explicit_coords dim=2d format=i32\n"
               "pop_exec nest=1\nmov d=r0 a=r3" WRITE);
   c.launch.shared_bytes = 8192;
   c.launch.sample_stride = 1; /* 8 bytes */
   c.pbe.channels = AGX_HW_CHANNELS_R32G32;
   c.pbe.width = 40;
   c.input[0][0] = 2;
   for (unsigned i = 0; i < THREADS; i++)
      c.input[i][4] = image_bits((float)i), c.input[i][5] = image_bits((float)i + 0.5f);
   assert_ok(image_run(&c));
   struct agx_layout layout =
      image_layout((struct agx_layout_shape){.width = 40, .height = 8, .block_B = 8});
   for (unsigned i = 0; i < THREADS; i++) {
      const uint8_t *at = c.pixels + agx_layout_offset(&layout, 0, 0, 2 + i, 0, 0);
      assert_true(image_float(agxs_get_le32(at)) == (float)i);
      assert_true(image_float(agxs_get_le32(at + 4)) == (float)i + 0.5f);
      assert_true(image_float(c.output[i][1]) == (float)i + 0.5f);
   }
   image_end(&c);
}

/* Mesa's copies to packed formats: halves from 32-bit registers, and the block's code for 16
 * bits is that of integers. */
static void test_packed_tile(void **state)
{
   struct image_case c;
   image_begin(&c, READ
               "mov d=r2l a=r0l\nshr d=r2h b=r0 c=31\n"
               "st_tile r=r8..r11 coord=r2l..r2h samples=1 offset=0 explicit_coords format=f16 "
               "mask=xyzw\n"
               "ld_tile r=r20..r21 coord=r2l..r2h samples=1 offset=0 format=f16 mask=xy\n"
               "barrier\nldimm32 d=r12 imm=0\nmov d=r3 a=r0\nldimm16 d=r0l imm=0\n"
               "if_icmp a=r3 b=0 nest=1 cond=ieq\n"
               "imgwblk r=r12l texture=ts1 coord=r4 lod=0 explicit_coords dim=2d format=i16\n"
               "pop_exec nest=1\nmov d=r0 a=r3" WRITE);
   c.launch.shared_bytes = 8192;
   c.launch.sample_stride = 1;
   c.pbe.channels = AGX_HW_CHANNELS_R5G6B5;
   c.pbe.type = AGX_HW_TEXTURE_TYPE_UNORM;
   c.pbe.width = c.pbe.height = 32;
   for (unsigned i = 0; i < THREADS; i++) {
      c.input[i][4] = image_bits((float)i / 31.0f);
      c.input[i][5] = image_bits((float)(2 * i) / 63.0f);
      c.input[i][6] = image_bits((float)(31 - i) / 31.0f);
   }
   assert_ok(image_run(&c));
   for (unsigned i = 0; i < THREADS; i++) {
      uint32_t at = 0; /* in a tile of 128 by 64 texels of two bytes, in row 0 */
      for (unsigned bit = 0; bit < 6; bit++)
         at |= 2 * (i >> bit & 1) << 2 * bit;
      assert_int_equal(agxs_get_le16(c.pixels + at), i | 2 * i << 5 | (31 - i) << 11);
      assert_true(fabsf(image_float(c.output[i][0]) - (float)i / 31.0f) < 1e-3f);
   }
   image_end(&c);
}

/* ---- Statistics ------------------------------------------------------------- */

struct touched {
   uint64_t classes[AGXS_CLASS_COUNT];
   uint64_t sample_lines, sample_lsu, wait_stall, write_lines, write_lsu;
};

/* The sample, the wait that follows it, and the image store. */
static void note_touched(void *user, const struct agxs_dispatch_stats *stats)
{
   struct touched *touched = user;
   struct agx_isa_instr instr;
   memcpy(touched->classes, stats->classes, sizeof(touched->classes));
   for (uint32_t i = 0; i + 1 < stats->spot_count; i++) {
      const struct agxs_spot *spot = &stats->spots[i];
      assert_ok(agx_isa_decode(spot->bytes, spot->length, &instr));
      if (instr.op == AGX_ISA_OP_SMPI) {
         touched->sample_lines = spot->lines;
         touched->sample_lsu = spot->lsu;
         touched->wait_stall = spot[1].stall;
      }
      if (instr.op == AGX_ISA_OP_IMGW) {
         touched->write_lines = spot->lines;
         touched->write_lsu = spot->lsu;
      }
   }
}

/* 8 x 8 texels of 4 bytes in Morton order are two lines: rows 0 to 3, and 4 to 7. Fetched
 * are the first four rows, written every second row; one lane in two fetches outside. */
static void test_lines(void **state)
{
   struct image_case c;
   struct touched touched = {{0}};
   image_begin(&c, READ "smpi r=r20..r23 texture=ts0 sampler=ss0 coord=r4 dim=2d mask=xyzw "
                        "group=a\nwait group=a\n"
                        "imgw r=r20..r23 texture=ts1 coord=r12 lod=0 dim=2d" WRITE);
   c.launch.options.profile = true;
   c.launch.options.user = &touched;
   c.launch.options.on_dispatch = note_touched;
   for (unsigned i = 0; i < THREADS; i++) {
      c.input[i][0] = i % 8;
      c.input[i][1] = i & 1 ? 100 : i / 8;
      c.input[i][8] = i % 8;
      c.input[i][9] = i / 8 * 2;
   }
   assert_ok(image_run(&c));
   assert_int_equal(touched.classes[AGXS_CLASS_TEXTURE], 2);
   assert_int_equal(touched.sample_lines, 1);
   assert_int_equal(touched.sample_lsu, 2);
   assert_int_equal(touched.wait_stall, 199);
   assert_int_equal(touched.write_lines, 2);
   assert_int_equal(touched.write_lsu, 4);
   image_end(&c);
}

static agx_status run_checked(const char *program)
{
   struct image_case c;
   image_begin(&c, program);
   c.launch.options.check = true;
   c.launch.shared_bytes = 32 * 32 * 16;
   c.pbe.channels = AGX_HW_CHANNELS_R16G16;
   agx_status status = image_run(&c);
   image_end(&c);
   return status;
}

#define FETCH(r, coord, dim, mask)                                                                 \
   READ "smpi r=" r " texture=ts0 sampler=ss0 coord=" coord " dim=" dim " mask=" mask              \
        " lod_mode=auto_lod group=a\n"
#define SAVE(r)      "store r=" r " base=du4 index=r0 format=i32 mask=x group=a"
#define IMAGE(coord) "imgw r=r20..r23 texture=ts1 coord=" coord " lod=0 dim=2d"

/* Check mode: a fault each, and next to it what is sound. */
static void test_checks(void **state)
{
   assert_fails(run_checked(FETCH("r20", "r4", "2d", "x") SAVE("r20")), AGX_FAILED_PRECONDITION,
                "check: r20l is read while an operation of group a will write it");
   assert_ok(run_checked(FETCH("r20", "r4", "2d", "x") "wait group=a\n" SAVE("r20")));
   /* Four registers change. */
   assert_fails(run_checked(FETCH("r20", "r4", "2d", "x") "mov d=r23l a=1\n"),
                AGX_FAILED_PRECONDITION, "check: r23l is written while an operation of group a");
   assert_fails(
      run_checked("mov d=r21 a=1\n" FETCH("r20", "r4", "2d", "x") "wait group=a\n" SAVE("r21")),
      AGX_FAILED_PRECONDITION, "a texture operation, changed it besides its results");
   assert_fails(run_checked(FETCH("r20", "r24", "2d", "x")), AGX_FAILED_PRECONDITION,
                "check: r24 of lane 0 (thread 0) reaches an image address, but bits 0xffffffff are "
                "undefined: nothing wrote it");
   assert_fails(run_checked("mov d=r24 a=0\n" FETCH("r20", "r24", "2d", "x")),
                AGX_FAILED_PRECONDITION,
                "check: r25 of lane 0 (thread 0) reaches an image address");
   assert_ok(run_checked("mov d=r24 a=0\nmov d=r25 a=0\n" FETCH("r20", "r24", "2d", "x")));
   /* A format of two channels stores neither blue nor alpha. */
   assert_fails(
      run_checked(READ "mov d=r20 a=0\n" IMAGE("r4")), AGX_FAILED_PRECONDITION,
      "check: r21 of lane 0 (thread 0) reaches an image, but bits 0xffffffff are undefined");
   assert_ok(run_checked(READ "mov d=r20 a=0\nmov d=r21 a=0\n" IMAGE("r4")));
   assert_fails(run_checked(READ IMAGE("r24")), AGX_FAILED_PRECONDITION,
                "check: r24 of lane 0 (thread 0) reaches an image address");
}

/* A block store counts as its texels, and looks at limits. */
static void test_tile_limit(void **state)
{
   struct image_case c;
   image_begin(&c, "again:\nldimm32 d=r4 imm=0\nldimm32 d=r5 imm=0\nldimm32 d=r12 imm=0\n"
                   "imgwblk r=r12l texture=ts1 coord=r4 lod=0 explicit_coords dim=2d format=i32\n"
                   "jmp_any offset=@again");
   c.launch.shared_bytes = 8192;
   c.launch.sample_stride = 1;
   c.launch.options.max_instructions_per_group = 200000;
   assert_fails(image_run(&c), AGX_DEADLINE_EXCEEDED, "more instructions");
   assert_true(c.launch.stats.instructions < 100);
   image_end(&c);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_store_outside), cmocka_unit_test(a_store_to_a_null_image_is_dropped),
      cmocka_unit_test(test_tile),          cmocka_unit_test(test_tile_limit),
      cmocka_unit_test(test_packed_tile),   cmocka_unit_test(test_lines),
      cmocka_unit_test(test_checks),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
