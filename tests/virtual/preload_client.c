/* SPDX-License-Identifier: MIT
 *
 * A program that knows libdrm; preload_test.c runs it with the preload library. Says what it found
 * on standard output.
 */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <xf86drm.h>

#include "client.h"
#include "winsys/asahi_uapi.h"

static void find_it(void)
{
   drmDevicePtr devices[4];
   CHECK(drmGetDevices2(0, devices, 4) == 1);
   CHECK(devices[0]->available_nodes == 1 << DRM_NODE_RENDER);
   CHECK(devices[0]->bustype == DRM_BUS_PLATFORM);
   printf("device %s %s %s\n", devices[0]->nodes[DRM_NODE_RENDER],
          devices[0]->businfo.platform->fullname, devices[0]->deviceinfo.platform->compatible[0]);
   drmFreeDevices(devices, 1);
}

static void look_at_paths(void)
{
   struct stat info;
   char path[PATH_MAX];
   CHECK(stat(NODE, &info) == 0 && S_ISCHR(info.st_mode) && info.st_rdev == makedev(226, 128));
   CHECK(lstat("/dev/dri", &info) == 0 && S_ISDIR(info.st_mode));
   CHECK(access(NODE, R_OK | W_OK) == 0);
   CHECK(access("/dev/dri/renderD129", F_OK) == -1 && errno == ENOENT);
   CHECK(realpath("/sys/dev/char/226:128/device", path));
   /* As ls -l does: the file system may not know labels, but the file is there. */
   CHECK(getxattr("/dev/dri/renderD128", "user.none", NULL, 0) == -1 && errno != ENOENT);
   CHECK(lgetxattr("/dev/dri", "user.none", NULL, 0) == -1 && errno != ENOENT);
   CHECK(listxattr("/dev/dri", NULL, 0) >= 0 || errno != ENOENT);
   CHECK(llistxattr("/dev/dri/renderD128", NULL, 0) >= 0 || errno != ENOENT);
   CHECK(strncmp(path, "/sys/devices/platform/", 22) == 0);
   DIR *folder = opendir("/dev/dri");
   CHECK(folder);
   unsigned entries = 0;
   for (struct dirent *entry; (entry = readdir(folder));)
      entries += strcmp(entry->d_name, "renderD128") == 0;
   closedir(folder);
   CHECK(entries == 1);
   struct dirent **list;
   int count = scandir("/dev/dri", &list, NULL, alphasort);
   CHECK(count == 3);
   for (int i = 0; i < count; i++)
      free(list[i]);
   free(list);
   folder = opendir("/dev/dri");
   int fd = openat(dirfd(folder), "renderD128", O_RDWR | O_CLOEXEC);
   closedir(folder);
   CHECK(fd >= 0 && drmGetNodeTypeFromFd(fd) == DRM_NODE_RENDER);
   close(fd);
}

static void ask_it(int fd)
{
   drmVersionPtr version = drmGetVersion(fd);
   CHECK(version);
   struct agx_uapi_params_global params = {0};
   struct agx_uapi_get_params get = {0, 0, (uintptr_t)&params, sizeof(params)};
   CHECK(drmIoctl(fd, AGX_IOCTL_ASAHI_GET_PARAMS, &get) == 0);
   printf("driver %s %d.%d.%d chip %x\n", version->name, version->version_major,
          version->version_minor, version->version_patchlevel, params.chip_id);
   drmFreeVersion(version);
   uint64_t value = 0;
   CHECK(drmGetCap(fd, DRM_CAP_SYNCOBJ_TIMELINE, &value) == 0 && value == 1);
   CHECK(drmGetCap(fd, 0x77, &value) == -1 && errno == EOPNOTSUPP);
   drmDevicePtr device;
   CHECK(drmGetDevice2(fd, 0, &device) == 0);
   drmFreeDevice(&device);
   char *name = drmGetRenderDeviceNameFromFd(fd);
   CHECK(name && strcmp(name, NODE) == 0);
   free(name);
   char byte;
   CHECK(write(fd, "x", 1) == -1 && errno == EINVAL);
   CHECK(read(fd, &byte, 1) == -1 && errno == EAGAIN);
}

