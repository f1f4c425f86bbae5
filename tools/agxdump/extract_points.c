/* SPDX-License-Identifier: MIT
 *
 * Which words of an extracted dispatch's buffers are addresses. Numbers look like them at times;
 * but the same memory mapped at a second place tells: words that the dispatch follows may lead
 * there, and nothing changes, while numbers that it counts with may not. So the dispatch is
 * replayed alone with sets of words moved, which are halved where something changes.
 */
#include "extract.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/util.h"

#define PAGE_BYTES AGXW_CAPTURE_PAGE_BYTES
#define MAX_TRIALS 2000u
#define MAX_NS     (INT64_C(20) * 1000000000)
#define FIRST_MOVE (UINT64_C(1) << 32)
#define MAX_VA     (UINT64_C(1) << 39)

struct sorting {
   struct extract *extract;
   struct extract_point *points;
   struct cut_alias *aliases;
   uint64_t move; /* from a range to its alias */
   uint32_t count;
   uint32_t trials;
   int64_t end_ns;
   char path[CUT_TRIAL_BYTES];
};

/* ---- trials ---- */

static uint8_t *word_at(const struct cut_image *image, const struct extract_point *point)
{
   const struct extract_range *range = point->range;
   uint64_t offset =
      range->offset + (range->single_page ? point->offset % PAGE_BYTES : point->offset);
   const uint8_t *page = cut_image_page(image, range->object, offset / PAGE_BYTES);
   return page ? (uint8_t *)page + offset % PAGE_BYTES : NULL; /* an image's pages are its own */
}

/* Moves words to the second place, in memory before and, where they stayed, behind; or back. */
static void move_points(const struct sorting *sorting, const struct extract_point *points,
                        uint32_t count, bool back)
{
   for (uint32_t i = 0; i < count; i++) {
      const struct extract_point *it = &points[i];
      uint8_t *before = word_at(&sorting->extract->before, it);
      uint8_t *after = word_at(&sorting->extract->after, it);
      uint64_t here = it->target->va + it->place, there = here + sorting->move;
      uint64_t from = back ? there : here, to = back ? here : there;
      if (it->is_data || !before)
         continue;
      if (after && memcmp(after, &from, sizeof(from)) == 0)
         memcpy(after, &to, sizeof(to));
      memcpy(before, &to, sizeof(to));
   }
}

static bool is_over(const struct sorting *sorting)
{
   return sorting->trials >= MAX_TRIALS || agx_now_ns() > sorting->end_ns;
}

/* Whether the dispatch does the same; a capture that can't be replayed counts as another. */
static agx_status try_points(struct sorting *sorting, const struct extract_point *points,
                             uint32_t count, bool *out_same)
{
   struct replay replay = {
      .options = *sorting->extract->options, .file = sorting->path, .is_quiet = true};
   replay.options.repeat = 1;
   replay.options.limit = 2 * sorting->extract->instructions + 1000;
   sorting->trials++;
   move_points(sorting, points, count, false);
   agx_status status = cut_write(&sorting->extract->cut, sorting->path);
   move_points(sorting, points, count, true);
   AGX_TRY(status);
   *out_same = replay_run(&replay) == AGX_OK && !replay.difference.is_there && replay.faults == 0;
   replay_end(&replay);
   return AGX_OK;
}

/* All that aren't data, with nothing at the first place but what the launch itself names. */
static agx_status try_elsewhere(struct sorting *sorting, bool *out_same)
{
   struct extract *extract = sorting->extract;
   for (size_t i = 0; i < extract->cut.alias_count; i++) {
      struct cut_alias *alias = &sorting->aliases[i];
      const struct extract_range *range = extract_find(extract, alias->va - sorting->move);
      alias->instead_of = range->is_loaded ? 0 : range->va;
   }
   agx_status status = try_points(sorting, sorting->points, sorting->count, out_same);
   for (size_t i = 0; i < extract->cut.alias_count; i++)
      sorting->aliases[i].instead_of = 0;
   return status;
}

/* keeps_loaded: not those that lead where uniforms are loaded from, which is never taken away. */
static uint32_t mark(struct extract_point *points, uint32_t count, bool keeps_loaded)
{
   uint32_t changed = 0;
   for (uint32_t i = 0; i < count; i++) {
      if (keeps_loaded && points[i].target->is_loaded)
         continue;
      changed += !points[i].is_data;
      points[i].is_data = true;
   }
   return changed;
}

/* Words that look like addresses and aren't needed as such: data. */
static agx_status drop_unneeded(struct sorting *sorting, struct extract_point *points,
                                uint32_t count)
{
   bool is_same = false;
   uint32_t left = 0;
   for (uint32_t i = 0; i < count; i++)
      left += !points[i].is_data && !points[i].target->is_loaded;
   if (left == 0 || is_over(sorting))
      return AGX_OK;
   struct extract_point *copy = malloc(count * sizeof(*copy));
   if (!copy)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "no memory for %u addresses", count);
   memcpy(copy, points, count * sizeof(*copy));
   mark(points, count, true);
   agx_status status = try_elsewhere(sorting, &is_same);
   if (!is_same)
      memcpy(points, copy, count * sizeof(*copy));
   free(copy);
   if (status != AGX_OK || is_same || count == 1)
      return status;
   AGX_TRY(drop_unneeded(sorting, points, count / 2));
   return drop_unneeded(sorting, points + count / 2, count - count / 2);
}

