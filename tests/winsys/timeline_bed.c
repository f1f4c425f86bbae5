/* SPDX-License-Identifier: MIT
 *
 * See timeline_bed.h.
 */
#include "timeline_bed.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "../virtual/rows/vgem.h"

const char *bed_device_name(void)
{
   const char *name = getenv("AGX_TEST_DEVICE");
   return name ? name : "virtual";
}

static int open_vgem(void)
{
   const char *card = getenv("AGX_TEST_VGEM");
   int fd = open(card ? card : "", O_RDWR | O_CLOEXEC);
   if (fd < 0)
      fail_msg("AGX_TEST_VGEM: \"%s\" can't be opened", card ? card : "");
   return fd;
}

static bool is_path(const char *name)
{
   return strchr(name, '/') != NULL;
}

agx_status bed_open_kmd(struct agx_kmd **out_kmd)
{
   const char *name = bed_device_name();
   return is_path(name) ? agx_kmd_drm_open_syncs(name, out_kmd)
                        : agxw_kmd_open(name, NULL, out_kmd);
}

void bed_open_over(struct bed *bed, struct agxw_device *device)
{
   *bed = (struct bed){.kmd = device->kmd, .device = device, .vgem = -1};
   if (is_path(bed_device_name()))
      bed->vgem = open_vgem();
}

void bed_open(struct bed *bed)
{
   struct agx_kmd *kmd;
   struct agxw_device *device;
   assert_ok(bed_open_kmd(&kmd));
   assert_ok(agxw_device_create_syncs(kmd, NULL, &device));
   bed_open_over(bed, device);
   bed->owns_device = true;
}

void bed_close(struct bed *bed)
{
   for (unsigned i = 0; i < BED_STREAMS; i++) {
      bed_fire(bed, i);
      if (bed->spinners[i].flag)
         bed->kmd->ops->munmap(bed->kmd, (void *)bed->spinners[i].flag, AGX_UAPI_PAGE_BYTES);
   }
   if (bed->owns_device)
      agxw_device_destroy(bed->device);
   if (bed->vgem >= 0)
      close(bed->vgem);
}

bool bed_is_real(const struct bed *bed)
{
   return bed->vgem >= 0;
}

struct agxw_timeline *bed_timeline(struct bed *bed, uint64_t initial)
{
   struct agxw_timeline *timeline;
   assert_ok(agxw_timeline_create(bed->device, initial, &timeline));
   return timeline;
}

static int spin_ioctl(void *user, unsigned long request, void *argument)
{
   struct agx_kmd *kmd = user;
   return kmd->ops->ioctl(kmd, request, argument);
}

static int spin_map_page(void *user, uint64_t offset, void **out_memory)
{
   struct agx_kmd *kmd = user;
   int error = 0;
   *out_memory = kmd->ops->mmap(kmd, offset, AGX_UAPI_PAGE_BYTES, &error);
   return -error;
}

static struct spinner *spinner_of(struct bed *bed, unsigned stream)
{
   struct spinner *spinner = &bed->spinners[stream];
   if (!spinner->queue)
      spin_make(spinner, (struct spinner_door){spin_ioctl, spin_map_page, bed->kmd});
   return spinner;
}

static struct agx_uapi_sync sync_of(const struct agxw_point *point)
{
   return (struct agx_uapi_sync){AGX_UAPI_SYNC_TIMELINE_SYNCOBJ, point->timeline->handle,
                                 point->value};
}

void bed_pend(struct bed *bed, unsigned stream, const struct agxw_point *point)
{
   if (bed_is_real(bed)) {
      int fd = vgem_pend(bed->vgem, &bed->vgem_fences[stream]);
      assert_true(fd >= 0);
      assert_ok(agxw_point_import_sync_file(point, fd));
      close(fd);
      return;
   }
   struct spinner *spinner = spinner_of(bed, stream);
   *spinner->flag = 0;
   spin_submit(spinner, sync_of(point));
}

void bed_fire(struct bed *bed, unsigned stream)
{
   if (bed->vgem_fences[stream])
      vgem_fire(bed->vgem, &bed->vgem_fences[stream]);
   if (bed->spinners[stream].flag)
      *bed->spinners[stream].flag = 1;
}

bool bed_fail(struct bed *bed, const struct agxw_point *point)
{
   if (bed_is_real(bed))
      return false;
   spin_submit_stream(spinner_of(bed, 0), 0x3000000000, sync_of(point)); /* nothing is there */
   return true;
}

int64_t bed_in_ms(int64_t ms)
{
   struct timespec now;
   clock_gettime(CLOCK_MONOTONIC, &now);
   return now.tv_sec * INT64_C(1000000000) + now.tv_nsec + ms * 1000000;
}
