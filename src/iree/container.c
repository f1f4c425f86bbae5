/* SPDX-License-Identifier: MIT
 *
 * Reads the FlatBuffer of container.h. A table begins with the distance back to its vtable, which
 * has the offset of each field; a vector, a table or a string in a field lies a distance ahead. All
 * distances are 32 bits and are added in 64, so that none wraps; whatever they lead to is checked
 * against the end of the buffer before it is read. Nothing follows a chain of unknown length: the
 * depth is that of the schema.
 */
#include "container.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MAGIC          "VKE1"
#define SPIRV_MAGIC    0x07230203u
#define MAX_NAME_B     65536u
#define STORAGE_BUFFER 7u

#define TRY(call)                                                                                  \
   do {                                                                                            \
      agx_status try_status = (call);                                                              \
      if (try_status != AGX_OK)                                                                    \
         return try_status;                                                                        \
   } while (0)

/* Fields by their place in the schema. */
enum {
   EXECUTABLE_EXPORTS = 0,
   EXECUTABLE_SETS = 1,
   EXECUTABLE_LAYOUTS = 2,
   EXECUTABLE_MODULES = 3,
   EXPORT_MODULE = 0,
   EXPORT_NAME = 1,
   EXPORT_LAYOUT = 2,
   EXPORT_LANES = 3,
   EXPORT_DEBUG = 4,
   EXPORT_ABI = 5,
   EXPORT_ADDRESSES = 6,
   MODULE_CODE = 0,
   LAYOUT_SETS = 0,
   LAYOUT_RANGES = 1,
   SET_BINDINGS = 0,
   BINDING_NUMBER = 0,
   BINDING_TYPE = 1,
   BINDING_COUNT = 2,
   ADDRESSES_VERSION = 0,
   ADDRESSES_ROOT = 1,
   ADDRESSES_ROOT_B = 2,
   ADDRESSES_CONSTANTS = 3,
   ADDRESSES_CONSTANT_COUNT = 4,
   ADDRESSES_ENTRY_TYPE = 5,
   ADDRESSES_BINDING_COUNT = 6,
   ADDRESSES_BINDINGS = 7,
   NEED_ALIGNMENT = 0,
   NEED_LENGTH = 1,
   DEBUG_NAME = 0,
   DEBUG_PLACE = 1,
   PLACE_FILE = 0,
   PLACE_LINE = 1,
};

struct reader {
   const uint8_t *data;
   size_t data_B;
   struct agx_iree_error *error;
};

/* A table whose vtable has been checked: fields may be looked up. */
struct table {
   uint32_t at, table_B;
   uint32_t vtable, vtable_B;
};

struct vector {
   uint32_t at, count;
};

static agx_status fail(const struct reader *reader, agx_status status, const char *format, ...)
   __attribute__((format(printf, 3, 4)));

static agx_status fail(const struct reader *reader, agx_status status, const char *format, ...)
{
   va_list arguments;
   va_start(arguments, format);
   vsnprintf(reader->error->text, sizeof(reader->error->text), format, arguments);
   va_end(arguments);
   return status;
}

static bool has(const struct reader *reader, uint64_t at, uint64_t bytes)
{
   return at <= reader->data_B && bytes <= reader->data_B - at;
}

static uint64_t load(const struct reader *reader, uint32_t at, unsigned bytes)
{
   uint64_t value = 0;
   for (unsigned i = bytes; i-- > 0;)
      value = value << 8 | reader->data[at + i];
   return value;
}

