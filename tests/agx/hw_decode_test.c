/* SPDX-License-Identifier: MIT
 *
 * Streams read back: a recorded one as golden text, what the writers made, and
 * streams that mean harm.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "agx/hw/decode.h"
#include "agx/hw/usc.h"
#include "support.h"

#define USC_BASE  0x1100000000ull
#define USC_VA    (USC_BASE + 0x8000)
#define STREAM_VA 0x2000004000ull

/* Two small regions of GPU memory. */
struct memory {
   uint8_t stream[1024], usc[1024];
};

static bool read_region(uint64_t base, const uint8_t *bytes, size_t length, uint64_t va, void *out,
                        size_t size)
{
   if (va < base || va - base > length || size > length - (va - base))
      return false;
   memcpy(out, bytes + (va - base), size);
   return true;
}

static bool read_memory(void *user, uint64_t va, void *out, size_t size)
{
   struct memory *memory = user;
   return read_region(STREAM_VA, memory->stream, sizeof(memory->stream), va, out, size) ||
          read_region(USC_VA, memory->usc, sizeof(memory->usc), va, out, size);
}

static struct memory memory;
static const struct agx_hw_reader reader = {&memory, read_memory};
static struct agx_hw_buffer stream, usc;

/* Ends a stream that another one called; the library writes no such word. */
static agx_status append_return(struct agx_hw_buffer *buffer)
{
   const struct agx_hw_cdm_stream_return block = agx_hw_cdm_stream_return_default();
   return agx_hw_append(buffer, &agx_hw_cdm_stream_return_packet, &block);
}

static void start(void)
{
   memset(&memory, 0, sizeof(memory));
   stream = (struct agx_hw_buffer){memory.stream, sizeof(memory.stream), 0};
   usc = (struct agx_hw_buffer){memory.usc, sizeof(memory.usc), 0};
}

static void write_add(const char *chip)
{
   const struct agx_hw_launch launch = {.uniform_halves = 64,
                                        .texture_count = 256,
                                        .preamble_halves = 256,
                                        .usc_offset = 0x8000,
                                        .global = {4, 1, 1},
                                        .local = {4, 1, 1}};
   const struct agx_hw_usc_program program = {.code_offset = 0x4000, .gpr_halves = 8};
   start();
   assert_ok(agx_hw_cdm_launch(&stream, agx_chip_find(chip), &launch));
   assert_ok(agx_hw_cdm_barrier(&stream));
   assert_ok(agx_hw_cdm_terminate(&stream));
   assert_ok(agx_hw_usc_uniforms(&usc, 0, 12, 0x2000000000));
   assert_ok(agx_hw_usc_compute(&usc, &program));
}

static char printed[16384];

static void add_line(const char *text)
{
   strncat(printed, text, sizeof(printed) - strlen(printed) - 2);
   strcat(printed, "\n");
}

/* One line for each packet: address, name, fields. USC words are indented. */
static agx_status print_packet(void *user, const struct agx_hw_packet *packet, uint64_t va,
                               const void *values)
{
   char line[1024];
   struct agx_hw_text text = {line, sizeof(line), 0};
   bool is_usc = !strncmp(packet->name, "USC", 3);
   agx_hw_text_add(&text, "%s0x%010" PRIx64 "  ", is_usc ? "   " : "", va);
   agx_hw_print(packet, values, &text);
   add_line(line);
   return AGX_OK;
}

static agx_status print_trouble(void *user, const struct agx_hw_packet *packet, uint64_t va)
{
   char line[512];
   snprintf(line, sizeof(line), "! 0x%010" PRIx64 "  %s", va, agx_error_peek());
   add_line(line);
   return AGX_OK;
}

static agx_status print(const char *chip)
{
   const struct agx_hw_visitor visitor = {.packet = print_packet, .trouble = print_trouble};
   return agx_hw_walk_cdm(agx_chip_find(chip), &reader, USC_BASE, STREAM_VA, &visitor);
}

static void test_golden(void **state)
{
   write_add("g13g");
   printed[0] = 0;
   assert_ok(print("g13g"));
   write_add("g14d");
   stream.memory[9] = 1; /* a bit that no field knows */
   add_line("on a chip with more words, one of them wrong:");
   assert_ok(print("g14d"));
   agx_test_golden("cdm_add.txt", printed);
}

