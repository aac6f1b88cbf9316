/**
 * The abstract classes that a transport without kernel sockets extends so that socket channels can
 * use it: a stream, a listener and a connector.
 */
@NullMarked
package org.jrdma.sockets.bypass;

import org.jspecify.annotations.NullMarked;
