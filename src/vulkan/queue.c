/* SPDX-License-Identifier: MIT
 *
 * Submission: each call becomes one list of the HAL's operations.
 */
#include <string.h>

#include "vulkan/command_buffer.h"
#include "vulkan/sync.h"

#define LOCAL_OPS    16
#define LOCAL_POINTS 64

struct submission {
   struct agxvk_queue *queue;
   struct agx_op *ops;
   struct agx_point *points;
   uint32_t op_count, point_count;
   uint64_t value; /* of the queue's order, that the last operation signals */
   struct agxvk_semaphore *touched;
   struct agx_op local_ops[LOCAL_OPS];
   struct agx_point local_points[LOCAL_POINTS];
};

static uint32_t add_point(struct submission *s, struct agx_semaphore *semaphore, uint64_t value)
{
   s->points[s->point_count] = (struct agx_point){semaphore, value};
   return s->point_count++;
}

/* The next operation, with room for what a batch waits for: it comes after all before it. */
static struct agx_op *begin_op(struct submission *s, uint32_t kind)
{
   struct agx_op *op = &s->ops[s->op_count++];
   *op = (struct agx_op){.size = sizeof(*op), .kind = kind, .queues = s->queue->mask};
   op->waits = &s->points[s->point_count];
   return op;
}

/* Work for the GPU that does next to nothing. */
static struct agx_op *begin_mark(struct submission *s)
{
   struct agx_op *op = begin_op(s, AGX_OP_FILL);
   op->u.fill = agxvk_mark(s->queue->device);
   return op;
}

static void end_waits(struct submission *s, struct agx_op *op)
{
   if (s->value)
      add_point(s, s->queue->order, s->value);
   op->wait_count = (uint32_t)(&s->points[s->point_count] - op->waits);
   op->signals = &s->points[s->point_count];
   add_point(s, s->queue->order, ++s->value);
   op->signal_count = 1;
}

/* ---- binary semaphores -------------------------------------------------- */

static void touch(struct submission *s, struct agxvk_semaphore *semaphore)
{
   if (semaphore->is_touched)
      return;
   semaphore->is_touched = true;
   semaphore->old_payload = semaphore->payload;
   semaphore->old_permanent = semaphore->permanent;
   semaphore->next_touched = s->touched;
   s->touched = semaphore;
}

/* Temporary payloads go when they were waited for, or come back when nothing will. */
static void settle(struct submission *s, bool is_queued)
{
   for (struct agxvk_semaphore *it = s->touched; it; it = it->next_touched) {
      it->is_touched = false;
      if (is_queued && it->payload.core != it->old_payload.core) {
         agx_release(it->old_payload.core);
      } else if (!is_queued) {
         agxvk_payload_put(&it->object, &it->payload, it->old_payload);
         it->permanent = it->old_permanent;
      }
   }
}

static void add_wait(struct submission *s, const VkSemaphoreSubmitInfo *info)
{
   struct agxvk_semaphore *semaphore = agxvk_semaphore_of(info->semaphore);
   if (!semaphore->is_binary) {
      add_point(s, semaphore->payload.core, info->value);
      return;
   }
   const uint64_t value = agxvk_payload_signal(&semaphore->payload);
   touch(s, semaphore);
   add_point(s, semaphore->payload.core, value);
   semaphore->payload.value = value + 1;
   if (!semaphore->permanent.core)
      return;
   agxvk_payload_put(&semaphore->object, &semaphore->payload, semaphore->permanent);
   semaphore->permanent.core = NULL;
}

/* A batch may give a timeline several values at once: the last is what it has then. The HAL takes a
 * semaphore once. */
static bool raise_signal(struct submission *s, const struct agx_op *op,
                         const struct agx_semaphore *semaphore, uint64_t value)
{
   for (uint32_t i = (uint32_t)(op->signals - s->points); i < s->point_count; i++)
      if (s->points[i].semaphore == semaphore) {
         s->points[i].value = AGXVK_MAX(s->points[i].value, value);
         return true;
      }
   return false;
}

