/* SPDX-License-Identifier: MIT
 *
 * A device of a round, and what the threads that use it share.
 */
#include <stdlib.h>

#include "hal/device/device.h"
#include "kernels.h"
#include "soak_chain.h"

/* ---- executables ------------------------------------------------------------------ */

static bool make_kernel(struct soak_device *it, const struct agx_test_kernel *kernel,
                        struct agx_executable **out_executable)
{
   struct agx_executable_desc desc = {.size = sizeof(desc)};
   void *image = agx_test_kernel_elf(kernel, "g13g", &desc.data_B);
   desc.data = image;
   agx_status status = agx_executable_create(it->device, &desc, out_executable);
   free(image);
   return status == AGX_OK;
}

/* Of workgroups and workgroup memory as large as a dispatch wants. */
static bool make_dynamic_size(struct soak_device *it)
{
   const struct agx_specialization sizes[3] = {{0, 4, 8}, {1, 4, 1}, {2, 4, 1}};
   struct agx_executable_desc desc = {.size = sizeof(desc),
                                      .flags = AGX_EXECUTABLE_DYNAMIC_LOCAL_SIZE |
                                               AGX_EXECUTABLE_DYNAMIC_SHARED,
                                      .specializations = sizes,
                                      .specialization_count = 3};
   if (!it->round->plan.has_dynamic_size)
      return true;
   char *path = agx_test_path("kernels/any_size.spv");
   char *bytes = agx_test_read_file(path, &desc.data_B);
   desc.data = bytes;
   agx_status status = agx_executable_create(it->device, &desc, &it->dynamic_size);
   free(bytes);
   free(path);
   return status == AGX_OK;
}

/* ---- memory ----------------------------------------------------------------------- */

static bool record_shared(struct soak_device *it, uint32_t i)
{
   struct agx_command_buffer **commands = &it->shared[i];
   const struct agx_binding binding = {.ref = {it->scratch[i], 0, AGX_WHOLE_LENGTH}};
   const struct agx_dispatch dispatch = {.size = sizeof(dispatch),
                                         .executable = it->count,
                                         .workgroups = {2, 1, 1},
                                         .binding_count = 1,
                                         .bindings = &binding};
   return agx_command_buffer_create(it->device, NULL, commands) == AGX_OK &&
          agx_command_buffer_begin(*commands) == AGX_OK &&
          agx_cmd_dispatch(*commands, &dispatch) == AGX_OK &&
          agx_command_buffer_end(*commands) == AGX_OK;
}

static bool make_buffers(struct soak_device *it)
{
   const struct agx_buffer_desc scratch = {.size = sizeof(scratch), .size_B = SOAK_SCRATCH_B};
   const struct agx_buffer_desc parameters = {.size = sizeof(parameters),
                                              .size_B = SOAK_PARAMETERS_B};
   static const uint32_t words[4] = {1, 1, 1, 0};
   for (uint32_t i = 0; i < SOAK_SCRATCH; i++)
      if (agx_buffer_create(it->device, &scratch, &it->scratch[i]) != AGX_OK ||
          !record_shared(it, i))
         return false;
   return agx_buffer_create(it->device, &parameters, &it->parameters) == AGX_OK &&
          agx_buffer_write(it->parameters, 0, sizeof(words), words) == AGX_OK;
}

static bool make_pools(struct soak_device *it)
{
   static const struct agx_pool_desc descs[3] = {
      {.size = sizeof(descs[0]), .slab_B = 65536, .limit_B = 262144},
      {.size = sizeof(descs[0]), .strategy = AGX_POOL_FIXED, .block_B = 16384, .limit_B = 262144},
      {.size = sizeof(descs[0]), .slab_B = 65536, .limit_B = 65536},
   };
   return agx_pool_create(it->device, &descs[0], &it->pools[0]) == AGX_OK &&
          agx_pool_create(it->device, &descs[1], &it->pools[1]) == AGX_OK &&
          agx_pool_create(it->device, &descs[2], &it->chain_pool) == AGX_OK;
}

static bool make_timelines(struct soak_device *it)
{
   for (uint32_t i = 0; i < SOAK_SLOTS; i++) {
      if (agx_semaphore_create(it->device, 0, &it->timelines[i].semaphore) != AGX_OK)
         return false;
      it->slots[i] = i;
      it->timeline_count++;
   }
   return true;
}

