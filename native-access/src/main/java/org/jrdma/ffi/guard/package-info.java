/**
 * Guards of native calls in flight. A thread marks each short native call, and close() waits for
 * such calls before it destroys the objects that they use. For the bindings only: code that enters
 * a guard and does not exit it blocks every close() of the process.
 */
@NullMarked
package org.jrdma.ffi.guard;

import org.jspecify.annotations.NullMarked;
