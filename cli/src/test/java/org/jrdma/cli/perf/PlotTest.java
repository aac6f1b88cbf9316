package org.jrdma.cli.perf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;
import javax.imageio.ImageIO;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.w3c.dom.Document;
import org.w3c.dom.Element;

class PlotTest {

    private static final List<Result> RESULTS =
            List.of(
                    result("write", 64, 10, 100),
                    result("write", 4096, 20, 2_000),
                    result("tcp & others", 64, 5, 50),
                    result("tcp & others", 4096, 8, 4_000));

    @TempDir private Path folder;

    private static Result result(String path, int bytes, double micros, double megabytes) {
        return result(path, Optional.empty(), Optional.empty(), bytes, micros, megabytes);
    }

    private static Result result(
            String path,
            Optional<Paths.Fabric> fabric,
            Optional<String> device,
            int bytes,
            double micros,
            double megabytes) {
        return new Result(
                path,
                fabric,
                device,
                bytes,
                new LatencyStatistics(
                        1_000, micros, micros, micros, micros, 2 * micros, 2 * micros, 2 * micros),
                new MeasuredBandwidth(megabytes, megabytes * 1e6 / bytes),
                new Stability(true, true),
                new MachineState(92, 4_000),
                Optional.empty());
    }

    private static void write(Path file, List<Result> results) throws IOException {
        PlotWriter.write(file, results.stream().map(Result::entry).toList(), Plot.BY_SIZE, 0.5);
    }

    private Document draw(List<Result> results) throws Exception {
        var file = folder.resolve("plot.svg");
        write(file, results);
        return DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(file.toFile());
    }

    private static List<Element> elements(Document document, String name) {
        var found = new ArrayList<Element>();
        var nodes = document.getElementsByTagName(name);
        for (var node = 0; node < nodes.getLength(); node++) {
            found.add((Element) nodes.item(node));
        }
        return found;
    }

    @Test
    void shouldDrawALineForEachPathInEachChartAndInTheLegend() throws Exception {
        var document = draw(RESULTS);

        assertThat(elements(document, "title"))
                .extracting(Element::getTextContent)
                .containsExactly(
                        "write",
                        "tcp & others",
                        "write",
                        "tcp & others",
                        "write",
                        "tcp & others",
                        "write",
                        "tcp & others");
        assertThat(elements(document, "polyline"))
                .hasSize(8)
                .allSatisfy(line -> assertThat(line.getAttribute("points")).matches("\\S+ \\S+"));
    }

    /** Draws more paths than the command has. */
    @Test
    void shouldDistinguishManyPathsByColorAndMarker() throws Exception {
        var results = IntStream.range(0, 14).mapToObj(path -> result("p" + path, 8, 1, 1)).toList();

        assertThat(elements(draw(results), "g").subList(0, 14))
                .extracting(curve -> curve.getAttribute("fill") + marker(curve))
                .doesNotHaveDuplicates();
    }

    @Test
    void shouldMarkTheSoftwareFabric() throws Exception {
        var results =
                List.of(
                        result(
                                "write",
                                Optional.of(Paths.Fabric.SOFTWARE),
                                Optional.of("soft0"),
                                8,
                                1,
                                1),
                        result(
                                "read",
                                Optional.of(Paths.Fabric.SYSTEM),
                                Optional.of("rxe0"),
                                8,
                                1,
                                1));
        var page = folder.resolve("plot.html");

        write(page, results);

        assertThat(elements(draw(results), "text"))
                .extracting(Element::getTextContent)
                .contains("write on soft0, software", "read on rxe0");
        assertThat(Files.readString(page)).contains("<tr><td>write on soft0, software<td>8<td>");
    }

    @Test
    void shouldStateTheLoadOfTheMachine() throws Exception {
        assertThat(elements(draw(RESULTS), "text"))
                .extracting(Element::getTextContent)
                .anyMatch(text -> text.startsWith("Load average before: 0.50. Latency is "));
    }

    @ParameterizedTest
    @CsvSource({"10, 10, " + Plot.EMPTY_CHART, "10, 1000, " + Plot.MISSING_POINTS, "100, 100,"})
    void shouldExplainMissingPercentiles(int fewer, int more, String note) throws Exception {
        var results = List.of(sampled("tcp", fewer), sampled("smc", more));

        assertThat(elements(draw(results), "text"))
                .extracting(Element::getTextContent)
                .filteredOn(text -> text.contains("samples"))
                .isEqualTo(note == null ? List.of() : List.of(note));
    }

