/* SPDX-License-Identifier: MIT
 *
 * Packets: the words of command streams, USC programs and descriptors, as the
 * .def files describe them. One engine packs, unpacks and prints any of them;
 * hw_packets.h (made at build time, included below) adds a struct, a size and
 * typed wrappers for each:
 *
 *    struct agx_hw_cdm_launch_word_1 word = agx_hw_cdm_launch_word_1_default();
 *    word.pipeline = 0x8000;
 *    AGX_TRY(agx_hw_cdm_launch_word_1_pack(&word, out));
 *
 * A default is what a field of zero bits stands for. Fields that share bits are
 * or-ed together, so the alternatives that are not meant keep their defaults.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

enum agx_hw_kind {
   AGX_HW_UINT,
   AGX_HW_HEX,
   AGX_HW_ADDRESS,
   AGX_HW_BOOL,
   AGX_HW_ENUM,
   AGX_HW_FLOAT, /* 32-bit IEEE */
   AGX_HW_HALF,  /* 16-bit IEEE */
   AGX_HW_LOD,   /* unsigned 4.6 fixed point, clamped to 0..14 */
};

enum agx_hw_encoding {
   AGX_HW_PLAIN,
   AGX_HW_SHR,    /* stores value >> n; the low n bits must be 0 */
   AGX_HW_MINUS,  /* stores value - n */
   AGX_HW_GROUPS, /* stores the count of groups of n, rounded up; the most is 0, none is 1 */
   AGX_HW_LOG2,   /* value is a power of two */
};

struct agx_hw_value {
   uint32_t value;
   const char *name;
};

struct agx_hw_enum {
   const char *name;
   const struct agx_hw_value *values;
   uint32_t count;
};

struct agx_hw_field {
   const char *name;
   enum agx_hw_kind kind;
   enum agx_hw_encoding encoding;
   uint32_t start, width; /* bits of the packet */
   uint32_t parameter;    /* n of the encoding */
   const struct agx_hw_enum *values;
   bool is_constant; /* holds `constant` always; no member of the struct */
   uint64_t constant;
   uint32_t offset, size; /* of the member in the struct */
};

struct agx_hw_packet {
   const char *name;
   uint32_t size_B, struct_size;
   const struct agx_hw_field *fields;
   uint32_t field_count;
   const uint8_t *known; /* mask of the bits that some field describes */
};

#define AGX_HW_MAX_PACKET_BYTES 32u
#define AGX_HW_MAX_STRUCT_BYTES 512u

/* Collects text; length goes on counting when the room is used up. */
struct agx_hw_text {
   char *text;
   size_t capacity, length;
};

/* Appends as printf does. */
void agx_hw_text_add(struct agx_hw_text *text, const char *format, ...)
   __attribute__((format(printf, 2, 3)));

/* Writes packet->size_B bytes. A value that doesn't fit its field is
 * AGX_OUT_OF_RANGE, a misaligned one or one without a name AGX_INVALID_ARGUMENT; the
 * text names packet, field and value. out is not written then. */
AGX_MUST_CHECK agx_status agx_hw_pack(const struct agx_hw_packet *packet, const void *values,
                                      void *out);

/* Reads packet->size_B bytes. AGX_DATA_LOSS when a constant field holds something else
 * or a bit is set that no field describes; out_values is filled all the same. */
AGX_MUST_CHECK agx_status agx_hw_unpack(const struct agx_hw_packet *packet, const void *bytes,
                                        void *out_values);

/* One line without its end: the packet's name and each field that is not all zero
 * bits or whose zero bits stand for something else. */
void agx_hw_print(const struct agx_hw_packet *packet, const void *values, struct agx_hw_text *text);

/* A bounded piece of memory that words are appended to, by the writers of cdm.h and usc.h. */
struct agx_hw_buffer {
   uint8_t *memory;
   size_t capacity, used;
};

/* Packs values at the end; AGX_RESOURCE_EXHAUSTED when there is no room, with nothing
 * written. */
AGX_MUST_CHECK agx_status agx_hw_append(struct agx_hw_buffer *buffer,
                                        const struct agx_hw_packet *packet, const void *values);

/* The name of an enum's value, or NULL. */
const char *agx_hw_value_name(const struct agx_hw_enum *values, uint64_t value);

#include "hw_packets.h"
