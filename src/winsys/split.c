/* SPDX-License-Identifier: MIT
 *
 * Submissions of more commands than the kernel takes at once. Only the last part carries the
 * signals, and its fence says nothing of the parts before. So each of those signals a timeline of
 * its own, and a query for the outcome of a point of the submission covers theirs, too.
 */
#include "winsys/device_impl.h"

struct agxw_split {
   struct agxw_device *device;
   uint32_t references; /* under the device's split_lock */
   uint32_t count;
   struct agxw_timeline *parts[]; /* all but the last; each at 1 when it is over */
};

static size_t bytes_of(uint32_t count)
{
   return sizeof(struct agxw_split) + count * sizeof(struct agxw_timeline *);
}

static void release(struct agxw_split *split)
{
   struct agxw_device *device = split->device;
   pthread_mutex_lock(&device->split_lock);
   bool is_last = --split->references == 0;
   pthread_mutex_unlock(&device->split_lock);
   if (!is_last)
      return;
   for (uint32_t i = 0; i < split->count; i++)
      agxw_timeline_destroy(split->parts[i]);
   agx_host_free(device->alloc, split, bytes_of(split->count));
}

/* For so many parts before the last. */
static agx_status create(struct agxw_device *device, uint32_t count, struct agxw_split **out_split)
{
   struct agxw_split *split = agx_host_zalloc(device->alloc, bytes_of(count));
   if (!split)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "submit: no memory for %u parts", count + 1);
   split->device = device;
   split->references = 1;
   split->count = count;
   agx_status status = AGX_OK;
   for (uint32_t i = 0; i < count && status == AGX_OK; i++)
      status = agxw_timeline_create(device, 0, &split->parts[i]);
   if (status != AGX_OK)
      release(split);
   else
      *out_split = split;
   return status;
}

/* The timeline's point is of the submission, and no earlier one is asked for any more. */
static void note(struct agxw_split *split, const struct agxw_point *point)
{
   struct agxw_device *device = split->device;
   pthread_mutex_lock(&device->split_lock);
   struct agxw_split *old = point->timeline->split;
   point->timeline->split = split;
   point->timeline->split_value = point->value;
   split->references++;
   pthread_mutex_unlock(&device->split_lock);
   if (old)
      release(old);
}

/* The kernel has refused it: the next signal of the point comes without these parts. */
static void cancel_signal(struct agxw_split *split, const struct agxw_point *point)
{
   struct agxw_device *device = split->device;
   pthread_mutex_lock(&device->split_lock);
   bool is_noted = point->timeline->split == split;
   if (is_noted)
      point->timeline->split = NULL;
   pthread_mutex_unlock(&device->split_lock);
   if (is_noted)
      release(split);
}

void agxw_split_forget(struct agxw_timeline *timeline)
{
   if (timeline->split)
      release(timeline->split);
   timeline->split = NULL;
}

agx_status agxw_split_error(const struct agxw_point *point, int *out_error)
{
   struct agxw_device *device = point->timeline->device;
   pthread_mutex_lock(&device->split_lock);
   struct agxw_split *split =
      point->timeline->split_value == point->value ? point->timeline->split : NULL;
   if (split)
      split->references++;
   pthread_mutex_unlock(&device->split_lock);
   if (!split)
      return AGX_OK;
   agx_status status = AGX_OK;
   for (uint32_t i = 0; i < split->count && status == AGX_OK; i++)
      status = agxw_point_error(&(struct agxw_point){split->parts[i], 1}, out_error);
   release(split);
   return status;
}

/* The kernel has the parts before this one: they end before the caller hears that nothing runs. */
static void wait_for(const struct agxw_split *split, uint32_t part)
{
   const struct agxw_point last = {split->parts[part - 1], 1};
   (void)!agxw_wait(split->device, &last, 1, false, INT64_MAX);
}

/* All but the last. */
static agx_status submit_first(struct agxw_queue *queue, const struct agxw_submit *submit,
                               uint32_t limit, const struct agxw_split *split)
{
   for (uint32_t i = 0; i < split->count; i++) {
      const struct agxw_point own = {split->parts[i], 1};
      const struct agxw_submit part = {
         .commands = submit->commands + i * limit,
         .command_count = limit,
         .waits = submit->waits,
         .wait_count = i == 0 ? submit->wait_count : 0,
         .signals = &own,
         .signal_count = 1,
         .helper = submit->helper,
      };
      agx_status status = agxw_submit_whole(queue, &part);
      if (status != AGX_OK && i > 0)
         wait_for(split, i);
      AGX_TRY(status);
   }
   return AGX_OK;
}

static agx_status submit_last(struct agxw_queue *queue, const struct agxw_submit *submit,
                              uint32_t limit, struct agxw_split *split)
{
   const struct agxw_submit part = {
      .commands = submit->commands + split->count * limit,
      .command_count = submit->command_count - split->count * limit,
      .signals = submit->signals,
      .signal_count = submit->signal_count,
      .helper = submit->helper,
   };
   for (uint32_t i = 0; i < submit->signal_count; i++)
      note(split, &submit->signals[i]); /* before another thread may ask */
   agx_status status = agxw_submit_whole(queue, &part);
   if (status == AGX_OK)
      return AGX_OK;
   for (uint32_t i = 0; i < submit->signal_count; i++)
      cancel_signal(split, &submit->signals[i]);
   wait_for(split, split->count);
   return status;
}

agx_status agxw_submit_split(struct agxw_queue *queue, const struct agxw_submit *submit,
                             uint32_t limit)
{
   struct agxw_split *split = NULL;
   AGX_TRY(create(queue->device, (submit->command_count - 1) / limit, &split));
   agx_status status = submit_first(queue, submit, limit, split);
   if (status == AGX_OK)
      status = submit_last(queue, submit, limit, split);
   release(split);
   return status;
}
