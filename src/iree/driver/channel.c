/* SPDX-License-Identifier: MIT
 *
 * Channels: a communicator, and the order of its collectives.
 */
#include <pthread.h>
#include <string.h>

#include "collective.h"

static const iree_hal_channel_vtable_t vtable;

/* Two submissions that use several channels get their tickets in the same order for each. */
static pthread_mutex_t tickets_mutex = PTHREAD_MUTEX_INITIALIZER;

static struct agx_iree_channel *cast(const iree_hal_channel_t *base)
{
   return (struct agx_iree_channel *)base;
}

struct agx_iree_channel *agx_iree_channel_of(const struct agx_iree_device *device,
                                             iree_hal_channel_t *base)
{
   if (!iree_hal_resource_is(base, &vtable))
      return NULL;
   return cast(base)->device == device ? cast(base) : NULL;
}

/* Takes mpi over. */
static iree_status_t wrap(struct agx_iree_device *device, struct agx_iree_mpi *mpi,
                          iree_hal_channel_t **out_channel)
{
   struct agx_iree_channel *channel = NULL;
   iree_hal_semaphore_t *order = NULL;
   iree_status_t status = agx_iree_semaphore_create(device, 0, &order);
   if (iree_status_is_ok(status))
      status = iree_allocator_malloc(device->host_allocator, sizeof(*channel), (void **)&channel);
   if (!iree_status_is_ok(status)) {
      iree_hal_semaphore_release(order);
      agx_iree_mpi_free(mpi);
      return status;
   }
   *channel = (struct agx_iree_channel){.device = device, .mpi = mpi, .order = order};
   iree_hal_resource_initialize(&vtable, &channel->resource);
   iree_hal_device_retain((iree_hal_device_t *)device);
   *out_channel = (iree_hal_channel_t *)channel;
   return iree_ok_status();
}

static iree_status_t check_params(const struct agx_iree_mpi *mpi,
                                  const iree_hal_channel_params_t *params)
{
   const int32_t rank = agx_iree_mpi_rank(mpi), count = agx_iree_mpi_count(mpi);
   if ((params->rank != IREE_HAL_CHANNEL_RANK_DEFAULT && params->rank != rank) ||
       (params->count != IREE_HAL_CHANNEL_COUNT_DEFAULT && params->count != count))
      return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                              "channel: rank %d of %d; MPI says %d of %d, and decides",
                              params->rank, params->count, rank, count);
   return iree_ok_status();
}

iree_status_t agx_iree_channel_create(struct agx_iree_device *device,
                                      iree_hal_channel_params_t params,
                                      iree_hal_channel_t **out_channel)
{
   struct agx_iree_mpi *mpi = NULL;
   *out_channel = NULL;
   if (!iree_const_byte_span_is_empty(params.id))
      return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                              "channel: an identifier of %" PRIhsz " bytes; MPI needs none",
                              params.id.data_length);
   IREE_RETURN_IF_ERROR(agx_iree_mpi_create(&mpi));
   iree_status_t status = check_params(mpi, &params);
   if (iree_status_is_ok(status))
      return wrap(device, mpi, out_channel);
   agx_iree_mpi_free(mpi);
   return status;
}

static void channel_destroy(iree_hal_channel_t *base)
{
   struct agx_iree_channel *channel = cast(base);
   struct agx_iree_device *device = channel->device;
   agx_iree_mpi_free(channel->mpi);
   iree_hal_semaphore_release(channel->order);
   iree_allocator_free(device->host_allocator, channel);
   iree_hal_device_release((iree_hal_device_t *)device);
}

static iree_status_t channel_split(iree_hal_channel_t *base, int32_t color, int32_t key,
                                   iree_hal_channel_flags_t flags, iree_hal_channel_t **out_channel)
{
   struct agx_iree_mpi *mpi = NULL;
   *out_channel = NULL;
   IREE_RETURN_IF_ERROR(agx_iree_mpi_split(cast(base)->mpi, color, key, &mpi));
   return mpi ? wrap(cast(base)->device, mpi, out_channel) : iree_ok_status();
}

static void channel_rank_and_count(const iree_hal_channel_t *base, int32_t *out_rank,
                                   int32_t *out_count)
{
   *out_rank = agx_iree_mpi_rank(cast(base)->mpi);
   *out_count = agx_iree_mpi_count(cast(base)->mpi);
}

static const iree_hal_channel_vtable_t vtable = {
   .destroy = channel_destroy,
   .split = channel_split,
   .query_rank_and_count = channel_rank_and_count,
};

/* ---- order ------------------------------------------------------------------- */

void agx_iree_tickets_take(struct agx_iree_ticket *tickets, uint32_t count)
{
   pthread_mutex_lock(&tickets_mutex);
   for (uint32_t i = 0; i < count; i++) {
      iree_hal_channel_retain((iree_hal_channel_t *)tickets[i].channel);
      tickets[i].value = tickets[i].channel->next_ticket++;
   }
   pthread_mutex_unlock(&tickets_mutex);
}

void agx_iree_ticket_pass(const struct agx_iree_ticket *ticket)
{
   iree_status_t status =
      iree_hal_semaphore_signal(ticket->channel->order, ticket->value + 1, NULL);
   if (!iree_status_is_ok(status))
      iree_hal_semaphore_fail(ticket->channel->order, status);
}

void agx_iree_ticket_fail(const struct agx_iree_ticket *ticket, iree_status_t status)
{
   iree_hal_semaphore_fail(ticket->channel->order, iree_status_clone(status));
}
