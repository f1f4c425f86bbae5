/* SPDX-License-Identifier: MIT
 *
 * Dispatches are written as tests/mesa/vkrecord.c reads them, and checked against recorded hashes.
 * subgroup_test.c and matrix_test.c make them.
 */
#include "recorded.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/support.h"

static void put_word(FILE *file, uint32_t word)
{
   assert_int_equal(fwrite(&word, sizeof(word), 1, file), 1);
}

static void put_text(FILE *file, const char *text)
{
   put_word(file, (uint32_t)strlen(text));
   fputs(text, file);
}

void recorded_write(const struct recorded_dispatch *dispatch)
{
   const char *path = getenv("AGX_TEST_RECORD");
   if (!path)
      return;
   FILE *file = fopen(path, "ab");
   assert_non_null(file);
   put_text(file, dispatch->name);
   put_text(file, dispatch->kernel);
   put_word(file, dispatch->specialization_count);
   for (uint32_t i = 0; i < dispatch->specialization_count; i++) {
      put_word(file, dispatch->specializations[i].id);
      put_word(file, (uint32_t)dispatch->specializations[i].value);
   }
   put_word(file, dispatch->buffer_count);
   for (uint32_t i = 0; i < dispatch->buffer_count; i++) {
      put_word(file, (uint32_t)dispatch->sizes_B[i]);
      assert_int_equal(fwrite(dispatch->buffers[i], 1, dispatch->sizes_B[i], file),
                       dispatch->sizes_B[i]);
   }
   put_word(file, dispatch->output);
   put_word(file, (uint32_t)dispatch->negative_zero);
   put_word(file, (uint32_t)(dispatch->negative_zero >> 32));
   assert_int_equal(fclose(file), 0);
}

/* FNV-1a over 64-bit words, as vkrecord.c computes it. */
static uint64_t hash_of(const struct recorded_dispatch *dispatch, const void *output)
{
   uint64_t hash = 0xcbf29ce484222325u, word;
   for (uint64_t at = 0; at < dispatch->sizes_B[dispatch->output]; at += sizeof(word)) {
      memcpy(&word, (const uint8_t *)output + at, sizeof(word));
      if (dispatch->negative_zero && word == dispatch->negative_zero)
         word = 0;
      hash = (hash ^ word) * 0x100000001b3u;
   }
   return hash;
}

/* The recording stays in memory: thousands of dispatches ask for it. */
static const char *read_recording(const char *recording)
{
   static char *text, name[96];
   char wanted[sizeof(name)];
   size_t size;
   snprintf(wanted, sizeof(wanted), "kernels/recorded/%s.tsv", recording);
   if (text && strcmp(wanted, name) == 0)
      return text;
   free(text);
   strcpy(name, wanted);
   char *path = agx_test_path(name);
   text = agx_test_read_file(path, &size);
   free(path);
   return text;
}

void recorded_check(const struct recorded_dispatch *dispatch, const char *recording,
                    const void *output)
{
   if (getenv("AGX_TEST_RECORD"))
      return;
   char row[160];
   snprintf(row, sizeof(row), "\n%s\t", dispatch->name);
   const char *found = strstr(read_recording(recording), row);
   if (!found)
      fail_msg(
         "%s: %s.tsv has no row for it; tests/kernels/recorded/README.md tells how to make it",
         dispatch->name, recording);
   uint64_t want = strtoull(found + strlen(row), NULL, 16), got = hash_of(dispatch, output);
   if (got != want)
      fail_msg("%s: the output hashes to %016llx, but another GPU's to %016llx", dispatch->name,
               (unsigned long long)got, (unsigned long long)want);
}
