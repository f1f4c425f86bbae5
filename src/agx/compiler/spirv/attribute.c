/* SPDX-License-Identifier: MIT
 *
 * Vertex attributes: which element, a load that stays inside its buffer, and what the format
 * makes of the bits. Where the load has the format, nothing else is executed. Elements that are
 * powers of two apart, up to four times a channel's size, need no arithmetic either.
 */
#include "agx/compiler/spirv/vertex_impl.h"

#define MAX_SHIFT 2 /* beyond the unit; source: docs/hw/machine.md, section 7 */

/* ---- elements ----------------------------------------------------------- */

static struct agxc_ref limit(struct agxc_spv *s, uint32_t binding, enum agx_uniform_kind kind,
                             unsigned bits)
{
   const struct agx_program_binding *of = &s->bindings[binding];
   return agxc_build_buffer_limit(&s->b, bits, binding, kind, AGX_MAX(of->stride_B, 1u),
                                  of->element_B);
}

struct agxc_ref agxc_spv_fetch_base(struct agxc_spv *s, uint32_t binding, struct agxc_ref *element)
{
   const struct agx_program_binding *of = &s->bindings[binding];
   s->binding_used[binding] = true;
   s->bindings[binding].access |= AGX_BINDING_READS;
   if (of->stride_B == 0)
      *element = agxc_spv_u32(0);
   if (of->robustness == AGX_PROGRAM_ROBUST_OFF ||
       (of->robustness == AGX_PROGRAM_ROBUST_ZERO && of->stride_B)) {
      if (of->robustness) {
         struct agxc_ref count = limit(s, binding, AGX_UNIFORM_BUFFER_COUNT, 32);
         struct agxc_ref inside = agxc_spv_build2(s, AGXC_OP_ULT, *element, count);
         struct agxc_ref sink = limit(s, binding, AGX_UNIFORM_BUFFER_SINK, 32);
         *element = agxc_spv_select(s, inside, *element, sink);
      }
      return agxc_build_buffer_address(&s->b, binding);
   }
   if (of->stride_B)
      *element =
         agxc_spv_build2(s, AGXC_OP_UMIN, *element, limit(s, binding, AGX_UNIFORM_BUFFER_LAST, 32));
   return limit(s, binding, AGX_UNIFORM_BUFFER_GUARD, 64);
}

/* Which one a thread reads, before any limit. */
static struct agxc_ref element_of(struct agxc_spv *s, const struct agx_program_binding *of)
{
   if (!of->per_instance)
      return s->vertex->id;
   struct agxc_ref base = agxc_spv_draw_value(s, AGX_DRAW_BASE_INSTANCE);
   struct agxc_ref count = s->vertex->instance;
   if (of->divisor == 0)
      return base;
   if (of->divisor > 1)
      count = agxc_spv_build2(s, AGXC_OP_UDIV, count, agxc_spv_u32(of->divisor));
   return agxc_spv_build2(s, AGXC_OP_IADD, base, count);
}

/* `count` units of a format from an element on. */
static void load(struct agxc_spv *s, uint32_t binding, enum agx_isa_format format, uint32_t unit_B,
                 unsigned bits, uint32_t count, struct agxc_ref *out)
{
   struct agxc_ref index = element_of(s, &s->bindings[binding]);
   struct agxc_ref address = agxc_spv_fetch_base(s, binding, &index);
   uint32_t step = s->bindings[binding].stride_B / unit_B, shift = 0;
   while (shift < MAX_SHIFT && step && step % 2 == 0) {
      step /= 2;
      shift++;
   }
   if (step > 1 && (step & (step - 1)) == 0)
      index = agxc_spv_build2(s, AGXC_OP_ISHL, index, agxc_spv_u32((uint32_t)__builtin_ctz(step)));
   else if (step > 1)
      index = agxc_spv_build2(s, AGXC_OP_IMUL, index, agxc_spv_u32(step));
   struct agxc_ref vector =
      agxc_build_load_format(&s->b, bits, count, address, index, format, shift);
   if (count == 1)
      out[0] = vector;
   else
      agxc_split(&s->b, vector, out);
}

/* ---- formats ------------------------------------------------------------ */

/* What the hardware's load makes of it; else bits that are converted behind it.
 * Source: docs/hw/machine.md, section 7. */
static enum agx_isa_format load_format(const struct agx_vertex_format *format)
{
   bool is_unorm = format->type == AGX_VERTEX_UNORM, is_snorm = format->type == AGX_VERTEX_SNORM;
   if (format->bits == 8)
      return is_unorm   ? AGX_ISA_FORMAT_U8NORM
             : is_snorm ? AGX_ISA_FORMAT_S8NORM
                        : AGX_ISA_FORMAT_I8;
   if (format->bits == 16)
      return is_unorm   ? AGX_ISA_FORMAT_U16NORM
             : is_snorm ? AGX_ISA_FORMAT_S16NORM
                        : AGX_ISA_FORMAT_I16;
   return AGX_ISA_FORMAT_I32;
}

