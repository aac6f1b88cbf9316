/**
 * The system calls of sockets, and waiting for sockets. Nothing in this package decides which
 * transport is used.
 */
@NullMarked
package org.jrdma.sockets.internal;

import org.jspecify.annotations.NullMarked;
