/**
 * Linkage to libibverbs and librdmacm: one class for each part of the libraries, which states the
 * signature and the error convention of each C function once. Contains no policy. Not exported.
 */
@NullMarked
package org.jrdma.verbs.internal;

import org.jspecify.annotations.NullMarked;
