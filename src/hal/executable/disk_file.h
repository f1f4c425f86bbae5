/* SPDX-License-Identifier: MIT
 *
 * The files of a disk cache, one at a time: names, contents, and the sum of their sizes.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "hal/executable/cache_key.h"

#define AGX_DISK_NAME_B (2 * AGX_DIGEST_B + sizeof(".agx"))
#define AGX_DISK_HEAD_B (8 + 4 + 4 + AGX_DIGEST_B + 8 + 8 + AGX_DIGEST_B)
/* No more than an ELF file of programs may have. */
#define AGX_DISK_MAX_FILE_B ((uint64_t)64 << 20)

enum agx_disk_result {
   AGX_DISK_DONE,
   AGX_DISK_NONE,    /* no such file */
   AGX_DISK_DAMAGED, /* a file that is not what it should be */
   AGX_DISK_FAILED,  /* see errno */
};

/* The file name of a key: its digest in hexadecimal digits, and ".agx". */
void agx_disk_name(const struct agx_cache_key *key, char out[AGX_DISK_NAME_B]);

/* Opens the folder, which is made if need be, private. -1: see errno; EPERM: it belongs to, or
 * can be written by, others. */
int agx_disk_open_folder(const char *path);

/* Reads a file and checks each of its bytes; its time becomes now. */
enum agx_disk_result agx_disk_read(int folder, const struct agx_cache_key *key,
                                   const struct agx_host_alloc *alloc, void **out_bytes,
                                   size_t *out_size);

/* Writes a new file of that temporary name; on failure there is none. */
enum agx_disk_result agx_disk_write(int folder, const char *name, const struct agx_cache_key *key,
                                    const void *bytes, size_t size);

/* Gives a file that agx_disk_write made its place, and sees to it that all files together stay
 * below max_B: the oldest go. Holds the folder's lock, for which it does not wait long. */
enum agx_disk_result agx_disk_place(int folder, const char *temporary, const char *name,
                                    uint64_t size_B, uint64_t max_B, uint64_t *evicted);
