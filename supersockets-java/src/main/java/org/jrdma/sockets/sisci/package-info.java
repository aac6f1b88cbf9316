/** Byte streams over SISCI: shared memory, and interrupts that wake up sleeping peers. */
@NullMarked
package org.jrdma.sockets.sisci;

import org.jspecify.annotations.NullMarked;
