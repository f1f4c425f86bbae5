/* SPDX-License-Identifier: MIT
 *
 * Rows G: buffers and dma-bufs, recorded on a driver with dumb buffers (vgem), elsewhere made
 * by that driver's own requests. Its page may be several of the recorded ones, so sizes are
 * shown in its pages.
 */
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/sanitizers.h"
#include "rows/rows.h"
#include "rows/vgem.h"

#define RECORDED 4096

static unsigned long long as_recorded(uint64_t bytes)
{
   return bytes / door_page * RECORDED;
}

static uint32_t made(uint64_t size)
{
   uint32_t handle;
   assert_int_equal(door_make_buffer(file, size, &handle), 0);
   return handle;
}

static int drop(uint32_t handle)
{
   return REQUEST(GEM_CLOSE, (struct agx_uapi_gem_close){handle, 0});
}

static int export(uint32_t handle, uint32_t flags, int *fd)
{
   struct agx_uapi_prime_handle args = {handle, flags, -1};
   int result = REQUEST(PRIME_HANDLE_TO_FD, args);
   *fd = args.fd;
   return result;
}

static int import(int fd, uint32_t *handle)
{
   struct agx_uapi_prime_handle args = {0, 0, fd};
   int result = REQUEST(PRIME_FD_TO_HANDLE, args);
   *handle = args.handle;
   return result;
}

static uint32_t *mapped(uint32_t handle)
{
   uint64_t offset;
   void *memory;
   assert_int_equal(door_buffer_offset(file, handle, &offset), 0);
   assert_int_equal(door_mmap(file, door_page, 3, MAP_SHARED, offset, &memory), 0);
   return memory;
}

static uint64_t inode_of(int fd)
{
   struct stat info;
   assert_int_equal(fstat(fd, &info), 0);
   return info.st_ino;
}

static int make_square(uint32_t side)
{
   struct vgem_dumb dumb = {.width = side, .height = side, .bpp = 32};
   return door_ioctl(file, VGEM_CREATE_DUMB, &dumb);
}

static void too_much(void)
{
   uint32_t handle;
   if (door_is_real) {
      ROW("G47", make_square(UINT32_MAX));
      ROW("G48", make_square(1u << 19));
      return;
   }
   assert_int_equal(door_make_buffer(file, UINT64_MAX, &handle), -EOVERFLOW);
   assert_int_equal(door_make_buffer(file, 1ull << 40, &handle), -ENOMEM);
   rows_aside("G47", "dumb buffers' own check; too much is EOVERFLOW or ENOMEM here");
   rows_aside("G48", "dumb buffers' own check; too much is EOVERFLOW or ENOMEM here");
}

void rows_of_buffers(void **state)
{
   int fd, again, ignored;
   uint32_t a = made(400), b = made(4 * door_page), back;
   struct stat info;
   assert_int_equal(export(a, O_CLOEXEC, &fd), 0);
   assert_int_equal(fstat(fd, &info), 0);
   close(fd);
   ROW("G1", 0, "h=%u,%u size=%llu", a, b, as_recorded((uint64_t)info.st_size));
   ROW("G2", drop(a));
   ROW("G3", drop(a));
   a = made(400);
   ROW("G4", 0, "h=%u", a);
   ROW("G5", drop(0));
   ROW("G6", REQUEST(GEM_CLOSE, (struct agx_uapi_gem_close){77, 1}));
   ROW("G6b", REQUEST(GEM_CLOSE, (struct agx_uapi_gem_close){made(400), 1}));
   ROW("G7", export(a, O_CLOEXEC | O_RDWR, &fd), "cloexec=%d", fcntl(fd, F_GETFD) & FD_CLOEXEC);
   assert_int_equal(export(a, O_CLOEXEC, &again), 0);
   ROW("G8", fstat(again, &info), "fdsdiff=%d ino_eq=%d st_size=%llu", fd != again,
       inode_of(fd) == inode_of(again), as_recorded((uint64_t)info.st_size));
   char name[64] = "";
   door_name(fd, name, sizeof(name));
   ROW("G9", 0, "%s", name);
   ROW("G10", export(a, 1, &ignored));
   ROW("G15", import(fd, &back), "same handle=%d", back == a);
   ROW("G30", door_buffer_offset(file, 999, &(uint64_t){0}));
   ROW("G46", door_make_buffer(file, 0, &back));
   too_much();
   close(fd);
   close(again);
}

