/** What the operating system is asked for: files, memory, sockets. */
@NullMarked
package org.jrdma.soft.sisci.host;

import org.jspecify.annotations.NullMarked;
