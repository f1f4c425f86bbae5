/* SPDX-License-Identifier: MIT
 *
 * What tests of host calls have in common.
 */
#pragma once

#include "conformance.h"

#include <dirent.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agx/host_call.h"

typedef agx_status function(void *user, const uint64_t args[4], struct agx_host_call *call);

static inline struct agx_op call_op(function *fn, void *user, uint64_t flags)
{
   return (struct agx_op){
      .size = sizeof(struct agx_op),
      .kind = AGX_OP_HOST_CALL,
      .u.host_call = {.fn = fn, .user = user, .args = {11, 22, 33, UINT64_MAX}, .flags = flags}};
}

static inline agx_status submit(struct fixture *f, struct agx_op op, struct agx_point wait,
                                struct agx_point signal)
{
   op.waits = &wait;
   op.wait_count = wait.semaphore != NULL;
   op.signals = &signal;
   op.signal_count = signal.semaphore != NULL;
   return agx_submit(f->device, &op, 1, NULL);
}

static inline void take(sem_t *semaphore)
{
   while (sem_wait(semaphore))
      ;
}

static inline uint64_t value_of(struct agx_semaphore *semaphore)
{
   uint64_t value = 0;
   assert_ok(agx_semaphore_query(semaphore, &value));
   return value;
}

/* What most functions here need. Posted to when it has begun; it may wait to be let on. */
struct record {
   sem_t begun, go;
   struct fixture *f;
   struct agx_semaphore *semaphore;
   struct agx_host_call *_Atomic call;
   agx_status result;
   const char *text;
   _Atomic int calls;
   _Atomic bool is_right; /* several may run at a time */
   bool waits;
};

static inline void record_init(struct record *record, struct fixture *f, agx_status result)
{
   *record = (struct record){.f = f, .semaphore = fixture_semaphore(f), .result = result};
   sem_init(&record->begun, 0, 0);
   sem_init(&record->go, 0, 0);
}

static inline void record_fini(struct record *record)
{
   agx_release(record->semaphore);
}

/* Touches nothing of the record once the test may have gone on. */
static inline agx_status note(void *user, const uint64_t args[4], struct agx_host_call *call)
{
   struct record *record = user;
   agx_status result = record->result;
   bool waits = record->waits;
   sigset_t mask;
   pthread_sigmask(SIG_SETMASK, NULL, &mask);
   record->is_right = args[0] == 11 && args[1] == 22 && args[2] == 33 && args[3] == UINT64_MAX &&
                      sigismember(&mask, SIGINT) == 1;
   record->call = call;
   record->calls++;
   sem_post(&record->begun);
   if (waits)
      take(&record->go);
   return result;
}
