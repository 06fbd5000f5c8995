package faultproxy_test

import (
	"crypto/sha1"
	"fmt"
	"net"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/rlock-go/redisson/integration/faultproxy"
)

func TestRecordPairsRepliesWithCommands(t *testing.T) {
	r := newRig(t)
	c := r.dial(patient)
	c.Send("SET", "k", "a\r\nb\x00")
	c.Send("GET", "k")
	c.Send("GET", "absent")
	c.Send("INCR", "k")
	c.Send("EVAL", "return {1, 'two', {false}, redis.status_reply('FINE')}", 0)
	c.Send("EXISTS", "k")
	if _, err := c.Do(""); err != nil && !strings.Contains(err.Error(), "integer") {
		t.Fatal(err)
	}
	want := []any{
		faultproxy.Status("OK"), "a\r\nb\x00", nil, faultproxy.Error("ERR value is not an integer or out of range"),
		[]any{int64(1), "two", []any{nil}, faultproxy.Status("FINE")}, int64(1),
	}
	record := r.proxy.Record()
	if len(record) != len(want) {
		t.Fatalf("%d exchanges", len(record))
	}
	for i, e := range record {
		if !reflect.DeepEqual(e.Reply, want[i]) || e.Answered.Before(e.Sent) || e.Did != 0 {
			t.Errorf("%q: %#v, want %#v", e.Cmd, e.Reply, want[i])
		}
	}
	if !slices.Equal(record[0].Cmd, []string{"SET", "k", "a\r\nb\x00"}) {
		t.Errorf("command %q", record[0].Cmd)
	}
	if got := r.proxy.Counts(); !reflect.DeepEqual(got, map[string]int{"SET": 1, "GET": 2, "INCR": 1, "EVAL": 1, "EXISTS": 1}) {
		t.Errorf("counts %v", got)
	}
}

