/* SPDX-License-Identifier: MIT
 *
 * The virtual AGX: the kernel side of the Asahi uAPI and the DRM core ioctls it
 * needs, with a simulated GPU behind it. Behaves as kernel 7.2 does; what it
 * accepts, a real kernel accepts, and with the same errno it refuses. All state
 * lies in one shared-memory segment (docs/decisions/0025), so that the node can be
 * shared by processes; in process it is the same code on a private mapping.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agx/chip.h"
#include "agx/sim/sim.h"
#include "base/status.h"

struct agx_virtual_node; /* one device: shared state and its worker threads */
struct agx_virtual_file; /* one open of it: handle tables */

/* Whether a node can be created with the AGX_VIRTUAL_* variables of the environment as they are;
 * AGX_INVALID_ARGUMENT names the variable, its value and what it may be. */
AGX_MUST_CHECK agx_status agx_virtual_check_environment(void);

/* Creates a node. segment_fd < 0: private to this process; else a memfd that
 * holds, or will hold, the shared state. */
AGX_MUST_CHECK agx_status agx_virtual_node_create(const struct agx_chip *chip, int segment_fd,
                                                  struct agx_virtual_node **out_node);
/* Ends the worker threads and lets the node go; its files are closed before. NULL is fine. */
void agx_virtual_node_destroy(struct agx_virtual_node *node);

/* Its chip; as long as the node. */
const struct agx_chip *agx_virtual_node_chip(const struct agx_virtual_node *node);

/* Opens the node once more; agx_virtual_close ends that. */
AGX_MUST_CHECK agx_status agx_virtual_open(struct agx_virtual_node *node,
                                           struct agx_virtual_file **out_file);
/* Frees everything created through the file, work in flight included; where other processes
 * or descriptors have it open too, the last of them does. */
void agx_virtual_close(struct agx_virtual_file *file);

/* A new descriptor that stands for the open file wherever it gets to, or a negative errno. GPU
 * memory can be mapped from it at the offsets that GEM_MMAP_OFFSET gives. */
int agx_virtual_file_fd(struct agx_virtual_file *file);
/* What such a descriptor of any process stands for: a number for agx_virtual_attach; 0 when it
 * is none of this node. */
uint64_t agx_virtual_fd_serial(struct agx_virtual_node *node, int fd);
/* Whether a file is the one that such descriptors are opened from. */
bool agx_virtual_is_segment(struct agx_virtual_node *node, uint64_t device, uint64_t inode);
/* The open file with that number, which another process may have opened. */
AGX_MUST_CHECK agx_status agx_virtual_attach(struct agx_virtual_node *node, uint64_t serial,
                                             struct agx_virtual_file **out_file);
/* Closes the files of which the last descriptor went unseen. */
void agx_virtual_reap(struct agx_virtual_node *node);
/* Tells that this program was just executed: what another program did before with the same
 * process id is over. Before anything is opened. */
void agx_virtual_new_program(struct agx_virtual_node *node);

/* Descriptors that the node holds for itself: the first from that number on, or INT_MAX;
 * and making room when the client wants the number. False when it can't be moved. */
int agx_virtual_next_own_fd(struct agx_virtual_node *node, int first);
/* Gives the number up for another one, where the node holds it; false when it can't be moved. */
bool agx_virtual_move_own_fd(struct agx_virtual_node *node, int fd);

/* One ioctl as the kernel would take it: dispatches on the request's number, copies
 * min(sizes) in and out. 0 or a negative errno. Any thread. */
int agx_virtual_ioctl(struct agx_virtual_file *file, unsigned long request, void *argument);

/* Addresses in requests of the calling thread are those of that process, which it must be
 * allowed to look into; 0: of this one again. is_there tells whether the number is still the
 * process's, and is asked after each look and before each change. */
void agx_virtual_set_caller(int32_t pid, bool (*is_there)(const void *argument),
                            const void *argument);

/* mmap(2) of the node: the host address, or NULL with *out_errno. munmap(2) undoes it; the
 * buffer's memory is given back when agx_virtual_unmapped is called as well. */
void *agx_virtual_mmap(struct agx_virtual_file *file, void *address, size_t length, int prot,
                       int flags, uint64_t offset, int *out_errno);
/* Part of what agx_virtual_mmap mapped was unmapped, or mapped over; other addresses are
 * ignored. */
