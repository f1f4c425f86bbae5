/* SPDX-License-Identifier: MIT
 *
 * Parsing. Every word is checked: numbers must be numbers in range, counts are
 * limited, and what is unknown is an error with its line.
 */
#include "manifest.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

#define MAX_WORDS  48
#define MAX_LINE   1024
#define MAX_FILE_B (1u << 20)

struct line {
   const char *name; /* of the manifest */
   unsigned number;
   char *word[MAX_WORDS];
   unsigned count;
};

#define LINE_FAIL(line, ...)                                                                       \
   (agx_status_fail(AGX_INVALID_ARGUMENT, __VA_ARGS__),                                            \
    agx_error_prefix("%s:%u", (line)->name, (line)->number), AGX_INVALID_ARGUMENT)

static agx_status parse_unsigned(const struct line *line, const char *word, uint64_t max,
                                 uint64_t *out)
{
   char *end;
   errno = 0;
   unsigned long long value = strtoull(word, &end, 0);
   if (*word == '-' || end == word || *end || errno || value > max)
      return LINE_FAIL(line, "'%s' is not a number of 0 to %llu", word, (unsigned long long)max);
   *out = value;
   return AGX_OK;
}

static agx_status parse_u32(const struct line *line, const char *word, uint32_t *out)
{
   uint64_t value = 0;
   AGX_TRY(parse_unsigned(line, word, UINT32_MAX, &value));
   *out = (uint32_t)value;
   return AGX_OK;
}

static agx_status parse_float(const struct line *line, const char *word, float *out)
{
   char *end;
   float value = strtof(word, &end);
   if (end == word || *end)
      return LINE_FAIL(line, "'%s' is not a float", word);
   *out = value;
   return AGX_OK;
}

/* The bits of a 32-bit constant written as type says. */
static agx_status parse_word32(const struct line *line, const char *type, const char *word,
                               uint32_t *out)
{
   if (strcmp(type, "f32") == 0) {
      float value = 0;
      AGX_TRY(parse_float(line, word, &value));
      memcpy(out, &value, sizeof(*out));
      return AGX_OK;
   }
   char *end;
   errno = 0;
   long long value = strtoll(word, &end, 0);
   bool is_bool = strcmp(type, "bool") == 0;
   long long low = strcmp(type, "i32") == 0 ? INT32_MIN : 0;
   long long high = is_bool ? 1 : strcmp(type, "i32") == 0 ? INT32_MAX : UINT32_MAX;
   if (end == word || *end || errno || value < low || value > high)
      return LINE_FAIL(line, "'%s' is not a %s", word, type);
   *out = (uint32_t)value;
   return AGX_OK;
}

static bool is_word32(const char *type)
{
   return strcmp(type, "u32") == 0 || strcmp(type, "i32") == 0 || strcmp(type, "f32") == 0;
}

static agx_status parse_spec(struct agx_manifest *m, const struct line *line)
{
   if (line->count != 4)
      return LINE_FAIL(line, "spec takes ID TYPE VALUE");
   if (m->spec_count == AGX_MANIFEST_MAX_SPECS)
      return LINE_FAIL(line, "more than %u specialization constants", AGX_MANIFEST_MAX_SPECS);
   const char *type = line->word[2];
   if (!is_word32(type) && strcmp(type, "bool") != 0)
      return LINE_FAIL(line, "'%s' is not one of u32, i32, f32, bool", type);
   struct agx_manifest_spec *spec = &m->specs[m->spec_count];
   AGX_TRY(parse_u32(line, line->word[1], &spec->id));
   for (uint32_t i = 0; i < m->spec_count; i++)
      if (m->specs[i].id == spec->id)
         return LINE_FAIL(line, "specialization constant %u is given twice", spec->id);
   AGX_TRY(parse_word32(line, type, line->word[3], &spec->value));
   m->spec_count++;
   return AGX_OK;
}

