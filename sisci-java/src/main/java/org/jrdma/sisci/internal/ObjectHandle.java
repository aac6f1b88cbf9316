package org.jrdma.sisci.internal;

import java.lang.foreign.MemorySegment;
import org.jrdma.ffi.Lifetime;

/**
 * The handle of a native object, with the state that its API object uses.
 *
 * @param node the node from which the object was created
 * @param address the handle by which the library identifies the object
 * @param lifetime the lifetime of the object
 * @param retry retries the removal of the object
 */
public record ObjectHandle(
        NodeHandle node, MemorySegment address, Lifetime lifetime, RemovalRetry retry) {}
