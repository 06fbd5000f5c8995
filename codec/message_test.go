package codec

import "testing"

func TestOnlyZeroIsAnUnlock(t *testing.T) {
	if !IsUnlock([]byte(UnlockMessage)) || !IsUnlock([]byte{'0'}) {
		t.Error("the unlock message is not recognised")
	}
	for _, p := range [][]byte{nil, {}, []byte("1"), []byte("00"), []byte("0 "), []byte("0\n"), {0}} {
		if IsUnlock(p) {
			t.Errorf("%q is taken for an unlock", p)
		}
	}
}
