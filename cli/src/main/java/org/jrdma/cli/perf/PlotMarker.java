package org.jrdma.cli.perf;

import java.util.List;
import java.util.stream.IntStream;
import org.jrdma.cli.perf.PlotCanvas.Point;

/** The shape that marks the points of a curve: a regular polygon. */
enum PlotMarker {
    CIRCLE(16, 0),
    SQUARE(4, 45),
    TRIANGLE(3, -90),
    DIAMOND(4, 0),
    INVERTED_TRIANGLE(3, 90);

    private static final double RADIUS = 5;

    private final int corners;
    private final int firstAngle;

    PlotMarker(int corners, int firstAngle) {
        this.corners = corners;
        this.firstAngle = firstAngle;
    }

    /** Returns the corners of the shape around a point. */
    List<Point> around(Point center) {
        return IntStream.range(0, corners)
                .mapToDouble(corner -> Math.toRadians(firstAngle + 360.0 * corner / corners))
                .mapToObj(angle ->
                        new Point(
                                center.x() + RADIUS * Math.cos(angle),
                                center.y() + RADIUS * Math.sin(angle)))
                .toList();
    }
}
