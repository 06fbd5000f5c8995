package simulation

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

var (
	record  = flag.Bool("record", false, "write testdata anew from real servers")
	compare = flag.Bool("compare", false, "compare the recording with real Sentinels")
)

const seenFile = "testdata/sentinels.txt"

// sentinelSet is a master A, a replica B and three Sentinels: real ones or the model's.
type sentinelSet interface {
	ask(sentinel int, args ...string) string // the reply as it was sent
	heard(sentinel int) []string             // the messages since the last call, as they were sent
	order(server int, args ...string) string
	kill(server int)
	start(server int)
	named(text string) string // with the servers' addresses as A and B
}

// seen is what one Sentinel shows in a scenario: its messages and its answers, each in order.
type seen struct{ messages, answers []string }

// shown has the channels whose messages are compared. The others depend on which Sentinel is faster.
var shown = []string{
	"+switch-master", "+slave", "+selected-slave", "+promoted-slave", "+failover-end", "+config-update-from", "+convert-to-slave", "+sdown", "-sdown", "+odown",
	"+reboot", "+reset-master", "+monitor", "-monitor",
}

var (
	ids     = regexp.MustCompile(`[0-9a-f]{40}`)
	spaces  = regexp.MustCompile(`\s+`)
	quorums = regexp.MustCompile(` #quorum.*| quorum \d`)
	others  = regexp.MustCompile(`127\.0\.0\.1[ :]\d+|10\.0\.1\.\d[ :]\d+`)
)

// watcher looks at all Sentinels of a set.
type watcher struct {
	set  sentinelSet
	seen [3]seen
}

func fields(reply string) map[string]string {
	lines := strings.Split(reply, "\r\n")
	all := map[string]string{}
	for i := 2; i+2 < len(lines); i += 4 { // name and value have two lines each
		all[lines[i]] = lines[i+2]
	}
	return all
}

func (w *watcher) look() {
	for i := range w.seen {
		s := &w.seen[i]
		for _, m := range w.set.heard(i) {
			lines := strings.Split(m, "\r\n")
			if len(lines) < 7 || !slices.Contains(shown, lines[4]) {
				continue
			}
			text := quorums.ReplaceAllString(w.set.named(lines[6]), "")
			s.messages = append(s.messages, spaces.ReplaceAllString(lines[4]+" "+others.ReplaceAllString(ids.ReplaceAllString(text, "ID"), "S"), " "))
		}
		about := fields(w.set.ask(i, "SENTINEL", "MASTER", "mymaster"))
		addr := strings.Join(regexp.MustCompile(`\r\n\$\d+\r\n`).Split(strings.TrimSpace(w.set.ask(i, "SENTINEL", "GET-MASTER-ADDR-BY-NAME", "mymaster")), -1)[1:], " ")
		flags := strings.ReplaceAll(about["flags"], ",disconnected", "") // until it is connected again, which is a matter of milliseconds
		answer := fmt.Sprintf("%s flags %s epoch %s", strings.TrimSpace(w.set.named(addr)), flags, about["config-epoch"])
		if n := len(s.answers); n == 0 || s.answers[n-1] != answer {
			s.answers = append(s.answers, answer)
		}
	}
}

