/** Values and interfaces of the API: transports, connections, and reports of connections. */
@NullMarked
package org.jrdma.sockets.model;

import org.jspecify.annotations.NullMarked;
