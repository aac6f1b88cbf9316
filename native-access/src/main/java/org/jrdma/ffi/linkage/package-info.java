/**
 * For the bindings alone: opening libraries, linking functions, waiting on descriptors. What is
 * here can reach any memory of the process.
 */
@NullMarked
package org.jrdma.ffi.linkage;

import org.jspecify.annotations.NullMarked;
