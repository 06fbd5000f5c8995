package lockstate

import "testing"

func TestClosedClientIsForgotten(t *testing.T) {
	c, err := New(config())
	if err != nil {
		t.Fatal(err)
	}
	if shared.of[c.id] != &c.shared {
		t.Error("it is not known")
	}
	c.Close()
	if shared.of[c.id] != nil {
		t.Error("it is remembered")
	}
}
