package org.jrdma.spark;

import java.util.Arrays;
import java.util.stream.Collectors;

/**
 * A message of an executor to the driver. Messages are sent as text, so that Spark can deserialize
 * them without classes of the plug-in.
 */
sealed interface DriverMessage {

    /** An executor listens at an address. Also the answer to {@link Find}. */
    record Listening(String executor, String host, int port) implements DriverMessage {}

    /** Asks for the address of an executor. The answer is empty if the driver knows none. */
    record Find(String executor) implements DriverMessage {}

    /** The values of all metrics of an executor, in the order of {@link Metric}. */
    record Report(String executor, long... values) implements DriverMessage {}

    default String encode() {
        return switch (this) {
            case Listening(var executor, var host, var port) ->
                    String.join(" ", "listening", executor, host, Integer.toString(port));
            case Find(var executor) -> "find " + executor;
            case Report(var executor, var values) ->
                    Arrays.stream(values)
                            .mapToObj(Long::toString)
                            .collect(Collectors.joining(" ", "report " + executor + " ", ""));
        };
    }

    /**
     * Decodes a message.
     *
     * @throws IllegalArgumentException if the text is not a message
     */
    static DriverMessage decode(String text) {
        var words = text.split(" ", -1);
        if (words.length >= 2) {
            switch (words[0]) {
                case "listening" -> {
                    return new Listening(words[1], words[2], Integer.parseInt(words[3]));
                }
                case "find" -> {
                    return new Find(words[1]);
                }
                case "report" -> {
                    return new Report(
                            words[1],
                            Arrays.stream(words).skip(2).mapToLong(Long::parseLong).toArray());
                }
                default -> {}
            }
        }
        throw new IllegalArgumentException("Not a message of the RDMA shuffle: " + text);
    }
}
