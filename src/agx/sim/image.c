/* SPDX-License-Identifier: MIT */
#include "agx/sim/image.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "agx/sim/floats.h"
#include "agx/sim/format.h"
#include "agx/sim/lanes.h"
#include "agx/sim/profile.h"
#include "agx/sim/sample.h"
#include "agx/sim/shadow.h"
#include "base/util.h"

#define CACHE_ENTRIES 64u

/* Descriptors as they were unpacked, by their bytes. */
struct agxs_image_cache {
   bool has_texture[2][CACHE_ENTRIES]; /* [1]: PBE */
   struct agxs_texture texture[2][CACHE_ENTRIES];
   bool has_sampler[CACHE_ENTRIES];
   uint8_t sampler_bytes[CACHE_ENTRIES][AGXS_SAMPLER_MAX_BYTES];
   struct agxs_sampler sampler[CACHE_ENTRIES];
};

/* What an access works with besides its coordinates. */
struct access {
   struct agxs_group *group;
   const struct agxs_uop *uop;
   const struct agxs_image_op *op;
   struct agxs_image_cache *cache;
   unsigned lane;
};

void agxs_image_cache_free(struct agxs_image_cache *cache)
{
   free(cache);
}

static bool begin(struct access *access, struct agxs_group *group, const struct agxs_uop *uop)
{
   struct agxs_worker *worker = group->worker;
   if (!worker->images)
      worker->images = calloc(1, sizeof(*worker->images));
   *access = (struct access){group, uop, uop->image, worker->images};
   if (access->cache)
      return true;
   agxs_group_fail(group, uop, AGX_RESOURCE_EXHAUSTED, "out of memory");
   return false;
}

static uint32_t lane_value(const struct access *access, const struct agxs_source *source,
                           unsigned element)
{
   return agxs_get_lane(access->group, source, element, access->lane);
}

static uint64_t lane_address(const struct access *access, const struct agxs_source *source)
{
   const struct agxs_row *row = agxs_source_row(access->group, source);
   return row[0].lane[access->lane] | (uint64_t)row[1].lane[access->lane] << 32;
}

static bool fail(const struct access *access, const struct agxs_image_error *error)
{
   agxs_group_fail(access->group, access->uop, error->status, "lane %u: %s: 0x%" PRIx64,
                   access->lane, error->reason, error->va);
   return false;
}

/* The thread's error text, as the instruction's: a descriptor is not modelled, or none. */
static bool fail_with(const struct access *access, agx_status status)
{
   char text[160];
   agx_error_text(text, sizeof(text));
   status = status == AGX_UNIMPLEMENTED ? status : AGX_INVALID_ARGUMENT;
   agxs_group_fail(access->group, access->uop, status, "%s", text);
   return false;
}

/* For statistics, where they are wanted. */
static void note_touch(void *user, uint64_t va, unsigned bytes)
{
   agxs_profile_touch(user, va, bytes);
}

static struct agxs_lookup make_lookup(const struct access *access)
{
   return (struct agxs_lookup){
      .tlb = &access->group->worker->tlb, .touch = note_touch, .user = access->group};
}

/* ---- Descriptors ---------------------------------------------------------- */

static unsigned hash(const uint8_t *bytes, unsigned size)
{
   uint32_t sum = 0;
   for (unsigned i = 0; i + 4 <= size; i += 4)
      sum = (sum ^ agxs_get_le32(bytes + i)) * 0x9e3779b1u;
   return sum >> 26; /* CACHE_ENTRIES */
}

static const struct agxs_texture *unpack_texture(const struct access *access, const uint8_t *bytes,
                                                 bool is_pbe)
{
   unsigned at = hash(bytes, AGXS_TEXTURE_BYTES);
   struct agxs_texture *texture = &access->cache->texture[is_pbe][at];
   bool *has = &access->cache->has_texture[is_pbe][at];
   if (*has && memcmp(texture->descriptor, bytes, AGXS_TEXTURE_BYTES) == 0)
      return texture;
   agx_status status =
      is_pbe ? agxs_texture_init_pbe(texture, bytes) : agxs_texture_init(texture, bytes);
   *has = status == AGX_OK;
   if (*has)
      return texture;
   fail_with(access, status);
   return NULL;
}

