/**
 * Handles of native objects: the native structures, their lifetimes, and the native calls that
 * several packages of the API share. Not exported.
 *
 * <p>A handle keeps its API object reachable. A destructor must therefore never refer to a handle;
 * otherwise a leaked object would never be reported.
 */
@NullMarked
package org.jrdma.verbs.handle;

import org.jspecify.annotations.NullMarked;
