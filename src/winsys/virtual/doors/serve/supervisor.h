/* SPDX-License-Identifier: MIT
 *
 * The third door to the virtual node, for programs that go past the C library: the
 * kernel stops their system calls on paths and device requests (seccomp user
 * notification) and asks this process, which answers as the node would. Memory is mapped
 * by the program itself, from the segment's file that it gets for the node.
 */
#pragma once

#include "winsys/virtual/virtual.h"

/* Fails with words where the kernel can't. */
AGX_MUST_CHECK agx_status agxv_supervisor_check(void);

/* In the process that is to be served, before it executes the program: its calls and those
 * of its children stop from now on. The descriptor to serve them by, or a negative errno. */
int agxv_filter_install(void);

/* Serves in threads of their own, until all served processes are gone; fd is taken over. */
AGX_MUST_CHECK agx_status agxv_supervisor_start(struct agx_virtual_node *node, int fd);
