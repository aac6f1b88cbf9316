package org.jrdma.tck.sockets;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import kafka.tools.StorageTool;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.jrdma.processes.FreePorts;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests two Kafka servers without ZooKeeper, each in its own process. The first server is also the
 * controller. The test kills and restarts the second server. Clients and servers use only NIO
 * channels.
 */
@Tag("slow")
@Timeout(240)
class KafkaTest {

    private static final String TOPIC = "greetings";
    private static final String GREETING = "saluton, mondo; ".repeat(100);
    private static final Duration TIMEOUT = Duration.ofSeconds(60);

    @TempDir private Path folder;

    private final List<HostedProgram> started = new ArrayList<>();
    private final String cluster = Uuid.randomUuid().toString();
    private int controllerPort;
    private List<Integer> ports = List.of();
    private HostedProgram first;
    private HostedProgram second;

    @BeforeEach
    void start() throws Exception {
        var free = FreePorts.of(3);
        controllerPort = free.getFirst();
        ports = free.subList(1, 3);
        format(1);
        format(2);
        first = start(1);
        second = start(2);
    }

    @AfterEach
    void stop() {
        started.forEach(HostedProgram::close);
    }

    private void format(int id) throws IOException {
        var properties = new Properties();
        var listener = "PLAINTEXT://127.0.0.1:" + ports.get(id - 1);
        var isController = id == 1;
        properties.setProperty("node.id", Integer.toString(id));
        properties.setProperty("process.roles", isController ? "broker,controller" : "broker");
        properties.setProperty("controller.quorum.voters", "1@127.0.0.1:" + controllerPort);
        properties.setProperty("controller.listener.names", "CONTROLLER");
        properties.setProperty(
                "listeners",
                isController ? listener + ",CONTROLLER://127.0.0.1:" + controllerPort : listener);
        properties.setProperty("advertised.listeners", listener);
        properties.setProperty("log.dirs", folder.resolve("server" + id).toString());
        properties.setProperty("num.network.threads", "2");
        properties.setProperty("num.io.threads", "2");
        properties.setProperty("broker.session.timeout.ms", "6000");
        properties.setProperty("offsets.topic.replication.factor", "2");
        properties.setProperty("offsets.topic.num.partitions", "1");
        properties.setProperty("group.initial.rebalance.delay.ms", "0");
        properties.setProperty("log.cleaner.enable", "false");
        try (var file = Files.newBufferedWriter(configuration(id))) {
            properties.store(file, null);
        }
        var arguments = new String[] {"format", "-t", cluster, "-c", configuration(id).toString()};
        assertThat(StorageTool.execute(arguments, System.err)).isZero();
    }

    private Path configuration(int id) {
        return folder.resolve("server%d.properties".formatted(id));
    }

    private HostedProgram start(int id) throws IOException {
        var server =
                HostedProgram.start(
                        folder.resolve("server%d.log".formatted(id)),
                        "kafka.Kafka",
                        List.of(configuration(id).toString()));
        started.add(server);
        return server;
    }

    @Test
    void shouldKeepAllMessagesWhenAServerIsKilledAndRestarted() throws Exception {
        try (var admin = Admin.create(client(Map.of()));
                var producer = producer();
                var consumer = consumer()) {
            await(() -> admin.describeCluster().nodes().get().size() == 2);
            admin.createTopics(List.of(new NewTopic(TOPIC, Map.of(0, List.of(2, 1)))))
                    .all()
                    .get(60, TimeUnit.SECONDS);
            consumer.subscribe(List.of(TOPIC));
            var seen = new ArrayList<String>();

            produce(producer, 0, 1_000);
            consume(consumer, seen, 1_000);
            TransportUsage.assertTotal(
                    "Kafka's clients", org.jrdma.sockets.OpenConnections.all(), ports, 1_000_000);
            TransportUsage.assertTotal("Kafka's followers", first.connections(), ports, 1_000_000);
            TransportUsage.assertTotal(
                    "Kafka's controller", second.connections(), List.of(controllerPort), 1_000);

            second.kill();
            produce(producer, 1_000, 1_200);
            consume(consumer, seen, 1_200);

            second = start(2);
            await(() -> replicas(admin) == 2);
            produce(producer, 1_200, 1_300);
            consume(consumer, seen, 1_300);
            TransportUsage.assertTotal(
                    "Kafka's followers, after the restart", second.connections(), ports, 300_000);
        }
    }

    private static int replicas(Admin admin) throws Exception {
        var topic = admin.describeTopics(List.of(TOPIC)).allTopicNames().get().get(TOPIC);
        return topic.partitions().getFirst().isr().size();
    }

    private static void produce(Producer<String, String> producer, int from, int to)
            throws Exception {
        var sent = new ArrayList<Future<RecordMetadata>>();
        for (var i = from; i < to; i++) {
            sent.add(producer.send(new ProducerRecord<>(TOPIC, GREETING + i)));
        }
        for (var each : sent) {
            each.get(TIMEOUT.toSeconds(), TimeUnit.SECONDS);
        }
    }

    /**
     * Consumes messages until {@code count} messages were received in total, and checks that each
     * message was received once and in order.
     */
    private static void consume(Consumer<String, String> consumer, List<String> seen, int count) {
        var deadline = System.nanoTime() + TIMEOUT.toNanos();
        while (seen.size() < count && System.nanoTime() - deadline < 0) {
            for (var message : consumer.poll(Duration.ofMillis(200))) {
                seen.add(message.value());
            }
        }
        assertThat(seen).hasSize(count);
        for (var i = 0; i < count; i++) {
            assertThat(seen.get(i)).isEqualTo(GREETING + i);
        }
    }

    @FunctionalInterface
    private interface Condition {
        boolean holds() throws Exception;
    }

    private static void await(Condition condition) throws Exception {
        var deadline = System.nanoTime() + TIMEOUT.toNanos();
        while (!condition.holds()) {
            assertThat(System.nanoTime() - deadline).as("time to reach the condition").isNegative();
            Thread.sleep(100);
        }
    }

    private Producer<String, String> producer() {
        return new KafkaProducer<>(
                client(Map.of("acks", "all")), new StringSerializer(), new StringSerializer());
    }

    private Consumer<String, String> consumer() {
        return new KafkaConsumer<>(
                client(Map.of("group.id", "readers", "auto.offset.reset", "earliest")),
                new StringDeserializer(),
                new StringDeserializer());
    }

    private Properties client(Map<String, String> more) {
        var properties = new Properties();
        properties.setProperty(
                "bootstrap.servers",
                ports.stream().map(port -> "127.0.0.1:" + port).collect(Collectors.joining(",")));
        properties.putAll(more);
        return properties;
    }
}
