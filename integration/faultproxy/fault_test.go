package faultproxy_test

import (
	"errors"
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"
	"github.com/rlock-go/redisson/integration/faultproxy"
	"github.com/rlock-go/redisson/internal/redistest"
)

const (
	patient = 10 * time.Second
	short   = 100 * time.Millisecond
)

func TestCutBeforeReachesNoServer(t *testing.T) {
	r := newRig(t)
	h := r.proxy.Add(faultproxy.Rule{Match: faultproxy.Command("set"), Times: 1, Do: faultproxy.CutBefore})
	if _, err := r.dial(patient).Do("SET", "k", "v"); err == nil || isTimeout(err) {
		t.Errorf("error %v", err)
	}
	r.wants("k", "")
	must(t, r.dial(patient), "SET", "k", "second")
	r.wants("k", "second")
	if h.Hits() != 1 || r.proxy.Count("SET") != 2 {
		t.Errorf("hits %d, count %d", h.Hits(), r.proxy.Count("set"))
	}
}

func TestCutAfterLosesTheReplyOnly(t *testing.T) {
	r := newRig(t)
	r.proxy.Add(faultproxy.Rule{Match: faultproxy.Key("k"), Times: 1, Do: faultproxy.CutAfter})
	if _, err := r.dial(patient).Do("SET", "k", "v"); err == nil || isTimeout(err) {
		t.Errorf("error %v", err)
	}
	r.wants("k", "v")
}

func TestDropReplySilencesTheConnection(t *testing.T) {
	r := newRig(t)
	r.proxy.Add(faultproxy.Rule{Match: faultproxy.Command("SET"), Times: 1, Do: faultproxy.DropReply})
	c := r.dial(short)
	send(t, c, "SET", "k", "v")
	send(t, c, "SET", "k", "later")
	if reply, err := c.Receive(); !isTimeout(err) {
		t.Errorf("got %v, %v", reply, err)
	}
	r.becomes("both ran", func() bool { return text(must(t, r.direct, "GET", "k")) == "later" })
}

func TestHeldReplyComesAfterRelease(t *testing.T) {
	r := newRig(t)
	h := r.proxy.Add(faultproxy.Rule{Match: faultproxy.Command("INCR"), Do: faultproxy.HoldReply})
	c := r.dial(patient)
	var n any
	got := make(chan error, 1)
	go func() {
		var err error
		n, err = c.Do("INCR", "n")
		got <- err
	}()
	<-h.Hit()
	r.becomes("it ran", func() bool { return text(must(t, r.direct, "EXISTS", "n")) != text(int64(0)) })
	select {
	case <-got:
		t.Fatal("the reply was not held")
	case <-time.After(short):
	}
	h.Release()
	if err := <-got; err != nil || n != int64(1) {
		t.Errorf("got %v, %v", n, err)
	}
	must(t, c, "INCR", "n") // held no more
}

func TestDelayedReplyComesLate(t *testing.T) {
	r := newRig(t)
	r.proxy.Add(faultproxy.Rule{Match: faultproxy.Command("PING"), Times: 1, Do: faultproxy.HoldReply, Delay: short})
	c := r.dial(patient)
	began := time.Now()
	must(t, c, "PING")
	if took := time.Since(began); took < short {
		t.Errorf("took %v", took)
	}
}

func TestAnswerKeepsItsTurnAndRunsNothing(t *testing.T) {
	r := newRig(t)
	r.proxy.Add(faultproxy.Rule{
		Match: faultproxy.Command("SET"), Times: 2, Do: faultproxy.Answer, Reply: []byte("-LOADING in memory\r\n"),
	})
	c := r.dial(patient)
	for range 2 {
		c.Send("ECHO", "a")
		c.Send("SET", "k", "v")
	}
	send(t, c, "ECHO", "c")
	for i, want := range []string{"a", "LOADING in memory", "a", "LOADING in memory", "c"} {
		reply, err := c.Receive()
		if e := (redis.Error("")); errors.As(err, &e) {
			reply = string(e)
		} else if err != nil {
			t.Fatal(err)
		}
		if text(reply) != want {
			t.Errorf("reply %d is %s, want %s", i, reply, want)
		}
	}
	r.wants("k", "")
	// Alone on an idle connection, too.
	r.proxy.Add(faultproxy.Rule{Match: faultproxy.Command("GET"), Times: 1, Do: faultproxy.Answer, Reply: []byte(":7\r\n")})
	if got := must(t, c, "GET", "k"); got != int64(7) {
		t.Errorf("got %v", got)
	}
}

func TestReplaceRunsTheCommand(t *testing.T) {
	r := newRig(t)
	r.proxy.Add(faultproxy.Rule{
		Match: faultproxy.Command("SET"), Skip: 1, Times: 1, Do: faultproxy.Replace, Reply: []byte("-READONLY no\r\n"),
	})
	c := r.dial(patient)
	must(t, c, "SET", "k", "first")
	if _, err := c.Do("SET", "k", "second"); err == nil || err.Error() != "READONLY no" {
		t.Errorf("error %v", err)
	}
	r.wants("k", "second")
	must(t, c, "SET", "k", "third")
}

func TestBlackholedConnectionHearsNothingMore(t *testing.T) {
	r := newRig(t)
	h := r.proxy.Add(faultproxy.Rule{Match: faultproxy.Command("SET"), Times: 1, Do: faultproxy.Blackhole})
	c := r.dial(short)
	must(t, c, "PING")
	send(t, c, "SET", "k", "v")
	send(t, c, "SET", "k", "w")
	if _, err := c.Receive(); !isTimeout(err) {
		t.Errorf("error %v", err)
	}
	<-h.Hit()
	r.wants("k", "")
	must(t, r.dial(patient), "PING")
}

