/* SPDX-License-Identifier: MIT
 *
 * Drives a fuzz target that takes words: each file as it is, then copies with a few
 * words changed.
 *
 *    spirv_fuzz ROUNDS FILE...
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FILE_B   (1 << 20)
#define HEADER_WORDS 5

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t random_state = 0x5eed5eed5eed5eed;

static uint32_t random_below(uint64_t bound)
{
   random_state ^= random_state >> 12;
   random_state ^= random_state << 25;
   random_state ^= random_state >> 27;
   return (uint32_t)((random_state * 0x2545f4914f6cdd1dull >> 16) % bound);
}

static uint32_t *read_words(const char *path, size_t *out_count)
{
   FILE *file = fopen(path, "rb");
   uint32_t *words = malloc(MAX_FILE_B);
   if (!file || !words) {
      perror(path);
      exit(1);
   }
   *out_count = fread(words, 4, MAX_FILE_B / 4, file);
   fclose(file);
   return words;
}

/* Bits, copies of other words, small numbers (often ids), neighbours, whole runs. */
static void change(uint32_t *words, size_t count)
{
   size_t at = 1 + random_below(count - 1);
   size_t from = HEADER_WORDS + random_below(count - HEADER_WORDS);
   switch (random_below(5)) {
   case 0:
      words[at] ^= 1u << random_below(32);
      break;
   case 1:
      words[at] = words[from];
      break;
   case 2:
      words[at] = random_below(256);
      break;
   case 3:
      words[at] += random_below(5) - 2;
      break;
   default: {
      size_t longest = count - (at > from ? at : from);
      memmove(words + at, words + from, 4 * random_below(longest < 8 ? longest + 1 : 8));
   }
   }
}

int main(int argc, char **argv)
{
   unsigned rounds = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 0;
   for (int i = 2; i < argc; i++) {
      size_t count;
      uint32_t *words = read_words(argv[i], &count), *copy = malloc(count * 4 + 1);
      LLVMFuzzerTestOneInput((const uint8_t *)words, 4 * count);
      for (unsigned round = 0; round < rounds && copy && count > HEADER_WORDS; round++) {
         memcpy(copy, words, 4 * count);
         for (uint32_t n = 1 + random_below(3); n > 0; n--)
            change(copy, count);
         LLVMFuzzerTestOneInput((const uint8_t *)copy, 4 * count);
      }
      free(copy);
      free(words);
   }
   return 0;
}
