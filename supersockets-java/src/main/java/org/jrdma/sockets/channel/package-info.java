/** The channels, their selector and their options. */
@NullMarked
package org.jrdma.sockets.channel;

import org.jspecify.annotations.NullMarked;
