package org.jrdma.cli.perf;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * The program rstream of rdmacm-utils, told to do what this command does over rsockets: messages of
 * the same size, as many of them, with rings of the same size.
 *
 * @param address of this machine, where both sides meet
 */
record Rstream(String address, Installed programs) implements ProgramsInC {

    private static final String NAME = "rstream";
    private static final String PACKAGE = "rdmacm-utils";

    /** That of an rsocket of which nothing else is asked. */
    private static final int RING = 64 * 1024;

    private static final long LEAST = 100;
    private static final long MOST = 100_000;
    private static final String NOBODY_THERE = "rconnect";

    /** The last column is microseconds for a transfer, one way. */
    private static final Pattern FIGURES = Pattern.compile("(?m)^custom .*\\s(\\d+\\.\\d+)\\s*$");

    @Override
    public Optional<String> whyNot(String path) {
        return programs.whyNot(NAME, PACKAGE);
    }

    @Override
    public InC compare(Result java, Duration time) {
        try {
            var streamed = (long) (java.bandwidth().messagesPerSecond() * time.toMillis() / 1000);
            var latency = microseconds(java.bytes(), 1, java.latency().samples());
            var transfer = microseconds(java.bytes(), streamed, 1);
            return new InC(
                    java,
                    Optional.of(
                            new InC.Figures(latency, transfer > 0 ? java.bytes() / transfer : 0)),
                    Optional.empty());
        } catch (IOException e) {
            return InC.missing(java, e.getMessage());
        }
    }

    /** For a transfer, of so many one way before as many come back, so often. */
    private double microseconds(int bytes, long transfers, long times) throws IOException {
        var words =
                List.of(
                        programs.find(NAME).map(Object::toString).orElse(NAME),
                        "-p",
                        Integer.toString(Installed.freePort()),
                        "-S",
                        Integer.toString(bytes),
                        "-C",
                        Long.toString(transfers == 1 ? 1 : Math.clamp(transfers, LEAST, MOST)),
                        "-I",
                        Long.toString(times == 1 ? 1 : Math.clamp(times, LEAST, MOST)),
                        "-B",
                        Integer.toString(RING),
                        "-T",
                        "blocking");
        var server = new ArrayList<>(words);
        server.addAll(List.of("-b", address));
        var client = new ArrayList<>(words);
        client.addAll(List.of("-s", address));
        var said = programs.run(server, client, NOBODY_THERE);
        var figures = FIGURES.matcher(said);
        if (!figures.find()) {
            throw new IOException(
                    "%s gives no figures: %s".formatted(String.join(" ", client), said.strip()));
        }
        return Double.parseDouble(figures.group(1));
    }
}
