/* SPDX-License-Identifier: MIT
 *
 * Image stores of a SIMD-group: single texels, and tiles out of tile memory, which
 * compute programs use for copies.
 */
#include "agx/sim/machine/floats.h"
#include "agx/sim/machine/format.h"
#include "agx/sim/image/image.h"
#include "agx/sim/machine/lanes.h"
#include "base/util.h"

/* Where a lane stores to; false: the group has failed. */
static bool aim(struct agxs_image_lane *lane, unsigned index, struct agxs_lookup *lookup,
                struct agxs_texel_position *position)
{
   lane->index = index;
   *lookup = agxs_lane_lookup(lane);
   lookup->texture = agxs_lane_texture(lane, true);
   if (!lookup->texture)
      return false;
   agxs_lane_position(lane, position);
   position->level = agxs_lane_value(lane, &lane->op->lod, 0) & 0xffff;
   return true;
}

/* A register as the texel's number; 16-bit signed integers are extended. */
static void set_channel(const struct agxs_texel_format *format, unsigned channel, uint32_t value,
                        unsigned bits, struct agxs_texel *texel)
{
   if (format->is_int) {
      bool is_signed = format->type == AGX_HW_TEXTURE_TYPE_SINT && bits == 16;
      texel->bits[channel] = is_signed ? (uint32_t)(int16_t)value : value;
      return;
   }
   texel->bits[channel] = bits == 16 ? agxs_half_to_single(value) : value;
   texel->real[channel] = agxs_register_to_real(value, bits);
}

bool agxs_image_write(struct agxs_group *group, const struct agxs_uop *uop)
{
   const struct agxs_image_observer *observer = group->worker->image_observer;
   struct agxs_image_lane lane;
   if (!agxs_lane_begin(&lane, group, uop))
      return false;
   AGXS_FOR_LANES (i) {
      struct agxs_lookup lookup;
      struct agxs_texel_position position;
      struct agxs_texel texel;
      if (!group->exec.lane[i])
         continue;
      if (!aim(&lane, i, &lookup, &position))
         return false;
      const struct agxs_source *data = &lane.op->data;
      for (unsigned c = 0; c < 4; c++)
         set_channel(&lookup.texture->format, c, agxs_lane_value(&lane, data, c), data->bits,
                     &texel);
      lookup.undefined = observer ? observer->undefined_channels(group, data, i) : 0;
      if (agxs_sample_store(&lookup, &position, &texel, lane.op->toward_zero)) {
         if (!agxs_lane_note(&lane, &lookup.notes))
            return false;
         continue;
      }
      return lookup.error.status == AGX_FAILED_PRECONDITION
                ? observer->fail_channels(group, uop, lookup.undefined, i)
                : agxs_lane_fail(&lane, &lookup.error);
   }
   return true;
}

/* A pixel's bytes from the operation's offset on, *out_size of them, or NULL after failing.
 * Pixels lie in rows, the declared sample stride apart. Mesa's copies store four channels
 * whatever the image has, so what lies beyond the stride is dropped. [U] */
static uint8_t *find_pixel(const struct agxs_image_lane *lane, uint32_t start, uint32_t x,
                           uint32_t y, uint32_t *out_size)
{
   const struct agxs_dispatch *dispatch = lane->group->worker->dispatch;
   uint32_t stride = dispatch->tile_stride_B;
   uint64_t at = start + (uint64_t)(y * AGXS_TILE_SIDE + x) * stride;
   if (x < AGXS_TILE_SIDE && y < AGXS_TILE_SIDE && lane->op->heap_offset < stride &&
       agx_range_fits(at, stride, dispatch->shared_bytes)) {
      *out_size = stride - lane->op->heap_offset;
      return lane->group->worker->shared + at + lane->op->heap_offset;
   }
   agxs_group_fail(lane->group, lane->uop, AGX_DATA_LOSS,
                   "lane %u: pixel %u,%u of %u bytes, from byte %u on, lies outside of the %u "
                   "bytes of tile memory",
                   lane->index, x, y, stride, lane->op->heap_offset, dispatch->shared_bytes);
   return NULL;
}

