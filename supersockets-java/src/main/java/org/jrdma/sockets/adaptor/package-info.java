/** Adaptors from channels to the sockets of {@code java.net}. */
@NullMarked
package org.jrdma.sockets.adaptor;

import org.jspecify.annotations.NullMarked;
