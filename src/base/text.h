/* SPDX-License-Identifier: MIT
 *
 * Cutting text into parts, for tools and tests that read lines and words, and into characters.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
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

/* Bytes of the UTF-8 character at the beginning of `bytes` bytes of text, and its number; 0 when
 * there is none. */
static inline size_t agx_utf8_decode(const char *text, size_t bytes, uint32_t *out_code)
{
   static const struct {
      uint8_t mask, lead, bytes;
      uint32_t least;
   } forms[] = {
      {0x80, 0x00, 1, 0}, {0xe0, 0xc0, 2, 0x80}, {0xf0, 0xe0, 3, 0x800}, {0xf8, 0xf0, 4, 0x10000}};
   const unsigned char *at = (const unsigned char *)text;
   for (size_t f = 0; f < sizeof(forms) / sizeof(forms[0]); f++) {
      if (forms[f].bytes > bytes || (at[0] & forms[f].mask) != forms[f].lead)
         continue;
      uint32_t code = at[0] & (uint8_t)~forms[f].mask;
      for (size_t i = 1; i < forms[f].bytes; i++) {
         if ((at[i] & 0xc0) != 0x80)
            return 0;
         code = code << 6 | (at[i] & 0x3f);
      }
      int is_half = code >= 0xd800 && code < 0xe000;
      *out_code = code;
      return code < forms[f].least || is_half || code > 0x10ffff ? 0 : forms[f].bytes;
   }
   return 0;
}

/* The same for text that ends with NUL, where no character goes on behind it. */
static inline size_t agx_utf8_bytes(const char *text)
{
   uint32_t code;
   return agx_utf8_decode(text, 4, &code);
}