/* A state register's content, or NULL after failing the group. */
static const uint8_t *find_state(const struct access *access, uint32_t index)
{
   const struct agxs_dispatch *dispatch = access->group->worker->dispatch;
   const struct agxs_states *states = dispatch->states;
   if (index < AGXS_TEXTURE_STATES && states->has_texture[index]) {
      if (!dispatch->options->check || index < states->texture_count)
         return states->texture[index];
      agxs_group_fail(access->group, access->uop, AGX_FAILED_PRECONDITION,
                      "check: texture state %u, the launch declares %u", index,
                      states->texture_count);
      return NULL;
   }
   agxs_group_fail(access->group, access->uop, AGX_INVALID_ARGUMENT,
                   "nothing was loaded into texture state %u", index);
   return NULL;
}

static const struct agxs_texture *find_texture(const struct access *access, bool is_pbe)
{
   const struct agxs_image_op *op = access->op;
   uint8_t bytes[AGXS_TEXTURE_BYTES];
   if (op->handle != AGXS_HANDLE_HEAP) {
      bool is_number = op->handle == AGXS_HANDLE_STATE;
      const uint8_t *state =
         find_state(access, is_number ? op->texture_state : lane_value(access, &op->texture, 0));
      return state ? unpack_texture(access, state, is_pbe) : NULL;
   }
   uint64_t bad_va;
   uint64_t va = lane_address(access, &op->heap) + lane_value(access, &op->texture, 0);
   if (agxs_tlb_copy_out(&access->group->worker->tlb, va, bytes, sizeof(bytes), &bad_va))
      return unpack_texture(access, bytes, is_pbe);
   fail(access, &(struct agxs_image_error){AGX_DATA_LOSS, bad_va, "descriptor is not mapped"});
   return NULL;
}

/* A sampler of the command's heap. source: Mesa 26.2 keeps samplers of 8 bytes there and counts
 * them from 28; what hardware does with fewer or with a register below that is [U]. */
static bool read_heap(const struct access *access, uint32_t index,
                      uint8_t bytes[AGX_HW_SAMPLER_BYTES])
{
   const struct agxs_options *options = access->group->worker->dispatch->options;
   uint64_t bad_va;
   if (index >= options->sampler_count) {
      agxs_group_fail(access->group, access->uop, AGX_INVALID_ARGUMENT,
                      "lane %u: sampler %u of a heap of %u", access->lane, index,
                      options->sampler_count);
      return false;
   }
   uint64_t va = options->sampler_heap + (uint64_t)index * AGX_HW_SAMPLER_BYTES;
   return agxs_tlb_copy_out(&access->group->worker->tlb, va, bytes, AGX_HW_SAMPLER_BYTES,
                            &bad_va) ||
          fail(access, &(struct agxs_image_error){AGX_DATA_LOSS, bad_va, "sampler is not mapped"});
}

static const struct agxs_sampler *unpack_sampler(const struct access *access, const uint8_t *bytes,
                                                 unsigned size)
{
   struct agxs_image_cache *cache = access->cache;
   unsigned at = hash(bytes, size);
   struct agxs_sampler *sampler = &cache->sampler[at];
   if (cache->has_sampler[at] && sampler->has_border == (size > AGX_HW_SAMPLER_BYTES) &&
       memcmp(cache->sampler_bytes[at], bytes, size) == 0)
      return sampler;
   agx_status status = agxs_sampler_init(sampler, bytes, size);
   memcpy(cache->sampler_bytes[at], bytes, size);
   cache->has_sampler[at] = status == AGX_OK;
   if (status == AGX_OK)
      return sampler;
   fail_with(access, status);
   return NULL;
}

static const struct agxs_sampler *find_sampler(const struct access *access)
{
   const struct agxs_states *states = access->group->worker->dispatch->states;
   uint8_t bytes[AGX_HW_SAMPLER_BYTES];
   uint32_t index = access->op->sampler_state;
   if (access->op->has_sampler_register) {
      index = lane_value(access, &access->op->sampler, 0) & 0xffff;
      if (index >= AGXS_HEAP_SAMPLER)
         return read_heap(access, index - AGXS_HEAP_SAMPLER, bytes)
                   ? unpack_sampler(access, bytes, sizeof(bytes))
                   : NULL;
   }
   if (index >= AGXS_SAMPLER_STATES || !states->has_sampler[index]) {
      agxs_group_fail(access->group, access->uop, AGX_INVALID_ARGUMENT,
                      "nothing was loaded into sampler state %u", index);
      return NULL;
   }
   return unpack_sampler(access, states->sampler[index], states->sampler_bytes);
}

