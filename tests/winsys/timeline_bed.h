/* SPDX-License-Identifier: MIT
 *
 * A device that has timelines, and fences that stay pending until a test lets them go, on
 * whatever kernel there is. AGX_TEST_DEVICE: "virtual" (default), in process; "drm", the
 * node that the preload library shows; or the path of any driver's render node that has
 * timeline syncobjs. On the first two a pending fence is a submission whose program waits
 * for a word; on the last one vgem makes it, a card that AGX_TEST_VGEM names.
 */
#pragma once

#include "support.h"

#include "../virtual/rows/spinner.h"
#include "winsys/device_impl.h"

#define BED_STREAMS 2

struct bed {
   struct agx_kmd *kmd; /* the device's */
   struct agxw_device *device;
   bool owns_device;
   struct spinner spinners[BED_STREAMS];
   int vgem; /* the card, or -1 */
   uint32_t vgem_fences[BED_STREAMS];
};

/* AGX_TEST_DEVICE. */
const char *bed_device_name(void);

void bed_open(struct bed *bed);
/* Over a device of the caller's, which closes it later than the bed. */
void bed_open_over(struct bed *bed, struct agxw_device *device);
void bed_close(struct bed *bed);
/* Another file of the node. */
agx_status bed_open_kmd(struct agx_kmd **out_kmd);
/* The kernel is a real one. */
bool bed_is_real(const struct bed *bed);

struct agxw_timeline *bed_timeline(struct bed *bed, uint64_t initial);

/* The point gets a fence that is done once its stream is fired, or (bed_fail) that fails
 * soon with -EIO; false where the kernel has no way to make such a one. */
void bed_pend(struct bed *bed, unsigned stream, const struct agxw_point *point);
void bed_fire(struct bed *bed, unsigned stream);
bool bed_fail(struct bed *bed, const struct agxw_point *point);

/* CLOCK_MONOTONIC. */
int64_t bed_in_ms(int64_t ms);
