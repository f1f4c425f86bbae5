/* SPDX-License-Identifier: MIT
 *
 * Files of the disk cache. A file is a head and the bytes that were put: the head names the key,
 * both lengths, and a digest of everything else in the file. It gets its name by a rename when it
 * is whole, so readers need no lock. The file `index` has the sum of all sizes, an estimate that is
 * never too low for long: who finds it above the limit counts anew and removes the oldest. Only
 * names that the cache itself gives are ever removed.
 */
#include "hal/executable/disk_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/util.h"

#define FORMAT 1u

/* Where things are in the head. */
#define AT_FORMAT   8
#define AT_SIZE     12
#define AT_KEY      16
#define AT_MATERIAL (AT_KEY + AGX_DIGEST_B)
#define AT_BYTES    (AT_MATERIAL + 8)
#define AT_DIGEST   (AT_BYTES + 8)
_Static_assert(AT_DIGEST + AGX_DIGEST_B == AGX_DISK_HEAD_B, "the head ends with its digest");

#define INDEX_NAME     "index"
#define INDEX_B        16
#define LOCK_TRIES     50  /* a millisecond apart */
#define STALE_S        600 /* a temporary file of this age has lost its owner */
#define EVICTION_SHARE 4   /* a quarter of the limit is free after an eviction */

static const char magic[8] = "agxcache", index_magic[8] = "agxindex";

static void put_number(uint8_t *at, uint64_t value, unsigned bytes)
{
   for (unsigned i = 0; i < bytes; i++)
      at[i] = (uint8_t)(value >> 8 * i);
}

static uint64_t get_number(const uint8_t *at, unsigned bytes)
{
   uint64_t value = 0;
   for (unsigned i = 0; i < bytes; i++)
      value |= (uint64_t)at[i] << 8 * i;
   return value;
}

void agx_disk_name(const struct agx_cache_key *key, char out[AGX_DISK_NAME_B])
{
   for (unsigned i = 0; i < AGX_DIGEST_B; i++)
      snprintf(out + 2 * i, 3, "%02x", key->digest[i]);
   memcpy(out + 2 * AGX_DIGEST_B, ".agx", sizeof(".agx"));
}

/* ---- the folder --------------------------------------------------------- */

static bool is_private(const struct stat *stat)
{
   return stat->st_uid == geteuid() && !(stat->st_mode & (S_IWGRP | S_IWOTH));
}

/* As mkdir -p; folders that are there are left as they are. */
static void make_folders(const char *path)
{
   char part[PATH_MAX];
   size_t length = strlen(path);
   if (length >= sizeof(part))
      return;
   memcpy(part, path, length + 1);
   for (size_t i = 1; i <= length; i++) {
      if (part[i] != '/' && part[i] != 0)
         continue;
      part[i] = 0;
      (void)!mkdir(part, 0700); /* opening it says what is wrong */
      part[i] = path[i];
   }
}

int agx_disk_open_folder(const char *path)
{
   const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
   struct stat stat;
   int folder = open(path, flags);
   if (folder < 0 && errno == ENOENT) {
      make_folders(path);
      folder = open(path, flags);
   }
   if (folder < 0 || (fstat(folder, &stat) == 0 && is_private(&stat)))
      return folder;
   close(folder);
   errno = EPERM;
   return -1;
}

/* ---- reading and writing --------------------------------------------------- */

static bool read_fully(int fd, void *bytes, size_t size)
{
   for (size_t at = 0; at < size;) {
      ssize_t got = read(fd, (char *)bytes + at, size - at);
      if (got < 0 && errno == EINTR)
         continue;
      if (got <= 0)
         return false;
      at += (size_t)got;
   }
   return true;
}

static bool write_fully(int fd, const void *bytes, size_t size)
{
   for (size_t at = 0; at < size;) {
      ssize_t put = write(fd, (const char *)bytes + at, size - at);
      if (put < 0 && errno == EINTR)
         continue;
      if (put <= 0)
         return false;
      at += (size_t)put;
   }
   return true;
}

static void make_head(uint8_t head[AGX_DISK_HEAD_B], const struct agx_cache_key *key,
                      const void *bytes, size_t size)
{
   struct agx_digest digest;
   memcpy(head, magic, sizeof(magic));
   put_number(head + AT_FORMAT, FORMAT, 4);
   put_number(head + AT_SIZE, AGX_DISK_HEAD_B, 4);
   memcpy(head + AT_KEY, key->digest, AGX_DIGEST_B);
   put_number(head + AT_MATERIAL, key->material_B, 8);
   put_number(head + AT_BYTES, size, 8);
   agx_digest_init(&digest);
   agx_digest_add(&digest, head, AT_DIGEST);
   agx_digest_add(&digest, bytes, size);
   agx_digest_end(&digest, head + AT_DIGEST);
}