    private static Result sampled(String path, int samples) {
        return new Result(
                path,
                Optional.empty(),
                Optional.empty(),
                8,
                new LatencyStatistics(samples, 1, 1, 1, 1, 2, 2, 2),
                new MeasuredBandwidth(1, 1),
                new Stability(true, true),
                new MachineState(92, 4_000),
                Optional.empty());
    }

    @Test
    void shouldMarkUnstableValuesAndExplainTheMark() throws Exception {
        var unstable =
                new Result(
                        "tcp",
                        Optional.empty(),
                        Optional.empty(),
                        8,
                        new LatencyStatistics(100, 1, 1, 1, 1, 2, 2, 2),
                        new MeasuredBandwidth(1, 1),
                        new Stability(false, true),
                        new MachineState(92, 4_000),
                        Optional.empty());
        var page = folder.resolve("plot.html");

        write(page, List.of(unstable));

        assertThat(texts(draw(List.of(unstable))))
                .containsOnlyOnce("~")
                .anyMatch(text -> text.endsWith(" ~: unstable."));
        assertThat(Files.readString(page)).contains("<td>1.00~<td>");
        assertThat(texts(draw(RESULTS))).noneMatch(text -> text.contains("~"));
    }

    private static List<String> texts(Document document) {
        return elements(document, "text").stream().map(Element::getTextContent).toList();
    }

    /** docs/use/choosing-a-fabric.md contains the command that draws the plot. */
    @Test
    void shouldDocumentAPlotOfEachPathThatNeedsNoAdapter() throws Exception {
        var shown =
                DocumentBuilderFactory.newInstance()
                        .newDocumentBuilder()
                        .parse(Path.of("..", "docs", "use", "perf.svg").toFile());
        var texts = elements(shown, "text").stream().map(Element::getTextContent).toList();
        var curves = elements(shown, "title").stream().map(Element::getTextContent).toList();

        assertThat(texts)
                .contains(
                        Plot.BY_SIZE.title(),
                        Plot.LATENCY_P50,
                        Plot.LATENCY_P99,
                        Plot.BANDWIDTH,
                        "message size (bytes)")
                .containsAll(curves);
        assertThat(curves.subList(0, curves.size() / 4))
                .contains("write on soft0, software", "pio, software", "dma, software", "tcp")
                .doesNotHaveDuplicates()
                .isEqualTo(curves.subList(3 * curves.size() / 4, curves.size()));
        assertThat(Files.readString(Path.of("..", "docs", "use", "choosing-a-fabric.md")))
                .contains("](perf.svg)");
    }

    /** Estimates the width of a text as 8 pixels per character. */
    @Test
    void shouldKeepTextWithinThePicture() throws Exception {
        var label = "compare-and-swap on rocep1s0f0";

        assertThat(elements(draw(List.of(result(label, 8, 1_000_000, 0.001))), "text"))
                .filteredOn(text -> text.hasAttribute("x"))
                .allSatisfy(text -> {
                    var x = Double.parseDouble(text.getAttribute("x"));
                    var width = 8 * text.getTextContent().length();
                    var left =
                            switch (text.getAttribute("text-anchor")) {
                                case "start" -> x;
                                case "end" -> x - width;
                                default -> x - width / 2.0;
                            };
                    assertThat(left).isNotNegative();
                    assertThat(left + width).isLessThanOrEqualTo(Plot.WIDTH);
                });
    }

    @Test
    void shouldPrintTheDefinitionOfLatency() throws Exception {
        assertThat(elements(draw(RESULTS), "text"))
                .extracting(Element::getTextContent)
                .anyMatch(words -> words.contains("half of a round trip; for read,"));
    }

    @Test
    void shouldLabelAxesWithTheirUnits() throws Exception {
        assertThat(elements(draw(RESULTS), "text"))
                .extracting(Element::getTextContent)
                .contains(
                        "latency p50 (us)",
                        "latency p99 (us)",
                        "bandwidth (MB/s)",
                        "message size (bytes)",
                        "64",
                        "4K",
                        "10",
                        "1,000",
                        "write",
                        "tcp & others");
    }

    /**
     * A smaller latency is drawn at a lower position, and a larger bandwidth at a higher position.
     */
    @Test
    void shouldPlaceEachValueOnLogarithmicAxes() throws Exception {
        var lines = elements(draw(RESULTS), "polyline");

        var write = ys(lines.get(0));
        var tcp = ys(lines.get(1));
        assertThat(write[0]).isLessThan(tcp[0]);
        assertThat(write[1]).isLessThan(write[0]);
        // On a logarithmic axis, 10 us is as far from 5 us as 20 us is from 10 us.
        assertThat(write[0] - write[1])
                .isCloseTo(tcp[0] - write[0], org.assertj.core.data.Offset.offset(0.2));
        assertThat(ys(lines.get(4))[1]).isLessThan(ys(lines.get(4))[0]);
    }

