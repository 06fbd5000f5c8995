package topology

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/redisconn"
)

// says makes the words of nodes a, b, c … of a URL. A text is "master", the name of a replica's master, that name with a ?
// if its connection is down, "dead", or "silent". After a / follows the history of the data.
func says(texts ...string) (said []word) {
	for i, text := range texts {
		text, history, _ := strings.Cut(text, "/")
		w := word{of: string(rune('a' + i)), history: history}
		switch master, down := strings.CutSuffix(text, "?"); text {
		case "master":
			w.role = roleMaster
		case "dead":
			w.err = fmt.Errorf("connect: %w", syscall.ECONNREFUSED)
		case "silent":
			w.err = errNoWord
		default:
			w.role, w.master, w.up = roleReplica, master, !down
		}
		said = append(said, w)
	}
	return said
}

func TestMasterThatTheListedNodesName(t *testing.T) {
	t.Parallel()
	for what, row := range map[string]struct {
		was  string
		said []word
		want string // empty: none
		text string // what the error, or the name of the rival, has
	}{
		"the one that says so":                        {"", says("master", "a", "a"), "a", ""},
		"another one than before":                     {"a", says("b", "master", "b"), "b", ""},
		"another one while the former is dead":        {"a", says("dead", "master", "b"), "b", ""},
		"another one while the former is silent":      {"a", says("silent", "master", "b"), "b", ""},
		"two, and none was known":                     {"", says("master", "master", "a"), "", "a and b are both masters"},
		"two, and one of them was":                    {"b", says("master", "master", "a"), "b", "a"},
		"two, and the one that was is none of them":   {"c", says("master", "master", "a"), "", "a and b are both masters"},
		"two that have one history before":            {"a", says("master/1", "master/2", "b/2"), "a", "b"},
		"one with two names in the URL":               {"b", says("master/1", "master/1", "a/1"), "b", ""},
		"none":                                        {"a", says("b", "a", "a?"), "", "c is a replica of a, which it can't reach"},
		"none of the URL":                             {"a", says("x", "x", "x"), "", "a is a replica of x, which the URL does not list"},
		"none answers":                                {"a", says("dead", "silent"), "", "connection refused; b: no answer in time"},
		"one, and a replica has a silent one":         {"", says("master", "silent", "b"), "", "a and b are both masters"},
		"one, and a replica has the silent former":    {"b", says("master", "silent", "b"), "", "a and b are both masters"},
		"one, and a replica has lost the former":      {"b", says("master", "silent", "b?"), "a", ""},
		"one, and a replica has the dead former":      {"b", says("master", "dead", "b"), "a", ""},
		"one, and a replica has not heard yet":        {"a", says("b", "master", "a"), "b", ""},
		"one, and a replica names what is not listed": {"", says("master", "silent", "x"), "a", ""},
		"the former, and another names a silent one":  {"a", says("master", "silent", "b"), "a", "b"},
	} {
		r := roles{master: row.was}
		best, rival, err := r.believes(row.said)
		if best.of != row.want || (err != nil) != (row.want == "") || err == nil && rival != row.text || err != nil && !strings.Contains(err.Error(), row.text) {
			t.Errorf("%s: %q beside %q, %v", what, best.of, rival, err)
		}
		if want := row.want; want != "" && r.master != want || want == "" && r.master != row.was {
			t.Errorf("%s: it goes on with %q", what, r.master)
		}
	}
}

// A replica may know its master by another name than the URL, and a node may be known by the address that its name leads
// to.
func TestReplicasOfTheMasterByNameAndByHistory(t *testing.T) {
	t.Parallel()
	said := says("master/1", "10.0.0.1:6379", "x/1", "x?/1", "x/2", "silent")
	said[0].place = "10.0.0.1:6379"
	said[2].place = "10.0.0.3:6379"
	r := roles{}
	if _, _, err := r.believes(said); err != nil {
		t.Fatal(err)
	}
	if want := []string{"b", "10.0.0.3:6379"}; !slices.Equal(r.known, want) || !slices.Equal(r.first, want) {
		t.Errorf("%q, at first %q", r.known, r.first)
	}
}

