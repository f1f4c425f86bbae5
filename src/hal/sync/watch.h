/* SPDX-License-Identifier: MIT
 *
 * Watches that are due: from their semaphore to the device's list of those to be called, and their
 * calls. And watches of the library's own; the application's are in agx/semaphore.h.
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