static agx_status open_table(const struct reader *reader, uint64_t at, struct table *out_table)
{
   if (!has(reader, at, 4))
      return fail(reader, AGX_INVALID_ARGUMENT, "a table at byte %llu of %zu",
                  (unsigned long long)at, reader->data_B);
   int64_t vtable = (int64_t)at - (int32_t)load(reader, (uint32_t)at, 4);
   if (vtable < 0 || !has(reader, (uint64_t)vtable, 4))
      return fail(reader, AGX_INVALID_ARGUMENT, "table %llu: fields listed at byte %lld of %zu",
                  (unsigned long long)at, (long long)vtable, reader->data_B);
   out_table->at = (uint32_t)at;
   out_table->vtable = (uint32_t)vtable;
   out_table->vtable_B = (uint32_t)load(reader, out_table->vtable, 2);
   out_table->table_B = (uint32_t)load(reader, out_table->vtable + 2, 2);
   if (out_table->vtable_B < 4 || out_table->vtable_B % 2 || out_table->table_B < 4 ||
       !has(reader, out_table->vtable, out_table->vtable_B) ||
       !has(reader, out_table->at, out_table->table_B))
      return fail(reader, AGX_INVALID_ARGUMENT, "table %u: %u bytes, listed in %u at %u, of %zu",
                  out_table->at, out_table->table_B, out_table->vtable_B, out_table->vtable,
                  reader->data_B);
   return AGX_OK;
}

/* Where a field of so many bytes lies; 0: it is left out. */
static agx_status find_field(const struct reader *reader, const struct table *table, unsigned field,
                             unsigned bytes, uint32_t *out_at)
{
   unsigned entry = 4 + 2 * field;
   *out_at = 0;
   if (entry + 2 > table->vtable_B)
      return AGX_OK;
   uint32_t offset = (uint32_t)load(reader, table->vtable + entry, 2);
   if (offset == 0)
      return AGX_OK;
   if (offset < 4 || offset + bytes > table->table_B)
      return fail(reader, AGX_INVALID_ARGUMENT, "table %u: field %u at byte %u of %u", table->at,
                  field, offset, table->table_B);
   *out_at = table->at + offset;
   return AGX_OK;
}

/* A number of 1, 2, 4 or 8 bytes. */
static agx_status read_number(const struct reader *reader, const struct table *table,
                              unsigned field, unsigned bytes, uint64_t otherwise,
                              uint64_t *out_value)
{
   uint32_t at;
   TRY(find_field(reader, table, field, bytes, &at));
   *out_value = otherwise;
   if (at != 0)
      *out_value = load(reader, at, bytes);
   return AGX_OK;
}

static agx_status read_u32(const struct reader *reader, const struct table *table, unsigned field,
                           uint32_t otherwise, uint32_t *out_value)
{
   uint64_t value;
   TRY(read_number(reader, table, field, 4, otherwise, &value));
   *out_value = (uint32_t)value;
   return AGX_OK;
}

/* What a field refers to; 0: it is left out. */
static agx_status follow(const struct reader *reader, const struct table *table, unsigned field,
                         uint64_t *out_at)
{
   uint32_t at;
   TRY(find_field(reader, table, field, 4, &at));
   *out_at = 0;
   if (at != 0)
      *out_at = (uint64_t)at + load(reader, at, 4);
   return AGX_OK;
}

static agx_status check_vector(const struct reader *reader, uint64_t at, unsigned element_B,
                               struct vector *out_vector)
{
   *out_vector = (struct vector){0};
   if (at == 0)
      return AGX_OK;
   if (!has(reader, at, 4))
      return fail(reader, AGX_INVALID_ARGUMENT, "a vector at byte %llu of %zu",
                  (unsigned long long)at, reader->data_B);
   uint32_t count = (uint32_t)load(reader, (uint32_t)at, 4);
   if (!has(reader, at + 4, (uint64_t)count * element_B))
      return fail(reader, AGX_INVALID_ARGUMENT,
                  "a vector at byte %llu: %u elements of %u bytes, of %zu", (unsigned long long)at,
                  count, element_B, reader->data_B);
   *out_vector = (struct vector){.at = (uint32_t)at + 4, .count = count};
   return AGX_OK;
}

static agx_status read_vector(const struct reader *reader, const struct table *table,
                              unsigned field, unsigned element_B, struct vector *out_vector)
{
   uint64_t at;
   TRY(follow(reader, table, field, &at));
   TRY(check_vector(reader, at, element_B, out_vector));
   return AGX_OK;
}

/* A zero byte must end it, and nothing before it be one: callers take it for text. NULL: left out.
 */
