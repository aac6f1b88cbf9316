package org.jrdma.cli.perf;

import java.io.IOException;
import java.util.List;

/** The side that does its part in what the other one measures. */
final class Helper {

    private final ControlChannel peer;
    private final List<Path> paths;

    Helper(ControlChannel peer, List<Path> paths) {
        this.peer = peer;
        this.paths = paths;
    }

    /** Until the other side has measured one path. What fails, the other side is told. */
    void help() throws IOException {
        try {
            var order = peer.hear().split(" ", -1);
            if (!order[0].equals(Meter.OPEN) || order.length != 3) {
                throw stranger(order[0]);
            }
            help(find(order[1]), number(order[2]));
        } catch (IOException | RuntimeException e) {
            peer.sayFailure(e);
            throw e;
        }
    }

    private Path find(String name) throws IOException {
        var known = Paths.named(name, paths);
        var path = peer.leadsAway() ? known.towardsAnotherMachine() : known;
        if (path.missing().isPresent()) {
            throw new IOException("%s: %s".formatted(name, path.missing().get()));
        }
        return path;
    }

    private void help(Path path, int largest) throws IOException {
        if (!path.moves(largest)) {
            throw new IOException("%s does not move %d bytes".formatted(path.name(), largest));
        }
        try (var link = path.opener().open(peer, largest, false)) {
            peer.say(Meter.DONE);
            while (help(link, largest)) {
                peer.say(Meter.DONE);
            }
        }
        peer.say(Meter.DONE);
    }

    /** Until the path is closed. */
    private boolean help(Link link, int largest) throws IOException {
        var order = peer.hear().split(" ", -1);
        if (order[0].equals(Meter.CLOSE)) {
            return false;
        }
        if (order.length != 3) {
            throw stranger(order[0]);
        }
        var bytes = number(order[1]);
        var count = number(order[2]);
        if (bytes > largest) {
            throw new IOException("%d bytes are more than was said".formatted(bytes));
        }
        link.prepare(bytes);
        peer.say(Meter.DONE);
        switch (order[0]) {
            case Meter.EXCHANGE -> link.answer(bytes, count);
            case Meter.STREAM -> link.absorb(bytes, count);
            default -> throw stranger(order[0]);
        }
        return true;
    }

    private static int number(String word) throws IOException {
        try {
            var number = Integer.parseInt(word);
            if (number >= 0) {
                return number;
            }
        } catch (NumberFormatException _) {
            // told below
        }
        throw stranger(word);
    }

    private static IOException stranger(String word) {
        return new IOException("\"%s\": is it a jrdma of this version?".formatted(word));
    }
}