static void add_signal(struct submission *s, struct agx_op *op, const VkSemaphoreSubmitInfo *info)
{
   struct agxvk_semaphore *semaphore = agxvk_semaphore_of(info->semaphore);
   uint64_t value = info->value;
   if (semaphore->is_binary) {
      touch(s, semaphore);
      value = semaphore->payload.value = (agxvk_payload_last(&semaphore->payload) + 1) | 1;
   }
   if (raise_signal(s, op, semaphore->payload.core, value))
      return;
   add_point(s, semaphore->payload.core, value);
   op->signal_count++;
}

/* Those who share a binary semaphore see that it was waited for. A payload that is not the
 * semaphore's any more was its temporary one. */
static void tell_waits(struct submission *s, struct agx_op *op, const VkSubmitInfo2 *batch)
{
   for (uint32_t i = 0; i < batch->waitSemaphoreInfoCount; i++) {
      const struct agxvk_semaphore *semaphore =
         agxvk_semaphore_of(batch->pWaitSemaphoreInfos[i].semaphore);
      const struct agx_point *wait = &op->waits[i];
      const bool is_shared = wait->semaphore == semaphore->payload.core
                                ? semaphore->payload.is_shared
                                : semaphore->old_payload.is_shared;
      if (!semaphore->is_binary || !is_shared)
         continue;
      add_point(s, wait->semaphore, wait->value + 1);
      op->signal_count++;
   }
}

/* ---- batches ------------------------------------------------------------ */

/* What a batch waits for, before its first operation. */
static void add_waits(struct submission *s, struct agx_op *op, const VkSubmitInfo2 *batch)
{
   for (uint32_t i = 0; i < batch->waitSemaphoreInfoCount; i++)
      add_wait(s, &batch->pWaitSemaphoreInfos[i]);
   end_waits(s, op);
   tell_waits(s, op, batch);
}

static bool is_passed_on(const VkSemaphoreSubmitInfo *infos, uint32_t count)
{
   for (uint32_t i = 0; i < count; i++) {
      const struct agxvk_semaphore *semaphore = agxvk_semaphore_of(infos[i].semaphore);
      if (semaphore->is_binary && semaphore->payload.is_shared)
         return true;
   }
   return false;
}

/* A batch: its waits before its first operation, its signals behind the last. Without command
 * buffers it is a barrier. Those who share binary semaphores must find what is submitted in the
 * kernel, which barriers, and command buffers without commands, are no matter of. */
static struct agx_op *add_batch(struct submission *s, const VkSubmitInfo2 *batch)
{
   const bool passes_on =
      is_passed_on(batch->pSignalSemaphoreInfos, batch->signalSemaphoreInfoCount);
   struct agx_op *op = NULL;
   if (is_passed_on(batch->pWaitSemaphoreInfos, batch->waitSemaphoreInfoCount)) {
      op = begin_mark(s);
      add_waits(s, op, batch);
   }
   for (uint32_t i = 0; i < batch->commandBufferInfoCount; i++) {
      const struct agxvk_command_buffer *commands =
         agxvk_command_buffer_of(batch->pCommandBufferInfos[i].commandBuffer);
      for (uint32_t c = 0; c < commands->segment_count; c++) {
         const bool is_first = !op;
         op = begin_op(s, AGX_OP_EXECUTE);
         op->u.execute.commands = commands->segments[c];
         if (is_first)
            add_waits(s, op, batch);
         else
            end_waits(s, op);
      }
   }
   if (!op || passes_on) {
      const bool is_first = !op;
      op = passes_on ? begin_mark(s) : begin_op(s, AGX_OP_BARRIER);
      if (is_first)
         add_waits(s, op, batch);
      else
         end_waits(s, op);
   }
   for (uint32_t i = 0; i < batch->signalSemaphoreInfoCount; i++)
      add_signal(s, op, &batch->pSignalSemaphoreInfos[i]);
   return op;
}

/* Room for all: each operation has two points of the order beside its batch's, one of them a
 * fence's, and each wait may be told. */