static agx_status count_launch(void *user, const struct agx_hw_launch *launch,
                               const struct agx_hw_usc_info *program)
{
   assert_int_equal(launch->global[0], 96);
   assert_int_equal(launch->local[1], 2);
   assert_int_equal(launch->uniform_halves, 320);
   assert_int_equal(program->load_count, 5);
   assert_int_equal(program->loads[4].start, 256);
   assert_int_equal(program->loads[4].halves, 44);
   assert_int_equal(program->shared_B, 1024);
   assert_int_equal(program->gpr_halves, 56);
   assert_int_equal(program->spill_code, 2);
   assert_true(program->has_preamble);
   assert_int_equal(program->preamble_offset, 0x6080);
   (*(int *)user)++;
   return AGX_OK;
}

/* What was written comes back; a called stream runs once for each call. */
static void test_round_trip(void **state)
{
   const struct agx_hw_launch launch = {
      .uniform_halves = 300, .usc_offset = 0x8000, .global = {96, 2, 1}, .local = {32, 2, 1}};
   const struct agx_hw_usc_program program = {.shared_B = 1000,
                                              .code_offset = 0x4000,
                                              .gpr_halves = 50,
                                              .scratch_B = 40,
                                              .has_preamble = true,
                                              .preamble_offset = 0x6080};
   int launches = 0;
   const struct agx_hw_visitor visitor = {.user = &launches, .launch = count_launch};
   start();
   assert_ok(agx_hw_usc_uniforms(&usc, 0, 300, 0x2000000000));
   assert_ok(agx_hw_usc_compute(&usc, &program));
   assert_ok(agx_hw_cdm_link(&stream, STREAM_VA + 24, true));
   assert_ok(agx_hw_cdm_link(&stream, STREAM_VA + 24, true));
   assert_ok(agx_hw_cdm_terminate(&stream));
   assert_ok(agx_hw_cdm_launch(&stream, agx_chip_find("g13g"), &launch));
   assert_ok(append_return(&stream));
   assert_ok(agx_hw_walk_cdm(agx_chip_find("g13g"), &reader, USC_BASE, STREAM_VA, &visitor));
   assert_int_equal(launches, 2);
}

static agx_status walk(void)
{
   static const struct agx_hw_visitor visitor = {0};
   return agx_hw_walk_cdm(agx_chip_find("g13g"), &reader, USC_BASE, STREAM_VA, &visitor);
}

static void test_endless(void **state)
{
   start();
   assert_ok(agx_hw_cdm_link(&stream, STREAM_VA, false));
   assert_fails(walk(), AGX_RESOURCE_EXHAUSTED, "no end");
   start();
   assert_ok(agx_hw_cdm_link(&stream, STREAM_VA, true));
   assert_fails(walk(), AGX_RESOURCE_EXHAUSTED, "deeper than 8");
   write_add("g13g");
   memset(usc.memory, 0, sizeof(memory.usc));
   for (int i = 0; i < 128; i++)
      memcpy(usc.memory + 8 * i, "\x1d\0\x10\0\0\0\0\0", 8);
   assert_fails(walk(), AGX_RESOURCE_EXHAUSTED, "no end after 64");
}

static void test_malformed(void **state)
{
   start();
   assert_ok(append_return(&stream));
   assert_fails(walk(), AGX_DATA_LOSS, "nothing was called");
   memory.stream[3] = 7 << 5;
   assert_fails(walk(), AGX_DATA_LOSS, "block type 7");
   assert_fails(agx_hw_walk_cdm(agx_chip_find("g13g"), &reader, USC_BASE, 0x1234000,
                                &(struct agx_hw_visitor){0}),
                AGX_DATA_LOSS, "0x1234000");
   write_add("g13g");
   memory.usc[8] = 0x77;
   assert_fails(walk(), AGX_DATA_LOSS, "tag 0x77");
   write_add("g13g");
   memory.stream[3] |= 3 << 3;
   assert_fails(walk(), AGX_DATA_LOSS, "mode 3");
}

static void test_random(void **state)
{
   struct agx_test_rng rng = {42};
   for (int round = 0; round < 3000; round++) {
      write_add("g13g");
      for (uint64_t i = agx_test_random_below(&rng, 6); i < 6; i++) {
         stream.memory[agx_test_random_below(&rng, 64)] = (uint8_t)agx_test_random(&rng);
         usc.memory[agx_test_random_below(&rng, 32)] = (uint8_t)agx_test_random(&rng);
      }
      printed[0] = 0;
      agx_status status = walk();
      if (status == AGX_OK)
         assert_ok(print("g13g"));
   }
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_golden),  cmocka_unit_test(test_round_trip),
      cmocka_unit_test(test_endless), cmocka_unit_test(test_malformed),
      cmocka_unit_test(test_random),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
