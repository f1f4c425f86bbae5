/* SPDX-License-Identifier: MIT
 *
 * A render command: what its structure carries, in the structure's order, then its vertex stream
 * and the programs that load and store tiles. Source: docs/hw/cmdstream.md 6.
 */
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "agx/hw/packet.h"
#include "agxdump.h"
#include "base/util.h"

enum kind {
   NUMBER,
   HEX,
   ADDRESS,
   FLOAT
};

/* A field of the structure: as a packet where bits of it have names. */
struct field {
   const char *name;
   uint16_t offset;
   uint8_t bytes, kind;
   const struct agx_hw_packet *packet;
};

#define FIELD(member, kind)                                                                        \
   {                                                                                               \
#member, offsetof(struct agx_uapi_cmd_render, member),                                       \
         sizeof(((struct agx_uapi_cmd_render *)0)->member), kind, NULL                             \
   }
#define PACKET(member, packet)                                                                     \
   {                                                                                               \
#member, offsetof(struct agx_uapi_cmd_render, member),                                       \
         sizeof(((struct agx_uapi_cmd_render *)0)->member), HEX, &agx_hw_cr_##packet##_packet      \
   }
#define HELPER(member)                                                                             \
   FIELD(member.binary, HEX), FIELD(member.cfg, HEX), FIELD(member.data, ADDRESS)
#define BUFFER(member)                                                                             \
   FIELD(member.base, ADDRESS), FIELD(member.comp_base, ADDRESS), FIELD(member.stride, NUMBER),    \
      FIELD(member.comp_stride, NUMBER)
#define PROGRAM(member) PACKET(member.usc, program), PACKET(member.rsrc_spec, program_counts)
#define TIMES(member)                                                                              \
   FIELD(member.start.handle, NUMBER), FIELD(member.start.offset, NUMBER),                         \
      FIELD(member.end.handle, NUMBER), FIELD(member.end.offset, NUMBER)

static const struct field fields[] = {
   PACKET(flags, render_flags),
   PACKET(isp_zls_pixels, isp_zls_pixels),
   FIELD(vdm_ctrl_stream_base, ADDRESS),
   HELPER(vertex_helper),
   HELPER(fragment_helper),
   FIELD(isp_scissor_base, ADDRESS),
   FIELD(isp_dbias_base, ADDRESS),
   FIELD(isp_oclqry_base, ADDRESS),
   BUFFER(depth),
   BUFFER(stencil),
   {"zls_ctrl", offsetof(struct agx_uapi_cmd_render, zls_ctrl), 8, HEX, &agx_hw_zls_control_packet},
   PACKET(ppp_multisamplectl, sample_positions),
   FIELD(sampler_heap, ADDRESS),
   PACKET(ppp_ctrl, ppp_control),
   FIELD(width_px, NUMBER),
   FIELD(height_px, NUMBER),
   FIELD(layers, NUMBER),
   FIELD(sampler_count, NUMBER),
   FIELD(utile_width_px, NUMBER),
   FIELD(utile_height_px, NUMBER),
   FIELD(samples, NUMBER),
   FIELD(sample_size_B, NUMBER),
   FIELD(isp_merge_upper_x, FLOAT),
   FIELD(isp_merge_upper_y, FLOAT),
   PROGRAM(bg),
   PROGRAM(eot),
   PROGRAM(partial_bg),
   PROGRAM(partial_eot),
   FIELD(isp_bgobjdepth, HEX),
   PACKET(isp_bgobjvals, background_values),
   TIMES(ts_vtx),
   TIMES(ts_frag),
};

/* "zls_ctrl: ZLS Control, z store = true": bits that have names, or why they can't be told. */
static void add_packet(struct agx_hw_text *text, const struct field *field, uint64_t value)
{
   uint8_t values[AGX_HW_MAX_STRUCT_BYTES];
   if (agx_hw_unpack(field->packet, (const uint8_t *)&value, values) == AGX_OK)
      agx_hw_print(field->packet, values, text);
   else
      agx_hw_text_add(text, "! 0x%" PRIx64 "  %.400s", value, agx_error_peek());
}

static void add_value(struct dump *dump, const struct agxw_capture_queue *queue,
                      struct agx_hw_text *text, const struct field *field, uint64_t value)
{
   struct agxw_capture_mapping mapping;
   char label[64];
   if (field->kind == FLOAT) {
      float number;
      uint32_t bits = (uint32_t)value;
      memcpy(&number, &bits, sizeof(number));
      agx_hw_text_add(text, "%g", (double)number);
      return;
   }
   agx_hw_text_add(text, field->kind == NUMBER ? "%" PRIu64 : "0x%" PRIx64, value);
   if (field->kind == ADDRESS && value &&
       dump_label(dump, queue->vm_id, value, label, sizeof(label), &mapping))
      agx_hw_text_add(text, " in \"%s\"", label);
}

