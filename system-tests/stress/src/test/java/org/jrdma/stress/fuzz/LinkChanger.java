package org.jrdma.stress.fuzz;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/**
 * A thread that changes the MTU of the loopback interface and repeatedly takes links down and up,
 * while a target is used. The process must have a network namespace of its own.
 */
final class LinkChanger implements Runnable {

    private static final String USUAL_MTU = "65536";
    private static final List<String> MTUS = List.of("1280", "1500", "4200", "9000", USUAL_MTU);

    private final Target target;
    private final Thread thread = Thread.ofPlatform().daemon().name("link").unstarted(this);
    private volatile boolean stopped;

    private LinkChanger(Target target) {
        this.target = target;
    }

    static LinkChanger start(Target target) {
        var link = new LinkChanger(target);
        link.thread.start();
        return link;
    }

    /** Stops the changes. The link is up afterwards, with the usual MTU. */
    void stop() throws InterruptedException {
        stopped = true;
        thread.join();
    }

    @Override
    public void run() {
        try {
            while (!stopped) {
                switch (ThreadLocalRandom.current().nextInt(4)) {
                    case 0 -> target.flapLink();
                    case 1 -> {
                        set("down");
                        set("up");
                    }
                    default ->
                            set("mtu", MTUS.get(ThreadLocalRandom.current().nextInt(MTUS.size())));
                }
                Thread.sleep(ThreadLocalRandom.current().nextInt(20));
            }
            set("mtu", USUAL_MTU);
        } catch (Exception e) {
            throw new IllegalStateException("Cannot change the link.", e);
        }
    }

    private static void set(String... change) throws Exception {
        var command = new ArrayList<>(List.of("ip", "link", "set", "lo"));
        command.addAll(List.of(change));
        var process = new ProcessBuilder(command).inheritIO().start();
        Target.check(process.waitFor() == 0, "ip failed");
    }
}
