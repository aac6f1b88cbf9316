/** Reports of the open streams over JMX, in a file, and to the flight recorder. */
@NullMarked
package org.jrdma.sockets.report;

import org.jspecify.annotations.NullMarked;
