package org.jrdma.soft.sisci.abi;

import static java.util.Map.entry;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.jrdma.abi.sisci.sisci_h;
import org.jrdma.abi.sisci.sisci_query;
import org.jrdma.soft.sisci.fabric.Unpublished;

/** The constants that the library exports as data. */
final class Constants {

    private static final Map<String, Integer> PUBLISHED =
            Map.ofEntries(
                    entry("SCI_INFINITE_TIMEOUT", sisci_h.SCI_INFINITE_TIMEOUT()),
                    entry("SCI_FLAG_USE_CALLBACK", sisci_h.SCI_FLAG_USE_CALLBACK()),
                    entry("SCI_FLAG_EMPTY", sisci_h.SCI_FLAG_EMPTY()),
                    entry("SCI_FLAG_PRIVATE", sisci_h.SCI_FLAG_PRIVATE()),
                    entry("SCI_FLAG_DMA_SOURCE_ONLY", sisci_h.SCI_FLAG_DMA_SOURCE_ONLY()),
                    entry("SCI_FLAG_FORCE_REMOVE", sisci_h.SCI_FLAG_FORCE_REMOVE()),
                    entry("SCI_FLAG_SHARE_EXTERNAL", sisci_h.SCI_FLAG_SHARE_EXTERNAL()),
                    entry("SCI_FLAG_ALLOW_UNICAST", sisci_h.SCI_FLAG_ALLOW_UNICAST()),
                    entry("SCI_FLAG_LOCK_USER_MEM", sisci_h.SCI_FLAG_LOCK_USER_MEM()),
                    entry("SCI_FLAG_PHYSICAL", sisci_h.SCI_FLAG_PHYSICAL()),
                    entry("SCI_FLAG_CUDA_BUFFER", sisci_h.SCI_FLAG_CUDA_BUFFER()),
                    entry("SCI_FLAG_SCIF_BUFFER", sisci_h.SCI_FLAG_SCIF_BUFFER()),
                    entry("SCI_FLAG_BROADCAST", sisci_h.SCI_FLAG_BROADCAST()),
                    entry("SCI_FLAG_AUTO_ID", sisci_h.SCI_FLAG_AUTO_ID()),
                    entry("SCI_FLAG_FIXED_MAP_ADDR", sisci_h.SCI_FLAG_FIXED_MAP_ADDR()),
                    entry("SCI_FLAG_READONLY_MAP", sisci_h.SCI_FLAG_READONLY_MAP()),
                    entry("SCI_FLAG_LOCK_OPERATION", sisci_h.SCI_FLAG_LOCK_OPERATION()),
                    entry(
                            "SCI_FLAG_CONDITIONAL_INTERRUPT_MAP",
                            sisci_h.SCI_FLAG_CONDITIONAL_INTERRUPT_MAP()),
                    entry(
                            "SCI_FLAG_UNCONDITIONAL_DATA_INTERRUPT_MAP",
                            sisci_h.SCI_FLAG_UNCONDITIONAL_DATA_INTERRUPT_MAP()),
                    entry("SCI_FLAG_IO_MAP_IOSPACE", sisci_h.SCI_FLAG_IO_MAP_IOSPACE()),
                    entry("SCI_FLAG_NO_MEMORY_LOOPBACK", sisci_h.SCI_FLAG_NO_MEMORY_LOOPBACK()),
                    entry("SCI_FLAG_SHARED_MAP", sisci_h.SCI_FLAG_SHARED_MAP()),
                    entry("SCI_FLAG_WRITE_BACK_CACHE_MAP", sisci_h.SCI_FLAG_WRITE_BACK_CACHE_MAP()),
                    entry("SCI_FLAG_DMA_CHANNEL_SHARED", sisci_h.SCI_FLAG_DMA_CHANNEL_SHARED()),
                    entry("SCI_FLAG_DMA_WAIT", sisci_h.SCI_FLAG_DMA_WAIT()),
                    entry("SCI_FLAG_DMA_READ", sisci_h.SCI_FLAG_DMA_READ()),
                    entry("SCI_FLAG_DMA_PHDMA", sisci_h.SCI_FLAG_DMA_PHDMA()),
                    entry("SCI_FLAG_DMA_GLOBAL", sisci_h.SCI_FLAG_DMA_GLOBAL()),
                    entry("SCI_FLAG_DMA_SYSDMA", sisci_h.SCI_FLAG_DMA_SYSDMA()),
                    entry("SCI_FLAG_DMA_USER_MEM", sisci_h.SCI_FLAG_DMA_USER_MEM()),
                    entry("SCI_FLAG_DMA_ADAPTER", sisci_h.SCI_FLAG_DMA_ADAPTER()),
                    entry("SCI_FLAG_FIXED_INTNO", sisci_h.SCI_FLAG_FIXED_INTNO()),
                    entry("SCI_FLAG_SHARED_INT", sisci_h.SCI_FLAG_SHARED_INT()),
                    entry(
                            "SCI_FLAG_CONDITIONAL_INTERRUPT",
                            sisci_h.SCI_FLAG_CONDITIONAL_INTERRUPT()),
                    entry("SCI_FLAG_COUNTING_INT", sisci_h.SCI_FLAG_COUNTING_INT()),
                    entry(
                            "SCI_FLAG_PCIE_REQUESTER_GLOBAL",
                            sisci_h.SCI_FLAG_PCIE_REQUESTER_GLOBAL()),
                    entry("SCI_FLAG_CACHE_FLUSH", sisci_h.SCI_FLAG_CACHE_FLUSH()),
                    entry("SCI_FLAG_CACHE_INVALIDATE", sisci_h.SCI_FLAG_CACHE_INVALIDATE()),
                    entry("SCI_FLAG_EXCLUSIVE", sisci_h.SCI_FLAG_EXCLUSIVE()),
                    entry("SCI_FLAG_DEVICE_SIDE_ONLY", sisci_h.SCI_FLAG_DEVICE_SIDE_ONLY()),
                    entry("SCI_FLAG_LOCAL_ONLY", sisci_h.SCI_FLAG_LOCAL_ONLY()),
                    entry(
                            "SCI_FLAG_DEVICE_PREFER_BANDWIDTH",
                            sisci_h.SCI_FLAG_DEVICE_PREFER_BANDWIDTH()),
                    entry(
                            "SCI_FLAG_HOST_PREFER_BANDWIDTH",
                            sisci_h.SCI_FLAG_HOST_PREFER_BANDWIDTH()),
                    entry("SCI_FLAG_SPECIFY_PATH", sisci_h.SCI_FLAG_SPECIFY_PATH()),
                    entry("SCI_FLAG_SPECIFY_SLOT", sisci_h.SCI_FLAG_SPECIFY_SLOT()));

