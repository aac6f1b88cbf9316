/**
 * Guards for native calls in progress. A thread marks each short native call, and close() waits for
 * the marked calls before it destroys the objects that they use. Only the bindings may use this
 * package, because code that enters a guard and does not exit it blocks every close() in the
 * process.
 */
@NullMarked
package org.jrdma.ffi.guard;

import org.jspecify.annotations.NullMarked;
