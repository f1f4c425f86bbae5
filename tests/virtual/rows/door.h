/* SPDX-License-Identifier: MIT
 *
 * The three doors to a node that the recorded rows go through: the virtual node's functions in
 * this process (door_inside.c); the C library's (door_libc.c), as any program would, with the
 * preload library in front of them (door_preloaded.c); or the same on the kernel itself, on nodes
 * of its own drivers (door_kernel.c, run by `make test-kernel`).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct door_file;

/* Descriptors are seen as the system shows them, not as what a node in process makes them of. */
extern const bool door_has_descriptors;
/* The kernel that rows were recorded on, or an older or newer one. */
extern const bool door_is_real;

/* The chip of the node that is opened next, and a fault script for it; NULL: none. */
extern const char *door_chip, *door_script;

struct door_file *door_open(void);
/* The same, where there are buffers: on the kernel another driver has them. */
struct door_file *door_open_buffers(void);
void door_close(struct door_file *file);
/* The node's descriptor, -1 where there is none. */
int door_fd(struct door_file *file);
/* All give a negative errno for failure. */
int door_ioctl(struct door_file *file, unsigned long request, void *argument);
int door_fd_ioctl(int fd, unsigned long request, void *argument);
int door_mmap(struct door_file *file, size_t length, int prot, int flags, uint64_t offset,
              void **out_memory);
int door_mmap_fd(int fd, size_t length, int prot, int flags, void **out_memory);
void door_munmap(void *memory, size_t length);
/* Buffers by the driver's own requests, and its page in bytes. */
extern const uint64_t door_page;
int door_make_buffer(struct door_file *file, uint64_t size, uint32_t *out_handle);
int door_buffer_offset(struct door_file *file, uint32_t handle, uint64_t *out_offset);
/* Where /proc says that a descriptor leads. */
void door_name(int fd, char *name, size_t capacity);

/* Starts the program again with the library in front, where it isn't yet and should be, or
 * ends it as skipped where it can't be. */
void door_preload(const char *test_file);
/* Frees what the door made; the next open makes it anew. */
void door_shut(void);

/* Fences that stay pending: makes handle hold one (value 0), or gives it a point, that is done
 * when stream (0 or 1) fires. */
void door_pend(struct door_file *file, unsigned stream, uint32_t handle, uint64_t value);
int door_fire(unsigned stream); /* the driver's answer */