/* Seeking and writing, which the preload library sees to. */
static void as_a_file(int fd)
{
   static const char *const preloaded[] = {"G13", "G14", "G40", "G41", "G42"};
   char bytes[4] = "";
   ROW("G11", 0, "%llu", as_recorded((uint64_t)lseek(fd, 0, SEEK_END)));
   ROW("G12", 0, "%lld", (long long)lseek(fd, 0, SEEK_SET));
   for (unsigned i = 0; !door_has_descriptors && i < AGX_COUNT(preloaded); i++)
      rows_aside(preloaded[i], "in process it is the memory file that it is");
   if (!door_has_descriptors)
      return;
   ROW("G13", lseek(fd, 4, SEEK_SET) < 0 ? -errno : 0);
   ROW("G14", lseek(fd, 0, SEEK_CUR) < 0 ? -errno : 0);
   ROW("G40", read(fd, bytes, 4) < 0 ? -errno : 0);
   ROW("G41", write(fd, bytes, 4) < 0 ? -errno : 0);
   ROW("G42", ftruncate(fd, 0) < 0 ? -errno : 0);
}

static void requests(int fd)
{
   struct dma_buf_sync sync = {DMA_BUF_SYNC_START | DMA_BUF_SYNC_RW};
   struct dma_buf_export_sync_file fences = {DMA_BUF_SYNC_RW, -1};
   ROW("G34", door_fd_ioctl(fd, DMA_BUF_IOCTL_SYNC, &sync));
   sync.flags = 0x100;
   ROW("G35", door_fd_ioctl(fd, DMA_BUF_IOCTL_SYNC, &sync));
   ROW("G36", door_fd_ioctl(fd, DMA_BUF_IOCTL_EXPORT_SYNC_FILE, &fences));
   struct pollfd poller = {.fd = fences.fd, .events = POLLIN};
   ROW("G37", 0, "n=%d", poll(&poller, 1, 0));
   close(fences.fd);
   fences.flags = 0;
   ROW("G38", door_fd_ioctl(fd, DMA_BUF_IOCTL_EXPORT_SYNC_FILE, &fences));
   poller = (struct pollfd){.fd = fd, .events = POLLIN | POLLOUT};
   int ready = poll(&poller, 1, 0);
   ROW("G39", 0, "n=%d rev=%#x", ready, poller.revents);
   ROW("G43", door_fd_ioctl(fd, _IO('b', 99), NULL));
}

/* A second open file has the buffer by its descriptor. */
static uint32_t imported(int fd, uint32_t a)
{
   struct door_file *mine = file;
   uint32_t theirs = 0, again = 0;
   uint64_t here, there;
   int back, result = door_buffer_offset(file, a, &here);
   ROW("G18", result, "page aligned=%d >=2^32=%d", here % 4096 == 0, here >= 1ull << 32);
   file = door_open_buffers();
   ROW("G16", import(fd, &theirs), "h=%u", theirs);
   ROW("G17", import(fd, &again), "same=%d", again == theirs);
   ROW("G17b", export(theirs, O_RDWR, &back), "ino_eq=%d", inode_of(back) == inode_of(fd));
   close(back);
   ROW("G19", door_buffer_offset(file, theirs, &there), "eq=%d", here == there);
   uint32_t *memory = mapped(theirs);
   ROW("G22", 0, "%#x", memory[0]);
   door_munmap(memory, door_page);
   assert_int_equal(drop(theirs), 0);
   struct door_file *other = file;
   void *none;
   ROW("G28b", door_mmap(other, door_page, 3, MAP_SHARED, here, &none));
   door_close(other);
   file = mine;
   return theirs;
}

static void refused_mappings(int fd, uint32_t a, uint32_t four_pages)
{
   uint64_t offset;
   void *memory;
   assert_int_equal(door_buffer_offset(file, a, &offset), 0);
   ROW("G26", door_mmap(file, 2 * door_page, 3, MAP_SHARED, offset, &memory));
   ROW("G27", door_mmap_fd(fd, 2 * door_page, 3, MAP_SHARED, &memory));
   ROW("G28", door_mmap(file, door_page, 3, MAP_PRIVATE, offset, &memory));
   assert_int_equal(door_buffer_offset(file, four_pages, &offset), 0);
   ROW("G29", door_mmap(file, 2 * door_page, 3, MAP_SHARED, offset + door_page, &memory));
}

