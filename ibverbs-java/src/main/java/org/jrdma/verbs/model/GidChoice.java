package org.jrdma.verbs.model;

import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Which row of a port's GID table to send from, and why: the whole table, ranked.
 *
 * <p>The best is the one most likely to reach a peer that made the same choice: RoCE v2 before v1,
 * which no router forwards; an IPv4 address before an IPv6 address with a scope beyond its link,
 * before a link-local one; within the same rank, the lower index.
 *
 * @param ranking the rows, best first
 */
public record GidChoice(List<Ranked> ranking) {

    /**
     * A row and what is thought of it.
     *
     * @param entry the row
     * @param rank lower is better
     * @param reason the rank in words
     */
    public record Ranked(GidEntry entry, int rank, String reason) {}

    /** Ranks the rows of a table. */
    public static GidChoice among(List<GidEntry> table) {
        return new GidChoice(
                table.stream()
                        .map(GidChoice::rank)
                        .sorted(
                                Comparator.comparingInt(Ranked::rank)
                                        .thenComparingInt(ranked -> ranked.entry().index()))
                        .toList());
    }

    /** The row to take; empty where the port has none. */
    public Optional<GidEntry> best() {
        return ranking.stream().findFirst().map(Ranked::entry);
    }

    /** The ranking, a line each. */
    public String explanation() {
        return ranking.isEmpty()
                ? "the GID table is empty"
                : ranking.stream()
                        .map(ranked -> ranked.entry() + ": " + ranked.reason())
                        .collect(Collectors.joining(System.lineSeparator()));
    }

    private static Ranked rank(GidEntry entry) {
        return switch (entry.type()) {
            case ROCE_V2 -> rankByAddress(entry, 0, "RoCE v2");
            case INFINIBAND -> new Ranked(entry, entry.index() == 0 ? 0 : 1, "InfiniBand");
            case UNKNOWN ->
                    rankByAddress(entry, 3, "of a type that the library is too old to tell");
            case ROCE_V1 -> rankByAddress(entry, 6, "RoCE v1, which no router forwards");
        };
    }

    private static Ranked rankByAddress(GidEntry entry, int rankOfType, String type) {
        var gid = entry.gid();
        if (gid.isIpv4()) {
            return new Ranked(entry, rankOfType, type + ", an IPv4 address");
        }
        return gid.isLinkLocal()
                ? new Ranked(entry, rankOfType + 2, type + ", an IPv6 address of this link only")
                : new Ranked(entry, rankOfType + 1, type + ", an IPv6 address");
    }
}
