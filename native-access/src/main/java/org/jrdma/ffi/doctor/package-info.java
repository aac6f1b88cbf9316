/**
 * Checks of a machine for common causes of slow or broken transports. The checks read files of the
 * machine and list its firewall rules. {@code jrdma doctor} shows all findings, and the sockets log
 * the problems at startup. No check opens a native library.
 */
@NullMarked
package org.jrdma.ffi.doctor;

import org.jspecify.annotations.NullMarked;
