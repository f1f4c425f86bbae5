/* SPDX-License-Identifier: MIT
 *
 * Links of chains that are command buffers. Those with tables are recorded once for each device and
 * submitted by all threads, with different tables, while earlier submissions are under way; others
 * are made up for a link. Between any two commands is a barrier, or an event.
 */
#include <stdio.h>
#include <string.h>

#include "soak_chain.h"

/* ---- commands ---------------------------------------------------------------------- */

/* A part of what commands are recorded about: of a buffer, or of a slot of a table. */
static struct agx_buffer_ref at(const struct agx_buffer_ref *base, uint64_t offset_B,
                                uint64_t length_B)
{
   struct agx_buffer_ref ref = *base;
   ref.offset_B += offset_B;
   ref.length_B = length_B;
   return ref;
}

static agx_status add(struct agx_command_buffer *commands, struct agx_executable *executable,
                      struct agx_buffer_ref from, struct agx_buffer_ref to, uint32_t workgroups,
                      uint32_t push, const struct agx_buffer_ref *parameters)
{
   const struct agx_binding bindings[2] = {{.ref = from}, {.binding = 1, .ref = to}};
   struct agx_dispatch dispatch = {.size = sizeof(dispatch),
                                   .executable = executable,
                                   .workgroups = {workgroups, 1, 1},
                                   .binding_count = 2,
                                   .bindings = bindings,
                                   .push = &push,
                                   .push_B = sizeof(push)};
   if (parameters) {
      dispatch.counts = at(parameters, 0, 12);
      dispatch.arguments = at(parameters, 12, 4);
   }
   return agx_cmd_dispatch(commands, &dispatch);
}

/* A barrier in one of its forms. */
static agx_status order(struct soak_device *it, struct agx_command_buffer *commands, bool by_event)
{
   if (!by_event)
      return agx_cmd_barrier(commands, NULL);
   agx_status status = agx_cmd_event(commands, it->event, AGX_EVENT_SIGNAL, NULL);
   return status != AGX_OK ? status : agx_cmd_event(commands, it->event, AGX_EVENT_WAIT, NULL);
}

/* ---- with tables -------------------------------------------------------------------- */

#define X (&slots[0])
#define Y (&slots[1])
#define P (&slots[2])

static const uint32_t given[4] = {1, 1, 1, 9};

static agx_status record_tabled(struct soak_device *it, uint32_t which,
                                struct agx_command_buffer *commands)
{
   static const struct agx_buffer_ref slots[3] = {
      {.table_slot = 1}, {.table_slot = 2}, {.table_slot = 3}};
   const uint8_t pattern = 0x30 + (uint8_t)which;
   agx_status status = AGX_OK;
   switch (which) {
   case 0:
      status = add(commands, it->add, at(X, 0, 256), at(Y, 0, 256), 2, 5, NULL);
      status |= order(it, commands, false);
      return status | agx_cmd_fill(commands, at(Y, 3, 14), &pattern, 1);
   case 1:
      return add(commands, it->add, at(X, 0, 256), at(Y, 0, 256), 0, 0, P);
   case 2:
      status = agx_cmd_update(commands, given, at(P, 0, sizeof(given)));
      status |= order(it, commands, false);
      status |= add(commands, it->add, at(X, 0, 256), at(Y, 0, 256), 0, 0, P);
      status |= order(it, commands, true);
      return status | agx_cmd_copy(commands, at(Y, 1, 64), at(X, 66, 64));
   default:
      status = agx_cmd_fill(commands, at(X, 0, 128), &pattern, 1);
      status |= order(it, commands, true);
      status |= agx_cmd_copy(commands, at(X, 0, 128), at(Y, 100, 128));
      status |= order(it, commands, false);
      return status | add(commands, it->add, at(X, 0, 128), at(Y, 128, 128), 1, 3, NULL);
   }
}

