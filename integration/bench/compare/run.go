package main

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"time"
)

// task is one round of a cell.
type task struct {
	f *fault
	p *party
}

// run runs tasks and records them in a report.
type run struct {
	*Report
	mu sync.Mutex // guards the cells
}

// How many rounds run at once. Faults with the same number and lease run together, in this order.
const (
	many  = 16 // they wait most of the time
	alone = 1  // they need the whole machine
	few   = 8  // they start several servers

	javaBeside = 6 // of many: JVMs start slowly, so each pair of them runs many rounds in sequence
)

// all runs every wanted cell. The rounds of a fault are interleaved: one of each party, then the next of each.
func (r *run) all(wanted func(f *fault, p *party) bool) {
	began := time.Now()
	fmt.Fprintln(os.Stderr, "built; the first round begins at", began.Format("15:04:05"))
	say := func(what string) { fmt.Fprintf(os.Stderr, "%5.0f s  %s\n", time.Since(began).Seconds(), what) }
	for _, together := range []fault{{lease: short, beside: many}, {lease: short, beside: alone}, {lease: short, beside: few}, {lease: long, beside: many}} {
		var java, other []task
		for _, f := range faults() {
			if f.beside != together.beside || f.lease != together.lease {
				continue
			}
			for range r.Rounds {
				for _, p := range parties() {
					switch {
					case !wanted(&f, p):
					case f.untried != nil && f.untried(p) != "":
						r.cell(f.name, p.name).Untried = f.untried(p)
					case f.beside == many && p.name == javaP:
						java = append(java, task{&f, p})
					default:
						other = append(other, task{&f, p})
					}
				}
			}
		}
		if len(java)+len(other) == 0 {
			continue
		}
		lease = together.lease
		var jvms, up sync.WaitGroup
		queue := queued(java, func(string) {})
		for range min(javaBeside, len(java)) {
			up.Add(1)
			jvms.Go(func() { r.javaWorker(queue, sync.OnceFunc(up.Done)) })
		}
		up.Wait() // while they start, they use the whole machine
		var all sync.WaitGroup
		rest := queued(other, say)
		for range min(together.beside, len(other)) {
			all.Go(func() {
				for t := range rest {
					r.lone(t)
				}
			})
		}
		all.Wait()
		jvms.Wait()
		say("done")
	}
	r.Took = time.Since(began).Round(time.Second).String()
}

// queued sends tasks in order, and calls say when the first task of a fault is taken.
func queued(tasks []task, say func(string)) <-chan task {
	queue := make(chan task)
	go func() {
		for i, t := range tasks {
			queue <- t
			if i == 0 || t.f != tasks[i-1].f {
				say(t.f.name)
			}
		}
		close(queue)
	}()
	return queue
}

// lone runs a round on its own stage.
func (r *run) lone(t task) {
	var s *stage
	defer func() { s.end() }()
	r.guarded(t, func() *stage {
		s = newStage(t.p)
		return s
	})
}

// javaWorker runs rounds on one stage with two JVMs, and takes a new stage after a round that failed to run. It calls
// up after its first round.
func (r *run) javaWorker(queue <-chan task, up func()) {
	var s *stage
	defer func() { s.end() }()
	defer up()
	for t := range queue {
		ok := r.guarded(t, func() *stage {
			if s == nil {
				s = newStage(t.p)
			}
			return s
		})
		if !ok {
			s.end()
			s = nil
		}
		up()
	}
}

// guarded runs a round and records its result, or the reason why it could not run.
func (r *run) guarded(t task, set func() *stage) (ok bool) {
	var s *stage
	defer func() {
		p := recover()
		r.mu.Lock()
		defer r.mu.Unlock()
		c := r.cell(t.f.name, t.p.name)
		if p != nil {
			if e, mine := p.(rigError); mine {
				p = e.error
			}
			text := strings.Join(strings.Fields(fmt.Sprint(p)), " ")
			c.Trouble = append(c.Trouble, text)
			fmt.Fprintf(os.Stderr, "!! %s/%s: %s\n", t.f.name, t.p.name, text)
			return
		}
		c.take(s.result, s.together())
		ok = true
	}()
	s = set()
	s.begin(t.f.name)
	t.f.does(s)
	return false // the deferred function sets ok
}
