/* SPDX-License-Identifier: MIT
 *
 * Fuzzes the simulator. The first byte chooses options and what the rest is:
 * machine code of a kernel, of a preamble, launch words, or a stream; what the
 * input does not give is sound. Nothing may crash, and only the codes that sim.h
 * names may come back.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agx/sim/check/statistics.h"
#include "agx/sim/sim.h"
#include "base/util.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define BASE      0x1100000000ull
#define PAGES     4u /* code and preamble, words, stream, data */
#define WORDS_AT  0x4000u
#define STREAM_AT 0x8000u
#define DATA_AT   0xc000u
#define PREAMBLE  0x2000u

static uint8_t memory[PAGES * AGX_PAGE_BYTES] __attribute__((aligned(16)));

static void *translate(void *user, uint64_t va, enum agxs_access access)
{
   uint64_t offset = va - BASE;
   if (offset >= sizeof(memory) || (access == AGXS_WRITE && offset < DATA_AT))
      return NULL;
   return memory + offset;
}

static void put_words(uint32_t at, const uint32_t *words, size_t count)
{
   for (size_t i = 0; i < 4 * count; i++)
      memory[at + i] = (uint8_t)(words[i / 4] >> i % 4 * 8);
}

/* 70 threads in workgroups of 40, all registers, 1 KiB of threadgroup memory, 32 words of
 * stack; u0 is the data page. */
static void put_sound_input(bool has_preamble)
{
   const uint64_t data = BASE + DATA_AT;
   const uint64_t uniform = 0x1d | 4u << 20 | data >> 2 << 26;
   const uint32_t words[] = {
      (uint32_t)uniform,
      (uint32_t)(uniform >> 32),
      0x4d | 1 << 8 | 0x24 << 10 | 4u << 24,
   };
   const uint8_t tail[] = {0x0d, 0x0c, 0, 0, 0, 0, 0x8d, 0, 0x0c, 0};
   const uint32_t preamble[] = {0xc0800038, PREAMBLE}, none[] = {0x88, 0};
   const uint32_t stream[] = {2, WORDS_AT, 70, 1, 1, 40, 1, 1, 0x600fffff, 0x40000000, 0};
   memset(memory, 0, sizeof(memory));
   memory[0] = memory[PREAMBLE] = 0x88; /* stop */
   put_words(WORDS_AT, words, AGX_COUNT(words));
   memcpy(memory + WORDS_AT + sizeof(words), tail, sizeof(tail));
   put_words(WORDS_AT + sizeof(words) + sizeof(tail), has_preamble ? preamble : none, 2);
   put_words(STREAM_AT, stream, AGX_COUNT(stream));
   put_words(DATA_AT, (const uint32_t[]){(uint32_t)data, (uint32_t)(data >> 32)}, 2);
}

static void put_input(unsigned where, const uint8_t *bytes, size_t size)
{
   static const uint32_t place[4] = {0, PREAMBLE, WORDS_AT, STREAM_AT};
   size_t room = where == 0 ? PREAMBLE : 0x1000;
   size = AGX_MIN(size, room - 2);
   memcpy(memory + place[where], bytes, size);
   if (where < 2)
      memory[place[where] + size] = 0x88; /* where it falls through */
}

#define DESCRIPTORS_AT   (DATA_AT + 64)
#define DESCRIPTOR_BYTES 72u /* texture, PBE, sampler with a border */

/* Puts the data page's address into a descriptor, whose field starts at that bit. */
static void aim(uint8_t *descriptor, unsigned start)
{
   uint64_t address = (BASE + DATA_AT) >> 4;
   for (unsigned i = 0; i < 36; i++) {
      uint8_t bit = (uint8_t)(1u << (start + i) % 8), *at = &descriptor[(start + i) / 8];
      *at = address >> i & 1 ? *at | bit : *at & (uint8_t)~bit;
   }
}

/* Both texture states and a sampler with what the input says; their images lie in the data
 * page at least in part. Returns how much of the input that took. */
static size_t put_descriptors(const uint8_t *bytes, size_t size)
{
   const uint64_t at = BASE + DESCRIPTORS_AT;
   const uint64_t texture = 0xdd | 2u << 20 | at >> 3 << 27;
   const uint64_t sampler = 0x9d | 1u << 20 | (at + 48) >> 3 << 27;
   const uint32_t words[] = {(uint32_t)texture, (uint32_t)(texture >> 32), (uint32_t)sampler,
                             (uint32_t)(sampler >> 32)};
   size = AGX_MIN(size, DESCRIPTOR_BYTES);
   memmove(memory + WORDS_AT + sizeof(words), memory + WORDS_AT, 64);
   put_words(WORDS_AT, words, AGX_COUNT(words));
   memory[STREAM_AT + 1] |= 7 << 1; /* 16 extended samplers */
   memcpy(memory + DESCRIPTORS_AT, bytes, size);
   aim(memory + DESCRIPTORS_AT, 66);
   aim(memory + DESCRIPTORS_AT + 24, 64);
   return size;
}

/* Whatever was counted can be printed; its sums are those of its instructions. */
static void on_dispatch(void *user, const struct agxs_dispatch_stats *stats)
{
   const struct agxs_origin origin = {1, 0};
   uint64_t issue = 0, stall = 0, lsu = 0;
   for (uint32_t i = 0; i < stats->spot_count; i++) {
      issue += stats->spots[i].executed;
      stall += stats->spots[i].stall;
      lsu += stats->spots[i].lsu;
   }
   if (issue != stats->counts.issue || stall != stats->counts.stall || lsu != stats->counts.lsu ||
       stats->counts.longest > issue + stall)
      abort();
   FILE *file = fopen("/dev/null", "w");
   if (!file)
      return;
   agxs_report_table(file, stats, &origin, 5);
   agxs_report_json(file, stats, &origin);
   fclose(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
   static const struct agx_chip chip = {.name = "g13g"};
   static const struct agxs_memory interface = {.translate = translate};
   if (size == 0)
      return 0;
   const struct agxs_options options = {
      .check = data[0] & 4,
      .strict = data[0] & 8,
      .profile = data[0] & 16 || size % 4 == 3,
      .on_dispatch = on_dispatch,
      .thread_count = 1,
      .max_instructions_per_group = 200,
      .max_workgroups = 16,
      .chaos_seed = data[0] >> 6 == 1 ? size : 0,
   };
   struct agxs_stats stats;
   put_sound_input((data[0] & 3) == 1);
   size_t taken = data[0] & 32 ? put_descriptors(data + 1, size - 1) : 0;
   put_input(data[0] & 3, data + 1 + taken, size - 1 - taken);
   agx_status status =
      agxs_run_compute(&chip, &interface, &options, BASE, BASE + STREAM_AT, &stats);
   bool is_named = status == AGX_OK || status == AGX_INVALID_ARGUMENT ||
                   status == AGX_UNIMPLEMENTED || status == AGX_DATA_LOSS ||
                   status == AGX_DEADLINE_EXCEEDED || status == AGX_FAILED_PRECONDITION ||
                   status == AGX_RESOURCE_EXHAUSTED;
   bool is_sound = size == 1 && !options.check;
   if (!is_named || (is_sound && (status != AGX_OK || stats.threads != 70))) {
      fprintf(stderr, "status %d: %s\n", status, status ? agx_error_peek() : "");
      abort();
   }
   return 0;
}