/* ---- Loads and samples ---------------------------------------------------- */

static bool is_array(unsigned dim)
{
   return dim == AGX_ISA_DIM_1D_ARRAY || dim == AGX_ISA_DIM_2D_ARRAY ||
          dim == AGX_ISA_DIM_CUBE_ARRAY || dim == AGX_ISA_DIM_2D_MS_ARRAY;
}

static unsigned axes_of(unsigned dim)
{
   static const uint8_t axes[] = {1, 1, 2, 2, 2, 3, 3, 3, 2};
   return axes[dim];
}

static double to_real(const struct agxs_source *source, uint32_t bits)
{
   return agxs_register_to_real(bits, source->bits == 16 ? 16 : 32);
}

/* A half that may come from a uniform, whose pool row counts as 32 bits. */
static double lane_half(const struct access *access, const struct agxs_source *source)
{
   return agxs_register_to_real(lane_value(access, source, 0) & 0xffff, 16);
}

/* Layer and sample follow the coordinates, in low halves. */
static void read_layer(const struct access *access, uint32_t *out_layer, uint32_t *out_sample)
{
   const struct agxs_image_op *op = access->op;
   unsigned next = axes_of(op->dim);
   *out_layer = *out_sample = 0;
   if (op->dim == AGX_ISA_DIM_2D_MS || op->dim == AGX_ISA_DIM_2D_MS_ARRAY) {
      uint32_t word = lane_value(access, &op->coord, next);
      *out_sample = word & 0xffff;
      if (op->dim == AGX_ISA_DIM_2D_MS_ARRAY)
         *out_layer = op->coord.bits == 16 ? lane_value(access, &op->coord, next + 1) : word >> 16;
   } else if (is_array(op->dim)) {
      *out_layer = lane_value(access, &op->coord, next) & 0xffff;
   }
}

static void read_offset(const struct access *access, int out[3])
{
   uint32_t packed =
      access->op->has_offset ? lane_value(access, &access->op->offset, 0) & 0xffff : 0;
   for (unsigned axis = 0; axis < 3; axis++)
      out[axis] = (int)(((packed >> 4 * axis & 15) ^ 8) - 8);
}

/* How a coordinate changes to the neighbour in its quad, along x (1) or y (2). */
static double quad_derivative(const struct access *access, unsigned axis, unsigned bit)
{
   const struct agxs_source *coord = &access->op->coord;
   uint32_t far = agxs_get_lane(access->group, coord, axis, access->lane | bit);
   uint32_t near = agxs_get_lane(access->group, coord, axis, access->lane & ~bit);
   return to_real(coord, far) - to_real(coord, near);
}

static bool has_gradients(unsigned mode)
{
   return mode == AGX_ISA_LOD_MODE_LOD_GRAD || mode == AGX_ISA_LOD_MODE_LOD_GRAD_MIN;
}

static void read_derivatives(const struct access *access, struct agxs_position *position)
{
   const struct agxs_image_op *op = access->op;
   for (unsigned axis = 0; axis < axes_of(op->dim); axis++) {
      if (has_gradients(op->lod_mode)) {
         position->dx[axis] = agxs_register_to_real(lane_value(access, &op->lod, 2 * axis), 32);
         position->dy[axis] = agxs_register_to_real(lane_value(access, &op->lod, 2 * axis + 1), 32);
      } else {
         position->dx[axis] = quad_derivative(access, axis, 1);
         position->dy[axis] = quad_derivative(access, axis, 2);
      }
   }
}

/* The level of detail before the sampler clamps it. */
static double find_lod(const struct access *access, const struct agxs_lookup *lookup,
                       struct agxs_position *position, unsigned *probes, double step[3])
{
   const struct agxs_image_op *op = access->op;
   double lod = 0.0;
   *probes = 1;
   switch (op->lod_mode) {
   case AGX_ISA_LOD_MODE_LOD_MIN:
   case AGX_ISA_LOD_MODE_LOD_MIN_U:
      return lane_half(access, &op->lod);
   case AGX_ISA_LOD_MODE_AUTO_LOD:
   case AGX_ISA_LOD_MODE_LOD_GRAD:
   case AGX_ISA_LOD_MODE_LOD_GRAD_MIN:
      break;
   default:
      lod = lane_half(access, &op->lod); /* a bias */
      break;
   }
   read_derivatives(access, position);
   lod += agxs_sample_lod(lookup, position, probes, step);
   bool has_minimum = op->lod_mode == AGX_ISA_LOD_MODE_LOD_GRAD_MIN ||
                      op->lod_mode == AGX_ISA_LOD_MODE_AUTO_LOD_BIAS_MIN ||
                      op->lod_mode == AGX_ISA_LOD_MODE_AUTO_LOD_BIAS_MIN_U;
   if (has_minimum)
      lod = fmax(lod, lane_half(access, &op->minimum));
   return lod;
}

