package topology

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/pipeline"
)

// replicatedScheme is the scheme of a URL that lists a master and its replicas.
const replicatedScheme = "redis+replicated"

const (
	// rolesEvery is how often the listed nodes are asked for their roles, as in Redisson's
	// replicated mode.
	rolesEvery = time.Second

	// usedFor is how long the nodes are still asked after the last command: longer than
	// the usual time between two renewals, so that they are asked while a lock is held.
	usedFor = 15 * time.Second
)

// errReplaced is why a connection to a former master ends.
var errReplaced = errors.New("another node of the URL is the master")

// Replicated is one master that serves every slot, and replicas that may take its place
// without Sentinels, see oneMaster. All nodes are listed. Nobody announces a change of
// their roles, so they are asked for them at each connection, and each second while the
// client is in use.
type Replicated struct {
	oneMaster
	listed []*listed // by the URL

	begun sync.Once // look was started

	mu    sync.Mutex // guards what follows, and the end of life; never held during I/O
	roles roles
	rival string // the other node that said it is the master, at the last look; empty: none
	lost  bool   // the last look found no master
}

func newReplicated(p Parts, s Settings) *Replicated {
	t := &Replicated{oneMaster: oneMaster{s: s, to: p.Target}}
	for _, addr := range p.Servers {
		t.listed = append(t.listed, &listed{target: p.Target.At(addr), turn: make(chan struct{}, 1)})
	}
	t.begin(s, NodeOptions{Name: p.shown(), Dial: t.dial, Node: pipeline.Node{Stays: t.stays}, Known: t.replicas, Moved: t.changed})
	return t
}

// parseReplicatedURL reads redis+replicated://[user:password@]host[:port],…[/db].
func parseReplicatedURL(raw string) (p Parts, err error) {
	p, db, err := parseSeveral(raw, "6379")
	p.Replicated = true
	if err == nil && db != "" {
		n, err := strconv.ParseUint(db, 10, 31)
		if err != nil {
			return p, errors.New("url: the database after the hosts is not a number")
		}
		p.Target.Database = int(n)
	}
	return p, err
}

// dial asks the nodes for the master and connects to it. ctx must have a deadline.
func (t *Replicated) dial(ctx context.Context) (redis.Conn, error) {
	t.begun.Do(func() { t.background(t.look) })
	addr, err := t.locate(ctx, true)
	if err != nil {
		return nil, err
	}
	return t.reach(ctx, addr, func() error {
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.roles.master != addr {
			return errReplaced
		}
		return nil
	})
}

// background runs f on a goroutine that Close waits for. After Close it does nothing, and
// returns false.
func (t *Replicated) background(f func()) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.life.Err() != nil {
		return false
	}
	t.tasks.Go(f)
	return true
}

// locate asks the nodes for the master, and leaves the former one if another is the
// master. It takes half of the time that ctx leaves at the most.
func (t *Replicated) locate(ctx context.Context, hurry bool) (addr string, err error) {
	deadline, _ := ctx.Deadline()
	ctx, cancel := context.WithTimeout(ctx, time.Until(deadline)/2)
	defer cancel()
	said := t.askAll(ctx, hurry)
	t.mu.Lock()
	former := t.roles.master
	best, rival, err := t.roles.believes(said)
	found := err == nil && t.lost
	t.lost = err != nil
	news := rival != "" && rival != t.rival
	t.rival = rival
	online := len(t.roles.known)
	t.mu.Unlock()
	if news {
		t.s.Log.TwoMasters(best.of, rival)
	}
	switch {
	case err != nil:
		return "", err
	case former != "" && former != best.of:
		t.move([]string{former}, best.of, "", errReplaced)
	case found:
		t.node.Retry()
	}
	t.node.List(online)
	return best.of, nil
}

// look asks the nodes each second while the client is in use.
func (t *Replicated) look() {
	used := time.Now()
	for clock.Sleep(t.life, rolesEvery) {
		if t.node.Used() {
			used = time.Now()
		}
		if time.Since(used) > usedFor {
			continue
		}
		ctx, cancel := context.WithTimeout(t.life, t.s.Timeout)
		// A connection that can't be made for this error reports it.
		_, _ = t.locate(ctx, false)
		cancel()
	}
}

// stays asks the nodes whether the master still is the master. See pipeline.Node.
func (t *Replicated) stays(ctx context.Context, gone []string) error {
	ctx, cancel := context.WithTimeout(ctx, lossTimeout)
	defer cancel()
	said := t.askAll(ctx, false)
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.roles.stays(said, len(gone) == 0)
}

// replicas returns those that the master is taken to have at first.
func (t *Replicated) replicas() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.roles.first)
}

// askAll asks all nodes at the same time, and returns what each says, in the URL's order.
// It returns when all have answered, or shortly after ctx has ended; in a hurry, shortly after
// the one that was the master has said that it still is.
func (t *Replicated) askAll(ctx context.Context, hurry bool) []word {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	t.mu.Lock()
	master := t.roles.master
	t.mu.Unlock()
	said := make([]word, len(t.listed))
	type answer struct {
		i int
		w word
	}
	answers := make(chan answer, len(t.listed))
	for i, n := range t.listed {
		said[i] = word{of: n.target.Address, err: errNoWord}
		if !t.background(func() { answers <- answer{i, n.ask(ctx, t.s.Timeout)} }) {
			return said
		}
	}
	var enough <-chan time.Time
	over := ctx.Done()
	for open := len(t.listed); open > 0; {
		select {
		case a := <-answers:
			said[a.i] = a.w
			if open--; hurry && enough == nil && a.w.is(master) && a.w.role == roleMaster {
				enough = time.After(stragglers)
			}
		case <-over: // the asks end now, and say why
			over, enough = nil, time.After(stragglers)
		case <-enough:
			return said
		}
	}
	return said
}

// Close ends the node, then the connections that ask for roles, since a node that ends may
// have to connect.
func (t *Replicated) Close(patience time.Duration) {
	CloseAll(t.nodes, patience)
	t.mu.Lock()
	t.end()
	t.mu.Unlock()
	t.tasks.Wait()
	for _, n := range t.listed {
		n.close()
	}
	t.Feed.Close()
}
