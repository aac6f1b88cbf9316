package org.jrdma.verbs;

import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import org.jrdma.ffi.linkage.FieldRange;
import org.jrdma.verbs.internal.FlowFunctions;
import org.jspecify.annotations.Nullable;

/**
 * Which packets of a port a queue pair receives, and what is done with them besides. Built by its
 * own methods. In C: {@code struct ibv_flow_attr}.
 */
public final class FlowRule {

    /** What kind of rule it is. In C: {@code enum ibv_flow_attr_type}. */
    public enum Kind {
        /** Packets whose headers are as it says. */
        MATCHING,
        /** Packets that no rule of another queue pair takes. */
        ALL_OTHERS,
        /** Packets to many that no rule of another queue pair takes. */
        OTHER_MULTICAST,
        /** A copy of every packet of the port. */
        SNIFFER
    }

    /** What is unusual about it. In C: {@code enum ibv_flow_flags}. */
    public enum Option {
        /** Rules of lower priority see the packet too. */
        DO_NOT_TRAP,
        /** It is about packets that are sent. */
        EGRESS
    }

    /**
     * How many layers a rule can have: C counts them in a byte, with what is done to packets
     * besides. Devices take far fewer.
     */
    public static final int MOST_LAYERS = 0xff - 3;

    private final Kind kind;
    private final List<FlowLayer> layers;
    private final EnumSet<Option> options = EnumSet.noneOf(Option.class);
    private int priority;
    private OptionalInt tag = OptionalInt.empty();
    private boolean dropping;
    private @Nullable FlowCounters counters;

    private FlowRule(Kind kind, List<FlowLayer> layers) {
        this.kind = kind;
        this.layers = layers;
    }

    /**
     * Packets whose headers, from the outermost inwards, are so. The layers can be changed
     * afterwards, which does not change the rule.
     *
     * @throws IllegalArgumentException if they are more than {@link #MOST_LAYERS}
     */
    public static FlowRule matching(FlowLayer... layers) {
        FieldRange.check("The number of layers", layers.length, 0, MOST_LAYERS);
        return new FlowRule(Kind.MATCHING, copies(List.of(layers)));
    }

    private static List<FlowLayer> copies(List<FlowLayer> layers) {
        return layers.stream().map(FlowLayer::copy).toList();
    }

    /** All packets of a kind that has no layers. */
    public static FlowRule all(Kind kind) {
        if (kind == Kind.MATCHING) {
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
    public FlowRule option(Option option) {
        options.add(option);
        return this;
    }

    /** Gives packets a number, which {@link CompletionCursor#flowTag} tells; 32 bits. */
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

    FlowRule copy() {
        var copy = new FlowRule(kind, layers);
        copy.options.addAll(options);
        copy.priority = priority;
        copy.tag = tag;
        copy.dropping = dropping;
        copy.counters = counters;
        return copy;
    }

    /** What kind of rule it is. */
    public Kind kind() {
        return kind;
    }

    /** What it demands of headers. */
    public List<FlowLayer> layers() {
        return copies(layers);
    }

    /** The same for the floor below. */
    List<FlowFunctions.Header> headers() {
        return layers.stream().map(FlowLayer::header).toList();
    }

    /** What is unusual about it. */
    public Set<Option> options() {
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