static void query_lod(const struct agxs_lookup *lookup, double lod, struct agxs_result *out)
{
   double last = lookup->texture->level_count - 1;
   double clamped = agxs_sample_clamp(lookup, lod);
   *out = (struct agxs_result){.texel.real = {fmin(fmax(clamped, 0.0), last), lod}};
}

/* Averages the probes of anisotropic filtering. */
static bool sample_probes(struct agxs_lookup *lookup, const struct agxs_position *position,
                          double lod, unsigned probes, const double step[3],
                          struct agxs_result *out)
{
   struct agxs_texel sum = {0};
   if (probes <= 1)
      return agxs_sample(lookup, position, lod, out);
   for (unsigned i = 0; i < probes; i++) {
      struct agxs_position probe = *position;
      for (unsigned axis = 0; axis < 3; axis++)
         probe.at[axis] += step[axis] * (i + 0.5 - probes * 0.5);
      if (!agxs_sample(lookup, &probe, lod, out))
         return false;
      for (unsigned c = 0; c < 4; c++)
         sum.real[c] += out->texel.real[c] / probes;
   }
   if (!lookup->texture->format.is_int)
      *out = (struct agxs_result){.texel = sum};
   return true;
}

static bool sample_lane(const struct access *access, struct agxs_lookup *lookup,
                        struct agxs_result *out)
{
   const struct agxs_image_op *op = access->op;
   struct agxs_position position = {0};
   uint32_t sample;
   unsigned probes;
   double step[3] = {0};
   for (unsigned axis = 0; axis < axes_of(op->dim); axis++)
      position.at[axis] = to_real(&op->coord, lane_value(access, &op->coord, axis));
   if (!op->query_lod)
      read_layer(access, &position.layer, &sample);
   if (op->gather)
      return agxs_sample_gather(lookup, &position, op->gather - 1u, out);
   double lod = find_lod(access, lookup, &position, &probes, step);
   if (op->query_lod) {
      query_lod(lookup, lod, out);
      return true;
   }
   return sample_probes(lookup, &position, agxs_sample_clamp(lookup, lod), probes, step, out);
}

/* x, y, z as signed numbers of the register's size. */
static void read_texel_position(const struct access *access, struct agxs_texel_position *position)
{
   const struct agxs_image_op *op = access->op;
   *position = (struct agxs_texel_position){0};
   for (unsigned axis = 0; axis < axes_of(op->dim); axis++) {
      uint32_t value = lane_value(access, &op->coord, axis);
      position->at[axis] = op->coord.bits == 16 ? (int16_t)value : (int32_t)value;
   }
   read_layer(access, &position->layer, &position->sample);
   if (op->dim == AGX_ISA_DIM_CUBE || op->dim == AGX_ISA_DIM_CUBE_ARRAY) {
      position->layer = position->layer * 6 + (uint32_t)position->at[2];
      position->at[2] = 0;
   }
}

static bool fetch_lane(const struct access *access, struct agxs_lookup *lookup,
                       struct agxs_result *out)
{
   const struct agxs_image_op *op = access->op;
   struct agxs_texel_position position;
   bool clamped;
   read_texel_position(access, &position);
   if (op->lod_mode != AGX_ISA_LOD_MODE_AUTO_LOD)
      position.level = lane_value(access, &op->lod, 0) & 0xffff;
   if (!agxs_sample_fetch(lookup, &position, out, &clamped))
      return false;
   if (!clamped || !access->group->worker->dispatch->options->check)
      return true;
   lookup->error = (struct agxs_image_error){AGX_FAILED_PRECONDITION, (uint64_t)position.level,
                                             "check: a level or layer outside of the view is "
                                             "clamped, not dropped; level"};
   return false;
}

