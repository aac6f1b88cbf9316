package org.jrdma.sisci.internal;

import java.lang.foreign.MemorySegment;
import org.jrdma.ffi.Lifetime;

/**
 * An object of the library.
 *
 * @param node the node from which it was created
 * @param address the handle by which the library knows it
 * @param lifetime its lifetime
 * @param retry the retry of its removal
 */
public record ObjectHandle(
        NodeHandle node, MemorySegment address, Lifetime lifetime, RemovalRetry retry) {}
