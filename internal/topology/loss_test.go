package topology

import (
	"cmp"
	"fmt"
	"strings"
	"testing"

	"github.com/rlock-go/redisson/internal/redisconn"
)

func TestMostSentinelsSayThatTheMasterStays(t *testing.T) {
	c := choice{master: master{names: []string{"a"}}, epoch: 3}
	clean := testimony{master: "a", epoch: 3, clean: true}
	marked := testimony{master: "a", epoch: 3}
	going := testimony{master: "a", epoch: 3, clean: true, going: true}
	led := testimony{master: "a", epoch: 3, going: true} // its flags tell of the failover
	next := testimony{master: "b", epoch: 4, clean: true}
	former := testimony{master: "z", epoch: 2, clean: true}
	down := testimony{err: errDown}
	twice := testimony{master: "a", epoch: 3, clean: true, id: "x"} // by a name and by an address
	for name, row := range map[string]struct {
		said  []testimony
		of    int
		want  bool
		stuck bool
	}{
		"all":                       {[]testimony{clean, clean, clean}, 3, true, false},
		"most":                      {[]testimony{clean, clean, down}, 3, true, false},
		"one calls it down":         {[]testimony{clean, clean, marked}, 3, true, false},
		"most call it down":         {[]testimony{clean, marked, marked}, 3, false, false},
		"most are silent":           {[]testimony{clean, down, down}, 3, false, false},
		"one of three was heard":    {[]testimony{clean}, 3, false, false},
		"half":                      {[]testimony{clean, clean, down, down}, 4, false, false},
		"one replaces it":           {[]testimony{clean, clean, going}, 3, false, false},
		"one can't replace it":      {[]testimony{clean, clean, led}, 3, true, true},
		"most can't replace it":     {[]testimony{clean, led, led}, 3, false, true},
		"one has the next, a dead":  {[]testimony{clean, clean, next}, 3, false, true},
		"one has the next":          {[]testimony{clean, clean, next}, 3, false, false},
		"one has not heard of it":   {[]testimony{clean, clean, former}, 3, true, false},
		"most have not heard of it": {[]testimony{clean, former, former}, 3, false, false},
		"the only one":              {[]testimony{clean}, 1, true, false},
		"one answers twice":         {[]testimony{twice, twice, down}, 3, false, false},
		"nobody":                    {nil, 0, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			from(row.said)
			if got := c.stays(row.said, row.of, row.stuck); (got == nil) != row.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

func TestMasterThatDoesNotAnswerASentinelIsNotClean(t *testing.T) {
	for about, want := range map[[2]string]bool{
		{"master", "1100"}: true, {"master", "3001"}: false, {"master", ""}: true, {"master,s_down", "0"}: false, {"", ""}: false,
	} {
		if got := clean(map[string]string{"flags": about[0], "last-ok-ping-reply": about[1]}); got != want {
			t.Errorf("%q: %t", about, got)
		}
	}
}

// from gives each testimony an address, unless it has one.
func from(said []testimony) {
	for i := range said {
		said[i].from = cmp.Or(said[i].from, fmt.Sprint(i))
	}
}

func TestSentinelsAreCountedByThoseThatAnswer(t *testing.T) {
	t.Parallel()
	at := func(name string) sentinelAddr { return sentinelAddr{name + ":26379", name} }
	says := func(name string, others ...string) testimony {
		one := testimony{from: at(name).addr, id: name}
		for _, o := range others {
			one.others = append(one.others, at(o))
		}
		return one
	}
	down := testimony{err: errDown}
	elsewhere := says("a", "b", "c")
	elsewhere.from = "10.0.0.1:26379"
	unnamed := says("a", "b", "c")
	unnamed.id = ""
	lonely := testimony{from: at("a").addr, lonely: true}
	for name, row := range map[string]struct {
		said []testimony
		want int
	}{
		"all know each other":           {[]testimony{says("a", "b", "c"), says("b", "a", "c"), says("c", "a", "b")}, 3},
		"one answers, and knows two":    {[]testimony{says("a", "b", "c"), down, down}, 3},
		"those of the URL are replaced": {[]testimony{down, down, down, says("d", "e", "f"), says("e", "d", "f")}, 3},
		"one is known by two addresses": {[]testimony{elsewhere, says("b", "a", "c")}, 3},
		"one does not say its id":       {[]testimony{unnamed, says("b", "a", "c")}, 3},
		"one knows more":                {[]testimony{says("a", "b"), says("b", "a", "c", "d")}, 4},
		"one may not say whom it knows": {[]testimony{lonely, says("b", "a")}, 5},
		"nobody answers":                {[]testimony{down}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			if got := existing(row.said, 5); got != row.want {
				t.Errorf("%d, want %d", got, row.want)
			}
		})
	}
}

func TestMostMastersOfAClusterSayThatOneStays(t *testing.T) {
	// line is what a server says about the master in question.
	line := func(flags, slots string) string {
		return strings.TrimSpace(fmt.Sprintf("aaaa 127.0.0.1:7000@17000,host %s - 0 0 3 connected %s", flags, slots)) + "\n" +
			"bbbb 127.0.0.1:7001@17001 myself,master - 0 0 2 connected 5461-10922\n"
	}
	own := "aaaa 127.0.0.1:7000@17000 myself,master - 0 0 3 connected 0-5460\nbbbb 127.0.0.1:7001@17001 master,fail - 0 0 2 connected 5461-10922\n"
	clean := line("master", "0-5460")
	cut := strings.Replace(clean, "3 connected", "3 disconnected", 1)
	silent := strings.Replace(clean, "- 0 0", "- 1795868460093 0", 1) // since then a ping is unanswered
	for name, row := range map[string]struct {
		said []string
		own  string
		want bool
	}{
		"all":                        {[]string{own, clean, clean}, own, true},
		"most":                       {[]string{own, clean, ""}, own, true},
		"it is alone":                {[]string{own, "", ""}, own, false},
		"the only master":            {[]string{own}, own, true},
		"half":                       {[]string{own, ""}, own, false},
		"it does not answer":         {[]string{"", clean, clean}, "", false},
		"one misses it":              {[]string{own, clean, line("master,fail?", "0-5460")}, own, true},
		"most miss it":               {[]string{own, line("master,fail?", "0-5460"), line("master,fail?", "0-5460")}, own, false},
		"one has no link to it":      {[]string{own, clean, cut}, own, true},
		"most have no link to it":    {[]string{own, cut, cut}, own, false},
		"most have no answer of it":  {[]string{own, silent, silent}, own, false},
		"it may replace nobody":      {[]string{own, clean, line("master,nofailover", "0-5460")}, own, true},
		"it is called dead":          {[]string{own, clean, line("master,fail", "0-5460")}, own, false},
		"it is called a replica":     {[]string{own, clean, line("slave", "")}, own, false},
		"most know it without slots": {[]string{own, line("master", ""), line("master", "")}, own, false},
		"most don't know it":         {[]string{own, "bbbb 127.0.0.1:7001@17001 myself,master - 0 0 2 connected 5461-10922\n", ""}, own, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := clusterStays(row.said, row.own); (got == nil) != row.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

func TestAnswerFromALearnedAddressIsThatOfItsSentinel(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		given   bool
		learned string // the id of the Sentinel at a
		id      string // of the one that answers there
		listed  string // by the other Sentinel
		want    bool
	}{
		"it is the same":              {learned: "x", id: "x", listed: "x", want: true},
		"it is the same, and unheard": {learned: "x", id: "x", listed: "", want: true},
		"it is another one":           {learned: "x", id: "y", listed: "x", want: false},
		"it was set up anew":          {learned: "x", id: "y", listed: "y", want: true},
		"the URL has it":              {given: true, learned: "x", id: "y", listed: "x", want: true},
		"its id is not known yet":     {learned: "", id: "y", listed: "x", want: true},
		"it does not say its id":      {learned: "x", id: "", listed: "x", want: true},
	} {
		t.Run(name, func(t *testing.T) {
			p := &sentinelNode{target: &redisconn.Target{Address: "a"}, given: row.given, id: row.learned}
			s := &Sentinel{sentinels: []*sentinelNode{p}}
			said := s.ours([]testimony{{from: "a", id: row.id, master: "m"}, {from: "b", others: []sentinelAddr{{"a", row.listed}}}})
			if got := said[0].err == nil && said[0].master == "m"; got != row.want {
				t.Errorf("got %v", said[0])
			}
		})
	}
}

// Two of another set have got the addresses of two that were replaced, and know each other.
func TestSentinelsThatKnowEachOtherAreNoWitnesses(t *testing.T) {
	t.Parallel()
	at := func(name string) *sentinelNode {
		return &sentinelNode{target: &redisconn.Target{Address: name}, id: "former " + name}
	}
	s := &Sentinel{sentinels: []*sentinelNode{{target: &redisconn.Target{Address: "a"}, given: true}, at("b"), at("c"), at("d")}}
	said := s.ours([]testimony{
		{from: "b", id: "strange b", others: []sentinelAddr{{"c", "strange c"}}},
		{from: "c", id: "strange c", others: []sentinelAddr{{"b", "strange b"}}},
		{from: "d", id: "new d", others: []sentinelAddr{{"e", "new e"}}},
		{from: "a", others: []sentinelAddr{{"b", "former b"}, {"c", "former c"}, {"d", "new d"}}},
	})
	for i, want := range []bool{false, false, true, true} {
		if said[i].err == nil != want {
			t.Errorf("%s: %v", said[i].from, said[i].err)
		}
	}
}