static agx_status read_string(const struct reader *reader, const struct table *table,
                              unsigned field, const char **out_text)
{
   struct vector text;
   uint64_t at;
   TRY(follow(reader, table, field, &at));
   *out_text = NULL;
   if (at == 0)
      return AGX_OK;
   TRY(check_vector(reader, at, 1, &text));
   if (text.count > MAX_NAME_B)
      return fail(reader, AGX_INVALID_ARGUMENT, "a name at byte %u: %u bytes, at most %u", text.at,
                  text.count, MAX_NAME_B);
   if (!has(reader, text.at, (uint64_t)text.count + 1) || reader->data[text.at + text.count] ||
       memchr(reader->data + text.at, 0, text.count))
      return fail(reader, AGX_INVALID_ARGUMENT, "a name at byte %u doesn't end where it says",
                  text.at);
   *out_text = (const char *)reader->data + text.at;
   return AGX_OK;
}

/* An element of a vector of tables. */
static agx_status open_element(const struct reader *reader, const struct vector *vector,
                               uint32_t index, const char *what, struct table *out_table)
{
   if (index >= vector->count)
      return fail(reader, AGX_INVALID_ARGUMENT, "%s %u: there are %u", what, index, vector->count);
   uint32_t at = vector->at + 4 * index;
   return open_table(reader, at + load(reader, at, 4), out_table);
}

static agx_status open_child(const struct reader *reader, const struct table *table, unsigned field,
                             bool *out_is_there, struct table *out_table)
{
   uint64_t at;
   TRY(follow(reader, table, field, &at));
   *out_is_there = at != 0;
   return *out_is_there ? open_table(reader, at, out_table) : AGX_OK;
}

/* A vector that was checked when the container was opened. */
static struct vector known_vector(const struct reader *reader, uint32_t at)
{
   return (struct vector){.at = at, .count = at ? (uint32_t)load(reader, at - 4, 4) : 0};
}

static struct reader reader_of(const struct agx_iree_container *container,
                               struct agx_iree_error *error)
{
   return (struct reader){container->data, container->data_B, error};
}

bool agx_iree_container_infer(const void *data, size_t data_B, size_t *out_used_B)
{
   const uint8_t *bytes = data;
   uint64_t content_B = 0;
   if (data_B < AGX_IREE_HEADER_B || memcmp(bytes, MAGIC, 4) != 0)
      return false;
   for (int i = 15; i >= 8; i--)
      content_B = content_B << 8 | bytes[i];
   if (content_B == 0 || content_B > SIZE_MAX - AGX_IREE_HEADER_B)
      return false;
   *out_used_B = AGX_IREE_HEADER_B + (size_t)content_B;
   return true;
}

static agx_status open_root(const struct reader *reader, struct agx_iree_container *container)
{
   static const unsigned fields[] = {EXECUTABLE_EXPORTS, EXECUTABLE_SETS, EXECUTABLE_LAYOUTS,
                                     EXECUTABLE_MODULES};
   uint32_t *const places[] = {&container->exports, &container->sets, &container->layouts,
                               &container->modules};
   struct table root;
   if (!has(reader, 0, 8) || memcmp(reader->data + 4, MAGIC, 4) != 0)
      return fail(reader, AGX_INVALID_ARGUMENT, "no " MAGIC " at byte 4 of the content of %zu",
                  reader->data_B);
   TRY(open_table(reader, load(reader, 0, 4), &root));
   for (unsigned i = 0; i < 4; i++) {
      struct vector vector;
      TRY(read_vector(reader, &root, fields[i], 4, &vector));
      *places[i] = vector.at;
   }
   container->export_count = known_vector(reader, container->exports).count;
   if (container->export_count > AGX_IREE_MAX_EXPORTS)
      return fail(reader, AGX_OUT_OF_RANGE, "%u entry points, at most %u", container->export_count,
                  AGX_IREE_MAX_EXPORTS);
   return AGX_OK;
}

