//go:build unix

package cookbook_test

import (
	"testing"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

func TestHourlyRunsOnceThoughItTakesAMoment(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	conn := server.Dial(t)
	for _, ran := range []string{"ran: true", "ran: false", "ran: false"} {
		start(t, server, "hourly").wantEnd(0, ran)
	}
	if left := number(t, conn, "PTTL", "mails"); left < 49*60_000 || left > 50*60_000 {
		t.Errorf("no other machine runs it for %d ms", left)
	}
	if number(t, conn, "DEL", "mails") != 1 { // as time does
		t.Fatal("it is free")
	}
	start(t, server, "hourly", "-least=1ms").wantEnd(0, "ran: true")
}

func TestHourlyDidNotRunWithoutItsLock(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	if _, err := server.Dial(t).Do("SET", "mails", "text"); err != nil {
		t.Fatal(err)
	}
	start(t, server, "hourly").wantEnd(1, "ran: false")
}
