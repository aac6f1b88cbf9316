/** The transports: kernel sockets of several address families, rsockets and SISCI. */
@NullMarked
package org.jrdma.sockets.transport;

import org.jspecify.annotations.NullMarked;