static bool reserve(struct submission *s, uint32_t count, const VkSubmitInfo2 *batches)
{
   uint64_t ops = 1, points = 1;
   for (uint32_t i = 0; i < count; i++) {
      ops += 2;
      points += 2ull * batches[i].waitSemaphoreInfoCount + batches[i].signalSemaphoreInfoCount;
      for (uint32_t c = 0; c < batches[i].commandBufferInfoCount; c++)
         ops +=
            agxvk_command_buffer_of(batches[i].pCommandBufferInfos[c].commandBuffer)->segment_count;
   }
   points += 2 * ops;
   s->ops = s->local_ops;
   s->points = s->local_points;
   if (ops <= LOCAL_OPS && points <= LOCAL_POINTS)
      return true;
   uint8_t *memory = agxvk_alloc(&s->queue->device->alloc, NULL,
                                 ops * sizeof(*s->ops) + points * sizeof(*s->points),
                                 VK_SYSTEM_ALLOCATION_SCOPE_COMMAND);
   s->ops = (struct agx_op *)memory;
   s->points = (struct agx_point *)(memory + ops * sizeof(*s->ops));
   return memory != NULL;
}

static VkResult hand_over(struct submission *s)
{
   struct agxvk_device *device = s->queue->device;
   uint32_t queued = 0;
   agx_status status = agx_submit(device->core, s->ops, s->op_count, &queued);
   settle(s, status == AGX_OK);
   if (status == AGX_OK) {
      s->queue->value = s->value;
      return VK_SUCCESS;
   }
   VkResult result = agxvk_result(device, status);
   if (queued)
      return VK_ERROR_DEVICE_LOST; /* half of a submission can't be taken back */
   return result == VK_ERROR_OUT_OF_HOST_MEMORY ? result : VK_ERROR_DEVICE_LOST;
}

VKAPI_ATTR VkResult VKAPI_CALL agxvk_QueueSubmit2(VkQueue queue_handle, uint32_t submitCount,
                                                  const VkSubmitInfo2 *pSubmits, VkFence fence)
{
   struct submission s;
   s.queue = agxvk_queue_of(queue_handle);
   s.value = s.queue->value;
   s.touched = NULL;
   s.op_count = s.point_count = 0;
   if (!submitCount && !fence)
      return VK_SUCCESS;
   if (!reserve(&s, submitCount, pSubmits))
      return VK_ERROR_OUT_OF_HOST_MEMORY;
   struct agx_op *last = NULL;
   for (uint32_t i = 0; i < submitCount; i++)
      last = add_batch(&s, &pSubmits[i]);
   if (!last) {
      last = begin_op(&s, AGX_OP_BARRIER);
      end_waits(&s, last);
   }
   if (fence) {
      const struct agxvk_payload *signalled = &agxvk_fence_of(fence)->payload;
      add_point(&s, signalled->core, agxvk_payload_signal(signalled));
      last->signal_count++;
   }
   VkResult result = hand_over(&s);
   if (s.ops != s.local_ops)
      agxvk_free(&s.queue->device->alloc, NULL, s.ops);
   return result;
}

/* ---- the older form ----------------------------------------------------- */

struct translation {
   VkSubmitInfo2 *batches;
   VkSemaphoreSubmitInfo *semaphores;
   VkCommandBufferSubmitInfo *commands;
};

static const VkSemaphoreSubmitInfo *translate_semaphores(struct translation *t, uint32_t count,
                                                         const VkSemaphore *from,
                                                         uint32_t value_count,
                                                         const uint64_t *values)
{
   const VkSemaphoreSubmitInfo *first = t->semaphores;
   for (uint32_t i = 0; i < count; i++)
      *t->semaphores++ = (VkSemaphoreSubmitInfo){
         .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
         .semaphore = from[i],
         .value = i < value_count ? values[i] : 0,
      };
   return first;
}

