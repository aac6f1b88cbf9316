package org.jrdma.sisci;

import org.jrdma.sisci.internal.SisciConstant;
import org.jrdma.sisci.internal.SisciLibrary;
import org.jspecify.annotations.Nullable;

/** The engine that executes a DMA transfer. */
public enum DmaEngineKind {
    /** An engine that the library chooses. */
    ANY(null),
    /** The engine of the adapter. In C: {@code SCI_FLAG_DMA_ADAPTER}. */
    ADAPTER(SisciConstant.SCI_FLAG_DMA_ADAPTER),
    /** The engine of the CPU or chipset. In C: {@code SCI_FLAG_DMA_SYSDMA}. */
    SYSTEM(SisciConstant.SCI_FLAG_DMA_SYSDMA),
    /** An engine that accesses remote segments without a map. In C: {@code SCI_FLAG_DMA_GLOBAL}. */
    GLOBAL(SisciConstant.SCI_FLAG_DMA_GLOBAL);

    private final @Nullable SisciConstant flag;

    DmaEngineKind(@Nullable SisciConstant flag) {
        this.flag = flag;
    }

    int flags(SisciLibrary library) {
        return flag == null ? 0 : library.number(flag);
    }
}
