package org.jrdma.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.IntStream;
import org.jrdma.verbs.model.Gid;
import org.jrdma.verbs.model.GidEntry;
import org.jrdma.verbs.model.GidRanking;
import org.junit.jupiter.api.Test;

class GidRankingTest {

    private static final Gid IPV4 = Gid.parse("00000000000000000000ffff0a4d0001");
    private static final Gid GLOBAL = Gid.parse("20010db8000000000000000000000001");
    private static final Gid LINK_LOCAL = Gid.parse("fe80000000000000505400fffe123456");

    private static GidEntry row(int index, Gid gid, GidEntry.Type type) {
        return new GidEntry(1, index, gid, type, "eth0");
    }

    @Test
    void shouldRankTypeBeforeAddressBeforeIndex() {
        var best =
                List.of(
                        row(7, IPV4, GidEntry.Type.ROCE_V2),
                        row(9, IPV4, GidEntry.Type.ROCE_V2),
                        row(5, GLOBAL, GidEntry.Type.ROCE_V2),
                        row(1, LINK_LOCAL, GidEntry.Type.ROCE_V2),
                        row(4, IPV4, GidEntry.Type.UNKNOWN),
                        row(3, GLOBAL, GidEntry.Type.UNKNOWN),
                        row(2, LINK_LOCAL, GidEntry.Type.UNKNOWN),
                        row(8, IPV4, GidEntry.Type.ROCE_V1),
                        row(6, GLOBAL, GidEntry.Type.ROCE_V1),
                        row(0, LINK_LOCAL, GidEntry.Type.ROCE_V1));

        for (var rotation = 0; rotation < best.size(); rotation++) {
            var start = rotation;
            var table =
                    IntStream.range(0, best.size())
                            .mapToObj(i -> best.get((i + start) % best.size()))
                            .toList();

            assertThat(GidRanking.among(table).ranking())
                    .extracting(GidRanking.Ranked::entry)
                    .isEqualTo(best);
        }
    }

    @Test
    void shouldChooseTheFirstGidOnInfiniBand() {
        var choice =
                GidRanking.among(
                        List.of(
                                row(1, GLOBAL, GidEntry.Type.INFINIBAND),
                                row(0, LINK_LOCAL, GidEntry.Type.INFINIBAND)));

        assertThat(choice.best()).map(GidEntry::index).contains(0);
    }

    @Test
    void shouldChooseNoGidFromAnEmptyTable() {
        var choice = GidRanking.among(List.of());

        assertThat(choice.best()).isEmpty();
        assertThat(choice.explanation()).isEqualTo("the GID table is empty");
    }

    @Test
    void shouldDescribeTheChoice() {
        var choice =
                GidRanking.among(
                        List.of(
                                row(0, LINK_LOCAL, GidEntry.Type.ROCE_V1),
                                row(1, LINK_LOCAL, GidEntry.Type.ROCE_V2),
                                row(2, GLOBAL, GidEntry.Type.ROCE_V2),
                                new GidEntry(1, 3, IPV4, GidEntry.Type.ROCE_V2, "")));

        assertThat(choice.explanation().lines())
                .containsExactly(
                        "3: ::ffff:10.77.0.1 (ROCE_V2): RoCE v2, an IPv4 address",
                        "2: 2001:0db8:0000:0000:0000:0000:0000:0001 (ROCE_V2, eth0): RoCE v2, an"
                                + " IPv6 address",
                        "1: fe80:0000:0000:0000:5054:00ff:fe12:3456 (ROCE_V2, eth0): RoCE v2, a"
                                + " link-local IPv6 address",
                        "0: fe80:0000:0000:0000:5054:00ff:fe12:3456 (ROCE_V1, eth0): RoCE v1, which"
                                + " routers do not forward, a link-local IPv6 address");
    }
}
