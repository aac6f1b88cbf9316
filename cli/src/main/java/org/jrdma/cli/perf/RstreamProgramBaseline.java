package org.jrdma.cli.perf;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Runs the program rstream of rdmacm-utils with the same message size, number of messages and
 * buffer sizes as this command uses over rsockets.
 *
 * @param address the address of this machine at which the server listens
 */
record RstreamProgramBaseline(String address, ClientServerProgramRunner programs)
        implements NativeBaseline {

    private static final String NAME = "rstream";
    private static final String PACKAGE = "rdmacm-utils";

    /** The default buffer size of a FabricSocketChannel over rsockets. */
    private static final int BUFFER_BYTES = 64 * 1024;

    private static final long MIN_ITERATIONS = 100;
    private static final long MAX_ITERATIONS = 100_000;
    private static final String NOT_LISTENING = "rconnect";

    /**
     * Matches a line of results. The last column is the duration of a transfer in one direction, in
     * microseconds.
     */
    private static final Pattern FIGURES = Pattern.compile("(?m)^custom .*\\s(\\d+\\.\\d+)\\s*$");

    @Override
    public Optional<String> missing(String path) {
        return programs.missing(NAME, PACKAGE);
    }

    @Override
    public BaselineComparison compare(Result java, Duration time) {
        try {
            var streamed = (long) (java.bandwidth().messagesPerSecond() * time.toMillis() / 1000);
            var latency = microseconds(java.bytes(), 1, java.latency().samples());
            var transfer = microseconds(java.bytes(), streamed, 1);
            return new BaselineComparison(
                    java,
                    Optional.of(
                            new BaselineComparison.Figures(
                                    latency, transfer > 0 ? java.bytes() / transfer : 0)),
                    Optional.empty());
        } catch (IOException e) {
            return BaselineComparison.unavailable(java, e.getMessage());
        }
    }

    /**
     * Runs rstream and returns the duration of a transfer in microseconds.
     *
     * @param transfers the number of transfers in each direction: first all in one direction, then
     *     all in the other
     * @param iterations the number of repetitions
     */
    private double microseconds(int bytes, long transfers, long iterations) throws IOException {
        var words =
                List.of(
                        programs.find(NAME).map(Object::toString).orElse(NAME),
                        "-p",
                        Integer.toString(FreePorts.of(1).getFirst()),
                        "-S",
                        Integer.toString(bytes),
                        "-C",
                        Long.toString(
                                transfers == 1
                                        ? 1
                                        : Math.clamp(transfers, MIN_ITERATIONS, MAX_ITERATIONS)),
                        "-I",
                        Long.toString(
                                iterations == 1
                                        ? 1
                                        : Math.clamp(iterations, MIN_ITERATIONS, MAX_ITERATIONS)),
                        "-B",
                        Integer.toString(BUFFER_BYTES),
                        "-T",
                        "blocking");
        var server = new ArrayList<>(words);
        server.addAll(List.of("-b", address));
        var client = new ArrayList<>(words);
        client.addAll(List.of("-s", address));
        var output = programs.run(server, client, NOT_LISTENING);
        var figures = FIGURES.matcher(output);
        if (!figures.find()) {
            throw new IOException(
                    "\"%s\" printed no result: %s"
                            .formatted(String.join(" ", client), output.strip()));
        }
        return Double.parseDouble(figures.group(1));
    }
}
