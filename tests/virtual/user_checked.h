/* SPDX-License-Identifier: MIT
 *
 * Whether a bad address in a request gives -EFAULT here. Some emulators lack process_vm_readv(2),
 * by which the node asks: a bad address crashes there.
 */
#pragma once

#include <stdbool.h>
#include <sys/uio.h>
#include <unistd.h>

static inline bool user_is_checked(void)
{
   char byte = 0, read = 0;
   struct iovec local = {&read, 1}, remote = {&byte, 1};
   return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == 1;
}