/* The rest of an open file whose size has been seen. */
static enum agx_disk_result read_open(int fd, uint64_t file_B, const struct agx_cache_key *key,
                                      const struct agx_host_alloc *alloc, void **out_bytes,
                                      size_t *out_size)
{
   uint8_t head[AGX_DISK_HEAD_B], expected[AGX_DISK_HEAD_B];
   if (file_B <= sizeof(head) || file_B > AGX_DISK_MAX_FILE_B ||
       !read_fully(fd, head, sizeof(head)))
      return AGX_DISK_DAMAGED;
   size_t size = (size_t)(file_B - sizeof(head));
   if (get_number(head + AT_BYTES, 8) != size)
      return AGX_DISK_DAMAGED;
   void *bytes = agx_host_zalloc(alloc, size);
   if (!bytes) {
      errno = ENOMEM;
      return AGX_DISK_FAILED;
   }
   if (read_fully(fd, bytes, size)) {
      make_head(expected, key, bytes, size);
      if (memcmp(head, expected, sizeof(head)) == 0) {
         *out_bytes = bytes;
         *out_size = size;
         return AGX_DISK_DONE;
      }
   }
   agx_host_free(alloc, bytes, size);
   return AGX_DISK_DAMAGED;
}

enum agx_disk_result agx_disk_read(int folder, const struct agx_cache_key *key,
                                   const struct agx_host_alloc *alloc, void **out_bytes,
                                   size_t *out_size)
{
   char name[AGX_DISK_NAME_B];
   struct stat stat;
   agx_disk_name(key, name);
   /* Neither a link to elsewhere, nor a fifo that would block. */
   int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
   if (fd < 0)
      return errno == ENOENT ? AGX_DISK_NONE : errno == ELOOP ? AGX_DISK_DAMAGED : AGX_DISK_FAILED;
   enum agx_disk_result result = AGX_DISK_DAMAGED;
   if (fstat(fd, &stat) == 0 && S_ISREG(stat.st_mode) && is_private(&stat))
      result = read_open(fd, (uint64_t)stat.st_size, key, alloc, out_bytes, out_size);
   if (result == AGX_DISK_DONE) {
      const struct timespec now[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_nsec = UTIME_NOW}};
      (void)!futimens(fd, now); /* read-only folders forget what was used last */
   }
   int error = errno;
   close(fd);
   errno = error;
   return result;
}

enum agx_disk_result agx_disk_write(int folder, const char *name, const struct agx_cache_key *key,
                                    const void *bytes, size_t size)
{
   uint8_t head[AGX_DISK_HEAD_B];
   int fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
   if (fd < 0)
      return AGX_DISK_FAILED;
   make_head(head, key, bytes, size);
   bool is_written = write_fully(fd, head, sizeof(head)) && write_fully(fd, bytes, size);
   int error = errno;
   if (close(fd) != 0 && is_written) {
      is_written = false;
      error = errno;
   }
   if (is_written)
      return AGX_DISK_DONE;
   unlinkat(folder, name, 0);
   errno = error;
   return AGX_DISK_FAILED;
}

/* ---- the sum ----------------------------------------------------------------- */

struct old_file {
   struct timespec time;
   uint64_t size_B;
   char name[AGX_DISK_NAME_B];
};

struct listing {
   struct old_file *files;
   size_t count, capacity;
   uint64_t total_B;
};

static bool is_cache_name(const char *name)
{
   size_t digits = strspn(name, "0123456789abcdef");
   return digits == 2 * AGX_DIGEST_B && strcmp(name + digits, ".agx") == 0;
}

static bool add_file(struct listing *listing, const char *name, const struct stat *stat)
{
   if (listing->count == listing->capacity) {
      size_t capacity = AGX_MAX(listing->capacity * 2, (size_t)64);
      struct old_file *files = realloc(listing->files, capacity * sizeof(*files));
      if (!files)
         return false;
      listing->files = files;
      listing->capacity = capacity;
   }
   struct old_file *file = &listing->files[listing->count++];
   file->time = stat->st_mtim;
   file->size_B = (uint64_t)stat->st_size;
   memcpy(file->name, name, sizeof(file->name));
   listing->total_B += file->size_B;
   return true;
}

