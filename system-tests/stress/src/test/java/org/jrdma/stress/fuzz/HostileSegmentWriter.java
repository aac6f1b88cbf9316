package org.jrdma.stress.fuzz;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import org.jrdma.ffi.FabricException;
import org.jrdma.sisci.Node;
import org.jrdma.sisci.Sisci;
import org.jrdma.soft.sisci.SoftSisci;
import org.jrdma.soft.sisci.SoftSisciOptions;

/**
 * A program that shares the directory of a SISCI fabric with others and attacks them: it writes
 * random words to all segments, shortens the files of segments, and sends hostile messages.
 * Arguments: the directory, the number of words, the seed, and the IP address of the attacked
 * program.
 */
final class HostileSegmentWriter {

    private static final int NODE = 248;

    /** The number of words after which each kind of attack must have occurred. */
    private static final long MANY_WORDS = 10_000;

    private final Path fabric;
    private final RandomGenerator random;
    private long words;
    private long truncated;
    private long connects;

    private HostileSegmentWriter(Path fabric, long seed) {
        this.fabric = fabric;
        this.random = RandomGeneratorFactory.of("L64X128MixRandom").create(seed);
    }

    public static void main(String... arguments) throws Exception {
        var neighbor =
                new HostileSegmentWriter(Path.of(arguments[0]), Long.parseLong(arguments[2]));
        neighbor.attack(Long.parseLong(arguments[1]), InetAddress.ofLiteral(arguments[3]));
    }

    private void attack(long count, InetAddress victim) throws Exception {
        var node = Sisci.from(new SoftSisci(SoftSisciOptions.in(fabric).node(NODE))).open();
        var messages = new HostileMessageSender(node, victim, random);
        while (words < count) {
            var segments = files(".segment.");
            for (var file : segments) {
                if (random.nextInt(20) == 0) {
                    truncate(file);
                } else {
                    write(node, file, messages);
                }
            }
            if (!segments.isEmpty()) {
                sendPackets(messages);
            }
            TimeUnit.MILLISECONDS.sleep(1);
        }
        node.close();
        System.out.printf(
                Locale.ROOT,
                "%,d hostile words, %,d files truncated, %,d connects, %s%n",
                words,
                truncated,
                connects,
                messages);
        Target.check(
                words < MANY_WORDS || (truncated > 0 && messages.hasSentPackets()),
                "The neighbor has truncated no file, or sent no packet.");
    }

    private void sendPackets(HostileMessageSender messages) throws IOException {
        for (var member : files(".member.")) {
            if (!member.getFileName().toString().startsWith(NODE + ".")) {
                messages.sendPackets(member);
            }
        }
    }

    private List<Path> files(String kind) throws IOException {
        try (var files = Files.list(fabric)) {
            return files.filter(file -> file.getFileName().toString().contains(kind)).toList();
        }
    }

    private int word() {
        return switch (random.nextInt(4)) {
            case 0 -> random.nextInt();
            case 1 -> -random.nextInt(1 << 10);
            case 2 -> random.nextInt(1 << 17);
            default -> random.nextInt(16);
        };
    }

    private void truncate(Path file) throws IOException {
        try (var channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            channel.truncate(random.nextBoolean() ? 0 : channel.size() / 2);
            truncated++;
        } catch (NoSuchFileException _) {
            // The owner has closed the segment.
        }
    }

    /** Connects to a segment and stores words in it. */
    private void write(Node node, Path file, HostileMessageSender messages) throws IOException {
        var parts = file.getFileName().toString().split("\\.", -1);
        var owner = Integer.parseInt(parts[0]);
        var segment = Integer.parseUnsignedInt(parts[2]);
        try (var remote = node.connect(owner, segment, Duration.ofMillis(20));
                var map = remote.map()) {
            connects++;
            messages.attackIfListener(owner, segment, map);
            // A segment that is smaller than a word has no word to overwrite.
            for (var index = 0; index < 50 && map.byteSize() >= Integer.BYTES; index++) {
                // Most words that matter to the program are near the start of a segment.
                var near = random.nextBoolean() ? 512 : map.byteSize();
                var limit = Math.min(map.byteSize(), near) / Integer.BYTES;
                map.putIntRelease(Integer.BYTES * random.nextLong(limit), word());
                words++;
            }
        } catch (FabricException | IllegalStateException _) {
            // The owner has closed the segment.
        }
    }
}
