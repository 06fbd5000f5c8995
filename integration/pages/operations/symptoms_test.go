package operations_test

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

const symptoms = "../../../docs/symptoms.md"

// checks are the commands that the page by symptom gives for a check, each with what to type and with what it shows for
// a held lock.
var checks = map[string]struct{ typed, shows string }{
	"SLOWLOG GET":    {"SLOWLOG GET", `.`},
	"LATENCY LATEST": {"LATENCY LATEST", `^\(empty`},
	"CLIENT LIST":    {"CLIENT LIST", `name=rlock`},
}

// ofTheTool has the tool's commands on that page.
var ofTheTool = map[string]struct{ typed, shows string }{
	"ls":     {"rlock ls", `invoices +lock +2\d\.\d+s +1 +1 +\S+:\d+`},
	"show":   {"rlock show invoices", `holder +\S+:\d+`},
	"watch":  {"rlock watch --for 1s invoices", `held +invoices  by \S+:\d+, since before`},
	"doctor": {"rlock doctor", `(?s)ok    version.*ok    memory.*ok    clients.*ok    messages`},
}

var tools = regexp.MustCompile("`rlock ([a-z]+)")

// named are words in capitals on that page that are not to be typed: changing commands, and the first words of errors.
var named = strings.Fields("DEL FLUSHALL CLIENT OOM NOPERM NOREPLICAS WRONGTYPE LOADING MASTERDOWN BUSY READONLY CLUSTERDOWN L T")

var inCapitals = regexp.MustCompile("`([A-Z]+(?: [A-Z]+)*(?: [a-z]+)?)`")

func TestEachSymptomCanBeChecked(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(symptoms)
	testbed.Must(t, err)
	typed := map[string]bool{}
	for _, m := range inCapitals.FindAllStringSubmatch(string(page), -1) {
		first, _, _ := strings.Cut(m[1], " ")
		if _, is := checks[m[1]]; is {
			typed[m[1]] = true
		} else if !slices.Contains(named, first) {
			t.Errorf("nothing here types %s", m[1])
		}
	}
	for _, command := range slices.Sorted(maps.Keys(checks)) {
		if !typed[command] {
			t.Errorf("the page does not say %s any more", command)
		}
	}
	said := map[string]bool{}
	for _, m := range tools.FindAllStringSubmatch(string(page), -1) {
		said[m[1]] = true
	}
	if !slices.Equal(slices.Sorted(maps.Keys(said)), slices.Sorted(maps.Keys(ofTheTool))) {
		t.Errorf("the page says %v", said)
	}
	for topology, servers := range map[string]func(*rig) (url, master string){
		"one server": func(r *rig) (string, string) { return r.server.URL(), r.server.Addr() },
		"Sentinels": func(r *rig) (string, string) {
			set := redistest.StartSentinels(r.T, redistest.SentinelPasswords{})
			return set.URL(), set.Master().Addr()
		},
		"a cluster": func(r *rig) (string, string) { url, master, _ := r.cluster(); return url, master },
	} {
		t.Run(topology, func(t *testing.T) {
			t.Parallel()
			r := start(t)
			url, master := servers(r)
			r.Hold(r.openURL(url).NewLock("invoices"))
			testbed.Enter(t.Context(), r.openURL(url).NewLock("invoices"))
			for command, check := range checks {
				if shown := strings.Join(r.cliAt(master, check.typed), "\n"); !regexp.MustCompile(check.shows).MatchString(shown) {
					t.Errorf("%s shows\n%s", command, shown)
				}
			}
			for _, check := range ofTheTool {
				if shown := strings.Join(r.toolAt(url, check.typed), "\n"); !regexp.MustCompile(check.shows).MatchString(shown) {
					t.Errorf("%s shows\n%s", check.typed, shown)
				}
			}
		})
	}
}
