package org.jrdma.cli.perf;

import java.awt.BasicStroke;
import java.awt.Color;
import java.awt.Font;
import java.awt.Graphics2D;
import java.awt.RenderingHints;
import java.awt.geom.Line2D;
import java.awt.geom.Path2D;
import java.awt.image.BufferedImage;
import java.util.List;

/** A canvas that draws a raster image. It needs a font that is installed on this machine. */
final class ImageCanvas implements PlotCanvas {

    /** The number of pixels of the image per pixel of the plot, for high-resolution screens. */
    private static final int SCALE = 2;

    private static final Font FONT = new Font(Font.SANS_SERIF, Font.PLAIN, 13);
    private static final Font HEADING = new Font(Font.SANS_SERIF, Font.BOLD, 18);

    private final BufferedImage image;
    private final Graphics2D graphics;

    ImageCanvas(int height) {
        image = new BufferedImage(SCALE * Plot.WIDTH, SCALE * height, BufferedImage.TYPE_INT_RGB);
        graphics = image.createGraphics();
        graphics.scale(SCALE, SCALE);
        graphics.setRenderingHint(
                RenderingHints.KEY_ANTIALIASING, RenderingHints.VALUE_ANTIALIAS_ON);
        graphics.setFont(FONT);
        graphics.setColor(Color.WHITE);
        graphics.fillRect(0, 0, Plot.WIDTH, height);
    }

    @Override
    public void line(Point from, Point to, Pen pen) {
        use(pen);
        graphics.draw(new Line2D.Double(from.x(), from.y(), to.x(), to.y()));
    }

    private void use(Pen pen) {
        graphics.setColor(Color.decode(pen.color()));
        graphics.setStroke(new BasicStroke(pen.width()));
    }

    @Override
    public void curve(String name, List<Point> points, Pen pen, PlotMarker marker) {
        use(pen);
        if (!points.isEmpty()) {
            graphics.draw(path(points));
        }
        for (var point : points) {
            var shape = path(marker.around(point));
            shape.closePath();
            graphics.fill(shape);
        }
    }

    private static Path2D path(List<Point> points) {
        var path = new Path2D.Double();
        path.moveTo(points.getFirst().x(), points.getFirst().y());
        points.forEach(point -> path.lineTo(point.x(), point.y()));
        return path;
    }

    @Override
    public void text(Point at, Anchor anchor, String words) {
        graphics.setColor(Color.BLACK);
        draw(at, anchor, words);
    }

    @Override
    public void annotation(Point at, String words, Pen pen) {
        use(pen);
        draw(at, Anchor.MIDDLE, words);
    }

    private void draw(Point at, Anchor anchor, String words) {
        var width = graphics.getFontMetrics().stringWidth(words);
        var before =
                switch (anchor) {
                    case START -> 0;
                    case MIDDLE -> width / 2.0;
                    case END -> width;
                };
        graphics.drawString(words, (float) (at.x() - before), (float) at.y());
    }

    @Override
    public void heading(Point at, String words) {
        graphics.setFont(HEADING);
        text(at, Anchor.START, words);
        graphics.setFont(FONT);
    }

    @Override
    public void textUpwards(Point at, String words) {
        var before = graphics.getTransform();
        graphics.rotate(-Math.PI / 2, at.x(), at.y());
        text(at, Anchor.MIDDLE, words);
        graphics.setTransform(before);
    }

    BufferedImage toImage() {
        return image;
    }
}
