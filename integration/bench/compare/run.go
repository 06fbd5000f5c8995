package main

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/rlock-go/redisson/integration/internal/program"
)

// task is one round of a cell.
type task struct {
	f *fault
	p *party
}

// run plays tasks and notes them in a report.
type run struct {
	*Report
	mu sync.Mutex // guards the cells
}

const (
	beside     = 16 // rounds of Go parties that run at once: they wait most of the time
	javaBeside = 3  // JVMs are slow to start, so each pair of them plays many rounds, one after the other
)

// all plays every wanted cell. The rounds of one fault are interleaved: one of each party, and again.
func (r *run) all(wanted func(f *fault, p *party) bool) {
	began := time.Now()
	fmt.Fprintln(os.Stderr, "built; the first round begins at", began.Format("15:04:05"))
	faults := faults()
	var java []task
	var jvms sync.WaitGroup
	for i := range faults {
		if f := &faults[i]; f.last == 0 {
			for range r.Rounds {
				if p := findParty(javaP); wanted(f, p) && (f.untried == nil || f.untried(p) == "") {
					java = append(java, task{f, p})
				}
			}
		}
	}
	queue := make(chan task, len(java))
	for _, t := range java {
		queue <- t
	}
	close(queue)
	for range min(javaBeside, len(java)) {
		jvms.Go(func() { r.javaWorker(queue) })
	}
	for i := range faults {
		f := &faults[i]
		if f.last > 0 {
			continue
		}
		r.fault(f, wanted, beside, false)
		fmt.Fprintf(os.Stderr, "%5.0f s  %s\n", time.Since(began).Seconds(), f.name)
	}
	jvms.Wait()
	fmt.Fprintf(os.Stderr, "%5.0f s  the JVMs are done\n", time.Since(began).Seconds())
	for i := range faults {
		if f := &faults[i]; f.last > 0 {
			r.fault(f, wanted, f.last, true)
			fmt.Fprintf(os.Stderr, "%5.0f s  %s\n", time.Since(began).Seconds(), f.name)
		}
	}
	r.Took = time.Since(began).Round(time.Second).String()
}

// fault plays one for all parties that run in Go, and with JVMs for those too.
func (r *run) fault(f *fault, wanted func(*fault, *party) bool, beside int, withJVMs bool) {
	var tasks []task
	for range r.Rounds {
		for _, p := range parties() {
			if !wanted(f, p) || p.absent != "" {
				continue
			}
			if f.untried != nil && f.untried(p) != "" {
				r.mu.Lock()
				r.cell(f.name, p.name).Untried = f.untried(p)
				r.mu.Unlock()
				continue
			}
			if p.open != nil || p.name == javaP && withJVMs {
				tasks = append(tasks, task{f, p})
			}
		}
	}
	queue := make(chan task, len(tasks))
	for _, t := range tasks {
		queue <- t
	}
	close(queue)
	var all sync.WaitGroup
	for range beside {
		all.Go(func() {
			for t := range queue {
				var jvms *[2]*javaService
				if t.p.name == javaP {
					jvms = &[2]*javaService{}
				}
				r.lone(t, jvms)
			}
		})
	}
	all.Wait()
}

// lone plays a round on a stage of its own.
func (r *run) lone(t task, jvms *[2]*javaService) {
	rig := &program.Program{Title: "rlock-compare", Quiet: true}
	defer func() {
		if jvms != nil {
			for _, j := range jvms {
				if j != nil {
					j.close()
				}
			}
		}
		rig.Finish()
	}()
	r.guarded(t, func() *stage {
		s := newStage(rig, t.p)
		s.jvms = jvms
		return s
	})
}

// javaWorker plays rounds on one stage with two JVMs, until one can't be played.
func (r *run) javaWorker(queue <-chan task) {
	var p *program.Program
	var s *stage
	end := func() {
		if s != nil {
			for _, j := range s.jvms {
				if j != nil {
					j.close()
				}
			}
			p.Finish()
			s = nil
		}
	}
	defer end()
	for t := range queue {
		ok := r.guarded(t, func() *stage {
			if s == nil {
				p = &program.Program{Title: "rlock-compare", Quiet: true}
				s = newStage(p, t.p)
				s.jvms = &[2]*javaService{}
			}
			return s
		})
		if !ok {
			end()
		}
	}
}

// guarded plays a round and notes it, or why it could not be played.
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
	return false // the deferred function knows better
}
