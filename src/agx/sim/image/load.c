/* SPDX-License-Identifier: MIT
 *
 * Executes texture instructions for a SIMD-group, lane by lane: texel fetches, samples with their
 * levels, and queries of levels. The executors of exec/ call it through image.h's functions.
 */
#include <math.h>

#include "agx/sim/machine/format.h"
#include "agx/sim/image/image.h"
#include "agx/sim/machine/lanes.h"
#include "base/util.h"

static double to_real(const struct agxs_source *source, uint32_t bits)
{
   return agxs_register_to_real(bits, source->bits == 16 ? 16 : 32);
}

/* A half that may come from a uniform, whose pool row counts as 32 bits. */
static double lane_half(const struct agxs_image_lane *lane, const struct agxs_source *source)
{
   return agxs_register_to_real(agxs_lane_value(lane, source, 0) & 0xffff, 16);
}

static void read_offset(const struct agxs_image_lane *lane, int out[3])
{
   uint32_t packed =
      lane->op->has_offset ? agxs_lane_value(lane, &lane->op->offset, 0) & 0xffff : 0;
   for (unsigned axis = 0; axis < 3; axis++)
      out[axis] = (int)(((packed >> 4 * axis & 15) ^ 8) - 8);
}

/* How a coordinate changes to the neighbour in its quad, along x (1) or y (2). */
static double quad_derivative(const struct agxs_image_lane *lane, unsigned axis, unsigned bit)
{
   const struct agxs_source *coord = &lane->op->coord;
   uint32_t far = agxs_get_lane(lane->group, coord, axis, lane->index | bit);
   uint32_t near = agxs_get_lane(lane->group, coord, axis, lane->index & ~bit);
   return to_real(coord, far) - to_real(coord, near);
}

static bool has_gradients(unsigned mode)
{
   return mode == AGX_ISA_LOD_MODE_LOD_GRAD || mode == AGX_ISA_LOD_MODE_LOD_GRAD_MIN;
}

static void read_derivatives(const struct agxs_image_lane *lane, struct agxs_position *position)
{
   const struct agxs_image_op *op = lane->op;
   for (unsigned axis = 0; axis < op->coord_axes; axis++) {
      if (has_gradients(op->lod_mode)) {
         position->dx[axis] = agxs_register_to_real(agxs_lane_value(lane, &op->lod, 2 * axis), 32);
         position->dy[axis] =
            agxs_register_to_real(agxs_lane_value(lane, &op->lod, 2 * axis + 1), 32);
      } else {
         position->dx[axis] = quad_derivative(lane, axis, 1);
         position->dy[axis] = quad_derivative(lane, axis, 2);
      }
   }
}

