/* SPDX-License-Identifier: MIT
 *
 * Recordings of spoiled commands, with and without a binding table.
 */
#include "hostile.h"

#include "base/util.h"

#define MAX_BINDINGS 4
#define MAX_COMMANDS 6

static const char *const formats[] = {NULL, "rgba8", "R32_UINT", "nonsense", ""};
static const char *const swizzles[] = {NULL, "bgra", "rrr1", "x", "rgbargba"};

static void put_bindings(struct hostile *h, struct agx_binding *bindings)
{
   static const struct hostile_field fields[] = {
      FIELD(agx_binding, set),         FIELD(agx_binding, binding),
      FIELD(agx_binding, element),     FIELD(agx_binding, first_level),
      FIELD(agx_binding, level_count), FIELD(agx_binding, first_layer),
      FIELD(agx_binding, layer_count),
   };
   struct agx_image *images[] = {h->image, h->foreign_image};
   for (uint32_t i = 0; i < MAX_BINDINGS; i++) {
      bindings[i] = (struct agx_binding){.binding = i, .ref = hostile_ref(h)};
      if (hostile_below(h, 3) == 0)
         bindings[i].image = hostile_pick(h, images, 2);
      if (hostile_below(h, 3) == 0)
         bindings[i].sampler = h->sampler;
      if (hostile_below(h, 3) == 0)
         bindings[i].format = formats[hostile_below(h, AGX_COUNT(formats))];
      if (hostile_below(h, 3) == 0)
         bindings[i].swizzle = swizzles[hostile_below(h, AGX_COUNT(swizzles))];
      if (hostile_below(h, 3) == 0)
         SPOIL(h, &bindings[i], fields);
   }
}

struct agx_dispatch hostile_dispatch(struct hostile *h, struct agx_binding *bindings)
{
   static const struct hostile_field fields[] = {
      FIELD(agx_dispatch, size),          FIELD(agx_dispatch, next),
      FIELD(agx_dispatch, workgroups[0]), FIELD(agx_dispatch, workgroups[1]),
      FIELD(agx_dispatch, workgroups[2]), FIELD(agx_dispatch, push_B),
      FIELD(agx_dispatch, entry),         FIELD(agx_dispatch, local_size[0]),
      FIELD(agx_dispatch, local_size[2]), FIELD(agx_dispatch, shared_B),
   };
   put_bindings(h, bindings);
   struct agx_dispatch dispatch = {.size = sizeof(dispatch),
                                   .executable = hostile_pick(h, h->executables, 4),
                                   .workgroups = {1, 1, 1},
                                   .binding_count = (uint32_t)hostile_below(h, MAX_BINDINGS + 1),
                                   .bindings = hostile_below(h, 16) ? bindings : NULL,
                                   .push = hostile_below(h, 8) ? h->scratch : NULL,
                                   .push_B = (uint32_t)hostile_below(h, 20)};
   if (hostile_below(h, 4) == 0)
      dispatch.counts = hostile_ref(h);
   if (hostile_below(h, 4) == 0)
      dispatch.arguments = hostile_ref(h);
   if (hostile_below(h, 2))
      SPOIL(h, &dispatch, fields);
   return dispatch;
}

static agx_status draw(struct hostile *h, struct agx_command_buffer *commands)
{
   static const struct hostile_field fields[] = {
      FIELD(agx_vertex_dispatch, size),           FIELD(agx_vertex_dispatch, next),
      FIELD(agx_vertex_dispatch, first),          FIELD(agx_vertex_dispatch, vertex_count),
      FIELD(agx_vertex_dispatch, base_vertex),    FIELD(agx_vertex_dispatch, base_instance),
      FIELD(agx_vertex_dispatch, instance_count), FIELD(agx_vertex_dispatch, push_B),
   };
   struct agx_binding bindings[MAX_BINDINGS];
   struct agx_vertex_buffer buffers[2];
   struct agx_buffer_ref feedback[2] = {hostile_ref(h), hostile_ref(h)};
   put_bindings(h, bindings);
   for (uint32_t i = 0; i < AGX_COUNT(buffers); i++)
      buffers[i] =
         (struct agx_vertex_buffer){(uint32_t)hostile_offset(h), hostile_ref(h), hostile_offset(h)};
   struct agx_vertex_dispatch it = {.size = sizeof(it),
                                    .executable = hostile_pick(h, h->executables, 4),
                                    .vertex_count = 3,
                                    .instance_count = 1,
                                    .vertex_buffer_count = (uint32_t)hostile_below(h, 3),
                                    .vertex_buffers = buffers,
                                    .indices = hostile_ref(h),
                                    .feedback_count = (uint32_t)hostile_below(h, 3),
                                    .feedback = feedback,
                                    .binding_count = (uint32_t)hostile_below(h, MAX_BINDINGS + 1),
                                    .bindings = bindings,
                                    .push = h->scratch,
                                    .push_B = (uint32_t)hostile_below(h, 20)};
   SPOIL(h, &it, fields);
   return HOSTILE(h, agx_cmd_dispatch_vertices(commands, &it));
}

