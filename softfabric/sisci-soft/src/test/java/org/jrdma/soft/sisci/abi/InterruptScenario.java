package org.jrdma.soft.sisci.abi;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.util.List;
import org.jrdma.abi.sisci.sisci_h;

/** An interrupt of the first node, with or without data, which the second node triggers. */
final class InterruptScenario implements ObjectStateScenario {

    private static final List<String> STATES =
            List.of(
                    "nothing",
                    "created",
                    "connected",
                    "triggered",
                    "taken",
                    "disconnected",
                    "removed",
                    "removed while connected");

    private static final List<String> CALLS =
            List.of(
                    "create",
                    "wait",
                    "remove",
                    "close owner",
                    "connect",
                    "trigger",
                    "disconnect",
                    "close user");

    static final Kind KIND =
            new Kind("interrupt", STATES, CALLS, nodes -> new InterruptScenario(nodes, ""));

    static final Kind KIND_WITH_DATA =
            new Kind(
                    "data interrupt", STATES, CALLS, nodes -> new InterruptScenario(nodes, "Data"));

    private static final int NUMBER = 7;

    private final LibraryCaller owner;
    private final LibraryCaller user;
    private final long ownerDescriptor;
    private final long userDescriptor;
    private final String kind;
    private long local;
    private long remote;

    private InterruptScenario(ThreeNodes nodes, String kind) {
        this.owner = nodes.first;
        this.user = nodes.second;
        this.ownerDescriptor = owner.open();
        this.userDescriptor = user.open();
        this.kind = kind;
    }

    @Override
    public void reach(String state) throws Exception {
        switch (state) {
            case "nothing" -> {}
            case "created" -> succeed("create");
            case "connected" -> {
                reach("created");
                succeed("connect");
            }
            case "triggered" -> {
                reach("connected");
                succeed("trigger");
            }
            case "taken" -> {
                reach("triggered");
                succeed("wait");
            }
            case "disconnected" -> {
                reach("connected");
                succeed("disconnect");
            }
            case "removed" -> {
                reach("created");
                succeed("remove");
            }
            case "removed while connected" -> {
                reach("connected");
                succeed("remove");
                ThreeNodes.eventually(() -> !attempt("trigger").equals("OK"));
            }
            default -> throw new IllegalArgumentException(state);
        }
    }

    private void succeed(String call) {
        var error = attempt(call);
        if (!error.equals("OK")) {
            throw new AssertionError("%s: %s".formatted(call, error));
        }
    }

    @Override
    public String attempt(String call) {
        return switch (call) {
            case "create" -> {
                var place = owner.place();
                var number = owner.place();
                number.set(JAVA_INT, 0, NUMBER);
                var error =
                        owner.attempt(
                                "SCICreate" + kind + "Interrupt",
                                ownerDescriptor,
                                place.address(),
                                0,
                                number.address(),
                                0,
                                0,
                                sisci_h.SCI_FLAG_FIXED_INTNO());
                local = error.equals("OK") ? LibraryCaller.handle(place) : local;
                yield error;
            }
            case "wait" -> await();
            case "remove" -> owner.attempt("SCIRemove" + kind + "Interrupt", local, 0);
            case "close owner" -> owner.attempt("SCIClose", ownerDescriptor, 0);
            case "connect" -> {
                var place = user.place();
                var error =
                        user.attempt(
                                "SCIConnect" + kind + "Interrupt",
                                userDescriptor,
                                place.address(),
                                owner.node(),
                                0,
                                NUMBER,
                                -1,
                                0);
                remote = error.equals("OK") ? LibraryCaller.handle(place) : remote;
                yield error;
            }
            case "trigger" ->
                    kind.isEmpty()
                            ? user.attempt("SCITriggerInterrupt", remote, 0)
                            : user.attempt(
                                    "SCITriggerDataInterrupt",
                                    remote,
                                    user.place().address(),
                                    8,
                                    0);
            case "disconnect" -> user.attempt("SCIDisconnect" + kind + "Interrupt", remote, 0);
            case "close user" -> user.attempt("SCIClose", userDescriptor, 0);
            default -> throw new IllegalArgumentException(call);
        };
    }

    /** Waits for a trigger, which arrives asynchronously. */
    private String await() {
        var timeout = 100;
        if (kind.isEmpty()) {
            return owner.attempt("SCIWaitForInterrupt", local, timeout, 0);
        }
        var length = owner.place();
        length.set(JAVA_INT, 0, 8);
        return owner.attempt(
                "SCIWaitForDataInterrupt",
                local,
                owner.place().address(),
                length.address(),
                timeout,
                0);
    }

    @Override
    public void close() {
        user.attempt("SCIDisconnect" + kind + "Interrupt", remote, 0);
        owner.attempt("SCIRemove" + kind + "Interrupt", local, 0);
    }
}
