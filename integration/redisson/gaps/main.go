// Command gaps strikes real servers with faults in which a client may take one server for another, and measures how long nobody
// enters a lock: Go callers, and beside them on the same servers those of a JVM with Redisson, each with names of their own.
//
// It fails if Go loses a hold that Redisson keeps, or enters a name again more than a second later, unless the fault's row says
// why that must be. Names that contain the text of -only are played; -beside is how many faults are played at once.
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"sync"

	"github.com/rlock-go/redisson/integration/kit/program"
	"github.com/rlock-go/redisson/integration/kit/tablefile"
)

func main() {
	only := flag.String("only", "", "play the faults whose text contains this")
	beside := flag.Int("beside", 3, "how many are played at once")
	write := flag.Bool("write", false, "put the table into "+tablefile.Path(name))
	flag.Parse()
	if flag.NArg() > 0 || *write && *only != "" {
		fmt.Fprintf(os.Stderr, "gaps: -write is for all faults; what is %q?\n", flag.Args())
		os.Exit(2)
	}
	var chosen []fault
	for _, f := range faults {
		if strings.Contains(f.String(), *only) {
			chosen = append(chosen, f)
		}
	}
	results := make([]*result, len(chosen))
	status := 0
	var all sync.WaitGroup
	var mu sync.Mutex // guards status
	free := make(chan struct{}, *beside)
	for i, f := range chosen {
		all.Go(func() {
			free <- struct{}{}
			defer func() { <-free }()
			r, failed := f.measured()
			results[i] = r
			mu.Lock()
			defer mu.Unlock()
			status |= failed
			fmt.Fprint(os.Stderr, r.line())
		})
	}
	all.Wait()
	page := table(results, *beside)
	fmt.Print(page)
	for _, r := range results {
		for _, text := range r.wrong() {
			fmt.Fprintln(os.Stderr, "gaps:", text)
			status = 1
		}
	}
	if *write && status == 0 {
		if err := tablefile.Write(name, page); err != nil {
			fmt.Fprintln(os.Stderr, "gaps:", err)
			status = 1
		}
	}
	os.Exit(status)
}

// measured plays a fault. status is 1 if it could not be played.
func (f fault) measured() (r *result, status int) {
	t := &program.Program{Title: "gaps"}
	r = &result{fault: f}
	defer t.End(&status)
	f.play(t, r)
	return r, 0
}
