package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/eventlog"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/internal/testkit/topologytest"
)

// doctor names each command that the account may not send, with what that costs, and no other.
func TestDoctorNamesEachRefusedCommand(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	namesEach(t, s.URL(), s.Dial(t))
}

func TestDoctorNamesEachCommandThatIsRefusedInACluster(t *testing.T) {
	t.Parallel()
	c := topologytest.Start(t, 1) // where each name is served by the node whose account is changed
	namesEach(t, "redis+cluster://"+c.Servers[0].Addr(), c.Conn(0))
}

func namesEach(t *testing.T, url string, admin redis.Conn) {
	t.Helper()
	scheme, at, _ := strings.Cut(url, "://")
	url = scheme + "://oncall:secret@" + at
	for _, c := range dispensable {
		if c.name == ofClusters && scheme != "redis+cluster" {
			break
		}
		rule := "-" + strings.ReplaceAll(strings.ToLower(c.name), " ", "|")
		if _, err := admin.Do("ACL", "SETUSER", "oncall", "reset", "on", ">secret", "~*", "&*", "+@all", rule); err != nil {
			t.Fatal(err)
		}
		tool := begin(t, url, "doctor")
		tool.status()
		var refused []string
		for line := range strings.Lines(tool.out.String()) {
			if strings.HasPrefix(line, "warn  command ") {
				refused = append(refused, line)
			}
		}
		if cost := eventlog.Costs[c.name]; cost == "" || len(refused) != 1 || !strings.Contains(refused[0], c.name+" is refused: "+cost) {
			t.Errorf("without %s: %q", c.name, refused)
		}
	}
	if _, err := admin.Do("ACL", "SETUSER", "oncall", "+@all"); err != nil {
		t.Fatal(err)
	}
	tool := begin(t, url, "doctor")
	tool.status()
	if out := tool.out.String(); strings.Contains(out, " is refused") || !strings.Contains(out, "ok    commands") {
		t.Errorf("with all commands: %s", out)
	}
}

// doctor asks for each command that the accounts of security.md allow, and for no other. That these are what clients and the tool
// send is shown by integration/security.
func TestDoctorAsksForWhatThePageAllows(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	// What a URL that works has used already, what only a real wake-up tries, and what doctor itself needs.
	without := map[string]bool{
		"cluster|slots": true, "select": true, "sentinel": true, "readonly": true,
		"ssubscribe": true, "sunsubscribe": true, "acl|dryrun": true, "acl|whoami": true,
	}
	allowed := map[string]bool{}
	for _, rule := range regexp.MustCompile("[` ]\\+([a-z]+(?:\\\\?\\|[a-z]+)?)").FindAllStringSubmatch(string(page), -1) {
		if name := strings.ReplaceAll(rule[1], `\`, ""); !without[name] {
			allowed[name] = true
		}
	}
	asked := map[string]bool{}
	for _, c := range dispensable {
		asked[strings.ReplaceAll(strings.ToLower(c.name), " ", "|")] = true
	}
	for _, need := range needs {
		for text := range strings.SplitSeq(need.commands, ";") {
			asked[lacking(strings.Fields(text), "")] = true
		}
	}
	if allowed["pubsub"] { // with all its forms
		delete(allowed, "pubsub")
		for _, form := range []string{"channels", "numsub", "shardchannels", "shardnumsub"} {
			allowed["pubsub|"+form] = true
		}
	}
	for name := range allowed {
		if !asked[name] {
			t.Errorf("the page allows %s, and doctor does not ask for it", name)
		}
	}
	for name := range asked {
		if !allowed[name] {
			t.Errorf("doctor asks for %s, which the page does not allow", name)
		}
	}
	if len(asked) < 50 || slices.Contains([]bool{allowed["evalsha"], allowed["asking"], allowed["lset"]}, false) {
		t.Errorf("%d commands were compared with %d of the page", len(asked), len(allowed))
	}
}
