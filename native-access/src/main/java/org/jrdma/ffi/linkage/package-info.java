/**
 * Native linkage for the bindings: opening libraries, linking functions, waiting on file
 * descriptors. For the bindings only, because this code can access any memory of the process.
 */
@NullMarked
package org.jrdma.ffi.linkage;

import org.jspecify.annotations.NullMarked;
