/* SPDX-License-Identifier: MIT
 *
 * A source of blocks for AGX_POOL_CALLER: a few of one size in one buffer, which remember when
 * their last use is over.
 */
#pragma once

#include "fixture.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SOURCE_BLOCKS 4u

struct block_source {
   pthread_mutex_t lock;
   struct agx_buffer *memory;
   uint64_t block_B;
   uint32_t count;
   struct {
      bool is_used;
      struct agx_frontier death;
   } blocks[SOURCE_BLOCKS];
   uint32_t acquired, released, refused, destroyed;
   struct agx_pool_request last; /* without what it points to */
   struct agx_frontier last_death;
   uint32_t last_queue; /* of a release */
   /* What acquire is to fail with, and what it spoils; AGX_OK and NULL: nothing. */
   agx_status failure;
   const char *reason;
   void (*spoil)(struct block_source *it, struct agx_pool_grant *grant);
};

static inline bool block_covers(const struct agx_frontier *covered,
                                const struct agx_frontier *death)
{
   for (uint32_t i = 0; i < AGX_MAX_QUEUES; i++)
      if (death->epochs[i] > covered->epochs[i])
         return false;
   return true;
}

/* A free block that suits, those without a wait first; count: none. */
static inline uint32_t block_find(const struct block_source *it,
                                  const struct agx_pool_request *request)
{
   uint32_t found = it->count;
   for (uint32_t i = 0; i < it->count; i++) {
      if (it->blocks[i].is_used)
         continue;
      if (block_covers(request->covered, &it->blocks[i].death))
         return i;
      if (request->may_wait)
         found = i;
   }
   return found;
}

static inline agx_status block_acquire(void *user, const struct agx_pool_request *request,
                                       struct agx_pool_grant *grant)
{
   struct block_source *it = user;
   pthread_mutex_lock(&it->lock);
   it->last = *request;
   const uint32_t found = block_find(it, request);
   agx_status status = it->failure;
   if (status == AGX_OK && request->size_B > it->block_B) {
      snprintf(request->reason, request->reason_B, "blocks have %llu bytes",
               (unsigned long long)it->block_B);
      status = AGX_OUT_OF_RANGE;
   } else if (status != AGX_OK) {
      snprintf(request->reason, request->reason_B, "%s", it->reason ? it->reason : "");
   } else if (found == it->count) {
      it->refused++;
      status = AGX_DEFERRED;
   } else {
      it->blocks[found].is_used = true;
      it->acquired++;
      *grant = (struct agx_pool_grant){.buffer = it->memory,
                                       .offset_B = found * it->block_B,
                                       .death = it->blocks[found].death,
                                       .own = {found, 0, 0, 7}};
      if (it->spoil)
         it->spoil(it, grant);
   }
   pthread_mutex_unlock(&it->lock);
   return status;
}

static inline void block_release(void *user, const struct agx_pool_grant *grant, uint32_t queue,
                                 const struct agx_frontier *death)
{
   struct block_source *it = user;
   struct agx_buffer_info info = {.size = sizeof(info)};
   pthread_mutex_lock(&it->lock);
   assert_int_equal(grant->own[3], 7);
   assert_true(it->blocks[grant->own[0]].is_used);
   it->blocks[grant->own[0]].is_used = false;
   it->blocks[grant->own[0]].death = *death;
   it->last_death = *death;
   it->last_queue = queue;
   it->released++;
   pthread_mutex_unlock(&it->lock);
   if (it->memory)
      agx_buffer_get_info(it->memory, &info); /* the library may be used here */
}

static inline void block_destroy(void *user)
{
   struct block_source *it = user;
   pthread_mutex_lock(&it->lock);
   it->destroyed++;
   pthread_mutex_unlock(&it->lock);
}

/* Until one of its counts is what it will be: references of work go some time after its signals. */
static inline void block_await(struct block_source *it, const uint32_t *count, uint32_t value)
{
   for (bool is_there = false; !is_there; usleep(100)) {
      pthread_mutex_lock(&it->lock);
      is_there = *count == value;
      pthread_mutex_unlock(&it->lock);
   }
}

/* Over memory of its own, which goes with block_source_fini. */
static inline void block_source_init(struct block_source *it, struct agx_device *device,
                                     uint64_t block_B, uint32_t count)
{
   const struct agx_buffer_desc desc = {
      .size = sizeof(desc), .size_B = block_B * count, .flags = AGX_BUFFER_HOST_READ};
   *it = (struct block_source){.block_B = block_B, .count = count};
   pthread_mutex_init(&it->lock, NULL);
   assert_ok(agx_buffer_create(device, &desc, &it->memory));
}

/* Its pool was released. All blocks came back. */
static inline void block_source_fini(struct block_source *it)
{
   block_await(it, &it->destroyed, 1);
   assert_int_equal(it->acquired, it->released);
   agx_release(it->memory);
   pthread_mutex_destroy(&it->lock);
}

static inline agx_status block_pool_create(struct block_source *it, struct agx_device *device,
                                           uint32_t source_flags, struct agx_pool **out_pool)
{
   const struct agx_pool_source source = {.size = sizeof(source),
                                          .flags = source_flags,
                                          .user = it,
                                          .acquire = block_acquire,
                                          .release = block_release,
                                          .destroy = block_destroy};
   const struct agx_pool_desc desc = {.size = sizeof(desc),
                                      .strategy = AGX_POOL_CALLER,
                                      .flags = AGX_BUFFER_HOST_READ,
                                      .label = "blocks",
                                      .source = &source};
   return agx_pool_create(device, &desc, out_pool);
}

/* The application takes a block away, or brings it back. */
static inline void block_hold(struct block_source *it, uint32_t block, bool is_used)
{
   pthread_mutex_lock(&it->lock);
   it->blocks[block].is_used = is_used;
   pthread_mutex_unlock(&it->lock);
}