static struct agxc_ref multiply(struct agxc_spv *s, struct agxc_ref a, float by)
{
   return agxc_spv_build2(s, AGXC_OP_FMUL, a, agxc_spv_f32(by));
}

/* x / by, rounded once: the quotient by the reciprocal, and what is left over. */
static struct agxc_ref divide(struct agxc_spv *s, struct agxc_ref x, float by)
{
   struct agxc_ref quotient = multiply(s, x, 1.0f / by);
   struct agxc_ref rest = agxc_spv_build3(s, AGXC_OP_FFMA, 32, quotient, agxc_spv_f32(-by), x);
   return agxc_spv_build3(s, AGXC_OP_FFMA, 32, rest, agxc_spv_f32(1.0f / by), quotient);
}

static bool is_signed(const struct agx_vertex_format *format)
{
   return format->type == AGX_VERTEX_SNORM || format->type == AGX_VERTEX_SSCALED ||
          format->type == AGX_VERTEX_SINT || format->type == AGX_VERTEX_FIXED;
}

static struct agxc_ref normalized(struct agxc_spv *s, struct agxc_ref value, uint32_t bits,
                                  bool has_sign)
{
   uint32_t most = bits == 32 ? 0 : (1u << (bits - has_sign)) - 1;
   struct agxc_ref real;
   if (bits == 32) /* 2^32 - 1 and 2^31 - 1 are powers of two in single precision */
      real = multiply(s, value, has_sign ? 0x1p-31f : 0x1p-32f);
   else
      real = most == 1 ? value : divide(s, value, (float)most);
   return has_sign ? agxc_spv_build2(s, AGXC_OP_FMAX, real, agxc_spv_f32(-1.0f)) : real;
}

/* An integer that has been extended to a word. */
static struct agxc_ref convert(struct agxc_spv *s, const struct agx_vertex_format *format,
                               struct agxc_ref value, uint32_t bits)
{
   bool has_sign = is_signed(format);
   if (agx_vertex_format_is_integer(format) || format->type == AGX_VERTEX_FLOAT)
      return value;
   struct agxc_ref real = agxc_spv_build1(s, has_sign ? AGXC_OP_S2F : AGXC_OP_U2F, 32, value);
   if (format->type == AGX_VERTEX_FIXED)
      return multiply(s, real, 0x1p-16f);
   if (format->type == AGX_VERTEX_USCALED || format->type == AGX_VERTEX_SSCALED)
      return real;
   return normalized(s, real, bits, has_sign);
}

static struct agxc_ref field(struct agxc_spv *s, struct agxc_ref word, uint32_t start,
                             uint32_t bits, bool has_sign)
{
   return agxc_spv_build3(s, has_sign ? AGXC_OP_SBFE : AGXC_OP_UBFE, 32, word, agxc_spv_u32(start),
                          agxc_spv_u32(bits));
}

/* An unsigned float of 5 exponent bits is a half's upper part without its sign. */
static struct agxc_ref small_float(struct agxc_spv *s, struct agxc_ref word, uint32_t start,
                                   uint32_t bits)
{
   struct agxc_ref half =
      agxc_spv_build2(s, AGXC_OP_ISHL, field(s, word, start, bits, false), agxc_spv_u32(15 - bits));
   return agxc_spv_build1(s, AGXC_OP_F2F, 32, agxc_spv_build1(s, AGXC_OP_TRUNC, 16, half));
}

static void fetch_packed(struct agxc_spv *s, uint32_t binding,
                         const struct agx_vertex_format *format, struct agxc_ref *out)
{
   struct agxc_ref word;
   load(s, binding, AGX_ISA_FORMAT_I32, 4, 32, 1, &word);
   for (uint32_t i = 0; i < format->channels; i++) {
      if (format->bits == 11) {
         out[i] = small_float(s, word, 11 * i, i == 2 ? 10 : 11);
         continue;
      }
      uint32_t bits = i == 3 ? 2 : 10;
      out[i] = convert(s, format, field(s, word, 10 * i, bits, is_signed(format)), bits);
   }
}

