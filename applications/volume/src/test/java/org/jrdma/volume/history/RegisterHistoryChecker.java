package org.jrdma.volume.history;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The history of registers that several clients write and read. Each write has a unique value. The
 * times of all clients are those of one monotonic clock.
 *
 * <p>A write whose result is unknown may take effect at any later time.
 */
final class RegisterHistoryChecker {

    /** The end of a write whose result is unknown. */
    static final long NEVER = Long.MAX_VALUE;

    private record Operation(int register, long value, long started, long ended) {}

    /** A read that has found parts of several writes. */
    private record TornRead(int register, Set<Long> values, long started, long ended) {}

    private final List<Operation> writes = new ArrayList<>();
    private final List<Operation> reads = new ArrayList<>();
    private final List<TornRead> tornReads = new ArrayList<>();

    /** Adds a write, which ended when it was acknowledged. */
    void wrote(int register, long value, long started, long ended) {
        writes.add(new Operation(register, value, started, ended));
    }

    /**
     * Adds a read. The value of a register that was never written is 0.
     *
     * @param values the values of the parts of the register
     */
    void read(int register, Set<Long> values, long started, long ended) {
        if (values.size() == 1) {
            reads.add(new Operation(register, values.iterator().next(), started, ended));
        } else {
            tornReads.add(new TornRead(register, values, started, ended));
        }
    }

    /** Returns descriptions of all reads that the writes do not explain. */
    List<String> violations() {
        var violations = new ArrayList<String>();
        var writesOf = byRegister(writes);
        byRegister(reads)
                .forEach((register, list) ->
                        check(list, writesOf.getOrDefault(register, List.of()), violations));
        for (var read : tornReads) {
            checkTorn(read, writesOf.getOrDefault(read.register(), List.of()), violations);
        }
        return violations;
    }

    /**
     * A write whose result is unknown can have taken effect in a part. All other writes replace all
     * parts.
     */
    private static void checkTorn(TornRead read, List<Operation> writes, List<String> violations) {
        var parts =
                read.values().stream()
                        .map(value ->
                                new Operation(read.register(), value, read.started(), read.ended()))
                        .toList();
        for (var part : parts) {
            check(List.of(part), writes, violations);
        }
        var unknown =
                writes.stream()
                        .filter(write -> write.ended() == NEVER)
                        .map(Operation::value)
                        .collect(Collectors.toSet());
        if (read.values().stream().filter(value -> !unknown.contains(value)).count() > 1) {
            violations.add("%s contains parts of several acknowledged writes".formatted(read));
        }
    }

    private static Map<Integer, List<Operation>> byRegister(List<Operation> operations) {
        Map<Integer, List<Operation>> result = new TreeMap<>();
        for (var each : operations) {
            result.computeIfAbsent(each.register(), _ -> new ArrayList<>()).add(each);
        }
        return result;
    }

    private static void check(
            List<Operation> reads, List<Operation> writes, List<String> violations) {
        var sources = new HashMap<Long, Operation>();
        writes.forEach(write -> sources.put(write.value(), write));
        var acknowledged = new LatestBefore(writes, Operation::started);
        var known = reads.stream().filter(read -> sources.containsKey(read.value())).toList();
        var observed = new LatestBefore(known, read -> sources.get(read.value()).started());
        for (var read : reads) {
            var source = sources.get(read.value());
            if (source == null && read.value() != 0) {
                violations.add("%s returned a value that no client has written".formatted(read));
                continue;
            }
            if (source != null && source.started() > read.ended()) {
                violations.add("%s returned a value from the future: %s".formatted(read, source));
            }
            var ended = source == null ? Long.MIN_VALUE : source.ended();
            var newer = acknowledged.find(read.started());
            if (newer != null && newer.started() > ended) {
                violations.add(
                        "%s returned an old value, although %s was acknowledged"
                                .formatted(read, newer));
                continue;
            }
            var earlier = observed.find(read.started());
            if (earlier != null && sources.get(earlier.value()).started() > ended) {
                violations.add("%s returned an older value than %s".formatted(read, earlier));
            }
        }
    }

    /** Finds the operation with the latest time of all operations that ended before a time. */
    private static final class LatestBefore {

        private final List<Operation> byEnd;
        private final List<Operation> latest = new ArrayList<>();

        LatestBefore(List<Operation> operations, ToLongFunction<Operation> time) {
            byEnd =
                    operations.stream()
                            .filter(each -> each.ended() != NEVER)
                            .sorted(Comparator.comparingLong(Operation::ended))
                            .toList();
            for (var each : byEnd) {
                var previous = latest.isEmpty() ? each : latest.getLast();
                latest.add(time.applyAsLong(each) > time.applyAsLong(previous) ? each : previous);
            }
        }

        @Nullable Operation find(long time) {
            var low = 0;
            var high = byEnd.size();
            while (low < high) {
                var middle = (low + high) >>> 1;
                if (byEnd.get(middle).ended() < time) {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            return low == 0 ? null : latest.get(low - 1);
        }
    }
}
