package org.jrdma.cli.perf;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import javax.imageio.ImageIO;

/** A plot in a file, of the kind that its name says. */
final class PlotFile {

    private PlotFile() {}

    /**
     * Before hours are spent on measuring.
     *
     * @throws IllegalArgumentException if the name says no kind, or one that this machine cannot
     *     draw, or a folder that is not there
     */
    static void check(Path file) {
        if (kind(file).equals("png")) {
            checkFonts();
        }
        var folder = file.toAbsolutePath().getParent();
        if (folder == null || !Files.isWritable(folder)) {
            throw new IllegalArgumentException(
                    "%s: there is no such folder, or none to write to".formatted(folder));
        }
    }

    private static String kind(Path file) {
        var name = file.toString();
        var kind = name.substring(name.lastIndexOf('.') + 1);
        if (!List.of("svg", "html", "png").contains(kind)) {
            throw new IllegalArgumentException(
                    "%s: a plot's name ends in .svg, .html or .png".formatted(file));
        }
        return kind;
    }

    static void write(Path file, List<Result> results) throws IOException {
        switch (kind(file)) {
            case "svg" -> Files.writeString(file, svg(results));
            case "html" -> Files.writeString(file, html(results));
            default -> ImageIO.write(image(results), "png", file.toFile());
        }
    }

    private static String svg(List<Result> results) {
        var canvas = new SvgCanvas();
        new Plot(results).draw(canvas);
        return canvas.toSvg();
    }

    private static void checkFonts() {
        System.setProperty("java.awt.headless", "true");
        try {
            new ImageCanvas().text(new Canvas.Point(0, 0), Canvas.Anchor.MIDDLE, "word");
        } catch (LinkageError | RuntimeException e) { // as AWT says that it finds no font
            throw new IllegalArgumentException(
                    "A .png needs fonts on this machine (Debian: fontconfig and fonts-dejavu-core); .svg and .html need none.",
                    e);
        }
    }

    private static BufferedImage image(List<Result> results) {
        var canvas = new ImageCanvas();
        new Plot(results).draw(canvas);
        return canvas.toImage();
    }

    private static String html(List<Result> results) {
        var rows = new StringBuilder();
        for (var result : results) {
            rows.append(
                    "<tr><td>%s<td>%s"
                            .formatted(SvgCanvas.escaped(result.label()), result.bytes()));
            var latency = result.latency();
            rows.append(
                    String.format(
                            Locale.ROOT,
                            "<td>%.2f<td>%.2f<td>%.2f<td>%s<td>%s<td>%.2f<td>%.2f<td>%.2f%n",
                            latency.minimum(),
                            latency.median(),
                            latency.percentile90(),
                            latency.shown99(),
                            latency.shown99Point9(),
                            latency.maximum(),
                            result.bandwidth().megabytesPerSecond(),
                            result.bandwidth().messagesPerSecond()));
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
        <tr><th>path<th>bytes<th>least us<th>50 %%<th>90 %%<th>99 %%<th>99.9 %%<th>most us<th>MB/s<th>messages/s
        %s</table>
        </html>
        """
                .formatted(svg(results), rows);
    }
}