/* All files of the cache; temporary ones of the dead are removed on the way. */
static bool list_files(int folder, struct listing *listing)
{
   int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
   DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
   if (!dir) {
      if (fd >= 0)
         close(fd);
      return false;
   }
   bool is_listed = true;
   time_t now = time(NULL);
   for (struct dirent *entry; is_listed && (entry = readdir(dir));) {
      struct stat stat;
      bool is_temporary = strncmp(entry->d_name, "tmp.", 4) == 0;
      if ((!is_temporary && !is_cache_name(entry->d_name)) ||
          fstatat(folder, entry->d_name, &stat, AT_SYMLINK_NOFOLLOW) != 0)
         continue;
      if (!is_temporary)
         is_listed = add_file(listing, entry->d_name, &stat);
      else if (S_ISREG(stat.st_mode) && now - stat.st_mtim.tv_sec > STALE_S)
         unlinkat(folder, entry->d_name, 0);
   }
   closedir(dir);
   return is_listed;
}

static int by_age(const void *a, const void *b)
{
   const struct old_file *left = a, *right = b;
   if (left->time.tv_sec != right->time.tv_sec)
      return left->time.tv_sec < right->time.tv_sec ? -1 : 1;
   if (left->time.tv_nsec != right->time.tv_nsec)
      return left->time.tv_nsec < right->time.tv_nsec ? -1 : 1;
   return strcmp(left->name, right->name);
}

/* Counts what there is and makes room for size_B more, if there is less; the new sum. */
static bool make_room(int folder, uint64_t size_B, uint64_t max_B, uint64_t *total_B,
                      uint64_t *evicted)
{
   struct listing listing = {0};
   bool is_listed = list_files(folder, &listing);
   if (is_listed && listing.total_B + size_B > max_B) {
      uint64_t wanted_B = AGX_MAX(max_B - max_B / EVICTION_SHARE, size_B) - size_B;
      qsort(listing.files, listing.count, sizeof(*listing.files), by_age);
      for (size_t i = 0; i < listing.count && listing.total_B > wanted_B; i++) {
         if (unlinkat(folder, listing.files[i].name, 0) != 0 && errno != ENOENT)
            continue;
         listing.total_B -= listing.files[i].size_B;
         *evicted += 1;
      }
   }
   *total_B = listing.total_B;
   free(listing.files);
   return is_listed && *total_B + size_B <= max_B;
}

/* Opens and locks the index. A process that sleeps with the lock must not stop others. */
static int lock_index(int folder)
{
   int fd =
      openat(folder, INDEX_NAME, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
   struct stat stat;
   if (fd < 0)
      return -1;
   if (fstat(fd, &stat) != 0 || !S_ISREG(stat.st_mode) || !is_private(&stat)) {
      close(fd);
      errno = EINVAL;
      return -1;
   }
   for (int i = 0; flock(fd, LOCK_EX | LOCK_NB) != 0; i++) {
      const struct timespec pause = {.tv_nsec = 1000000};
      if (i == LOCK_TRIES || (errno != EWOULDBLOCK && errno != EINTR)) {
         int error = errno;
         close(fd);
         errno = error;
         return -1;
      }
      nanosleep(&pause, NULL);
   }
   return fd;
}

/* The sum, or one that makes everybody count. */
static uint64_t read_total(int index)
{
   uint8_t bytes[INDEX_B];
   if (pread(index, bytes, sizeof(bytes), 0) != sizeof(bytes) ||
       memcmp(bytes, index_magic, sizeof(index_magic)) != 0)
      return UINT64_MAX;
   return get_number(bytes + 8, 8);
}

static bool write_total(int index, uint64_t total_B)
{
   uint8_t bytes[INDEX_B];
   memcpy(bytes, index_magic, sizeof(index_magic));
   put_number(bytes + 8, total_B, 8);
   return pwrite(index, bytes, sizeof(bytes), 0) == sizeof(bytes);
}

static bool place_locked(int folder, int index, const char *temporary, const char *name,
                         uint64_t size_B, uint64_t max_B, uint64_t *evicted)
{
   uint64_t total_B = read_total(index);
   if ((total_B > max_B || size_B > max_B - total_B) &&
       !make_room(folder, size_B, max_B, &total_B, evicted)) {
      errno = ENOSPC;
      return false;
   }
   /* The sum first: a process that dies between the two leaves one that is too high. */
   return write_total(index, total_B + size_B) && renameat(folder, temporary, folder, name) == 0;
}

enum agx_disk_result agx_disk_place(int folder, const char *temporary, const char *name,
                                    uint64_t size_B, uint64_t max_B, uint64_t *evicted)
{
   int index = lock_index(folder);
   bool is_placed =
      index >= 0 && place_locked(folder, index, temporary, name, size_B, max_B, evicted);
   int error = errno;
   if (!is_placed)
      unlinkat(folder, temporary, 0);
   if (index >= 0)
      close(index);
   errno = error;
   return is_placed ? AGX_DISK_DONE : AGX_DISK_FAILED;
}
