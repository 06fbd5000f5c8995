package redistest_test

import (
	"testing"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

func TestPlannedFailoverKeepsWhatTheMasterHad(t *testing.T) {
	t.Parallel()
	s := redistest.StartSentinels(t, redistest.SentinelPasswords{Nodes: "sesame", Sentinels: "mellon"})
	first := s.Master()
	if first != s.Nodes[0] {
		t.Fatalf("the master is %v", first)
	}
	conn := first.Dial(t)
	if _, err := conn.Do("SET", "k", "v"); err != nil {
		t.Fatal(err)
	}
	if n, err := redis.Int(conn.Do("WAIT", 2, 5000)); n != 2 || err != nil {
		t.Fatalf("%d replicas acknowledged, %v", n, err)
	}
	s.Failover(s.Sentinels[0])
	second := s.AwaitMaster(first)
	if v, err := redis.String(second.Dial(t).Do("GET", "k")); v != "v" || err != nil {
		t.Errorf("got %q, %v", v, err)
	}
}

func TestSentinelsReplaceAMasterThatDied(t *testing.T) {
	t.Parallel()
	s := redistest.StartSentinels(t, redistest.SentinelPasswords{})
	first := s.Master()
	s.AllowFailover()
	first.Kill()
	if second := s.AwaitMaster(first); second.Pid() == 0 {
		t.Error("the master does not run")
	}
}
