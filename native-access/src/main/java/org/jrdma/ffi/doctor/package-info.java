/**
 * What commonly breaks fast paths, looked for in the files of a machine; for {@code jrdma doctor},
 * and for the sockets, which tell of it when they start. Each check finds what it finds, good or
 * bad, and none opens a library.
 */
@NullMarked
package org.jrdma.ffi.doctor;

import org.jspecify.annotations.NullMarked;
