/* SPDX-License-Identifier: MIT
 *
 * Transfers over MPI. Each is begun by a call of MPI that doesn't block, since who begins it is a
 * thread of the library that others need, and since the process may owe its peers another transfer
 * before this one can end. MPI tells nobody when a transfer has ended, so one thread of the process
 * asks for all that are under way; it goes with the last communicator.
 */
#include "transfer.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "elements.h"

struct agx_iree_mpi {
   MPI_Comm comm;
   int rank, count;
};

static iree_status_t status_of(int error, const char *call)
{
   if (error == MPI_SUCCESS)
      return iree_ok_status();
   char text[MPI_MAX_ERROR_STRING];
   int length = 0;
   MPI_Error_string(error, text, &length);
   return iree_make_status(IREE_STATUS_INTERNAL, "%s: %.*s", call, length, text);
}

/* ---- transfers that are under way -------------------------------------------- */

/* A transfer, and the memory that it takes where its elements are widened. */
struct step {
   struct agx_iree_transfer transfer;
   void *wide_send, *wide_recv;
};

/* Transfers that were started together. */
struct flight {
   struct flight *next;
   agx_iree_transferred_fn done;
   void *user;
   iree_status_t status; /* of a call that began one of them */
   uint32_t step_count;
   int request_count;
   MPI_Request *requests; /* up to two for each step */
   struct step steps[];
};

static struct {
   pthread_mutex_t mutex;
   pthread_cond_t changed;
   uint32_t communicators;
   bool has_thread;
   struct flight *started; /* which the thread hasn't taken yet, the last one first */
} state = {.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void flight_free(struct flight *flight)
{
   for (uint32_t i = 0; i < flight->step_count; i++) {
      free(flight->steps[i].wide_send);
      free(flight->steps[i].wide_recv);
   }
   free(flight->requests);
   free(flight);
}

static void narrow(const struct step *step)
{
   const struct agx_iree_transfer *transfer = &step->transfer;
   const bool is_average = transfer->op.reduction == IREE_HAL_COLLECTIVE_REDUCTION_AVERAGE;
   if (step->wide_recv)
      agx_iree_element(transfer->op)
         ->narrow(step->wide_recv, transfer->element_count, is_average ? transfer->mpi->count : 1,
                  transfer->recv);
}

/* Whether all of a flight has ended, which is gone then. */
static bool try_end(struct flight *flight)
{
   int is_over = 0;
   const int error =
      MPI_Testall(flight->request_count, flight->requests, &is_over, MPI_STATUSES_IGNORE);
   if (error == MPI_SUCCESS && !is_over)
      return false;
   iree_status_t status = iree_status_join(flight->status, status_of(error, "MPI_Testall"));
   for (uint32_t i = 0; i < flight->step_count && iree_status_is_ok(status); i++)
      narrow(&flight->steps[i]);
   const agx_iree_transferred_fn done = flight->done;
   void *user = flight->user;
   flight_free(flight);
   done(user, status);
   return true;
}

static bool end_some(struct flight **list)
{
   bool has_ended = false;
   for (struct flight **at = list; *at;) {
      struct flight *flight = *at, *next = flight->next;
      if (try_end(flight)) {
         *at = next;
         has_ended = true;
      } else {
         at = &flight->next;
      }
   }
   return has_ended;
}

static void append(struct flight **list, struct flight *reversed)
{
   while (*list)
      list = &(*list)->next;
   while (reversed) {
      struct flight *flight = reversed;
      reversed = flight->next;
      flight->next = *list;
      *list = flight;
   }
}

#define MIN_PAUSE_NS 1000
#define MAX_PAUSE_NS 200000

/* The longer nothing ends, the more seldom it asks. */
static void *ask(void *unused)
{
   struct flight *flights = NULL;
   long pause_ns = MIN_PAUSE_NS;
   pthread_mutex_lock(&state.mutex);
   while (true) {
      while (!flights && !state.started && state.communicators)
         pthread_cond_wait(&state.changed, &state.mutex);
      if (!flights && !state.started)
         break;
      append(&flights, state.started);
      state.started = NULL;
      pthread_mutex_unlock(&state.mutex);
      if (end_some(&flights)) {
         pause_ns = MIN_PAUSE_NS;
      } else {
         nanosleep(&(struct timespec){.tv_nsec = pause_ns}, NULL);
         pause_ns = pause_ns * 2 < MAX_PAUSE_NS ? pause_ns * 2 : MAX_PAUSE_NS;
      }
      pthread_mutex_lock(&state.mutex);
   }
   state.has_thread = false;
   pthread_mutex_unlock(&state.mutex);
   return NULL;
}

static iree_status_t start_thread(void)
{
   pthread_t thread;
   if (state.has_thread)
      return iree_ok_status();
   const int error = pthread_create(&thread, NULL, ask, NULL);
   if (error)
      return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED, "channel: a thread: %s",
                              strerror(error));
   pthread_detach(thread);
   state.has_thread = true;
   return iree_ok_status();
}

