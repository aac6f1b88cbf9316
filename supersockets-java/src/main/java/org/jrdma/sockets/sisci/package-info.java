/** Streams of bytes over SISCI: shared memory, and interrupts for those who sleep. */
@NullMarked
package org.jrdma.sockets.sisci;

import org.jspecify.annotations.NullMarked;
