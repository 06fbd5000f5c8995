package main

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const (
	lockTable   = "RLock and RLockAsync"
	configTable = "Config"
	clientTable = "RedissonClient"
)

// method matches a line of javap; its groups are the name and the parameters.
var method = regexp.MustCompile(`^  public (?:.* )?(\w+)\((.*)\)(?: throws .*)?;$`)

var qualifier = regexp.MustCompile(`(\w+\.)+\b`)

// methods returns the public ones of a class and, if inherited, of the interfaces that it extends, as they are written on
// the page without the parameters' names: "tryLock(long, TimeUnit)".
func methods(t *testing.T, path, class string, inherited bool) map[string]bool {
	t.Helper()
	out, err := jdk("jdk.jdeps/com.sun.tools.javap.Main", "-public", "-cp", path, class)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for line := range strings.Lines(out) {
		line = strings.TrimSuffix(line, "\n")
		if m := method.FindStringSubmatch(line); m != nil {
			found[m[1]+"("+qualifier.ReplaceAllString(m[2], "")+")"] = true
		}
		_, parents, extends := strings.Cut(line, " extends ")
		if extends && inherited {
			for _, parent := range strings.Split(strings.TrimSuffix(parents, " {"), ",") {
				maps.Copy(found, methods(t, path, parent, true))
			}
		}
	}
	if len(found) == 0 {
		t.Fatalf("%s has no methods:\n%s", class, out)
	}
	return found
}

var parameterName = regexp.MustCompile(` \w+(,|\))`)

// written is a method of the page without its parameters' names.
func written(span string) string { return parameterName.ReplaceAllString(span, "$1") }

// TestPageHasEveryMethod: the page's tables have all methods of the lock's interfaces and all lock-related settings and
// factories, and nothing that Redisson does not have.
func TestPageHasEveryMethod(t *testing.T) {
	p, path := readPage(t, fromJava), jars(t)
	config := methods(t, path, "org.redisson.config.Config", false)
	servers := methods(t, path, "org.redisson.config.SingleServerConfig", false)
	maps.Copy(servers, methods(t, path, "org.redisson.config.BaseConfig", false))
	maps.Copy(servers, methods(t, path, "org.redisson.config.ClusterServersConfig", false))
	maps.Copy(servers, config)
	for _, of := range []struct {
		table  string
		known  map[string]bool // what may be there
		needed *regexp.Regexp  // which of them must
	}{
		{lockTable, methods(t, path, "org.redisson.api.RLock", true), regexp.MustCompile(``)},
		{configTable, servers, regexp.MustCompile(`^set.*(Lock|Slaves|NameMapper)`)},
		{clientTable, methods(t, path, "org.redisson.api.RedissonClient", false), regexp.MustCompile(`^get\w*Lock\((String|RLock\.\.\.)\)$`)},
	} {
		rows := p.tables[of.table]
		there := map[string]int{}
		for _, r := range rows {
			if len(r.java) == 0 {
				t.Errorf("%s: a row without a method: %v", of.table, r)
			}
			for _, s := range r.java {
				there[written(s)]++
			}
		}
		for m, n := range there {
			if !of.known[m] || n > 1 {
				t.Errorf("%s: %s is there %d times; Redisson has it: %v", of.table, m, n, of.known[m])
			}
		}
		for _, m := range slices.Sorted(maps.Keys(of.known)) {
			if of.needed.MatchString(m) && there[m] == 0 {
				t.Errorf("%s: %s is missing", of.table, m)
			}
		}
		t.Logf("%s: %d methods in %d rows", of.table, len(there), len(rows))
	}
}
