package org.jrdma.cli.perf;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import java.util.stream.DoubleStream;
import org.jrdma.cli.perf.Canvas.Anchor;
import org.jrdma.cli.perf.Canvas.Pen;
import org.jrdma.cli.perf.Canvas.Point;

/**
 * Charts of latency (p50 and p99) and bandwidth by message size or queue depth, with a curve for
 * each path. All axes are logarithmic.
 */
final class Plot {

    /**
     * A point of each chart.
     *
     * @param label the name of the curve
     * @param x the message size or the queue depth
     */
    record Entry(String label, int x, Latency latency, Bandwidth bandwidth) {}

    /**
     * The texts of a plot.
     *
     * @param title the title
     * @param axis the title of the horizontal axes
     * @param column the title of the column with the values of the horizontal axes
     * @param note the explanation of the latency
     */
    record Texts(String title, String axis, String column, String note) {}

    static final Texts BY_SIZE =
            new Texts(
                    "jrdma perf: latency and bandwidth by message size",
                    "message size (bytes)",
                    "bytes",
                    "Latency is half of a round trip. For read, fetch-add, swap and dma it is the time until completion.");

    static final int WIDTH = 1280;
    static final int HEIGHT = 920;

    static final String LATENCY_P50 = "latency p50 (us)";
    static final String LATENCY_P99 = "latency p99 (us)";
    static final String BANDWIDTH = "bandwidth (MB/s)";
    static final String MISSING_POINTS = "p99 is not drawn for sizes with fewer than 100 samples";
    static final String EMPTY_CHART =
            "No p99: no size has 100 samples. Measure longer with --time.";

    private static final int MARGIN = 30;
    private static final int CHART_WIDTH = 500;
    private static final int CHART_HEIGHT = 320;
    private static final int LEFT = 100;
    private static final int RIGHT = 740;
    private static final int TOP = 110;
    private static final int BOTTOM = 520;
    private static final int LEGEND_LINE = 22;
    private static final int MAX_TICKS = 14;

    /**
     * The colors of Okabe and Ito for color-blind readers, without yellow, and five further colors.
     */
    private static final List<String> COLORS =
            List.of(
                    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000",
                    "#6a3d9a", "#8c510a", "#7f7f7f", "#b30059", "#00441b");

    private static final List<Marker> MARKERS = List.of(Marker.values());

    private static final Pen GRID = new Pen("#dddddd", 1);
    private static final Pen AXIS = new Pen("#444444", 1);

    private final Map<String, List<Entry>> curves = new LinkedHashMap<>();
    private final List<Integer> values;
    private final Texts texts;
    private final List<String> captions;

    /**
     * Creates a plot.
     *
     * @param captions the lines below the title
     */
    Plot(List<Entry> entries, Texts texts, List<String> captions) {
        entries.forEach(
                entry -> curves.computeIfAbsent(entry.label(), _ -> new ArrayList<>()).add(entry));
        values = entries.stream().map(Entry::x).distinct().sorted().toList();
        this.texts = texts;
        this.captions = captions;
    }

    void draw(Canvas canvas) {
        canvas.heading(new Point(MARGIN, 32), texts.title());
        var y = 54;
        for (var caption : captions) {
            canvas.text(new Point(MARGIN, y), Anchor.START, caption);
            y += 18;
        }
        // Both latency charts have the same axis, so that their curves can be compared.
        var latency =
                Scale.of(
                        curves.values().stream()
                                .flatMap(List::stream)
                                .flatMapToDouble(result ->
                                        DoubleStream.of(median(result), percentile99(result))));
        var bandwidth =
                Scale.of(
                        curves.values().stream()
                                .flatMap(List::stream)
                                .mapToDouble(Plot::bandwidth));
        chart(canvas, LEFT, TOP, LATENCY_P50, latency, Plot::median);
        chart(canvas, RIGHT, TOP, LATENCY_P99, latency, Plot::percentile99);
        noteMissingPercentiles(canvas);
        chart(canvas, LEFT, BOTTOM, BANDWIDTH, bandwidth, Plot::bandwidth);
        legend(canvas);
    }

    /**
     * Adds a note to the plot if the p99 chart lacks points, because there were too few samples.
     */
    private void noteMissingPercentiles(Canvas canvas) {
        var results = curves.values().stream().flatMap(List::stream).toList();
        if (results.stream().allMatch(result -> result.latency().hasPercentile99())) {
            return;
        }
        canvas.text(
                new Point(RIGHT + CHART_WIDTH / 2.0, TOP - 8),
                Anchor.MIDDLE,
                results.stream().anyMatch(result -> result.latency().hasPercentile99())
                        ? MISSING_POINTS
                        : EMPTY_CHART);
    }

    private static double median(Entry result) {
        return result.latency().median();
    }

