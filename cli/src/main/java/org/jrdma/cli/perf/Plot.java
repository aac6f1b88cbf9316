package org.jrdma.cli.perf;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.Predicate;
import java.util.function.ToDoubleFunction;
import java.util.stream.DoubleStream;
import org.jrdma.cli.perf.PlotCanvas.Anchor;
import org.jrdma.cli.perf.PlotCanvas.Pen;
import org.jrdma.cli.perf.PlotCanvas.Point;

/** Charts with a curve for each path. All axes are logarithmic. */
final class Plot {

    /**
     * A result: a point of each chart.
     *
     * @param label the name of the curve
     * @param x the message size or the queue depth
     */
    record Entry(
            String label,
            int x,
            LatencyStatistics latency,
            MeasuredBandwidth bandwidth,
            Stability stable) {}

    /**
     * A value in a chart.
     *
     * @param label the name of the curve
     * @param x the position on the horizontal axis
     * @param y the value. It is not drawn unless it is positive
     * @param isStable false if the value is marked as unstable
     */
    record Value(String label, int x, double y, boolean isStable) {

        static List<Value> of(
                List<Entry> entries,
                ToDoubleFunction<Entry> figure,
                Predicate<Stability> stability) {
            return entries.stream()
                    .map(entry ->
                            new Value(
                                    entry.label(),
                                    entry.x(),
                                    figure.applyAsDouble(entry),
                                    stability.test(entry.stable())))
                    .toList();
        }
    }

    /**
     * A chart.
     *
     * @param heading the text above the chart; may be empty
     * @param title the title of the vertical axis
     * @param quantity the quantity on the vertical axis. Charts with the same quantity have the
     *     same axis, so that their curves can be compared
     */
    record Chart(String heading, String title, Quantity quantity, List<Value> values) {}

    /** The quantity on a vertical axis. */
    enum Quantity {
        LATENCY,
        BANDWIDTH,
        PROCESSOR_TIME
    }

    /**
     * The texts of a plot.
     *
     * @param title the title
     * @param axis the title of the horizontal axes
     * @param column the title of the column with the values of the horizontal axes
     * @param note the explanation of the latency
     */
    record Texts(String title, String axis, String column, String note) {

        /** Adds a sentence to the explanation. */
        Texts withNote(String sentence) {
            return new Texts(title, axis, column, note + " " + sentence);
        }
    }

    static final Texts BY_SIZE =
            new Texts(
                    "jrdma perf: latency and bandwidth by message size",
                    "message size (bytes)",
                    "bytes",
                    "Latency is half of a round trip; for read, fetch-add, swap and dma, the time until completion.");

    static final int WIDTH = 1280;

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
    private static final int ROW_HEIGHT = 410;
    private static final int COLUMNS = 2;
    private static final int LEGEND_LINE = 22;
    private static final int MAX_TICKS = 14;

    /** The distance of the mark of an unstable value above the center of its point. */
    private static final int MARK_DISTANCE = 6;

    /**
     * The colors of Okabe and Ito for color-blind readers, without yellow, and five further colors.
     */
    private static final List<String> COLORS =
            List.of(
                    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000",
                    "#6a3d9a", "#8c510a", "#7f7f7f", "#b30059", "#00441b");

    private static final List<PlotMarker> MARKERS = List.of(PlotMarker.values());

    private static final Pen GRID = new Pen("#dddddd", 1);
    private static final Pen AXIS = new Pen("#444444", 1);

    private final List<Chart> charts;
    private final Set<String> names = new LinkedHashSet<>();
    private final List<Integer> xs;
    private final Texts texts;
    private final List<String> captions;

    /**
     * Creates a plot.
     *
     * @param charts the charts, from left to right and from top to bottom. The legend follows them
     * @param captions the lines below the title
     */
    Plot(List<Chart> charts, Texts texts, List<String> captions) {
        this.charts = charts;
        this.texts = texts;
        this.captions = captions;
        var values = charts.stream().map(Chart::values).flatMap(List::stream).toList();
        values.forEach(value -> names.add(value.label()));
        xs = values.stream().map(Value::x).distinct().sorted().toList();
    }

