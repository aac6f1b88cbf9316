/**
 * The ground that the bindings stand on.
 *
 * <p>A program that uses a binding meets three types of this package: {@link
 * org.jrdma.ffi.FabricException}, the root of all checked failures, {@link
 * org.jrdma.ffi.NativeObject}, the root of everything that must be closed, and {@link
 * org.jrdma.ffi.LibraryProvider}, by which a library written in Java takes the place of one written
 * in C.
 */
@NullMarked
package org.jrdma.ffi;

import org.jspecify.annotations.NullMarked;
