/* SPDX-License-Identifier: MIT
 *
 * One kernel of the corpus on a Vulkan device: pipeline and buffers as its manifest
 * describes them, and one command buffer that holds its dispatches. What the
 * comparison (main.c) needs of Vulkan, and no more.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "manifest.h"

struct vkbench_device;
struct vkbench_kernel;

/* The first device that the loader finds with that in its name, or of type CPU (name NULL):
 * lavapipe. */
AGX_MUST_CHECK agx_status vkbench_device_open(const char *name, struct vkbench_device **out_device);
/* Destroys the device; NULL is fine. */
void vkbench_device_close(struct vkbench_device *device);
/* The name that the Vulkan driver gives it; as long as the device lives. */
const char *vkbench_device_name(const struct vkbench_device *device);

/* Builds the pipeline and fills buffers and images. */
AGX_MUST_CHECK agx_status vkbench_kernel_create(struct vkbench_device *device, const void *spirv,
                                                size_t spirv_B, const struct agx_manifest *manifest,
                                                struct vkbench_kernel **out_kernel);
/* Destroys the kernel with its buffers and images; NULL is fine. */
void vkbench_kernel_destroy(struct vkbench_kernel *kernel);

/* Content of resource number index; good until the kernel goes. That of images is what the last
 * call of vkbench_kernel_read_images found, level behind level. */
const void *vkbench_kernel_memory(const struct vkbench_kernel *kernel, uint32_t index);
/* Copies all images to their memory and waits for it. */
AGX_MUST_CHECK agx_status vkbench_kernel_read_images(struct vkbench_kernel *kernel);

/* Records the kernel `dispatches` times over a grid of workgroups, without barriers. */
AGX_MUST_CHECK agx_status vkbench_kernel_record(struct vkbench_kernel *kernel,
                                                const uint32_t workgroups[3], uint32_t dispatches);

/* Submits what was recorded and waits for it. *out_ns is the time that took. */
AGX_MUST_CHECK agx_status vkbench_kernel_execute(struct vkbench_kernel *kernel, uint64_t *out_ns);