/* All of them, whatever they hold: so that lines of two commands stand beside each other. */
static void show_fields(struct dump *dump, const struct agxw_capture_queue *queue,
                        const struct agx_uapi_cmd_render *render)
{
   if (dump->is_json)
      agx_json_open(&dump->json, "fields", '{');
   for (size_t i = 0; i < AGX_COUNT(fields); i++) {
      char line[LINE_BYTES] = "";
      struct agx_hw_text text = {line, sizeof(line), 0};
      uint64_t value = 0;
      memcpy(&value, (const uint8_t *)render + fields[i].offset, fields[i].bytes);
      if (fields[i].packet)
         add_packet(&text, &fields[i], value);
      else
         add_value(dump, queue, &text, &fields[i], value);
      if (dump->is_json)
         agx_json_text(&dump->json, fields[i].name, line);
      else
         printf("    %-21s %s\n", fields[i].name, line);
   }
   if (dump->is_json)
      agx_json_close(&dump->json, '}');
}

static void show_programs(struct dump *dump, const struct agxw_capture_queue *queue,
                          const struct agx_uapi_cmd_render *render)
{
   const struct {
      const char *name;
      uint32_t usc;
   } programs[] = {
      {"background", render->bg.usc},
      {"end of tile", render->eot.usc},
      {"partial background", render->partial_bg.usc},
      {"partial end of tile", render->partial_eot.usc},
   };
   for (size_t i = 0; i < AGX_COUNT(programs); i++)
      if (programs[i].usc)
         dump_program(dump, queue, programs[i].name, programs[i].usc & ~63u);
   if (render->vertex_helper.binary)
      dump_helper(dump, queue, "vertex helper", render->vertex_helper.binary & ~1u);
   if (render->fragment_helper.binary)
      dump_helper(dump, queue, "fragment helper", render->fragment_helper.binary & ~1u);
}

void dump_render(struct dump *dump, const struct agxw_capture_queue *queue, uint32_t index,
                 const struct agx_uapi_cmd_header *header, const uint8_t *payload)
{
   struct agx_uapi_cmd_render render = {0};
   memcpy(&render, payload, AGX_MIN(header->size, sizeof(render)));
   if (!dump->is_json)
      printf(": %u x %u pixels\n", render.width_px, render.height_px);
   if (dump->sections & SHOW_STREAM)
      show_fields(dump, queue, &render);
   if (render.sampler_count)
      dump_sampler_heap(dump, queue, render.sampler_heap, render.sampler_count);
   dump_vertex_stream(dump, queue, &render);
   show_programs(dump, queue, &render);
}

void dump_attachments(struct dump *dump, const struct agxw_capture_queue *queue, uint32_t index,
                      const struct agx_uapi_cmd_header *header, const uint8_t *payload)
{
   struct agx_uapi_attachment attachment;
   struct agxw_capture_mapping mapping;
   if (!dump->is_json)
      printf(": %zu\n", header->size / sizeof(attachment));
   if (!(dump->sections & SHOW_STREAM))
      return;
   if (dump->is_json)
      agx_json_open(&dump->json, "attachments", '[');
   for (uint32_t at = 0; at + sizeof(attachment) <= header->size; at += sizeof(attachment)) {
      memcpy(&attachment, payload + at, sizeof(attachment));
      char label[64];
      bool has_label =
         dump_label(dump, queue->vm_id, attachment.pointer, label, sizeof(label), &mapping);
      if (!dump->is_json) {
         printf("    0x%010" PRIx64 "  %" PRIu64 " bytes, flags 0x%x%s%s%s\n", attachment.pointer,
                attachment.size, attachment.flags, has_label ? " in \"" : "", label,
                has_label ? "\"" : "");
         continue;
      }
      agx_json_open(&dump->json, NULL, '{');
      agx_json_number(&dump->json, "address", attachment.pointer);
      agx_json_number(&dump->json, "bytes", attachment.size);
      agx_json_number(&dump->json, "flags", attachment.flags);
      if (has_label)
         agx_json_text(&dump->json, "buffer", label);
      agx_json_close(&dump->json, '}');
   }
   if (dump->is_json)
      agx_json_close(&dump->json, ']');
}
