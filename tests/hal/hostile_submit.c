/* SPDX-License-Identifier: MIT
 *
 * Spoiled operations and semaphores.
 */
#include "hostile.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"

#define MAX_OPS    3
#define MAX_POINTS 40 /* more than a submission takes: operations are cut for it */

/* What operations point at, for the call. */
struct sources {
   struct agx_point waits[MAX_POINTS], signals[MAX_POINTS];
   struct agx_binding bindings[8];
   struct agx_dispatch dispatch;
   struct agx_buffer *made[MAX_OPS];
};

static agx_status call_back(void *user, const uint64_t args[4], struct agx_host_call *call)
{
   return AGX_OK;
}

static void put_points(struct hostile *h, struct agx_point *points)
{
   for (uint32_t i = 0; i < MAX_POINTS; i++)
      points[i] = (struct agx_point){hostile_below(h, 8)
                                        ? h->semaphores[i % (HOSTILE_SEMAPHORES - 1)]
                                        : hostile_pick(h, h->semaphores, HOSTILE_SEMAPHORES),
                                     hostile_number(h)};
}

static uint32_t point_count(struct hostile *h)
{
   if (hostile_below(h, 16) == 0)
      return (uint32_t)hostile_number(h) | (AGX_MAX_OP_POINTS + 1); /* too many in any case */
   if (hostile_below(h, 16) == 0)
      return 33 + (uint32_t)hostile_below(h, MAX_POINTS - 32);
   return (uint32_t)hostile_below(h, 4);
}

static void put_kind(struct hostile *h, struct agx_op *op, struct sources *sources, uint32_t index)
{
   switch (op->kind) {
   case AGX_OP_DISPATCH:
      sources->dispatch = hostile_dispatch(h, sources->bindings);
      op->u.dispatch.dispatch = hostile_below(h, 16) ? &sources->dispatch : NULL;
      break;
   case AGX_OP_FILL:
      op->u.fill = (struct agx_op_fill){hostile_ref(h), {1, 2, 3, 4}, (uint32_t)hostile_offset(h)};
      break;
   case AGX_OP_UPDATE:
      op->u.update =
         (struct agx_op_update){hostile_below(h, 16) ? h->scratch : NULL, hostile_ref(h)};
      break;
   case AGX_OP_COPY:
      op->u.copy = (struct agx_op_copy){hostile_ref(h), hostile_ref(h)};
      break;
   case AGX_OP_ALLOCA:
      op->u.alloca = (struct agx_op_alloca){hostile_pick(h, &h->pool, 1), hostile_offset(h),
                                            hostile_below(h, 2) ? 0 : hostile_offset(h),
                                            hostile_below(h, 16) ? &sources->made[index] : NULL};
      break;
   case AGX_OP_DEALLOCA:
      op->u.dealloca.buffer = hostile_pick(h, h->buffers, HOSTILE_BUFFERS);
      op->flags &= ~(uint64_t)AGX_DEALLOCA_RELEASE; /* the reference is not the operation's */
      break;
   case AGX_OP_READ:
   case AGX_OP_WRITE:
      op->u.file =
         (struct agx_op_file){hostile_pick(h, h->files, 2), hostile_offset(h), hostile_ref(h)};
      break;
   case AGX_OP_HOST_CALL:
      op->u.host_call.fn = hostile_below(h, 16) ? call_back : NULL;
      op->u.host_call.flags = hostile_below(h, 4) ? 0 : hostile_number(h);
      break;
   default:
      break;
   }
}

static void put_op(struct hostile *h, struct agx_op *op, struct sources *sources, uint32_t index)
{
   static const struct hostile_field fields[] = {FIELD(agx_op, kind), FIELD(agx_op, flags),
                                                 FIELD(agx_op, queues)};
   memset(op, 0, sizeof(*op));
   op->size = sizeof(*op);
   op->kind = (uint32_t)hostile_below(h, AGX_OP_HOST_CALL + 1);
   if (hostile_below(h, 4) == 0)
      SPOIL(h, op, fields);
   op->waits = hostile_below(h, 16) ? sources->waits : NULL;
   op->signals = hostile_below(h, 16) ? sources->signals : NULL;
   op->wait_count = point_count(h);
   op->signal_count = point_count(h);
   put_kind(h, op, sources, index);
}

