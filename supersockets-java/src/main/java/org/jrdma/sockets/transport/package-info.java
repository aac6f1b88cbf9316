/** The transports: kinds of kernel sockets, and kernel bypasses. */
@NullMarked
package org.jrdma.sockets.transport;

import org.jspecify.annotations.NullMarked;
