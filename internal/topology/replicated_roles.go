package topology

import (
	"errors"
	"fmt"
	"slices"

	"github.com/rlock-go/redisson/internal/redisconn"
)

// roles is what the listed nodes have said so far. It does no I/O and is guarded by its
// owner.
type roles struct {
	master string   // the one that was believed last; empty: none was
	known  []string // replicas that follow the master
	first  []string // those that the master is taken to have at first
}

// rivals returns the nodes that may be masters: those that say so, and those that a
// replica with a working connection calls its master. A replica's word counts only for a
// listed node that has not answered itself: any other name may be one that only the servers
// use, and a node knows its own role better than its replica does.
func (r *roles) rivals(said []word) (masters, silent []word) {
	for _, w := range said {
		i := slices.IndexFunc(masters, w.same)
		switch {
		case w.role != roleMaster:
		case i < 0:
			masters = append(masters, w)
		case w.is(r.master):
			masters[i] = w // the URL has two names of it
		}
	}
	for _, w := range said {
		m, ok := masterOf(w, said)
		if ok && w.up && m.role == "" && !m.dead() && !slices.ContainsFunc(silent, m.same) {
			silent = append(silent, m)
		}
	}
	return masters, silent
}

// masterOf returns the node that w calls its master, if the URL lists it.
func masterOf(w word, said []word) (m word, ok bool) {
	for _, m := range said {
		if w.role == roleReplica && m.is(w.master) {
			return m, true
		}
	}
	return word{}, false
}

// believes picks the master. If there are several, it is the one that was believed before,
// while that says that it is a master. Which of them has the newest data can't be known:
// a copy that was detached has the history of the others too. rival is another one, if
// there is. An error says why no master is picked.
func (r *roles) believes(said []word) (best word, rival string, err error) {
	masters, silent := r.rivals(said)
	i := slices.IndexFunc(masters, func(w word) bool { return w.is(r.master) })
	switch {
	case i >= 0:
		best = masters[i]
		if all := slices.Delete(append(slices.Clone(masters), silent...), i, i+1); len(all) > 0 {
			rival = all[0].of
		}
	case len(masters) == 0:
		return word{}, "", r.none(said)
	case len(masters) == 1 && len(silent) == 0:
		best = masters[0]
	default:
		return word{}, "", twoMasters(append(masters, silent...))
	}
	r.believe(best, said)
	return best, rival, nil
}

// believe takes over what was said of the master and its replicas.
func (r *roles) believe(best word, said []word) {
	r.master, r.known, r.first = best.of, nil, nil
	var unknown []string
	for _, w := range said {
		switch {
		case w.follows(best):
			r.known = append(r.known, w.address())
		case w.err != nil && !w.dead():
			unknown = append(unknown, w.address())
		}
	}
	r.first = r.known
	if 2*(len(said)-len(unknown)) <= len(said) { // this client may be cut off with a former master
		r.first = append(slices.Clone(r.known), unknown...)
	}
}

// twoMasters is the error if it is not known which of several nodes is the master.
func twoMasters(all []word) error {
	return fmt.Errorf("%s and %s are both masters, as they or their replicas say: make one a replica of the other", all[0].of, all[1].of)
}

// none is the error if no node says that it is a master. It is permanent if all nodes have
// permanent errors.
func (r *roles) none(said []word) error {
	all := &silenceError{what: "no node of the URL is a master"}
	for _, w := range said {
		err := w.err
		_, ok := masterOf(w, said)
		switch {
		case err == nil && w.master != "" && !ok:
			err = fmt.Errorf("%v, which the URL does not list", w)
		case err == nil:
			err = errors.New(w.String())
		default:
			err = fmt.Errorf("%s: %w", w.of, err)
		}
		all.errs = append(all.errs, err)
		all.passes = all.passes || !redisconn.Permanent(err)
	}
	return all
}

// stays returns nil if the master still is the only one. Most of the nodes must say so: a
// dead one does too, since it can't have been promoted. late says that its replicas are
// gone for so long that one that was to be promoted would be the master by now; then the
// nodes that don't answer are left out.
func (r *roles) stays(said []word, late bool) error {
	i := slices.IndexFunc(said, func(w word) bool { return w.is(r.master) })
	if i < 0 || said[i].role != roleMaster {
		return errNotMaster
	}
	masters, silent := r.rivals(said)
	if all := append(masters, silent...); len(all) > 1 {
		return twoMasters(all)
	}
	n := 0
	for _, w := range said {
		if w.of == said[i].of || w.follows(said[i]) || w.dead() {
			n++
		}
	}
	if late || 2*n > len(said) {
		return nil
	}
	return fmt.Errorf("%d of %d nodes of the URL say that it stays", n, len(said))
}

// errNotMaster is why a master may have been replaced.
var errNotMaster = errors.New("it does not say any more that it is the master")