static void model_tabled(uint32_t which, uint8_t *x, uint8_t *y, uint8_t *parameters)
{
   const int pattern = 0x30 + (int)which;
   uint32_t words[4];
   memcpy(words, parameters, sizeof(words));
   switch (which) {
   case 0:
      soak_model_add(x, y, 2, 5);
      memset(y + 3, pattern, 14);
      return;
   case 1:
      soak_model_add(x, y, words[0] * words[1] * words[2], words[3]);
      return;
   case 2:
      memcpy(parameters, given, sizeof(given));
      soak_model_add(x, y, 1, given[3]);
      memcpy(x + 66, y + 1, 64);
      return;
   default:
      memset(x, pattern, 128);
      memcpy(y + 100, x, 128);
      soak_model_add(x, y + 128, 1, 3);
      return;
   }
}

bool soak_tabled_make(struct soak_device *it)
{
   const struct agx_command_buffer_desc desc = {
      .size = sizeof(desc), .label = "tabled", .table_slots = 3};
   for (uint32_t i = 0; i < SOAK_TABLED; i++)
      if (agx_command_buffer_create(it->device, &desc, &it->tabled[i]) != AGX_OK ||
          agx_command_buffer_begin(it->tabled[i]) != AGX_OK ||
          record_tabled(it, i, it->tabled[i]) != AGX_OK ||
          agx_command_buffer_end(it->tabled[i]) != AGX_OK)
         return false;
   return true;
}

/* A buffer that goes with the submission: only the table keeps it. */
static bool make_source(struct soak_thread *thread, struct soak_link *link)
{
   const struct agx_buffer_desc desc = {.size = sizeof(desc), .size_B = 256};
   for (uint32_t i = 0; i < desc.size_B; i++)
      link->data[i] = (uint8_t)soak_below(thread, 256);
   if (agx_buffer_create(thread->device->device, &desc, &link->buffer) != AGX_OK)
      return false;
   if (agx_buffer_write(link->buffer, 0, desc.size_B, link->data) == AGX_OK)
      return true;
   agx_release(link->buffer);
   link->buffer = NULL;
   return false;
}

bool soak_link_tabled(struct soak_thread *thread, struct soak_link *link)
{
   struct soak_chain *chain = thread->chain;
   const uint32_t which = soak_below(thread, SOAK_TABLED);
   const uint32_t x_B = 16 * soak_below(thread, 16);
   const uint32_t y_B = SOAK_PART_B + 16 * soak_below(thread, 16);
   const bool has_source = soak_chance(thread, 300) && make_source(thread, link);
   link->table[0] = soak_ref(chain, x_B, 256);
   link->table[1] = soak_ref(chain, y_B, 256);
   link->table[2] = soak_ref(chain, SOAK_PARAMETERS, SOAK_PARAMETERS_B);
   if (has_source)
      link->table[0] = (struct agx_buffer_ref){link->buffer, 0, AGX_WHOLE_LENGTH};
   link->op.kind = AGX_OP_EXECUTE;
   link->op.u.execute = (struct agx_op_execute){thread->device->tabled[which], link->table, 3};
   model_tabled(which, has_source ? link->data : chain->model + x_B, chain->model + y_B,
                chain->model + SOAK_PARAMETERS);
   snprintf(link->note, sizeof(link->note), "table%u[%u>%u]%s", which, x_B, y_B,
            has_source ? "source" : "");
   return true;
}

/* ---- made up ------------------------------------------------------------------------- */

/* Bytes of the model, as they are named in what is recorded. */
static struct agx_buffer_ref in(const struct agx_buffer_ref bases[SOAK_PARTS], uint32_t offset_B,
                                uint32_t length_B)
{
   return at(&bases[offset_B / SOAK_PART_B], offset_B % SOAK_PART_B, length_B);
}

