/* SPDX-License-Identifier: MIT
 *
 * Watches and observers that are due: from their semaphore to the device's lists of those to be
 * called, and their calls. And watches of the library's own; the application's are in
 * agx/semaphore.h.
 */
#pragma once

#include "hal/sync/semaphore.h"

/* What the library keeps in agx_watch.reserved. */
struct agx_watch_node {
   struct agx_link link;
   struct agx_semaphore *semaphore; /* retained; NULL: called, or taken away */
   bool is_weak;                    /* not retained: it goes with the semaphore */
};

/* A call that goes on: on the stack of its thread. */
struct agx_watch_call {
   struct agx_link link;
   const struct agx_watch *watch;
   pthread_t thread;
};

_Static_assert(sizeof(struct agx_watch_node) <= sizeof(((struct agx_watch *)0)->reserved),
               "agx_watch.reserved is too small");
_Static_assert(_Alignof(struct agx_watch) >= _Alignof(struct agx_watch_node),
               "agx_watch is aligned");

/* The library's part of a watch. */
static inline struct agx_watch_node *agx_watch_node_of(struct agx_watch *watch)
{
   return (struct agx_watch_node *)watch->reserved;
}

/* The watch whose node has the link. */
static inline struct agx_watch *agx_watch_of(struct agx_link *link)
{
   struct agx_watch_node *node = agx_container_of(link, struct agx_watch_node, link);
   return agx_container_of((void **)node, struct agx_watch, reserved);
}

/* Takes the semaphore's watches whose value is reached, or all if it has failed, to the list of
 * those to be called. */
AGX_SYNC_LOCKED void agx_watches_fire(struct agx_semaphore *semaphore);

/* Calls one watch that is due; false: there is none. */
AGX_SYNC_LOCKED bool agx_watch_call_one_unlocking(struct agx_device *device);

/* The semaphore goes: calls its weak watches with AGX_CANCELLED. */
AGX_SYNC_UNLOCKED void agx_watches_end(struct agx_semaphore *semaphore);

/* semaphore_api.c: a watch of the library's that does not retain the semaphore: when that goes
 * before the value is reached, which nothing can reach any more, the watch is called with
 * AGX_CANCELLED. */
AGX_SYNC_UNLOCKED void agx_semaphore_watch_weakly(struct agx_semaphore *semaphore,
                                                  struct agx_watch *watch);

/* ---- observers -------------------------------------------------------------- */

/* What the library keeps in agx_observer.reserved. The observer's value is what its function was
 * called with last. */
struct agx_observer_node {
   struct agx_link link;            /* the semaphore's observers */
   struct agx_link due;             /* the device's due_observers; alone: not due */
   struct agx_semaphore *semaphore; /* retained; NULL: it observes nothing */
   bool is_called;                  /* a thread is in its function, or about to be */
   bool knows_failure;
};

/* A call that goes on: on the stack of its thread. */
struct agx_observer_call {
   struct agx_link link;
   const struct agx_observer *observer;
   pthread_t thread;
   bool is_removed; /* the observer is: its memory may be gone */
};

_Static_assert(sizeof(struct agx_observer_node) <= sizeof(((struct agx_observer *)0)->reserved),
               "agx_observer.reserved is too small");

/* The library's part of an observer. */
static inline struct agx_observer_node *agx_observer_node_of(struct agx_observer *observer)
{
   return (struct agx_observer_node *)observer->reserved;
}

/* The observer that the node is of. */
static inline struct agx_observer *agx_observer_of(struct agx_observer_node *node)
{
   return agx_container_of((void **)node, struct agx_observer, reserved);
}

/* Puts the observer, if it does not know its semaphore's value or failure, to those to be called.
 */
AGX_SYNC_LOCKED void agx_observer_note_due(struct agx_observer_node *node);

/* Puts the semaphore's observers that don't know its value or failure to those to be called, but
 * those that a thread is in: it looks again. */
AGX_SYNC_LOCKED void agx_observers_fire(struct agx_semaphore *semaphore);

/* Calls one observer that is due; false: there is none. */
AGX_SYNC_LOCKED bool agx_observer_call_one_unlocking(struct agx_device *device);

/* Signals of observed semaphores are waited for from the time that they are pending until they come
 * true: the completion thread looks after the GPU. Both do nothing for a signal without. */
AGX_SYNC_LOCKED void agx_observers_await(struct agx_signal *signal);
AGX_SYNC_LOCKED void agx_observers_had(struct agx_signal *signal);

/* The semaphore becomes a shared one, whose value may change without a signal of this device. */
AGX_SYNC_LOCKED void agx_observers_share(struct agx_semaphore *semaphore);