agx_status agx_iree_container_open(const void *data, size_t data_B,
                                   struct agx_iree_container *out_container,
                                   struct agx_iree_error *out_error)
{
   struct reader reader = {.error = out_error};
   size_t used_B;
   *out_container = (struct agx_iree_container){0};
   if (!agx_iree_container_infer(data, data_B, &used_B))
      return fail(&reader, AGX_INVALID_ARGUMENT, "%zu bytes without a header of " MAGIC, data_B);
   uint32_t version = 0;
   memcpy(&version, (const uint8_t *)data + 4, 4);
   if (version != 0)
      return fail(&reader, AGX_INCOMPATIBLE, "version %u, known is 0", version);
   if (used_B > data_B || used_B > UINT32_MAX)
      return fail(&reader, AGX_OUT_OF_RANGE, "%zu bytes by its header, here are %zu, at most %u",
                  used_B, data_B, UINT32_MAX);
   reader.data = (const uint8_t *)data + AGX_IREE_HEADER_B;
   reader.data_B = used_B - AGX_IREE_HEADER_B;
   struct agx_iree_container container = {.data = reader.data, .data_B = reader.data_B};
   TRY(open_root(&reader, &container));
   *out_container = container;
   return AGX_OK;
}

static agx_status read_module(const struct reader *reader, uint32_t modules,
                              struct agx_iree_export *out)
{
   const struct vector known = known_vector(reader, modules);
   struct table module;
   struct vector code;
   TRY(open_element(reader, &known, out->module, "module", &module));
   TRY(read_vector(reader, &module, MODULE_CODE, 4, &code));
   if (code.count < 5 || (uint32_t)load(reader, code.at, 4) != SPIRV_MAGIC)
      return fail(reader, AGX_INVALID_ARGUMENT, "module %u: %u words that are no SPIR-V",
                  out->module, code.count);
   out->spirv = reader->data + code.at;
   out->spirv_B = (size_t)code.count * 4;
   return AGX_OK;
}

static agx_status read_debug(const struct reader *reader, const struct table *entry,
                             struct agx_iree_export *out)
{
   struct table debug, place;
   uint32_t line = 0;
   bool is_there;
   TRY(open_child(reader, entry, EXPORT_DEBUG, &is_there, &debug));
   if (!is_there)
      return AGX_OK;
   TRY(read_string(reader, &debug, DEBUG_NAME, &out->debug_name));
   TRY(open_child(reader, &debug, DEBUG_PLACE, &is_there, &place));
   if (!is_there)
      return AGX_OK;
   TRY(read_string(reader, &place, PLACE_FILE, &out->source_file));
   TRY(read_u32(reader, &place, PLACE_LINE, 0, &line));
   out->source_line = (int32_t)line;
   return AGX_OK;
}

/* Push constants: all ranges together, which begin at 0. */
static agx_status read_ranges(const struct reader *reader, const struct table *layout,
                              struct agx_iree_export *out)
{
   enum {
      RANGE_B = 12
   };
   struct vector ranges;
   uint64_t end = 0;
   TRY(read_vector(reader, layout, LAYOUT_RANGES, RANGE_B, &ranges));
   for (uint32_t i = 0; i < ranges.count; i++) {
      uint64_t range_end = load(reader, ranges.at + i * RANGE_B + 4, 4) +
                           load(reader, ranges.at + i * RANGE_B + 8, 4);
      end = range_end > end ? range_end : end;
      if (end % 4 != 0 || end > AGX_IREE_MAX_CONSTANT_B)
         return fail(reader, AGX_UNIMPLEMENTED, "%s: %llu bytes of push constants, at most %u",
                     out->name, (unsigned long long)end, AGX_IREE_MAX_CONSTANT_B);
   }
   out->constant_count = (uint32_t)end / 4;
   return AGX_OK;
}

