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

// order puts the files so that few uses run back up: each file is moved to where that is least, until no move helps. It
// begins with those that fewest others use, so that nothing runs back up if nothing has to, and once more in the order of
// the names; the better one counts.
func (u uses) order() []string {
	byUsers := u.byUsers()
	byName := slices.Sorted(slices.Values(byUsers))
	return slices.MinFunc([][]string{u.improve(byUsers), u.improve(byName)}, func(a, b []string) int {
		return cmp.Compare(len(u.back(a)), len(u.back(b)))
	})
}

// improve moves each file to where the fewest uses run back up, until no move helps.
func (u uses) improve(files []string) []string {
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

// byUsers puts a file first that is used by the fewest others, then one that is used by the fewest of those that are left.
func (u uses) byUsers() (files []string) {
	var left []string
	for k := range u {
		left = append(left, k.user, k.used)
	}
	slices.Sort(left)
	left = slices.Compact(left)
	users := func(f string) (n int) {
		for k := range u {
			if k.used == f && slices.Contains(left, k.user) {
				n++
			}
		}
		return n
	}
	for len(left) > 0 {
		next := slices.MinFunc(left, func(a, b string) int { return cmp.Compare(users(a), users(b)) })
		files = append(files, next)
		left = slices.DeleteFunc(left, func(f string) bool { return f == next })
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
