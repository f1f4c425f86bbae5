/* SPDX-License-Identifier: MIT
 *
 * Walks the records, keeps the device's state, and prints each submission with the
 * memory as it was then.
 */
#include <inttypes.h>
#include <string.h>

#include "agx/chip.h"
#include "agxdump.h"
#include "base/util.h"
#include "print.h"
#include "winsys/asahi_uapi.h"

static void show_syncs(struct dump *dump, const char *name, const struct agx_uapi_sync *syncs,
                       uint32_t first, uint32_t count)
{
   if (dump->is_json)
      agx_json_open(&dump->json, name, '[');
   for (uint32_t i = first; i < first + count; i++) {
      struct agx_uapi_sync sync;
      memcpy(&sync, syncs + i, sizeof(sync));
      bool is_timeline = sync.sync_type == AGX_UAPI_SYNC_TIMELINE_SYNCOBJ;
      if (!dump->is_json) {
         printf("  %-7s %s %u", name, is_timeline ? "timeline" : "syncobj", sync.handle);
         if (is_timeline)
            printf(" at %" PRIu64, sync.timeline_value);
         printf("\n");
         continue;
      }
      agx_json_open(&dump->json, NULL, '{');
      agx_json_number(&dump->json, "handle", sync.handle);
      agx_json_bool(&dump->json, "timeline", is_timeline);
      agx_json_number(&dump->json, "value", sync.timeline_value);
      agx_json_close(&dump->json, '}');
   }
   if (dump->is_json)
      agx_json_close(&dump->json, ']');
}

bool dump_label(const struct dump *dump, uint32_t vm_id, uint64_t va, char *out, size_t capacity,
                struct agxw_capture_mapping *out_mapping)
{
   out[0] = 0;
   if (!agxw_capture_device_mapping(dump->device, vm_id, va, out_mapping) || out_mapping->va > va)
      return false;
   print_clean(out_mapping->object->label, out, capacity);
   return true;
}

/* In front of lines that say what stands below: what is code alone goes to `agx asm` as it is. */
static const char *aside(const struct dump *dump)
{
   return dump->sections == SHOW_SHADERS ? ";" : "";
}

static void show_compute(struct dump *dump, const struct agxw_capture_queue *queue, uint32_t index,
                         const struct agx_uapi_cmd_header *header, const uint8_t *payload)
{
   struct agx_uapi_cmd_compute compute = {0};
   struct agxw_capture_mapping mapping;
   memcpy(&compute, payload, AGX_MIN(header->size, sizeof(compute)));
   char label[64];
   bool has_label =
      dump_label(dump, queue->vm_id, compute.cdm_ctrl_stream_base, label, sizeof(label), &mapping);
   if (dump->is_json) {
      agx_json_number(&dump->json, "stream", compute.cdm_ctrl_stream_base);
      agx_json_number(&dump->json, "stream_end", compute.cdm_ctrl_stream_end);
      if (has_label)
         agx_json_text(&dump->json, "buffer", label);
      if (compute.sampler_count) {
         agx_json_number(&dump->json, "sampler_heap", compute.sampler_heap);
         agx_json_number(&dump->json, "sampler_count", compute.sampler_count);
      }
   } else {
      printf(": stream 0x%" PRIx64 "..0x%" PRIx64, compute.cdm_ctrl_stream_base,
             compute.cdm_ctrl_stream_end);
      if (has_label)
         printf(" in \"%s\"", label);
      if (compute.sampler_count)
         printf(", heap of %u samplers at 0x%" PRIx64, compute.sampler_count, compute.sampler_heap);
      if (header->cdm_barrier == AGX_UAPI_BARRIER_NONE)
         printf("\n");
      else if (header->cdm_barrier == 0)
         printf(", after earlier submissions\n");
      else
         printf(", after command %u\n", header->cdm_barrier);
   }
   if (compute.sampler_count)
      dump_sampler_heap(dump, queue, compute.sampler_heap, compute.sampler_count);
   dump_stream(dump, queue, index, compute.cdm_ctrl_stream_base);
   if (compute.helper.binary)
      dump_helper(dump, queue, "helper", compute.helper.binary & ~1u);
}

static const char *command_name(uint16_t type)
{
   static const char *const names[] = {"render", "compute", "vertex attachments",
                                       "fragment attachments", "compute attachments"};
   return type < AGX_COUNT(names) ? names[type] : "unknown";
}

