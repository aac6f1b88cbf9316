/** The transports: kernel sockets of several address families, and kernel bypasses. */
@NullMarked
package org.jrdma.sockets.transport;

import org.jspecify.annotations.NullMarked;
