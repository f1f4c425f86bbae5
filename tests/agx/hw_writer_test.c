/* SPDX-License-Identifier: MIT
 *
 * The writers of streams and USC words. The first test makes, byte for byte, a
 * dispatch that ran on an M1 (source: docs/hw/cmdstream.md 3).
 */
#include <string.h>

#include "agx/hw/cdm.h"
#include "agx/hw/usc.h"
#include "base/util.h"
#include "support.h"

static uint8_t memory[512];

static struct agx_hw_buffer fresh(size_t capacity)
{
   memset(memory, 0xa5, sizeof(memory));
   return (struct agx_hw_buffer){memory, capacity, 0};
}

static void assert_written(const struct agx_hw_buffer *buffer, const void *bytes, size_t size)
{
   assert_int_equal(buffer->used, size);
   assert_memory_equal(buffer->memory, bytes, size);
   assert_int_equal(buffer->memory[size], 0xa5);
}

static struct agx_hw_launch add_launch(void)
{
   return (struct agx_hw_launch){
      .uniform_halves = 64,
      .texture_count = 256,
      .preamble_halves = 256,
      .usc_offset = 0x8000,
      .global = {4, 1, 1},
      .local = {4, 1, 1},
   };
}

static void test_recorded_stream(void **state)
{
   static const uint8_t expected[] = {0x02, 0, 0,    0,    0,    0x80, 0, 0, 4, 0,    0, 0, 1, 0, 0,
                                      0,    1, 0,    0,    0,    4,    0, 0, 0, 1,    0, 0, 0, 1, 0,
                                      0,    0, 0xff, 0xff, 0x0f, 0x60, 0, 0, 0, 0x40, 0, 0, 0, 0};
   struct agx_hw_buffer buffer = fresh(sizeof(memory));
   const struct agx_hw_launch launch = add_launch();
   assert_ok(agx_hw_cdm_launch(&buffer, agx_chip_find("g13g"), &launch));
   assert_ok(agx_hw_cdm_barrier(&buffer));
   assert_ok(agx_hw_cdm_terminate(&buffer));
   assert_written(&buffer, expected, sizeof(expected));
   assert_int_equal(agx_load_u32(expected + 32), AGX_HW_CDM_BARRIER_WORD);
}

static void test_recorded_usc(void **state)
{
   static const uint8_t expected[] = {0x1d, 0, 0xc0, 0, 0, 0,    0, 0x20, 0x4d, 0x90, 0, 0, 0x0d,
                                      0x0c, 0, 0x40, 0, 0, 0x8d, 1, 0,    0,    0x88, 0};
   const struct agx_hw_usc_program program = {.code_offset = 0x4000, .gpr_halves = 8};
   struct agx_hw_buffer buffer = fresh(sizeof(memory));
   assert_ok(agx_hw_usc_uniforms(&buffer, 0, 12, 0x2000000000));
   assert_ok(agx_hw_usc_compute(&buffer, &program));
   assert_written(&buffer, expected, sizeof(expected));
}

/* G14 with several clusters has two more words behind the first two. */
static void test_chip_words(void **state)
{
   struct agx_hw_buffer buffer = fresh(sizeof(memory));
   const struct agx_hw_launch launch = add_launch();
   assert_ok(agx_hw_cdm_launch(&buffer, agx_chip_find("g14s"), &launch));
   assert_int_equal(buffer.used, AGX_HW_CDM_LAUNCH_MAX_BYTES);
   assert_memory_equal(memory + 8, "\0\0\0\0\0\0\0\x40\x04", 9);
   buffer = fresh(sizeof(memory));
   assert_ok(agx_hw_cdm_launch(&buffer, agx_chip_find("g14g"), &launch));
   assert_int_equal(buffer.used, 32);
}

static void test_indirect(void **state)
{
   struct agx_hw_buffer buffer = fresh(sizeof(memory));
   struct agx_hw_launch launch = add_launch();
   launch.mode = AGX_HW_CDM_MODE_INDIRECT_GLOBAL;
   launch.indirect_address = 0x2000104010;
   assert_ok(agx_hw_cdm_launch(&buffer, agx_chip_find("g13g"), &launch));
   assert_int_equal(buffer.used, 8 + 8 + 12);
   assert_memory_equal(memory + 8, "\x20\0\0\0\x10\x40\x10\0", 8);
   launch.mode = AGX_HW_CDM_MODE_INDIRECT_LOCAL;
   buffer = fresh(sizeof(memory));
   assert_ok(agx_hw_cdm_launch(&buffer, agx_chip_find("g13g"), &launch));
   assert_int_equal(buffer.used, 8 + 8);
   launch.indirect_address = 1ull << 40;
   assert_fails(agx_hw_cdm_launch(&buffer, agx_chip_find("g13g"), &launch), AGX_OUT_OF_RANGE,
                "0x10000000000");
   launch.indirect_address = 2;
   assert_fails(agx_hw_cdm_launch(&buffer, agx_chip_find("g13g"), &launch), AGX_INVALID_ARGUMENT,
                "Address lo: 2");
   assert_int_equal(buffer.used, 8 + 8);
}

