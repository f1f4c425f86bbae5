/* SPDX-License-Identifier: MIT
 *
 * Options of a recording, as words.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "winsys/capture/record.h"

/* A number from *text on, which then stands behind it. */
static bool take_number(const char **text, uint64_t *out_value)
{
   char *end;
   errno = 0;
   if (!isdigit((unsigned char)**text))
      return false;
   *out_value = strtoull(*text, &end, 10);
   *text = end;
   return errno == 0;
}

/* "3-9", "3-", "3". */
static bool take_submits(const char *text, struct agxw_capture_options *options)
{
   if (!take_number(&text, &options->first_submit) || options->first_submit == 0)
      return false;
   options->last_submit = options->first_submit;
   if (*text == '-' && text[1] == 0) {
      options->last_submit = 0;
      return true;
   }
   if (*text == '-') {
      text++;
      if (!take_number(&text, &options->last_submit))
         return false;
   }
   return *text == 0 && options->last_submit >= options->first_submit;
}

static bool take_bytes(const char *text, struct agxw_capture_options *options)
{
   static const char units[] = "KMG";
   if (!take_number(&text, &options->max_bytes) || options->max_bytes == 0)
      return false;
   const char *unit = *text ? strchr(units, *text) : NULL;
   unsigned shift = unit ? 10 * ((unsigned)(unit - units) + 1) : 0;
   if (options->max_bytes > UINT64_MAX >> shift)
      return false;
   options->max_bytes <<= shift;
   return text[unit ? 1 : 0] == 0;
}

static bool take_seconds(const char *text, struct agxw_capture_options *options)
{
   return take_number(&text, &options->max_seconds) && options->max_seconds > 0 && *text == 0;
}

static const struct {
   const char *prefix;
   bool (*take)(const char *text, struct agxw_capture_options *options);
} words[] = {{"submits=", take_submits}, {"bytes=", take_bytes}, {"seconds=", take_seconds}};

static bool take_word(const char *word, struct agxw_capture_options *options)
{
   const struct {
      const char *word;
      bool *flag;
   } flags[] = {{"pipelined", &options->is_pipelined},
                {"join", &options->joins},
                {"nodes", &options->is_at_nodes}};
   for (size_t i = 0; i < AGX_COUNT(flags); i++) {
      if (strcmp(word, flags[i].word) == 0)
         return *flags[i].flag = true;
   }
   for (size_t i = 0; i < AGX_COUNT(words); i++)
      if (strncmp(word, words[i].prefix, strlen(words[i].prefix)) == 0)
         return words[i].take(word + strlen(words[i].prefix), options);
   return false;
}

agx_status agxw_capture_options_parse(const char *text, struct agxw_capture_options *out_options)
{
   *out_options = (struct agxw_capture_options){0};
   for (const char *at = text ? text : ""; *at;) {
      char word[64];
      size_t length = strcspn(at, " ");
      bool fits = length < sizeof(word);
      if (fits) {
         memcpy(word, at, length);
         word[length] = 0;
      }
      if (length > 0 && (!fits || !take_word(word, out_options)))
         return AGX_FAIL(
            AGX_INVALID_ARGUMENT,
            "capture: option \"%.*s\"; there are submits=FROM-TO, bytes=N (with K, M or "
            "G), seconds=N, pipelined, join and nodes",
            (int)AGX_MIN(length, 64), at);
      at += length + (at[length] == ' ');
   }
   return AGX_OK;
}
