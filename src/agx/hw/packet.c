/* SPDX-License-Identifier: MIT
 *
 * The engine behind all packets: per field, a value of the struct becomes raw
 * bits and back. Bytes are read and written one by one, so the host's byte order plays no
 * part.
 */
#include "agx/hw/packet.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/half.h"
#include "base/util.h"

#include "hw_tables.inc"

/* source: docs/hw/cmdstream.md 4.2: 0x380 is 14.0 in 4.6 fixed point */
#define LOD_UNIT 64.0f
#define LOD_MAX  0x380u

static uint64_t get_bits(const uint8_t *bytes, uint32_t start, uint32_t width)
{
   uint64_t value = 0;
   for (uint32_t done = 0; done < width;) {
      uint32_t bit = start + done, take = AGX_MIN(8 - bit % 8, width - done);
      value |= (uint64_t)(bytes[bit / 8] >> bit % 8 & agx_bits(take)) << done;
      done += take;
   }
   return value;
}

/* Of a field of a packet that is in words of 64 bits. */
static void or_bits(uint64_t *words, uint32_t start, uint32_t width, uint64_t value)
{
   const uint32_t first = start / 64, shift = start % 64;
   value &= agx_bits(width);
   words[first] |= value << shift;
   if (shift + width > 64)
      words[first + 1] |= value >> (64 - shift);
}

static void store_words(const uint64_t *words, uint32_t size_B, uint8_t *out)
{
   for (uint32_t i = 0; i < size_B; i++)
      out[i] = (uint8_t)(words[i / 8] >> i % 8 * 8);
}

/* A member of the struct as a number; floats as their bits. */
static uint64_t load_member(const struct agx_hw_field *field, const void *values)
{
   const char *at = (const char *)values + field->offset;
   if (field->size == 8)
      return agx_load_u64(at);
   return field->size == 4 ? agx_load_u32(at) : *(const uint8_t *)at;
}

static void store_member(const struct agx_hw_field *field, void *values, uint64_t value)
{
   char *at = (char *)values + field->offset;
   uint32_t narrow = (uint32_t)value;
   if (field->size == 8)
      memcpy(at, &value, 8);
   else if (field->size == 4)
      memcpy(at, &narrow, 4);
   else
      *(uint8_t *)at = value != 0;
}

static float float_of(uint64_t bits)
{
   uint32_t narrow = (uint32_t)bits;
   float value;
   memcpy(&value, &narrow, 4);
   return value;
}

static uint32_t bits_of(float value)
{
   uint32_t bits;
   memcpy(&bits, &value, 4);
   return bits;
}

static agx_status bad_value(agx_status code, const struct agx_hw_packet *packet,
                            const struct agx_hw_field *field, uint64_t value, const char *why)
{
   return AGX_FAIL(code, "%s: %s: %" PRIu64 " (0x%" PRIx64 ") %s", packet->name, field->name, value,
                   value, why);
}

static uint64_t groups_of(const struct agx_hw_field *field, uint64_t value)
{
   uint64_t groups = AGX_MAX(agx_div_up(value, field->parameter), 1);
   uint64_t most = 1ull << field->width;
   return groups == most ? 0 : groups > most ? most : groups; /* most: doesn't fit, as it should */
}

/* From a member's number to what the encoding stores; may be too wide for the field. */
static agx_status encode_number(const struct agx_hw_packet *packet,
                                const struct agx_hw_field *field, uint64_t value, uint64_t *out_raw)
{
   *out_raw = value;
   switch (field->encoding) {
   case AGX_HW_PLAIN:
      return AGX_OK;
   case AGX_HW_SHR:
      if (value & agx_bits(field->parameter))
         return bad_value(AGX_INVALID_ARGUMENT, packet, field, value, "is misaligned");
      *out_raw = value >> field->parameter;
      return AGX_OK;
   case AGX_HW_MINUS:
      if (value < field->parameter)
         return bad_value(AGX_OUT_OF_RANGE, packet, field, value, "is too small");
      *out_raw = value - field->parameter;
      return AGX_OK;
   case AGX_HW_GROUPS:
      *out_raw = groups_of(field, value);
      return AGX_OK;
   case AGX_HW_LOG2:
      if (value == 0 || (value & (value - 1)))
         return bad_value(AGX_INVALID_ARGUMENT, packet, field, value, "is not a power of two");
      *out_raw = (uint64_t)__builtin_ctzll(value);
      return AGX_OK;
   }
   agx_unreachable();
}

static uint64_t decode_number(const struct agx_hw_field *field, uint64_t raw)
{
   switch (field->encoding) {
   case AGX_HW_PLAIN:
      return raw;
   case AGX_HW_SHR:
      return raw << field->parameter;
   case AGX_HW_MINUS:
      return raw + field->parameter;
   case AGX_HW_GROUPS:
      return (raw ? raw : 1ull << field->width) * field->parameter;
   case AGX_HW_LOG2:
      return 1ull << AGX_MIN(raw, 31);
   }
   agx_unreachable();
}

/* NaN gives 0. */
static uint64_t encode_lod(float value)
{
   if (!(value > 0))
      return 0;
   return value * LOD_UNIT >= LOD_MAX ? LOD_MAX : (uint64_t)(value * LOD_UNIT);
}

