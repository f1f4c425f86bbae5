/* SPDX-License-Identifier: MIT
 *
 * The corpus manifest: what a kernel is run with and how its outputs are
 * compared. One directive a line, '#' starts a comment:
 *
 *    spec ID u32|i32|f32|bool VALUE
 *    push u32|i32|f32|u64|addr VALUE...      appended in order (addr: address of buffer ID)
 *    buf ID SET BINDING ssbo|ubo|addr BYTES INIT... [out]
 *    img ID SET BINDING storage|sampled FORMAT W H MIPS linear|nearest INIT... [out]
 *    volume ID SET BINDING storage|sampled FORMAT W H D linear|nearest INIT... [out]  3D, one level
 *    dispatch X Y Z                          workgroups
 *    slot SET BINDING KIND COUNT             of the layout, with nothing bound: such a kernel is
 * only compiled. KIND: ssbo ubo storage sampled texture sampler uniform_texels storage_texels
 *    attribute LOCATION FORMAT STRIDE [DIVISOR]      with DIVISOR: counted by instances
 *    buf ID 0 N vertex|index|feedback BYTES INIT [out]  N: location, bytes of an index, number
 *    draw FIRST VERTICES BASE_VERTEX BASE_INSTANCE INSTANCES    instead of dispatch
 *    cmp exact | f32 RTOL ATOL | f16 RTOL ATOL | mostly PERCENT | none
 *
 *    point ID OFFSET OTHER PLACE             eight bytes of a buffer: the address of byte PLACE of
 * OTHER
 *
 * The INIT `file NAME` takes a file's bytes, beside the manifest unless NAME begins with "/";
 * behind its end the buffer is zero.
 *
 * One of the INITs describes structures: records SEED HEAD STRIDE OFFSET:TYPE:COUNT[=VALUE]...
 * Fields below byte HEAD stand once, the others again every STRIDE bytes. TYPE: u8 u16 u32 u64
 * f16 f32 f64. Without VALUE floats are random in [0.25, 1.25), bytes any, u16 below 256, u32 and
 * u64 below 16.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

#define AGX_MANIFEST_MAX_RESOURCES  64
#define AGX_MANIFEST_MAX_SPECS      64
#define AGX_MANIFEST_MAX_PUSH_B     256
#define AGX_MANIFEST_MAX_ADDRESSES  32
#define AGX_MANIFEST_MAX_ATTRIBUTES 32
#define AGX_MANIFEST_MAX_FIELDS     32
#define AGX_MANIFEST_MAX_SLOTS      64
#define AGX_MANIFEST_MAX_POINTS     4096
#define AGX_MANIFEST_MAX_PATH_B     512
#define AGX_MANIFEST_MAX_BYTES      (1ull << 30) /* of one resource */

enum agx_manifest_type {
   AGX_MANIFEST_SSBO,
   AGX_MANIFEST_UBO,
   AGX_MANIFEST_ADDRESS, /* a buffer reached by address only */
   AGX_MANIFEST_STORAGE_IMAGE,
   AGX_MANIFEST_SAMPLED_IMAGE,
   AGX_MANIFEST_VERTEX, /* of a vertex stage: elements of a location */
   AGX_MANIFEST_INDEX,
   AGX_MANIFEST_FEEDBACK,
};

enum agx_manifest_init_kind {
   AGX_INIT_ZERO,
   AGX_INIT_FILL_U32,
   AGX_INIT_FILL_F32,
   AGX_INIT_IOTA,
   AGX_INIT_RAMP_U32,
   AGX_INIT_RAND_U32,
   AGX_INIT_RAND_U8,
   AGX_INIT_RAND_F32,
   AGX_INIT_RAND_F16,
   AGX_INIT_Q4_0,
   AGX_INIT_Q8_0,
   AGX_INIT_BITS,
   AGX_INIT_ADDRS,
   AGX_INIT_RECORDS,
   AGX_INIT_FILE, /* of the resource's file */
};

enum agx_manifest_field_type {
   AGX_FIELD_U8,
   AGX_FIELD_U16,
   AGX_FIELD_U32,
   AGX_FIELD_U64,
   AGX_FIELD_F16,
   AGX_FIELD_F32,
   AGX_FIELD_F64,
};

/* count values behind one another. */
struct agx_manifest_field {
   uint32_t offset_B, count;
   enum agx_manifest_field_type type;
   bool has_value;
   double value;
};

struct agx_manifest_init {
   enum agx_manifest_init_kind kind;
   uint64_t seed; /* or the value, or the start */
   uint64_t step; /* or the modulus, or the percentage */
   float value, low, high;
   uint32_t ids[AGX_MANIFEST_MAX_ADDRESSES];
   uint32_t id_count;
   /* Records: seed and step as above. */
   uint32_t head_B, stride_B, field_count;
   struct agx_manifest_field fields[AGX_MANIFEST_MAX_FIELDS];
};

