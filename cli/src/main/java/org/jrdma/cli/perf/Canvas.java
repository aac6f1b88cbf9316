package org.jrdma.cli.perf;

import java.util.List;

/** What a plot is drawn on: pixels from the left and from the top. Colours are like #0072b2. */
interface Canvas {

    /** Where a text begins, ends or has its middle. */
    enum Anchor {
        START,
        MIDDLE,
        END
    }

    record Point(double x, double y) {}

    void line(Point from, Point to, String colour);

    /** A line through points, with a dot on each; {@code name} says what it is of. */
    void curve(String name, List<Point> points, String colour);

    void text(Point at, Anchor anchor, String words);

    /** Turned to the left, to be read from below. */
    void textUpwards(Point at, String words);
}
