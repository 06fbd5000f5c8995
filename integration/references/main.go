package main

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"slices"

	"github.com/rlock-go/redisson/integration/internal/typecheck"
)

func main() {
	verbose := flag.Bool("v", false, "print each order, and what runs back up")
	flag.Parse()
	if err := run(*verbose); err != nil {
		fmt.Fprintln(os.Stderr, "references:", err)
		os.Exit(1)
	}
}

func run(verbose bool) error {
	packages, err := typecheck.Load("..")
	if err != nil {
		return err
	}
	slices.SortFunc(packages, func(a, b *typecheck.Package) int { return cmp.Compare(a.ImportPath, b.ImportPath) })
	fmt.Printf("%-28s %5s %5s %5s\n", "package", "files", "uses", "back")
	for _, p := range packages {
		u, err := usesIn(p)
		if err != nil {
			return err
		}
		order := u.order()
		back := u.back(order)
		fmt.Printf("%-28s %5d %5d %5d\n", nameOf(p), len(order), len(u), len(back))
		if !verbose {
			continue
		}
		fmt.Println("   ", order)
		for _, b := range back {
			fmt.Printf("    %s uses %s: %v\n", b.user, b.used, u[b])
		}
	}
	return nil
}
