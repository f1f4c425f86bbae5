/* SPDX-License-Identifier: MIT
 *
 * The capture of a known dispatch, which tests of agxdump look at.
 */
#pragma once

#include <stdint.h>

/* A device with that dispatch in its memory. */
struct small_device {
   struct agxw_device *device;
   struct agxw_queue *queue;
   struct agxw_timeline *timeline;
   struct agxw_bo *bos[3]; /* code, stream and data */
   uint8_t *usc, *stream, *data;
};

/* Opens a device as agxw_kmd_open() does. */
void small_device_open(struct small_device *small, const char *name, const char *path);
/* Submits the stream at an address and waits for it. Values count up from 1; our own stream is two
 * launches, each of which adds 5 to the first byte of the data. */
void small_device_submit(struct small_device *small, uint64_t stream_va, uint64_t value);
void small_device_close(struct small_device *small);

/* Records it to path: a submission of our own stream, and one whose stream is nowhere. */
void small_capture_record(const char *path);
