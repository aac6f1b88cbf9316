package org.jrdma.verbs.model;

import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * A port's GID table, ranked by suitability as the source address, with reasons.
 *
 * <p>The best entry is the one most likely to reach a peer that chose by the same rules. RoCE v2
 * ranks before v1, which routers do not forward. An IPv4 address ranks before an IPv6 address whose
 * scope exceeds its link, which ranks before a link-local one. Within the same rank, the lower
 * index comes first.
 *
 * @param ranking the entries, best first
 */
public record GidChoice(List<Ranked> ranking) {

    /**
     * An entry and its rank.
     *
     * @param entry the entry of the GID table
     * @param rank the rank; lower is better
     * @param reason the reason for the rank, in words
     */
    public record Ranked(GidEntry entry, int rank, String reason) {}

    /** Ranks the entries of a GID table. */
    public static GidChoice among(List<GidEntry> table) {
        return new GidChoice(
                table.stream()
                        .map(GidChoice::rank)
                        .sorted(
                                Comparator.comparingInt(Ranked::rank)
                                        .thenComparingInt(ranked -> ranked.entry().index()))
                        .toList());
    }

    /** The best entry; empty if the table is empty. */
    public Optional<GidEntry> best() {
        return ranking.stream().findFirst().map(Ranked::entry);
    }

    /** Formats the ranking for users, one entry per line. */
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
                    rankByAddress(
                            entry,
                            3,
                            "of unknown type, because the library is too old to report it");
            case ROCE_V1 -> rankByAddress(entry, 6, "RoCE v1, which routers do not forward");
        };
    }

    private static Ranked rankByAddress(GidEntry entry, int rankOfType, String type) {
        var gid = entry.gid();
        if (gid.isIpv4()) {
            return new Ranked(entry, rankOfType, type + ", an IPv4 address");
        }
        return gid.isLinkLocal()
                ? new Ranked(entry, rankOfType + 2, type + ", a link-local IPv6 address")
                : new Ranked(entry, rankOfType + 1, type + ", an IPv6 address");
    }
}
