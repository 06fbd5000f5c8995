package topology

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gomodule/redigo/redis"
)

// recorded decodes a reply as a connection would.
func recorded(t *testing.T, resp string) (any, error) {
	t.Helper()
	c := redis.NewConn(&recording{strings.NewReader(resp)}, 0, 0)
	return c.Receive()
}

// The replies are those of Redis 6.2.14, 7.0.15 and Valkey 8.0.1, with fewer ranges.
func TestSlotMapsOfRecordedReplies(t *testing.T) {
	t.Parallel()
	node := func(host string, port int, more string) string {
		elements := 3
		if more != "" {
			elements = 4
		}
		return fmt.Sprintf("*%d\r\n%s:%d\r\n$40\r\n%s\r\n%s", elements, host, port, strings.Repeat("a", 40), more)
	}
	text := func(s string) string { return fmt.Sprintf("$%d\r\n%s\r\n", len(s), s) }
	line := func(first, last int, nodes ...string) string {
		return fmt.Sprintf("*%d\r\n:%d\r\n:%d\r\n%s", 2+len(nodes), first, last, strings.Join(nodes, ""))
	}
	const none = "$-1\r\n"
	for name, row := range map[string]struct {
		resp string
		want string // master of each range, with its replicas
	}{
		"6.2":                        {"*1\r\n" + line(0, 16383, node(text("10.0.0.1"), 6379, ""), node(text("10.0.0.2"), 6379, "")), "0-16383 10.0.0.1:6379 10.0.0.2:6379"},
		"7.0":                        {"*2\r\n" + line(0, 5460, node(text("10.0.0.1"), 7000, "*0\r\n")) + line(5461, 16383, node(text("10.0.0.2"), 7001, "*0\r\n")), "0-5460 10.0.0.1:7000; 5461-16383 10.0.0.2:7001"},
		"host names are preferred":   {"*1\r\n" + line(7, 7, node(text("a.example"), 7000, "*2\r\n"+text("ip")+text("10.0.0.1"))), "7-7 a.example:7000"},
		"IPv6":                       {"*1\r\n" + line(7, 7, node(text("fd00::1"), 7000, "*0\r\n")), "7-7 [fd00::1]:7000"},
		"the server's own, unknown":  {"*1\r\n" + line(7, 7, node(text(""), 7000, "*0\r\n")), "7-7 asked.example:7000"},
		"unknown-endpoint":           {"*1\r\n" + line(7, 7, node(none, 7000, "*2\r\n"+text("ip")+text("10.0.0.1"))), "7-7 asked.example:7000"},
		"no host name was announced": {"*1\r\n" + line(7, 7, node(text("?"), 7000, "*2\r\n"+text("ip")+text("10.0.0.1"))), "7-7 asked.example:7000"},
		"no slots":                   {"*0\r\n", errNoSlots.Error()},
		"no cluster":                 {"-ERR This instance has cluster support disabled\r\n", "it is no node of a cluster"},
		"slots beyond the last":      {"*1\r\n" + line(7, 16384, node(text("h"), 1, "")), "no slots: 7 to 16384"},
		"slots backwards":            {"*1\r\n" + line(7, 6, node(text("h"), 1, "")), "no slots: 7 to 6"},
		"a port beyond the last":     {"*1\r\n" + line(7, 7, node(text("h"), 65536, "")), "no port: 65536"},
		"no master":                  {"*1\r\n*2\r\n:1\r\n:2\r\n", "no line of slots"},
		"no list":                    {"+OK\r\n", "CLUSTER SLOTS"},
		"no port":                    {"*2\r\n" + line(7, 7, node(text("h"), 0, "")) + line(8, 9, node(text("h"), 1, "")), "8-9 h:1; slots 7 to 7: no port: 0"},
		"no port in any line":        {"*1\r\n" + line(7, 7, node(text("h"), 0, "")), "slots 7 to 7: no port: 0"},
		"no port of a replica":       {"*1\r\n" + line(7, 7, node(text("h"), 1, ""), node(text("h"), 0, ""), node(text("h"), 2, "")), "7-7 h:1 h:2"},
		"no node":                    {"*1\r\n*3\r\n:1\r\n:2\r\n:3\r\n", "no server"},
	} {
		t.Run(name, func(t *testing.T) {
			reply, err := recorded(t, row.resp)
			m, unusable, err := decodeSlots(reply, err, "asked.example:6379")
			if err != nil {
				if !strings.Contains(err.Error(), row.want) {
					t.Errorf("got %v, want %s", err, row.want)
				}
				return
			}
			var lines []string
			for _, r := range m {
				lines = append(lines, strings.Join(append([]string{fmt.Sprintf("%d-%d", r.First, r.Last), r.master}, r.replicas...), " "))
			}
			if unusable != nil {
				lines = append(lines, unusable.Error())
			}
			if got := strings.Join(lines, "; "); got != row.want {
				t.Errorf("got %s, want %s", got, row.want)
			}
		})
	}
}

