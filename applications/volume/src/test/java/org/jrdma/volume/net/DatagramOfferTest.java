package org.jrdma.volume.net;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import org.jrdma.verbs.cm.model.PrivateData;
import org.jrdma.verbs.model.Endpoint;
import org.jrdma.verbs.model.Gid;
import org.junit.jupiter.api.Test;

/** Tests the private data with which nodes agree on datagrams. */
final class DatagramOfferTest {

    /** The lengths of the private data of a connect request and of a reply, with padding. */
    private static final int REQUEST_BYTES = 56;

    private static final int REPLY_BYTES = 196;

    private static final DatagramOffer OFFER =
            new DatagramOffer(
                    new Endpoint(3, 0xABCDEF, 5, new Gid(1, 2)), 0x7FFF_FFFF, 4096, Long.MIN_VALUE);

    private static PrivateData padded(byte[] data, int length) {
        return PrivateData.of(Arrays.copyOf(data, length));
    }

    @Test
    void shouldDecodeAnOfferWithPadding() {
        assertThat(DatagramOffer.decode(padded(OFFER.encode(), REQUEST_BYTES))).contains(OFFER);
    }

    @Test
    void shouldFindNoOfferInThePrivateDataOfANodeWithoutDatagrams() {
        assertThat(DatagramOffer.decode(PrivateData.of())).isEmpty();
        assertThat(DatagramOffer.decode(PrivateData.of(new byte[REQUEST_BYTES]))).isEmpty();
    }

    @Test
    void shouldRejectAMalformedOffer() {
        var bytes = OFFER.encode();
        assertThat(DatagramOffer.decode(padded(bytes, bytes.length - 1))).isEmpty();
        var queuePairNumber = 6;
        bytes[queuePairNumber] = 1; // more than 24 bits
        assertThat(DatagramOffer.decode(padded(bytes, REQUEST_BYTES))).isEmpty();
        var small = new DatagramOffer(OFFER.endpoint(), 1, 255, 1).encode();
        assertThat(DatagramOffer.decode(padded(small, REQUEST_BYTES))).isEmpty();
    }

    @Test
    void shouldDecodeAnAnswer() {
        assertThat(DatagramOffer.decodeAnswer(padded(DatagramOffer.answer(1024), REPLY_BYTES)))
                .isEqualTo(1024);
        assertThat(DatagramOffer.decodeAnswer(padded(DatagramOffer.answer(255), REPLY_BYTES)))
                .isZero();
        assertThat(DatagramOffer.decodeAnswer(padded(DatagramOffer.answer(-1), REPLY_BYTES)))
                .isZero();
        assertThat(DatagramOffer.decodeAnswer(PrivateData.of(new byte[REPLY_BYTES]))).isZero();
        assertThat(DatagramOffer.decodeAnswer(PrivateData.of())).isZero();
    }
}