static agx_status read_layout(const struct reader *reader,
                              const struct agx_iree_container *container, uint32_t index,
                              struct agx_iree_export *out)
{
   const struct vector layouts = known_vector(reader, container->layouts);
   const struct vector known = known_vector(reader, container->sets);
   struct vector sets, bindings;
   struct table layout, set;
   TRY(open_element(reader, &layouts, index, "layout", &layout));
   TRY(read_ranges(reader, &layout, out));
   TRY(read_vector(reader, &layout, LAYOUT_SETS, 4, &sets));
   if (sets.count == 0)
      return AGX_OK;
   if (sets.count > 1)
      return fail(reader, AGX_UNIMPLEMENTED, "%s: %u sets of descriptors, at most 1", out->name,
                  sets.count);
   TRY(open_element(reader, &known, (uint32_t)load(reader, sets.at, 4), "descriptor set", &set));
   TRY(read_vector(reader, &set, SET_BINDINGS, 4, &bindings));
   out->binding_count = bindings.count;
   out->bindings = bindings.at;
   return AGX_OK;
}

/* The root lies before or behind the constants, not in them, and both in what there is. */
static agx_status check_push(const struct reader *reader, const struct agx_iree_export *out)
{
   uint64_t root = out->root_at_B, at = out->constants_at_B;
   uint64_t bytes = 4 * (uint64_t)out->constant_count;
   bool overlap = bytes != 0 && root < at + bytes && at < root + AGX_IREE_ROOT_B;
   if (root % 8 == 0 && at % 4 == 0 && root + AGX_IREE_ROOT_B <= AGX_IREE_MAX_CONSTANT_B &&
       at + bytes <= AGX_IREE_MAX_CONSTANT_B && !overlap)
      return AGX_OK;
   return fail(reader, AGX_INVALID_ARGUMENT,
               "%s: root at byte %llu and %llu bytes of constants at %llu, of %u", out->name,
               (unsigned long long)root, (unsigned long long)bytes, (unsigned long long)at,
               AGX_IREE_MAX_CONSTANT_B);
}

static agx_status read_addresses(const struct reader *reader, const struct table *entry,
                                 struct agx_iree_export *out)
{
   struct table table;
   struct vector needs = {0};
   uint32_t version = 0, root_B = 0;
   uint64_t entry_type = 0;
   bool is_there;
   TRY(open_child(reader, entry, EXPORT_ADDRESSES, &is_there, &table));
   if (!is_there)
      return fail(reader, AGX_INVALID_ARGUMENT, "%s: no layout of its addresses", out->name);
   TRY(read_u32(reader, &table, ADDRESSES_VERSION, 1, &version));
   TRY(read_u32(reader, &table, ADDRESSES_ROOT, 0, &out->root_at_B));
   TRY(read_u32(reader, &table, ADDRESSES_ROOT_B, AGX_IREE_ROOT_B, &root_B));
   TRY(read_u32(reader, &table, ADDRESSES_CONSTANTS, AGX_IREE_ROOT_B, &out->constants_at_B));
   TRY(read_u32(reader, &table, ADDRESSES_CONSTANT_COUNT, 0, &out->constant_count));
   TRY(read_number(reader, &table, ADDRESSES_ENTRY_TYPE, 1, 0, &entry_type));
   TRY(read_u32(reader, &table, ADDRESSES_BINDING_COUNT, 0, &out->binding_count));
   TRY(read_vector(reader, &table, ADDRESSES_BINDINGS, 4, &needs));
   if (version != 1 || root_B != AGX_IREE_ROOT_B || entry_type != 0)
      return fail(reader, AGX_UNIMPLEMENTED,
                  "%s: addresses of version %u, a root of %u bytes, entries of kind %llu; known "
                  "are 1, %u and 0",
                  out->name, version, root_B, (unsigned long long)entry_type, AGX_IREE_ROOT_B);
   if (needs.count != 0 && needs.count != out->binding_count)
      return fail(reader, AGX_INVALID_ARGUMENT, "%s: %u bindings, needs of %u", out->name,
                  out->binding_count, needs.count);
   out->bindings = needs.count ? needs.at : 0;
   return check_push(reader, out);
}

