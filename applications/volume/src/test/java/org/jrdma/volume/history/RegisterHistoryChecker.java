package org.jrdma.volume.history;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;

/**
 * The history of registers in a file that several clients write and read. Each write has a unique
 * value. The times of all clients are those of one monotonic clock.
 *
 * <p>The result of a write can be unknown. Each access takes effect while its client has a lease on
 * the file, and the lease of a writer is exclusive. A client starts no access under its lease after
 * it was killed or has lost its session, so an access that starts later, of any client, shows that
 * this lease has ended. Therefore, the unknown write has taken effect before all accesses that
 * started later, or never takes effect. The session of a suspended client counts as lost when the
 * client notices it.
 */
final class RegisterHistoryChecker {

    /** The end of an unknown write of a client that may still retry it. */
    static final long NEVER = Long.MAX_VALUE;

    private record Write(long value, long started, long ended, boolean isAcknowledged) {}

    /** A read, which has several values if it has found parts of several writes. */
    private record Read(Set<Long> values, long started, long ended) {}

    private final Map<Integer, Register> registers = new TreeMap<>();

    private Register register(int number) {
        return registers.computeIfAbsent(number, _ -> new Register());
    }

    /** Adds a write, which ended when it was acknowledged. */
    void wrote(int register, long value, long started, long ended) {
        register(register).add(new Write(value, started, ended, true));
    }

    /**
     * Adds a write that took effect, took effect in a part, was lost or had no effect.
     *
     * @param ended the time after which the client executed no part of it: when it was
     *     acknowledged, rejected, or the client lost its session or was killed; otherwise {@link
     *     #NEVER}
     */
    void mayHaveWritten(int register, long value, long started, long ended) {
        register(register).add(new Write(value, started, ended, false));
    }

    /**
     * Adds a read. The value of a register that was never written is 0.
     *
     * @param values the values of the parts of the register
     */
    void read(int register, Set<Long> values, long started, long ended) {
        register(register).reads.add(new Read(values, started, ended));
    }

    /** Returns descriptions of all reads that the writes do not explain. */
    List<String> violations() {
        var violations = new ArrayList<String>();
        registers.forEach((number, register) -> {
            for (var violation : register.violations()) {
                violations.add("register %d: %s".formatted(number, violation));
            }
        });
        return violations;
    }

    private static final class Register {

        private final List<Write> writes = new ArrayList<>();
        private final Map<Long, Write> writeOf = new HashMap<>();
        private final List<Read> reads = new ArrayList<>();

        Register() {
            add(new Write(0, Long.MIN_VALUE, Long.MIN_VALUE, true));
        }

        void add(Write write) {
            writes.add(write);
            writeOf.put(write.value(), write);
        }

        List<String> violations() {
            var violations = new ArrayList<String>();
            for (var read : reads) {
                for (var value : read.values()) {
                    var write = writeOf.get(value);
                    if (write == null) {
                        violations.add("%s has a value that no client wrote".formatted(read));
                    } else {
                        check(read, write, violations);
                    }
                }
                if (read.values().stream().filter(this::isAcknowledged).count() > 1) {
                    violations.add("%s has parts of several acknowledged writes".formatted(read));
                }
            }
            return violations;
        }

        private boolean isAcknowledged(long value) {
            var write = writeOf.get(value);
            return write != null && write.isAcknowledged();
        }

        private void check(Read read, Write write, List<String> violations) {
            if (write.started() > read.ended()) {
                violations.add("%s has a value from the future: %s".formatted(read, write));
            }
            writes.stream()
                    .filter(other -> other.isAcknowledged() && other.started() > write.ended())
                    .filter(other -> other.ended() < read.started())
                    .findFirst()
                    .ifPresent(newer ->
                            violations.add(
                                    "%s has an old value: %s was acknowledged after %s"
                                            .formatted(read, newer, write)));
            reads.stream()
                    .filter(other -> other.ended() > write.ended())
                    .filter(other -> other.ended() < read.started() && isAfter(other, write))
                    .findFirst()
                    .ifPresent(earlier ->
                            violations.add(
                                    "%s has an older value than %s: %s"
                                            .formatted(read, earlier, write)));
        }

        /**
         * Returns true if a read shows that the value of a write was replaced, or never written.
         */
        private boolean isAfter(Read read, Write write) {
            return !read.values().contains(write.value())
                    && Math.max(read.started(), lastStart(read)) > write.ended();
        }

        /** Returns the start of the last write of a value that a read has found. */
        private long lastStart(Read read) {
            return read.values().stream()
                    .map(writeOf::get)
                    .filter(Objects::nonNull)
                    .mapToLong(Write::started)
                    .max()
                    .orElse(Long.MIN_VALUE);
        }
    }
}