static agx_status append_push(struct agx_manifest *m, const struct line *line, const void *bytes,
                              uint32_t size)
{
   if (!agx_range_fits(m->push_B, size, AGX_MANIFEST_MAX_PUSH_B))
      return LINE_FAIL(line, "more than %u bytes of push constants", AGX_MANIFEST_MAX_PUSH_B);
   memcpy(m->push + m->push_B, bytes, size);
   m->push_B += size;
   return AGX_OK;
}

static agx_status parse_push_value(struct agx_manifest *m, const struct line *line,
                                   const char *type, const char *word)
{
   uint64_t wide = 0;
   uint32_t narrow = 0;
   if (is_word32(type)) {
      AGX_TRY(parse_word32(line, type, word, &narrow));
      return append_push(m, line, &narrow, sizeof(narrow));
   }
   if (strcmp(type, "u64") == 0) {
      AGX_TRY(parse_unsigned(line, word, UINT64_MAX, &wide));
      return append_push(m, line, &wide, sizeof(wide));
   }
   if (strcmp(type, "addr") != 0)
      return LINE_FAIL(line, "'%s' is not one of u32, i32, f32, u64, addr", type);
   if (m->fixup_count == AGX_MANIFEST_MAX_ADDRESSES)
      return LINE_FAIL(line, "more than %u addresses", AGX_MANIFEST_MAX_ADDRESSES);
   AGX_TRY(parse_u32(line, word, &narrow));
   m->fixups[m->fixup_count++] = (struct agx_manifest_fixup){.offset_B = m->push_B, .id = narrow};
   return append_push(m, line, &wide, sizeof(wide));
}

static agx_status parse_push(struct agx_manifest *m, const struct line *line)
{
   if (line->count < 3)
      return LINE_FAIL(line, "push takes TYPE VALUE...");
   for (unsigned i = 2; i < line->count; i++)
      AGX_TRY(parse_push_value(m, line, line->word[1], line->word[i]));
   return AGX_OK;
}

/* Parameters: s seed, n step (optional when upper case), v value, r low and high, i ids, f fields.
 */
static const struct {
   const char *name, *parameters;
   enum agx_manifest_init_kind kind;
} init_kinds[] = {
   {"zero", "", AGX_INIT_ZERO},           {"fill_u32", "s", AGX_INIT_FILL_U32},
   {"fill_f32", "v", AGX_INIT_FILL_F32},  {"iota", "", AGX_INIT_IOTA},
   {"ramp_u32", "sn", AGX_INIT_RAMP_U32}, {"rand_u32", "sN", AGX_INIT_RAND_U32},
   {"rand_u8", "s", AGX_INIT_RAND_U8},    {"rand_f32", "sr", AGX_INIT_RAND_F32},
   {"rand_f16", "sr", AGX_INIT_RAND_F16}, {"q4_0", "s", AGX_INIT_Q4_0},
   {"q8_0", "s", AGX_INIT_Q8_0},          {"bits", "sn", AGX_INIT_BITS},
   {"addrs", "i", AGX_INIT_ADDRS},        {"records", "sf", AGX_INIT_RECORDS},
};

static agx_status parse_init_ids(const struct line *line, unsigned at, unsigned end,
                                 struct agx_manifest_init *init)
{
   for (; at < end; at++) {
      if (init->id_count == AGX_MANIFEST_MAX_ADDRESSES)
         return LINE_FAIL(line, "more than %u addresses", AGX_MANIFEST_MAX_ADDRESSES);
      AGX_TRY(parse_u32(line, line->word[at], &init->ids[init->id_count]));
      init->id_count++;
   }
   return AGX_OK;
}