static void fetch_channels(struct agxc_spv *s, uint32_t binding,
                           const struct agx_vertex_format *format, uint32_t count,
                           struct agxc_ref *out)
{
   enum agx_isa_format as = load_format(format);
   bool is_half = format->bits == 16 && format->type == AGX_VERTEX_FLOAT;
   bool is_done = as == AGX_ISA_FORMAT_U8NORM || as == AGX_ISA_FORMAT_S8NORM ||
                  as == AGX_ISA_FORMAT_U16NORM || as == AGX_ISA_FORMAT_S16NORM;
   load(s, binding, as, format->bits / 8u, is_half ? 16 : 32, count, out);
   for (uint32_t i = 0; i < count && !is_done; i++) {
      if (is_half)
         out[i] = agxc_spv_build1(s, AGXC_OP_F2F, 32, out[i]);
      else if (is_signed(format) && format->bits < 32)
         out[i] = convert(s, format, field(s, out[i], 0, format->bits, true), format->bits);
      else
         out[i] = convert(s, format, out[i], format->bits);
   }
}

/* ---- attributes --------------------------------------------------------- */

/* Where nothing is said: as many words as are read, of the kind that reads them. */
static const struct agx_vertex_format *default_format(const struct agxc_spv_location *at)
{
   static const char *const names[3][4] = {
      {"R32_FLOAT", "R32G32_FLOAT", "R32G32B32_FLOAT", "R32G32B32A32_FLOAT"},
      {"R32_UINT", "R32G32_UINT", "R32G32B32_UINT", "R32G32B32A32_UINT"},
      {"R32_SINT", "R32G32_SINT", "R32G32B32_SINT", "R32G32B32A32_SINT"},
   };
   unsigned row = at->component->kind == AGXC_SPV_FLOAT ? 0 : at->component->is_signed ? 2 : 1;
   return agx_vertex_format_find(names[row][at->channels - 1]);
}

static struct agxc_attribute attribute_at(struct agxc_spv *s, uint32_t location)
{
   const struct agxc_options *options = s->shader->options;
   for (uint32_t i = 0; i < options->attribute_count; i++)
      if (options->attributes[i].location == location)
         return options->attributes[i];
   if (options->attribute_count)
      agxc_spv_invalid(s, "input location %u has no attribute", location);
   const struct agx_vertex_format *format = default_format(&s->vertex->locations[location]);
   return (struct agxc_attribute){
      .location = location, .format = format, .stride_B = format->size_B};
}

static void check_attribute(struct agxc_spv *s, const struct agxc_attribute *attribute,
                            const struct agxc_spv_type *component)
{
   uint32_t location = attribute->location;
   if (!attribute->format)
      agxc_spv_invalid(s, "attribute at location %u has no format", location);
   uint32_t unit_B = agx_vertex_format_unit_B(attribute->format);
   if (attribute->stride_B % unit_B)
      agxc_spv_missing(s, "attribute at location %u: stride %u is no multiple of %u bytes (%s)",
                       location, attribute->stride_B, unit_B, attribute->format->name);
   if (attribute->stride_B > AGX_PROGRAM_MAX_STRIDE_B)
      agxc_spv_leave(s, AGX_OUT_OF_RANGE, "attribute at location %u: stride %u, at most %u",
                     location, attribute->stride_B, AGX_PROGRAM_MAX_STRIDE_B);
   if (agx_vertex_format_is_integer(attribute->format) != (component->kind == AGXC_SPV_INT))
      agxc_spv_invalid(s, "input location %u is %s, its format %s", location,
                       component->kind == AGXC_SPV_INT ? "an integer" : "a float",
                       attribute->format->name);
}

const struct agxc_ref *agxc_spv_fetch(struct agxc_spv *s, uint32_t location)
{
   struct agxc_spv_location *at = &s->vertex->locations[location];
   if (at->is_fetched)
      return at->values;
   at->is_fetched = true;
   struct agxc_attribute attribute = attribute_at(s, location);
   check_attribute(s, &attribute, at->component);
   const struct agx_vertex_format *format = attribute.format;
   uint32_t binding = s->vertex->first_binding + location;
   s->bindings[binding].stride_B = attribute.stride_B;
   s->bindings[binding].element_B = format->size_B;
   s->bindings[binding].dim = (uint32_t)__builtin_ctz(agx_vertex_format_unit_B(format));
   s->bindings[binding].per_instance = attribute.per_instance;
   s->bindings[binding].divisor = attribute.per_instance ? attribute.divisor : 0;
   for (uint32_t i = 0; i < 4; i++)
      at->values[i] = i < 3                                  ? agxc_spv_u32(0)
                      : agx_vertex_format_is_integer(format) ? agxc_spv_u32(1)
                                                             : agxc_spv_f32(1.0f);
   if (format->bits == 10 || format->bits == 11)
      fetch_packed(s, binding, format, at->values);
   else
      fetch_channels(s, binding, format,
                     format->is_bgra ? format->channels : AGX_MIN(format->channels, at->channels),
                     at->values);
   if (format->is_bgra) {
      struct agxc_ref blue = at->values[0];
      at->values[0] = at->values[2];
      at->values[2] = blue;
   }
   return at->values;
}