static void use_memory(int fd)
{
   struct agx_uapi_gem_create create = {.size = 40000};
   CHECK(drmIoctl(fd, AGX_IOCTL_ASAHI_GEM_CREATE, &create) == 0 && create.handle == 1);
   struct agx_uapi_gem_mmap_offset offset = {.handle = 1};
   CHECK(drmIoctl(fd, AGX_IOCTL_ASAHI_GEM_MMAP_OFFSET, &offset) == 0);
   size_t size = 3 * AGX_UAPI_PAGE_BYTES;
   char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)offset.offset);
   char *again = mmap(NULL, size, PROT_READ, MAP_SHARED, dup(fd), (off_t)offset.offset);
   CHECK(memory != MAP_FAILED && again != MAP_FAILED && memory != again);
   CHECK(mmap(NULL, 2 * size, PROT_READ, MAP_SHARED, fd, (off_t)offset.offset) == MAP_FAILED &&
         errno == EINVAL);
   memory[size - 1] = 42;
   CHECK(again[size - 1] == 42 && again[0] == 0);
   pid_t child = fork();
   if (child == 0) {
      memory[1] = 43;
      _exit(0);
   }
   CHECK(waitpid(child, NULL, 0) == child && again[1] == 43);
   CHECK(munmap(memory, size) == 0 && munmap(again, size) == 0);
}

static void use_syncobjs(int fd)
{
   uint32_t handle;
   CHECK(drmSyncobjCreate(fd, 0, &handle) == 0);
   CHECK(drmSyncobjWait(fd, &handle, 1, 0, 0, NULL) == -EINVAL);
   CHECK(drmSyncobjWait(fd, &handle, 1, 0, DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT, NULL) == -ETIME);
   CHECK(drmSyncobjSignal(fd, &handle, 1) == 0);
   CHECK(drmSyncobjWait(fd, &handle, 1, 0, 0, NULL) == 0);
   int sync_fd = -1;
   CHECK(drmSyncobjExportSyncFile(fd, handle, &sync_fd) == 0);
   CHECK(drmSyncobjImportSyncFile(fd, handle, sync_fd) == 0);
   close(sync_fd);
   int shared = -1;
   uint32_t other;
   CHECK(drmSyncobjHandleToFD(fd, handle, &shared) == 0);
   CHECK(drmSyncobjFDToHandle(fd, shared, &other) == 0 && other != handle);
   close(shared);
   CHECK(drmSyncobjDestroy(fd, handle) == 0 && drmSyncobjDestroy(fd, other) == 0);
}

/* Buffers and fences as descriptors: what they are called, and mapping one. */
static void pass_descriptors(int fd)
{
   struct agx_uapi_gem_create create = {.size = AGX_UAPI_PAGE_BYTES};
   CHECK(drmIoctl(fd, AGX_IOCTL_ASAHI_GEM_CREATE, &create) == 0);
   struct agx_uapi_gem_mmap_offset offset = {.handle = create.handle};
   CHECK(drmIoctl(fd, AGX_IOCTL_ASAHI_GEM_MMAP_OFFSET, &offset) == 0);
   int buffer = -1;
   CHECK(drmPrimeHandleToFD(fd, create.handle, DRM_CLOEXEC | DRM_RDWR, &buffer) == 0);
   CHECK(lseek(buffer, 0, SEEK_END) == AGX_UAPI_PAGE_BYTES);
   int *there = mmap(NULL, AGX_UAPI_PAGE_BYTES, PROT_READ, MAP_SHARED, buffer, 0);
   int *here =
      mmap(NULL, AGX_UAPI_PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)offset.offset);
   CHECK(here != MAP_FAILED && there != MAP_FAILED);
   here[7] = 77;
   CHECK(there[7] == 77);
   close(buffer);
   uint32_t handle;
   int sync_file = -1;
   char path[64], name[64] = "";
   CHECK(drmSyncobjCreate(fd, DRM_SYNCOBJ_CREATE_SIGNALED, &handle) == 0);
   CHECK(drmSyncobjExportSyncFile(fd, handle, &sync_file) == 0);
   snprintf(path, sizeof(path), "/proc/self/fd/%d", sync_file);
   CHECK(readlink(path, name, sizeof(name) - 1) > 0 && strcmp(name, "anon_inode:sync_file") == 0);
   CHECK(read(sync_file, name, 1) == -1 && errno == EINVAL);
   struct pollfd both[] = {{.fd = sync_file, .events = POLLIN}, {.fd = fd, .events = POLLIN}};
   CHECK(poll(both, 2, 0) == 1 && both[0].revents == POLLIN && both[1].revents == 0);
   CHECK(lseek(fd, 0, SEEK_CUR) == 0);
   close(sync_file);
}

