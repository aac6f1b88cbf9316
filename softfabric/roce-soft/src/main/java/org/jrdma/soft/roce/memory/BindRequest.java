package org.jrdma.soft.roce.memory;

import org.jspecify.annotations.Nullable;

/**
 * A request to bind a memory window to a part of a region, or to unbind a type 1 window.
 *
 * @param window the window to bind
 * @param key the key of the window that the program knows. If it differs from the current key, the
 *     request fails
 * @param newKey a number whose lower 8 bits replace those of the window's key
 * @param region the region to bind the window to; null if {@code length} is 0
 * @param address the address of the first byte of the window in the region
 * @param length the length of the window in bytes; 0 to unbind the window
 * @param access the rights of peers, as a combination of {@link Access} bits
 */
public record BindRequest(
        MemoryWindow window,
        int key,
        int newKey,
        @Nullable MemoryRegion region,
        long address,
        long length,
        int access) {}
