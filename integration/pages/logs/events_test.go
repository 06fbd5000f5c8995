package logs_test

import (
	"log/slog"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/rlock-go/redisson/integration/kit/redisserver"
	"github.com/rlock-go/redisson/integration/kit/testbed"
)

func TestThePageTellsEveryEvent(t *testing.T) {
	server := redisserver.Local(t, "--requirepass", secret)
	testbed.New(t, server).LoadScripts()
	var mu sync.Mutex // guards the maps
	seen, attrs, connections := map[string]bool{}, map[string]map[string]bool{}, map[string]bool{}
	limited := heldBack(t)
	t.Run("scenarios", func(t *testing.T) {
		for name, scenario := range map[string]func(*testing.T, redisserver.Server) []*rig{
			"life": life, "renewals": renewals, "long holds": long, "outage": outage, "a lost acquire": lostAcquire, "an undo refused": undoRefused,
			"a candidate": candidate, "a foreign owner": foreignOwner, "a late grant": lateGrant, "a late change": lateChange, "unlocks": unlocks, "no fence": unfenced,
			"no replica": unreplicated, "a pool": borrowed, "no master": moved,
			"Sentinels": sentinels, "a forgetful master": forgetful, "two masters": detached,
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				for _, r := range scenario(t, server) {
					r.client.Close()
					hidden(t, r.seen.written())
					mu.Lock()
					note(t, r.seen.lines(), limited, seen, attrs)
					for _, l := range r.seen.lines() {
						if name, _, _ := strings.Cut(l.attrs["connection"].String(), " "); l.attrs["connection"].Kind() == slog.KindString {
							connections[name] = true
						}
					}
					mu.Unlock()
				}
			})
		}
	})
	if t.Failed() {
		return
	}
	told := events(t)
	for _, e := range slices.Sorted(maps.Keys(seen)) {
		if !slices.Contains(told, e) {
			t.Errorf("not on the page: %s", e)
		}
	}
	for _, e := range told {
		if !seen[e] {
			t.Errorf("on the page, but it never happened: %s", e)
		}
	}
	if len(slices.Compact(slices.Clone(told))) != len(told) {
		t.Errorf("a row is there twice: %q", told)
	}
	if named := within(entry(t, "connection"), `"`); !slices.Equal(slices.Sorted(maps.Keys(connections)), slices.Sorted(slices.Values(named))) {
		t.Errorf("connections are called %q, on the page %q", slices.Sorted(maps.Keys(connections)), named)
	}
	described := kinds(t)
	for _, name := range slices.Sorted(maps.Keys(attrs)) {
		if of := slices.Sorted(maps.Keys(attrs[name])); !slices.Equal(of, []string{described[name]}) {
			t.Errorf("attribute %s is a %q, on the page a %q", name, of, described[name])
		}
	}
	for name := range described {
		if attrs[name] == nil {
			t.Errorf("no event has the attribute %s", name)
		}
	}
}

// note adds lines to the seen events and to the kinds of attributes.
func note(t *testing.T, lines []line, limited map[string]string, seen map[string]bool, attrs map[string]map[string]bool) {
	t.Helper()
	for _, l := range lines {
		seen[l.event(limited)] = true
		if _, err := uuid.Parse(l.text("client")); err != nil {
			t.Errorf("%s: client %q", l.message, l.text("client"))
		}
		for name, value := range l.attrs {
			if attrs[name] == nil {
				attrs[name] = map[string]bool{}
			}
			attrs[name][kind(value)] = true
		}
	}
}

// hidden looks for the password in each form that a log could have.
func hidden(t *testing.T, text string) {
	t.Helper()
	if len(text) == 0 {
		t.Error("nothing was logged")
	}
	quoted := strings.Trim(strconv.Quote(secret), `"`)
	for _, form := range []string{secret, quoted, strings.Trim(strconv.Quote(quoted), `"`), url.QueryEscape(secret), url.PathEscape(secret), url.UserPassword("", secret).String()[1:], "s3cr3t"} {
		if strings.Contains(text, form) {
			t.Errorf("the log shows %q", form)
		}
	}
}