/* ---- communicators ----------------------------------------------------------- */

static iree_status_t check_mpi(void)
{
   int is_on = 0, is_over = 0, level = MPI_THREAD_SINGLE;
   MPI_Initialized(&is_on);
   MPI_Finalized(&is_over);
   if (!is_on || is_over)
      return iree_make_status(IREE_STATUS_FAILED_PRECONDITION,
                              "channel: MPI is not initialised; start the processes with mpirun, "
                              "or call MPI_Init_thread(MPI_THREAD_MULTIPLE) before");
   MPI_Query_thread(&level);
   if (level == MPI_THREAD_MULTIPLE)
      return iree_ok_status();
   return iree_make_status(
      IREE_STATUS_FAILED_PRECONDITION,
      "channel: MPI was initialised without MPI_THREAD_MULTIPLE; set "
      "OMPI_MPI_THREAD_LEVEL=3 (Open MPI; `mpirun -x OMPI_MPI_THREAD_LEVEL=3`), "
      "or MPIR_CVAR_DEFAULT_THREAD_LEVEL=MPI_THREAD_MULTIPLE (MPICH)");
}

/* Takes comm over. */
static iree_status_t wrap(MPI_Comm comm, struct agx_iree_mpi **out_mpi)
{
   struct agx_iree_mpi *mpi = calloc(1, sizeof(*mpi));
   if (!mpi) {
      MPI_Comm_free(&comm);
      return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED, "channel: no host memory");
   }
   mpi->comm = comm;
   pthread_mutex_lock(&state.mutex);
   state.communicators++;
   iree_status_t status = start_thread();
   pthread_mutex_unlock(&state.mutex);
   if (iree_status_is_ok(status))
      status =
         status_of(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
   if (iree_status_is_ok(status))
      status = status_of(MPI_Comm_rank(comm, &mpi->rank), "MPI_Comm_rank");
   if (iree_status_is_ok(status))
      status = status_of(MPI_Comm_size(comm, &mpi->count), "MPI_Comm_size");
   if (iree_status_is_ok(status))
      *out_mpi = mpi;
   else
      agx_iree_mpi_free(mpi);
   return status;
}

iree_status_t agx_iree_mpi_create(struct agx_iree_mpi **out_mpi)
{
   MPI_Comm comm;
   *out_mpi = NULL;
   IREE_RETURN_IF_ERROR(check_mpi());
   IREE_RETURN_IF_ERROR(status_of(MPI_Comm_dup(MPI_COMM_WORLD, &comm), "MPI_Comm_dup"));
   return wrap(comm, out_mpi);
}

