/* SPDX-License-Identifier: MIT */
#pragma once

#include "kernels.h"

struct agx_kmd;
struct failing_kmd;

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
/* Over a kmd, which the device closes. desc NULL: zeros. */
void fixture_open_over(struct fixture *f, const struct agx_device_desc *desc, struct agx_kmd *kmd);

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

#define WORK_BUFFERS 3

/* What most tests of work use. */
struct work {
   struct fixture *f;
   struct agx_executable *count, *add; /* agx_test_count and agx_test_add */
   struct agx_buffer *buffers[WORK_BUFFERS];
   uint32_t *words[WORK_BUFFERS]; /* 64 of each buffer */
   struct agx_semaphore *done;
   struct agx_command_buffer *commands; /* work_record() makes them */
   struct fixture own;
   struct failing_kmd *kmd; /* of work_open_failing() */
};

/* On a device that is open already; work_end() leaves it open. */
void work_begin(struct work *w, struct fixture *f);
void work_end(struct work *w);
/* With a device of its own, which work_close() closes: one that fixture_open() names, or one over
 * w->kmd, which fails requests on demand. */
void work_open(struct work *w, const char *name);
void work_open_failing(struct work *w, const struct agx_device_desc *desc);
void work_close(struct work *w);
/* Commands that fill words[0] with 1, 2, 3, ... */
void work_record(struct work *w);

#define NO_POINT ((struct agx_point){0})
