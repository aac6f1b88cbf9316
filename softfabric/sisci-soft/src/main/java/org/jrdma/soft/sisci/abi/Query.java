package org.jrdma.soft.sisci.abi;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jrdma.abi.sisci.sisci_h;
import org.jrdma.soft.sisci.fabric.Refusal;

/**
 * What can be asked, by commands and what is within them. The numbers are not public; those here
 * are unlike what anyone would guess.
 */
enum Query {
    SCI_Q_VENDORID,
    SCI_Q_API,
    SCI_Q_ADAPTER,
    SCI_Q_SYSTEM,
    SCI_Q_DMA,
    SCI_Q_LOCAL_SEGMENT,
    SCI_Q_REMOTE_SEGMENT,
    SCI_Q_MAP,
    SCI_Q_DEVICE,
    SCI_Q_ADAPTER_SERIAL_NUMBER,
    SCI_Q_ADAPTER_CARD_TYPE,
    SCI_Q_ADAPTER_NODEID,
    SCI_Q_ADAPTER_CONFIGURED,
    SCI_Q_ADAPTER_DMA_MTU,
    SCI_Q_ADAPTER_MCAST_MAX_GROUPS,
    SCI_Q_ADAPTER_BDF,
    SCI_Q_ADAPTER_NUMBER_OF_LINKS,
    SCI_Q_ADAPTER_LINK_OPERATIONAL,
    SCI_Q_ADAPTER_LINK_WIDTH,
    SCI_Q_ADAPTER_LINK_SPEED,
    SCI_Q_ADAPTER_LINK_UPTIME,
    SCI_Q_ADAPTER_LINK_DOWNTIME,
    SCI_Q_ADAPTER_LINK_CABLE_INSERTED,
    SCI_Q_ADAPTER_LINK_ENABLED,
    SCI_Q_ADAPTER_LINK_PARTNER_PORT_NO,
    SCI_Q_SYSTEM_CPU_CACHE_LINE_SIZE,
    SCI_Q_DMA_AVAILABLE,
    SCI_Q_DMA_CAPABILITIES,
    SCI_Q_LOCAL_SEGMENT_IOADDR,
    SCI_Q_LOCAL_SEGMENT_VIRTUAL_KERNEL_ADDR,
    SCI_Q_LOCAL_SEGMENT_PHYS_ADDR,
    SCI_Q_REMOTE_SEGMENT_IOADDR,
    SCI_Q_MAP_MAPPED_TO_LOCAL_TARGET,
    SCI_Q_MAP_IOADDR,
    SCI_Q_MAP_PHYS_ADDR,
    SCI_Q_DEVICE_INFO;

    private static final List<Query> ALL = List.of(values());
    private static final int FIRST_NUMBER = 0x00C0_FFE5;
    private static final int STEP = 0x0001_0007;
    private static final Map<Integer, Query> BY_NUMBER =
            Arrays.stream(values()).collect(Collectors.toMap(Query::number, Function.identity()));

    int number() {
        return FIRST_NUMBER + STEP * ALL.indexOf(this);
    }

    static Query of(int number) {
        var query = BY_NUMBER.get(number);
        Refusal.when(query == null, sisci_h.SCI_ERR_ILLEGAL_QUERY());
        return query;
    }
}
