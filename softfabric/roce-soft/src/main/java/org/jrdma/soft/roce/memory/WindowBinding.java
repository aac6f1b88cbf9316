package org.jrdma.soft.roce.memory;

import org.jspecify.annotations.Nullable;

/**
 * A request to bind a memory window to a part of a region, or to unbind a type 1 window.
 *
 * @param key the key of the window as the owner knows it
 * @param newKey the key after binding, of which only the lowest 8 bits are used
 * @param region the region; null if {@code length} is 0
 * @param address the address of the first byte of the window, as work requests name it
 * @param length the length of the window in bytes; 0 unbinds
 * @param access the rights of peers
 */
public record WindowBinding(
        MemoryWindow window,
        int key,
        int newKey,
        @Nullable MemoryRegion region,
        long address,
        long length,
        int access) {}
