/**
 * Native linkage for the bindings: opening libraries, linking functions, waiting on file
 * descriptors. Only the bindings and software libraries may use this package, because its methods
 * can access any memory of the process.
 */
@NullMarked
package org.jrdma.ffi.linkage;

import org.jspecify.annotations.NullMarked;
