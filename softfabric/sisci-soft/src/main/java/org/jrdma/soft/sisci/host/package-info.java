/** System calls for files, memory and sockets. */
@NullMarked
package org.jrdma.soft.sisci.host;

import org.jspecify.annotations.NullMarked;
