package main

import (
	"cmp"
	"slices"
)

// use is one file's of another.
type use struct{ user, used string }

// uses are the names that files of a package use of others.
type uses map[use][]string

func (u uses) add(user, used, name string) {
	k := use{user, used}
	if at, known := slices.BinarySearch(u[k], name); user != used && !known {
		u[k] = slices.Insert(u[k], at, name)
	}
}

// order puts the files so that few uses run back up: each file is moved to where that is least, until no move helps.
func (u uses) order() []string {
	var files []string
	for k := range u {
		files = append(files, k.user, k.used)
	}
	slices.Sort(files)
	files = slices.Compact(files)
	for better := true; better; {
		better = false
		for _, f := range slices.Clone(files) {
			least := len(u.back(files))
			for to := range files {
				if moved := move(files, f, to); len(u.back(moved)) < least {
					files, least, better = moved, len(u.back(moved)), true
				}
			}
		}
	}
	return files
}

// move gives the files with f at another place.
func move(files []string, f string, to int) []string {
	rest := slices.DeleteFunc(slices.Clone(files), func(other string) bool { return other == f })
	return slices.Insert(rest, to, f)
}

// back are the uses of what is above the user.
func (u uses) back(order []string) (back []use) {
	at := map[string]int{}
	for i, f := range order {
		at[f] = i
	}
	for k := range u {
		if at[k.used] < at[k.user] {
			back = append(back, k)
		}
	}
	slices.SortFunc(back, func(a, b use) int { return cmp.Or(cmp.Compare(a.user, b.user), cmp.Compare(a.used, b.used)) })
	return back
}
