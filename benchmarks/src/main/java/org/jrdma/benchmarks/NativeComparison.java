package org.jrdma.benchmarks;

import java.util.List;
import java.util.Locale;
import org.jrdma.ffi.FabricException;
import org.jrdma.verbs.model.DeviceOpenOption;
import org.jrdma.verbs.model.VerbsException;

/**
 * Compares Java with C. Both perform the same operations on the same provider in one process.
 *
 * <p>Java and C take short turns, so that other load on the machine affects both equally. The
 * medians are compared.
 */
public final class NativeComparison {

    private static final int TURNS = 400;
    private static final long ROUNDS_OF_A_TURN = 20_000;
    private static final int TURNS_TO_WARM_UP = 60;

    private NativeComparison() {}

    /** Runs a loop in C or in Java. Returns the number of successful completions. */
    @FunctionalInterface
    private interface Work {
        long run(long rounds) throws VerbsException;
    }

    /**
     * A comparison of C and Java.
     *
     * @param ordinaryBound the time in nanoseconds that Java may add with ordinary calls; 0 for any
     * @param criticalBound the time in nanoseconds that Java may add with critical calls; 0 for any
     */
    private record Contest(
            String name,
            int operationsInRound,
            Work c,
            Work java,
            int ordinaryBound,
            int criticalBound) {

        Contest(String name, int operationsInRound, Work c, Work java) {
            this(name, operationsInRound, c, java, 0, 0);
        }
    }

    /** Prints a table. */
    public static void main(String[] arguments) throws FabricException {
        System.out.println("| operation | calls | C, ns | Java, ns | Java adds, ns | bound |");
        System.out.println("|---|---|---|---|---|---|");
        for (var options :
                List.of(
                        new DeviceOpenOption[0],
                        new DeviceOpenOption[] {DeviceOpenOption.CRITICAL_CALLS})) {
            try (var loop = new PostAndPollLoop(options)) {
                var critical = options.length > 0;
                for (var contest : contests(loop, new HandWrittenLoop(loop, critical))) {
                    compare(contest, critical);
                }
            }
        }
    }

    private static List<Contest> contests(PostAndPollLoop loop, HandWrittenLoop handWritten) {
        var provider = NullProvider.instance();
        return List.of(
                new Contest(
                        "WRITE and poll",
                        1,
                        rounds -> provider.writeAndPoll(loop, 1, rounds),
                        loop::writeAndPoll,
                        18,
                        8),
                new Contest(
                        "WRITE and poll, without the SDK",
                        1,
                        rounds -> provider.writeAndPoll(loop, 1, rounds),
                        handWritten::writeAndPoll),
                new Contest(
                        "RECEIVE and poll",
                        1,
                        rounds -> provider.receiveAndPoll(loop, rounds),
                        loop::receiveAndPoll),
                new Contest(
                        "shared RECEIVE and poll",
                        1,
                        rounds -> provider.sharedReceiveAndPoll(loop, rounds),
                        loop::sharedReceiveAndPoll,
                        25,
                        25),
                new Contest(
                        "WRITE in a chain of " + PostAndPollLoop.BATCH,
                        PostAndPollLoop.BATCH,
                        rounds -> provider.writeAndPoll(loop, PostAndPollLoop.BATCH, rounds),
                        loop::chainAndPoll),
                new Contest(
                        "datagram SEND and poll",
                        1,
                        rounds -> provider.datagramAndPoll(loop, rounds),
                        loop::datagramAndPoll),
                new Contest(
                        "WRITE and poll, extended interfaces",
                        1,
                        rounds -> provider.extendedWriteAndPoll(loop, 1, rounds),
                        loop::extendedWriteAndPoll,
                        45,
                        25),
                new Contest(
                        "WRITE in a chain of %d, extended interfaces"
                                .formatted(PostAndPollLoop.BATCH),
                        PostAndPollLoop.BATCH,
                        rounds ->
                                provider.extendedWriteAndPoll(loop, PostAndPollLoop.BATCH, rounds),
                        loop::extendedChainAndPoll));
    }

    private static void compare(Contest contest, boolean critical) throws VerbsException {
        var c = new double[TURNS];
        var java = new double[TURNS];
        for (var turn = -TURNS_TO_WARM_UP; turn < TURNS; turn++) {
            var inC = nanosOfOne(contest, contest.c);
            var inJava = nanosOfOne(contest, contest.java);
            if (turn >= 0) {
                c[turn] = inC;
                java[turn] = inJava;
            }
        }
        var bound = critical ? contest.criticalBound : contest.ordinaryBound;
        System.out.printf(
                Locale.ROOT,
                "| %s | %s | %.1f | %.1f | %.1f | %s |%n",
                contest.name,
                critical ? "critical" : "ordinary",
                Median.of(c),
                Median.of(java),
                Median.of(java) - Median.of(c),
                bound == 0 ? "" : "at most " + bound);
    }

    private static double nanosOfOne(Contest contest, Work work) throws VerbsException {
        var rounds = ROUNDS_OF_A_TURN / contest.operationsInRound;
        var operations = rounds * contest.operationsInRound;
        var before = System.nanoTime();
        var successes = work.run(rounds);
        var nanos = System.nanoTime() - before;
        if (successes != operations) {
            throw new IllegalStateException(
                    "%s: %d of %d succeeded".formatted(contest.name, successes, operations));
        }
        return (double) nanos / operations;
    }
}
