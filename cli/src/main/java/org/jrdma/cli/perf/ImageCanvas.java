package org.jrdma.cli.perf;

import java.awt.BasicStroke;
import java.awt.Color;
import java.awt.Font;
import java.awt.Graphics2D;
import java.awt.RenderingHints;
import java.awt.geom.Ellipse2D;
import java.awt.geom.Line2D;
import java.awt.geom.Path2D;
import java.awt.image.BufferedImage;
import java.util.List;

/** Draws as an image of pixels, which needs a font on this machine. */
final class ImageCanvas implements Canvas {

    /** Pixels of the image for one of the plot, for screens that have many. */
    private static final int SCALE = 2;

    private final BufferedImage image =
            new BufferedImage(SCALE * Plot.WIDTH, SCALE * Plot.HEIGHT, BufferedImage.TYPE_INT_RGB);
    private final Graphics2D graphics = image.createGraphics();

    ImageCanvas() {
        graphics.scale(SCALE, SCALE);
        graphics.setRenderingHint(
                RenderingHints.KEY_ANTIALIASING, RenderingHints.VALUE_ANTIALIAS_ON);
        graphics.setFont(new Font(Font.SANS_SERIF, Font.PLAIN, 13));
        graphics.setColor(Color.WHITE);
        graphics.fillRect(0, 0, Plot.WIDTH, Plot.HEIGHT);
    }

    @Override
    public void line(Point from, Point to, Pen pen) {
        take(pen);
        graphics.draw(new Line2D.Double(from.x(), from.y(), to.x(), to.y()));
    }

    private void take(Pen pen) {
        graphics.setColor(Color.decode(pen.colour()));
        graphics.setStroke(
                pen.dashes().isEmpty()
                        ? new BasicStroke(pen.width())
                        : new BasicStroke(
                                pen.width(),
                                BasicStroke.CAP_BUTT,
                                BasicStroke.JOIN_ROUND,
                                1,
                                dashes(pen),
                                0));
    }

    private static float[] dashes(Pen pen) {
        var dashes = new float[pen.dashes().size()];
        for (var dash = 0; dash < dashes.length; dash++) {
            dashes[dash] = pen.dashes().get(dash);
        }
        return dashes;
    }

    @Override
    public void curve(String name, List<Point> points, Pen pen) {
        take(pen);
        var line = new Path2D.Double(); // one, so that its dashes go round corners
        for (var at : points) {
            graphics.fill(new Ellipse2D.Double(at.x() - 3, at.y() - 3, 6, 6));
            if (line.getCurrentPoint() == null) {
                line.moveTo(at.x(), at.y());
            } else {
                line.lineTo(at.x(), at.y());
            }
        }
        graphics.draw(line);
    }

    @Override
    public void text(Point at, Anchor anchor, String words) {
        graphics.setColor(Color.BLACK);
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
    public void textUpwards(Point at, String words) {
        var before = graphics.getTransform();
        graphics.rotate(-Math.PI / 2, at.x(), at.y());
        text(at, Anchor.MIDDLE, words);
        graphics.setTransform(before);
    }

    /** All that was drawn. */
    BufferedImage toImage() {
        return image;
    }
}
