/* SPDX-License-Identifier: MIT
 *
 * Cutting text into parts, for tools and tests that read lines and words.
 */
#pragma once

#include <string.h>

/* Cuts the text at the first of these characters: returns what stands before it, and sets *text to
 * what follows, NULL at the end. NULL when *text is. BSD's strsep, which POSIX lacks. */
static inline char *agx_split(char **text, const char *separators)
{
   char *first = *text;
   if (first) {
      char *end = first + strcspn(first, separators);
      *text = *end ? end + 1 : NULL;
      *end = 0;
   }
   return first;
}