static bool make_objects(struct soak_device *it)
{
   return make_kernel(it, &agx_test_count, &it->count) &&
          make_kernel(it, &agx_test_add, &it->add) &&
          make_kernel(it, &agx_test_stray, &it->stray) && make_dynamic_size(it) &&
          make_buffers(it) && make_pools(it) &&
          agx_event_create(it->device, &it->event) == AGX_OK && soak_tabled_make(it) &&
          make_timelines(it);
}

/* ---- the device --------------------------------------------------------------------- */

static void on_profile(void *user, const struct agx_profile_record *record)
{
   soak_check(record->size == sizeof(*record), "a profile record of %u bytes", record->size);
}

static bool begin_profile(struct soak_device *it)
{
   const struct agx_profile_desc desc = {
      .size = sizeof(desc),
      .families = AGX_PROFILE_QUEUE | AGX_PROFILE_DEVICE_QUEUE | AGX_PROFILE_DISPATCH |
                  AGX_PROFILE_HOST | AGX_PROFILE_MEMORY,
      .fn = on_profile,
   };
   return !it->round->plan.profiles || agx_profile_begin(it->device, &desc) == AGX_OK;
}

bool soak_device_open(struct soak_device *it)
{
   const struct agx_instance_desc instance = {.size = sizeof(instance), .alloc = &soak_alloc};
   const struct agx_device_desc device = {.size = sizeof(device),
                                          .queue_count = it->round->plan.queues,
                                          .max_parked = it->round->plan.max_parked};
   struct agx_kmd *kmd;
   soak_check(agx_instance_create(&instance, &it->instance) == AGX_OK, "no instance");
   it->kmd = soak_kmd_open(&kmd);
   return agx_device_open_over(it->instance, &device, kmd, &it->device) == AGX_OK &&
          make_objects(it) && begin_profile(it);
}

void soak_device_close(struct soak_device *it)
{
   for (uint32_t i = 0; i < it->timeline_count; i++)
      agx_release(it->timelines[i].semaphore);
   for (uint32_t i = 0; i < SOAK_SCRATCH; i++) {
      agx_release(it->shared[i]);
      agx_release(it->scratch[i]);
   }
   for (uint32_t i = 0; i < SOAK_TABLED; i++)
      agx_release(it->tabled[i]);
   agx_release(it->parameters);
   agx_release(it->pools[0]);
   agx_release(it->pools[1]);
   agx_release(it->chain_pool);
   agx_release(it->event);
   agx_release(it->dynamic_size);
   agx_release(it->count);
   agx_release(it->add);
   agx_release(it->stray);
   agx_release(it->device);
   agx_release(it->instance);
}

/* ---- timelines ------------------------------------------------------------------------ */

static struct soak_timeline *pick(struct soak_thread *thread, struct soak_device *it)
{
   return &it->timelines[atomic_load(&it->slots[soak_below(thread, SOAK_SLOTS)])];
}

struct soak_timeline *soak_timeline_pick(struct soak_thread *thread)
{
   return pick(thread, thread->device);
}

struct soak_timeline *soak_timeline_pick_any(struct soak_thread *thread)
{
   struct soak_round *round = thread->round;
   return pick(thread, &round->devices[soak_below(thread, round->plan.devices)]);
}

bool soak_is_own(const struct soak_thread *thread, const struct soak_timeline *timeline)
{
   const struct soak_timeline *own = thread->device->timelines;
   return timeline >= own && timeline < own + SOAK_TIMELINES;
}

void soak_timeline_renew(struct soak_thread *thread)
{
   struct soak_device *it = thread->device;
   const uint32_t slot = soak_below(thread, SOAK_SLOTS);
   struct agx_semaphore *fresh = NULL;
   uint64_t value;
   uint32_t current = atomic_load(&it->slots[slot]);
   if (agx_semaphore_query(it->timelines[current].semaphore, &value) == AGX_OK ||
       atomic_load(&it->timeline_count) > SOAK_TIMELINES - SOAK_THREADS ||
       agx_semaphore_create(it->device, 0, &fresh) != AGX_OK)
      return;
   uint32_t index = atomic_fetch_add(&it->timeline_count, 1);
   it->timelines[index].semaphore = fresh;
   atomic_store(&it->slots[slot], index);
}
