package org.jrdma.ffi.linkage;

import java.lang.invoke.MethodHandle;

/**
 * The implementation of a C function in Java, for {@link Upcalls#stub}. Its parameters and result
 * are primitive numbers.
 *
 * @param handle the implementation
 * @param withoutMemory returns the result of the C function if {@code handle} throws anything, for
 *     example because there is too little memory to handle an exception. Its parameters are the
 *     Throwable and, if it needs them, the parameters of {@code handle}. It must neither throw nor
 *     allocate, and must accept zeros as arguments.
 */
public record UpcallFunction(MethodHandle handle, MethodHandle withoutMemory) {}
