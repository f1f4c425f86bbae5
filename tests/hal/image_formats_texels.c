/* SPDX-License-Identifier: MIT
 *
 * Buffers of texels: fetches, stores and loads of what lies inside and outside, with buffers that
 * go on before and behind.
 */
#include "format_bench.h"

#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "base/util.h"

#define AROUND_B 64u

struct access {
   int32_t at, kind, unused[2];
   uint32_t texel[4];
};

enum kind {
   STORED,
   FETCHED,
   LOADED,
};

static void run_texels(struct subject *subject, struct agx_buffer *texels, uint32_t count)
{
   const uint64_t size_B = (uint64_t)subject->shape->width * subject->model.texel_B;
   struct agx_binding bindings[2];
   for (uint32_t i = 0; i < 2; i++)
      bindings[i] = (struct agx_binding){
         .binding = i, .ref = {texels, AROUND_B, size_B}, .format = subject->model.name};
   format_bench_run(subject->bench, TEXELS, subject->class, count, bindings, 2);
}

static void ask_accesses(struct subject *subject, uint32_t count, enum kind kind)
{
   static const int32_t far[] = {-1, -2, INT32_MIN, INT32_MAX, 1 << 14, 1 << 20, 1 << 28, 1 << 30};
   struct access *accesses = subject->bench->request;
   int32_t texels = (int32_t)subject->shape->width;
   for (int32_t i = 0; i < (int32_t)count; i++) {
      int32_t behind = i - texels;
      bool is_far = behind >= 0 && behind < (int32_t)AGX_COUNT(far);
      /* Each place once, so that it is known who has stored there. */
      int32_t at = is_far && (far[behind] < 0 || far[behind] >= texels) ? far[behind] : i;
      accesses[i] = (struct access){.at = at, .kind = (int32_t)kind};
      for (uint32_t c = 0; c < 4; c++)
         accesses[i].texel[c] = some_value(subject, c);
   }
}

static void check_read(struct subject *subject, uint32_t count, const char *verb)
{
   const struct access *accesses = subject->bench->request;
   for (uint32_t i = 0; i < count; i++) {
      const int32_t at[3] = {accesses[i].at, 0, 0};
      double want[4];
      char what[80];
      subject_decode(subject, 0, at, want);
      snprintf(what, sizeof(what), "%s of texel %d of a buffer:", verb, at[0]);
      subject_compare(subject, i, want, NULL, what);
   }
}

static void check_written(struct subject *subject, const uint8_t *memory)
{
   const struct access *accesses = subject->bench->request;
   uint32_t texels = subject->shape->width, texel_B = subject->model.texel_B;
   for (uint32_t i = 0; i < texels; i++) {
      const uint8_t *texel = memory + AROUND_B + (size_t)i * texel_B;
      double value[4];
      for (uint32_t c = 0; c < 4; c++)
         value[c] = number_in(subject, accesses[i].texel[c]);
      if (!format_model_is_stored(&subject->model, texel, value))
         fail_msg("%s: %.9g, %.9g, %.9g, %.9g stored to texel %u of a buffer", subject->model.name,
                  value[0], value[1], value[2], value[3], i);
      memcpy(subject_texel(subject, 0, i, 0, 0), texel, texel_B);
   }
   for (uint32_t i = 0; i < AROUND_B; i++) {
      assert_int_equal(memory[i], 0x5a);
      assert_int_equal(memory[AROUND_B + (size_t)texels * texel_B + i], 0x5a);
   }
}

void check_texels(struct subject *subject)
{
   struct format_bench *it = subject->bench;
   uint32_t texels = subject->shape->width, *words;
   uint32_t count = (uint32_t)agx_align_up(texels + 16, LANES);
   uint64_t size_B = (uint64_t)texels * subject->model.texel_B;
   struct agx_buffer *buffer = fixture_buffer(&it->fixture, size_B + 2 * AROUND_B, &words);
   uint8_t *memory = (uint8_t *)words;
   memset(memory, 0x5a, size_B + 2 * AROUND_B);
   memcpy(memory + AROUND_B, subject->texels, size_B);
   ask_accesses(subject, count, FETCHED);
   run_texels(subject, buffer, count);
   check_read(subject, count, "fetch");
   ask_accesses(subject, count, STORED);
   run_texels(subject, buffer, count);
   check_written(subject, memory);
   ask_accesses(subject, count, LOADED);
   run_texels(subject, buffer, count);
   check_read(subject, count, "load");
   agx_release(buffer);
}
