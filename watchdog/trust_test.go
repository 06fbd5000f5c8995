package watchdog

import (
	"testing"
	"time"
)

func TestLastingIsEnoughAndHardlyMore(t *testing.T) {
	for _, d := range []time.Duration{1, 98, 99, 100, 101, time.Millisecond, 29_700 * time.Millisecond, time.Hour, Never / 3} {
		got := Trust(0, Lasting(d))
		if got < d || got > d+4 {
			t.Errorf("%d: trust lasts %d", d, got)
		}
	}
	if Lasting(0) != 0 || Lasting(-5) != 0 || Lasting(Never) != Never {
		t.Errorf("%v %v %v", Lasting(0), Lasting(-5), Lasting(Never))
	}
}
