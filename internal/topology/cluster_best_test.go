package topology

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/gomodule/redigo/redis"
)

// Each answer is a server, the ids that it knows, and "alone" if it hears no majority.
func TestMapOfAnotherClusterCountsIfMostHostsOfTheURLSaySo(t *testing.T) {
	t.Parallel()
	const own, other = "abc", "xyz"
	for name, row := range map[string]struct {
		known string
		told  [][]string
		want  string // the server whose map is believed
	}{
		"nothing is known yet":                          {"", [][]string{{"1", other}}, "1"},
		"its own":                                       {own, [][]string{{"1", own}}, "1"},
		"another one":                                   {own, [][]string{{"n", other}}, ""},
		"most are still there":                          {own, [][]string{{"n", "bcd"}}, "n"},
		"most have gone":                                {own, [][]string{{"n", "cde"}}, ""},
		"half have gone":                                {"abcd", [][]string{{"n", "cdef"}}, ""},
		"its own, though alone":                         {own, [][]string{{"1", other}, {"2", other}, {"n", own, "alone"}}, "n"},
		"its own, not alone":                            {own, [][]string{{"m", own, "alone"}, {"n", own}}, "n"},
		"one host of the URL":                           {own, [][]string{{"1", other}, {"n", other}}, ""},
		"most hosts of the URL":                         {own, [][]string{{"n", other}, {"1", other}, {"3", other}}, "n"},
		"most hosts of the URL, and each another":       {own, [][]string{{"1", "uvw"}, {"3", other}}, ""},
		"most hosts of the URL, of which one is not up": {own, [][]string{{"1", other}, {"2", "xyw"}}, "1"},
	} {
		t.Run(name, func(t *testing.T) {
			set := func(names string) ids {
				all := ids{}
				for _, id := range names {
					all[string(id)] = true
				}
				return all
			}
			c := &Cluster{seeds: []string{"1", "2", "3"}, ids: set(row.known)}
			var told []answer
			for _, words := range row.told {
				told = append(told, answer{from: words[0], m: slotMap{{}}, ids: set(words[1]), alone: len(words) > 2})
			}
			if got := c.best(told).from; got != row.want {
				t.Errorf("%q is believed, want %q of %v", got, row.want, row.told)
			}
			c.unchecked = true
			if c.best(told).from == "" {
				t.Error("unchecked, none is believed")
			}
		})
	}
}

// A replica that is down is in CLUSTER NODES only, and so is a server that has no slots yet.
func TestIDsAreThoseOfAllServersThatAreListed(t *testing.T) {
	t.Parallel()
	a := answer{m: slotMap{{ids: []string{"a", "b"}}, {ids: []string{"c", ""}}}}
	a.addIDs("a h:1@2 myself,master - 0 0 1 connected 0-5\nb h:2@3 slave,fail a 0 0 1 connected\nd h:3@4 master - 0 0 0 connected\ne h:4@5 handshake - 0 0 0 connected\n")
	if got := fmt.Sprint(slices.Sorted(maps.Keys(a.ids))); got != "[a b c d]" {
		t.Error(got)
	}
}

// A server is used if its id is in the cluster's map. One whose id can't be had, or was another from the first connection on, as a
// proxy's, ends the checks.
func TestServerIsUsedByItsID(t *testing.T) {
	t.Parallel()
	lost := errors.New("connection reset by peer")
	for name, row := range map[string]struct {
		before string // the id of an earlier connection's server
		id     string
		err    error
		want   error
		checks bool // of later connections
	}{
		"its own":                               {"", "a", nil, nil, true},
		"another cluster's":                     {"a", "x", nil, errOtherCluster, true},
		"a proxy's":                             {"", "x", nil, nil, false},
		"not to be had":                         {"a", "", redis.Error("NOPERM this user has no permissions to run the 'cluster|myid' command"), nil, false},
		"unknown to an old server":              {"", "", redis.Error("ERR Unknown subcommand or wrong number of arguments for 'myid'"), nil, false},
		"not told, as the server loads":         {"", "", redis.Error("LOADING Redis is loading the dataset in memory"), redis.Error("LOADING Redis is loading the dataset in memory"), true},
		"not told, as the connection has ended": {"", "", lost, lost, true},
	} {
		t.Run(name, func(t *testing.T) {
			c := &Cluster{}
			c.mu.Lock()
			c.remember(answer{ids: ids{"a": true, "b": true}})
			c.mu.Unlock()
			if row.before != "" {
				if err := c.admit("h:1", row.before, nil); err != nil {
					t.Fatal(err)
				}
			}
			if err := c.admit("h:2", row.id, row.err); err != row.want || c.unchecked == row.checks {
				t.Errorf("%v, later checks %v", err, !c.unchecked)
			}
			c.running.Wait()
		})
	}
	c := &Cluster{}
	c.mu.Lock()
	c.remember(answer{})
	c.mu.Unlock()
	if c.running.Wait(); !c.unchecked {
		t.Error("a cluster that names no ids is checked")
	}
}