static agx_status encode(const struct agx_hw_packet *packet, const struct agx_hw_field *field,
                         uint64_t value, uint64_t *out_raw)
{
   *out_raw = value;
   switch (field->kind) {
   case AGX_HW_FLOAT:
      return AGX_OK;
   case AGX_HW_HALF:
      *out_raw = agx_half_from_float(float_of(value));
      return AGX_OK;
   case AGX_HW_LOD:
      *out_raw = encode_lod(float_of(value));
      return AGX_OK;
   case AGX_HW_ENUM:
      if (!agx_hw_value_name(field->values, value))
         return bad_value(AGX_INVALID_ARGUMENT, packet, field, value, "has no name");
      break;
   default:
      AGX_TRY(encode_number(packet, field, value, out_raw));
      break;
   }
   if (*out_raw > agx_bits(field->width))
      return bad_value(AGX_OUT_OF_RANGE, packet, field, value, "is too large");
   return AGX_OK;
}

static uint64_t decode(const struct agx_hw_field *field, uint64_t raw)
{
   switch (field->kind) {
   case AGX_HW_HALF:
      return bits_of(agx_half_to_float((uint16_t)raw));
   case AGX_HW_LOD:
      return bits_of((float)raw / LOD_UNIT);
   case AGX_HW_UINT:
   case AGX_HW_HEX:
   case AGX_HW_ADDRESS:
      return decode_number(field, raw);
   default:
      return raw;
   }
}

agx_status agx_hw_pack(const struct agx_hw_packet *packet, const void *values, void *out)
{
   uint64_t words[AGX_HW_MAX_PACKET_BYTES / 8] = {0};
   for (uint32_t i = 0; i < packet->field_count; i++) {
      const struct agx_hw_field *field = &packet->fields[i];
      uint64_t raw = field->constant;
      if (!field->is_constant)
         AGX_TRY(encode(packet, field, load_member(field, values), &raw));
      or_bits(words, field->start, field->width, raw);
   }
   store_words(words, packet->size_B, out);
   return AGX_OK;
}

agx_status agx_hw_append(struct agx_hw_buffer *buffer, const struct agx_hw_packet *packet,
                         const void *values)
{
   if (!agx_range_fits(buffer->used, packet->size_B, buffer->capacity))
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "%s: no room behind %zu of %zu bytes", packet->name,
                      buffer->used, buffer->capacity);
   AGX_TRY(agx_hw_pack(packet, values, buffer->memory + buffer->used));
   buffer->used += packet->size_B;
   return AGX_OK;
}

static agx_status check_unknown_bits(const struct agx_hw_packet *packet, const uint8_t *bytes)
{
   for (uint32_t i = 0; i < packet->size_B; i++) {
      uint8_t unknown = bytes[i] & (uint8_t)~packet->known[i];
      if (unknown)
         return AGX_FAIL(AGX_DATA_LOSS, "%s: bit %u is set, which no field describes", packet->name,
                         8 * i + (uint32_t)__builtin_ctz(unknown));
   }
   return AGX_OK;
}

agx_status agx_hw_unpack(const struct agx_hw_packet *packet, const void *bytes, void *out_values)
{
   memset(out_values, 0, packet->struct_size);
   agx_status status = check_unknown_bits(packet, bytes);
   for (uint32_t i = 0; i < packet->field_count; i++) {
      const struct agx_hw_field *field = &packet->fields[i];
      uint64_t raw = get_bits(bytes, field->start, field->width);
      if (!field->is_constant)
         store_member(field, out_values, decode(field, raw));
      else if (raw != field->constant)
         status = bad_value(AGX_DATA_LOSS, packet, field, raw, "where a constant belongs");
   }
   return status;
}

const char *agx_hw_value_name(const struct agx_hw_enum *values, uint64_t value)
{
   if (value < values->count && values->values[value].value == value)
      return values->values[value].name; /* without gaps */
   for (uint32_t i = 0; i < values->count; i++)
      if (values->values[i].value == value)
         return values->values[i].name;
   return NULL;
}

void agx_hw_text_add(struct agx_hw_text *text, const char *format, ...)
{
   size_t room = text->length < text->capacity ? text->capacity - text->length : 0;
   va_list args;
   va_start(args, format);
   int length = vsnprintf(room ? text->text + text->length : NULL, room, format, args);
   va_end(args);
   text->length += length > 0 ? (size_t)length : 0;
}

static void print_field(const struct agx_hw_field *field, uint64_t value, struct agx_hw_text *text)
{
   const char *name = field->values ? agx_hw_value_name(field->values, value) : NULL;
   agx_hw_text_add(text, " %s", field->name);
   if (field->kind == AGX_HW_BOOL)
      return;
   if (name)
      agx_hw_text_add(text, "=%s", name);
   else if (field->kind == AGX_HW_FLOAT || field->kind == AGX_HW_HALF || field->kind == AGX_HW_LOD)
      agx_hw_text_add(text, "=%.9g", (double)float_of(value));
   else if (field->kind == AGX_HW_HEX || field->kind == AGX_HW_ADDRESS)
      agx_hw_text_add(text, "=0x%" PRIx64, value);
   else
      agx_hw_text_add(text, "=%" PRIu64, value);
}

void agx_hw_print(const struct agx_hw_packet *packet, const void *values, struct agx_hw_text *text)
{
   const char *separator = ":";
   agx_hw_text_add(text, "%s", packet->name);
   for (uint32_t i = 0; i < packet->field_count; i++) {
      const struct agx_hw_field *field = &packet->fields[i];
      uint64_t value = field->is_constant ? 0 : load_member(field, values);
      if (value == 0)
         continue;
      agx_hw_text_add(text, "%s", separator);
      print_field(field, value, text);
      separator = ",";
   }
}
