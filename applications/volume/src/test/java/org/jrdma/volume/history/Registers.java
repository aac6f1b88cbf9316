package org.jrdma.volume.history;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The history of registers that several clients write and read. Each write has a unique value.
 *
 * <p>A write whose result is unknown may take effect at any later time. Safe for use by multiple
 * threads.
 */
final class Registers {

    private static final long NEVER = Long.MAX_VALUE;

    private record Operation(int register, long value, long started, long ended) {}

    private final List<Operation> writes = new ArrayList<>();
    private final List<Operation> reads = new ArrayList<>();

    synchronized void wrote(int register, long value, long started, boolean isAcknowledged) {
        writes.add(
                new Operation(
                        register, value, started, isAcknowledged ? System.nanoTime() : NEVER));
    }

    /** Adds a read. The value of a register that was never written is 0. */
    synchronized void read(int register, long value, long started) {
        reads.add(new Operation(register, value, started, System.nanoTime()));
    }

    synchronized int size() {
        return writes.size() + reads.size();
    }

    /** Returns descriptions of all reads that the writes do not explain. */
    synchronized List<String> violations() {
        var violations = new ArrayList<String>();
        var registers = new HashMap<Integer, List<Operation>>();
        writes.forEach(write ->
                registers.computeIfAbsent(write.register(), _ -> new ArrayList<>()).add(write));
        for (var read : reads) {
            check(read, registers.getOrDefault(read.register(), List.of()), violations);
        }
        checkOrder(violations);
        return violations;
    }

    private static void check(Operation read, List<Operation> writes, List<String> violations) {
        Operation source = null;
        for (var write : writes) {
            source = write.value() == read.value() ? write : source;
        }
        if (source == null && read.value() != 0) {
            violations.add("%s returned a value that no client has written".formatted(read));
            return;
        }
        if (source != null && source.started() > read.ended()) {
            violations.add("%s returned a value from the future: %s".formatted(read, source));
        }
        for (var other : writes) {
            var isLater = source == null || other.started() > source.ended();
            if (isLater && other.ended() < read.started()) {
                violations.add(
                        "%s returned an old value, although %s was acknowledged"
                                .formatted(read, other));
                return;
            }
        }
    }

    /** A read that starts after another one has ended must not return an older value. */
    private void checkOrder(List<String> violations) {
        Map<Long, Operation> sources = new HashMap<>();
        writes.forEach(write -> sources.put(write.value(), write));
        for (var first : reads) {
            var older = sources.get(first.value());
            for (var second : reads) {
                var newer = sources.get(second.value());
                if (first.register() == second.register()
                        && first.ended() < second.started()
                        && older != null
                        && (newer == null || newer.ended() < older.started())) {
                    violations.add("%s returned an older value than %s".formatted(second, first));
                }
            }
        }
    }
}
