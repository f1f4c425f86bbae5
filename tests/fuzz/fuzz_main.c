/* SPDX-License-Identifier: MIT
 *
 * Drives a fuzz target without libFuzzer: runs the files given as arguments, or
 * a bounded number of inputs made from the seed file's lines and random changes,
 * so that every target is a unit test too.
 *
 *    isa_fuzz [FILE...] | isa_fuzz --seeds FILE
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/util.h"

#define INPUTS      60000
#define MAX_INPUT_B 256
#define MAX_SEEDS   1024

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct seeds {
   char *line[MAX_SEEDS];
   size_t count;
};

static uint64_t random_state = 0x5eed5eed5eed5eed;

static uint64_t random_below(uint64_t bound)
{
   random_state ^= random_state >> 12;
   random_state ^= random_state << 25;
   random_state ^= random_state >> 27;
   return random_state * 0x2545f4914f6cdd1dull % bound;
}

static char *read_file(const char *path, size_t *out_size)
{
   FILE *file = fopen(path, "rb");
   char *data = malloc(1 << 20);
   if (!file || !data) {
      perror(path);
      exit(1);
   }
   *out_size = fread(data, 1, (1 << 20) - 1, file);
   data[*out_size] = 0;
   fclose(file);
   return data;
}

static void split_lines(char *text, struct seeds *out_seeds)
{
   out_seeds->count = 0;
   for (char *line; (line = agx_split(&text, "\n")) && out_seeds->count < MAX_SEEDS;)
      if (*line && *line != '#')
         out_seeds->line[out_seeds->count++] = line;
}

/* A seed line "HEX TEXT" as the target's input: its bytes or its text. */
static size_t seed_input(const char *line, uint8_t *data)
{
   size_t hex = strcspn(line, " "), size = 1;
   data[0] = (uint8_t)random_below(2);
   if (data[0] & 1) {
      const char *text = line + hex + strspn(line + hex, " ");
      size = strnlen(text, MAX_INPUT_B - 1);
      memcpy(data + 1, text, size);
      return size + 1;
   }
   for (unsigned value; size <= hex / 2 && size < MAX_INPUT_B; size++) {
      if (sscanf(line + 2 * (size - 1), "%2x", &value) != 1)
         break;
      data[size] = (uint8_t)value;
   }
   return size;
}

static size_t change(uint8_t *data, size_t size)
{
   static const char characters[] = " =/.-+_*^$0123456789abcdefghlnrsux\n";
   for (uint64_t n = random_below(4); n > 0 && size > 1; n--) {
      size_t at = 1 + random_below(size - 1);
      switch (random_below(4)) {
      case 0:
         data[at] ^= (uint8_t)(1u << random_below(8));
         break;
      case 1:
         data[at] = (uint8_t)characters[random_below(sizeof(characters) - 1)];
         break;
      case 2:
         memmove(data + at, data + at + 1, size - at - 1);
         size--;
         break;
      default:
         if (size == MAX_INPUT_B)
            break;
         memmove(data + at + 1, data + at, size - at);
         data[at] = (uint8_t)random_below(256);
         size++;
         break;
      }
   }
   return size;
}

/* In a block of exactly their size, so that the sanitizer sees every overrun. */
static void run_exact(const uint8_t *data, size_t size)
{
   uint8_t *exact = malloc(size ? size : 1);
   if (!exact)
      exit(1);
   memcpy(exact, data, size);
   LLVMFuzzerTestOneInput(exact, size);
   free(exact);
}

static void run_random(const struct seeds *seeds)
{
   for (unsigned i = 0; i < INPUTS; i++) {
      uint8_t data[MAX_INPUT_B];
      size_t size;
      if (seeds->count && random_below(8) != 0) {
         size = seed_input(seeds->line[random_below(seeds->count)], data);
      } else {
         size = random_below(40);
         for (size_t k = 0; k < size; k++)
            data[k] = (uint8_t)random_below(256);
      }
      run_exact(data, change(data, size));
   }
}

int main(int argc, char **argv)
{
   size_t size;
   if (argc == 3 && strcmp(argv[1], "--seeds") == 0) {
      struct seeds seeds;
      char *text = read_file(argv[2], &size);
      split_lines(text, &seeds);
      run_random(&seeds);
      free(text);
      return 0;
   }
   for (int i = 1; i < argc; i++) {
      char *data = read_file(argv[i], &size);
      run_exact((const uint8_t *)data, size);
      free(data);
   }
   if (argc == 1)
      run_random(&(struct seeds){.count = 0});
   return 0;
}