/* The level of detail before the sampler clamps it. */
static double find_lod(const struct agxs_image_lane *lane, const struct agxs_lookup *lookup,
                       struct agxs_position *position, unsigned *probes, double step[3])
{
   const struct agxs_image_op *op = lane->op;
   double lod = 0.0;
   *probes = 1;
   switch (op->lod_mode) {
   case AGX_ISA_LOD_MODE_LOD_MIN:
   case AGX_ISA_LOD_MODE_LOD_MIN_U:
      return lane_half(lane, &op->lod);
   case AGX_ISA_LOD_MODE_AUTO_LOD:
   case AGX_ISA_LOD_MODE_LOD_GRAD:
   case AGX_ISA_LOD_MODE_LOD_GRAD_MIN:
      break;
   default:
      lod = lane_half(lane, &op->lod); /* a bias */
      break;
   }
   read_derivatives(lane, position);
   lod += agxs_sample_lod(lookup, position, probes, step);
   bool has_minimum = op->lod_mode == AGX_ISA_LOD_MODE_LOD_GRAD_MIN ||
                      op->lod_mode == AGX_ISA_LOD_MODE_AUTO_LOD_BIAS_MIN ||
                      op->lod_mode == AGX_ISA_LOD_MODE_AUTO_LOD_BIAS_MIN_U;
   if (has_minimum)
      lod = fmax(lod, lane_half(lane, &op->minimum));
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

static bool sample_lane(const struct agxs_image_lane *lane, struct agxs_lookup *lookup,
                        struct agxs_result *out)
{
   const struct agxs_image_op *op = lane->op;
   struct agxs_position position = {0};
   uint32_t sample;
   unsigned probes;
   double step[3] = {0};
   for (unsigned axis = 0; axis < op->coord_axes; axis++)
      position.at[axis] = to_real(&op->coord, agxs_lane_value(lane, &op->coord, axis));
   if (!op->query_lod)
      agxs_lane_layer(lane, &position.layer, &sample);
   if (op->gather)
      return agxs_sample_gather(lookup, &position, op->gather - 1u, out);
   double lod = find_lod(lane, lookup, &position, &probes, step);
   if (op->query_lod) {
      query_lod(lookup, lod, out);
      return true;
   }
   return sample_probes(lookup, &position, agxs_sample_clamp(lookup, lod), probes, step, out);
}

static bool fetch_lane(const struct agxs_image_lane *lane, struct agxs_lookup *lookup,
                       struct agxs_result *out)
{
   const struct agxs_image_op *op = lane->op;
   struct agxs_texel_position position;
   bool clamped;
   agxs_lane_position(lane, &position);
   if (op->lod_mode != AGX_ISA_LOD_MODE_AUTO_LOD)
      position.level = agxs_lane_value(lane, &op->lod, 0) & 0xffff;
   if (!agxs_sample_fetch(lookup, &position, out, &clamped))
      return false;
   if (!clamped || !lane->group->worker->dispatch->options->check)
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
static void put_result(const struct agxs_image_lane *lane, const struct agxs_texel_format *format,
                       const struct agxs_result *result)
{
   const struct agxs_image_op *op = lane->op;
   const struct agxs_dest *dst = &lane->uop->dst;
   unsigned slot = 0;
   for (unsigned c = 0; c < 4; c++) {
      uint32_t value = op->query_lod ? agxs_real_to_register(result->texel.real[c], dst->bits)
                                     : to_register(format, result, c, dst->bits);
      if (op->mask >> c & 1)
         agxs_put_lane(lane->group, dst, slot++, lane->index, value);
   }
   /* Bit 0 set: not resident. The other bits are 0 here [U]. */
   if (op->is_sparse)
      agxs_put_lane(lane->group, dst, slot++, lane->index, result->is_absent);
   while (slot < (op->is_sparse ? 8 : 4))
      agxs_put_lane(lane->group, dst, slot++, lane->index, AGXS_POISON);
}

bool agxs_image_sample(struct agxs_group *group, const struct agxs_uop *uop)
{
   struct agxs_image_lane lane;
   struct agxs_result result[AGXS_LANES];
   struct agxs_texel_format format[AGXS_LANES]; /* the cache may move on to other textures */
   if (!agxs_lane_begin(&lane, group, uop))
      return false;
   /* All results before the first is written: they may lie over coordinates and derivatives. */
   AGXS_FOR_LANES (i) {
      struct agxs_lookup lookup = agxs_lane_lookup(&lane);
      if (!group->exec.lane[i])
         continue;
      lane.index = i;
      lookup.texture = agxs_lane_texture(&lane, false);
      lookup.sampler = lookup.texture ? agxs_lane_sampler(&lane) : NULL;
      if (!lookup.sampler)
         return false;
      read_offset(&lane, lookup.offset);
      lookup.has_reference = lane.op->has_shadow && lookup.sampler->state.compare_enable;
      if (lane.op->has_shadow)
         lookup.reference =
            agxs_register_to_real(agxs_lane_value(&lane, &lane.op->reference, 0), 32);
      bool done = lane.op->is_float ? sample_lane(&lane, &lookup, &result[i])
                                    : fetch_lane(&lane, &lookup, &result[i]);
      if (!done)
         return agxs_lane_fail(&lane, &lookup.error);
      if (!agxs_lane_note(&lane, &lookup.notes))
         return false;
      format[i] = lookup.texture->format;
      result[i].is_absent = lookup.notes.is_absent;
   }
   AGXS_FOR_LANES (i) {
      lane.index = i;
      if (group->exec.lane[i])
         put_result(&lane, &format[i], &result[i]);
   }
   return true;
}
