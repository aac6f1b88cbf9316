package org.jrdma.cli.perf;

import java.util.List;

/** What a plot is drawn on: pixels from the left and from the top. */
interface Canvas {

    /** Where a text begins, ends or has its middle. */
    enum Anchor {
        START,
        MIDDLE,
        END
    }

    record Point(double x, double y) {}

    /**
     * How a line looks.
     *
     * @param colour like #0072b2
     * @param width in pixels
     * @param dashes how many pixels are drawn, and how many left out; empty for a whole line
     */
    record Pen(String colour, int width, List<Integer> dashes) {}

    void line(Point from, Point to, Pen pen);

    /** A line through points, with a dot on each; {@code name} says what it is of. */
    void curve(String name, List<Point> points, Pen pen);

    void text(Point at, Anchor anchor, String words);

    /** Turned to the left, to be read from below. */
    void textUpwards(Point at, String words);
}
