package pipeline

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestOnlyReplicasThatAreOnlineCount(t *testing.T) {
	const info = "# Replication\r\nrole:master\r\nconnected_slaves:4\r\n" +
		"slave0:ip=10.0.0.1,port=6379,state=wait_bgsave,offset=0,lag=0\r\n" +
		"slave1:ip=10.0.0.2,port=6380,state=online,offset=42,lag=1\r\n" +
		"slave2:ip=::1,port=6381,state=online,offset=42,lag=0,io-thread=0\r\n" +
		"slave4:ip=10.0.0.4,port=6379,state=online,offset=42,lag=7\r\n" +
		"slave5:ip=10.0.0.5,port=6379,state=online,offset=42,lag=8\r\n" +
		"slave3:ip=10.0.0.3,port=6379,state=send_bulk,offset=0,lag=0\r\n" +
		"slave_repl_offset:42\r\nmaster_failover_state:no-failover\r\n"
	if got := onlineReplicas(info); !slices.Equal(got, []string{"10.0.0.2:6380", "[::1]:6381", "10.0.0.4:6379"}) {
		t.Errorf("got %v", got)
	}
}

// Each step is an event and the count after it.
func TestReplicaCountFallsByTheWordOfTheTopology(t *testing.T) {
	const m = fewerFor
	type step struct {
		event string // online replicas, or the topology's word: + the master stays, - not, old + for an earlier loss
		at    time.Duration
		n     int
		state standing
	}
	for name, row := range map[string]struct {
		alone bool // no topology can be asked
		known int
		steps []step
	}{
		"nobody can be asked":               {alone: true, steps: []step{{"ab", 0, 2, agreed}, {"a", 1, 1, agreed}, {"", 2, 0, agreed}, {"a", 3, 1, agreed}}},
		"the only one goes, twice it stays": {steps: []step{{"a", 0, 1, agreed}, {"", 1, 1, missing}, {"+", 2, 1, vouched}, {"+", 3, 0, agreed}}},
		"one of two goes":                   {steps: []step{{"ab", 0, 2, agreed}, {"b", 1, 2, missing}, {"+", 2, 2, vouched}, {"b", 3, 2, vouched}, {"+", 4, 1, agreed}}},
		"the second word is no":             {steps: []step{{"a", 0, 1, agreed}, {"", 1, 1, missing}, {"+", 2, 1, vouched}, {"-", 3, 1, missing}, {"+", 4, 1, vouched}, {"+", 5, 0, agreed}}},
		"one more goes between the words":   {steps: []step{{"ab", 0, 2, agreed}, {"b", 1, 2, missing}, {"+", 2, 2, vouched}, {"", 3, 2, missing}, {"+", 4, 2, vouched}, {"+", 5, 0, agreed}}},
		"a word about an earlier loss":      {steps: []step{{"ab", 0, 2, agreed}, {"b", 1, 2, missing}, {"", 2, 2, missing}, {"old", 3, 2, missing}, {"old", 4, 2, missing}}},
		"it comes back before the word":     {steps: []step{{"a", 0, 1, agreed}, {"", 1, 1, missing}, {"+", 2, 1, vouched}, {"a", 3, 1, agreed}, {"+", 4, 1, agreed}}},
		"it comes back later":               {steps: []step{{"a", 0, 1, agreed}, {"", 1, 1, missing}, {"+", 2, 1, vouched}, {"+", 3, 0, agreed}, {"", 4, 0, agreed}, {"a", 5, 1, agreed}}},
		"another one comes":                 {steps: []step{{"a", 0, 1, agreed}, {"ab", 1, 2, agreed}, {"abc", 2, 3, agreed}}},
		"no word: none, for ever":           {steps: []step{{"a", 0, 1, agreed}, {"", 1, 1, missing}, {"-", 2, 1, missing}, {"", 20 * m, 1, missing}}},
		"no word: some, for a minute":       {steps: []step{{"abc", 0, 3, agreed}, {"a", 3, 3, missing}, {"-", 4, 3, missing}, {"a", 3 + m - 1, 3, missing}, {"a", 3 + m, 1, agreed}}},
		"none, then some, for a minute":     {steps: []step{{"ab", 0, 2, agreed}, {"a", 1, 2, missing}, {"", 2, 2, missing}, {"a", m, 2, missing}, {"a", 2*m - 1, 2, missing}, {"a", 2 * m, 1, agreed}}},
		"the topology knows of more":        {known: 2, steps: []step{{"a", 0, 2, missing}, {"+", 1, 2, vouched}, {"+", 2, 1, agreed}}},
		"the topology knows of as many":     {known: 2, steps: []step{{"ab", 0, 2, agreed}}},
		"the topology knows of fewer":       {known: 1, steps: []step{{"ab", 0, 2, agreed}}},
	} {
		t.Run(name, func(t *testing.T) {
			r := &tally{keeps: !row.alone, n: row.known}
			for i, s := range row.steps {
				switch s.event {
				case "+":
					r.told(nil, r.loss)
				case "-":
					r.told(errors.New("not known"), r.loss)
				case "old":
					r.told(nil, r.loss-1)
				default:
					r.counted(strings.Split(s.event, "")[:len(s.event)], s.at)
				}
				if r.n != s.n || r.state != s.state {
					t.Errorf("%d: after %q: %d in state %d, want %d in %d", i, s.event, r.n, r.state, s.n, s.state)
				}
			}
		})
	}
}

// A replica that left long ago may serve something else by now.
func TestReplicaThatLeftIsAskedForAMinute(t *testing.T) {
	r := &tally{keeps: true}
	for _, step := range []struct {
		online string
		at     time.Duration
		asked  string
	}{{"ab", 0, ""}, {"a", 1, "b"}, {"", 2, "ab"}, {"", 1 + promotedFor, "ab"}, {"", 2 + promotedFor, ""}} {
		r.counted(strings.Split(step.online, "")[:len(step.online)], step.at)
		if _, gone := r.question(step.at); strings.Join(gone, "") != step.asked {
			t.Errorf("at %v, with %q online, %q are asked, want %q", step.at, step.online, gone, step.asked)
		}
	}
}