static void (*const shows[])(struct dump *, const struct agxw_capture_queue *, uint32_t index,
                             const struct agx_uapi_cmd_header *, const uint8_t *) = {
   [AGX_UAPI_CMD_RENDER] = dump_render,
   [AGX_UAPI_CMD_COMPUTE] = show_compute,
   [AGX_UAPI_CMD_SET_VERTEX_ATTACHMENTS] = dump_attachments,
   [AGX_UAPI_CMD_SET_FRAGMENT_ATTACHMENTS] = dump_attachments,
   [AGX_UAPI_CMD_SET_COMPUTE_ATTACHMENTS] = dump_attachments,
};

static void show_command(struct dump *dump, const struct agxw_capture_queue *queue, uint32_t index,
                         const struct agx_uapi_cmd_header *header, const uint8_t *payload)
{
   if (dump->is_json) {
      agx_json_open(&dump->json, NULL, '{');
      agx_json_text(&dump->json, "type", command_name(header->cmd_type));
      agx_json_number(&dump->json, "cdm_barrier", header->cdm_barrier);
      agx_json_number(&dump->json, "vdm_barrier", header->vdm_barrier);
   } else {
      printf("%s  %scommand %u, %s%s", aside(dump), print_begin(dump->has_colours, PRINT_HEAD),
             index, command_name(header->cmd_type), print_end(dump->has_colours));
   }
   if (header->cmd_type < AGX_COUNT(shows))
      shows[header->cmd_type](dump, queue, index, header, payload);
   else if (!dump->is_json)
      printf(": %u bytes\n", header->size);
   if (dump->is_json)
      agx_json_close(&dump->json, '}');
}

/* Headers and payloads follow each other. */
static agx_status show_commands(struct dump *dump, const struct agxw_capture_queue *queue,
                                const uint8_t *commands, uint32_t bytes)
{
   struct agx_uapi_cmd_header header;
   uint32_t index = 0;
   for (uint32_t at = 0; at < bytes; at += (uint32_t)sizeof(header) + header.size) {
      if (bytes - at < sizeof(header))
         return AGX_FAIL(AGX_DATA_LOSS, "submission %u: command %u is cut off", dump->submissions,
                         index);
      memcpy(&header, commands + at, sizeof(header));
      if (header.size > bytes - at - sizeof(header))
         return AGX_FAIL(AGX_DATA_LOSS, "submission %u: command %u is cut off", dump->submissions,
                         index);
      show_command(dump, queue, index++, &header, commands + at + sizeof(header));
   }
   return AGX_OK;
}

static agx_status show_contents(struct dump *dump, const struct agxw_capture_record *record,
                                const struct agx_uapi_submit *submit,
                                const struct agxw_capture_queue *queue)
{
   uint32_t sync_bytes, command_bytes;
   const struct agx_uapi_sync *syncs =
      agxw_capture_find_blob(record, offsetof(struct agx_uapi_submit, syncs), &sync_bytes);
   const uint8_t *commands =
      agxw_capture_find_blob(record, offsetof(struct agx_uapi_submit, cmdbuf), &command_bytes);
   uint64_t sync_count = (uint64_t)submit->in_sync_count + submit->out_sync_count;
   if (sync_bytes / sizeof(*syncs) < sync_count)
      return AGX_FAIL(AGX_DATA_LOSS, "submission %u: %llu syncs, %u bytes of them",
                      dump->submissions, (unsigned long long)sync_count, sync_bytes);
   if (dump->sections & SHOW_STREAM) {
      show_syncs(dump, dump->is_json ? "waits" : "wait", syncs, 0, submit->in_sync_count);
      show_syncs(dump, dump->is_json ? "signals" : "signal", syncs, submit->in_sync_count,
                 submit->out_sync_count);
   }
   if (dump->is_json)
      agx_json_open(&dump->json, "commands", '[');
   agx_status status = AGX_OK;
   if (dump->sections & (SHOW_STREAM | SHOW_SHADERS))
      status = show_commands(dump, queue, commands, command_bytes);
   if (dump->is_json)
      agx_json_close(&dump->json, ']');
   if (dump->sections & SHOW_MEMORY)
      dump_memory(dump, queue->vm_id);
   return status;
}

/* Without a number, which all commands give to those only that were taken; nothing further was
 * recorded of it. */
static void show_refused(struct dump *dump, uint32_t queue_id, int32_t result)
{
   if (dump->only_submit)
      return;
   if (!dump->is_json) {
      printf("\n%ssubmission to queue %u, refused: %s\n", aside(dump), queue_id, strerror(-result));
      return;
   }
   agx_json_open(&dump->json, NULL, '{');
   agx_json_number(&dump->json, "queue", queue_id);
   agx_json_signed(&dump->json, "result", result);
   agx_json_close(&dump->json, '}');
}

