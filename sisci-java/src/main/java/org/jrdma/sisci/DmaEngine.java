package org.jrdma.sisci;

import org.jrdma.sisci.internal.Constant;
import org.jrdma.sisci.internal.SisciLibrary;
import org.jspecify.annotations.Nullable;

/** What moves the bytes of a DMA transfer. */
public enum DmaEngine {
    /** The library's choice. */
    ANY(null),
    /** The adapter. In C: {@code SCI_FLAG_DMA_ADAPTER}. */
    ADAPTER(Constant.SCI_FLAG_DMA_ADAPTER),
    /** The CPU or its chipset. In C: {@code SCI_FLAG_DMA_SYSDMA}. */
    SYSTEM(Constant.SCI_FLAG_DMA_SYSDMA),
    /** One that reaches remote segments without a map. In C: {@code SCI_FLAG_DMA_GLOBAL}. */
    GLOBAL(Constant.SCI_FLAG_DMA_GLOBAL);

    private final @Nullable Constant flag;

    DmaEngine(@Nullable Constant flag) {
        this.flag = flag;
    }

    int flags(SisciLibrary library) {
        return flag == null ? 0 : library.number(flag);
    }
}
