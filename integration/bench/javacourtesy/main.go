package main

import (
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/rlock-go/redisson/integration/kit/program"
)

func main() {
	if url, child := os.LookupEnv(childVariable); child {
		if err := obey(url); err != nil {
			fmt.Fprintln(os.Stderr, "javacourtesy, Go process:", err)
			os.Exit(1)
		}
		return
	}
	names := flag.String("rows", "", "rows to measure, parted by commas; default all")
	write := flag.Bool("write", false, "put the tables into docs/dev/tables/courtesy.md and docs/performance.md")
	flag.Parse()
	chosen, err := chooseRows(*names)
	if err == nil && (flag.NArg() > 0 || *write && *names != "") {
		err = fmt.Errorf("-write is for a run of all rows; what is %q?", flag.Args())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "javacourtesy:", err)
		os.Exit(2)
	}
	os.Exit(run(chosen, *write))
}

// run measures the rows in a program.Program, so that servers and processes end with it.
func run(chosen []row, write bool) (status int) {
	t := &program.Program{Title: "javacourtesy"}
	defer t.End(&status)
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s := newStage(t, binary, 6*time.Second)
	r := report{plan: plan{rounds: 10, slice: settling + 2*time.Second}, load: loadAverage(), redis: s.version()}
	for _, row := range chosen {
		r.rows = append(r.rows, r.plan.row(s, row))
		fmt.Fprintln(os.Stderr, row.name, "is done")
	}
	tables := r.markdown()
	fmt.Print(tables)
	if write {
		if err := writeDocument(tables); err != nil {
			t.Fatal(err)
		}
	}
	return 0
}
