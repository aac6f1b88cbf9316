/**
 * Handles of native objects. A handle contains the native structure, its lifetime, and the native
 * calls that several packages of the API share. Not exported.
 *
 * <p>A handle keeps its API object reachable. Therefore, a destructor must never refer to a handle.
 * Otherwise the API object would stay reachable after a leak, and the leak would never be reported.
 */
@NullMarked
package org.jrdma.verbs.handle;

import org.jspecify.annotations.NullMarked;
