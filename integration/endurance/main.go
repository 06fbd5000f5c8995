package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/rlock-go/redisson/integration/internal/tablefile"
)

func main() {
	runIfChild()
	var c campaign
	flag.DurationVar(&c.duration, "duration", time.Minute, "how long new rounds begin")
	flag.Uint64Var(&c.seed, "seed", 0, "seed of the rounds; 0 draws one")
	flag.Uint64Var(&c.round, "round", 0, "play this round alone, again and again")
	flag.StringVar(&c.only, "theme", "", "only the theme whose name has these words")
	flag.IntVar(&c.lanes, "lanes", 12, "rounds at once")
	flag.StringVar(&c.kinds, "kinds", "", "only violations of these kinds, such as trust,count")
	flag.IntVar(&c.stop, "stop", 0, "end after so many violations; 0 goes on")
	write := flag.Bool("write", false, "put the tables into "+tablefile.Path(tableFile)+" if nothing was wrong")
	hunts := flag.Bool("defects", false, "put mistakes of old back into the library, one after the other, and run until each is found")
	only := flag.String("defect", "", "of -defects, only those with these words")
	keep := flag.String("keep", "", "of -defects, a folder for what each run printed")
	flag.Parse()
	if c.seed == 0 {
		c.seed = rand.Uint64() >> 16
	}
	if flag.NArg() > 0 || c.duration <= 0 || c.lanes < 1 {
		flag.Usage()
		os.Exit(2)
	}
	if *hunts {
		os.Exit(runDefects(*only, *keep, c.duration, c.lanes))
	}
	fmt.Printf("endurance: -seed %d -duration %v -lanes %d\n", c.seed, c.duration, c.lanes)
	os.Exit(run(c, *write))
}

// run plays a campaign and says what came of it; its result is the exit status.
func run(c campaign, write bool) (status int) {
	before, began := runtime.NumGoroutine(), time.Now()
	first := true
	c.tell = func(v violation) {
		fmt.Printf("\n%s\n", v.text)
		if first {
			fmt.Printf("first violation after %.0f s\n", time.Since(began).Seconds())
		}
		first = false
	}
	t, wrong := c.run()
	table := t.table(time.Since(began))
	fmt.Printf("\n%s\n", table)
	if left := leftGoroutines(before); left != "" {
		wrong = append(wrong, "goroutines are left:\n"+left)
	}
	if rare := t.rare(); c.duration >= 30*time.Minute && len(rare) > 0 && c.only == "" && c.round == 0 {
		wrong = append(wrong, "too few of these: "+strings.Join(rare, ", "))
	}
	if write && len(wrong) == 0 && t.rungs[nViolations].Load() == 0 {
		if err := tablefile.Write(tableFile, table); err != nil {
			wrong = append(wrong, err.Error())
		}
	}
	for _, w := range wrong {
		fmt.Println("endurance:", w)
	}
	if len(wrong) > 0 || t.rungs[nViolations].Load() > 0 {
		return 1
	}
	return 0
}

// leftGoroutines are the stacks if there are more goroutines than before. Some end a moment after what they served.
func leftGoroutines(before int) string {
	for end := time.Now().Add(5 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		if runtime.NumGoroutine() <= before {
			return ""
		}
		if time.Now().After(end) {
			stacks := make([]byte, 64<<10)
			return string(stacks[:runtime.Stack(stacks, true)])
		}
	}
}