// Only CLUSTER SLOTS has the preferred host name, so servers are compared by their ids.
func TestReplicasThatOnlyNodesTellsOf(t *testing.T) {
	t.Parallel()
	const line = "%s %s:7001@17001 %s %s 0 0 1 connected\n"
	for name, row := range map[string]struct {
		nodes, want string
	}{
		"nobody else":           {"", "r:1"},
		"it is told of already": {fmt.Sprintf(line, "known", "10.0.0.1", "slave", "master"), "r:1"},
		"not heard of so far":   {fmt.Sprintf(line, "new", "10.0.0.1", "slave", "master"), "r:1 10.0.0.1:7001"},
		"silent, to one":        {fmt.Sprintf(line, "new", "10.0.0.1", "slave,fail?", "master"), "r:1 10.0.0.1:7001"},
		"dead, to most":         {fmt.Sprintf(line, "new", "10.0.0.1", "slave,fail", "master"), "r:1"},
		"without an address":    {fmt.Sprintf(line, "new", "", "slave,noaddr", "master"), "r:1"},
		"another's":             {fmt.Sprintf(line, "new", "10.0.0.1", "slave", "other"), "r:1"},
		"a master":              {fmt.Sprintf(line, "new", "10.0.0.1", "master", "-"), "r:1"},
		"the server's own host": {fmt.Sprintf(line, "new", "", "myself,slave", "master"), "r:1 asked.example:7001"},
		"no lines of servers":   {"nonsense\n", "r:1"},
	} {
		m := slotMap{{master: "m:1", replicas: []string{"r:1"}, ids: []string{"master", "known"}}}
		m.addReplicas(row.nodes, "asked.example:6379")
		if got := strings.Join(m[0].replicas, " "); got != row.want {
			t.Errorf("%s: got %s, want %s", name, got, row.want)
		}
	}
}

func TestAloneIsWhoHearsNoMajority(t *testing.T) {
	t.Parallel()
	const (
		self    = "a 10.0.0.1:7001@17001 myself,master - 0 0 1 connected 0-5460\n"
		heard   = "b 10.0.0.2:7001@17001 master,nofailover - 0 0 2 connected 5461-10922\n"
		silent  = "c 10.0.0.3:7001@17001 master,fail? - 0 0 3 connected 10923-16383\n"
		dead    = "d 10.0.0.4:7001@17001 master,fail - 0 0 4 disconnected 10923-16383\n"
		empty   = "e 10.0.0.5:7001@17001 master,fail? - 0 0 0 connected\n"
		replica = "f 10.0.0.6:7001@17001 slave,fail? a 0 0 1 connected\n"
	)
	for name, row := range map[string]struct {
		nodes string
		alone bool
	}{
		"all are heard":                 {self + heard, false},
		"most are":                      {self + heard + silent, false},
		"one of three":                  {self + silent + dead, true},
		"half of them":                  {self + heard + silent + dead, true},
		"the only one":                  {self, false},
		"without slots they elect none": {self + empty + empty, false},
		"nor do replicas":               {self + replica + replica, false},
		"it says nothing":               {"", false},
	} {
		if got := alone(row.nodes); got != row.alone {
			t.Errorf("%s: %t", name, got)
		}
	}
}

func TestPlacesOfRedirections(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{
		"10.0.0.1:7000":     "10.0.0.1:7000",
		"a.example:7000":    "a.example:7000",
		":7000":             "asked.example:7000",
		"?:7000":            "asked.example:7000",
		"fd00::1:7000":      "[fd00::1]:7000",
		"[fd00::1]:7000":    "[fd00::1]:7000",
		"nonsense":          "",
		"10.0.0.1:":         "",
		"10.0.0.1:notaport": "",
	} {
		if got := splitPlace(said, "asked.example:6379"); got != want {
			t.Errorf("%s: got %s, want %s", said, got, want)
		}
	}
}
