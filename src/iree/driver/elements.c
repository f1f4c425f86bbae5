/* SPDX-License-Identifier: MIT
 *
 * The table of elements, and the ways to wider ones and back.
 */
#include "elements.h"

#include "iree/base/internal/math.h"

/* Exact types of the host: elements go through `wide`, and an average divides there. */
#define EXACT(name, type, wide)                                                                    \
   static void widen_##name(const void *from, size_t count, void *to)                              \
   {                                                                                               \
      for (size_t i = 0; i < count; i++)                                                           \
         ((wide *)to)[i] = ((const type *)from)[i];                                                \
   }                                                                                               \
   static void narrow_##name(const void *from, size_t count, int32_t ranks, void *to)              \
   {                                                                                               \
      for (size_t i = 0; i < count; i++)                                                           \
         ((type *)to)[i] = (type)(((const wide *)from)[i] / (wide)ranks);                          \
   }

EXACT(s8, int8_t, int64_t)
EXACT(u8, uint8_t, int64_t)
EXACT(s16, int16_t, int64_t)
EXACT(u16, uint16_t, int64_t)
EXACT(s32, int32_t, int64_t)
EXACT(u32, uint32_t, int64_t)
EXACT(s64, int64_t, int64_t)
EXACT(u64, uint64_t, uint64_t)
EXACT(f32, float, float)
EXACT(f64, double, double)

#define HALF(name)                                                                                 \
   static void widen_##name(const void *from, size_t count, void *to)                              \
   {                                                                                               \
      for (size_t i = 0; i < count; i++)                                                           \
         ((float *)to)[i] = iree_math_##name##_to_f32(((const uint16_t *)from)[i]);                \
   }                                                                                               \
   static void narrow_##name(const void *from, size_t count, int32_t ranks, void *to)              \
   {                                                                                               \
      for (size_t i = 0; i < count; i++)                                                           \
         ((uint16_t *)to)[i] = iree_math_f32_to_##name(((const float *)from)[i] / (float)ranks);   \
   }

HALF(f16)
HALF(bf16)

#define ROW(type, size, wide_type, wide, name, always)                                             \
   {                                                                                               \
      type, size, wide_type, sizeof(wide), widen_##name, narrow_##name, always                     \
   }

static const struct agx_iree_element elements[] = {
   [IREE_HAL_COLLECTIVE_ELEMENT_TYPE_SINT_8] = ROW(MPI_INT8_T, 1, MPI_INT64_T, int64_t, s8, false),
   [IREE_HAL_COLLECTIVE_ELEMENT_TYPE_UINT_8] = ROW(MPI_UINT8_T, 1, MPI_INT64_T, int64_t, u8, false),
   [IREE_HAL_COLLECTIVE_ELEMENT_TYPE_SINT_16] =
      ROW(MPI_INT16_T, 2, MPI_INT64_T, int64_t, s16, false),
   [IREE_HAL_COLLECTIVE_ELEMENT_TYPE_UINT_16] =
      ROW(MPI_UINT16_T, 2, MPI_INT64_T, int64_t, u16, false),
   [IREE_HAL_COLLECTIVE_ELEMENT_TYPE_SINT_32] =
      ROW(MPI_INT32_T, 4, MPI_INT64_T, int64_t, s32, false),
   [IREE_HAL_COLLECTIVE_ELEMENT_TYPE_UINT_32] =
      ROW(MPI_UINT32_T, 4, MPI_INT64_T, int64_t, u32, false),
   [IREE_HAL_COLLECTIVE_ELEMENT_TYPE_SINT_64] =
      ROW(MPI_INT64_T, 8, MPI_INT64_T, int64_t, s64, false),
   [IREE_HAL_COLLECTIVE_ELEMENT_TYPE_UINT_64] =
      ROW(MPI_UINT64_T, 8, MPI_UINT64_T, uint64_t, u64, false),
   [IREE_HAL_COLLECTIVE_ELEMENT_TYPE_FLOAT_16] = ROW(MPI_UINT16_T, 2, MPI_FLOAT, float, f16, true),
   [IREE_HAL_COLLECTIVE_ELEMENT_TYPE_FLOAT_32] = ROW(MPI_FLOAT, 4, MPI_FLOAT, float, f32, false),
   [IREE_HAL_COLLECTIVE_ELEMENT_TYPE_FLOAT_64] = ROW(MPI_DOUBLE, 8, MPI_DOUBLE, double, f64, false),
   [IREE_HAL_COLLECTIVE_ELEMENT_TYPE_BFLOAT_16] =
      ROW(MPI_UINT16_T, 2, MPI_FLOAT, float, bf16, true),
};

const struct agx_iree_element *agx_iree_element(iree_hal_collective_op_t op)
{
   return &elements[op.element_type];
}

bool agx_iree_element_is_widened(iree_hal_collective_op_t op)
{
   return op.reduction == IREE_HAL_COLLECTIVE_REDUCTION_AVERAGE ||
          (op.reduction && agx_iree_element(op)->always_wide);
}

MPI_Op agx_iree_element_reduction(iree_hal_collective_op_t op)
{
   static const MPI_Op reductions[] = {
      [IREE_HAL_COLLECTIVE_REDUCTION_NONE] = MPI_OP_NULL,
      [IREE_HAL_COLLECTIVE_REDUCTION_SUM] = MPI_SUM,
      [IREE_HAL_COLLECTIVE_REDUCTION_PRODUCT] = MPI_PROD,
      [IREE_HAL_COLLECTIVE_REDUCTION_MINIMUM] = MPI_MIN,
      [IREE_HAL_COLLECTIVE_REDUCTION_MAXIMUM] = MPI_MAX,
      [IREE_HAL_COLLECTIVE_REDUCTION_AVERAGE] = MPI_SUM,
   };
   return reductions[op.reduction];
}
