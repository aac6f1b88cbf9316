/** The system calls of sockets, linked, and what they are given; nothing of policy. */
@NullMarked
package org.jrdma.sockets.internal;

import org.jspecify.annotations.NullMarked;