static agx_status show_submission(struct dump *dump, const struct agxw_capture_record *record)
{
   struct agx_uapi_submit submit;
   agxw_capture_argument(record, false, &submit, sizeof(submit));
   if (record->result != 0) {
      show_refused(dump, submit.queue_id, record->result);
      return AGX_OK;
   }
   dump->submissions++;
   dump->seen_count = 0;
   if (dump->only_submit && dump->submissions != dump->only_submit)
      return AGX_OK;
   const struct agxw_capture_queue *queue =
      dump->device ? agxw_capture_device_queue(dump->device, submit.queue_id) : NULL;
   if (!queue)
      return AGX_FAIL(AGX_DATA_LOSS, "submission %u: there is no queue %u", dump->submissions,
                      submit.queue_id);
   if (dump->is_json) {
      agx_json_open(&dump->json, NULL, '{');
      agx_json_number(&dump->json, "submission", dump->submissions);
      agx_json_number(&dump->json, "queue", submit.queue_id);
      agx_json_signed(&dump->json, "result", 0);
   } else {
      printf("\n%s%ssubmission %u to queue %u%s\n", aside(dump),
             print_begin(dump->has_colours, PRINT_HEAD), dump->submissions, submit.queue_id,
             print_end(dump->has_colours));
   }
   agx_status status = show_contents(dump, record, &submit, queue);
   if (dump->is_json)
      agx_json_close(&dump->json, '}');
   return status;
}

static agx_status show_record(struct dump *dump, const struct agxw_capture_record *record)
{
   AGX_TRY(agxw_capture_state_apply(dump->state, record));
   dump->device = agxw_capture_state_device(dump->state, record);
   if (record->type == AGXW_CAPTURE_NOTE && !dump->is_json) {
      char text[1001];
      print_clean_bytes(record->text, record->text_bytes, text, sizeof(text));
      printf("\n%snote: %s\n", aside(dump), text);
   }
   if (agxw_capture_is_request(record, AGX_IOCTL_ASAHI_SUBMIT))
      return show_submission(dump, record);
   return AGX_OK;
}

void dump_find_chip(const struct agxw_capture_record *record, const struct agx_chip **chip)
{
   struct agx_uapi_params_global params = {0};
   uint32_t bytes;
   if (!agxw_capture_is_request(record, AGX_IOCTL_ASAHI_GET_PARAMS))
      return;
   const void *data =
      agxw_capture_find_blob(record, offsetof(struct agx_uapi_get_params, pointer), &bytes);
   if (!data)
      return;
   memcpy(&params, data, AGX_MIN(bytes, sizeof(params)));
   *chip = agx_chip_by_id(params.chip_id);
}

static agx_status show_records(struct dump *dump)
{
   struct agxw_capture_record record;
   for (;;) {
      bool more, is_past = dump->only_submit && dump->submissions >= dump->only_submit;
      AGX_TRY(agxw_capture_next(dump->reader, &record, &more));
      if (!more || is_past)
         return AGX_OK;
      dump_find_chip(&record, &dump->chip);
      AGX_TRY(show_record(dump, &record));
   }
}

static void begin_output(struct dump *dump)
{
   if (!dump->is_json) {
      char node[128];
      print_clean(agxw_capture_node(dump->reader), node, sizeof(node));
      printf("%scapture of %s\n", aside(dump), node);
      return;
   }
   agx_json_open(&dump->json, NULL, '{');
   agx_json_text(&dump->json, "node", agxw_capture_node(dump->reader));
   agx_json_open(&dump->json, "submissions", '[');
}

static void end_output(struct dump *dump, agx_status status)
{
   if (!dump->is_json) {
      if (!dump->only_submit)
         printf("\n%s%u submission%s\n", aside(dump), dump->submissions,
                dump->submissions == 1 ? "" : "s");
      return;
   }
   agx_json_close(&dump->json, ']');
   if (status != AGX_OK)
      agx_json_text(&dump->json, "error", agx_error_peek());
   agx_json_close(&dump->json, '}');
   putchar('\n');
}

agx_status show_capture(struct dump *dump)
{
   AGX_TRY(agxw_capture_state_create(NULL, dump->reader, &dump->state));
   begin_output(dump);
   agx_status status = show_records(dump);
   if (status == AGX_OK)
      status = agxw_capture_state_damage(dump->state);
   if (status == AGX_OK && dump->only_submit > dump->submissions)
      status = AGX_FAIL(AGX_OUT_OF_RANGE, "--submit %" PRIu64 ": there are %u submissions",
                        dump->only_submit, dump->submissions);
   end_output(dump, status);
   agxw_capture_state_destroy(dump->state);
   return status;
}
