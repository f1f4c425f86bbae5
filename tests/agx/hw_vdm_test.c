/* SPDX-License-Identifier: MIT
 *
 * Vertex streams read back: those of another driver (vdm_streams.txt) as golden text, one of each
 * block with everything that may follow it, and streams that mean harm.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agx/hw/decode.h"
#include "support.h"

#define USC_BASE    0x1100000000ull
#define STREAM_VA   0x2000004000ull
#define RECORD_VA   (STREAM_VA + 1024)
#define MAX_PLACES  128
#define STREAM_SIZE 2048

/* Bytes at scattered addresses. */
struct place {
   uint64_t va;
   uint32_t size;
   uint8_t bytes[STREAM_SIZE];
};

static struct place places[MAX_PLACES];
static uint32_t place_count;

static bool read_memory(void *user, uint64_t va, void *out, size_t size)
{
   for (uint32_t i = 0; i < place_count; i++) {
      const struct place *place = &places[i];
      if (va >= place->va && va - place->va <= place->size &&
          size <= place->va + place->size - va) {
         memcpy(out, place->bytes + (va - place->va), size);
         return true;
      }
   }
   return false;
}

static const struct agx_hw_reader reader = {NULL, read_memory};

/* ---- text ------------------------------------------------------------------ */

static char printed[32768];

static void add_line(const char *text)
{
   size_t used = strlen(printed);
   snprintf(printed + used, sizeof(printed) - used, "%s\n", text);
}

static agx_status print_packet(void *user, const struct agx_hw_packet *packet, uint64_t va,
                               const void *values)
{
   char line[1024];
   struct agx_hw_text text = {line, sizeof(line), 0};
   agx_hw_text_add(&text, "0x%010" PRIx64 "  ", va);
   agx_hw_print(packet, values, &text);
   add_line(line);
   return AGX_OK;
}

static agx_status print_program(void *user, enum agx_hw_stage stage,
                                const struct agx_hw_usc_info *program)
{
   char line[128];
   snprintf(line, sizeof(line), "%s: code at 0x%x, %u loads",
            stage == AGX_HW_STAGE_VERTEX ? "vertex" : "fragment", program->code_offset,
            program->load_count);
   add_line(line);
   return AGX_OK;
}

static agx_status print_words(void *user, uint64_t va, uint32_t count, bool is_padding)
{
   char line[128];
   snprintf(line, sizeof(line), "0x%010" PRIx64 "  %u words of %s", va, count,
            is_padding ? "padding" : "what nobody knows");
   add_line(line);
   return AGX_OK;
}

static const struct agx_hw_visitor printer = {
   .packet = print_packet, .program = print_program, .words = print_words};

static agx_status print(uint64_t va)
{
   printed[0] = 0;
   return agx_hw_walk_vdm(&reader, USC_BASE, va, &printer);
}

/* ---- streams of another driver --------------------------------------------- */

static void add_place(uint64_t va, const char *hex)
{
   assert_true(place_count < MAX_PLACES);
   struct place *place = &places[place_count++];
   unsigned byte;
   place->va = va;
   place->size = 0;
   for (; sscanf(hex, "%2x", &byte) == 1; hex += 2)
      place->bytes[place->size++] = (uint8_t)byte;
}

/* Takes one stream's lines; returns where the next begins. */
static char *read_stream(char *line, char *out_name, uint64_t *out_va)
{
   char hex[128];
   uint64_t va;
   int length;
   place_count = 0;
   assert_int_equal(sscanf(line, "stream %31s %" SCNx64 "\n%n", out_name, out_va, &length), 2);
   for (line += length; sscanf(line, "%" SCNx64 " %127s\n%n", &va, hex, &length) == 2;
        line += length)
      add_place(va, hex);
   return line;
}

static void test_golden(void **state)
{
   char *path = agx_test_path("agx/vdm_streams.txt"), name[32], file[64];
   size_t size;
   uint64_t va;
   char *text = agx_test_read_file(path, &size);
   int streams = 0;
   for (char *line = strstr(text, "\nstream ") + 1; *line; streams++) {
      line = read_stream(line, name, &va);
      assert_ok(print(va));
      snprintf(file, sizeof(file), "vdm_%s.txt", name);
      agx_test_golden(file, printed);
   }
   assert_int_equal(streams, 2);
   free(text);
   free(path);
}

/* ---- every block ------------------------------------------------------------- */

static struct agx_hw_buffer stream, record;

static void start(void)
{
   memset(places, 0, 2 * sizeof(places[0]));
   place_count = 2;
   places[0] = (struct place){.va = STREAM_VA, .size = 1024};
   places[1] = (struct place){.va = RECORD_VA, .size = 1024};
   stream = (struct agx_hw_buffer){places[0].bytes, 1024, 0};
   record = (struct agx_hw_buffer){places[1].bytes, 1024, 0};
}

static void terminate(void)
{
   const struct agx_hw_vdm_stream_terminate block = agx_hw_vdm_stream_terminate_default();
   assert_ok(agx_hw_append(&stream, &agx_hw_vdm_stream_terminate_packet, &block));
}

static void append_words(struct agx_hw_buffer *buffer, const uint32_t *words, uint32_t count)
{
   memcpy((uint8_t *)buffer->memory + buffer->used, words, 4 * count);
   buffer->used += 4 * count;
}