iree_status_t agx_iree_mpi_split(struct agx_iree_mpi *mpi, int32_t color, int32_t key,
                                 struct agx_iree_mpi **out_mpi)
{
   MPI_Comm comm;
   *out_mpi = NULL;
   IREE_RETURN_IF_ERROR(status_of(
      MPI_Comm_split(mpi->comm, color < 0 ? MPI_UNDEFINED : color, key, &comm), "MPI_Comm_split"));
   return comm == MPI_COMM_NULL ? iree_ok_status() : wrap(comm, out_mpi);
}

/* A program may end MPI before it lets go of its channels; then there is nothing left to free. */
void agx_iree_mpi_free(struct agx_iree_mpi *mpi)
{
   int is_over = 0;
   if (!mpi)
      return;
   MPI_Finalized(&is_over);
   if (!is_over)
      MPI_Comm_free(&mpi->comm);
   free(mpi);
   pthread_mutex_lock(&state.mutex);
   state.communicators--;
   pthread_cond_signal(&state.changed);
   pthread_mutex_unlock(&state.mutex);
}

int32_t agx_iree_mpi_rank(const struct agx_iree_mpi *mpi)
{
   return mpi->rank;
}

int32_t agx_iree_mpi_count(const struct agx_iree_mpi *mpi)
{
   return mpi->count;
}

/* ---- starting ----------------------------------------------------------------- */

static size_t sent_elements(const struct agx_iree_transfer *transfer)
{
   const bool is_scattered = transfer->op.kind == IREE_HAL_COLLECTIVE_KIND_REDUCE_SCATTER;
   return transfer->element_count * (is_scattered ? (size_t)transfer->mpi->count : 1);
}

static iree_status_t widen(struct step *step)
{
   const struct agx_iree_transfer *transfer = &step->transfer;
   if (!agx_iree_element_is_widened(transfer->op))
      return iree_ok_status();
   const struct agx_iree_element *element = agx_iree_element(transfer->op);
   const size_t count = sent_elements(transfer);
   step->wide_send = malloc(count * element->wide_B);
   step->wide_recv =
      calloc(transfer->element_count, element->wide_B); /* a root alone has results */
   if (!step->wide_send || !step->wide_recv)
      return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED, "collective: no host memory");
   element->widen(transfer->send, count, step->wide_send);
   return iree_ok_status();
}

/* Of transfers between two processes, which come in order. */
#define TAG 0

static int send_and_receive(const struct agx_iree_transfer *transfer, MPI_Datatype type, int target,
                            int source, MPI_Request *requests)
{
   const int count = (int)transfer->element_count;
   int error = MPI_SUCCESS;
   if (source >= 0)
      error =
         MPI_Irecv(transfer->recv, count, type, source, TAG, transfer->mpi->comm, &requests[0]);
   if (error == MPI_SUCCESS && target >= 0)
      error =
         MPI_Isend(transfer->send, count, type, target, TAG, transfer->mpi->comm, &requests[1]);
   return error;
}

/* A root sends what it has; the others receive it in its place. */
static int broadcast(const struct agx_iree_transfer *transfer,
                     const struct agx_iree_element *element, MPI_Request *request)
{
   if (transfer->mpi->rank == (int)transfer->param)
      memcpy(transfer->recv, transfer->send, transfer->element_count * element->size_B);
   return MPI_Ibcast(transfer->recv, (int)transfer->element_count, element->type,
                     (int)transfer->param, transfer->mpi->comm, request);
}

static int reduce(const struct step *step, MPI_Request *request)
{
   const struct agx_iree_transfer *transfer = &step->transfer;
   const struct agx_iree_element *element = agx_iree_element(transfer->op);
   const MPI_Datatype type = step->wide_send ? element->wide_type : element->type;
   const void *send = step->wide_send ? step->wide_send : transfer->send;
   void *recv = step->wide_recv ? step->wide_recv : transfer->recv;
   const MPI_Op op = agx_iree_element_reduction(transfer->op);
   const MPI_Comm comm = transfer->mpi->comm;
   const int count = (int)transfer->element_count;
   if (transfer->op.kind == IREE_HAL_COLLECTIVE_KIND_REDUCE)
      return MPI_Ireduce(send, recv, count, type, op, (int)transfer->param, comm, request);
   if (transfer->op.kind == IREE_HAL_COLLECTIVE_KIND_REDUCE_SCATTER)
      return MPI_Ireduce_scatter_block(send, recv, count, type, op, comm, request);
   return MPI_Iallreduce(send, recv, count, type, op, comm, request);
}