// A client that reaches the fewer nodes only may be cut off with a former master.
func TestSilentNodesCountAsReplicasAtFirstUnlessMostAnswer(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		said []word
		want []string
	}{
		{says("master", "a", "silent"), []string{"b"}},
		{says("master", "silent", "silent"), []string{"b", "c"}},
		{says("master", "silent"), []string{"b"}},
		{says("master", "dead"), nil},
		{says("master", "dead", "silent"), nil},
	} {
		r := roles{}
		if _, _, err := r.believes(row.said); err != nil || !slices.Equal(r.first, row.want) {
			t.Errorf("%v: %q, %v", row.said, r.first, err)
		}
	}
}

func TestMasterStaysWhileMostNodesNameItAndNoOtherSaysSo(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		said        []word
		early, late bool
	}{
		{says("master", "a", "a"), true, true},
		{says("master", "a?", "silent"), true, true},
		{says("master", "dead", "dead"), true, true},
		{says("master", "dead"), true, true},
		{says("master", "silent"), false, true},
		{says("master", "silent", "silent"), false, true},
		{says("master", "x", "silent"), false, true},
		{says("master", "master", "a"), false, false},
		{says("master", "silent", "b"), false, false},
		{says("b", "master", "b"), false, false},
		{says("silent", "a", "a"), false, false},
	} {
		for late, want := range map[bool]bool{false: row.early, true: row.late} {
			r := roles{master: "a"}
			if err := r.stays(row.said, late); (err == nil) != want {
				t.Errorf("%v, late %v: %v", row.said, late, err)
			}
		}
	}
}

func TestErrorOfNodesIsPermanentIfThatOfEachIs(t *testing.T) {
	t.Parallel()
	wrong := redis.Error("WRONGPASS invalid username-password pair or user is disabled.")
	for _, row := range []struct {
		errs []error
		want bool
	}{
		{[]error{wrong, wrong}, true},
		{[]error{wrong, errNoWord}, false},
		{[]error{wrong, nil}, false},
		{[]error{redisconn.TopologyError("a is a node of a cluster"), wrong}, true},
	} {
		var said []word
		for i, err := range row.errs {
			said = append(said, word{of: fmt.Sprint(i), role: roleReplica, master: "x", err: err})
		}
		r := roles{}
		if _, _, err := r.believes(said); redisconn.Permanent(err) != row.want || row.errs[0] != nil && !errors.Is(err, row.errs[0]) {
			t.Errorf("%v: %v", row.errs, err)
		}
	}
}

func TestReplicatedURLs(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]Parts{
		"redis+replicated://h":             {Servers: []string{"h:6379"}},
		"redis+replicated://h,i:2,h:6379/": {Servers: []string{"h:6379", "i:2"}},
		"redis+replicated://h,[::2]:7/3":   {Servers: []string{"h:6379", "[::2]:7"}, Target: &redisconn.Target{Database: 3}},
		"redis+replicated://u:p%40@h/0":    {Servers: []string{"h:6379"}, Target: &redisconn.Target{Username: "u", Password: "p@"}},
	} {
		if want.Target == nil {
			want.Target = &redisconn.Target{}
		}
		got, err := Parse(url)
		if err != nil || !got.Replicated || !slices.Equal(got.Servers, want.Servers) || got.Target.Database != want.Target.Database ||
			got.Target.Username != want.Target.Username || got.Target.Password != want.Target.Password {
			t.Errorf("%s: %+v, %v", url, got, err)
		}
	}
	const secret = "topsecret"
	for rest, part := range map[string]string{
		"": "host", "/0": "host", "h:x": "port", "h/x": "database", "h/0/1": "database", "h/-1": "database",
		"h?db=1": "query", "h/" + secret + "@i": "percent-encoded", "u:" + secret + "#@h": "fragment",
	} {
		if _, err := Parse("redis+replicated://" + rest); err == nil || !strings.Contains(err.Error(), part) || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v", rest, err)
		}
	}
}