/* Channels between a pixel's bytes and registers; packed formats are one word. */
static void load_pixel(const struct agxs_image_lane *lane, const uint8_t *at, uint32_t size)
{
   const struct agxs_image_observer *observer = lane->group->worker->image_observer;
   const struct agxs_format *format = &agxs_formats[lane->op->format];
   const struct agxs_dest *dst = &lane->uop->dst;
   unsigned slot = 0;
   for (unsigned c = 0; c < (format->channels ? format->channels : 4u); c++) {
      if (!format->channels && !(lane->op->mask >> c & 1))
         continue;
      uint32_t from = format->channels ? 0 : c * format->bytes;
      uint32_t value = AGXS_POISON;
      bool is_there = agx_range_fits(from, format->bytes, size);
      if (observer)
         observer->tile_load(lane->group, dst, slot, lane->index, is_there ? at + from : NULL,
                             format->bytes, format->is_raw);
      if (is_there)
         value = agxs_format_load(lane->op->format, c, at + from, dst->bits);
      agxs_put_lane(lane->group, dst, slot++, lane->index, value);
   }
}

static void store_pixel(const struct agxs_image_lane *lane, uint8_t *at, uint32_t size)
{
   const struct agxs_image_observer *observer = lane->group->worker->image_observer;
   const struct agxs_format *format = &agxs_formats[lane->op->format];
   const struct agxs_source *data = &lane->op->data;
   uint32_t packed[4] = {0};
   unsigned slot = 0;
   for (unsigned c = 0; c < (format->channels ? format->channels : 4u); c++) {
      if (!format->channels && !(lane->op->mask >> c & 1))
         continue;
      uint32_t from = format->channels ? 0 : c * format->bytes;
      if (observer && agx_range_fits(from, format->bytes, size))
         observer->tile_store(lane->group, data, slot, lane->index, at + from, format->bytes,
                              format->is_raw, format->channels && c);
      uint32_t value = agxs_lane_value(lane, data, slot++);
      packed[c] = data->bits == 16 ? agxs_half_to_single(value) : agxs_flush(value);
      if (!format->channels && agx_range_fits(c * format->bytes, format->bytes, size))
         agxs_format_store(lane->op->format, c, at + c * format->bytes, value, data->bits);
   }
   if (format->channels && format->bytes <= size)
      agxs_format_store_packed(lane->op->format, at, packed);
}

bool agxs_image_tile(struct agxs_group *group, const struct agxs_uop *uop, bool is_store)
{
   struct agxs_image_lane lane = {group, uop, uop->image};
   AGXS_FOR_LANES (i) {
      if (!group->exec.lane[i])
         continue;
      lane.index = i;
      uint32_t x = agxs_lane_value(&lane, &lane.op->coord, 0) & 0xffff;
      uint32_t y = agxs_lane_value(&lane, &lane.op->coord, 1) & 0xffff;
      uint32_t size;
      uint8_t *at = find_pixel(&lane, 0, x, y, &size);
      if (!at)
         return false;
      if (is_store)
         store_pixel(&lane, at, size);
      else
         load_pixel(&lane, at, size);
   }
   return true;
}

/* A pixel of tile memory as the image's texel. */
static void read_pixel(const struct agxs_image_lane *lane, const struct agxs_texel_format *target,
                       const uint8_t *at, struct agxs_texel *texel)
{
   unsigned number = lane->op->format;
   /* Mesa has one code for both kinds of 16 bits: the image tells which they are. [U] */
   if (number == AGX_ISA_FORMAT_I16 && !target->is_int)
      number = AGX_ISA_FORMAT_F16;
   const struct agxs_format *format = &agxs_formats[number];
   unsigned bits = number == AGX_ISA_FORMAT_F16 ? 16 : 32;
   *texel = (struct agxs_texel){.real = {0, 0, 0, 1}};
   for (unsigned c = 0; c < (format->channels ? format->channels : target->count); c++) {
      const uint8_t *from = format->channels ? at : at + c * format->bytes;
      set_channel(target, c, agxs_format_load(number, c, from, bits), bits, texel);
   }
}

