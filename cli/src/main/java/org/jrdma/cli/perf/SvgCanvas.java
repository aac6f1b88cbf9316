package org.jrdma.cli.perf;

import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** Draws as SVG, which needs nothing to be shown but a browser. */
final class SvgCanvas implements Canvas {

    private final StringBuilder elements = new StringBuilder();

    @Override
    public void line(Point from, Point to, Pen pen) {
        add(
                "<line x1=\"%s\" y1=\"%s\" x2=\"%s\" y2=\"%s\" %s/>"
                        .formatted(
                                pixel(from.x()),
                                pixel(from.y()),
                                pixel(to.x()),
                                pixel(to.y()),
                                stroke(pen)));
    }

    @Override
    public void curve(String name, List<Point> points, Pen pen) {
        add("<g fill=\"%s\"><title>%s</title>".formatted(pen.colour(), escaped(name)));
        var corners =
                points.stream()
                        .map(point -> pixel(point.x()) + "," + pixel(point.y()))
                        .collect(Collectors.joining(" "));
        add("<polyline points=\"%s\" fill=\"none\" %s/>".formatted(corners, stroke(pen)));
        for (var point : points) {
            add(
                    "<circle cx=\"%s\" cy=\"%s\" r=\"3\"/>"
                            .formatted(pixel(point.x()), pixel(point.y())));
        }
        add("</g>");
    }

    @Override
    public void text(Point at, Anchor anchor, String words) {
        add(
                "<text x=\"%s\" y=\"%s\" text-anchor=\"%s\">%s</text>"
                        .formatted(
                                pixel(at.x()),
                                pixel(at.y()),
                                anchor.name().toLowerCase(Locale.ROOT),
                                escaped(words)));
    }

    @Override
    public void textUpwards(Point at, String words) {
        var place = pixel(at.x()) + " " + pixel(at.y());
        add(
                "<text text-anchor=\"middle\" transform=\"translate(%s) rotate(-90)\">%s</text>"
                        .formatted(place, escaped(words)));
    }

    private static String stroke(Pen pen) {
        var dashes = pen.dashes().stream().map(String::valueOf).collect(Collectors.joining(" "));
        return "stroke=\"%s\" stroke-width=\"%s\"%s"
                .formatted(
                        pen.colour(),
                        pen.width(),
                        dashes.isEmpty() ? "" : " stroke-dasharray=\"%s\"".formatted(dashes));
    }

    private void add(String element) {
        elements.append("  ").append(element).append('\n');
    }

    private static String pixel(double value) {
        return String.format(Locale.ROOT, "%.1f", value);
    }

    static String escaped(String words) {
        return words.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
    }

    /** All that was drawn. */
    String toSvg() {
        return """
        <svg xmlns="http://www.w3.org/2000/svg" width="%1$s" height="%2$s" viewBox="0 0 %1$s %2$s" font-family="sans-serif" font-size="13">
          <rect width="100%%" height="100%%" fill="white"/>
        %3$s</svg>
        """
                .formatted(Plot.WIDTH, Plot.HEIGHT, elements);
    }
}