/* OFFSET:TYPE:COUNT[=VALUE] */
static agx_status parse_field(const struct line *line, const char *word,
                              struct agx_manifest_field *out)
{
   static const char *const types[] = {
      [AGX_FIELD_U8] = "u8",   [AGX_FIELD_U16] = "u16", [AGX_FIELD_U32] = "u32",
      [AGX_FIELD_U64] = "u64", [AGX_FIELD_F16] = "f16", [AGX_FIELD_F32] = "f32",
      [AGX_FIELD_F64] = "f64",
   };
   char type[4], end;
   int read = sscanf(word, "%9" SCNu32 ":%3[a-z0-9]:%9" SCNu32 "%c", &out->offset_B, type,
                     &out->count, &end);
   out->has_value = read == 4 && end == '=';
   unsigned at = 0;
   while (read >= 3 && at < AGX_COUNT(types) && strcmp(types[at], type) != 0)
      at++;
   if (read < 3 || (read == 4 && !out->has_value) || at == AGX_COUNT(types) || !out->count)
      return LINE_FAIL(line, "'%s' is not a field: OFFSET:TYPE:COUNT[=VALUE]", word);
   out->type = (enum agx_manifest_field_type)at;
   if (!out->has_value)
      return AGX_OK;
   const char *value = strchr(word, '=') + 1;
   char *rest;
   out->value = strtod(value, &rest);
   if (rest == value || *rest)
      return LINE_FAIL(line, "'%s' is not a number", value);
   return AGX_OK;
}

static bool field_fits(const struct agx_manifest_init *init, const struct agx_manifest_field *field)
{
   uint64_t end = field->offset_B + (uint64_t)field->count * agx_manifest_field_bytes(field->type);
   return end <=
          (field->offset_B < init->head_B ? init->head_B : (uint64_t)init->head_B + init->stride_B);
}

/* HEAD STRIDE FIELD... */
static agx_status parse_fields(const struct line *line, unsigned at, unsigned end,
                               struct agx_manifest_init *init)
{
   if (at + 2 >= end)
      return LINE_FAIL(line, "records takes SEED HEAD STRIDE and fields");
   AGX_TRY(parse_u32(line, line->word[at], &init->head_B));
   AGX_TRY(parse_u32(line, line->word[at + 1], &init->stride_B));
   if (!init->stride_B)
      return LINE_FAIL(line, "records of 0 bytes");
   for (at += 2; at < end; at++) {
      if (init->field_count == AGX_MANIFEST_MAX_FIELDS)
         return LINE_FAIL(line, "more than %u fields", AGX_MANIFEST_MAX_FIELDS);
      struct agx_manifest_field *field = &init->fields[init->field_count++];
      AGX_TRY(parse_field(line, line->word[at], field));
      if (!field_fits(init, field))
         return LINE_FAIL(line, "field '%s' goes beyond its record", line->word[at]);
   }
   return AGX_OK;
}

/* Words at..end are INIT. */
static agx_status parse_init(const struct line *line, unsigned at, unsigned end,
                             struct agx_manifest_init *init)
{
   const char *name = line->word[at++], *parameters = NULL;
   for (size_t i = 0; i < AGX_COUNT(init_kinds); i++) {
      if (strcmp(init_kinds[i].name, name) == 0) {
         init->kind = init_kinds[i].kind;
         parameters = init_kinds[i].parameters;
      }
   }
   if (!parameters)
      return LINE_FAIL(line, "unknown initialisation '%s'", name);
   for (const char *p = parameters; *p; p++) {
      if (*p == 'i')
         return parse_init_ids(line, at, end, init);
      if (*p == 'f')
         return parse_fields(line, at, end, init);
      if (*p == 'N' && at == end)
         break;
      if (at + (*p == 'r') >= end)
         return LINE_FAIL(line, "%s lacks a parameter", name);
      if (*p == 's')
         AGX_TRY(parse_unsigned(line, line->word[at], UINT64_MAX, &init->seed));
      else if (*p == 'n' || *p == 'N')
         AGX_TRY(parse_unsigned(line, line->word[at], UINT32_MAX, &init->step));
      else if (*p == 'v')
         AGX_TRY(parse_float(line, line->word[at], &init->value));
      else if (*p == 'r') {
         AGX_TRY(parse_float(line, line->word[at], &init->low));
         AGX_TRY(parse_float(line, line->word[++at], &init->high));
      }
      at++;
   }
   if (at != end)
      return LINE_FAIL(line, "%s does not take '%s'", name, line->word[at]);
   return AGX_OK;
}

