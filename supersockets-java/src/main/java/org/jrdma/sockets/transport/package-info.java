/** The transports: kinds of kernel sockets, and bypasses of the kernel. */
@NullMarked
package org.jrdma.sockets.transport;

import org.jspecify.annotations.NullMarked;
