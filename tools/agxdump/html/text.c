/* SPDX-License-Identifier: MIT
 *
 * Text of strangers on its way into the page. All that a capture names passes here: a string can
 * neither end its JSON nor the script element around it, nor reorder what stands beside it.
 */
#include "html.h"

#include <string.h>

#include "base/text.h"
#include "base/util.h"

/* Controls, marks that turn the direction of text, what has no width, ends of lines. */
static bool is_hidden(uint32_t point)
{
   return point < 0x20 || (point >= 0x7f && point < 0xa0) || (point >= 0x200b && point <= 0x200f) ||
          (point >= 0x2028 && point <= 0x202e) || (point >= 0x2060 && point <= 0x206f) ||
          point == 0xfeff || (point & 0xfffe) == 0xfffe || point == 0x61c;
}

static void put_character(FILE *file, const char *text, size_t length, uint32_t point)
{
   if (point == '\\' || point == '"')
      fprintf(file, "\\%c", (char)point);
   else if (point == '<' || point == '>' || point == '&')
      fprintf(file, "\\u%04x", point);
   else if (point == '\t')
      fputs("\\t", file);
   else if (is_hidden(point))
      fprintf(file, point < 0x100 ? "\\\\x%02x" : "\\\\u%04x", point);
   else
      fwrite(text, 1, length, file);
}

void html_text(struct agx_json *json, const char *name, const char *text, size_t bytes)
{
   const char *at = text, *end = at + bytes;
   agx_json_name(json, name);
   fputc('"', json->file);
   while (at < end) {
      uint32_t point;
      size_t length = agx_utf8_decode(at, (size_t)(end - at), &point);
      if (length)
         put_character(json->file, at, length, point);
      else
         fprintf(json->file, "\\\\x%02x", (unsigned char)*at);
      at += AGX_MAX(length, 1);
   }
   fputc('"', json->file);
}

void html_string(struct agx_json *json, const char *name, const char *text)
{
   html_text(json, name, text, strlen(text));
}

void html_bytes(struct agx_json *json, const char *name, const uint8_t *data, size_t bytes)
{
   static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
   agx_json_name(json, name);
   fputc('"', json->file);
   for (size_t i = 0; i < bytes; i += 3) {
      size_t left = bytes - i;
      uint32_t word = (uint32_t)data[i] << 16 | (left > 1 ? (uint32_t)data[i + 1] << 8 : 0) |
                      (left > 2 ? data[i + 2] : 0);
      fputc(digits[word >> 18], json->file);
      fputc(digits[word >> 12 & 63], json->file);
      fputc(left > 1 ? digits[word >> 6 & 63] : '=', json->file);
      fputc(left > 2 ? digits[word & 63] : '=', json->file);
   }
   fputc('"', json->file);
}