/* Beside the manifest. */
static agx_status parse_file(const struct line *line, const char *word,
                             struct agx_manifest_resource *r)
{
   const char *slash = strrchr(line->name, '/');
   int folder = slash && word[0] != '/' ? (int)(slash - line->name) + 1 : 0;
   int length = snprintf(r->file, sizeof(r->file), "%.*s%s", folder, line->name, word);
   if (length < 0 || (size_t)length >= sizeof(r->file))
      return LINE_FAIL(line, "file '%s': a path of %d bytes; the limit is %u", word, length,
                       AGX_MANIFEST_MAX_PATH_B - 1);
   r->init.kind = AGX_INIT_FILE;
   return AGX_OK;
}

/* The words that buffers and images share: ID SET BINDING ... INIT [out]. */
static agx_status parse_resource(struct agx_manifest *m, const struct line *line, unsigned init_at,
                                 struct agx_manifest_resource *r)
{
   if (m->resource_count == AGX_MANIFEST_MAX_RESOURCES)
      return LINE_FAIL(line, "more than %u resources", AGX_MANIFEST_MAX_RESOURCES);
   AGX_TRY(parse_u32(line, line->word[1], &r->id));
   AGX_TRY(parse_u32(line, line->word[2], &r->set));
   AGX_TRY(parse_u32(line, line->word[3], &r->binding));
   if (agx_manifest_find(m, r->id))
      return LINE_FAIL(line, "id %u is used twice", r->id);
   unsigned end = line->count;
   if (strcmp(line->word[end - 1], "out") == 0) {
      r->is_output = true;
      end--;
   }
   if (init_at >= end)
      return LINE_FAIL(line, "the initialisation is missing");
   if (strcmp(line->word[init_at], "file") == 0 && init_at + 2 == end)
      AGX_TRY(parse_file(line, line->word[init_at + 1], r));
   else
      AGX_TRY(parse_init(line, init_at, end, &r->init));
   m->resources[m->resource_count++] = *r;
   return AGX_OK;
}

static agx_status parse_buffer(struct agx_manifest *m, const struct line *line)
{
   static const char *const types[] = {
      [AGX_MANIFEST_SSBO] = "ssbo",    [AGX_MANIFEST_UBO] = "ubo",
      [AGX_MANIFEST_ADDRESS] = "addr", [AGX_MANIFEST_VERTEX] = "vertex",
      [AGX_MANIFEST_INDEX] = "index",  [AGX_MANIFEST_FEEDBACK] = "feedback",
   };
   struct agx_manifest_resource r = {0};
   if (line->count < 7)
      return LINE_FAIL(line, "buf takes ID SET BINDING TYPE BYTES INIT");
   unsigned type = 0;
   while (type < AGX_COUNT(types) && (!types[type] || strcmp(types[type], line->word[4]) != 0))
      type++;
   if (type == AGX_COUNT(types))
      return LINE_FAIL(line, "'%s' is not one of ssbo, ubo, addr, vertex, index, feedback",
                       line->word[4]);
   r.type = (enum agx_manifest_type)type;
   AGX_TRY(parse_unsigned(line, line->word[5], AGX_MANIFEST_MAX_BYTES, &r.size_B));
   if (r.size_B == 0)
      return LINE_FAIL(line, "a buffer of 0 bytes");
   AGX_TRY(parse_resource(m, line, 6, &r));
   if (r.init.kind == AGX_INIT_ADDRS && r.init.id_count * 8ull > r.size_B)
      return LINE_FAIL(line, "%u addresses don't fit into %llu bytes", r.init.id_count,
                       (unsigned long long)r.size_B);
   return AGX_OK;
}

