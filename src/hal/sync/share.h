/* SPDX-License-Identifier: MIT
 *
 * Semaphores and files: each kind of file has a pair of functions behind agx_semaphore_export and
 * agx_semaphore_import_point (share.c).
 */
#pragma once

#include "hal/sync/semaphore.h"

/* sync_file.c. The value waits for the sync_file's fences; fd is the library's when it succeeds. */
AGX_MUST_CHECK AGX_SYNC_UNLOCKED agx_status agx_import_sync_file(struct agx_semaphore *semaphore,
                                                                 uint64_t value, int fd);
/* A sync_file of the fences of all that the value depends on, which is the caller's.
 * AGX_FAILED_PRECONDITION: the value was not submitted yet. */
AGX_MUST_CHECK AGX_SYNC_UNLOCKED agx_status agx_export_sync_file(struct agx_semaphore *semaphore,
                                                                 uint64_t value, int *out_fd);

/* file_wait.c. The value waits until the file is readable; fd is the library's when it succeeds. */
AGX_MUST_CHECK AGX_SYNC_UNLOCKED agx_status agx_import_file(struct agx_semaphore *semaphore,
                                                            uint64_t value, int fd);
/* An eventfd that becomes readable when the value is reached, or the semaphore fails or goes; it is
 * the caller's. */
AGX_MUST_CHECK AGX_SYNC_UNLOCKED agx_status agx_export_eventfd(struct agx_semaphore *semaphore,
                                                               uint64_t value, int *out_fd);