static void test_links(void **state)
{
   const struct agx_hw_cdm_stream_return end = agx_hw_cdm_stream_return_default();
   struct agx_hw_buffer buffer = fresh(sizeof(memory));
   assert_ok(agx_hw_cdm_link(&buffer, 0x2fffef8000, false));
   assert_ok(agx_hw_cdm_link(&buffer, 0x2000004100, true));
   assert_ok(agx_hw_append(&buffer, &agx_hw_cdm_stream_return_packet, &end));
   assert_written(&buffer,
                  "\x2f\0\0\x20\0\x80\xef\xff"
                  "\x20\0\0\x30\0\x41\0\0"
                  "\0\0\0\x80\0\0\0\0",
                  24);
   assert_fails(agx_hw_cdm_link(&buffer, 1ull << 40, false), AGX_OUT_OF_RANGE, "40 bits");
}

/* Nothing is written past the room, and a launch never by halves. */
static void test_no_room(void **state)
{
   const struct agx_hw_launch launch = add_launch();
   for (size_t capacity = 0; capacity < 32; capacity++) {
      struct agx_hw_buffer buffer = fresh(capacity);
      assert_fails(agx_hw_cdm_launch(&buffer, agx_chip_find("g13g"), &launch),
                   AGX_RESOURCE_EXHAUSTED, "no room");
      assert_int_equal(buffer.used, 0);
      assert_int_equal(memory[capacity], 0xa5);
   }
}

/* 64 halves a word; a word of its own kind from half 256 on. */
static void test_uniform_split(void **state)
{
   struct agx_hw_buffer buffer = fresh(sizeof(memory));
   struct agx_hw_usc_uniform low;
   struct agx_hw_usc_uniform_high high;
   assert_ok(agx_hw_usc_uniforms(&buffer, 220, 100, 0x2000000000));
   assert_int_equal(buffer.used, 16);
   assert_ok(agx_hw_usc_uniform_unpack(memory, &low));
   assert_int_equal(low.start_halfs, 220);
   assert_int_equal(low.size_halfs, 36);
   assert_ok(agx_hw_usc_uniform_high_unpack(memory + 8, &high));
   assert_int_equal(high.start_halfs, 0);
   assert_int_equal(high.size_halfs, 64);
   assert_true(high.buffer == 0x2000000000 + 72);
   buffer = fresh(sizeof(memory));
   assert_ok(agx_hw_usc_uniforms(&buffer, 0, 512, 0x2000000000));
   assert_int_equal(buffer.used, 64);
   assert_fails(agx_hw_usc_uniforms(&buffer, 500, 13, 0), AGX_OUT_OF_RANGE, "13 halves from 500");
   assert_fails(agx_hw_usc_uniforms(&buffer, 0, 2, 2), AGX_INVALID_ARGUMENT, "misaligned");
   assert_fails(agx_hw_usc_uniforms(&buffer, 255, 3, 0), AGX_INVALID_ARGUMENT, "split");
}

static void test_program_limits(void **state)
{
   struct agx_hw_buffer buffer = fresh(sizeof(memory));
   struct agx_hw_usc_program program = {.shared_B = 1000, .gpr_halves = 256, .has_preamble = true};
   assert_ok(agx_hw_usc_compute(&buffer, &program));
   assert_int_equal(buffer.used, AGX_HW_USC_TAIL_MAX_BYTES);
   assert_memory_equal(memory, "\x4d\x91\0\x04", 4);
   program.shared_B = 32769;
   assert_fails(agx_hw_usc_compute(&buffer, &program), AGX_OUT_OF_RANGE, "32769");
   program.shared_B = 0;
   program.gpr_halves = 257;
   assert_fails(agx_hw_usc_compute(&buffer, &program), AGX_OUT_OF_RANGE, "257");
}

static void test_spill_codes(void **state)
{
   static const struct {
      uint32_t bytes, code;
   } cases[] = {{0, 0},  {1, 1},   {32, 1},  {33, 2},         {64, 2},
                {65, 3}, {128, 3}, {129, 4}, {UINT32_MAX, 15}};
   for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
      struct agx_hw_buffer buffer = fresh(sizeof(memory));
      const struct agx_hw_usc_program program = {.gpr_halves = 8, .scratch_B = cases[i].bytes};
      struct agx_hw_usc_registers registers;
      assert_ok(agx_hw_usc_compute(&buffer, &program));
      assert_ok(agx_hw_usc_registers_unpack(
         memory + AGX_HW_USC_SHARED_BYTES + AGX_HW_USC_SHADER_BYTES, &registers));
      assert_int_equal(registers.spill_size, cases[i].code);
   }
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_recorded_stream), cmocka_unit_test(test_recorded_usc),
      cmocka_unit_test(test_chip_words),      cmocka_unit_test(test_indirect),
      cmocka_unit_test(test_links),           cmocka_unit_test(test_no_room),
      cmocka_unit_test(test_uniform_split),   cmocka_unit_test(test_program_limits),
      cmocka_unit_test(test_spill_codes),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