static agx_status parse_image(struct agx_manifest *m, const struct line *line)
{
   struct agx_manifest_resource r = {0};
   const bool is_3d = strcmp(line->word[0], "volume") == 0;
   if (line->count < 11)
      return LINE_FAIL(line,
                       "%s takes ID SET BINDING storage|sampled FORMAT W H %s linear|nearest INIT",
                       line->word[0], is_3d ? "D" : "MIPS");
   bool storage = strcmp(line->word[4], "storage") == 0;
   if (!storage && strcmp(line->word[4], "sampled") != 0)
      return LINE_FAIL(line, "'%s' is neither storage nor sampled", line->word[4]);
   r.type = storage ? AGX_MANIFEST_STORAGE_IMAGE : AGX_MANIFEST_SAMPLED_IMAGE;
   if ((size_t)snprintf(r.format, sizeof(r.format), "%s", line->word[5]) >= sizeof(r.format))
      return LINE_FAIL(line, "format '%s' is too long", line->word[5]);
   AGX_TRY(parse_u32(line, line->word[6], &r.width));
   AGX_TRY(parse_u32(line, line->word[7], &r.height));
   r.levels = 1;
   AGX_TRY(parse_u32(line, line->word[8], is_3d ? &r.depth : &r.levels));
   if (!r.width || !r.height || !r.levels || (is_3d && !r.depth))
      return LINE_FAIL(line, "an image without texels");
   r.linear_filter = strcmp(line->word[9], "linear") == 0;
   if (!r.linear_filter && strcmp(line->word[9], "nearest") != 0)
      return LINE_FAIL(line, "'%s' is neither linear nor nearest", line->word[9]);
   return parse_resource(m, line, 10, &r);
}

static agx_status parse_slot(struct agx_manifest *m, const struct line *line)
{
   static const char *const kinds[] = {"ssbo",    "ubo",     "storage",        "sampled",
                                       "texture", "sampler", "uniform_texels", "storage_texels"};
   if (line->count != 5)
      return LINE_FAIL(line, "slot takes SET BINDING KIND COUNT");
   if (m->slot_count == AGX_MANIFEST_MAX_SLOTS)
      return LINE_FAIL(line, "more than %u slots", AGX_MANIFEST_MAX_SLOTS);
   struct agx_manifest_slot *slot = &m->slots[m->slot_count];
   AGX_TRY(parse_u32(line, line->word[1], &slot->set));
   AGX_TRY(parse_u32(line, line->word[2], &slot->binding));
   AGX_TRY(parse_u32(line, line->word[4], &slot->count));
   for (size_t i = 0; i < AGX_COUNT(kinds); i++) {
      if (strcmp(kinds[i], line->word[3]) != 0)
         continue;
      snprintf(slot->kind, sizeof(slot->kind), "%s", kinds[i]);
      m->slot_count++;
      return AGX_OK;
   }
   return LINE_FAIL(line, "'%s' is not a kind of slot", line->word[3]);
}

static agx_status parse_point(struct agx_manifest *m, const struct line *line)
{
   if (line->count != 5)
      return LINE_FAIL(line, "point takes ID OFFSET OTHER PLACE");
   if (m->point_count == AGX_MANIFEST_MAX_POINTS)
      return LINE_FAIL(line, "more than %u points", AGX_MANIFEST_MAX_POINTS);
   struct agx_manifest_pointer *point = &m->points[m->point_count];
   AGX_TRY(parse_u32(line, line->word[1], &point->id));
   AGX_TRY(parse_unsigned(line, line->word[2], AGX_MANIFEST_MAX_BYTES, &point->offset_B));
   AGX_TRY(parse_u32(line, line->word[3], &point->target));
   AGX_TRY(parse_unsigned(line, line->word[4], AGX_MANIFEST_MAX_BYTES, &point->place_B));
   m->point_count++;
   return AGX_OK;
}

static agx_status parse_dispatch(struct agx_manifest *m, const struct line *line)
{
   if (line->count != 4)
      return LINE_FAIL(line, "dispatch takes X Y Z");
   for (unsigned i = 0; i < 3; i++)
      AGX_TRY(parse_u32(line, line->word[1 + i], &m->workgroups[i]));
   return AGX_OK;
}

