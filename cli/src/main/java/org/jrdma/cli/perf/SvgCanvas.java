package org.jrdma.cli.perf;

import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** A canvas that draws an SVG image. */
final class SvgCanvas implements PlotCanvas {

    private final int height;
    private final StringBuilder elements = new StringBuilder();

    SvgCanvas(int height) {
        this.height = height;
    }

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
    public void curve(String name, List<Point> points, Pen pen, PlotMarker marker) {
        add("<g fill=\"%s\"><title>%s</title>".formatted(pen.color(), escaped(name)));
        add("<polyline points=\"%s\" fill=\"none\" %s/>".formatted(list(points), stroke(pen)));
        points.forEach(
                point -> add("<polygon points=\"%s\"/>".formatted(list(marker.around(point)))));
        add("</g>");
    }

    @Override
    public void text(Point at, Anchor anchor, String words) {
        text(at, anchor, "", words);
    }

    @Override
    public void annotation(Point at, String words, Pen pen) {
        text(at, Anchor.MIDDLE, " fill=\"%s\"".formatted(pen.color()), words);
    }

    @Override
    public void heading(Point at, String words) {
        text(at, Anchor.START, " font-size=\"18\" font-weight=\"bold\"", words);
    }

    private void text(Point at, Anchor anchor, String style, String words) {
        add(
                "<text x=\"%s\" y=\"%s\" text-anchor=\"%s\"%s>%s</text>"
                        .formatted(
                                pixel(at.x()),
                                pixel(at.y()),
                                anchor.name().toLowerCase(Locale.ROOT),
                                style,
                                escaped(words)));
    }

    @Override
    public void textUpwards(Point at, String words) {
        add(
                "<text text-anchor=\"middle\" transform=\"translate(%s %s) rotate(-90)\">%s</text>"
                        .formatted(pixel(at.x()), pixel(at.y()), escaped(words)));
    }

    private static String stroke(Pen pen) {
        return "stroke=\"%s\" stroke-width=\"%s\"".formatted(pen.color(), pen.width());
    }

    private static String list(List<Point> points) {
        return points.stream()
                .map(point -> pixel(point.x()) + "," + pixel(point.y()))
                .collect(Collectors.joining(" "));
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

    String toSvg() {
        return """
        <svg xmlns="http://www.w3.org/2000/svg" width="%1$s" height="%2$s" viewBox="0 0 %1$s %2$s" font-family="sans-serif" font-size="13">
          <rect width="100%%" height="100%%" fill="white"/>
        %3$s</svg>
        """
                .formatted(Plot.WIDTH, height, elements);
    }
}