    /** Returns charts of the latency (p50 and p99) and the bandwidth. */
    static List<Chart> charts(List<Entry> entries) {
        return List.of(
                new Chart(
                        "",
                        LATENCY_P50,
                        Quantity.LATENCY,
                        Value.of(entries, Plot::median, Stability::latency)),
                new Chart(
                        missingPercentiles(entries),
                        LATENCY_P99,
                        Quantity.LATENCY,
                        Value.of(entries, Plot::percentile99, _ -> true)),
                new Chart(
                        "",
                        BANDWIDTH,
                        Quantity.BANDWIDTH,
                        Value.of(entries, Plot::bandwidth, Stability::bandwidth)));
    }

    /** Returns a note for results without a p99, because there were too few samples. */
    private static String missingPercentiles(List<Entry> entries) {
        var complete = entries.stream().filter(entry -> entry.latency().hasPercentile99()).count();
        if (complete == entries.size()) {
            return "";
        }
        return complete > 0 ? MISSING_POINTS : EMPTY_CHART;
    }

    static double median(Entry result) {
        return result.latency().median();
    }

    /** Returns the 99th percentile of the latency, or NaN if there are too few samples. */
    private static double percentile99(Entry result) {
        return result.latency().hasPercentile99() ? result.latency().percentile99() : Double.NaN;
    }

    static double bandwidth(Entry result) {
        return result.bandwidth().megabytesPerSecond();
    }

    int height() {
        var rows = charts.size() / COLUMNS + 1; // the legend has a place too
        return TOP + rows * ROW_HEIGHT - 10;
    }

    void draw(PlotCanvas canvas) {
        canvas.heading(new Point(MARGIN, 32), texts.title());
        var y = 54;
        for (var caption : captions) {
            canvas.text(new Point(MARGIN, y), Anchor.START, caption);
            y += 18;
        }
        for (var place = 0; place < charts.size(); place++) {
            draw(canvas, charts.get(place), left(place), top(place));
        }
        legend(canvas, left(charts.size()), top(charts.size()));
    }

    private static int left(int place) {
        return place % COLUMNS == 0 ? LEFT : RIGHT;
    }

    private static int top(int place) {
        return TOP + place / COLUMNS * ROW_HEIGHT;
    }

    private Scale scale(Quantity quantity) {
        return Scale.of(
                charts.stream()
                        .filter(chart -> chart.quantity() == quantity)
                        .map(Chart::values)
                        .flatMap(List::stream)
                        .mapToDouble(Value::y));
    }

    private void legend(PlotCanvas canvas, int left, int top) {
        var y = top + LEGEND_LINE;
        for (var name : names) {
            canvas.curve(
                    name,
                    List.of(new Point(left, y - 4), new Point(left + 40, y - 4)),
                    pen(name),
                    marker(name));
            canvas.text(new Point(left + 56, y), Anchor.START, name);
            y += LEGEND_LINE;
        }
    }

    private int index(String name) {
        return List.copyOf(names).indexOf(name);
    }

    private Pen pen(String name) {
        return new Pen(COLORS.get(index(name) % COLORS.size()), 2);
    }

    private PlotMarker marker(String name) {
        return MARKERS.get(index(name) % MARKERS.size());
    }

    private void draw(PlotCanvas canvas, Chart chart, int left, int top) {
        var right = left + CHART_WIDTH;
        var bottom = top + CHART_HEIGHT;
        var scale = scale(chart.quantity());
        var x = Scale.of(xs.stream().mapToDouble(Integer::doubleValue)).on(left, right);
        var y = scale.on(bottom, top);
        for (var value : xs) {
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
        canvas.textUpwards(new Point(left - 66, (top + bottom) / 2.0), chart.title());
        var center = (left + right) / 2.0;
        canvas.text(new Point(center, bottom + 42), Anchor.MIDDLE, texts.axis());
        if (!chart.heading().isEmpty()) {
            canvas.text(new Point(center, top - 8), Anchor.MIDDLE, chart.heading());
        }
        for (var name : names) {
            var values =
                    chart.values().stream().filter(value -> value.label().equals(name)).toList();
            if (values.isEmpty()) {
                continue;
            }
            var points =
                    values.stream()
                            .filter(value -> value.y() > 0)
                            .map(value -> new Point(x.at(value.x()), y.at(value.y())))
                            .toList();
            canvas.curve(name, points, pen(name), marker(name));
            values.stream()
                    .filter(value -> value.y() > 0 && !value.isStable())
                    .forEach(value ->
                            canvas.annotation(
                                    new Point(x.at(value.x()), y.at(value.y()) - MARK_DISTANCE),
                                    "~",
                                    pen(name)));
        }
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