void agx_virtual_unmapped(struct agx_virtual_node *node, void *address, size_t length);

/* The first bytes, `from` or later, that have memory, of what agx_virtual_mmap maps at offset:
 * others are zero, and reading them would give them memory. Both are behind its end when there are
 * none. False: it is no buffer of the file's, or may have a file of its own, which isn't asked. */
bool agx_virtual_find_memory(struct agx_virtual_file *file, uint64_t offset, uint64_t from,
                             uint64_t *out_begin, uint64_t *out_end);

/* One ioctl on a descriptor that a request gave out (sync_file, buffer); -ENOTTY when it is none
 * of ours or doesn't know the request. */
int agx_virtual_fd_ioctl(struct agx_virtual_node *node, int fd, unsigned long request,
                         void *argument);

/* What a descriptor that a request gave out is called in /proc, such as
 * "anon_inode:sync_file", by its inode; NULL when it is none of ours. Static. */
const char *agx_virtual_inode_name(struct agx_virtual_node *node, uint64_t device, uint64_t inode);
/* Whether fd is a buffer's descriptor (PRIME_HANDLE_TO_FD), of whatever node. */
bool agx_virtual_is_buffer(int fd);
/* mmap(2) of one with the checks of the kernel; a plain mmap(2) maps the same memory. NULL with
 * *out_errno 0 when fd is none. */
void *agx_virtual_mmap_fd(int fd, void *address, size_t length, int prot, int flags,
                          uint64_t offset, int *out_errno);
/* Bytes of the buffer behind such a descriptor; 0 when it is none. */
uint64_t agx_virtual_buffer_bytes(int fd);
/* As UDMABUF_CREATE: a descriptor, which PRIME takes, of bytes of a memory file from offset on;
 * or a negative errno. And as any request on /dev/udmabuf. */
int agx_virtual_udmabuf(int memory_file, uint64_t offset, uint64_t bytes, bool closes_on_exec);
/* Any request on /dev/udmabuf: a descriptor, 0 or a negative errno. */
int agx_virtual_udmabuf_ioctl(unsigned long request, void *argument);
/* What one is called in /proc: "/dmabuf:" and the name that this node was given. */
void agx_virtual_buffer_name(struct agx_virtual_node *node, uint64_t device, uint64_t inode,
                             char *name, size_t capacity);

/* The last fault or refusal in words; returns its length without the terminator. */
size_t agx_virtual_last_error(struct agx_virtual_node *node, char *text, size_t capacity);

/* Counts since the node came to be, of all processes that share it. */
struct agx_virtual_statistics {
   uint64_t submissions, failures; /* that were queued; whose fence has an error */
   uint64_t timeouts, cancelled;   /* of the failures; jobs that went with their file */
   uint64_t soft_loads, soft_stores, hard_faults;
   uint64_t outside;      /* accesses beyond what agx_virtual_declare_bounds allows */
   uint64_t renders;      /* render commands, which are not executed: their fences have -ENODATA */
   uint64_t injected;     /* what a script made happen */
   uint64_t pads;         /* in check mode: requests with a padding that isn't 0 */
   uint64_t memory_bytes; /* GPU memory in use now */
   uint64_t blocks;       /* of the node's own state in use now */
};
/* Reads the counts, after looking for processes and descriptors that went unseen. */
void agx_virtual_read_statistics(struct agx_virtual_node *node,
                                 struct agx_virtual_statistics *out_statistics);

/* A fault of a command: hard ones, and the first soft ones and accesses beyond bounds of each. */
struct agx_virtual_fault {
   uint64_t submission; /* from 1 */
   uint64_t va, pc;
   uint64_t bytes;             /* of the access; 0: not known */
   uint32_t command, dispatch; /* from 0 */
   uint32_t workgroup[3], thread;
   bool is_hard; /* it ended the command; else, with declared bounds, the first outside of them does
                  */
   char access[24]; /* "load", "store", "stream", ... */
};
/* The last ones, newest last; returns how many. */
size_t agx_virtual_read_faults(struct agx_virtual_node *node, struct agx_virtual_fault *faults,
                               size_t capacity);

