/* SPDX-License-Identifier: MIT
 *
 * Folders of caches, and what is put into them.
 */
#pragma once

#include "support.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/util.h"
#include "hal/executable/disk_cache.h"
#include "hal/executable/disk_file.h"

#define BYTES 300

struct folder {
   char path[64];
   struct agx_disk_cache cache;
};

static inline void open_cache(struct folder *f, uint64_t max_B)
{
   assert_ok(agx_disk_cache_init_at(&f->cache, agx_host_alloc_default(), f->path, max_B, false));
}

static inline void make_folder(struct folder *f, uint64_t max_B)
{
   strcpy(f->path, "/tmp/agx-disk-cache-XXXXXX");
   assert_non_null(mkdtemp(f->path));
   open_cache(f, max_B);
}

static inline char *in_folder(const struct folder *f, const char *name)
{
   static char path[256];
   snprintf(path, sizeof(path), "%s/%s", f->path, name);
   return path;
}

static inline unsigned count_files(const struct folder *f, const char *part, uint64_t *bytes)
{
   unsigned count = 0;
   DIR *dir = opendir(f->path);
   assert_non_null(dir);
   *bytes = 0;
   for (struct dirent *entry; (entry = readdir(dir));) {
      struct stat stat;
      if (!strstr(entry->d_name, part))
         continue;
      if (fstatat(dirfd(dir), entry->d_name, &stat, 0) == 0)
         *bytes += (uint64_t)stat.st_size;
      count++;
   }
   closedir(dir);
   return count;
}

static inline void remove_folder(struct folder *f)
{
   agx_disk_cache_fini(&f->cache);
   chmod(f->path, 0700);
   DIR *dir = opendir(f->path);
   for (struct dirent *entry; dir && (entry = readdir(dir));)
      if (entry->d_name[0] != '.' && unlinkat(dirfd(dir), entry->d_name, 0) != 0)
         unlinkat(dirfd(dir), entry->d_name, AT_REMOVEDIR);
   if (dir)
      closedir(dir);
   assert_int_equal(rmdir(f->path), 0);
}

static inline struct agx_cache_key make_key(uint32_t number)
{
   struct agx_cache_key key = {.material_B = 1000 + number};
   for (unsigned i = 0; i < AGX_DIGEST_B; i++)
      key.digest[i] = (uint8_t)(number * 7 + i * 13 + (number >> 8));
   memcpy(key.digest, &number, sizeof(number));
   return key;
}

static inline void make_bytes(uint32_t number, uint8_t bytes[BYTES])
{
   struct agx_test_rng rng = {0xabcdef + number};
   for (unsigned i = 0; i < BYTES; i++)
      bytes[i] = (uint8_t)agx_test_random(&rng);
}

static inline void put(struct folder *f, uint32_t number)
{
   uint8_t bytes[BYTES];
   struct agx_cache_key key = make_key(number);
   make_bytes(number, bytes);
   agx_disk_cache_put(&f->cache, &key, bytes, sizeof(bytes));
}

/* Whether it is there; what is there must be right. */
static inline bool has(struct folder *f, uint32_t number)
{
   uint8_t bytes[BYTES];
   void *got;
   size_t size;
   struct agx_cache_key key = make_key(number);
   make_bytes(number, bytes);
   if (!agx_disk_cache_find(&f->cache, &key, &got, &size)) {
      assert_null(got);
      return false;
   }
   assert_int_equal(size, sizeof(bytes));
   assert_memory_equal(got, bytes, size);
   free(got);
   return true;
}

static inline struct agx_disk_cache_stats stats_of(struct folder *f)
{
   struct agx_disk_cache_stats stats;
   agx_disk_cache_get_stats(&f->cache, &stats);
   return stats;
}

static inline char *path_of(const struct folder *f, uint32_t number)
{
   char name[AGX_DISK_NAME_B];
   struct agx_cache_key key = make_key(number);
   agx_disk_name(&key, name);
   return in_folder(f, name);
}

static inline void write_file(const char *path, const void *bytes, size_t size)
{
   FILE *file = fopen(path, "wb");
   assert_non_null(file);
   assert_int_equal(fwrite(bytes, 1, size, file), size);
   fclose(file);
   chmod(path, 0600);
}
