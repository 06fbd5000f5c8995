package logs_test

import (
	"log/slog"
	"testing"

	"github.com/rlock-go/redisson/integration/redisserver"
	"github.com/rlock-go/redisson/integration/testbed"
	"github.com/rlock-go/redisson/internal/redistest"
	"github.com/rlock-go/redisson/rlock"
)

// sentinels have one among them that tells this client nothing, and move the master.
func sentinels(t *testing.T, s redisserver.Server) []*rig {
	set := redistest.StartSentinels(t, redistest.SentinelPasswords{})
	silent := set.Sentinels[2]
	if _, err := silent.Dial(t).Do("ACL", "SETUSER", "default", "resetchannels"); err != nil {
		t.Fatal(err)
	}
	r := &rig{Proxied: testbed.NewProxied(t, s), seen: newCapture(slog.LevelDebug)}
	r.client = r.Open(set.URL(), rlock.WithLogger(slog.New(r.seen)), rlock.WithCommandTimeout(timeout))
	r.logged("sentinel unheard", "sentinel", silent.Addr())
	r.logged("connected", "connection", "sentinel "+set.Sentinels[0].Addr())
	former := set.Master()
	h, err := r.lock().Lock(r.Context())
	if err != nil {
		t.Fatal(err)
	}
	set.Failover(set.Sentinels[0])
	r.logged("master changed", "from", former.Addr(), "to", set.AwaitMaster(former).Addr())
	_ = h.Unlock(r.Context()) // the next master need not have it
	return []*rig{r}
}
