package org.jrdma.soft.sisci.control;

import java.util.Optional;
import java.util.regex.Pattern;

/**
 * One file of a fabric's directory: what a process of a node lets others find. Its name says all.
 *
 * @param node the node's id
 * @param kind what it is
 * @param number which of its kind; of a process the same as {@code member}
 * @param member the process of the node that it belongs to
 */
public record Entry(int node, Kind kind, int number, int member) {

    /** What can be found. */
    public enum Kind {
        /** A process: a socket. */
        MEMBER,
        /** A segment: its memory. */
        SEGMENT,
        /** The number of an interrupt: nothing. */
        INTERRUPT,
        /** The number of an interrupt that carries data: nothing. */
        DATA_INTERRUPT,
        /** An adapter of the node whose link is cut: nothing. */
        CUT
    }

    private static final Pattern NAME = Pattern.compile("(\\d+)\\.([a-z_]+)\\.(\\d+)\\.(\\d+)");

    static Entry ofMember(int node, int member) {
        return new Entry(node, Kind.MEMBER, member, member);
    }

    static Optional<Entry> of(String name) {
        var parts = NAME.matcher(name);
        if (!parts.matches()) {
            return Optional.empty();
        }
        try {
            return Optional.of(
                    new Entry(
                            Integer.parseInt(parts.group(1)),
                            Kind.valueOf(parts.group(2).toUpperCase(java.util.Locale.ROOT)),
                            Integer.parseUnsignedInt(parts.group(3)),
                            Integer.parseInt(parts.group(4))));
        } catch (IllegalArgumentException e) {
            return Optional.empty(); // somebody else's file
        }
    }

    String name() {
        return startOfName(node, kind, number) + member;
    }

    /** What a name begins with, whatever process it belongs to. */
    static String startOfName(int node, Kind kind, int number) {
        return "%s.%s.%s."
                .formatted(
                        node,
                        kind.name().toLowerCase(java.util.Locale.ROOT),
                        Integer.toUnsignedString(number));
    }
}