    private static final Map<String, Integer> UNPUBLISHED =
            Map.ofEntries(
                    entry("SCI_LOCAL_HOST", 0x00B0_0F0E),
                    entry("SCI_FLAG_FORCE_DISCONNECT", Unpublished.FORCE_DISCONNECT),
                    entry("SCI_FLAG_NOTIFY", Unpublished.NOTIFY),
                    entry("SCI_FLAG_BLOCK_READ", Unpublished.BLOCK_READ),
                    entry("SCI_FLAG_ERROR_CHECK", Unpublished.ERROR_CHECK),
                    entry("SCI_FLAG_NO_FLUSH", Unpublished.NO_FLUSH),
                    entry("SCI_FLAG_NO_STORE_BARRIER", Unpublished.NO_STORE_BARRIER),
                    entry("SCI_FLAG_FAST_BARRIER", Unpublished.FAST_BARRIER),
                    entry("SCI_FLAG_FLUSH_CPU_BUFFERS_ONLY", Unpublished.FLUSH_CPU_BUFFERS_ONLY));

    private static final Map<String, Integer> NUMBERS = numbers();
    private static final Map<String, MemorySegment> DATA = new ConcurrentHashMap<>();

    private Constants() {}

    static Optional<MemorySegment> find(String name) {
        var number = NUMBERS.get(name);
        return number == null
                ? Optional.empty()
                : Optional.of(
                        DATA.computeIfAbsent(
                                name,
                                _ -> Arena.global().allocateFrom(ValueLayout.JAVA_INT, number)));
    }

    private static Map<String, Integer> numbers() {
        var numbers = new HashMap<>(PUBLISHED);
        numbers.putAll(UNPUBLISHED);
        for (var query : sisci_query.values()) {
            numbers.put(query.name(), Queries.number(query));
        }
        return Map.copyOf(numbers);
    }
}