/* R, G, B, A of a pixel that have undefined bytes; all of a packed one. */
static uint32_t undefined_channels(const struct agxs_image_lane *lane,
                                   const struct agxs_texel_format *target, const uint8_t *at)
{
   const struct agxs_image_observer *observer = lane->group->worker->image_observer;
   const struct agxs_format *format = &agxs_formats[lane->op->format];
   uint32_t channels = 0;
   if (!observer)
      return 0;
   if (format->channels)
      return observer->is_undefined(lane->group, at, format->bytes) ? 15 : 0;
   for (unsigned c = 0; c < target->count; c++) {
      bool is_undefined =
         observer->is_undefined(lane->group, at + c * format->bytes, format->bytes);
      channels |= (uint32_t)is_undefined << c;
   }
   return channels;
}

/* Blocks that are wholly written are stored plainly. */
static bool write_tile_metadata(const struct agxs_image_lane *lane, struct agxs_lookup *lookup,
                                const struct agxs_texel_position *corner)
{
   for (uint32_t i = 0; i < AGXS_TILE_SIDE * AGXS_TILE_SIDE; i += AGX_LAYOUT_META_TILE) {
      struct agxs_texel_position position = *corner;
      position.at[0] += i % AGXS_TILE_SIDE;
      position.at[1] += i / AGXS_TILE_SIDE;
      if (position.at[0] % AGX_LAYOUT_META_TILE || position.at[1] % AGX_LAYOUT_META_TILE)
         continue;
      if (!agxs_sample_set_plain(lookup, &position))
         return agxs_lane_fail(lane, &lookup->error);
   }
   return true;
}

static bool write_tile(const struct agxs_image_lane *lane, struct agxs_lookup *lookup,
                       const struct agxs_texel_position *corner, uint32_t start)
{
   const struct agxs_texel_format *target = &lookup->texture->format;
   const struct agxs_format *format = &agxs_formats[lane->op->format];
   unsigned needed = format->channels ? format->bytes : format->bytes * target->count;
   if (!write_tile_metadata(lane, lookup, corner))
      return false;
   for (uint32_t i = 0; i < AGXS_TILE_SIDE * AGXS_TILE_SIDE; i++) {
      struct agxs_texel_position position = *corner;
      struct agxs_texel texel;
      uint32_t x = i % AGXS_TILE_SIDE, y = i / AGXS_TILE_SIDE, size;
      position.at[0] += x;
      position.at[1] += y;
      const uint8_t *at = find_pixel(lane, start, x, y, &size);
      if (!at)
         return false;
      if (needed > size) {
         agxs_group_fail(lane->group, lane->uop, AGX_INVALID_ARGUMENT,
                         "a texel takes %u bytes, a pixel of tile memory has %u", needed, size);
         return false;
      }
      read_pixel(lane, target, at, &texel);
      lookup->undefined = undefined_channels(lane, target, at);
      if (!agxs_sample_store(lookup, &position, &texel, lane->op->toward_zero))
         return agxs_lane_fail(lane, &lookup->error);
   }
   return agxs_lane_note(lane, &lookup->notes);
}

bool agxs_image_write_block(struct agxs_group *group, const struct agxs_uop *uop)
{
   struct agxs_image_lane lane;
   if (!agxs_lane_begin(&lane, group, uop))
      return false;
   AGXS_FOR_LANES (i) {
      struct agxs_lookup lookup;
      struct agxs_texel_position position;
      if (!group->exec.lane[i])
         continue;
      if (!aim(&lane, i, &lookup, &position))
         return false;
      uint32_t start = agxs_lane_value(&lane, &lane.op->data, 0) & 0xffff;
      if (!write_tile(&lane, &lookup, &position, start))
         return false;
      group->instructions += AGXS_TILE_SIDE * AGXS_TILE_SIDE; /* what the time limit counts */
   }
   return true;
}
