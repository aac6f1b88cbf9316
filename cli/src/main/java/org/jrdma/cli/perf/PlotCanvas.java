package org.jrdma.cli.perf;

import java.util.List;

/** A drawing surface. Coordinates are pixels from the left and from the top. */
interface PlotCanvas {

    /** The part of a text that is placed at a given point: its start, middle or end. */
    enum Anchor {
        START,
        MIDDLE,
        END
    }

    record Point(double x, double y) {}

    /**
     * The style of a line.
     *
     * @param color the color in hexadecimal, such as {@code #0072b2}
     * @param width the width in pixels
     */
    record Pen(String color, int width) {}

    void line(Point from, Point to, Pen pen);

    /** Draws a line through points, with a marker at each point. */
    void curve(String name, List<Point> points, Pen pen, PlotMarker marker);

    void text(Point at, Anchor anchor, String words);

    /** Draws a text centered at a point, in the color of a pen. */
    void annotation(Point at, String words, Pen pen);

    /** Draws a text that starts at a point, in a large bold font. */
    void heading(Point at, String words);

    /** Draws a text centered at a point and rotated to be read from bottom to top. */
    void textUpwards(Point at, String words);
}