agx_status agx_iree_container_get_export(const struct agx_iree_container *container, uint32_t index,
                                         struct agx_iree_export *out_export,
                                         struct agx_iree_error *out_error)
{
   const struct reader reader = reader_of(container, out_error);
   const struct vector exports = known_vector(&reader, container->exports);
   struct agx_iree_export found = {0};
   struct table entry;
   uint32_t layout = 0;
   uint64_t abi = 0;
   *out_export = found;
   if (index >= container->export_count)
      return fail(&reader, AGX_OUT_OF_RANGE, "entry point %u: there are %u", index,
                  container->export_count);
   TRY(open_element(&reader, &exports, index, "entry point", &entry));
   TRY(read_string(&reader, &entry, EXPORT_NAME, &found.name));
   if (!found.name || !found.name[0])
      return fail(&reader, AGX_INVALID_ARGUMENT, "entry point %u has no name", index);
   TRY(read_u32(&reader, &entry, EXPORT_MODULE, 0, &found.module));
   TRY(read_u32(&reader, &entry, EXPORT_LANES, 0, &found.lanes));
   TRY(read_u32(&reader, &entry, EXPORT_LAYOUT, 0, &layout));
   TRY(read_number(&reader, &entry, EXPORT_ABI, 1, AGX_IREE_DESCRIPTORS, &abi));
   TRY(read_module(&reader, container->modules, &found));
   TRY(read_debug(&reader, &entry, &found));
   if (abi > AGX_IREE_ADDRESSES)
      return fail(&reader, AGX_UNIMPLEMENTED, "%s: dispatch interface %llu, known are 0 and 1",
                  found.name, (unsigned long long)abi);
   found.abi = (uint32_t)abi;
   if (abi == AGX_IREE_ADDRESSES)
      TRY(read_addresses(&reader, &entry, &found));
   else
      TRY(read_layout(&reader, container, layout, &found));
   if (found.binding_count > AGX_IREE_MAX_BINDINGS)
      return fail(&reader, AGX_UNIMPLEMENTED, "%s: %u bindings, at most %u", found.name,
                  found.binding_count, AGX_IREE_MAX_BINDINGS);
   *out_export = found;
   return AGX_OK;
}

static agx_status read_descriptor(const struct reader *reader, const struct table *binding,
                                  const char *name, uint32_t index, struct agx_iree_binding *out)
{
   uint32_t type, count = 0;
   TRY(read_u32(reader, binding, BINDING_NUMBER, 0, &out->number));
   TRY(read_u32(reader, binding, BINDING_TYPE, 0, &type));
   TRY(read_u32(reader, binding, BINDING_COUNT, 0, &count));
   if ((type == STORAGE_BUFFER || type == STORAGE_BUFFER - 1) && count == 1)
      return AGX_OK;
   return fail(reader, AGX_UNIMPLEMENTED,
               "%s: binding %u has %u descriptors of kind %u; known is one uniform (6) or "
               "storage (7) buffer",
               name, index, count, type);
}

agx_status agx_iree_export_get_binding(const struct agx_iree_container *container,
                                       const struct agx_iree_export *export_of, uint32_t index,
                                       struct agx_iree_binding *out_binding,
                                       struct agx_iree_error *out_error)
{
   const struct reader reader = reader_of(container, out_error);
   const struct vector known = known_vector(&reader, export_of->bindings);
   struct table binding;
   *out_binding = (struct agx_iree_binding){.number = index, .alignment_B = 1};
   if (index >= export_of->binding_count)
      return fail(&reader, AGX_OUT_OF_RANGE, "%s: binding %u, there are %u", export_of->name, index,
                  export_of->binding_count);
   if (known.at == 0)
      return AGX_OK;
   TRY(open_element(&reader, &known, index, "binding", &binding));
   if (export_of->abi == AGX_IREE_DESCRIPTORS)
      return read_descriptor(&reader, &binding, export_of->name, index, out_binding);
   TRY(read_u32(&reader, &binding, NEED_ALIGNMENT, 1, &out_binding->alignment_B));
   TRY(read_number(&reader, &binding, NEED_LENGTH, 8, 0, &out_binding->minimum_B));
   uint32_t alignment = out_binding->alignment_B;
   if (alignment == 0 || (alignment & (alignment - 1)) != 0)
      return fail(&reader, AGX_INVALID_ARGUMENT,
                  "%s: binding %u aligned to %u bytes, no power of 2", export_of->name, index,
                  alignment);
   return AGX_OK;
}
