/* SPDX-License-Identifier: MIT
 *
 * Walks the streams of a submission and copies each launch's code out of the memory of then.
 */
#include "dispatches.h"

#include <stdlib.h>
#include <string.h>

#include "agx/hw/decode.h"
#include "base/util.h"
#include "winsys/asahi_uapi.h"

struct walk {
   struct dump_dispatches *out;
   struct agxw_capture_device *device;
   const struct agxw_capture_queue *queue;
   uint64_t submission;
   uint32_t command, index;
   uint64_t launch_va, launch_end; /* of the launch that is read */
};

static bool read_memory(void *user, uint64_t va, void *out, size_t size)
{
   const struct walk *walk = user;
   return agxw_capture_device_read(walk->device, walk->queue->vm_id, va, out, size);
}

static agx_status copy_code(struct walk *walk, uint32_t offset, struct dump_code *out)
{
   return code_copy(read_memory, walk, walk->queue->usc_base + offset, out);
}

/* The words of a launch stand behind one another. */
static agx_status visit_packet(void *user, const struct agx_hw_packet *packet, uint64_t va,
                               const void *values)
{
   struct walk *walk = user;
   if (packet == &agx_hw_cdm_launch_word_0_packet)
      walk->launch_va = walk->launch_end = va;
   if (va == walk->launch_end)
      walk->launch_end += packet->size_B;
   return AGX_OK;
}

static agx_status visit_launch(void *user, const struct agx_hw_launch *launch,
                               const struct agx_hw_usc_info *program)
{
   struct walk *walk = user;
   struct dump_dispatches *out = walk->out;
   if (out->count == out->capacity) {
      size_t capacity = AGX_MAX(2 * out->capacity, 64);
      struct dump_dispatch *items = realloc(out->items, capacity * sizeof(*items));
      if (!items)
         return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "no memory for the dispatches");
      out->items = items;
      out->capacity = capacity;
   }
   struct dump_dispatch *it = &out->items[out->count++];
   *it = (struct dump_dispatch){.submission = walk->submission,
                                .command = walk->command,
                                .index = walk->index++,
                                .stream_va = walk->launch_va,
                                .stream_bytes = (uint32_t)(walk->launch_end - walk->launch_va),
                                .launch = *launch,
                                .gpr_halves = program->gpr_halves,
                                .shared_B = program->shared_B};
   if (program->has_shader)
      AGX_TRY(copy_code(walk, program->code_offset, &it->main));
   return program->has_preamble ? copy_code(walk, program->preamble_offset, &it->preamble) : AGX_OK;
}

/* What a stream has wrong is shown by `show`. */
static agx_status visit_trouble(void *user, const struct agx_hw_packet *packet, uint64_t va)
{
   return AGX_OK;
}

agx_status dump_add_dispatches(struct dump_dispatches *out, const struct agxw_capture_state *state,
                               const struct agxw_capture_record *record,
                               const struct agx_chip *chip, uint64_t submission)
{
   struct agx_uapi_submit submit;
   uint32_t bytes;
   agxw_capture_argument(record, false, &submit, sizeof(submit));
   struct walk walk = {
      .out = out, .device = agxw_capture_state_device(state, record), .submission = submission};
   const uint8_t *commands =
      agxw_capture_find_blob(record, offsetof(struct agx_uapi_submit, cmdbuf), &bytes);
   walk.queue = walk.device ? agxw_capture_device_queue(walk.device, submit.queue_id) : NULL;
   if (!walk.queue || record->result != 0)
      return AGX_OK;
   const struct agx_hw_reader reader = {&walk, read_memory};
   const struct agx_hw_visitor visitor = {
      .user = &walk, .packet = visit_packet, .trouble = visit_trouble, .launch = visit_launch};
   struct agx_uapi_cmd_header header;
   for (uint32_t at = 0; at + sizeof(header) <= bytes;
        at += (uint32_t)sizeof(header) + header.size) {
      memcpy(&header, commands + at, sizeof(header));
      struct agx_uapi_cmd_compute compute = {0};
      if (header.size > bytes - at - sizeof(header))
         break;
      walk.index = 0;
      if (header.cmd_type == AGX_UAPI_CMD_COMPUTE) {
         memcpy(&compute, commands + at + sizeof(header), AGX_MIN(header.size, sizeof(compute)));
         agx_status status = agx_hw_walk_cdm(chip, &reader, walk.queue->usc_base,
                                             compute.cdm_ctrl_stream_base, &visitor);
         if (status == AGX_RESOURCE_EXHAUSTED)
            return status;
         out->undecoded += status != AGX_OK;
      }
      walk.command++;
   }
   return AGX_OK;
}

void dump_free_dispatches(struct dump_dispatches *dispatches)
{
   for (size_t i = 0; i < dispatches->count; i++) {
      code_free(&dispatches->items[i].main);
      code_free(&dispatches->items[i].preamble);
   }
   free(dispatches->items);
   *dispatches = (struct dump_dispatches){0};
}
