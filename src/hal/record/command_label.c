/* SPDX-License-Identifier: MIT
 *
 * Labels, and which launch stands under which, for faults and profiles. Launches of the same
 * executable and label, one after the other, are one run, so that nothing is kept for each.
 */
#include <stdio.h>

#include "hal/record/command_defer.h"
#include "hal/record/record.h"

/* ---- runs -------------------------------------------------------------- */

static const struct agx_run *find_run(const struct agx_command_buffer *commands, uint32_t number)
{
   const struct agx_run *runs = commands->runs.items;
   uint32_t low = 0, high = commands->runs.count; /* the last that begins at or before number */
   while (high - low > 1) {
      uint32_t middle = low + (high - low) / 2;
      if (runs[middle].first <= number)
         low = middle;
      else
         high = middle;
   }
   return &runs[low];
}

struct text {
   char *text;
   size_t capacity, length;
};

static void add(struct text *out, const char *text, const char *separator)
{
   size_t room = out->length < out->capacity ? out->capacity - out->length : 0;
   int length = snprintf(room ? out->text + out->length : NULL, room, "%s%s", text, separator);
   out->length += length > 0 ? (size_t)length : 0;
}

/* The outermost label first. */
static void add_path(const struct agx_command_buffer *commands, uint32_t label, struct text *out)
{
   enum {
      DEPTH = 16
   }; /* more are left out, the outer ones */
   const struct agx_label_node *nodes = commands->labels.items;
   uint32_t path[DEPTH], depth = 0;
   for (; label && depth < DEPTH; label = nodes[label - 1].parent)
      path[depth++] = label;
   while (depth-- > 0)
      add(out, nodes[path[depth] - 1].text, depth ? "/" : ": ");
}

size_t agx_command_buffer_dispatch_label(const struct agx_command_buffer *commands, uint32_t number,
                                         char *text, size_t capacity)
{
   struct text out = {text, capacity, 0};
   if (capacity)
      text[0] = '\0';
   if (number >= commands->dispatch_count || commands->runs.count == 0)
      return 0;
   const struct agx_run *run = find_run(commands, number);
   add_path(commands, run->label, &out);
   add(&out, run->executable->label, "");
   return out.length;
}

/* ---- labels ------------------------------------------------------------ */

static agx_status begin_label(struct agx_command_buffer *commands, const char *text, uint32_t color)
{
   AGX_TRY(agx_record_check(commands, "label"));
   struct agx_label_node *node =
      agx_vector_add(&commands->labels, agx_context_of(commands->device)->alloc, sizeof(*node));
   if (!node)
      return agx_record_no_memory(commands);
   node->parent = commands->label_open;
   node->color = color;
   snprintf(node->text, sizeof(node->text), "%s", text ? text : "");
   commands->label_open = commands->labels.count;
   return AGX_OK;
}

agx_status agx_cmd_begin_label(struct agx_command_buffer *commands, const char *text,
                               uint32_t color)
{
   return agx_record_fail(commands, commands->table_slots
                                       ? agx_defer_begin_label(commands, text, color)
                                       : begin_label(commands, text, color));
}

static agx_status end_label(struct agx_command_buffer *commands)
{
   AGX_TRY(agx_record_check(commands, "label"));
   if (!commands->label_open)
      return AGX_FAIL(AGX_FAILED_PRECONDITION, "%s: the end of a label that was not begun",
                      commands->label);
   const struct agx_label_node *nodes = commands->labels.items;
   commands->label_open = nodes[commands->label_open - 1].parent;
   return AGX_OK;
}

agx_status agx_cmd_end_label(struct agx_command_buffer *commands)
{
   return agx_record_fail(commands, commands->table_slots ? agx_defer_end_label(commands)
                                                          : end_label(commands));
}
