package org.jrdma.verbs.flow;

import java.lang.foreign.MemorySegment;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import org.jrdma.ffi.linkage.FieldRange;
import org.jrdma.verbs.flow.model.FlowKind;
import org.jrdma.verbs.flow.model.FlowLayer;
import org.jrdma.verbs.flow.model.FlowOption;
import org.jrdma.verbs.internal.FlowFunctions;
import org.jspecify.annotations.Nullable;

/**
 * Which packets of a port a queue pair receives, and what is done with them besides. Built by its
 * own methods. In C: {@code struct ibv_flow_attr}.
 */
public final class FlowRule {

    /**
     * How many layers a rule can have: C counts them in a byte, with what is done to packets
     * besides. Devices take far fewer.
     */
    public static final int MOST_LAYERS = 0xff - 3;

    private final FlowKind kind;
    private final List<FlowLayer> layers;
    private final EnumSet<FlowOption> options = EnumSet.noneOf(FlowOption.class);
    private int priority;
    private OptionalInt tag = OptionalInt.empty();
    private boolean dropping;
    private @Nullable FlowCounters counters;

    private FlowRule(FlowKind kind, List<FlowLayer> layers) {
        this.kind = kind;
        this.layers = layers;
    }

    /**
     * Packets whose headers match, from the outermost inwards.
     *
     * @throws IllegalArgumentException if they are more than {@link #MOST_LAYERS}
     */
    public static FlowRule matching(FlowLayer... layers) {
        FieldRange.check("The number of layers", layers.length, 0, MOST_LAYERS);
        return new FlowRule(FlowKind.MATCHING, List.of(layers));
    }

    /** All packets of a kind that has no layers. */
    public static FlowRule all(FlowKind kind) {
        if (kind == FlowKind.MATCHING) {
            throw new IllegalArgumentException("What matches is said by matching()");
        }
        return new FlowRule(kind, List.of());
    }

    /** Which rule is asked first: the one of the lowest number, 0 to 65535; 0 at first. */
    public FlowRule priority(int number) {
        priority = FieldRange.check("priority", number, 0, 0xffff);
        return this;
    }

    /** Something unusual. */
    public FlowRule option(FlowOption option) {
        options.add(option);
        return this;
    }

    /**
     * Tags packets with a number, which {@link org.jrdma.verbs.CompletionCursor#flowTag} returns;
     * 32 bits.
     */
    public FlowRule tagged(int number) {
        tag = OptionalInt.of(number);
        return this;
    }

    /** Throws the packets away. */
    public FlowRule dropping() {
        dropping = true;
        return this;
    }

    /** Counts the packets, in the places that were {@linkplain FlowCounters#count chosen}. */
    public FlowRule countedBy(FlowCounters chosen) {
        counters = chosen;
        return this;
    }

    /** This rule, as it is now, for the library. */
    FlowFunctions.Wanted wanted() {
        return new FlowFunctions.Wanted(
                kind,
                layers,
                options(),
                priority,
                tag,
                dropping,
                counters == null ? MemorySegment.NULL : counters.address());
    }

    /** What kind of rule it is. */
    public FlowKind kind() {
        return kind;
    }

    /** What it demands of headers. */
    public List<FlowLayer> layers() {
        return layers;
    }

    /** What is unusual about it. */
    public Set<FlowOption> options() {
        return Set.copyOf(options);
    }

    /** Which rule is asked first. */
    public int priority() {
        return priority;
    }

    /** The number that packets get. */
    public OptionalInt tag() {
        return tag;
    }

    /** Whether packets are thrown away. */
    public boolean isDropping() {
        return dropping;
    }

    /** Where packets are counted. */
    public Optional<FlowCounters> counters() {
        return Optional.ofNullable(counters);
    }

    /** As in a message. */
    @Override
    public String toString() {
        return "%s %s of priority %d".formatted(kind, layers, priority);
    }
}
