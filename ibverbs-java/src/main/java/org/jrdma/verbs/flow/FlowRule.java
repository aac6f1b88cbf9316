package org.jrdma.verbs.flow;

import java.lang.foreign.MemorySegment;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import org.jrdma.ffi.linkage.RangeChecks;
import org.jrdma.verbs.flow.model.FlowKind;
import org.jrdma.verbs.flow.model.FlowLayer;
import org.jrdma.verbs.flow.model.FlowOption;
import org.jrdma.verbs.internal.FlowFunctions;
import org.jspecify.annotations.Nullable;

/**
 * A rule that selects packets of a port for a queue pair, with optional actions. Each method that
 * sets an option changes this object and returns it. In C: {@code struct ibv_flow_attr}.
 */
public final class FlowRule {

    /**
     * The maximum number of layers in a rule. C counts layers and actions together in one byte.
     * Devices support far fewer.
     */
    public static final int MAX_LAYERS = 0xff - 3;

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
     * Returns a rule for packets whose headers match.
     *
     * @param layers the headers to match, starting with the outermost header
     * @throws IllegalArgumentException if there are more than {@link #MAX_LAYERS} layers
     */
    public static FlowRule matching(FlowLayer... layers) {
        RangeChecks.check("number of layers", layers.length, 0, MAX_LAYERS);
        return new FlowRule(FlowKind.MATCHING, List.of(layers));
    }

    /** Returns a rule of a kind other than {@link FlowKind#MATCHING}, which has no layers. */
    public static FlowRule all(FlowKind kind) {
        if (kind == FlowKind.MATCHING) {
            throw new IllegalArgumentException(
                    "A rule of kind MATCHING requires layers. Create it with matching().");
        }
        return new FlowRule(kind, List.of());
    }

    /** Sets the priority: 0, which is the default and the highest priority, to 65535. */
    public FlowRule priority(int number) {
        priority = RangeChecks.check("priority", number, 0, 0xffff);
        return this;
    }

    /** Adds an option. */
    public FlowRule option(FlowOption option) {
        options.add(option);
        return this;
    }

    /**
     * Tags packets with a 32-bit number, which {@link org.jrdma.verbs.CompletionCursor#flowTag}
     * returns.
     */
    public FlowRule tagged(int number) {
        tag = OptionalInt.of(number);
        return this;
    }

    /** Drops the packets. */
    public FlowRule dropping() {
        dropping = true;
        return this;
    }

    /** Counts the packets; see {@link FlowCounters#count}. */
    public FlowRule countedBy(FlowCounters newCounters) {
        counters = newCounters;
        return this;
    }

    /** Returns a snapshot of this rule for the native call. */
    FlowFunctions.Specification snapshot() {
        return new FlowFunctions.Specification(
                kind,
                layers,
                options(),
                priority,
                tag,
                dropping,
                counters == null ? MemorySegment.NULL : counters.address());
    }

    /** The kind of this rule. */
    public FlowKind kind() {
        return kind;
    }

    /** The headers to match. */
    public List<FlowLayer> layers() {
        return layers;
    }

    /** The options. */
    public Set<FlowOption> options() {
        return Set.copyOf(options);
    }

    /** The priority; 0 is the highest. */
    public int priority() {
        return priority;
    }

    /** The tag of the packets, if any. */
    public OptionalInt tag() {
        return tag;
    }

    /** Returns true if this rule drops the packets. */
    public boolean isDropping() {
        return dropping;
    }

    /** The counters of the packets, if any. */
    public Optional<FlowCounters> counters() {
        return Optional.ofNullable(counters);
    }

    @Override
    public String toString() {
        return "%s %s with priority %d".formatted(kind, layers, priority);
    }
}
