/* SPDX-License-Identifier: MIT */
#pragma once

#include "kernels.h"

/* A virtual device and what most tests need of it. */
struct fixture {
   struct agx_instance *instance;
   struct agx_device *device;
   struct agx_device_info info;
};

/* name as agx_device_open takes it; or "syncs:PATH", the render node of any driver: a device that
 * has semaphores only, with a core_count of 0. */
void fixture_open(struct fixture *f, const char *name);
agx_status fixture_open_device(struct agx_instance *instance, const char *name,
                               struct agx_device **out_device);
void fixture_close(struct fixture *f);

struct agx_executable *fixture_kernel(struct fixture *f, const struct agx_test_kernel *kernel);
struct agx_buffer *fixture_buffer(struct fixture *f, uint64_t size, uint32_t **out_words);
struct agx_semaphore *fixture_semaphore(struct fixture *f);
struct agx_command_buffer *fixture_begin(struct fixture *f);

/* Records one dispatch over whole buffers. */
void fixture_dispatch(struct agx_command_buffer *commands, struct agx_executable *executable,
                      uint32_t workgroups, struct agx_buffer **buffers, uint32_t count,
                      const void *push, uint32_t push_B);

/* One operation that executes commands (NULL: a barrier), waiting for and signalling one
 * point each; a semaphore of NULL leaves it out. */
agx_status fixture_submit(struct fixture *f, struct agx_command_buffer *commands,
                          struct agx_point wait, struct agx_point signal);
agx_status fixture_wait(struct agx_semaphore *semaphore, uint64_t value);

#define NO_POINT ((struct agx_point){0})
