package org.jrdma.spark;

import java.util.List;

/** A request for the locations of blocks. Confined to the thread of the {@link PeerFetcher}. */
final class LocationRequest {

    private final int number;
    private final Fetch fetch;
    private final List<Fetch.Block> blocks;

    /** The number of tasks that read the blocks. */
    int openTasks;

    LocationRequest(int number, Fetch fetch, List<Fetch.Block> blocks) {
        this.number = number;
        this.fetch = fetch;
        this.blocks = blocks;
    }

    int number() {
        return number;
    }

    Fetch fetch() {
        return fetch;
    }

    List<Fetch.Block> blocks() {
        return blocks;
    }

    PeerMessage message() {
        return new PeerMessage.Locate(number, blocks.stream().map(Fetch.Block::range).toList());
    }
}
