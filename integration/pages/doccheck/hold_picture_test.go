package doccheck

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rlock-go/redisson/watchdog"
)

// lease is the default of WithWatchdogTimeout, for which docs/hold.svg is drawn.
const lease = 30 * time.Second

// The picture has its times from the code that counts them, so a change of the margin makes it stale.
func TestPictureOfAHoldIsThatOfTheCode(t *testing.T) {
	file := filepath.Join(thisCheckout(t).root, "docs/hold.svg")
	want := drawHold()
	if *draw {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if is, err := os.ReadFile(file); err != nil || string(is) != want {
		t.Errorf("docs/hold.svg is not what the code is (%v): go test ./pages/doccheck -run Picture -write", err)
	}
}

// strip is one life of a hold in the picture.
type strip struct {
	title     string
	leases    []time.Duration // when the acquire and each renewal that is answered was sent
	failed    []time.Duration // renewals that are not answered
	key, hold time.Duration   // when the key is gone, and when Err is no longer nil
	ends      string          // what happens at the end
}

func lives() []strip {
	third := lease / 3
	last := third // the last renewal before the server can't be reached
	valid := watchdog.Trust(last, lease)
	return []strip{
		{"The holder unlocks after 24 s", []time.Duration{0, third, 2 * third}, nil, 24 * time.Second, 24 * time.Second,
			"Unlock: the key is gone, and a message wakes the waiters"},
		{"The server can't be reached from second 12 on", []time.Duration{0, third}, []time.Duration{2 * third, lease}, last + lease, valid,
			fmt.Sprintf("ValidUntil, %.1f s: Err is ErrLeaseLost, contexts end; %d ms later the key ends, and others may enter", valid.Seconds(), (last + lease - valid).Milliseconds())},
		{"Somebody deletes the key after 15 s", []time.Duration{0, third}, nil, 15 * time.Second, 15 * time.Second,
			"The server notifies the client: Err is ErrLeaseLost at once"},
		{"Somebody deletes the key after 0.5 s", []time.Duration{0}, nil, time.Second / 2, 2 * time.Second,
			"Notifications begin once a hold is one to two seconds old: ErrLeaseLost within two seconds"},
	}
}

// The measures of the picture, in pixels.
const (
	axisLeft, perSecond = 110, 15
	stripHigh           = 104
)

func atTime(d time.Duration) float64 { return axisLeft + perSecond*d.Seconds() }

// drawHold draws how long the key and the hold last in each of the lives, at the default lease.
func drawHold() string {
	const wide, seconds = 920, 52
	all := lives()
	high := len(all)*stripHigh + 34
	var s strings.Builder
	fmt.Fprintf(&s, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="11">`+"\n", wide, high)
	s.WriteString("<!-- Drawn from the code: cd integration && go test ./pages/doccheck -run Picture -write -->\n")
	fmt.Fprintf(&s, `<rect width="%d" height="%d" fill="white"/>`+"\n", wide, high)
	for second := 0; second <= seconds; second += 10 {
		x := atTime(time.Duration(second) * time.Second)
		fmt.Fprintf(&s, `<path d="M%.1f 8V%d" stroke="#ddd"/><text x="%.1f" y="%d" text-anchor="middle" fill="#555">%d s</text>`+"\n", x, high-24, x, high-10, second)
	}
	for i, life := range all {
		y := 8 + i*stripHigh
		fmt.Fprintf(&s, `<text x="8" y="%d" font-size="13" font-weight="bold">%s</text>`+"\n", y+14, life.title)
		bar := func(name string, y int, until time.Duration, fill, edge string) {
			fmt.Fprintf(&s, `<text x="8" y="%d" fill="#555">%s</text>`, y+11, name)
			fmt.Fprintf(&s, `<rect x="%d" y="%d" width="%.1f" height="14" fill="%s" stroke="%s"/>`+"\n", axisLeft, y, perSecond*until.Seconds(), fill, edge)
		}
		bar("key in Redis", y+24, life.key, "#cfe3f3", "#48a")
		bar("Err is nil", y+42, life.hold, "#d5ecd5", "#484")
		fmt.Fprintf(&s, `<text x="8" y="%d" fill="#555">leases</text>`+"\n", y+71)
		for n, sent := range life.leases {
			level := y + 64 + 4*n
			fmt.Fprintf(&s, `<path d="M%.1f %dH%.1f" stroke="#c80" stroke-width="1.5"/><circle cx="%.1f" cy="%d" r="3" fill="#c80"/>`+"\n",
				atTime(sent), level, min(atTime(sent+lease), wide-20), atTime(sent), level)
		}
		for _, sent := range life.failed {
			fmt.Fprintf(&s, `<text x="%.1f" y="%d" text-anchor="middle" fill="#c00" font-weight="bold">×</text>`+"\n", atTime(sent), y+76)
		}
		fmt.Fprintf(&s, `<path d="M%.1f %dV%d" stroke="#333" stroke-dasharray="3 2"/>`+"\n", atTime(life.hold), y+20, y+82)
		anchor := "start"
		if life.hold > seconds*time.Second/3 {
			anchor = "end"
		}
		fmt.Fprintf(&s, `<text x="%.1f" y="%d" text-anchor="%s">%s</text>`+"\n", atTime(life.hold), y+93, anchor, life.ends)
	}
	return s.String() + "</svg>\n"
}
