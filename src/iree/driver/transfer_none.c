/* SPDX-License-Identifier: MIT
 *
 * A build without MPI. There are no communicators, so nothing else is ever called.
 */
#include "transfer.h"

iree_status_t agx_iree_mpi_create(struct agx_iree_mpi **out_mpi)
{
   *out_mpi = NULL;
   return iree_make_status(
      IREE_STATUS_UNIMPLEMENTED,
      "channel: this driver was built without MPI; install it (Debian: "
      "libopenmpi-dev) and configure with -DAGX_MPI=ON, or meson's -Dmpi=enabled");
}

iree_status_t agx_iree_mpi_split(struct agx_iree_mpi *mpi, int32_t color, int32_t key,
                                 struct agx_iree_mpi **out_mpi)
{
   return agx_iree_mpi_create(out_mpi);
}

void agx_iree_mpi_free(struct agx_iree_mpi *mpi) {}

int32_t agx_iree_mpi_rank(const struct agx_iree_mpi *mpi)
{
   return 0;
}

int32_t agx_iree_mpi_count(const struct agx_iree_mpi *mpi)
{
   return 1;
}

iree_status_t agx_iree_mpi_start(const struct agx_iree_transfer *transfers, uint32_t count,
                                 agx_iree_transferred_fn done, void *user)
{
   struct agx_iree_mpi *none = NULL;
   return agx_iree_mpi_create(&none);
}