static uint32_t to_register(const struct agxs_texel_format *format,
                            const struct agxs_result *result, unsigned channel, unsigned bits)
{
   bool is_single = format->type == AGX_HW_TEXTURE_TYPE_FLOAT && bits == 32;
   if (format->is_int || (result->is_exact && is_single))
      return result->texel.bits[channel];
   return agxs_real_to_register(result->texel.real[channel], bits);
}

/* Four registers change whatever the mask says; what it leaves out is undefined. */
static void put_result(const struct access *access, const struct agxs_texel_format *format,
                       const struct agxs_result *result)
{
   const struct agxs_image_op *op = access->op;
   const struct agxs_dest *dst = &access->uop->dst;
   unsigned slot = 0;
   for (unsigned c = 0; c < 4; c++) {
      uint32_t value = op->query_lod ? agxs_real_to_register(result->texel.real[c], dst->bits)
                                     : to_register(format, result, c, dst->bits);
      if (op->mask >> c & 1)
         agxs_put_lane(access->group, dst, slot++, access->lane, value);
   }
   /* Resident: bit 0 clear [U]. */
   if (op->is_sparse)
      agxs_put_lane(access->group, dst, slot++, access->lane, 0);
   while (slot < (op->is_sparse ? 8 : 4))
      agxs_put_lane(access->group, dst, slot++, access->lane, AGXS_POISON);
}

bool agxs_image_sample(struct agxs_group *group, const struct agxs_uop *uop)
{
   struct access access;
   struct agxs_result result[AGXS_LANES];
   struct agxs_texel_format format[AGXS_LANES]; /* the cache may move on to other textures */
   if (!begin(&access, group, uop))
      return false;
   /* All results before the first is written: they may lie over coordinates and derivatives. */
   AGXS_FOR_LANES (i) {
      struct agxs_lookup lookup = make_lookup(&access);
      if (!group->exec.lane[i])
         continue;
      access.lane = i;
      lookup.texture = find_texture(&access, false);
      lookup.sampler = lookup.texture ? find_sampler(&access) : NULL;
      if (!lookup.sampler)
         return false;
      read_offset(&access, lookup.offset);
      lookup.has_reference = access.op->has_shadow && lookup.sampler->state.compare_enable;
      if (access.op->has_shadow)
         lookup.reference =
            agxs_register_to_real(lane_value(&access, &access.op->reference, 0), 32);
      bool done = access.op->is_float ? sample_lane(&access, &lookup, &result[i])
                                      : fetch_lane(&access, &lookup, &result[i]);
      if (!done)
         return fail(&access, &lookup.error);
      format[i] = lookup.texture->format;
   }
   AGXS_FOR_LANES (i) {
      access.lane = i;
      if (group->exec.lane[i])
         put_result(&access, &format[i], &result[i]);
   }
   return true;
}

/* ---- Stores ---------------------------------------------------------------- */

static void read_level(const struct access *access, struct agxs_texel_position *position)
{
   position->level = lane_value(access, &access->op->lod, 0) & 0xffff;
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
   struct access access;
   if (!begin(&access, group, uop))
      return false;
   AGXS_FOR_LANES (i) {
      struct agxs_lookup lookup = make_lookup(&access);
      struct agxs_texel_position position;
      struct agxs_texel texel;
      if (!group->exec.lane[i])
         continue;
      access.lane = i;
      lookup.texture = find_texture(&access, true);
      if (!lookup.texture)
         return false;
      read_texel_position(&access, &position);
      read_level(&access, &position);
      const struct agxs_source *data = &access.op->data;
      for (unsigned c = 0; c < 4; c++)
         set_channel(&lookup.texture->format, c, lane_value(&access, data, c), data->bits, &texel);
      lookup.undefined = agxs_shadow_channels(group, data, i);
      if (agxs_sample_store(&lookup, &position, &texel, access.op->toward_zero))
         continue;
      return lookup.error.status == AGX_FAILED_PRECONDITION
                ? agxs_shadow_report_channel(group, uop, lookup.undefined, i)
                : fail(&access, &lookup.error);
   }
   return true;
}

/* ---- Tile memory ------------------------------------------------------------ */

/* A pixel's bytes from the operation's offset on, *out_size of them, or NULL after failing.
 * Pixels lie in rows, the declared sample stride apart. Mesa's copies store four channels
 * whatever the image has, so what lies beyond the stride is dropped. [U] */
