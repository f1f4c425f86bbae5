/* SPDX-License-Identifier: MIT
 *
 * Device paths and parameters, which users write by hand on a command line: what can't be is named
 * with what can.
 */
#include "path.h"

#include <stdio.h>
#include <string.h>

#include "agx/executable.h"

#define NODE_FOLDER "/dev/dri/"

static agx_status refuse(struct agx_iree_error *error, const char *what, struct agx_iree_text text,
                         const char *takes)
{
   int shown = text.bytes > 60 ? 60 : (int)text.bytes;
   snprintf(error->text, sizeof(error->text), "%s '%.*s'%s: it takes %s", what, shown,
            text.bytes ? text.data : "", text.bytes > 60 ? "..." : "", takes);
   return AGX_INVALID_ARGUMENT;
}

static bool equals(struct agx_iree_text text, const char *word)
{
   return text.bytes == strlen(word) && (text.bytes == 0 || !memcmp(text.data, word, text.bytes));
}

static bool begins(struct agx_iree_text text, const char *word)
{
   return text.bytes >= strlen(word) && memcmp(text.data, word, strlen(word)) == 0;
}

/* A decimal number of up to 3 digits. */
static bool read_number(struct agx_iree_text text, uint32_t *out_number)
{
   *out_number = 0;
   for (size_t i = 0; i < text.bytes; i++) {
      if (text.data[i] < '0' || text.data[i] > '9' || i >= 3)
         return false;
      *out_number = *out_number * 10 + (uint32_t)(text.data[i] - '0');
   }
   return text.bytes > 0;
}

static bool copy_text(struct agx_iree_text text, char *out, size_t capacity)
{
   if (text.bytes >= capacity || (text.bytes && memchr(text.data, 0, text.bytes)))
      return false;
   snprintf(out, capacity, "%.*s", (int)text.bytes, text.bytes ? text.data : "");
   return true;
}

static agx_status take_chip(struct agx_iree_text value, struct agx_iree_path *path,
                            struct agx_iree_error *error)
{
   static const struct agx_iree_text what = {"chip", 4};
   if (strncmp(path->name, "virtual", 7) != 0)
      return refuse(error, "parameter", what, "a virtual device only: agx://virtual?chip=g14s");
   if (value.bytes == 0 || value.bytes > 15 || memchr(value.data, 0, value.bytes))
      return refuse(error, "chip", value, "a name such as g13g");
   snprintf(path->name, sizeof(path->name), "virtual:%.*s", (int)value.bytes, value.data);
   return AGX_OK;
}

static agx_status take_queues(struct agx_iree_text value, struct agx_iree_path *path,
                              struct agx_iree_error *error)
{
   if (!read_number(value, &path->queue_count) || path->queue_count < 1 || path->queue_count > 8)
      return refuse(error, "queues", value, "1 to 8");
   return AGX_OK;
}

static agx_status take_capture(struct agx_iree_text value, struct agx_iree_path *path,
                               struct agx_iree_error *error)
{
   if (path->capture[0])
      return refuse(error, "capture", value, "one file, not two");
   if (value.bytes == 0 || !copy_text(value, path->capture, sizeof(path->capture)))
      return refuse(error, "capture", value, "the path of a file, up to 1023 bytes");
   return AGX_OK;
}

static agx_status take_capture_ranges(struct agx_iree_text value, struct agx_iree_path *path,
                                      struct agx_iree_error *error)
{
   path->captures_ranges = true;
   return take_capture(value, path, error);
}

static agx_status take_robustness(struct agx_iree_text value, struct agx_iree_path *path,
                                  struct agx_iree_error *error)
{
   static const char *const names[] = {
      [AGX_ROBUST_OFF] = "off", [AGX_ROBUST_CLAMP] = "clamp", [AGX_ROBUST_ZERO] = "zero"};
   for (uint32_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
      if (equals(value, names[i])) {
         path->robustness = i;
         return AGX_OK;
      }
   }
   return refuse(error, "robust", value, "off, clamp or zero");
}

static const struct {
   const char *key;
   agx_status (*take)(struct agx_iree_text value, struct agx_iree_path *path,
                      struct agx_iree_error *error);
} parameters[] = {
   {"chip", take_chip},         {"queues", take_queues},
   {"capture", take_capture},   {"capture_ranges", take_capture_ranges},
   {"robust", take_robustness},
};
#define PARAMETER_COUNT (sizeof(parameters) / sizeof(parameters[0]))

static agx_status take_place(struct agx_iree_text text, struct agx_iree_path *path,
                             struct agx_iree_error *error)
{
   static const char takes[] = "nothing, a number, renderD128, /dev/dri/renderD128, or virtual";
   if (text.bytes == 0) {
      snprintf(path->name, sizeof(path->name), "auto");
      return AGX_OK;
   }
   if (read_number(text, &path->ordinal))
      return AGX_OK;
   path->ordinal = AGX_IREE_NO_ORDINAL;
   bool is_node = begins(text, "renderD");
   if (!is_node && !begins(text, "/dev/") && !equals(text, "virtual") && !begins(text, "virtual:"))
      return refuse(error, "device", text, takes);
   size_t folder_B = is_node ? strlen(NODE_FOLDER) : 0;
   memcpy(path->name, NODE_FOLDER, folder_B);
   if (!copy_text(text, path->name + folder_B, sizeof(path->name) - folder_B))
      return refuse(error, "device", text, takes);
   return AGX_OK;
}

agx_status agx_iree_path_parse(struct agx_iree_text path, const struct agx_iree_pair *pairs,
                               size_t pair_count, struct agx_iree_path *out_path,
                               struct agx_iree_error *out_error)
{
   struct agx_iree_path found = {.ordinal = AGX_IREE_NO_ORDINAL};
   unsigned seen = 0;
   agx_status status = take_place(path, &found, out_error);
   for (size_t i = 0; i < pair_count && status == AGX_OK; i++) {
      size_t which = 0;
      while (which < PARAMETER_COUNT && !equals(pairs[i].key, parameters[which].key))
         which++;
      if (which == PARAMETER_COUNT)
         return refuse(out_error, "parameter", pairs[i].key,
                       "chip, queues, capture, capture_ranges and robust");
      if (seen & 1u << which)
         return refuse(out_error, "parameter", pairs[i].key, "one value, not two");
      seen |= 1u << which;
      status = parameters[which].take(pairs[i].value, &found, out_error);
   }
   *out_path = found;
   return status;
}