static agx_status parse_attribute(struct agx_manifest *m, const struct line *line)
{
   if (line->count != 4 && line->count != 5)
      return LINE_FAIL(line, "attribute takes LOCATION FORMAT STRIDE [DIVISOR]");
   if (m->attribute_count == AGX_MANIFEST_MAX_ATTRIBUTES)
      return LINE_FAIL(line, "more than %u attributes", AGX_MANIFEST_MAX_ATTRIBUTES);
   struct agx_manifest_attribute *a = &m->attributes[m->attribute_count];
   AGX_TRY(parse_u32(line, line->word[1], &a->location));
   if ((size_t)snprintf(a->format, sizeof(a->format), "%s", line->word[2]) >= sizeof(a->format))
      return LINE_FAIL(line, "format '%s' is too long", line->word[2]);
   AGX_TRY(parse_u32(line, line->word[3], &a->stride_B));
   a->per_instance = line->count == 5;
   if (a->per_instance)
      AGX_TRY(parse_u32(line, line->word[4], &a->divisor));
   m->attribute_count++;
   return AGX_OK;
}

static agx_status parse_draw(struct agx_manifest *m, const struct line *line)
{
   if (line->count != 6)
      return LINE_FAIL(line, "draw takes FIRST VERTICES BASE_VERTEX BASE_INSTANCE INSTANCES");
   for (unsigned i = 0; i < 5; i++)
      AGX_TRY(i == 2 ? parse_word32(line, "i32", line->word[3], &m->draw[2])
                     : parse_u32(line, line->word[1 + i], &m->draw[i]));
   m->is_draw = true;
   return AGX_OK;
}

static agx_status parse_compare(struct agx_manifest *m, const struct line *line)
{
   static const struct {
      const char *name;
      unsigned parameters;
   } kinds[] = {
      [AGX_COMPARE_EXACT] = {"exact", 0}, [AGX_COMPARE_F32] = {"f32", 2},
      [AGX_COMPARE_F16] = {"f16", 2},     [AGX_COMPARE_MOSTLY] = {"mostly", 1},
      [AGX_COMPARE_NONE] = {"none", 0},
   };
   for (unsigned kind = 0; line->count > 1 && kind < AGX_COUNT(kinds); kind++) {
      if (strcmp(kinds[kind].name, line->word[1]) != 0)
         continue;
      if (line->count != 2 + kinds[kind].parameters)
         return LINE_FAIL(line, "cmp %s takes %u numbers", kinds[kind].name,
                          kinds[kind].parameters);
      double *numbers[] = {&m->rtol, &m->atol};
      for (unsigned i = 0; i < kinds[kind].parameters; i++) {
         char *end;
         *numbers[i] = strtod(line->word[2 + i], &end);
         if (*end || !(*numbers[i] >= 0))
            return LINE_FAIL(line, "'%s' is not a tolerance", line->word[2 + i]);
      }
      m->compare = (enum agx_manifest_compare)kind;
      return AGX_OK;
   }
   return LINE_FAIL(line, "cmp takes exact, f32, f16, mostly or none");
}

static agx_status parse_line(struct agx_manifest *m, const struct line *line)
{
   static const struct {
      const char *name;
      agx_status (*parse)(struct agx_manifest *, const struct line *);
   } directives[] = {
      {"spec", parse_spec},    {"push", parse_push},           {"buf", parse_buffer},
      {"img", parse_image},    {"dispatch", parse_dispatch},   {"cmp", parse_compare},
      {"draw", parse_draw},    {"attribute", parse_attribute}, {"slot", parse_slot},
      {"volume", parse_image}, {"point", parse_point},
   };
   for (size_t i = 0; i < AGX_COUNT(directives); i++)
      if (strcmp(directives[i].name, line->word[0]) == 0)
         return directives[i].parse(m, line);
   return LINE_FAIL(line, "unknown directive '%s'", line->word[0]);
}