static uint8_t *find_pixel(const struct access *access, uint32_t start, uint32_t x, uint32_t y,
                           uint32_t *out_size)
{
   const struct agxs_dispatch *dispatch = access->group->worker->dispatch;
   uint32_t stride = dispatch->tile_stride_B;
   uint64_t at = start + (uint64_t)(y * AGXS_TILE_SIDE + x) * stride;
   if (x < AGXS_TILE_SIDE && y < AGXS_TILE_SIDE && access->op->heap_offset < stride &&
       agx_range_fits(at, stride, dispatch->shared_bytes)) {
      *out_size = stride - access->op->heap_offset;
      return access->group->worker->shared + at + access->op->heap_offset;
   }
   agxs_group_fail(access->group, access->uop, AGX_DATA_LOSS,
                   "lane %u: pixel %u,%u of %u bytes, from byte %u on, lies outside of the %u "
                   "bytes of tile memory",
                   access->lane, x, y, stride, access->op->heap_offset, dispatch->shared_bytes);
   return NULL;
}

/* Channels between a pixel's bytes and registers; packed formats are one word. */
static void load_pixel(const struct access *access, const uint8_t *at, uint32_t size)
{
   const struct agxs_format *format = &agxs_formats[access->op->format];
   const struct agxs_dest *dst = &access->uop->dst;
   unsigned slot = 0;
   for (unsigned c = 0; c < (format->channels ? format->channels : 4u); c++) {
      if (!format->channels && !(access->op->mask >> c & 1))
         continue;
      uint32_t from = format->channels ? 0 : c * format->bytes;
      uint32_t value = AGXS_POISON;
      bool is_there = agx_range_fits(from, format->bytes, size);
      agxs_shadow_tile_load(access->group, dst, slot, access->lane, is_there ? at + from : NULL,
                            format->bytes, format->is_raw);
      if (is_there)
         value = agxs_format_load(access->op->format, c, at + from, dst->bits);
      agxs_put_lane(access->group, dst, slot++, access->lane, value);
   }
}

static void store_pixel(const struct access *access, uint8_t *at, uint32_t size)
{
   const struct agxs_format *format = &agxs_formats[access->op->format];
   const struct agxs_source *data = &access->op->data;
   uint32_t packed[4] = {0};
   unsigned slot = 0;
   for (unsigned c = 0; c < (format->channels ? format->channels : 4u); c++) {
      if (!format->channels && !(access->op->mask >> c & 1))
         continue;
      uint32_t from = format->channels ? 0 : c * format->bytes;
      if (agx_range_fits(from, format->bytes, size))
         agxs_shadow_tile_store(access->group, data, slot, access->lane, at + from, format->bytes,
                                format->is_raw, format->channels && c);
      uint32_t value = lane_value(access, data, slot++);
      packed[c] = data->bits == 16 ? agxs_half_to_single(value) : agxs_flush(value);
      if (!format->channels && agx_range_fits(c * format->bytes, format->bytes, size))
         agxs_format_store(access->op->format, c, at + c * format->bytes, value, data->bits);
   }
   if (format->channels && format->bytes <= size)
      agxs_format_store_packed(access->op->format, at, packed);
}

bool agxs_image_tile(struct agxs_group *group, const struct agxs_uop *uop, bool is_store)
{
   struct access access = {group, uop, uop->image};
   AGXS_FOR_LANES (i) {
      if (!group->exec.lane[i])
         continue;
      access.lane = i;
      uint32_t x = lane_value(&access, &access.op->coord, 0) & 0xffff;
      uint32_t y = lane_value(&access, &access.op->coord, 1) & 0xffff;
      uint32_t size;
      uint8_t *at = find_pixel(&access, 0, x, y, &size);
      if (!at)
         return false;
      if (is_store)
         store_pixel(&access, at, size);
      else
         load_pixel(&access, at, size);
   }
   return true;
}