/* Marks those of the points that are data. */
static agx_status halve(struct sorting *sorting, struct extract_point *points, uint32_t count)
{
   bool is_same = false;
   if (count == 0 || is_over(sorting))
      return AGX_OK;
   AGX_TRY(try_points(sorting, points, count, &is_same));
   if (is_same)
      return AGX_OK;
   if (count == 1) {
      points[0].is_data = true;
      return AGX_OK;
   }
   AGX_TRY(halve(sorting, points, count / 2));
   return halve(sorting, points + count / 2, count - count / 2);
}

/* ---- second places ---- */

static bool is_free(const struct extract *extract, uint64_t va, uint64_t bytes)
{
   for (size_t i = 0; i < extract->range_count; i++) {
      const struct extract_range *it = &extract->ranges[i];
      if (va < it->va + it->bytes && it->va < va + bytes)
         return false;
   }
   return true;
}

/* Puts an alias of each reached range so far behind it; false: there is no room. */
static bool place_aliases(struct sorting *sorting, uint64_t move)
{
   struct extract *extract = sorting->extract;
   extract->cut.alias_count = 0;
   sorting->move = move;
   for (size_t i = 0; i < extract->range_count; i++) {
      const struct extract_range *it = &extract->ranges[i];
      if (!it->id)
         continue;
      if (it->va + move + it->bytes > MAX_VA || !is_free(extract, it->va + move, it->bytes))
         return false;
      sorting->aliases[extract->cut.alias_count++] =
         (struct cut_alias){.object = it->object,
                            .single_page = it->single_page,
                            .va = it->va + move,
                            .bytes = it->bytes,
                            .offset = it->offset};
   }
   return true;
}

/* Finds a distance at which the device takes all of them: with no word moved, nothing changes. */
static agx_status find_move(struct sorting *sorting, bool *out_found)
{
   *out_found = false;
   for (uint64_t move = FIRST_MOVE; move < MAX_VA && !*out_found; move *= 2)
      if (place_aliases(sorting, move))
         AGX_TRY(try_points(sorting, NULL, 0, out_found));
   return AGX_OK;
}

/* Sets of which each alone changes nothing may do so together: then all of a buffer's are data. */
static agx_status drop_buffers(struct sorting *sorting, uint32_t first, bool *is_good)
{
   for (uint32_t i = first; i < sorting->count && !*is_good && !is_over(sorting);) {
      uint32_t end = i;
      while (end < sorting->count && sorting->points[end].range == sorting->points[i].range)
         end++;
      if (mark(&sorting->points[i], end - i, false) > 0)
         AGX_TRY(try_elsewhere(sorting, is_good));
      i = end;
   }
   return AGX_OK;
}

static agx_status sort_points(struct sorting *sorting, uint32_t first, char *out_why,
                              size_t capacity)
{
   bool is_good;
   uint32_t count = sorting->count - first;
   AGX_TRY(find_move(sorting, &is_good));
   if (!is_good) {
      snprintf(out_why, capacity,
               "the dispatch alone doesn't leave what the capture's replay leaves");
      return AGX_OK;
   }
   AGX_TRY(halve(sorting, sorting->points + first, count));
   AGX_TRY(try_elsewhere(sorting, &is_good));
   if (!is_good)
      AGX_TRY(drop_buffers(sorting, first, &is_good));
   if (is_good)
      AGX_TRY(drop_unneeded(sorting, sorting->points + first, count));
   is_good = is_good && !is_over(sorting);
   if (!is_good)
      snprintf(out_why, capacity,
               "%u words of its buffers look like addresses, and %u replays don't tell which are",
               count, sorting->trials);
   return AGX_OK;
}

agx_status extract_sort_points(struct extract *extract, struct extract_point *points,
                               uint32_t count, char *out_why, size_t capacity)
{
   struct sorting sorting = {
      .extract = extract, .points = points, .count = count, .end_ns = agx_now_ns() + MAX_NS};
   uint32_t first = 0;
   while (first < count && points[first].is_uniform)
      first++;
   if (first == count)
      return AGX_OK;
   AGX_TRY(cut_make_trial(sorting.path));
   sorting.aliases = calloc(extract->range_count, sizeof(*sorting.aliases));
   extract->cut.aliases = sorting.aliases;
   agx_status status = sorting.aliases ? sort_points(&sorting, first, out_why, capacity)
                                       : AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "no memory for trials");
   extract->cut.aliases = NULL;
   extract->cut.alias_count = 0;
   free(sorting.aliases);
   unlink(sorting.path);
   return status;
}
