/* SPDX-License-Identifier: MIT
 *
 * Transfers between processes over MPI (transfer_mpi.c), or, in a build without it, their refusal
 * (transfer_none.c). They work on host memory and know nothing of devices; channel.c and
 * collective.c bring them into the order of queues.
 */
#pragma once

#include "iree/base/api.h"
#include "iree/hal/api.h"

struct agx_iree_mpi; /* a communicator, MPI_Comm */

/* A communicator of all processes that the application was started as: each of them must call this,
 * in the same order relative to other such calls, and waits for the others. FAILED_PRECONDITION:
 * MPI has not been initialised, or not for calls from several threads; UNIMPLEMENTED: the driver
 * was built without MPI. */
iree_status_t agx_iree_mpi_create(struct agx_iree_mpi **out_mpi);

/* A communicator of those processes of mpi that give the same color, ordered by key; all of them
 * must call this. A color below 0: *out_mpi is NULL. */
iree_status_t agx_iree_mpi_split(struct agx_iree_mpi *mpi, int32_t color, int32_t key,
                                 struct agx_iree_mpi **out_mpi);

/* Nothing is under way with it; mpi may be NULL. */
void agx_iree_mpi_free(struct agx_iree_mpi *mpi);

/* This process's number among those of mpi, from 0 on, and how many they are. */
int32_t agx_iree_mpi_rank(const struct agx_iree_mpi *mpi);
int32_t agx_iree_mpi_count(const struct agx_iree_mpi *mpi);

/* One process's part in one collective. Memory doesn't overlap, and lives until the end; send_B and
 * recv_B of agx_iree_collective_sizes say how much. */
struct agx_iree_transfer {
   struct agx_iree_mpi *mpi;
   iree_hal_collective_op_t op;
   uint32_t param;
   uint64_t element_count;
   const void *send;
   void *recv;
};

/* How transfers ended; takes status over. */
typedef void (*agx_iree_transferred_fn)(void *user, iree_status_t status);

/* Starts transfers, which are copied, in their order, and returns at once. done is called once,
 * when all of them are over, from a thread of this file's, possibly before this returns; it must
 * not block. When this fails nothing has begun, and done isn't called. */
iree_status_t agx_iree_mpi_start(const struct agx_iree_transfer *transfers, uint32_t count,
                                 agx_iree_transferred_fn done, void *user);
