package org.jrdma.verbs.model;

import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * A ranking of the entries of a port's GID table by their suitability as the source address, with
 * the reason for each rank.
 *
 * <p>The best entry is the entry that is most likely to reach a peer that uses the same ranking.
 * RoCE v2 ranks before RoCE v1, because routers do not forward RoCE v1. IPv4 addresses rank before
 * IPv6 addresses, and link-local IPv6 addresses rank last. Entries of the same rank are sorted by
 * index.
 *
 * @param ranking the entries in the order of their ranks, the best entry first
 */
public record GidRanking(List<Ranked> ranking) {

    /**
     * An entry and its rank.
     *
     * @param entry the entry of the GID table
     * @param rank the rank of the entry; a lower rank is better
     * @param reason the reason for the rank, as a phrase in English
     */
    public record Ranked(GidEntry entry, int rank, String reason) {}

    /** Ranks the entries of a GID table. */
    public static GidRanking among(List<GidEntry> table) {
        return new GidRanking(
                table.stream()
                        .map(GidRanking::rank)
                        .sorted(
                                Comparator.comparingInt(Ranked::rank)
                                        .thenComparingInt(ranked -> ranked.entry().index()))
                        .toList());
    }

    /** The best entry; empty if the GID table is empty. */
    public Optional<GidEntry> best() {
        return ranking.stream().findFirst().map(Ranked::entry);
    }

    /** Formats the ranking for users, with one line for each entry and its reason. */
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
