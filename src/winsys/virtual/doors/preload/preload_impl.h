/* SPDX-License-Identifier: MIT
 *
 * What the parts of the preload library share: the C library's own functions, and
 * which descriptors are open files of the virtual node.
 */
#pragma once

#include <dlfcn.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "winsys/virtual/doors/recording.h"
#include "winsys/virtual/virtual.h"

#define AGXV_EXPORT __attribute__((visibility("default")))

/* Declares next_NAME: the function that stands behind ours. */
#define AGXV_NEXT(name)                                                                            \
   static _Atomic(void *) next_slot_##name;                                                        \
   __typeof__(&name) next_##name = (__typeof__(&name))agxv_next(&next_slot_##name, #name)
/* Looks the function up once, and keeps it in *slot. */
void *agxv_next(_Atomic(void *) *slot, const char *name);

/* A negative errno becomes -1 with errno. */
int agxv_to_errno(int result);

/* True while the calling thread is inside the node's own code, which must reach the C
 * library itself. */
bool agxv_is_inside(void);
/* From here on the calling thread is inside; calls nest. */
void agxv_enter(void);
/* Undoes one agxv_enter. */
void agxv_leave(void);

/* Declares `redirected`: the path to use instead of path. */
#define AGXV_REDIRECTED_AT(folder, path)                                                           \
   char redirect_buffer[PATH_MAX];                                                                 \
   const char *redirected = agxv_redirect_path(folder, path, redirect_buffer)
#define AGXV_REDIRECTED(path) AGXV_REDIRECTED_AT(AT_FDCWD, path)
/* The path to use instead of path (tree.h), which may be put into buffer. */
const char *agxv_redirect_path(int folder, const char *path, char buffer[PATH_MAX]);

/* Defines a function of the C library that is led to another path and nothing else: `arguments`
 * name the path as `redirected`. */
#define AGXV_LED_AT(type, name, folder, parameters, arguments)                                     \
   AGXV_EXPORT type name parameters                                                                \
   {                                                                                               \
      AGXV_NEXT(name);                                                                             \
      AGXV_REDIRECTED_AT(folder, path);                                                            \
      return next_##name arguments;                                                                \
   }
#define AGXV_LED(type, name, parameters, arguments)                                                \
   AGXV_LED_AT(type, name, AT_FDCWD, parameters, arguments)

#define AGXV_MAX_FDS 65536 /* higher ones can't be the node's */
struct agxv_open;          /* an open file description of the node; counted */

/* The node, made when first asked for; NULL when it can't be. */
struct agx_virtual_node *agxv_node(void);
/* As above, but NULL when it was not opened yet. */
struct agx_virtual_node *agxv_node_if_made(void);

/* fd was just opened: when it is the node's file, makes it one of ours; returns fd, or -1
 * with errno (fd is closed then). */
int agxv_adopt(int fd);
/* new_fd is a copy of old_fd (>= 0), as after dup. */
void agxv_copied(int old_fd, int new_fd);
/* The open file behind fd with a reference, or NULL. */
struct agxv_open *agxv_open_get(int fd);
/* The same, also for descriptors that came in by ways that aren't watched; foreign ones are
 * of a node that this process knows nothing of yet. */
struct agxv_open *agxv_open_find(int fd, bool may_be_foreign);
/* Gives up a reference; the last one closes the file. NULL is fine. */
void agxv_open_put(struct agxv_open *open);
/* The node's open file; valid as long as the reference. */
struct agx_virtual_file *agxv_file_of(struct agxv_open *open);
/* What records its requests, or NULL; as above. */
struct agxv_recording *agxv_recording_of(struct agxv_open *open);
/* Whether fd is the node's, as far as it was seen. */
bool agxv_is_node(int fd);
/* Whether fd is a buffer's (PRIME_HANDLE_TO_FD). */
bool agxv_is_buffer(int fd);
/* Bytes of a buffer's descriptor; 0 where it is none. */
uint64_t agxv_buffer_size(int fd);
/* Whether fd is what we show as /dev/udmabuf. */
bool agxv_is_udmabuf(int fd);
/* Whether any descriptor is the node's. */
bool agxv_has_nodes(void);
/* Takes fd out of the table, before it is closed; give the result (NULL is fine) to
 * agxv_open_put after that. */
struct agxv_open *agxv_open_take(int fd);
/* The first descriptor from that number on that is held here for the node or a recording, or
 * INT_MAX. Inside only. */
int agxv_next_own_fd(int first);
/* Whether fd is one of these, which a client can't have. */
bool agxv_is_own(int fd);
/* Makes room where a client wants the number of one of those. */
void agxv_make_room(int fd);

/* What a sync file, syncobj or buffer descriptor is called; NULL for all others. */
const char *agxv_fd_name(int fd);
/* The same by the file's inode. */
const char *agxv_inode_name(uint64_t device, uint64_t inode);
/* Whether the file is the node, by the file of the tree or by an open descriptor. */
bool agxv_is_device(uint64_t device, uint64_t inode);
