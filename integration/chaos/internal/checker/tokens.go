package checker

import (
	"cmp"
	"slices"

	"github.com/rlock-go/redisson/integration/chaos/internal/history"
)

// numbering judges fencing tokens: each is at least 1, and higher than those of all grants before it. One grant was before
// another if its call returned before the other's began, or if both were inside and its call returned first. Tokens from
// before and after a fault that deleted the server's data are not compared.
type numbering struct {
	*Checker
	locks map[int]*numbers
}

type numbers struct {
	grants []grant // still to be judged
	tops   []grant // judged, each with a higher token than all that returned before it
	inside grant   // the one with the highest token of those that were inside
	since  int64   // when the data were last deleted
}

func (n *numbering) add(a *history.Acquisition, w Window) {
	switch {
	case !n.model.Tokens:
		return
	case a.Process.Side == history.Java && (a.Token == nil || w.Void != ""):
		return // it may have read the token only when another had the lock
	case a.Token == nil:
		n.Violation("token: %s has none", a.Who())
		return
	}
	l := n.locks[a.Lock]
	if l == nil {
		l = &numbers{}
		n.locks[a.Lock] = l
	}
	l.grants = append(l.grants, grant{a, w})
}

// judge checks the grants before horizon, which are all known. All later ones were called after since.
func (n *numbering) judge(horizon, since int64) {
	for lock, l := range n.locks {
		slices.SortFunc(l.grants, func(a, b grant) int { return cmp.Compare(a.Returned, b.Returned) })
		due := len(l.grants)
		if i := slices.IndexFunc(l.grants, func(g grant) bool { return g.Returned >= horizon }); i >= 0 {
			due = i
		}
		for _, g := range l.grants[:due] {
			n.look(lock, l, g)
		}
		l.grants = slices.Clone(l.grants[due:])
		if i, _ := slices.BinarySearchFunc(l.tops, since, returned); i > 1 {
			l.tops = slices.Clone(l.tops[i-1:])
		}
	}
}

func (n *numbering) look(lock int, l *numbers, g grant) {
	if *g.Token < 1 {
		n.Violation("token: %s has %d", g.Who(), *g.Token)
		return
	}
	for _, v := range n.voiding.voids {
		if v.Lock != history.Every || v.From >= g.Returned {
			continue
		}
		if v.To > g.Called {
			return // its token may be from before or after the deletion
		}
		if v.To > l.since {
			*l = numbers{grants: l.grants, since: v.To}
		}
	}
	n.verdict.Judged["tokens"]++
	var before grant
	if i, _ := slices.BinarySearchFunc(l.tops, g.Called, returned); i > 0 {
		before = l.tops[i-1]
	}
	// This holder is inside, so it was granted the lock after all that were inside before.
	if g.window.From < g.window.To && g.window.Void == "" {
		before = higher(before, l.inside)
		l.inside = higher(l.inside, g)
	}
	if before.Acquisition != nil && *g.Token <= *before.Token {
		n.Violation("token: lock %d numbered %d what it granted after number %d:\n    %v, called at %d, returned at %d\n    %v, called at %d, returned at %d", lock,
			*g.Token, *before.Token, before.window, before.Called, before.Returned, g.window, g.Called, g.Returned)
	}
	if len(l.tops) == 0 || *g.Token > *l.tops[len(l.tops)-1].Token {
		l.tops = append(l.tops, g)
	}
}

// returned compares for a binary search by the time of return.
func returned(g grant, at int64) int { return cmp.Compare(g.Returned, at) }

// higher returns the grant with the higher token. Either may be the zero grant.
func higher(a, b grant) grant {
	if a.Acquisition == nil || b.Acquisition != nil && *b.Token > *a.Token {
		return b
	}
	return a
}