/* One command at random, in the commands and in the model. */
static agx_status record_one(struct soak_thread *thread, struct agx_command_buffer *commands,
                             const struct agx_buffer_ref bases[SOAK_PARTS])
{
   struct soak_device *it = thread->device;
   uint8_t *model = thread->chain->model, data[64];
   const uint32_t from_B = 16 * soak_below(thread, 16);
   const uint32_t to_B = SOAK_PART_B + 16 * soak_below(thread, 16);
   const uint32_t push = soak_below(thread, 1u << 30), odd = soak_below(thread, 16);
   const struct agx_buffer_ref parameters = in(bases, SOAK_PARAMETERS, SOAK_PARAMETERS_B);
   agx_status status;
   memset(data, (int)push, sizeof(data));
   switch (soak_below(thread, 5)) {
   case 0:
      memset(model + from_B + odd, (int)push & 0xff, 200);
      return agx_cmd_fill(commands, in(bases, from_B + odd, 200), &push, 1);
   case 1:
      memcpy(model + to_B + odd, data, sizeof(data));
      return agx_cmd_update(commands, data, in(bases, to_B + odd, sizeof(data)));
   case 2:
      memcpy(model + from_B + odd, model + to_B, 200);
      return agx_cmd_copy(commands, in(bases, to_B, 200), in(bases, from_B + odd, 200));
   case 3:
      memcpy(model + SOAK_PARAMETERS, given, sizeof(given));
      soak_model_add(model + from_B, model + to_B, 1, given[3]);
      status = agx_cmd_update(commands, given, parameters);
      status |= order(it, commands, push & 1);
      return status | add(commands, it->add, in(bases, from_B, 256), in(bases, to_B, 256), 0, 0,
                          &parameters);
   default:
      soak_model_add(model + from_B, model + to_B, 2, push);
      return add(commands, it->add, in(bases, from_B, 256), in(bases, to_B, 256), 2, push, NULL);
   }
}

static agx_status record(struct soak_thread *thread, struct agx_command_buffer *commands,
                         const struct agx_buffer_ref bases[SOAK_PARTS])
{
   agx_status status = agx_command_buffer_begin(commands);
   for (uint32_t n = 1 + soak_below(thread, 5); n-- > 0 && status == AGX_OK;) {
      status = record_one(thread, commands, bases);
      if (status == AGX_OK)
         status = order(thread->device, commands, soak_chance(thread, 300));
   }
   return status == AGX_OK ? agx_command_buffer_end(commands) : status;
}

bool soak_link_recorded(struct soak_thread *thread, struct soak_link *link)
{
   struct soak_chain *chain = thread->chain;
   const uint32_t slots = soak_chance(thread, 300) ? SOAK_PARTS : 0;
   const struct agx_command_buffer_desc desc = {
      .size = sizeof(desc),
      .label = "made up",
      .flags = soak_chance(thread, 300) ? AGX_COMMAND_BUFFER_ONE_SHOT : 0,
      .table_slots = slots};
   struct agx_buffer_ref bases[SOAK_PARTS];
   uint8_t model[SOAK_MODEL_B];
   memcpy(model, chain->model, sizeof(model));
   for (uint32_t i = 0; i < SOAK_PARTS; i++) {
      link->table[i] = (struct agx_buffer_ref){chain->buffers[i], 0, AGX_WHOLE_LENGTH};
      bases[i] = slots ? (struct agx_buffer_ref){.table_slot = i + 1} : link->table[i];
   }
   if (agx_command_buffer_create(thread->device->device, &desc, &link->commands) != AGX_OK)
      return false;
   if (record(thread, link->commands, bases) != AGX_OK) {
      memcpy(chain->model, model, sizeof(model));
      agx_release(link->commands);
      link->commands = NULL;
      return false;
   }
   link->op.kind = AGX_OP_EXECUTE;
   link->op.u.execute = (struct agx_op_execute){link->commands, slots ? link->table : NULL, slots};
   snprintf(link->note, sizeof(link->note), slots ? "recorded-table" : "recorded");
   return true;
}
