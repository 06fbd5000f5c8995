package pubsub

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// The late answer to a SUBSCRIBE that was taken back must not count as the answer to a later one.
func TestStaleConfirmationConfirmsNothing(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	h := newHub(t, own(f.addr()), Options{Timeout: 20 * time.Second})
	witness, r := new(recorder), new(recorder)
	h.Subscribe("w", witness)
	p := f.accept()
	p.expect("SUBSCRIBE w")
	p.push("subscribe", "w", ":1")
	witness.await(t, "confirmed", 1)

	s := h.Subscribe("c", r)
	p.expect("SUBSCRIBE c")
	s.Close()
	p.expect("UNSUBSCRIBE c")
	again := new(recorder)
	h.Subscribe("c", again)
	p.expect("SUBSCRIBE c") // sent before the others are answered

	p.push("subscribe", "c", ":2")
	p.push("message", "c", "stale")
	p.push("unsubscribe", "c", ":1")
	p.push("message", "w", "x")
	witness.await(t, "message x", 1)
	if got := again.all(); len(got) != 0 {
		t.Fatalf("before its own answer: %q", got)
	}
	p.push("subscribe", "c", ":2")
	p.push("message", "c", "fresh")
	again.await(t, "message", 1)
	if got := again.all(); !slices.Equal(got, []string{"confirmed", "message fresh"}) {
		t.Errorf("got %q", got)
	}
	if got := r.all(); len(got) != 0 {
		t.Errorf("the one that left got %q", got)
	}
}

func TestHostileAnswersEndTheConnectionOnly(t *testing.T) {
	t.Parallel()
	for name, raw := range map[string]string{
		"garbage":                     "\x00\xff\x01 what is this\r\n",
		"http":                        "HTTP/1.1 400 Bad Request\r\n\r\n",
		"huge string":                 "$9223372036854775807\r\n",
		"huge array":                  "*9223372036854775807\r\n",
		"overflowing length":          "*99999999999999999999999999\r\n",
		"negative length":             "*-7\r\n",
		"truncated":                   "*3\r\n$9\r\nsubscribe\r\n$1\r\n",
		"nothing":                     "",
		"empty array":                 "*0\r\n",
		"nil array":                   "*-1\r\n",
		"nil":                         "$-1\r\n",
		"number":                      ":5\r\n",
		"status":                      "+OK\r\n",
		"bulk":                        "$2\r\nhi\r\n",
		"array of nils":               "*3\r\n$-1\r\n$-1\r\n$-1\r\n",
		"array in array":              "*1\r\n*1\r\n*1\r\n:1\r\n",
		"subscribe too short":         array("subscribe"),
		"subscribe too long":          array("subscribe", "c", ":1", ":2"),
		"subscribe of a number":       array("subscribe", ":1", ":1"),
		"subscribe of nil":            "*3\r\n$9\r\nsubscribe\r\n$-1\r\n:1\r\n",
		"subscribe never asked":       array("subscribe", "other", ":1"),
		"subscribe twice":             array("subscribe", "c", ":1") + array("subscribe", "c", ":1"),
		"message of a number":         array("message", "c", ":1"),
		"message without payload":     array("message", "c"),
		"error inside":                "*3\r\n$7\r\nmessage\r\n-ERR x\r\n$1\r\nx\r\n",
		"busy":                        "-BUSY running a script\r\n",
		"too many clients":            "-ERR max number of clients reached\r\n",
		"error after the answer":      array("subscribe", "c", ":1") + "-ERR out of the blue\r\n",
		"unsubscribe of nil":          "*3\r\n$11\r\nunsubscribe\r\n$-1\r\n:0\r\n",
		"hello of another generation": "%1\r\n+a\r\n:1\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			h := newHub(t, own(f.addr()), Options{Timeout: time.Minute, MaxRetry: time.Millisecond})
			r := new(recorder)
			h.Subscribe("c", r)
			p := f.accept()
			p.expect("SUBSCRIBE c")
			p.say(raw)
			if name == "truncated" || name == "nothing" {
				p.c.Close()
			}
			before := strings.Count(raw, array("subscribe", "c", ":1"))

			p = f.accept()
			p.expect("SUBSCRIBE c")
			p.push("subscribe", "c", ":1")
			r.await(t, "confirmed", min(before, 1)+1)
			if r.count("refused") != 0 || r.count("message") != 0 {
				t.Errorf("got %q", r.all())
			}
		})
	}
}