func TestRecordOfSubscriptions(t *testing.T) {
	r := newRig(t)
	c := r.dial(patient)
	receive := func(n int) {
		t.Helper()
		for range n {
			if _, err := c.Receive(); err != nil {
				t.Fatal(err)
			}
		}
	}
	send(t, c, "SUBSCRIBE", "a", "b")
	send(t, c, "PSUBSCRIBE", "p*")
	receive(3)
	must(t, r.direct, "PUBLISH", "a", "0")
	receive(1)
	send(t, c, "PING")
	send(t, c, "UNSUBSCRIBE")
	send(t, c, "PUNSUBSCRIBE", "p*")
	receive(4)
	send(t, c, "UNSUBSCRIBE") // of nothing has one reply
	send(t, c, "LRANGE", "l", 0, -1)
	receive(2)
	var lines []string
	for _, e := range r.proxy.Record() {
		lines = append(lines, fmt.Sprint(e.Cmd, " ", e.Reply))
	}
	want := []string{
		"[SUBSCRIBE a b] [subscribe b 2]", "[PSUBSCRIBE p*] [psubscribe p* 3]", "[] [message a 0]", "[PING] [pong ]",
		"[UNSUBSCRIBE] [unsubscribe a 1]", "[PUNSUBSCRIBE p*] [punsubscribe p* 0]",
		"[UNSUBSCRIBE] [unsubscribe <nil> 0]", "[LRANGE l 0 -1] []",
	}
	want[4] = lines[4] // the order in which channels are left is the server's
	if !slices.Equal(lines, want) || !strings.HasSuffix(lines[4], " 1]") {
		t.Errorf("recorded\n%s\nwant\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
	}
}

func TestReplyThatLooksLikeAMessage(t *testing.T) {
	r := newRig(t)
	c := r.dial(patient)
	must(t, r.direct, "RPUSH", "l", "message", "a", "0")
	must(t, c, "LRANGE", "l", 0, -1)
	if record := r.proxy.Record(); len(record) != 1 || record[0].Answered.IsZero() {
		t.Errorf("recorded %v", record)
	}
}

func TestLogTellsConnectionsApart(t *testing.T) {
	r := newRig(t)
	a, b := r.dial(patient), r.dial(patient)
	must(t, a, "PING")
	id := must(t, b, "CLIENT", "ID").(int64)
	must(t, a, "ECHO", "x")
	a.Close()
	r.becomes("a's close was seen", func() bool { return !r.proxy.Log()[0].Open })
	log := r.proxy.Log()
	if len(log) != 2 || !log[1].Open || log[1].ClientID != id || log[0].ClientID != 0 {
		t.Fatalf("log %+v", log)
	}
	if !reflect.DeepEqual(log[0].Cmds, [][]string{{"PING"}, {"ECHO", "x"}}) || len(log[1].Cmds) != 1 {
		t.Errorf("log %+v", log)
	}
	if serverID(t, r.direct, log[1].Addr) != id {
		t.Errorf("address %s is not the server's for id %d", log[1].Addr, id)
	}
}

func TestInlineCommandsAndRESP3(t *testing.T) {
	r := newRig(t)
	c, err := net.Dial("tcp", r.proxy.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	const script = "redis.setresp(3); return {true, {double=1.5}}"
	fmt.Fprintf(c, "HELLO 3\r\nSET k v\r\nGET absent\r\n*3\r\n$4\r\nEVAL\r\n$%d\r\n%s\r\n$1\r\n0\r\n", len(script), script)
	r.becomes("all was answered", func() bool {
		record := r.proxy.Record()
		return len(record) == 4 && !record[3].Answered.IsZero()
	})
	record := r.proxy.Record()
	hello, _ := record[0].Reply.([]any)
	if len(hello) != 14 || hello[4] != "proto" || hello[5] != int64(3) {
		t.Errorf("HELLO: %#v", record[0].Reply)
	}
	if record[1].Reply != faultproxy.Status("OK") || record[2].Reply != nil {
		t.Errorf("SET, GET: %#v, %#v", record[1].Reply, record[2].Reply)
	}
	if !reflect.DeepEqual(record[3].Reply, []any{true, 1.5}) {
		t.Errorf("EVAL: %#v", record[3].Reply)
	}
}

func TestMatchers(t *testing.T) {
	sha := fmt.Sprintf("%x", sha1.Sum([]byte(setScript)))
	cmd := func(words ...string) []string { return words }
	for _, c := range []struct {
		name  string
		match faultproxy.Match
		cmd   []string
		want  bool
	}{
		{"name in another case", faultproxy.Command("Client", "KILL"), cmd("CLIENT", "kill", "ID", "3"), true},
		{"too short", faultproxy.Command("CLIENT", "KILL"), cmd("CLIENT"), false},
		{"other name", faultproxy.Command("GET"), cmd("GETEX", "k"), false},
		{"EVALSHA", faultproxy.Script(strings.ToUpper(sha)), cmd("evalsha", sha, "0"), true},
		{"EVALSHA of one that begins so", faultproxy.Script(sha[:8]), cmd("evalsha", sha, "0"), true},
		{"EVAL of the same text", faultproxy.Script(sha), cmd("EVAL", setScript, "0"), true},
		{"EVAL of another", faultproxy.Script(sha), cmd("EVAL", "return 1", "0"), false},
		{"sha elsewhere", faultproxy.Script(sha), cmd("GET", sha), false},
		{"first argument", faultproxy.Key("k"), cmd("GET", "k"), true},
		{"not the value", faultproxy.Key("v"), cmd("SET", "k", "v"), false},
		{"second of KEYS", faultproxy.Key("b"), cmd("EVALSHA", sha, "2", "a", "b", "c"), true},
		{"one of ARGV", faultproxy.Key("c"), cmd("EVALSHA", sha, "2", "a", "b", "c"), false},
		{"a lying number of KEYS", faultproxy.Key("a"), cmd("EVALSHA", sha, "9", "a"), false},
		{"all", faultproxy.All(faultproxy.Every, faultproxy.Key("k")), cmd("GET", "k"), true},
		{"not all", faultproxy.All(faultproxy.Every, faultproxy.Key("x")), cmd("GET", "k"), false},
		{"no words", faultproxy.All(faultproxy.Key("x"), faultproxy.Script(sha)), nil, false},
	} {
		if got := c.match(c.cmd); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
