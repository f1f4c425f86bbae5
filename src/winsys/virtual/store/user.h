/* SPDX-License-Identifier: MIT
 *
 * Access to the caller's memory by the addresses in a request: an address that is
 * not mapped gives -EFAULT, as in the kernel, instead of a crash.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Makes the addresses of this thread's next requests those of process pid, 0: of this one; returns
 * whose they were. */
int32_t agxv_user_switch(int32_t pid);
/* 0 or -EFAULT. */
int agxv_copy_in(void *to, uint64_t from, size_t size);
/* Copies to the caller's memory: 0 or -EFAULT. */
int agxv_copy_out(uint64_t to, const void *from, size_t size);
/* Says once that the host doesn't let us into the caller; -EACCES. */
int agxv_user_refused(int error);
