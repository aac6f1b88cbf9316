package org.jrdma.soft.sisci.abi;

import static java.util.Map.entry;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.jrdma.abi.sisci.sisci_h;
import org.jrdma.abi.sisci.sisci_query;
import org.jrdma.soft.sisci.fabric.UnpublishedErrors;
import org.jrdma.soft.sisci.fabric.UnpublishedFlags;

/** The constants of SISCI that the library exports as data symbols. */
final class ExportedConstants {

    private static final Map<String, Integer> UNPUBLISHED =
            Map.ofEntries(
                    entry("SCI_LOCAL_HOST", 0x00B0_0F0E),
                    entry("SCI_ERR_NO_SUCH_FDID", UnpublishedErrors.NO_SUCH_FDID),
                    entry("SCI_FLAG_FORCE_DISCONNECT", UnpublishedFlags.FORCE_DISCONNECT),
                    entry("SCI_FLAG_NOTIFY", UnpublishedFlags.NOTIFY),
                    entry("SCI_FLAG_BLOCK_READ", UnpublishedFlags.BLOCK_READ),
                    entry("SCI_FLAG_ERROR_CHECK", UnpublishedFlags.ERROR_CHECK),
                    entry("SCI_FLAG_NO_FLUSH", UnpublishedFlags.NO_FLUSH),
                    entry("SCI_FLAG_NO_STORE_BARRIER", UnpublishedFlags.NO_STORE_BARRIER),
                    entry("SCI_FLAG_FAST_BARRIER", UnpublishedFlags.FAST_BARRIER),
                    entry(
                            "SCI_FLAG_FLUSH_CPU_BUFFERS_ONLY",
                            UnpublishedFlags.FLUSH_CPU_BUFFERS_ONLY));

    private static final Map<String, Integer> NUMBERS = numbers();
    private static final Map<String, MemorySegment> DATA = new ConcurrentHashMap<>();

    private ExportedConstants() {}

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
        var numbers = new HashMap<>(UNPUBLISHED);
        numbers.putAll(published("SCI_FLAG_"));
        numbers.putAll(published("SCI_INFINITE_TIMEOUT"));
        for (var query : sisci_query.values()) {
            numbers.put(query.name(), QueryCommandNumbers.number(query));
        }
        return Map.copyOf(numbers);
    }

    /**
     * Returns the constants of the SISCI header whose names start with a prefix, sorted by name.
     */
    static SortedMap<String, Integer> published(String prefix) {
        var constants = new TreeMap<String, Integer>();
        for (var method : sisci_h.class.getMethods()) {
            if (method.getName().startsWith(prefix)) {
                try {
                    constants.put(method.getName(), (Integer) method.invoke(null));
                } catch (ReflectiveOperationException e) {
                    throw new LinkageError(method.getName(), e);
                }
            }
        }
        return constants;
    }
}
