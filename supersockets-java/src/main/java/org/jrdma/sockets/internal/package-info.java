/** The system calls of sockets, and the waits for them. This package contains no policy. */
@NullMarked
package org.jrdma.sockets.internal;

import org.jspecify.annotations.NullMarked;
