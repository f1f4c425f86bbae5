/* SPDX-License-Identifier: MIT
 *
 * agxhal: compute on Apple AGX GPUs.
 *
 * Objects are opaque and counted: a create function gives one reference, agx_retain adds
 * one, agx_release takes one back (NULL is fine). An object keeps what it needs alive: a
 * buffer its device, a command buffer the executables and buffers that it uses, a
 * submission everything until it has run.
 *
 * Descriptors start with their own size, so that old programs run with newer libraries:
 * `struct agx_x_desc desc = {.size = sizeof(desc), ...}`; fields that a smaller size leaves
 * out count as zero. Pointers in a descriptor are borrowed for the call. `next` is for
 * later extensions and must be NULL. A descriptor of NULL counts as one of zeros.
 *
 * So do structs that the library fills: their callers say by `size` what they have room for, and
 * get that much. A size below 4 or above 4096 can't be right: nothing is written then, which is
 * AGX_INVALID_ARGUMENT, or from functions without a status a warning to the instance's log.
 *
 * Pointers: what is passed to a function itself (objects, what it fills, structs without a size) is
 * not NULL unless its comment says that it may be; that is not checked. What stands in structs and
 * arrays is checked: NULL where there must be something is AGX_INVALID_ARGUMENT.
 *
 * Functions that can fail return an agx_status; agx_error_text (agx/status.h) then tells
 * what failed, with the object and the value. Sizes and offsets end in _B: bytes.
 *
 * Threads: everything may be called from any thread; a command buffer only from one at a
 * time while it is recorded. Recording a dispatch neither allocates from the heap nor takes
 * a lock nor enters the kernel.
 *
 * Processes: a child of fork(2) opens a device of its own, of an instance of its own or of its
 * parent's, which is all of its parent's that it can use. With other objects from before the fork,
 * functions that return a status refuse to do anything, AGX_FAILED_PRECONDITION, but for those that
 * look up what never changes; functions that return none do nothing, and statistics are zeros;
 * agx_release does nothing but count, since the handles are the parent's, too. Memory that was
 * mapped before is shared with the parent. A child that was forked by a function which the library
 * calls (a watch, a host call) must not return from it. Between vfork(2) and exec(2) nothing may be
 * called.
 */
#pragma once

#include "agx/buffer.h"
#include "agx/command_buffer.h"
#include "agx/descriptor_heap.h"
#include "agx/device.h"
#include "agx/executable.h"
#include "agx/file.h"
#include "agx/host_call.h"
#include "agx/image.h"
#include "agx/memory.h"
#include "agx/object.h"
#include "agx/profile.h"
#include "agx/pool.h"
#include "agx/queue.h"
#include "agx/semaphore.h"
#include "agx/status.h"
