package org.jrdma.cli.perf;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jrdma.cli.output.Json;

/**
 * The latency and bandwidth of accesses to a file of a volume, or of the same transport without a
 * volume (raw).
 *
 * @param raw the raw operation: read or write over RDMA, pio or dma over SISCI, or driver for the
 *     NVMe driver; empty for an access to a file
 * @param pattern the order of the positions; empty for a raw operation over RDMA or SISCI
 * @param bytes the size of an access
 * @param processorTime empty for a raw operation
 * @param connection the description of the path to the data; empty for a raw operation
 */
record VolumeResult(
        VolumeDataPathKind path,
        Optional<String> raw,
        NvmeResult.Operation operation,
        Optional<AccessOrder.Pattern> pattern,
        int bytes,
        LatencyStatistics latency,
        MeasuredBandwidth bandwidth,
        Stability stable,
        Optional<ProcessorTimePerByte> processorTime,
        Optional<String> connection) {

    static final Plot.Texts BY_SIZE =
            new Plot.Texts(
                    "jrdma perf volume: latency, bandwidth and processor time by block size",
                    "block size (bytes)",
                    "bytes",
                    "One access at a time. Raw: the same transport without a volume, as in jrdma perf.");

    /** Returns the result of a raw operation over RDMA or SISCI. */
    static VolumeResult ofRaw(VolumeDataPathKind path, Result result) {
        return new VolumeResult(
                path,
                Optional.of(result.path()),
                result.path().equals("read")
                        ? NvmeResult.Operation.READ
                        : NvmeResult.Operation.WRITE,
                Optional.empty(),
                result.bytes(),
                result.latency(),
                result.bandwidth(),
                result.stable(),
                Optional.empty(),
                Optional.empty());
    }

    /** Returns the result of the NVMe driver. */
    static VolumeResult ofDriver(
            NvmeResult.Operation operation,
            AccessOrder.Pattern pattern,
            int bytes,
            RepeatedMeasurement measured) {
        return new VolumeResult(
                VolumeDataPathKind.DIRECT,
                Optional.of("driver"),
                operation,
                Optional.of(pattern),
                bytes,
                measured.latency(),
                measured.bandwidth(),
                measured.stable(),
                Optional.empty(),
                Optional.empty());
    }

    static String header(
            VolumeDataPathKind path, NvmeResult.Operation operation, AccessOrder.Pattern pattern) {
        return header(
                "%s, %s %s".formatted(path, Json.name(pattern), Json.name(operation)),
                " %7s %7s %7s".formatted("client", "server", "drive"));
    }

    static String rawHeader(VolumeDataPathKind path, String raw) {
        return header("%s, raw %s".formatted(path, raw), "");
    }

    private static String header(String name, String more) {
        return "%n%s: latency in us%s; %s%n%10s %9s %9s  %9s %11s  %11s%s"
                .formatted(
                        name,
                        more.isEmpty() ? "" : ", processor time in ns per byte",
                        Stability.LEGEND,
                        "bytes",
                        "min",
                        "p50",
                        "p99",
                        "MB/s",
                        "accesses/s",
                        more);
    }

    String row() {
        return String.format(
                        Locale.ROOT,
                        "%10s %9.2f %9.2f%c %9s %11.1f%c %11.0f",
                        Size.toString(bytes),
                        latency.minimum(),
                        latency.median(),
                        stable.latencyMark(),
                        latency.percentile99AsText(),
                        bandwidth.megabytesPerSecond(),
                        stable.bandwidthMark(),
                        bandwidth.messagesPerSecond())
                + processorTime
                        .map(time ->
                                String.format(
                                        Locale.ROOT,
                                        " %7.2f %7.2f %7.2f",
                                        time.client(),
                                        time.server(),
                                        time.drive()))
                        .orElse("");
    }

    private String curve() {
        return raw.map(name -> "raw %s of %s".formatted(name, path)).orElse(path.toString());
    }

    /** Returns the entry for a table, whose label has the operation. */
    Plot.Entry entry() {
        var words = pattern.map(order -> Json.name(order) + " ").orElse("") + Json.name(operation);
        return new Plot.Entry(
                "%s, %s".formatted(curve(), words), bytes, latency, bandwidth, stable);
    }

    private boolean isIn(NvmeResult.Operation chart, AccessOrder.Pattern order) {
        return operation == chart && pattern.orElse(order) == order;
    }

    private Plot.Value value(double figure, boolean isStable) {
        return new Plot.Value(curve(), bytes, figure, isStable);
    }

    /**
     * Returns charts of the latency, the bandwidth and the processor time for each operation and
     * pattern.
     */
    static List<Plot.Chart> charts(List<VolumeResult> results) {
        var charts = new ArrayList<Plot.Chart>();
        for (var order : AccessOrder.Pattern.values()) {
            for (var operation : NvmeResult.Operation.values()) {
                var heading = "%s %s".formatted(Json.name(order), Json.name(operation));
                var shown =
                        results.stream().filter(result -> result.isIn(operation, order)).toList();
                charts.add(
                        new Plot.Chart(
                                heading,
                                Plot.LATENCY_P50,
                                Plot.Quantity.LATENCY,
                                shown.stream()
                                        .map(result ->
                                                result.value(
                                                        result.latency().median(),
                                                        result.stable().latency()))
                                        .toList()));
                charts.add(
                        new Plot.Chart(
                                heading,
                                Plot.BANDWIDTH,
                                Plot.Quantity.BANDWIDTH,
                                shown.stream()
                                        .map(result ->
                                                result.value(
                                                        result.bandwidth().megabytesPerSecond(),
                                                        result.stable().bandwidth()))
                                        .toList()));
            }
        }
        for (var operation : NvmeResult.Operation.values()) {
            charts.add(
                    new Plot.Chart(
                            "sequential %s, all processes".formatted(Json.name(operation)),
                            "processor time (ns per byte)",
                            Plot.Quantity.PROCESSOR_TIME,
                            results.stream()
                                    .filter(result ->
                                            result.isIn(operation, AccessOrder.Pattern.SEQUENTIAL))
                                    .filter(result -> result.processorTime().isPresent())
                                    .map(result ->
                                            result.value(
                                                    result.processorTime().orElseThrow().total(),
                                                    true))
                                    .toList()));
        }
        return charts;
    }
}