void rows_of_mappings(void **state)
{
   int fd, second;
   uint64_t offset, again;
   uint32_t a = made(400), b = made(4 * door_page), back;
   void *memory, *plain, *other;
   assert_int_equal(export(a, O_CLOEXEC | O_RDWR, &fd) | export(a, O_CLOEXEC, &second), 0);
   assert_int_equal(door_buffer_offset(file, a, &offset), 0);
   ROW("G20", door_mmap(file, door_page, 3, MAP_SHARED, offset, &memory));
   uint32_t *words = memory;
   ROW("G21", 0, "%d", words[0] == 0 && words[door_page / 4 - 1] == 0);
   words[0] = 0x1234;
   imported(fd, a);
   ROW("G23", door_mmap_fd(fd, door_page, 3, MAP_SHARED, &plain), "%#x", *(uint32_t *)plain);
   ROW("G24", door_mmap_fd(second, door_page, 3, MAP_SHARED, &other));
   door_munmap(other, door_page);
   ROW("G25", door_mmap_fd(second, door_page, 1, MAP_SHARED, &other));
   door_munmap(other, door_page);
   refused_mappings(fd, a, b);
   assert_int_equal(drop(a), 0);
   words[1] = 7;
   ROW("G31", 0, "dmabuf sees %u", ((uint32_t *)plain)[1]);
   ROW("G32", import(fd, &back), "h=%u", back);
   ROW("G33", door_buffer_offset(file, back, &again), "eq=%d", again == offset);
   struct door_file *gone = file;
   file = door_open_buffers();
   door_close(gone);
   ROW("G49", 0, "%#x", words[0]);
   close(fd);
   close(second);
   door_munmap(memory, door_page);
   door_munmap(plain, door_page);
}

void rows_of_dma_bufs(void **state)
{
   int fd;
   assert_int_equal(export(made(400), O_CLOEXEC | O_RDWR, &fd), 0);
   as_a_file(fd);
   requests(fd);
   close(fd);
}

static sigjmp_buf touched;

static void on_fault(int number, siginfo_t *info, void *context)
{
   siglongjmp(touched, number * 16 + info->si_code);
}

/* What a touch of memory that was unmapped gives: signal * 16 + code. Sanitizers may keep the
 * signal to themselves, then the host says whether anything is mapped. */
static int touch(volatile uint32_t *memory)
{
   unsigned char there[16];
   size_t page = (size_t)sysconf(_SC_PAGESIZE);
   if (AGX_SANITIZED)
      return mincore((void *)memory, page, there) == -1 && errno == ENOMEM
                ? SIGSEGV * 16 + SEGV_MAPERR
                : 0;
   struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO}, before;
   sigaction(SIGSEGV, &action, &before);
   int result = sigsetjmp(touched, 1);
   if (result == 0)
      (void)memory[0];
   sigaction(SIGSEGV, &before, NULL);
   return result;
}

static int closed_in_child(uint32_t handle)
{
   pid_t child = fork();
   if (child == 0)
      _exit(drop(handle) == 0 ? 0 : 1);
   int status = -1;
   assert_int_equal(waitpid(child, &status, 0), child);
   assert_int_equal(status, 0);
   return drop(handle);
}

void rows_of_buffers_and_forks(void **state)
{
   uint32_t *memory = mapped(made(400));
   pid_t child = fork();
   if (child == 0) {
      memory[2] = 99;
      _exit(0);
   }
   assert_int_equal(waitpid(child, NULL, 0), child);
   ROW("G44", 0, "%u", memory[2]);
   door_munmap(memory, door_page);
   int fault = touch(memory);
   ROW("G45", 0, "sig=%d code=%d", fault / 16, fault % 16);
   if (door_fd(file) >= 0) {
      int copy = dup(door_fd(file));
      struct agx_uapi_gem_close args = {made(400), 0};
      ROW("G50", door_fd_ioctl(copy, AGX_IOCTL_GEM_CLOSE, &args));
      close(copy);
   } else {
      rows_aside("G50", "no descriptor in process; the preloaded run has the row");
   }
   ROW("G51", closed_in_child(made(400)));
}