static void translate(struct translation *t, const VkSubmitInfo *from)
{
   static const VkTimelineSemaphoreSubmitInfo no_values;
   const VkTimelineSemaphoreSubmitInfo *values =
      agxvk_find(from->pNext, VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO);
   values = values ? values : &no_values;
   VkSubmitInfo2 *batch = t->batches++;
   *batch = (VkSubmitInfo2){
      .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
      .waitSemaphoreInfoCount = from->waitSemaphoreCount,
      .commandBufferInfoCount = from->commandBufferCount,
      .pCommandBufferInfos = t->commands,
      .signalSemaphoreInfoCount = from->signalSemaphoreCount,
   };
   batch->pWaitSemaphoreInfos =
      translate_semaphores(t, from->waitSemaphoreCount, from->pWaitSemaphores,
                           values->waitSemaphoreValueCount, values->pWaitSemaphoreValues);
   batch->pSignalSemaphoreInfos =
      translate_semaphores(t, from->signalSemaphoreCount, from->pSignalSemaphores,
                           values->signalSemaphoreValueCount, values->pSignalSemaphoreValues);
   for (uint32_t i = 0; i < from->commandBufferCount; i++)
      *t->commands++ = (VkCommandBufferSubmitInfo){
         .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO,
         .commandBuffer = from->pCommandBuffers[i],
      };
}

#define LOCAL_B 2048

VKAPI_ATTR VkResult VKAPI_CALL agxvk_QueueSubmit(VkQueue queue, uint32_t submitCount,
                                                 const VkSubmitInfo *pSubmits, VkFence fence)
{
   struct agxvk_device *device = agxvk_queue_of(queue)->device;
   _Alignas(8) uint8_t local[LOCAL_B];
   uint64_t semaphores = 0, commands = 0;
   for (uint32_t i = 0; i < submitCount; i++) {
      semaphores += (uint64_t)pSubmits[i].waitSemaphoreCount + pSubmits[i].signalSemaphoreCount;
      commands += pSubmits[i].commandBufferCount;
   }
   const uint64_t batches_B = submitCount * sizeof(VkSubmitInfo2);
   const uint64_t semaphores_B = semaphores * sizeof(VkSemaphoreSubmitInfo);
   const uint64_t size_B = batches_B + semaphores_B + commands * sizeof(VkCommandBufferSubmitInfo);
   uint8_t *memory = size_B <= sizeof(local) ? local
                                             : agxvk_alloc(&device->alloc, NULL, size_B,
                                                           VK_SYSTEM_ALLOCATION_SCOPE_COMMAND);
   if (!memory)
      return VK_ERROR_OUT_OF_HOST_MEMORY;
   struct translation t = {
      .batches = (VkSubmitInfo2 *)memory,
      .semaphores = (VkSemaphoreSubmitInfo *)(memory + batches_B),
      .commands = (VkCommandBufferSubmitInfo *)(memory + batches_B + semaphores_B),
   };
   const VkSubmitInfo2 *batches = submitCount ? t.batches : NULL;
   for (uint32_t i = 0; i < submitCount; i++)
      translate(&t, &pSubmits[i]);
   VkResult result = agxvk_QueueSubmit2(queue, submitCount, batches, fence);
   if (memory != local)
      agxvk_free(&device->alloc, NULL, memory);
   return result;
}

/* ---- idle --------------------------------------------------------------- */

VKAPI_ATTR VkResult VKAPI_CALL agxvk_QueueWaitIdle(VkQueue queue_handle)
{
   struct agxvk_queue *queue = agxvk_queue_of(queue_handle);
   const struct agx_point last = {queue->order, queue->value};
   return agxvk_result(queue->device, agx_semaphore_wait(&last, 1, false, AGX_DEADLINE_NEVER));
}

VKAPI_ATTR VkResult VKAPI_CALL agxvk_DeviceWaitIdle(VkDevice device_handle)
{
   struct agxvk_device *device = agxvk_device_of(device_handle);
   struct agx_point points[AGXVK_COUNT(device->queues)];
   for (uint32_t i = 0; i < device->queue_count; i++)
      points[i] = (struct agx_point){device->queues[i].order, device->queues[i].value};
   return agxvk_result(device,
                       agx_semaphore_wait(points, device->queue_count, false, AGX_DEADLINE_NEVER));
}

/* Sparse binding is a feature that no queue family has. */
VKAPI_ATTR VkResult VKAPI_CALL agxvk_QueueBindSparse(VkQueue queue, uint32_t bindInfoCount,
                                                     const VkBindSparseInfo *pBindInfo,
                                                     VkFence fence)
{
   return VK_ERROR_FEATURE_NOT_PRESENT;
}
