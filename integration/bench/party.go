package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/rlock-go/redisson/integration/kit/javapeer"
	"github.com/rlock-go/redisson/integration/kit/machineclock"
)

// party is a process that takes part in hand-offs. Times are of CLOCK_MONOTONIC, which all processes share.
type party interface {
	lock(name string) (granted int64, err error) // waits
	unlock(name string) (began int64, err error) // began is just before the call
	close()
}

// goParty is a child of this program.
type goParty struct{ c *child }

func startParty(peer, addr, argument string) (party, error) {
	c, err := startChild("party", peer, addr, argument)
	return goParty{c}, err
}

func (p goParty) lock(name string) (int64, error) { return p.c.askTime("lock " + name) }

func (p goParty) unlock(name string) (int64, error) { return p.c.askTime("unlock " + name) }

func (p goParty) close() { p.c.close() }

// javaParty is a JVM.
type javaParty struct {
	p *javapeer.Peer
	t *javapeer.Thread
}

func (p javaParty) lock(name string) (int64, error) {
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	r, err := p.t.Lock(ctx, name, javapeer.Watchdog)
	return r.At, err
}

func (p javaParty) unlock(name string) (int64, error) {
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	r, err := p.t.Handover(ctx, name)
	if err != nil {
		return 0, err
	}
	return r.Int(), nil
}

func (p javaParty) close() { p.p.Quit() }

// answerPause is longer than a hand-off takes. The JVM's party has the same pause.
const answerPause = 5 * time.Millisecond

// partyMain runs in the child: it reads commands and prints times.
func partyMain(c client) error {
	handles := map[string]handle{}
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		verb, name, _ := strings.Cut(in.Text(), " ")
		h, there := handles[name]
		if !there {
			h = c.handle(name)
			handles[name] = h
		}
		began := machineclock.Now()
		var err error
		at := began
		switch verb {
		case "lock":
			err = h.lock(context.Background())
			at = machineclock.Now()
		case "unlock":
			err = h.unlock(context.Background())
			// The answer would wake up the parent, on cores that the next holder needs now.
			time.Sleep(answerPause)
		default:
			err = fmt.Errorf("no such verb: %q", verb)
		}
		if err != nil {
			return err
		}
		fmt.Println(at)
	}
	return in.Err()
}