func TestUnknownPushesAreIgnored(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	h := newHub(t, own(f.addr()), Options{Timeout: 20 * time.Second})
	r := new(recorder)
	h.Subscribe("c", r)
	p := f.accept()
	p.expect("SUBSCRIBE c")
	p.push("message", "c", "too early")
	p.say("+PONG\r\n")
	p.push("pong", "")
	p.push("subscribe", "c", ":1")
	for range 1000 {
		p.push("message", "other", "x")
		p.push("smessage", "other", "x")
		p.push("unsubscribe", "other", ":1")
		p.push("pmessage", "*", "c", "x")
		p.push("something", "new")
		p.say("+PONG\r\n")
	}
	p.push("smessage", "c", "another channel of the same name")
	p.push("message", "c", "last")
	r.await(t, "message last", 1)
	if got := r.all(); !slices.Equal(got, []string{"confirmed", "message last"}) {
		t.Errorf("got %q", got)
	}
	if n := h.Channels(); n != 1 {
		t.Errorf("%d channels kept", n)
	}
}

// A shard does that when the channel's slot moves away.
func TestChannelThatTheServerDropsIsAskedForAgain(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	h := newHub(t, own(f.addr()), Options{Timeout: 20 * time.Second})
	r := new(recorder)
	h.SubscribeSharded("c", r)
	p := f.accept()
	p.expect("SSUBSCRIBE c")
	p.push("ssubscribe", "c", ":1")
	p.push("sunsubscribe", "c", ":0")
	p.expect("SSUBSCRIBE c")
	p.push("ssubscribe", "c", ":1")
	r.await(t, "confirmed", 2) // P2
}

// An account that may not UNSUBSCRIBE still gets rid of a channel.
func TestRefusedUnsubscribeEndsTheConnection(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	h := newHub(t, own(f.addr()), Options{Timeout: time.Minute, MaxRetry: time.Millisecond})
	r := new(recorder)
	s := h.Subscribe("c", r)
	h.Subscribe("d", r)
	p := f.accept()
	for got := 0; got < 2; { // in one command or two, and in any order
		for _, c := range strings.Fields(p.command())[1:] {
			p.push("subscribe", c, ":1")
			got++
		}
	}
	r.await(t, "confirmed", 2)
	s.Close()
	p.expect("UNSUBSCRIBE c")
	p.say("-NOPERM you may not\r\n")
	f.accept().expect("SUBSCRIBE d")
}

// Messages don't prove that the server will answer a command.
func TestTalkativeServerThatDoesNotAnswerIsGivenUp(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	h := newHub(t, own(f.addr()), Options{Timeout: 300 * time.Millisecond})
	h.Subscribe("c", new(recorder))
	p := f.accept()
	p.expect("SUBSCRIBE c")
	hungUp := make(chan struct{})
	go func() {
		defer close(hungUp)
		for {
			if _, err := p.c.Write([]byte(array("message", "c", "x"))); err != nil {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	returns(t, "giving up", func() { <-hungUp })
	f.accept().expect("SUBSCRIBE c")
}

// If a server reads and never answers, the hub's queue must not grow without bound.
func TestUnansweredCommandsAreBounded(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	h := newHub(t, own(f.addr()), Options{Timeout: 20 * time.Second})
	keep := new(recorder)
	h.Subscribe("keep", keep)
	p := f.accept()
	p.expect("SUBSCRIBE keep")
	go func() {
		for {
			if _, err := p.r.Discard(1); err != nil {
				return
			}
		}
	}()
	for i := range 20_000 {
		h.Subscribe("c", keep).Close()
		h.Subscribe(fmt.Sprint("c", i), keep).Close()
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if n, m := len(h.conn.queue.unanswered), len(h.conn.queue.marked); n > maxUnanswered+2 || m > 2*chunk {
		t.Errorf("%d commands queued, %d channels marked", n, m)
	}
}
