package org.jrdma.soft.roce.memory;

import org.jspecify.annotations.Nullable;

/**
 * A request to bind a memory window to a part of a region, or to unbind a type 1 window.
 *
 * @param key the key that the owner believes the window to have
 * @param newKey the key after binding, of which the lowest 8 bits count
 * @param region null if {@code length} is 0
 * @param address the first byte shown, as work requests name it
 * @param length the number of bytes shown; 0 unbinds
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