func TestNewConnectionsIntoABlackhole(t *testing.T) {
	r := newRig(t)
	old := r.dial(patient)
	must(t, old, "PING")
	r.proxy.Blackhole(true)
	c := r.dial(short)
	if _, err := c.Do("PING"); !isTimeout(err) {
		t.Errorf("error %v", err)
	}
	must(t, old, "PING")
	r.proxy.Blackhole(false)
	must(t, r.dial(patient), "PING")
}

func TestRefusedConnections(t *testing.T) {
	r := newRig(t)
	old, addr := r.dial(patient), r.proxy.Addr()
	must(t, old, "PING")
	r.proxy.Refuse(true)
	r.proxy.Refuse(true)
	if c, err := net.Dial("tcp", addr); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("%v, %v", c, err)
	}
	must(t, old, "PING")
	r.proxy.Refuse(false)
	if r.proxy.Addr() != addr {
		t.Errorf("moved from %s to %s", addr, r.proxy.Addr())
	}
	must(t, r.dial(patient), "PING")
}

func TestFrozenTrafficGoesOnInOrder(t *testing.T) {
	r := newRig(t)
	c := r.dial(patient)
	must(t, c, "PING")
	r.proxy.Freeze(true)
	send(t, c, "RPUSH", "l", "a")
	fresh := r.dial(patient)
	send(t, fresh, "PING")
	got := make(chan error, 2)
	go func() { _, err := c.Receive(); got <- err }()
	go func() { _, err := fresh.Receive(); got <- err }()
	select {
	case err := <-got:
		t.Fatalf("not frozen: %v", err)
	case <-time.After(short):
	}
	if n := must(t, r.direct, "LLEN", "l"); n != int64(0) {
		t.Errorf("%v arrived", n)
	}
	r.proxy.Freeze(false)
	if err := errors.Join(<-got, <-got); err != nil {
		t.Error(err)
	}
	if n := must(t, r.direct, "LLEN", "l"); n != int64(1) {
		t.Errorf("%v arrived", n)
	}
}

func TestCutAllEndsEveryConnection(t *testing.T) {
	r := newRig(t)
	a, b := r.dial(patient), r.dial(patient)
	must(t, a, "PING")
	must(t, b, "PING")
	r.proxy.CutAll()
	for _, c := range []redis.Conn{a, b} {
		if _, err := c.Do("PING"); err == nil || isTimeout(err) {
			t.Errorf("error %v", err)
		}
	}
	must(t, r.dial(patient), "PING")
	// The server has forgotten them too.
	r.becomes("two clients left", func() bool { return clients(t, r.direct) == 2 })
}

func TestFirstRuleInForceApplies(t *testing.T) {
	r := newRig(t)
	answer := func(reply string, times int) *faultproxy.Handle {
		return r.proxy.Add(faultproxy.Rule{
			Match: faultproxy.Command("GET"), Times: times, Do: faultproxy.Answer, Reply: []byte("+" + reply + "\r\n"),
		})
	}
	answer("once", 1)
	always := answer("always", 0)
	answer("never", 0).Remove()
	c := r.dial(patient)
	for _, want := range []string{"once", "always", "always"} {
		if got := must(t, c, "GET", "k"); got != want {
			t.Errorf("got %v, want %s", got, want)
		}
	}
	always.Remove()
	if got := must(t, c, "GET", "k"); got != nil || always.Hits() != 2 {
		t.Errorf("got %v after %d hits", got, always.Hits())
	}
}

func TestServerThatIsNotThere(t *testing.T) {
	r := newRig(t)
	r.server.Stop()
	if _, err := r.dial(patient).Do("PING"); err == nil || isTimeout(err) {
		t.Errorf("error %v", err)
	}
	r.server.Restart()
	must(t, r.dial(patient), "PING")
}

// Who starts a process asks for the address while somebody else has the port opened again.
func TestAddressMayBeAskedForBesideRefuse(t *testing.T) {
	p := faultproxy.Start(t, "127.0.0.1:1")
	asked := make(chan struct{})
	go func() {
		defer close(asked)
		for range 1000 {
			_ = p.Addr()
		}
	}()
	for range 50 {
		p.Refuse(true)
		p.Refuse(false)
	}
	<-asked
}

func TestMoveLeavesOldConnectionsWhereTheyAre(t *testing.T) {
	r := newRig(t)
	next := redistest.Start(t)
	old := r.dial(patient)
	must(t, old, "SET", "k", "on the first")
	r.proxy.Move(next.Addr())
	must(t, old, "SET", "k", "still on the first")
	must(t, r.dial(patient), "SET", "k", "on the second")
	r.wants("k", "still on the first")
	if got := text(must(t, next.Dial(t), "GET", "k")); got != "on the second" {
		t.Errorf("the second server has %q", got)
	}
	if r.proxy.Server() != next.Addr() {
		t.Errorf("reaches %s, want %s", r.proxy.Server(), next.Addr())
	}
}

func TestStartAtTakesTheSamePortOfAnotherAddress(t *testing.T) {
	r := newRig(t)
	_, port, err := net.SplitHostPort(r.proxy.Addr())
	if err != nil {
		t.Fatal(err)
	}
	next := redistest.Start(t)
	p := faultproxy.StartAt(t, net.JoinHostPort("127.0.0.2", port), next.Addr())
	if want := net.JoinHostPort("127.0.0.2", port); p.Addr() != want {
		t.Fatalf("listens on %s, want %s", p.Addr(), want)
	}
	c, err := redis.Dial("tcp", p.Addr(), redis.DialReadTimeout(patient), redis.DialConnectTimeout(patient))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	must(t, c, "SET", "k", "on the second")
	r.wants("k", "")
}
