/* SPDX-License-Identifier: MIT
 *
 * The greedy algorithm of Myers, "An O(ND) difference algorithm and its variations" (1986): the
 * furthest point on each diagonal, one difference more in each round.
 */
#include "align.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

#define MAX_DIFFERENCES 3000

struct sequences {
   const uint64_t *a, *b;
   size_t a_count, b_count;
   struct align_pair *pairs;
   size_t count;
};

static void put(struct sequences *it, size_t a, size_t b)
{
   it->pairs[it->count++] = (struct align_pair){a, b};
}

/* Round d's reach: a's index on diagonals -d, -d + 2 ... d, in a row of its own. */
static size_t *row_of(size_t *rows, long d)
{
   return rows + (size_t)(d * (d + 1) / 2);
}

/* Whether the way to diagonal k of round d comes from k + 1, by taking b's next. */
static bool comes_down(const size_t *before, long d, long k)
{
   return k == -d || (k != d && before[(k - 1 + d - 1) / 2] < before[(k + 1 + d - 1) / 2]);
}

/* The number of differences, or -1 where there are too many. */
static long search(const struct sequences *it, size_t *rows)
{
   for (long d = 0; d <= MAX_DIFFERENCES; d++) {
      size_t *row = row_of(rows, d);
      const size_t *before = d ? row_of(rows, d - 1) : NULL;
      for (long k = -d; k <= d; k += 2) {
         size_t x = 0;
         if (d > 0)
            x = comes_down(before, d, k) ? before[(k + 1 + d - 1) / 2]
                                         : before[(k - 1 + d - 1) / 2] + 1;
         /* Beyond either end there is nothing to go on from. */
         if ((long)x < k || x > it->a_count || (size_t)((long)x - k) > it->b_count) {
            row[(k + d) / 2] = x;
            continue;
         }
         while (x < it->a_count && (size_t)((long)x - k) < it->b_count &&
                it->a[x] == it->b[(long)x - k])
            x++;
         row[(k + d) / 2] = x;
         if (x >= it->a_count && (size_t)((long)x - k) >= it->b_count)
            return d;
      }
   }
   return -1;
}

/* From the end back to the beginning; the pairs come out in reverse. */
static void trace(struct sequences *it, size_t *rows, long differences)
{
   size_t x = it->a_count, y = it->b_count;
   for (long d = differences; d >= 0; d--) {
      long k = (long)x - (long)y;
      size_t start_x = 0, start_y = 0; /* where the snake of this round begins */
      bool down = false;
      if (d > 0) {
         const size_t *before = row_of(rows, d - 1);
         down = comes_down(before, d, k);
         start_x = down ? before[(k + 1 + d - 1) / 2] : before[(k - 1 + d - 1) / 2] + 1;
         start_y = (size_t)((long)start_x - k);
      }
      while (x > start_x && y > start_y)
         put(it, --x, --y);
      if (d > 0 && down)
         put(it, ALIGN_NONE, --y);
      else if (d > 0)
         put(it, --x, ALIGN_NONE);
   }
}

static void reverse(struct sequences *it)
{
   for (size_t i = 0; i < it->count / 2; i++) {
      struct align_pair swap = it->pairs[i];
      it->pairs[i] = it->pairs[it->count - 1 - i];
      it->pairs[it->count - 1 - i] = swap;
   }
}

/* Equal at the beginning, then one beside the other. */
static void stand_beside(struct sequences *it)
{
   size_t i = 0;
   for (; i < it->a_count && i < it->b_count && it->a[i] == it->b[i]; i++)
      put(it, i, i);
   for (size_t a = i; a < it->a_count; a++)
      put(it, a, ALIGN_NONE);
   for (size_t b = i; b < it->b_count; b++)
      put(it, ALIGN_NONE, b);
}

agx_status align_sequences(const uint64_t *a, size_t a_count, const uint64_t *b, size_t b_count,
                           struct align_pair **out_pairs, size_t *out_count)
{
   struct sequences it = {.a = a, .b = b, .a_count = a_count, .b_count = b_count};
   size_t most = AGX_MIN((a_count + b_count), MAX_DIFFERENCES) + 1;
   size_t *rows = malloc(most * (most + 1) / 2 * sizeof(*rows));
   it.pairs = malloc((a_count + b_count + 1) * sizeof(*it.pairs));
   if (!rows || !it.pairs) {
      free(rows);
      free(it.pairs);
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "no memory to align %zu and %zu elements", a_count,
                      b_count);
   }
   long differences = search(&it, rows);
   if (differences < 0) {
      stand_beside(&it);
   } else {
      trace(&it, rows, differences);
      reverse(&it);
   }
   free(rows);
   *out_pairs = it.pairs;
   *out_count = it.count;
   return AGX_OK;
}
