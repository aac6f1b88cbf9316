package org.jrdma.cli.perf;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Locale;
import javax.imageio.ImageIO;
import org.jrdma.cli.output.Version;
import org.jrdma.ffi.doctor.MachineFiles;

/** Writes a plot in the format that the suffix of the file name selects. */
final class PlotWriter {

    private PlotWriter() {}

    /**
     * Checks that a plot can be written to a file, before time is spent on measuring.
     *
     * @throws IllegalArgumentException if the format is unknown or not available on this machine,
     *     or if the folder does not exist or is not writable
     */
    static void check(Path file) {
        if (format(file).equals("png")) {
            checkFonts();
        }
        var folder = file.toAbsolutePath().getParent();
        if (folder == null || !Files.isWritable(folder)) {
            throw new IllegalArgumentException(
                    "Cannot write to the folder %s: it does not exist or is not writable."
                            .formatted(folder));
        }
    }

    private static String format(Path file) {
        var name = file.toString();
        var format = name.substring(name.lastIndexOf('.') + 1);
        if (!List.of("svg", "html", "png").contains(format)) {
            throw new IllegalArgumentException(
                    "Unknown plot format: %s. The file name must end in .svg, .html or .png."
                            .formatted(file));
        }
        return format;
    }

    /**
     * Draws a plot of the latency and the bandwidth.
     *
     * @param load the load average of the machine before the measurement; negative if unknown
     */
    static void write(Path file, List<Plot.Entry> entries, Plot.Texts texts, double load)
            throws IOException {
        write(file, entries, Plot.charts(entries), texts, load);
    }

    /**
     * Draws charts. A page in HTML also has a table of the entries.
     *
     * @param load the load average of the machine before the measurement; negative if unknown
     */
    static void write(
            Path file,
            List<Plot.Entry> entries,
            List<Plot.Chart> charts,
            Plot.Texts texts,
            double load)
            throws IOException {
        var plot = new Plot(charts, texts, captions(texts, load, isStable(charts)));
        switch (format(file)) {
            case "svg" -> Files.writeString(file, svg(plot));
            case "html" -> Files.writeString(file, html(plot, texts, entries));
            default -> ImageIO.write(image(plot), "png", file.toFile());
        }
    }

    private static boolean isStable(List<Plot.Chart> charts) {
        return charts.stream()
                .map(Plot.Chart::values)
                .flatMap(List::stream)
                .allMatch(Plot.Value::isStable);
    }

    private static List<String> captions(Plot.Texts texts, double load, boolean isStable)
            throws IOException {
        var processor =
                MachineFiles.THIS.lines("proc/cpuinfo").stream()
                        .filter(line -> line.startsWith("model name"))
                        .map(line -> line.substring(line.indexOf(':') + 1).strip())
                        .findFirst()
                        .map(model -> model + ", ")
                        .orElse("");
        return List.of(
                "%s, %s. %s%d processors, %s %s (%s), Java %s."
                        .formatted(
                                new Version().getVersion()[0],
                                LocalDate.now(ZoneOffset.UTC),
                                processor,
                                Runtime.getRuntime().availableProcessors(),
                                System.getProperty("os.name"),
                                System.getProperty("os.version"),
                                System.getProperty("os.arch"),
                                Runtime.version().feature()),
                (load < 0 ? "" : String.format(Locale.ROOT, "Load average before: %.2f. ", load))
                        + texts.note()
                        + (isStable ? "" : " " + Stability.LEGEND + "."));
    }

    private static String svg(Plot plot) {
        var canvas = new SvgCanvas(plot.height());
        plot.draw(canvas);
        return canvas.toSvg();
    }

    private static void checkFonts() {
        System.setProperty("java.awt.headless", "true");
        try {
            new ImageCanvas(1).text(new PlotCanvas.Point(0, 0), PlotCanvas.Anchor.MIDDLE, "word");
        } catch (LinkageError | RuntimeException e) { // AWT finds no font.
            throw new IllegalArgumentException(
                    "A plot in .png format needs fonts on this machine. Install fonts (Debian: fontconfig and fonts-dejavu-core), or use .svg or .html.",
                    e);
        }
    }

    private static BufferedImage image(Plot plot) {
        var canvas = new ImageCanvas(plot.height());
        plot.draw(canvas);
        return canvas.toImage();
    }

    private static String html(Plot plot, Plot.Texts texts, List<Plot.Entry> entries) {
        var rows = new StringBuilder();
        for (var entry : entries) {
            rows.append("<tr><td>%s<td>%s".formatted(SvgCanvas.escaped(entry.label()), entry.x()));
            var latency = entry.latency();
            rows.append(
                    String.format(
                            Locale.ROOT,
                            "<td>%.2f<td>%.2f%c<td>%.2f<td>%s<td>%s<td>%.2f<td>%.2f%c<td>%.2f%n",
                            latency.minimum(),
                            latency.median(),
                            entry.stable().latencyMark(),
                            latency.percentile90(),
                            latency.percentile99AsText(),
                            latency.percentile99Point9AsText(),
                            latency.maximum(),
                            entry.bandwidth().megabytesPerSecond(),
                            entry.stable().bandwidthMark(),
                            entry.bandwidth().messagesPerSecond()));
        }
        return """
        <!DOCTYPE html>
        <html lang="en">
        <meta charset="utf-8">
        <title>jrdma perf</title>
        <style>
          body { font-family: sans-serif; margin: 2em }
          td, th { padding: 0 1em; text-align: right; font-variant-numeric: tabular-nums }
        </style>
        %s
        <table>
        <tr><th>path<th>%s<th>min (us)<th>p50 (us)<th>p90 (us)<th>p99 (us)<th>p99.9 (us)<th>max (us)<th>MB/s<th>messages/s
        %s</table>
        </html>
        """
                .formatted(svg(plot), texts.column(), rows);
    }
}