// until looks on until a condition holds.
func (w *watcher) until(t *testing.T, what string, done func() bool) {
	t.Helper()
	for range 3000 {
		if w.look(); done() {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatalf("%s: not within a minute; seen %q", what, w.seen)
}

func (w *watcher) took() (all [3]seen) {
	all = w.seen
	w.seen = [3]seen{}
	return all
}

func has(list []string, prefix string) bool {
	return slices.ContainsFunc(list, func(s string) bool { return strings.HasPrefix(s, prefix) })
}

// describe writes what the Sentinel that has led shows, and what a follower does. Whether a follower calls the
// master down before it hears of the next one depends on which is faster, and so does which of them converts the former
// master. Between the promotion and its message there is one tick of the leader, which a look may miss.
func describe(scenario string, all [3]seen) string {
	var b strings.Builder
	for _, role := range []string{"leader", "follower"} {
		i := slices.IndexFunc(all[:], func(s seen) bool { return has(s.messages, "+selected-slave") == (role == "leader") })
		if i < 0 {
			continue
		}
		fmt.Fprintf(&b, "# %s, %s\n", scenario, role)
		for _, m := range all[i].messages {
			switch {
			case strings.HasPrefix(m, "+convert-to-slave"):
			case role == "leader" || !strings.HasPrefix(m, "+odown") && !strings.HasPrefix(m, "+sdown master"):
				fmt.Fprintf(&b, "says %s\n", m)
			}
		}
		for _, a := range answers(all[i].answers) {
			if role == "leader" || !strings.Contains(a, "_down") && !strings.Contains(a, "failover_in_progress") {
				fmt.Fprintf(&b, "answers %s\n", a)
			}
		}
	}
	for i := range all {
		for _, m := range all[i].messages {
			if line := "# one says " + m + "\n"; strings.HasPrefix(m, "+convert-to-slave") && !strings.Contains(b.String(), line) {
				b.WriteString(line)
			}
		}
	}
	return b.String()
}

// answers leaves out what a look may miss, and counts epochs from the first one: an election may have to be repeated.
func answers(list []string) (kept []string) {
	first, _, _ := strings.Cut(list[0], " ")
	var epochs []string
	for _, a := range list {
		text, epoch, _ := strings.Cut(a, " epoch ")
		going := strings.Contains(a, "failover_in_progress")
		if !strings.HasPrefix(a, first) && going || strings.Contains(a, "o_down") && !going {
			continue
		}
		if !slices.Contains(epochs, epoch) {
			epochs = append(epochs, epoch)
		}
		if line := fmt.Sprintf("%s epoch +%d", text, slices.Index(epochs, epoch)); !slices.Contains(kept, line) {
			kept = append(kept, line)
		}
	}
	return kept
}

// scenarios plays what befalls a set.
func scenarios(t *testing.T, set sentinelSet) string {
	w := &watcher{set: set}
	settled := func() bool {
		for i := range w.seen {
			about := fields(set.ask(i, "SENTINEL", "MASTER", "mymaster"))
			replicas := set.ask(i, "SENTINEL", "REPLICAS", "mymaster")
			if about["num-other-sentinels"] != "2" || about["num-slaves"] != "1" || about["flags"] != "master" || strings.Contains(replicas, "s_down") ||
				!strings.Contains(replicas, "\r\nmaster-link-status\r\n$2\r\nok") || strings.Contains(replicas, "\r\nslave-repl-offset\r\n$1\r\n0\r\n") {
				return false
			}
		}
		return true
	}
	replica := func(i int) func() bool {
		return func() bool {
			return strings.Contains(set.order(i, "INFO", "replication"), "master_link_status:up") && settled()
		}
	}
	w.until(t, "the set is complete", settled)
	w.took()

	text := ""
	w.look()
	w.took()
	if reply := set.ask(0, "SENTINEL", "FAILOVER", "mymaster"); reply != "+OK\r\n" {
		t.Fatalf("SENTINEL FAILOVER: %s", reply)
	}
	w.until(t, "A is a replica", replica(0))
	text += describe("a planned failover", w.took())

	set.kill(1)
	w.until(t, "A is the master again", func() bool {
		return strings.Contains(set.order(0, "INFO", "replication"), "role:master") && all(w, "+switch-master mymaster B A")
	})
	w.until(t, "B counts as down", func() bool { return all(w, "+sdown slave B") })
	set.start(1)
	w.until(t, "B is a replica", func() bool { return all(w, "-sdown slave B") && replica(1)() })
	text += describe("a killed master", w.took())

	for i := range 3 {
		set.ask(i, "SENTINEL", "REMOVE", "mymaster")
	}
	for i := range 3 {
		monitored(set, i)
	}
	w.until(t, "the set is complete", settled)
	text += describe("set up anew", w.took())
	return text
}

// all tells whether each Sentinel has said something.
func all(w *watcher, message string) bool {
	return !slices.ContainsFunc(w.seen[:], func(s seen) bool { return !has(s.messages, message) })
}

// monitored sets up a Sentinel whose master is A.
func monitored(set sentinelSet, i int) {
	host, port, _ := strings.Cut(set.(interface{ addr(server int) string }).addr(0), ":")
	set.ask(i, "SENTINEL", "MONITOR", "mymaster", host, port, "2")
	set.ask(i, "SENTINEL", "SET", "mymaster", "down-after-milliseconds", "1000", "failover-timeout", "10000")
}

// TestSentinelsOfTheModelShowWhatRealOnesDo compares with what was recorded.
func TestSentinelsOfTheModelShowWhatRealOnesDo(t *testing.T) {
	want, err := os.ReadFile(seenFile)
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		if got := scenarios(t, newModelSet()); got != string(want) {
			t.Errorf("the model shows\n%s\nreal Sentinels\n%s", got, want)
		}
	})
}

// TestRealSentinelsShowWhatWasRecorded tells whether the recording is still true.
func TestRealSentinelsShowWhatWasRecorded(t *testing.T) {
	if !*record && !*compare {
		t.Log("only with -compare: it takes most of a minute, and real Sentinels may vote twice")
		return
	}
	got := scenarios(t, newRealSet(t))
	if *record {
		if err := os.WriteFile(seenFile, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, _ := os.ReadFile(seenFile)
	if got != string(want) {
		t.Errorf("real Sentinels show\n%s\nrecorded was\n%s", got, want)
	}
}
