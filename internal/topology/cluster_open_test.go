package topology_test

import (
	"strings"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/redistest"
	"github.com/rlock-go/redisson/internal/topology"
)

func TestServerThatIsNoCluster(t *testing.T) {
	s := redistest.Start(t)
	top, err := topology.OpenCluster("redis+cluster://"+s.Addr(), topology.Settings{Timeout: timeout, Clock: clock.System()})
	if err != nil {
		t.Fatal(err)
	}
	defer top.Close(0)
	for end := time.Now().Add(10 * timeout); ; time.Sleep(time.Millisecond) {
		if _, err = top.Node(0); err != nil && strings.Contains(err.Error(), "cluster support disabled") {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("got %v", err)
		}
	}
}
