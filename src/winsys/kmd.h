/* SPDX-License-Identifier: MIT
 *
 * THE seam: the only way from the driver to a kernel. A kmd is one open device
 * node; ioctl and mmap carry the uAPI's own requests, structs and offsets, so
 * that libdrm and the virtual kernel see the same bytes.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

struct agx_kmd;

/* A part of the memory that one dispatch may access. */
struct agx_kmd_range {
   uint64_t va, bytes;
   uint32_t dispatch; /* number of the launch in its stream, from 0 */
   bool is_readable, is_writable;
};

enum agx_kmd_fault_kind {
   AGX_KMD_FAULT_OTHER,   /* no access to memory: text says what */
   AGX_KMD_FAULT_ADDRESS, /* an access to what isn't mapped for it */
   AGX_KMD_FAULT_BOUNDS,  /* one outside of what declare_bounds allows */
};

/* How a command failed. */
struct agx_kmd_fault {
   uint64_t serial;     /* of the device's failed commands, from 1 */
   uint64_t submission; /* the device's own number for it, from 1 */
   uint64_t stream_va;  /* of the command */
   uint32_t queue;      /* in the order of creation on the device, from 1 */
   uint32_t command;    /* of the submission, from 0 */
   uint32_t dispatch;   /* number of the launch in its stream, from 0; UINT32_MAX: not known */
   int32_t error;       /* the fence's, a negative errno */
   uint32_t kind;       /* enum agx_kmd_fault_kind; unless it is OTHER: */
   bool is_write;
   char access[24];    /* "load", "atomic", "USC words" */
   uint64_t va, bytes; /* 0 bytes: not known */
   uint64_t pc;        /* from the start of the USC window; 0: not a shader's */
   uint32_t workgroup[3], thread;
   char text[512]; /* the device's own words */
};

/* What a launch executed. */
struct agx_kmd_counters {
   uint64_t submission; /* the device's own number for it, from 1 */
   uint64_t stream_va;  /* of the command */
   uint32_t command;    /* of the submission, from 0 */
   uint32_t dispatch;   /* number of the launch in its stream, from 0 */
   uint64_t workgroups, threads;
   uint64_t instructions; /* executed by SIMD-groups */
   uint64_t cycles;       /* that the model says the whole takes */
   uint64_t stall_cycles; /* of SIMD-groups, for operands and operations */
   uint64_t waits;        /* that met an outstanding operation */
   uint64_t bytes;        /* of memory that lanes named */
   uint64_t lines;        /* of memory, distinct in each instruction */
};

/* What a kernel does: all of it is there. */
struct agx_kmd_ops {
   /* Executes one request; 0 or a negative errno. EINTR and EAGAIN are
    * repeated below the seam, as drmIoctl does. */
   int (*ioctl)(struct agx_kmd *kmd, unsigned long request, void *argument);
   /* Maps length bytes of a GEM object at the offset that GEM_MMAP_OFFSET gave,
    * shared, readable and writable; NULL with *out_errno set on failure. */
   void *(*mmap)(struct agx_kmd *kmd, uint64_t offset, size_t length, int *out_errno);
   void (*munmap)(struct agx_kmd *kmd, void *memory, size_t length);
   /* One ioctl on a file that a request gave out, such as SYNC_IOC_FILE_INFO on the
    * sync_file of SYNCOBJ_HANDLE_TO_FD. Such a file is a real one: poll(2) and close(2)
    * work on it. 0 or a negative errno. */
   int (*fd_ioctl)(struct agx_kmd *kmd, int fd, unsigned long request, void *argument);
   /* Bytes of the dma-buf behind fd, or a negative errno. */
   int64_t (*dmabuf_bytes)(struct agx_kmd *kmd, int fd);
   /* Makes a dma-buf of a range of a memory file (memfd_create(2)) as UDMABUF_CREATE does, with
    * its rules: a descriptor that is closed on exec, or a negative errno; ENOENT or EACCES where
    * there is no /dev/udmabuf for us. */
   int (*make_dmabuf)(struct agx_kmd *kmd, int memory_file, uint64_t offset, uint64_t bytes);
   /* Closes the node; everything created through it goes. */
   void (*close)(struct agx_kmd *kmd);
};