static void submit(struct hostile *h)
{
   /* An operation that is too long lies all here, too. */
   static union {
      struct agx_op ops[MAX_OPS];
      uint8_t bytes[MAX_OPS * 8192];
   } all;
   static struct sources sources;
   uint32_t queued = 77, count = 1 + (uint32_t)hostile_below(h, MAX_OPS);
   memset(&all, 0, sizeof(all));
   put_points(h, sources.waits);
   put_points(h, sources.signals);
   memset(sources.made, 0, sizeof(sources.made));
   for (uint32_t i = 0; i < count; i++)
      put_op(h, &all.ops[i], &sources, i);
   if (hostile_below(h, 8) == 0)
      all.ops[count - 1].size = (uint32_t)hostile_number(h);
   agx_status status = HOSTILE(h, agx_submit(h->f.device, all.ops, count, &queued));
   if (status == AGX_OK ? queued != count : queued >= count)
      fail_msg("seed %llu: %u of %u operations queued, %d", (unsigned long long)h->seed, queued,
               count, status);
   for (uint32_t i = 0; i < MAX_OPS; i++) {
      if (sources.made[i] && i >= queued)
         fail_msg("seed %llu: a buffer of an operation that failed", (unsigned long long)h->seed);
      agx_release(sources.made[i]);
   }
}

static void use_semaphore(struct hostile *h)
{
   struct agx_semaphore *semaphore = h->semaphores[hostile_below(h, HOSTILE_SEMAPHORES)];
   struct agx_semaphore *imported = NULL;
   struct agx_point points[3];
   uint64_t value;
   int fd = -1;
   for (uint32_t i = 0; i < AGX_COUNT(points); i++)
      points[i] =
         (struct agx_point){hostile_pick(h, h->semaphores, HOSTILE_SEMAPHORES), hostile_number(h)};
   switch (hostile_below(h, 8)) {
   case 0:
      (void)!HOSTILE(h, agx_semaphore_query(semaphore, &value));
      break;
   case 1:
      (void)!HOSTILE(h, agx_semaphore_signal(semaphore, hostile_offset(h)));
      break;
   case 2:
      (void)!HOSTILE(h, agx_semaphore_wait(hostile_below(h, 8) ? points : NULL,
                                           (uint32_t)hostile_below(h, 4), hostile_below(h, 2),
                                           -(int64_t)hostile_below(h, 3)));
      break;
   case 3:
      if (HOSTILE(h, agx_semaphore_export(semaphore, hostile_number(h),
                                          (uint32_t)hostile_below(h, 5), &fd)) == AGX_OK)
         close(fd);
      break;
   case 4:
      HOSTILE_MAKE(h,
                   agx_semaphore_import(h->f.device, (int)hostile_number(h) | 1 << 20, &imported),
                   &imported);
      agx_release(imported);
      break;
   case 5:
      (void)!HOSTILE(h, agx_semaphore_import_point(semaphore, hostile_number(h),
                                                   (uint32_t)hostile_below(h, 5),
                                                   (int)hostile_number(h) | 1 << 20));
      break;
   case 6:
      (void)!HOSTILE(h, agx_queue_recreate(h->f.device, (uint32_t)hostile_offset(h)));
      break;
   default:
      (void)!HOSTILE(h, agx_flush(h->f.device, hostile_number(h)));
   }
}

/* Values near the end of the numbers leave little to signal. */
static void renew_semaphores(struct hostile *h)
{
   agx_device_cancel(h->f.device);
   agx_device_cancel(h->other.device);
   for (uint32_t i = 0; i < HOSTILE_SEMAPHORES; i++) {
      agx_release(h->semaphores[i]);
      h->semaphores[i] = fixture_semaphore(i < HOSTILE_SEMAPHORES - 1 ? &h->f : &h->other);
   }
}

void hostile_submit(struct hostile *h)
{
   if (hostile_below(h, 3))
      submit(h);
   else
      use_semaphore(h);
   if (hostile_below(h, 4) == 0)
      renew_semaphores(h);
}