    /** Returns the 99th percentile of the latency, or NaN if there are too few samples. */
    private static double percentile99(Entry result) {
        return result.latency().hasPercentile99() ? result.latency().percentile99() : Double.NaN;
    }

    private static double bandwidth(Entry result) {
        return result.bandwidth().megabytesPerSecond();
    }

    private void legend(Canvas canvas) {
        var y = BOTTOM + LEGEND_LINE;
        for (var name : curves.keySet()) {
            canvas.curve(
                    name,
                    List.of(new Point(RIGHT, y - 4), new Point(RIGHT + 40, y - 4)),
                    pen(name),
                    marker(name));
            canvas.text(new Point(RIGHT + 56, y), Anchor.START, name);
            y += LEGEND_LINE;
        }
    }

    private int index(String name) {
        return List.copyOf(curves.keySet()).indexOf(name);
    }

    private Pen pen(String name) {
        return new Pen(COLORS.get(index(name) % COLORS.size()), 2);
    }

    private Marker marker(String name) {
        return MARKERS.get(index(name) % MARKERS.size());
    }

    private void chart(
            Canvas canvas,
            int left,
            int top,
            String title,
            Scale scale,
            ToDoubleFunction<Entry> figure) {
        var right = left + CHART_WIDTH;
        var bottom = top + CHART_HEIGHT;
        var x = Scale.of(values.stream().mapToDouble(Integer::doubleValue)).on(left, right);
        var y = scale.on(bottom, top);
        for (var value : values) {
            var at = x.at(value);
            canvas.line(new Point(at, top), new Point(at, bottom), GRID);
            canvas.text(new Point(at, bottom + 20), Anchor.MIDDLE, Size.toString(value));
        }
        for (var tick : scale.ticks()) {
            var at = y.at(tick);
            canvas.line(new Point(left, at), new Point(right, at), GRID);
            canvas.text(new Point(left - 8, at + 4), Anchor.END, number(tick));
        }
        canvas.line(new Point(left, top), new Point(left, bottom), AXIS);
        canvas.line(new Point(left, bottom), new Point(right, bottom), AXIS);
        canvas.textUpwards(new Point(left - 66, (top + bottom) / 2.0), title);
        canvas.text(new Point((left + right) / 2.0, bottom + 42), Anchor.MIDDLE, texts.axis());
        curves.forEach((name, results) ->
                canvas.curve(
                        name,
                        results.stream()
                                .filter(result -> figure.applyAsDouble(result) > 0)
                                .map(result ->
                                        new Point(
                                                x.at(result.x()),
                                                y.at(figure.applyAsDouble(result))))
                                .toList(),
                        pen(name),
                        marker(name)));
    }

    private static String number(double value) {
        return value < 1
                ? String.format(Locale.ROOT, "%.3g", value).replaceAll("0+$", "")
                : String.format(Locale.ROOT, "%,.0f", value);
    }

    /** Maps values to pixels on a logarithmic axis. */
    private record Axis(Scale scale, double start, double end) {

        double at(double value) {
            return start
                    + (end - start)
                            * Math.log(value / scale.low)
                            / Math.log(scale.high / scale.low);
        }
    }

    /** The range of a logarithmic axis. Both ends are 1, 2 or 5 times a power of ten. */
    private record Scale(double low, double high) {

        /** Returns a range with a margin around the positive values. */
        static Scale of(DoubleStream values) {
            var positive = values.filter(value -> value > 0).boxed().toList();
            if (positive.isEmpty()) {
                return new Scale(1, 10);
            }
            var steps = steps(Collections.min(positive), Collections.max(positive));
            return new Scale(steps.getFirst(), steps.getLast());
        }

        Axis on(double start, double end) {
            return new Axis(this, start, end);
        }

        /**
         * Returns the values at which the axis has labels. If there would be too many, returns only
         * the powers of ten.
         */
        List<Double> ticks() {
            var ticks = steps(low * 1.01, high / 1.01);
            return ticks.size() <= MAX_TICKS
                    ? ticks
                    : ticks.stream().filter(Scale::isPowerOfTen).toList();
        }

        private static boolean isPowerOfTen(double value) {
            var power = Math.log10(value);
            return Math.abs(power - Math.rint(power)) < 1e-9;
        }

        /**
         * Returns the values of the form 1, 2 or 5 times a power of ten, from the last one below
         * the minimum to the first one above the maximum.
         */
        private static List<Double> steps(double min, double max) {
            var steps = new ArrayList<Double>();
            for (var power = Math.floor(Math.log10(min)) - 1; ; power++) {
                for (var digit : new int[] {1, 2, 5}) {
                    var step = digit * Math.pow(10, power);
                    if (step < min) {
                        steps.clear();
                    }
                    steps.add(step);
                    if (step > max) {
                        return steps;
                    }
                }
            }
        }
    }
}
