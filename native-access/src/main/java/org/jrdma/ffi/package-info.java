/**
 * The common base of the bindings.
 *
 * <p>A program that uses a binding uses three types of this package: {@link
 * org.jrdma.ffi.FabricException}, the superclass of all checked exceptions; {@link
 * org.jrdma.ffi.NativeObject}, the superclass of all objects that must be closed; and {@link
 * org.jrdma.ffi.LibraryProvider}, which lets a library written in Java replace a C library.
 */
@NullMarked
package org.jrdma.ffi;

import org.jspecify.annotations.NullMarked;