    private static double[] ys(Element line) {
        return Arrays.stream(line.getAttribute("points").split(" "))
                .mapToDouble(point -> Double.parseDouble(point.substring(point.indexOf(',') + 1)))
                .toArray();
    }

    @Test
    void shouldDrawASingleResultAndManyPowersOfTen() throws Exception {
        assertThat(elements(draw(List.of(result("dma", 8, 100, 10))), "polygon")).hasSize(5);
        assertThat(
                        elements(
                                draw(
                                        List.of(
                                                result("dma", 8, 0.001, 1),
                                                result("dma", 64, 1e6, 1))),
                                "text"))
                .extracting(Element::getTextContent)
                .contains("0.001", "1,000,000")
                .doesNotContain("0.002");
    }

    @Test
    void shouldPrintTheResultsInAnHtmlPage() throws IOException {
        var page = folder.resolve("plot.html");

        write(page, RESULTS);

        assertThat(Files.readString(page))
                .contains("<svg ", "<tr><td>tcp &amp; others<td>4096<td>8.00")
                .doesNotContain("src=", "href=", "url(");
    }

    @Test
    void shouldDrawAnImageIfThereIsAFont() throws IOException {
        var image = folder.resolve("plot.png");

        try {
            PlotWriter.check(image);
        } catch (IllegalArgumentException e) {
            assertThat(e).hasMessageContaining("fonts").hasMessageContaining(".svg");
            return;
        }
        write(image, RESULTS);

        assertThat(ImageIO.read(image.toFile()).getWidth()).isEqualTo(2 * Plot.WIDTH);
    }

    @ParameterizedTest
    @ValueSource(strings = {"plot", "plot.gif", "/no/such/folder/plot.svg"})
    void shouldRejectAFileThatItCannotWrite(String name) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> PlotWriter.check(Path.of(name)))
                .withMessageContaining(name.startsWith("/") ? "/no/such/folder" : name);
    }

    private static String marker(Element curve) {
        var points =
                ((Element) curve.getElementsByTagName("polygon").item(0))
                        .getAttribute("points")
                        .split(" ", -1);
        var first = points[0].split(",", -1);
        var second = points[1].split(",", -1);
        return "%d %.1f %.1f"
                .formatted(
                        points.length,
                        Double.parseDouble(second[0]) - Double.parseDouble(first[0]),
                        Double.parseDouble(second[1]) - Double.parseDouble(first[1]));
    }

    @Test
    void shouldPrintTheTitleTheVersionTheDateAndTheMachine() throws Exception {
        assertThat(elements(draw(RESULTS), "text").subList(0, 2))
                .extracting(Element::getTextContent)
                .satisfiesExactly(
                        title -> assertThat(title).isEqualTo(Plot.BY_SIZE.title()),
                        caption ->
                                assertThat(caption)
                                        .matches(
                                                "jrdma \\S+, \\d{4}-\\d\\d-\\d\\d\\. .*\\d+ processors, .*Java \\d+\\."));
    }

    @Test
    void shouldKeepCurvesWithinTheirAxes() throws Exception {
        var document =
                draw(
                        List.of(
                                result("write", 1, 1, 1),
                                result("write", 1000, 1000, 1000),
                                result("stalled", 10, 0, 0)));
        var axes =
                elements(document, "line").stream()
                        .filter(line -> line.getAttribute("stroke").equals("#444444"))
                        .toList();
        var curves = elements(document, "polyline");

        for (var chart = 0; chart < 3; chart++) {
            var vertical = axes.get(2 * chart);
            var horizontal = axes.get(2 * chart + 1);
            assertThat(DoubleStream.of(ys(curves.get(2 * chart))))
                    .allMatch(y -> number(vertical, "y1") <= y && y <= number(vertical, "y2"));
            assertThat(DoubleStream.of(xs(curves.get(2 * chart))))
                    .allMatch(x -> number(horizontal, "x1") <= x && x <= number(horizontal, "x2"));
        }
        assertThat(curves.get(1).getAttribute("points")).isEmpty();
    }

    private static double number(Element line, String attribute) {
        return Double.parseDouble(line.getAttribute(attribute));
    }

    private static double[] xs(Element line) {
        return Arrays.stream(line.getAttribute("points").split(" "))
                .mapToDouble(point -> Double.parseDouble(point.substring(0, point.indexOf(','))))
                .toArray();
    }
}