/* What some devices offer beside a kernel's interface: recorders and the virtual device say more of
 * failures and of what launches do. Any entry may be NULL. */
struct agx_kmd_inspection {
   /* What the device itself can tell of its last failed submission (address, access,
    * dispatch), as agx_error_text does; 0 and "" when nothing failed. NULL where the
    * kernel reports no more than a fence's error. */
   size_t (*last_error)(struct agx_kmd *kmd, char *text, size_t capacity);
   /* Why a request fails that never comes to the kernel, or NULL for another reason. */
   const char *(*obstacle)(struct agx_kmd *kmd);
   /* The oldest failed command that was not taken yet, of those whose streams begin
    * from first_va to last_va; false: there is none. A device keeps few of them. */
   bool (*take_fault)(struct agx_kmd *kmd, uint64_t first_va, uint64_t last_va,
                      struct agx_kmd_fault *out_fault);
   /* Of a device that counts what launches execute. Calls fn for each launch of this node
    * from now on that runs to its end, before its submission ends; from its own
    * threads, never two calls at a time. NULL: no more, and no call is left. 0 or a negative errno:
    * EOPNOTSUPP when it doesn't count as it is set up. */
   int (*watch_counters)(struct agx_kmd *kmd,
                         void (*fn)(void *user, const struct agx_kmd_counters *counters),
                         void *user);
   /* The first bytes, `from` or later, that have memory, of the GEM object that mmap maps at
    * offset: others are zero, and looking at them would give them memory. Both are behind its end
    * when there are none. False: can't be told. NULL: objects have all of their memory. */
   bool (*find_memory)(struct agx_kmd *kmd, uint64_t offset, uint64_t from, uint64_t *out_begin,
                       uint64_t *out_end);
   /* Names a GEM object, for recorders. */
   void (*label)(struct agx_kmd *kmd, uint32_t handle, const char *text);
   /* Of a recorder: agxw_recorder_set_memory. NULL: nothing is recorded here. */
   int (*record_memory)(struct agx_kmd *kmd, bool is_recorded, const char *label);
   /* Of a device that can watch what shaders access. Says what the launches of the
    * stream at stream_va may, by ascending dispatch; every other access then fails their
    * submission. Replaces what was said of that stream; count 0 forgets it. 0 or -ENOMEM. */
   int (*declare_bounds)(struct agx_kmd *kmd, uint64_t stream_va,
                         const struct agx_kmd_range *ranges, uint32_t count);
};

/* Embedded at offset 0 of every implementation. */
struct agx_kmd {
   const struct agx_kmd_ops *ops;
   const struct agx_kmd_inspection *inspection;
   const char *name; /* such as "renderD128" or "virtual:g13g"; owned by the kmd */
   int fd;           /* the node's file, or -1 when it has none */
};

/* Opens a node of the system through libdrm; path such as "/dev/dri/renderD128". */
AGX_MUST_CHECK agx_status agx_kmd_drm_open(const char *path, struct agx_kmd **out_kmd);

/* The same for a node of any driver that has timeline syncobjs, for what asks for nothing else
 * (agxw_device_create_syncs). */
AGX_MUST_CHECK agx_status agx_kmd_drm_open_syncs(const char *path, struct agx_kmd **out_kmd);

/* Opens a virtual node in this process. chip is a name of agx/chip.def such as
 * "g13g" or "t8103"; NULL means g13g. */
AGX_MUST_CHECK agx_status agx_kmd_virtual_open(const char *chip, struct agx_kmd **out_kmd);
/* The same of the node that others in this process have opened so and not closed, if any has. */
AGX_MUST_CHECK agx_status agx_kmd_virtual_open_common(const char *chip, struct agx_kmd **out_kmd);

/* Puts a recorder between inner and its user, which writes what passes to the
 * file at path (docs/capture.md). Takes inner over, also on failure. */
AGX_MUST_CHECK agx_status agx_kmd_capture_open(struct agx_kmd *inner, const char *path,
                                               struct agx_kmd **out_kmd);
