package org.jrdma.verbs.handle;

import java.lang.foreign.MemorySegment;
import org.jrdma.ffi.Lifetime;

/** A native structure, and the lifetime whose end destroys it. */
public record NativeResource(MemorySegment address, Lifetime lifetime) {}
