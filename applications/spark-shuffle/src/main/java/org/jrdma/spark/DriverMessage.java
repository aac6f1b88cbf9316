package org.jrdma.spark;

import java.util.EnumMap;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * A message of an executor to the driver. Messages are sent as text, so that Spark can deserialize
 * them without classes of the plug-in.
 */
sealed interface DriverMessage {

    /** An executor listens at an address. Also the answer to {@link Find}. */
    record Listening(String executor, String host, int port) implements DriverMessage {}

    /** An executor does not use RDMA. The reason is a text of any form. */
    record Unavailable(String executor, String host, String reason) implements DriverMessage {}

    /** Asks for the address of an executor. The answer is empty if the driver knows none. */
    record Find(String executor) implements DriverMessage {}

    /** The values of all metrics of an executor. */
    record Report(String executor, Map<Metric, Long> values) implements DriverMessage {}

    /** Encodes this message. */
    default String encode() {
        return switch (this) {
            case Listening(var executor, var host, var port) ->
                    String.join(" ", "listening", executor, host, Integer.toString(port));
            case Unavailable(var executor, var host, var reason) ->
                    String.join(" ", "unavailable", executor, host, reason);
            case Find(var executor) -> "find " + executor;
            case Report(var executor, var values) ->
                    values.entrySet().stream()
                            .map(value -> value.getKey().name() + " " + value.getValue())
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
        try {
            return switch (words[0]) {
                case "listening" -> new Listening(words[1], words[2], Integer.parseInt(words[3]));
                case "unavailable" -> {
                    var fields = text.split(" ", 4);
                    yield new Unavailable(fields[1], fields[2], fields[3]);
                }
                case "find" -> new Find(words[1]);
                case "report" -> {
                    var values = new EnumMap<Metric, Long>(Metric.class);
                    for (var i = 2; i < words.length; i += 2) {
                        values.put(Metric.valueOf(words[i]), Long.valueOf(words[i + 1]));
                    }
                    yield new Report(words[1], values);
                }
                default -> throw new IllegalArgumentException("Unknown type");
            };
        } catch (IllegalArgumentException | ArrayIndexOutOfBoundsException e) {
            throw new IllegalArgumentException(
                    "Not a message of the RDMA shuffle: \"%s\"".formatted(text), e);
        }
    }
}