struct agx_manifest_resource {
   uint32_t id, set, binding;
   enum agx_manifest_type type;
   uint64_t size_B; /* images: 0, the format decides */
   char format[16];
   uint32_t width, height, depth, levels; /* depth: 0 of what isn't 3D */
   bool linear_filter;
   struct agx_manifest_init init;
   char file[AGX_MANIFEST_MAX_PATH_B];
   bool is_output;
};

struct agx_manifest_spec {
   uint32_t id;
   uint32_t value; /* bits */
};

/* Eight bytes of the push constants that hold the address of resource id. */
struct agx_manifest_fixup {
   uint32_t offset_B, id;
};

/* Eight bytes of resource id that hold the address of a byte of resource target. */
struct agx_manifest_pointer {
   uint32_t id, target;
   uint64_t offset_B, place_B;
};

enum agx_manifest_compare {
   AGX_COMPARE_EXACT,
   AGX_COMPARE_F32,
   AGX_COMPARE_F16,
   AGX_COMPARE_MOSTLY,
   AGX_COMPARE_NONE,
};

struct agx_manifest_attribute {
   uint32_t location, stride_B, divisor;
   bool per_instance;
   char format[32];
};

/* A binding that only the layout has; count 0: an array without a length. */
struct agx_manifest_slot {
   uint32_t set, binding, count;
   char kind[16];
};

struct agx_manifest {
   struct agx_manifest_resource resources[AGX_MANIFEST_MAX_RESOURCES];
   uint32_t resource_count;
   struct agx_manifest_spec specs[AGX_MANIFEST_MAX_SPECS];
   uint32_t spec_count;
   uint8_t push[AGX_MANIFEST_MAX_PUSH_B];
   uint32_t push_B;
   struct agx_manifest_fixup fixups[AGX_MANIFEST_MAX_ADDRESSES];
   uint32_t fixup_count;
   struct agx_manifest_pointer points[AGX_MANIFEST_MAX_POINTS];
   uint32_t point_count;
   struct agx_manifest_slot slots[AGX_MANIFEST_MAX_SLOTS];
   uint32_t slot_count;
   uint32_t workgroups[3];
   struct agx_manifest_attribute attributes[AGX_MANIFEST_MAX_ATTRIBUTES];
   uint32_t attribute_count;
   /* A draw's first vertex, vertices, base vertex, base instance, instances. */
   uint32_t draw[5];
   bool is_draw;
   enum agx_manifest_compare compare;
   double rtol, atol; /* `mostly`: rtol is the percentage of words that may differ */
};

/* Parses length bytes of text; name stands in messages, with the line number. */
AGX_MUST_CHECK agx_status agx_manifest_parse(const char *name, const char *text, size_t length,
                                             struct agx_manifest *out_manifest);

/* Reads and parses a file. */
AGX_MUST_CHECK agx_status agx_manifest_load(const char *path, struct agx_manifest *out_manifest);

/* The resource with that id, or NULL. */
const struct agx_manifest_resource *agx_manifest_find(const struct agx_manifest *manifest,
                                                      uint32_t id);

/* Extent of an image's level in texels: width, height, and depth, which is 1 of what isn't 3D. */
void agx_manifest_extent(const struct agx_manifest_resource *image, uint32_t level,
                         uint32_t out_extent[3]);

/* Bytes of an image's levels, one behind the other without padding. */
uint64_t agx_manifest_image_bytes(const struct agx_manifest_resource *image, uint32_t texel_B);

/* Bytes of one value of a field. */
uint32_t agx_manifest_field_bytes(enum agx_manifest_field_type type);

/* Fills size bytes at data as the resource's INIT says. address_of gives the device
 * address of another resource; may be NULL when no ADDRS init is used. */
void agx_manifest_fill(const struct agx_manifest_init *init, void *data, uint64_t size,
                       uint64_t (*address_of)(void *user, uint32_t id), void *user);

/* Fills size bytes at data as the resource wants them: from its INIT or file, with the addresses
 * that it has to hold. AGX_NOT_FOUND and others name the file. */
AGX_MUST_CHECK agx_status agx_manifest_fill_resource(
   const struct agx_manifest *manifest, const struct agx_manifest_resource *resource, void *data,
   uint64_t size, uint64_t (*address_of)(void *user, uint32_t id), void *user);

#define AGX_FNV_START 0xcbf29ce484222325ull
/* Goes on with an FNV-1a hash of 64 bits, over size bytes; start from AGX_FNV_START. */
uint64_t agx_fnv1a(uint64_t hash, const void *data, size_t size);

/* Compares an output with its reference by the manifest's rule. False when it does
 * not match; text then says what differs and where first, else how close it is. */
bool agx_manifest_compare(const struct agx_manifest *manifest, const void *got,
                          const void *reference, uint64_t size, char *text, size_t capacity);