static agx_status order(struct hostile *h, struct agx_command_buffer *commands)
{
   static const struct hostile_field fields[] = {
      FIELD(agx_barrier, size),          FIELD(agx_barrier, next),
      FIELD(agx_barrier, source_stages), FIELD(agx_barrier, target_stages),
      FIELD(agx_barrier, source_scopes), FIELD(agx_barrier, target_scopes),
   };
   struct agx_event *events[] = {h->event, h->foreign_event};
   struct agx_buffer *buffers[] = {hostile_pick(h, h->buffers, HOSTILE_BUFFERS),
                                   hostile_pick(h, h->buffers, HOSTILE_BUFFERS)};
   struct agx_barrier barrier = {.size = sizeof(barrier),
                                 .buffer_count = (uint32_t)hostile_below(h, 3),
                                 .buffers = hostile_below(h, 16) ? buffers : NULL};
   SPOIL(h, &barrier, fields);
   const struct agx_barrier *given = hostile_below(h, 4) ? &barrier : NULL;
   if (hostile_below(h, 2))
      return HOSTILE(h, agx_cmd_barrier(commands, given));
   return HOSTILE(
      h, agx_cmd_event(commands, hostile_pick(h, events, 2), (uint32_t)hostile_below(h, 5), given));
}

static agx_status command(struct hostile *h, struct agx_command_buffer *commands)
{
   struct agx_binding bindings[MAX_BINDINGS];
   struct agx_dispatch dispatch;
   const void *data = hostile_below(h, 16) ? h->scratch : NULL;
   switch (hostile_below(h, 8)) {
   case 0:
      return HOSTILE(h, agx_cmd_fill(commands, hostile_ref(h), data, (uint32_t)hostile_offset(h)));
   case 1:
      return HOSTILE(h, agx_cmd_update(commands, data, hostile_ref(h)));
   case 2:
      return HOSTILE(h, agx_cmd_copy(commands, hostile_ref(h), hostile_ref(h)));
   case 3:
      return draw(h, commands);
   case 4:
      return order(h, commands);
   case 5:
      return HOSTILE(h,
                     agx_cmd_begin_label(commands, hostile_text(h), (uint32_t)hostile_number(h)));
   case 6:
      return HOSTILE(h, agx_cmd_end_label(commands));
   default:
      dispatch = hostile_dispatch(h, bindings);
      return HOSTILE(h, agx_cmd_dispatch(commands, &dispatch));
   }
}

/* Whatever was recorded is submitted, to either device. */
static void submit(struct hostile *h, struct agx_command_buffer *commands)
{
   struct agx_buffer_ref table[4] = {hostile_ref(h), hostile_ref(h), hostile_ref(h),
                                     hostile_ref(h)};
   struct agx_point done = {h->semaphores[0], 0};
   assert_ok(agx_semaphore_query(done.semaphore, &done.value));
   done.value++;
   const struct agx_op op = {.size = sizeof(op),
                             .kind = AGX_OP_EXECUTE,
                             .signals = &done,
                             .signal_count = 1,
                             .u.execute = {.commands = commands,
                                           .table = hostile_below(h, 16) ? table : NULL,
                                           .table_count = (uint32_t)hostile_below(h, 5)}};
   struct agx_device *device = hostile_below(h, 16) ? h->f.device : h->other.device;
   if (HOSTILE(h, agx_submit(device, &op, 1, NULL)) == AGX_OK)
      assert_ok(fixture_wait(done.semaphore, done.value));
}

void hostile_record(struct hostile *h)
{
   static const struct hostile_field fields[] = {
      FIELD(agx_command_buffer_desc, size), FIELD(agx_command_buffer_desc, next),
      FIELD(agx_command_buffer_desc, flags), FIELD(agx_command_buffer_desc, table_slots)};
   struct agx_command_buffer_desc desc = {.size = sizeof(desc), .label = hostile_text(h)};
   struct agx_command_buffer *commands = NULL;
   bool has_failed = false;
   desc.table_slots = hostile_below(h, 3) ? 0 : (uint32_t)hostile_below(h, 5);
   if (hostile_below(h, 4) == 0)
      SPOIL(h, &desc, fields);
   desc.flags &= ~(uint32_t)AGX_COMMAND_BUFFER_UNCHECKED; /* which asks for no mercy */
   HOSTILE_MAKE(h, agx_command_buffer_create(h->f.device, &desc, &commands), &commands);
   if (!commands)
      return;
   if (hostile_below(h, 16))
      has_failed |= HOSTILE(h, agx_command_buffer_begin(commands)) != AGX_OK;
   for (uint64_t i = hostile_below(h, MAX_COMMANDS); i > 0; i--)
      has_failed |= command(h, commands) != AGX_OK;
   agx_status status = HOSTILE(h, agx_command_buffer_end(commands));
   if (has_failed && status == AGX_OK)
      fail_msg("seed %llu: a command failed, and end does not say so", (unsigned long long)h->seed);
   submit(h, commands);
   agx_release(commands);
}