/* A command that failed. */
struct agx_virtual_failure {
   uint64_t serial;     /* from 1 */
   uint64_t submission; /* from 1 */
   uint64_t stream_va;
   uint32_t queue; /* in the order of creation on the node, from 1 */
   uint32_t command;
   int32_t error;     /* of the fence, a negative errno */
   uint32_t dispatch; /* that was executed last; UINT32_MAX: not known */
   bool has_fault;    /* which ended it: */
   struct agx_virtual_fault fault;
   char text[512]; /* what ended it, in words */
};
/* Takes the oldest failed command of the file whose stream begins from first_va to last_va. The
 * last 64 of the node are kept, and each is given out once. False: there is none. */
bool agx_virtual_take_failure(struct agx_virtual_file *file, uint64_t first_va, uint64_t last_va,
                              struct agx_virtual_failure *out_failure);

/* What a launch executed. */
struct agx_virtual_counters {
   uint64_t submission, stream_va;
   uint32_t command;
   const struct agxs_dispatch_stats *stats;
};
typedef void agx_virtual_counters_fn(void *user, const struct agx_virtual_counters *counters);
/* Has fn called for each launch of the file's that this process executes from now on, before its
 * submission is done; under a lock of the node: no call of the node's functions from there. NULL:
 * no more. Counting is several times slower. -EOPNOTSUPP under chaos, which counts nothing. */
int agx_virtual_watch_counters(struct agx_virtual_file *file, agx_virtual_counters_fn *fn,
                               void *user);

/* What the launches of the stream at stream_va may access, of whatever address space, sorted by
 * dispatch: what their shaders access besides fails the command with EIO, after it has run to its
 * end. Copied; replaces what was declared for that stream, count 0 forgets it. For submissions that
 * this process executes. 0 or -ENOMEM. Any thread. */
int agx_virtual_declare_bounds(struct agx_virtual_node *node, uint64_t stream_va,
                               const struct agxs_range *ranges, uint32_t count);

/* Called first by each thread that nodes of this process start. Before the first node. */
void agx_virtual_set_thread_start(void (*start)(void));

struct agx_kmd;
/* A kmd over a node of the caller's, as its file; the node must live longer. */
AGX_MUST_CHECK agx_status agx_kmd_virtual_open_on(struct agx_virtual_node *node,
                                                  struct agx_kmd **out_kmd);
/* The node behind a kmd that agx_kmd_virtual_open gave; it goes with the kmd. */
struct agx_virtual_node *agx_kmd_virtual_node(struct agx_kmd *kmd);
/* Its open file; as above. */
struct agx_virtual_file *agx_kmd_virtual_file(struct agx_kmd *kmd);

/* What executes a compute command: agxs_run_compute, or what a test puts in its place. */
typedef agx_status agx_virtual_run_compute_fn(const struct agx_chip *chip,
                                              const struct agxs_memory *memory,
                                              const struct agxs_options *options, uint64_t usc_base,
                                              uint64_t stream_va, struct agxs_stats *out_stats);
/* For tests, before anything is submitted. */
void agx_virtual_set_run_compute(struct agx_virtual_node *node, agx_virtual_run_compute_fn *run);
/* The simulator that is built in, or NULL. */
agx_virtual_run_compute_fn *agx_virtual_default_run_compute(void);

/* The options that the environment gives (docs/virtual.md), for tests and tools; before
 * the first submission. */
enum agx_virtual_option {
   AGX_VIRTUAL_STRICT,     /* soft faults end a submission */
   AGX_VIRTUAL_EXECUTE,    /* 0: submissions complete without execution */
   AGX_VIRTUAL_THREADS,    /* of the simulator; 0: one per processor */
   AGX_VIRTUAL_TIMEOUT,    /* instructions per SIMD-group; 0: none */
   AGX_VIRTUAL_SHARING,    /* 0: no buffer gets a file of its own
                              (docs/decisions/0004-shared-buffers.md) */
   AGX_VIRTUAL_CHECK,      /* what hardware leaves undefined ends a submission */
   AGX_VIRTUAL_CHAOS,      /* a seed; 0: off */
   AGX_VIRTUAL_WORKGROUPS, /* that a command may ask for; 0: no limit */
   AGX_VIRTUAL_TIMEOUT_MS, /* milliseconds that a command may take; 0: no limit */
};
/* Sets one of them, in place of what the environment gave. */
void agx_virtual_set_option(struct agx_virtual_node *node, enum agx_virtual_option option,
                            uint64_t value);
