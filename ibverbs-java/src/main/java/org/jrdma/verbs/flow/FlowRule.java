package org.jrdma.verbs.flow;

import java.lang.foreign.MemorySegment;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.Consumer;
import org.jrdma.ffi.CheckReturnValue;
import org.jrdma.ffi.linkage.FieldRangeChecks;
import org.jrdma.verbs.flow.model.FlowHeaderMatch;
import org.jrdma.verbs.flow.model.FlowKind;
import org.jrdma.verbs.flow.model.FlowOption;
import org.jrdma.verbs.internal.FlowFunctions;
import org.jspecify.annotations.Nullable;

/**
 * Selects packets that arrive at a port by their headers. By default, the device delivers these
 * packets to a queue pair; a rule can also drop, tag or count them. Immutable: each method that
 * sets an option returns a changed copy. In C: {@code struct ibv_flow_attr}.
 */
@CheckReturnValue
public final class FlowRule {

    /**
     * The maximum number of layers in a rule. The limit follows from the C structure, which stores
     * the total number of layers and actions in one byte. Devices support far fewer layers.
     */
    public static final int MAX_LAYERS = 0xff - 3;

    private final FlowKind kind;
    private final List<FlowHeaderMatch> layers;
    private final EnumSet<FlowOption> options = EnumSet.noneOf(FlowOption.class);
    private int priority;
    private OptionalInt tag = OptionalInt.empty();
    private boolean dropping;
    private @Nullable FlowCounters counters;

    private FlowRule(FlowKind kind, List<FlowHeaderMatch> layers) {
        this.kind = kind;
        this.layers = layers;
    }

    private FlowRule(FlowRule other) {
        kind = other.kind;
        layers = other.layers;
        options.addAll(other.options);
        priority = other.priority;
        tag = other.tag;
        dropping = other.dropping;
        counters = other.counters;
    }

    private FlowRule with(Consumer<FlowRule> change) {
        var copy = new FlowRule(this);
        change.accept(copy);
        return copy;
    }

    /**
     * Returns a rule for packets whose headers match all given layers.
     *
     * @param layers the headers to match, starting with the outermost header
     * @throws IllegalArgumentException if there are more than {@link #MAX_LAYERS} layers
     */
    public static FlowRule matching(FlowHeaderMatch... layers) {
        FieldRangeChecks.check("number of layers", layers.length, 0, MAX_LAYERS);
        return new FlowRule(FlowKind.MATCHING, List.of(layers));
    }

    /**
     * Returns a rule without layers, for all packets that the kind describes.
     *
     * @throws IllegalArgumentException if {@code kind} is {@link FlowKind#MATCHING}
     */
    public static FlowRule all(FlowKind kind) {
        if (kind == FlowKind.MATCHING) {
            throw new IllegalArgumentException(
                    "A rule of kind MATCHING requires layers. Create it with matching().");
        }
        return new FlowRule(kind, List.of());
    }

    /** Sets the priority, from 0 to 65535. The default is 0, which is the highest priority. */
    public FlowRule priority(int number) {
        return with(copy -> copy.priority = FieldRangeChecks.check("priority", number, 0, 0xffff));
    }

    /** Adds an option to this rule. */
    public FlowRule option(FlowOption option) {
        return with(copy -> copy.options.add(option));
    }

    /**
     * Tags the packets that match this rule with a 32-bit number. For a received packet, {@link
     * org.jrdma.verbs.CompletionCursor#flowTag} returns the number.
     */
    public FlowRule tagged(int number) {
        return with(copy -> copy.tag = OptionalInt.of(number));
    }

    /** Drops the packets that match this rule instead of delivering them. */
    public FlowRule dropping() {
        return with(copy -> copy.dropping = true);
    }

    /** Counts the packets that match this rule; see {@link FlowCounters#count}. */
    public FlowRule countedBy(FlowCounters newCounters) {
        return with(copy -> copy.counters = newCounters);
    }

    /** Returns a copy of this rule in the form that the C functions need. */
    FlowFunctions.Specification snapshot() {
        return new FlowFunctions.Specification(
                kind,
                layers,
                Set.copyOf(options),
                priority,
                tag,
                dropping,
                counters == null ? MemorySegment.NULL : counters.address());
    }

    /** The counters of the packets that match this rule; empty if the rule does not count them. */
    Optional<FlowCounters> counters() {
        return Optional.ofNullable(counters);
    }

    @Override
    public String toString() {
        return "%s %s with priority %d".formatted(kind, layers, priority);
    }
}
