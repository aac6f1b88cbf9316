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
import java.util.stream.IntStream;
import javax.imageio.ImageIO;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
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
                new Latency(1, micros, micros, micros, micros, micros, micros, micros),
                new Bandwidth(megabytes, megabytes * 1e6 / bytes),
                Optional.empty());
    }

    private Document draw(List<Result> results) throws Exception {
        var file = folder.resolve("plot.svg");
        PlotFile.write(file, results);
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
    void shouldDrawALineForEachPathInEachChart() throws Exception {
        var document = draw(RESULTS);

        assertThat(elements(document, "title"))
                .extracting(Element::getTextContent)
                .containsExactly("write", "tcp & others", "write", "tcp & others");
        assertThat(elements(document, "polyline"))
                .hasSize(4)
                .allSatisfy(line -> assertThat(line.getAttribute("points")).matches("\\S+ \\S+"));
    }

    /** More than the command has. */
    @Test
    void shouldDrawEachOfManyPathsDifferently() throws Exception {
        var results = IntStream.range(0, 14).mapToObj(path -> result("p" + path, 8, 1, 1)).toList();

        assertThat(elements(draw(results), "polyline").subList(0, 14))
                .extracting(
                        line -> line.getAttribute("stroke") + line.getAttribute("stroke-dasharray"))
                .doesNotHaveDuplicates();
    }

    @Test
    void shouldSayWhatIsSoftware() throws Exception {
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

        PlotFile.write(page, results);

        assertThat(elements(draw(results), "text"))
                .extracting(Element::getTextContent)
                .contains("write on soft0, software", "read on rxe0");
        assertThat(Files.readString(page)).contains("<tr><td>write on soft0, software<td>8<td>");
    }

    /** docs/choosing-a-fabric.md says how it is drawn anew. */
    @Test
    void shouldBeShownInTheDocumentsWithALineForEachPathThatNeedsNoAdapter() throws Exception {
        var shown =
                DocumentBuilderFactory.newInstance()
                        .newDocumentBuilder()
                        .parse(Path.of("..", "docs", "perf.svg").toFile());
        var texts = elements(shown, "text").stream().map(Element::getTextContent).toList();
        var curves = elements(shown, "title").stream().map(Element::getTextContent).toList();

        assertThat(texts)
                .contains("latency, median (us)", "bandwidth (MB/s)", "message size (bytes)")
                .containsAll(curves);
        assertThat(curves.subList(0, curves.size() / 2))
                .contains("write on soft0, software", "pio, software", "dma, software", "tcp")
                .doesNotHaveDuplicates()
                .isEqualTo(curves.subList(curves.size() / 2, curves.size()));
        assertThat(Files.readString(Path.of("..", "docs", "choosing-a-fabric.md")))
                .contains("](perf.svg)");
    }

    /** By what letters of 13 pixels take at most, on average; with a label longer than most. */
    @Test
    void shouldKeepAllWordsWithinThePicture() throws Exception {
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
    void shouldSayWhatLatencyIs() throws Exception {
        assertThat(elements(draw(RESULTS), "text"))
                .extracting(Element::getTextContent)
                .anyMatch(words -> words.contains("half of there and back; of read,"));
    }

    @Test
    void shouldNameAxesWithTheirUnits() throws Exception {
        assertThat(elements(draw(RESULTS), "text"))
                .extracting(Element::getTextContent)
                .contains(
                        "latency, median (us)",
                        "bandwidth (MB/s)",
                        "message size (bytes)",
                        "64",
                        "4K",
                        "10",
                        "1,000",
                        "write",
                        "tcp & others");
    }

    /** A quicker path is lower in the first chart, and more bandwidth higher in the second. */
    @Test
    void shouldPutEachFigureAtItsPlace() throws Exception {
        var lines = elements(draw(RESULTS), "polyline");

        var write = ys(lines.get(0));
        var tcp = ys(lines.get(1));
        assertThat(write[0]).isLessThan(tcp[0]);
        assertThat(write[1]).isLessThan(write[0]);
        // 10 us is as far from 5 us as 20 us is from 10 us: the axis is logarithmic.
        assertThat(write[0] - write[1])
                .isCloseTo(tcp[0] - write[0], org.assertj.core.data.Offset.offset(0.2));
        assertThat(ys(lines.get(2))[1]).isLessThan(ys(lines.get(2))[0]);
    }

    private static double[] ys(Element line) {
        return Arrays.stream(line.getAttribute("points").split(" "))
                .mapToDouble(point -> Double.parseDouble(point.substring(point.indexOf(',') + 1)))
                .toArray();
    }

    @Test
    void shouldDrawASingleResultAndManyPowersOfTen() throws Exception {
        assertThat(elements(draw(List.of(result("dma", 8, 100, 10))), "circle")).hasSize(2);
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
    void shouldPutTheNumbersBesideTheCurvesInAPage() throws IOException {
        var page = folder.resolve("plot.html");

        PlotFile.write(page, RESULTS);

        assertThat(Files.readString(page))
                .contains("<svg ", "<tr><td>tcp &amp; others<td>4096<td>8.00")
                .doesNotContain("src=", "href=", "url(");
    }

    @Test
    void shouldDrawPixelsWhereThereIsAFont() throws IOException {
        var image = folder.resolve("plot.png");

        try {
            PlotFile.check(image);
        } catch (IllegalArgumentException e) {
            assertThat(e).hasMessageContaining("fonts").hasMessageContaining(".svg");
            return;
        }
        PlotFile.write(image, RESULTS);

        assertThat(ImageIO.read(image.toFile()).getWidth()).isEqualTo(2 * Plot.WIDTH);
    }

    @ParameterizedTest
    @ValueSource(strings = {"plot", "plot.gif", "/no/such/folder/plot.svg"})
    void shouldRefuseAFileThatItCannotWriteBeforeAnythingIsMeasured(String name) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> PlotFile.check(Path.of(name)))
                .withMessageContaining(name.startsWith("/") ? "/no/such/folder" : name);
    }
}
