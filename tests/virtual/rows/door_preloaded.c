/* SPDX-License-Identifier: MIT
 *
 * The door through the C library with the preload library in front of it, which shows a
 * node. Pending fences are programs that wait for a word.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/sanitizers.h"
#include "rows/door_libc.h"
#include "rows/spinner.h"

const bool door_is_real = false;

struct door_file *door_open(void)
{
   return door_open_path("/dev/dri/renderD128");
}

struct door_file *door_open_buffers(void)
{
   return door_open();
}

void door_preload(const char *test_file)
{
   const char *library = getenv("AGX_TEST_PRELOAD");
   if (AGX_SANITIZED)
      exit(77); /* the sanitizer's runtime wants to be the first library */
   if (getenv("LD_PRELOAD"))
      return;
   setenv("LD_PRELOAD", library ? library : "", 1);
   execl("/proc/self/exe", "/proc/self/exe", test_file, NULL);
   exit(1);
}

static int spin_ioctl(void *it, unsigned long request, void *argument)
{
   return door_ioctl(it, request, argument);
}

static int spin_map_page(void *it, uint64_t offset, void **out_memory)
{
   return door_mmap(it, AGX_UAPI_PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, offset,
                    out_memory);
}

/* Of the file that made them last. */
static struct spinner spinners[2];

void door_pend(struct door_file *it, unsigned stream, uint32_t handle, uint64_t value)
{
   struct spinner *spinner = &spinners[stream];
   if (!spinner->queue)
      spin_make(spinner, (struct spinner_door){spin_ioctl, spin_map_page, it});
   *spinner->flag = 0;
   spin_submit(spinner,
               (struct agx_uapi_sync){
                  value ? AGX_UAPI_SYNC_TIMELINE_SYNCOBJ : AGX_UAPI_SYNC_SYNCOBJ, handle, value});
}

int door_fire(unsigned stream)
{
   if (spinners[stream].flag)
      *spinners[stream].flag = 1;
   return 0;
}

void door_shut(void)
{
   memset(spinners, 0, sizeof(spinners)); /* their mappings end with the process */
}
