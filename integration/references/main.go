package main

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"slices"
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
	packages, err := load("..")
	if err != nil {
		return err
	}
	slices.SortFunc(packages, func(a, b *listed) int { return cmp.Compare(a.ImportPath, b.ImportPath) })
	fmt.Printf("%-28s %5s %5s %5s\n", "package", "files", "uses", "back")
	for _, p := range packages {
		u, err := p.uses()
		if err != nil {
			return err
		}
		order := u.order()
		back := u.back(order)
		fmt.Printf("%-28s %5d %5d %5d\n", p.name(), len(order), len(u), len(back))
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
