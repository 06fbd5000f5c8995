package topology_test

import (
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/topology"
)

// Nothing is known of the cluster, so that whoever subscribes is sent to a server of the URL, which has no node yet.
func TestNobodySubscribesToAClusterThatIsClosed(t *testing.T) {
	top, err := topology.Open("redis+cluster://127.0.0.1:1,127.0.0.1:2", topology.Settings{Timeout: time.Second, Clock: clock.System()})
	if err != nil {
		t.Fatal(err)
	}
	top.Close(0)
	defer top.Subscriptions(0)[0].Subscribe("c", &heard{}).Close()
	for _, n := range top.Nodes() {
		if n.Hub.Channels() > 0 {
			t.Errorf("%s is subscribed to, and nobody will close it", n)
			n.Hub.Close()
		}
	}
}
