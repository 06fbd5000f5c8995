package topology_test

import (
	"testing"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

func TestSentinelsThatCallTheMasterByNameAndByAddressAgree(t *testing.T) {
	t.Parallel()
	set := redistest.StartSentinels(t, redistest.SentinelPasswords{})
	master := set.Master()
	byName := set.Sentinels[0].Dial(t)
	for _, args := range [][]any{
		{"CONFIG", "SET", "resolve-hostnames", "yes"}, {"CONFIG", "SET", "announce-hostnames", "yes"},
		{"REMOVE", redistest.MasterName}, {"MONITOR", redistest.MasterName, "localhost", master.Port(), 2},
	} {
		if _, err := byName.Do("SENTINEL", args...); err != nil {
			t.Fatal(err)
		}
	}
	becomes(t, "a Sentinel knows the server by its name", func() bool {
		m, err := redis.StringMap(byName.Do("SENTINEL", "MASTER", redistest.MasterName))
		return err == nil && m["ip"] == "localhost" && m["runid"] != ""
	})
	set.Sentinels[2].Kill() // of the two left, one uses the name and one the address
	top := openSet(t, set.URL(), nil)
	becomes(t, "at the master", func() bool { return port(t, top) == master.Port() })
	// The next connection reaches the same master.
	if _, err := master.Dial(t).Do("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"); err != nil {
		t.Fatal(err)
	}
	becomes(t, "at the master again", func() bool { return port(t, top) == master.Port() })
}
