/* SPDX-License-Identifier: MIT
 *
 * Elements of collectives in the words of MPI, which knows neither floats of 16 bits nor averages.
 * Such reductions are sums, or whatever they are, of wider elements: floats of 16 bits become
 * floats of 32, so that a result is rounded once; integers of an average become 64 bits wide, so
 * that their sum doesn't overflow.
 */
#pragma once

#include <mpi.h>

#include "iree/hal/api.h"

struct agx_iree_element {
   MPI_Datatype type; /* of copies, and of reductions where widen is NULL */
   uint32_t size_B;
   MPI_Datatype wide_type;
   uint32_t wide_B;
   void (*widen)(const void *from, size_t count, void *to);
   /* Divides by ranks on the way back. */
   void (*narrow)(const void *from, size_t count, int32_t ranks, void *to);
   bool always_wide; /* MPI can't reduce type */
};

/* What iree_hal_collective_element_type_t says; op has been checked. */
const struct agx_iree_element *agx_iree_element(iree_hal_collective_op_t op);

/* Whether op is a reduction of wider elements. */
bool agx_iree_element_is_widened(iree_hal_collective_op_t op);

/* Of an average, the sum. */
MPI_Op agx_iree_element_reduction(iree_hal_collective_op_t op);