/* A pixel of tile memory as the image's texel. */
static void read_pixel(const struct access *access, const struct agxs_texel_format *target,
                       const uint8_t *at, struct agxs_texel *texel)
{
   unsigned number = access->op->format;
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
static uint32_t undefined_channels(const struct access *access,
                                   const struct agxs_texel_format *target, const uint8_t *at)
{
   const struct agxs_format *format = &agxs_formats[access->op->format];
   uint32_t channels = 0;
   if (format->channels)
      return agxs_shadow_is_undefined(access->group, at, format->bytes) ? 15 : 0;
   for (unsigned c = 0; c < target->count; c++) {
      bool is_undefined =
         agxs_shadow_is_undefined(access->group, at + c * format->bytes, format->bytes);
      channels |= (uint32_t)is_undefined << c;
   }
   return channels;
}

/* Blocks that are wholly written are stored plainly. */
static bool write_tile_metadata(const struct access *access, struct agxs_lookup *lookup,
                                const struct agxs_texel_position *corner)
{
   for (uint32_t i = 0; i < AGXS_TILE_SIDE * AGXS_TILE_SIDE; i += AGX_LAYOUT_META_TILE) {
      struct agxs_texel_position position = *corner;
      position.at[0] += i % AGXS_TILE_SIDE;
      position.at[1] += i / AGXS_TILE_SIDE;
      if (position.at[0] % AGX_LAYOUT_META_TILE || position.at[1] % AGX_LAYOUT_META_TILE)
         continue;
      if (!agxs_sample_set_plain(lookup, &position))
         return fail(access, &lookup->error);
   }
   return true;
}

static bool write_tile(const struct access *access, struct agxs_lookup *lookup,
                       const struct agxs_texel_position *corner, uint32_t start)
{
   const struct agxs_texel_format *target = &lookup->texture->format;
   const struct agxs_format *format = &agxs_formats[access->op->format];
   unsigned needed = format->channels ? format->bytes : format->bytes * target->count;
   if (!write_tile_metadata(access, lookup, corner))
      return false;
   for (uint32_t i = 0; i < AGXS_TILE_SIDE * AGXS_TILE_SIDE; i++) {
      struct agxs_texel_position position = *corner;
      struct agxs_texel texel;
      uint32_t x = i % AGXS_TILE_SIDE, y = i / AGXS_TILE_SIDE, size;
      position.at[0] += x;
      position.at[1] += y;
      const uint8_t *at = find_pixel(access, start, x, y, &size);
      if (!at)
         return false;
      if (needed > size) {
         agxs_group_fail(access->group, access->uop, AGX_INVALID_ARGUMENT,
                         "a texel takes %u bytes, a pixel of tile memory has %u", needed, size);
         return false;
      }
      read_pixel(access, target, at, &texel);
      lookup->undefined = undefined_channels(access, target, at);
      if (!agxs_sample_store(lookup, &position, &texel, access->op->toward_zero))
         return fail(access, &lookup->error);
   }
   return true;
}

bool agxs_image_write_block(struct agxs_group *group, const struct agxs_uop *uop)
{
   struct access access;
   if (!begin(&access, group, uop))
      return false;
   AGXS_FOR_LANES (i) {
      struct agxs_lookup lookup = make_lookup(&access);
      struct agxs_texel_position position;
      if (!group->exec.lane[i])
         continue;
      access.lane = i;
      lookup.texture = find_texture(&access, true);
      if (!lookup.texture)
         return false;
      read_texel_position(&access, &position);
      read_level(&access, &position);
      uint32_t start = lane_value(&access, &access.op->data, 0) & 0xffff;
      if (!write_tile(&access, &lookup, &position, start))
         return false;
   }
   return true;
}

/* ---- State registers --------------------------------------------------------- */

bool agxs_image_load_state(struct agxs_group *group, const struct agxs_uop *uop, bool is_sampler)
{
   struct agxs_states *states = group->worker->dispatch->states;
   struct access access = {group, uop, uop->image};
   uint32_t index = access.op->texture_state;
   uint64_t bad_va;
   if (!group->active)
      return true;
   if (index >= (is_sampler ? AGXS_SAMPLER_STATES : AGXS_TEXTURE_STATES)) {
      agxs_group_fail(group, uop, AGX_INVALID_ARGUMENT, "there is no such state register");
      return false;
   }
   access.lane = (unsigned)__builtin_ctz(group->active);
   uint64_t va = lane_address(&access, &access.op->heap);
   va += access.op->has_texture_register ? lane_value(&access, &access.op->texture, 0)
                                         : access.op->heap_offset;
   uint8_t *to = is_sampler ? states->sampler[index] : states->texture[index];
   if (!agxs_tlb_copy_out(&group->worker->tlb, va, to,
                          is_sampler ? states->sampler_bytes : AGXS_TEXTURE_BYTES, &bad_va))
      return fail(&access,
                  &(struct agxs_image_error){AGX_DATA_LOSS, bad_va, "descriptor is not mapped"});
   *(is_sampler ? &states->has_sampler[index] : &states->has_texture[index]) = true;
   return true;
}
