package org.jrdma.verbs.cm.model;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class AddressQueryTest {

    private final AddressQuery query = AddressQuery.to("host", "7471");

    @Test
    void shouldRejectNull() {
        assertThatThrownBy(() -> query.portSpace(null)).hasMessage("portSpace");
        assertThatThrownBy(() -> query.type(null)).isInstanceOf(NullPointerException.class);
        assertThatThrownBy(() -> AddressQuery.to(null, "7471"))
                .isInstanceOf(NullPointerException.class);
        assertThatThrownBy(() -> AddressQuery.at(null)).hasMessage("service");
    }
}