/* The file lives as long as one of its descriptors. */
static void copy_descriptors(void)
{
   int first = open(NODE, O_RDWR | O_CLOEXEC);
   CHECK(first >= 0);
   int second = fcntl(first, F_DUPFD_CLOEXEC, 50);
   CHECK(second >= 50);
   uint32_t handle, next;
   CHECK(drmSyncobjCreate(first, 0, &handle) == 0);
   close(first);
   CHECK(drmSyncobjCreate(second, 0, &next) == 0 && next == handle + 1);
   close(second);
   first = open(NODE, O_RDWR);
   CHECK(first >= 0 && drmSyncobjCreate(first, 0, &handle) == 0 && handle == 1);
   close(first);
   CHECK(drmIoctl(first, DRM_IOCTL_GEM_CLOSE, &handle) == -1 && errno == EBADF);
}

int client_libdrm(void)
{
   find_it();
   look_at_paths();
   int fd = open(NODE, O_RDWR | O_CLOEXEC);
   CHECK(fd >= 0);
   ask_it(fd);
   use_memory(fd);
   use_syncobjs(fd);
   pass_descriptors(fd);
   close(fd);
   copy_descriptors();
   printf("fine\n");
   return 0;
}

int client_draws(void)
{
   const uint32_t pad = 7;
   struct agx_uapi_vm_create vm = {
      .kernel_start = 0x7000000000, .kernel_end = 0x7fffff8000, .pad = pad};
   struct agx_uapi_queue_create queue = {0};
   struct {
      struct agx_uapi_cmd_header header;
      struct agx_uapi_cmd_render render;
   } commands = {
      {AGX_UAPI_CMD_RENDER, sizeof(commands.render), AGX_UAPI_BARRIER_NONE, AGX_UAPI_BARRIER_NONE},
      {.vdm_ctrl_stream_base = 0x4000,
       .width_px = 64,
       .height_px = 64,
       .layers = 1,
       .samples = 1,
       .utile_width_px = 32,
       .utile_height_px = 32}};
   struct agx_uapi_sync out = {.sync_type = AGX_UAPI_SYNC_SYNCOBJ};
   int fd = open(NODE, O_RDWR | O_CLOEXEC);
   CHECK(fd >= 0);
   CHECK(drmIoctl(fd, AGX_IOCTL_ASAHI_VM_CREATE, &vm) == 0);
   queue.vm_id = vm.vm_id;
   CHECK(drmIoctl(fd, AGX_IOCTL_ASAHI_QUEUE_CREATE, &queue) == 0);
   CHECK(drmSyncobjCreate(fd, 0, &out.handle) == 0);
   struct agx_uapi_submit submit = {.syncs = (uintptr_t)&out,
                                    .cmdbuf = (uintptr_t)&commands,
                                    .queue_id = queue.queue_id,
                                    .out_sync_count = 1,
                                    .cmdbuf_size = sizeof(commands)};
   CHECK(drmIoctl(fd, AGX_IOCTL_ASAHI_SUBMIT, &submit) == 0);
   CHECK(drmSyncobjWait(fd, &out.handle, 1, INT64_MAX, 0, NULL) == 0);
   printf("fine\n");
   return 0;
}