/* State, a draw and patches with every word that may follow: types 2, 3 and 5. The words behind
 * state are 7 with its own, so one fills it up; nothing fills up the others. */
static void test_blocks(void **state)
{
   static const uint32_t states[] = {2u << 29 | 0xbf, 0xffff, 0, 0, 0, 0, 0, 0, 0};
   static const uint32_t draw[] = {3u << 29 | 0x5f60620, 1, 36, 2, 5, 0, 0, 7};
   static const uint32_t patches[] = {5u << 29 | 0x16e00000, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
   start();
   append_words(&stream, states, 9);
   stream.used -= 4; /* 8 words in all: nothing to fill up */
   append_words(&stream, draw, 8);
   append_words(&stream, patches, 11);
   terminate();
   agx_status status = print(STREAM_VA);
   assert_fails(status, AGX_DATA_LOSS, "USC"); /* shader word 1 leads to no program */
   places[0].bytes[0] = 0xbb;                  /* without it 7 words, and one to fill up */
   assert_ok(print(STREAM_VA));
   assert_non_null(strstr(printed, "0x200000401c  1 words of padding"));
   assert_non_null(strstr(printed, "0x2000004020  Index List"));
   assert_non_null(strstr(printed, "0x2000004040  VDM Tessellate"));
   assert_non_null(strstr(printed, "0x200000406c  VDM Stream Terminate"));
}

static void point_at_record(uint32_t words)
{
   struct agx_hw_ppp_state block = agx_hw_ppp_state_default();
   block.pointer_hi = (uint32_t)(RECORD_VA >> 32);
   block.pointer_lo = (uint32_t)RECORD_VA;
   block.size_words = words;
   assert_ok(agx_hw_append(&stream, &agx_hw_ppp_state_packet, &block));
   terminate();
}

/* All that a header can name, for two viewports: 8 bytes of clip and 24 of viewport each. */
static agx_status print_record(uint32_t words)
{
   static const uint32_t everything[] = {0x1fef1dff, 0x200, 0x200}; /* the others are 0 */
   start();
   append_words(&record, everything, 3);
   point_at_record(words);
   return print(STREAM_VA);
}

static void test_record(void **state)
{
   assert_ok(print_record(1 + 9 + 4 + 13 + 4 + 2 + 4 + 4 + 2));
   assert_null(strstr(printed, "nobody"));
   assert_ok(print_record(44));
   assert_non_null(strstr(printed, "0x20000044ac  1 words of what nobody knows"));
   assert_fails(print_record(42), AGX_DATA_LOSS, "its header says 43 words, its size is 42");
}

static void link_to(uint64_t va, bool with_return)
{
   struct agx_hw_vdm_stream_link link = agx_hw_vdm_stream_link_default();
   link.target_hi = (uint32_t)(va >> 32);
   link.target_lo = (uint32_t)va;
   link.with_return = with_return;
   assert_ok(agx_hw_append(&stream, &agx_hw_vdm_stream_link_packet, &link));
}

static void append_return(void)
{
   struct agx_hw_vdm_barrier barrier = agx_hw_vdm_barrier_default();
   barrier.returns = true;
   assert_ok(agx_hw_append(&stream, &agx_hw_vdm_barrier_packet, &barrier));
}

static void test_calls(void **state)
{
   start();
   link_to(STREAM_VA + 40, true);
   terminate();
   append_return();
   assert_ok(print(STREAM_VA));
   assert_non_null(
      strstr(printed, "0x2000004028  VDM Barrier: Returns\n0x2000004008  VDM Stream "));
}

static void test_endless_and_malformed(void **state)
{
   start();
   link_to(STREAM_VA, false);
   assert_fails(print(STREAM_VA), AGX_RESOURCE_EXHAUSTED, "no end");
   start();
   link_to(STREAM_VA, true);
   assert_fails(print(STREAM_VA), AGX_RESOURCE_EXHAUSTED, "deeper than 8");
   start();
   append_return();
   assert_fails(print(STREAM_VA), AGX_DATA_LOSS, "nothing was called");
   places[0].bytes[3] = 7 << 5;
   assert_fails(print(STREAM_VA), AGX_DATA_LOSS, "block type 7");
   places[0].bytes[3] = 3 << 5 | 1 << 1; /* a word of an unknown meaning follows a draw */
   assert_fails(print(STREAM_VA), AGX_DATA_LOSS, "words that are not known follow");
   assert_fails(print(STREAM_VA - 4), AGX_DATA_LOSS, "0x2000003ffc");
}

static void test_random(void **state)
{
   struct agx_test_rng rng = {42};
   for (int round = 0; round < 3000; round++) {
      start();
      for (int i = 0; i < 512; i++) {
         places[0].bytes[i] = (uint8_t)agx_test_random(&rng);
         places[1].bytes[i] = (uint8_t)agx_test_random(&rng);
      }
      point_at_record(40); /* at the beginning, before what is left of the noise */
      agx_status status = print(STREAM_VA);
      assert_true(status == AGX_OK || status == AGX_DATA_LOSS || status == AGX_RESOURCE_EXHAUSTED ||
                  status == AGX_INVALID_ARGUMENT);
   }
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_golden),
      cmocka_unit_test(test_blocks),
      cmocka_unit_test(test_record),
      cmocka_unit_test(test_calls),
      cmocka_unit_test(test_endless_and_malformed),
      cmocka_unit_test(test_random),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
