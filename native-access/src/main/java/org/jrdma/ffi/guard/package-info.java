/**
 * The guards of native calls in flight: how a thread marks a short native call, and how close()
 * waits for such calls before it destroys the objects that they use. For the bindings only: a
 * program that entered a guard and did not exit it would block every close() of the process.
 */
@NullMarked
package org.jrdma.ffi.guard;

import org.jspecify.annotations.NullMarked;
