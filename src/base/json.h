/* SPDX-License-Identifier: MIT
 *
 * JSON output as one goes along: members know whether a comma is due. Numbers come out
 * the same whatever the program's locale is.
 */
#pragma once

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/text.h"

struct agx_json {
   FILE *file;
   bool has_previous; /* in the innermost object or array */
};

/* Writes text in quotes, with what JSON can't hold escaped; bytes that are no UTF-8 become
 * replacement characters. */
static inline void agx_json_quote(struct agx_json *json, const char *text)
{
   fputc('"', json->file);
   for (const char *at = text; *at;) {
      size_t bytes = agx_utf8_bytes(at);
      if (*at == '"' || *at == '\\')
         fprintf(json->file, "\\%c", *at);
      else if ((unsigned char)*at < 0x20 || *at == 0x7f)
         fprintf(json->file, "\\u%04x", *at);
      else if (bytes)
         fwrite(at, 1, bytes, json->file);
      else
         fputs("\\ufffd", json->file);
      at += bytes ? bytes : 1;
   }
   fputc('"', json->file);
}

/* Starts a value; name is NULL in arrays and at the top. */
static inline void agx_json_name(struct agx_json *json, const char *name)
{
   if (json->has_previous)
      fputs(", ", json->file);
   json->has_previous = true;
   if (!name)
      return;
   agx_json_quote(json, name);
   fputs(": ", json->file);
}

/* bracket: '{' or '['. */
static inline void agx_json_open(struct agx_json *json, const char *name, char bracket)
{
   agx_json_name(json, name);
   fputc(bracket, json->file);
   json->has_previous = false;
}

/* Ends the innermost object ('}') or array (']'). */
static inline void agx_json_close(struct agx_json *json, char bracket)
{
   fputc(bracket, json->file);
   json->has_previous = true;
}

/* Writes a member (or element) that is text. */
static inline void agx_json_text(struct agx_json *json, const char *name, const char *text)
{
   agx_json_name(json, name);
   agx_json_quote(json, text);
}

/* Writes a member that is a number from 0 on. */
static inline void agx_json_number(struct agx_json *json, const char *name, uint64_t value)
{
   agx_json_name(json, name);
   fprintf(json->file, "%" PRIu64, value);
}

/* Writes a member that may be negative. */
static inline void agx_json_signed(struct agx_json *json, const char *name, int64_t value)
{
   agx_json_name(json, name);
   fprintf(json->file, "%" PRId64, value);
}

/* Three digits after the point, rounded; what is beyond 2^53 or no number is null. */
static inline void agx_json_fixed(struct agx_json *json, const char *name, double value)
{
   agx_json_name(json, name);
   if (!(value >= 0 && value < 9e15)) {
      fputs("null", json->file);
      return;
   }
   uint64_t thousandths = (uint64_t)(value * 1000 + 0.5);
   fprintf(json->file, "%" PRIu64 ".%03u", thousandths / 1000, (unsigned)(thousandths % 1000));
}

/* Writes a member that is true or false. */
static inline void agx_json_bool(struct agx_json *json, const char *name, bool value)
{
   agx_json_name(json, name);
   fputs(value ? "true" : "false", json->file);
}