/* requests has room for two, which are null. */
static int begin(const struct step *step, MPI_Request *requests)
{
   const struct agx_iree_transfer *transfer = &step->transfer;
   const struct agx_iree_element *element = agx_iree_element(transfer->op);
   const MPI_Comm comm = transfer->mpi->comm;
   const int count = (int)transfer->element_count;
   const int part = count / transfer->mpi->count;
   const int peer = (int)transfer->param;
   switch (transfer->op.kind) {
   case IREE_HAL_COLLECTIVE_KIND_ALL_GATHER:
      return MPI_Iallgather(transfer->send, count, element->type, transfer->recv, count,
                            element->type, comm, requests);
   case IREE_HAL_COLLECTIVE_KIND_ALL_TO_ALL:
      return MPI_Ialltoall(transfer->send, part, element->type, transfer->recv, part, element->type,
                           comm, requests);
   case IREE_HAL_COLLECTIVE_KIND_BROADCAST:
      return broadcast(transfer, element, requests);
   case IREE_HAL_COLLECTIVE_KIND_SEND:
      return send_and_receive(transfer, element->type, peer, -1, requests);
   case IREE_HAL_COLLECTIVE_KIND_RECV:
      return send_and_receive(transfer, element->type, -1, peer, requests);
   case IREE_HAL_COLLECTIVE_KIND_SEND_RECV:
      return send_and_receive(transfer, element->type, (int16_t)(transfer->param & 0xffff),
                              (int16_t)(transfer->param >> 16), requests);
   default:
      return reduce(step, requests);
   }
}

static iree_status_t flight_create(const struct agx_iree_transfer *transfers, uint32_t count,
                                   agx_iree_transferred_fn done, void *user,
                                   struct flight **out_flight)
{
   struct flight *flight = calloc(1, sizeof(*flight) + count * sizeof(*flight->steps));
   MPI_Request *requests = malloc(2 * (size_t)count * sizeof(*requests));
   if (!flight || !requests) {
      free(flight);
      free(requests);
      return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED, "collective: no host memory");
   }
   flight->done = done;
   flight->user = user;
   flight->step_count = count;
   flight->request_count = (int)(2 * count);
   flight->requests = requests;
   iree_status_t status = iree_ok_status();
   for (uint32_t i = 0; i < count; i++) {
      flight->requests[2 * i] = flight->requests[2 * i + 1] = MPI_REQUEST_NULL;
      flight->steps[i].transfer = transfers[i];
      if (iree_status_is_ok(status))
         status = widen(&flight->steps[i]);
   }
   if (iree_status_is_ok(status))
      *out_flight = flight;
   else
      flight_free(flight);
   return status;
}

/* Where one can't be begun, those before it are under way with the memory, so the flight goes on to
 * its end with them. */
iree_status_t agx_iree_mpi_start(const struct agx_iree_transfer *transfers, uint32_t count,
                                 agx_iree_transferred_fn done, void *user)
{
   struct flight *flight = NULL;
   IREE_RETURN_IF_ERROR(flight_create(transfers, count, done, user, &flight));
   for (uint32_t i = 0; i < count && iree_status_is_ok(flight->status); i++)
      flight->status =
         status_of(begin(&flight->steps[i], &flight->requests[2 * i]), "MPI: a collective");
   pthread_mutex_lock(&state.mutex);
   flight->next = state.started;
   state.started = flight;
   pthread_cond_signal(&state.changed);
   pthread_mutex_unlock(&state.mutex);
   return iree_ok_status();
}
