package faultproxy_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/gomodule/redigo/redis"
	"github.com/rlock-go/redisson/integration/faultproxy"
)

func clients(t testing.TB, c redis.Conn) int {
	t.Helper()
	return strings.Count(text(must(t, c, "CLIENT", "LIST")), "\n")
}

// serverID asks the server which id it gave to an address.
func serverID(t testing.TB, c redis.Conn, addr string) int64 {
	t.Helper()
	m := regexp.MustCompile(`(?m)^id=(\d+) addr=` + regexp.QuoteMeta(addr) + ` `).
		FindStringSubmatch(text(must(t, c, "CLIENT", "LIST")))
	if m == nil {
		t.Fatalf("no client at %s", addr)
	}
	id, _ := strconv.ParseInt(m[1], 10, 64)
	return id
}

const setScript = `return redis.call('set', KEYS[1], ARGV[1])`

func TestWithheldBytesRunAfterTheirSenderHasGone(t *testing.T) {
	r := newRig(t)
	h := r.proxy.Add(faultproxy.Rule{Match: faultproxy.Command("EVAL"), Times: 1, Do: faultproxy.Withhold})
	c := r.dial(short)
	send(t, c, "EVAL", setScript, 1, "k", "late")
	send(t, c, "SET", "behind", "too") // bytes do not overtake
	if _, err := c.Receive(); !isTimeout(err) {
		t.Errorf("error %v", err)
	}
	<-h.Hit()
	c.Close()
	r.becomes("the proxy saw the close", func() bool { return !r.proxy.Log()[0].Open })
	r.wants("k", "")
	r.wants("behind", "")
	if n := h.Release(); n != 1 {
		t.Errorf("%d connections answered", n)
	}
	r.wants("k", "late")
	r.becomes("the rest ran", func() bool { return text(must(t, r.direct, "EXISTS", "behind")) != text(int64(0)) })
	r.becomes("no connection is left behind", func() bool { return clients(t, r.direct) == 1 })
	if h.Release() != 0 {
		t.Error("released twice")
	}
}

func TestWithheldBytesDoNotRunAfterClientKill(t *testing.T) {
	r := newRig(t)
	h := r.proxy.Add(faultproxy.Rule{Match: faultproxy.All(faultproxy.Command("SET"), faultproxy.Key("k")), Do: faultproxy.Withhold})
	c := r.dial(short)
	id := must(t, c, "CLIENT", "ID").(int64)
	send(t, c, "SET", "k", "late")
	<-h.Hit()
	c.Close()
	r.becomes("the proxy saw the close", func() bool { return !r.proxy.Log()[0].Open })

	log := r.proxy.Log()[0]
	if log.ClientID != id || serverID(t, r.direct, log.Addr) != id {
		t.Fatalf("the proxy says id %d at %s, the client %d", log.ClientID, log.Addr, id)
	}
	if n := must(t, r.direct, "CLIENT", "KILL", "ID", id, "ADDR", log.Addr); n != int64(1) {
		t.Fatalf("KILL answered %v", n)
	}
	if n := h.Release(); n != 0 {
		t.Errorf("%d connections answered", n)
	}
	r.wants("k", "")
}

func TestWithheldBytesGoOnToALivingClient(t *testing.T) {
	r := newRig(t)
	h := r.proxy.Add(faultproxy.Rule{Match: faultproxy.Command("INCR"), Times: 1, Do: faultproxy.Withhold})
	c := r.dial(patient)
	send(t, c, "INCR", "n")
	send(t, c, "INCR", "n")
	<-h.Hit()
	if n := h.Release(); n != 1 {
		t.Errorf("%d connections answered", n)
	}
	send(t, c, "INCR", "n")
	for want := range int64(3) {
		if n, err := c.Receive(); n != want+1 || err != nil {
			t.Errorf("got %v, %v", n, err)
		}
	}
}

func TestWithheldBytesArriveWhenAnotherCommandWasAnswered(t *testing.T) {
	r := newRig(t)
	h := r.proxy.Add(faultproxy.Rule{
		Match: faultproxy.Command("SET"), Times: 1, Do: faultproxy.Withhold, Until: faultproxy.Command("DEL"),
	})
	c := r.dial(short)
	send(t, c, "SET", "k", "late")
	<-h.Hit()
	c.Close()
	other := r.dial(patient)
	must(t, other, "GET", "k")
	r.wants("k", "")
	must(t, other, "DEL", "k")
	r.becomes("the late SET ran", func() bool { return text(must(t, r.direct, "EXISTS", "k")) != text(int64(0)) })
	r.wants("k", "late")
}

func TestCutAllLeavesWithheldBytesUnderWay(t *testing.T) {
	r := newRig(t)
	h := r.proxy.Add(faultproxy.Rule{Match: faultproxy.Command("SET"), Times: 1, Do: faultproxy.Withhold})
	c := r.dial(patient)
	send(t, c, "SET", "k", "late")
	<-h.Hit()
	r.proxy.CutAll()
	if _, err := c.Receive(); err == nil || isTimeout(err) {
		t.Errorf("error %v", err)
	}
	if n := h.Release(); n != 1 {
		t.Errorf("%d connections answered", n)
	}
	r.wants("k", "late")
}
