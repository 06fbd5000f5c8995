package javapermits

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/integration/javapeer"
	"github.com/rlock-go/redisson/internal/monitor"
)

// What can't be promised: Redisson reckons the end of permits by its own clock. What a JVM sends whose clock is two minutes
// ahead is what another one sent, with that clock's time.
func TestClockThatIsAheadTakesLivePermits(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	golang, java := newGoSide(t, r.Server.URL()), newJavaSide(t, javapeer.Newest, r.Server.URL())
	r.Must(golang.set(r.Context(), "trysetpermits", 1))
	ids, err := golang.take(r.Context(), 1, time.Minute)
	r.Must(err)
	tap, now := monitor.Tap(t, r.Server.URL()), r.now()
	if n, err := java.counts(r.Context()); n != [3]int{0, 1, 1} || err != nil {
		t.Fatalf("Java sees %v, %v", n, err)
	}
	lines := tap.Mark()
	isClock := func(arg string) bool {
		ms, err := strconv.ParseInt(arg, 10, 64)
		return err == nil && ms > now-time.Minute.Milliseconds() && ms < now+time.Minute.Milliseconds()
	}
	asked := slices.IndexFunc(lines, func(l monitor.Line) bool {
		return !l.Lua() && slices.Contains(l.Args, codec.PermitTimes(name)) && slices.ContainsFunc(l.Args, isClock)
	})
	if asked < 0 {
		t.Fatalf("no question of Java's has its clock: %v", lines)
	}
	args := redis.Args{}
	for _, arg := range lines[asked].Args[1:] {
		if isClock(arg) {
			arg = strconv.FormatInt(now+2*time.Minute.Milliseconds(), 10)
		}
		args = args.Add(arg)
	}
	r.Do(lines[asked].Args[0], args...)
	if n, err := golang.counts(r.Context()); n != [3]int{1, 0, 1} || err != nil {
		t.Errorf("the permit is still taken: %v, %v", n, err)
	}
	if err := golang.release(r.Context(), ids...); err == nil {
		t.Error("Go gave back what another clock had taken away")
	}
	if n, err := golang.counts(r.Context()); n != [3]int{1, 0, 1} || err != nil {
		t.Errorf("there are %v, %v", n, err)
	}
}
