/** The sockets of {@code java.net} that adapt the channels. */
@NullMarked
package org.jrdma.sockets.adaptor;

import org.jspecify.annotations.NullMarked;
