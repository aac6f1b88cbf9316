package org.jrdma.cli.perf;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import org.jrdma.cli.perf.Canvas.Anchor;
import org.jrdma.cli.perf.Canvas.Pen;
import org.jrdma.cli.perf.Canvas.Point;

/** Latency and bandwidth by message size, a line for each path; both axes logarithmic. */
final class Plot {

    static final int WIDTH = 1040;
    static final int HEIGHT = 880;

    private static final int LEFT = 90;
    private static final int RIGHT = 720;
    private static final int CHART_HEIGHT = 340;
    private static final List<Integer> TOPS = List.of(50, 480);
    private static final int LEGEND_LINE = 22;
    private static final int MOST_TICKS = 14;

    /** Told apart by colour-blind readers, too: Okabe's and Ito's, but for yellow on white. */
    private static final List<String> COLOURS =
            List.of("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000");

    /** When there are more curves than colours. */
    private static final List<List<Integer>> DASHES =
            List.of(List.of(), List.of(8, 4), List.of(2, 3));

    private static final Pen GRID = new Pen("#dddddd", 1, List.of());

    private final Map<String, List<Result>> curves = new LinkedHashMap<>();
    private final List<Integer> sizes;

    Plot(List<Result> results) {
        results.forEach(result ->
                curves.computeIfAbsent(result.label(), _ -> new ArrayList<>()).add(result));
        sizes = results.stream().map(Result::bytes).distinct().sorted().toList();
    }

    void draw(Canvas canvas) {
        canvas.text(
                new Point(LEFT, TOPS.getFirst() - 32),
                Anchor.START,
                "Latency of a message: half of there and back; of read, fetch-add, swap and dma,");
        canvas.text(
                new Point(LEFT, TOPS.getFirst() - 16),
                Anchor.START,
                "in which the other side takes no part, until it is done.");
        chart(canvas, TOPS.get(0), "latency, median (us)", result -> result.latency().median());
        chart(
                canvas,
                TOPS.get(1),
                "bandwidth (MB/s)",
                result -> result.bandwidth().megabytesPerSecond());
        var y = TOPS.getFirst() + LEGEND_LINE;
        for (var name : curves.keySet()) {
            var start = new Point(RIGHT + 20, y - 4);
            canvas.line(start, new Point(RIGHT + 52, y - 4), pen(name));
            canvas.text(new Point(RIGHT + 60, y), Anchor.START, name);
            y += LEGEND_LINE;
        }
    }

    private Pen pen(String name) {
        var curve = List.copyOf(curves.keySet()).indexOf(name);
        return new Pen(
                COLOURS.get(curve % COLOURS.size()),
                2,
                DASHES.get(curve / COLOURS.size() % DASHES.size()));
    }

    private void chart(Canvas canvas, int top, String title, ToDoubleFunction<Result> figure) {
        var values =
                curves.values().stream().flatMap(List::stream).mapToDouble(figure).boxed().toList();
        var x = Scale.of(sizes.stream().map(Integer::doubleValue).toList(), LEFT, RIGHT);
        var y = Scale.of(values, top + CHART_HEIGHT, top);
        for (var bytes : sizes) {
            var at = x.at(bytes);
            canvas.line(new Point(at, top), new Point(at, top + CHART_HEIGHT), GRID);
            canvas.text(
                    new Point(at, top + CHART_HEIGHT + 20), Anchor.MIDDLE, Size.toString(bytes));
        }
        for (var tick : y.ticks()) {
            var at = y.at(tick);
            canvas.line(new Point(LEFT, at), new Point(RIGHT, at), GRID);
            canvas.text(new Point(LEFT - 8, at + 4), Anchor.END, number(tick));
        }
        canvas.textUpwards(new Point(LEFT - 62, top + CHART_HEIGHT / 2.0), title);
        canvas.text(
                new Point((LEFT + RIGHT) / 2.0, top + CHART_HEIGHT + 42),
                Anchor.MIDDLE,
                "message size (bytes)");
        curves.forEach((name, results) ->
                canvas.curve(
                        name,
                        results.stream()
                                .map(result ->
                                        new Point(
                                                x.at(result.bytes()),
                                                y.at(figure.applyAsDouble(result))))
                                .toList(),
                        pen(name)));
    }

    private static String number(double value) {
        return value < 1
                ? String.format(Locale.ROOT, "%.3g", value).replaceAll("0+$", "")
                : String.format(Locale.ROOT, "%,.0f", value);
    }

    /** Where a value is, on a logarithmic axis from {@code low} to {@code high}. */
    private record Scale(double low, double high, double start, double end) {

        /** From the 1, 2 or 5 below the values to that above. */
        static Scale of(List<Double> values, double start, double end) {
            var least = Collections.min(values);
            var most = Collections.max(values);
            var low = steps(least, most).getFirst();
            var high = steps(least, most).getLast();
            return new Scale(low, high, start, end);
        }

        double at(double value) {
            return start + (end - start) * Math.log(value / low) / Math.log(high / low);
        }

        /** Powers of ten alone where the others would be too many. */
        List<Double> ticks() {
            var ticks = steps(low, high);
            return ticks.size() <= MOST_TICKS
                    ? ticks
                    : ticks.stream().filter(Scale::isPowerOfTen).toList();
        }

        private static boolean isPowerOfTen(double value) {
            var power = Math.log10(value);
            return Math.abs(power - Math.rint(power)) < 1e-9;
        }

        /** 1, 2 and 5 of each power of ten, from the last at or below to the first at or above. */
        private static List<Double> steps(double least, double most) {
            var steps = new ArrayList<Double>();
            var power = Math.pow(10, Math.floor(Math.log10(least)));
            while (true) {
                for (var digit : new int[] {1, 2, 5}) {
                    var step = digit * power;
                    if (step <= least) {
                        steps.clear();
                    }
                    steps.add(step);
                    if (step >= most && steps.size() > 1) {
                        return steps;
                    }
                }
                power *= 10;
            }
        }
    }
}
