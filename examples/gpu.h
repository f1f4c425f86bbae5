/* SPDX-License-Identifier: MIT
 *
 * What the examples need of agxhal: a device, mapped buffers, and running one kernel
 * once. Functions that return bool explain a false by gpu_error.
 */
#pragma once

#include <agx/hal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gpu {
   struct agx_instance *instance;
   struct agx_device *device;
   char name[80];
   bool is_virtual;
};

/* device: "auto", "drm", "virtual", "virtual:g14g", ...; NULL is what AGX_DEVICE says, or auto. */
bool gpu_open(const char *device, struct gpu *out_gpu);
void gpu_close(struct gpu *gpu);
const char *gpu_error(void);

/* Ends the program, with the library's text, where a call has failed. */
void gpu_check(agx_status status);

struct agx_executable *gpu_kernel(struct gpu *gpu, const void *spirv, size_t spirv_bytes);

/* An operation with its order, and nothing yet of what it does. The points are borrowed until it is
 * submitted; signal may be NULL. */
struct agx_op gpu_op(enum agx_op_kind kind, const struct agx_point *waits, uint32_t wait_count,
                     const struct agx_point *signal);

struct gpu_buffer {
   struct agx_buffer *buffer;
   void *memory;
   size_t bytes;
};

/* Zeroed memory that CPU and GPU share. */
bool gpu_buffer(struct gpu *gpu, size_t bytes, struct gpu_buffer *out_buffer);
void gpu_buffer_free(struct gpu_buffer *buffer);

struct gpu_run {
   const void *spirv;
   size_t spirv_bytes;
   struct gpu_buffer *buffers[4]; /* set 0, bindings 0, 1, ... */
   uint32_t buffer_count;
   const void *arguments; /* push constants */
   size_t argument_bytes;
   uint32_t workgroups[3];

   /* Filled by gpu_execute. */
   uint32_t instructions, bytes;
   uint32_t registers, uniforms; /* of 32 bits */
   uint32_t simd_groups;         /* that fit a core at once */
   uint32_t cycles;              /* estimate: one pass through each block */
   double ms;                    /* from submission to the end of the wait */
};

/* Compiles the kernel, runs it, and waits. */
bool gpu_execute(struct gpu *gpu, struct gpu_run *run);