/* Every id that stands for an address must name a buffer. */
static agx_status check_addresses(const char *name, const struct agx_manifest *m)
{
   for (uint32_t i = 0; i < m->fixup_count; i++)
      if (!agx_manifest_find(m, m->fixups[i].id))
         return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s: push addr %u: no such buffer", name,
                         m->fixups[i].id);
   for (uint32_t i = 0; i < m->point_count; i++) {
      const struct agx_manifest_pointer *point = &m->points[i];
      const struct agx_manifest_resource *r = agx_manifest_find(m, point->id);
      if (!r || !agx_manifest_find(m, point->target))
         return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s: point %u to %u: no such buffer", name,
                         r ? point->target : point->id, point->target);
      if (!agx_range_fits(point->offset_B, 8, r->size_B))
         return AGX_FAIL(
            AGX_INVALID_ARGUMENT, "%s: point at byte %llu of buffer %u, which has %llu", name,
            (unsigned long long)point->offset_B, point->id, (unsigned long long)r->size_B);
   }
   for (uint32_t i = 0; i < m->resource_count; i++)
      for (uint32_t j = 0; j < m->resources[i].init.id_count; j++)
         if (!agx_manifest_find(m, m->resources[i].init.ids[j]))
            return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s: addrs %u: no such buffer", name,
                            m->resources[i].init.ids[j]);
   return AGX_OK;
}

agx_status agx_manifest_parse(const char *name, const char *text, size_t length,
                              struct agx_manifest *out_manifest)
{
   struct agx_manifest *m = out_manifest;
   *m = (struct agx_manifest){.workgroups = {1, 1, 1}};
   struct line line = {.name = name};
   char copy[MAX_LINE];
   for (size_t at = 0; at < length;) {
      const char *newline = memchr(text + at, '\n', length - at);
      size_t bytes = newline ? (size_t)(newline - text) - at : length - at;
      line.number++;
      if (bytes >= sizeof(copy))
         return LINE_FAIL(&line, "a line of %zu bytes; the limit is %u", bytes, MAX_LINE - 1);
      memcpy(copy, text + at, bytes);
      copy[bytes] = 0;
      copy[strcspn(copy, "#")] = 0;
      at += bytes + 1;
      char *save = NULL;
      line.count = 0;
      for (char *word = strtok_r(copy, " \t\r", &save); word;
           word = strtok_r(NULL, " \t\r", &save)) {
         if (line.count == MAX_WORDS)
            return LINE_FAIL(&line, "more than %u words", MAX_WORDS);
         line.word[line.count++] = word;
      }
      if (line.count)
         AGX_TRY(parse_line(m, &line));
   }
   return check_addresses(name, m);
}

agx_status agx_manifest_load(const char *path, struct agx_manifest *out_manifest)
{
   FILE *file = fopen(path, "rb");
   if (!file)
      return agx_status_fail_errno(errno, "%s", path);
   char *text = malloc(MAX_FILE_B + 1);
   agx_status status;
   size_t length = text ? fread(text, 1, MAX_FILE_B + 1, file) : 0;
   if (!text)
      status = AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "%s: out of memory", path);
   else if (ferror(file))
      status = AGX_FAIL(AGX_DATA_LOSS, "%s: read error", path);
   else if (length > MAX_FILE_B)
      status = AGX_FAIL(AGX_OUT_OF_RANGE, "%s: larger than %u bytes", path, MAX_FILE_B);
   else
      status = agx_manifest_parse(path, text, length, out_manifest);
   free(text);
   fclose(file);
   return status;
}

void agx_manifest_extent(const struct agx_manifest_resource *image, uint32_t level,
                         uint32_t out_extent[3])
{
   const uint32_t whole[3] = {image->width, image->height, image->depth};
   for (unsigned i = 0; i < 3; i++)
      out_extent[i] = AGX_MAX(level < 32 ? whole[i] >> level : 0, 1u);
}

uint64_t agx_manifest_image_bytes(const struct agx_manifest_resource *image, uint32_t texel_B)
{
   uint64_t bytes = 0;
   for (uint32_t level = 0; level < image->levels; level++) {
      uint32_t extent[3];
      agx_manifest_extent(image, level, extent);
      bytes += (uint64_t)extent[0] * extent[1] * extent[2] * texel_B;
   }
   return bytes;
}

const struct agx_manifest_resource *agx_manifest_find(const struct agx_manifest *manifest,
                                                      uint32_t id)
{
   for (uint32_t i = 0; i < manifest->resource_count; i++)
      if (manifest->resources[i].id == id)
         return &manifest->resources[i];
   return NULL;
}
