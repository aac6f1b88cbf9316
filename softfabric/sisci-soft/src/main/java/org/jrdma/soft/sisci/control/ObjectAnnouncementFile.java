package org.jrdma.soft.sisci.control;

import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * A file in the directory of a fabric, which announces an object of a process. The name of the file
 * contains all fields.
 *
 * @param node the id of the node
 * @param kind the kind of object
 * @param number the number of the object among the objects of its kind; for a process, the same as
 *     {@code member}
 * @param member the number of the process that owns the file, among the processes of the node
 */
public record ObjectAnnouncementFile(int node, Kind kind, int number, int member) {

    /** The kind of object. */
    public enum Kind {
        /** A process. The file is a socket. */
        MEMBER,
        /**
         * A segment. The file has the size of the segment, but no contents: the owner passes the
         * memory to connected processes.
         */
        SEGMENT,
        /** An interrupt with the given number. The file is empty. */
        INTERRUPT,
        /** A data interrupt with the given number. The file is empty. */
        DATA_INTERRUPT,
        /** An adapter of the node whose link is cut. The file is empty. */
        CUT,
        /**
         * A device that the process lends. {@code number} is unique among the devices of the node.
         * The file is empty.
         */
        DEVICE,
        /**
         * Device memory that the process lends with a device. The file is like that of a segment.
         */
        DEVICE_SEGMENT
    }

    private static final Pattern NAME = Pattern.compile("(\\d+)\\.([a-z_]+)\\.(\\d+)\\.(\\d+)");

    static ObjectAnnouncementFile ofMember(int node, int member) {
        return new ObjectAnnouncementFile(node, Kind.MEMBER, member, member);
    }

    static Optional<ObjectAnnouncementFile> of(String name) {
        var parts = NAME.matcher(name);
        if (!parts.matches()) {
            return Optional.empty();
        }
        try {
            return Optional.of(
                    new ObjectAnnouncementFile(
                            Integer.parseInt(parts.group(1)),
                            Kind.valueOf(parts.group(2).toUpperCase(Locale.ROOT)),
                            Integer.parseUnsignedInt(parts.group(3)),
                            Integer.parseInt(parts.group(4))));
        } catch (IllegalArgumentException e) {
            return Optional.empty(); // The file belongs to another program.
        }
    }

    String name() {
        return startOfName(node, kind, number) + member;
    }

    /**
     * Returns the start of the file names for an object. The complete name ends with the number of
     * the process.
     */
    static String startOfName(int node, Kind kind, int number) {
        return "%s.%s.%s."
                .formatted(
                        node,
                        kind.name().toLowerCase(Locale.ROOT),
                        Integer.toUnsignedString(number));
    }
}
