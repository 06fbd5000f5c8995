package luasrc

import (
	"bytes"
	"crypto/sha1"
	"encoding/hex"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestLockScriptIsTheOneThatRedissonCaches(t *testing.T) {
	if want := "149c5a8bf18676fd99e9e6e24923bd64d9b62f94"; LockScript.SHA1 != want {
		t.Errorf("SHA-1 %s, want %s", LockScript.SHA1, want)
	}
}

func TestEachFileIsOneScript(t *testing.T) {
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	byName := make(map[string]*Script)
	for _, s := range Scripts() {
		byName[s.Name] = s
	}
	read := func(name string) []byte {
		text, err := os.ReadFile(name + ".lua")
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	found := 0
	for _, f := range files {
		name, ok := strings.CutSuffix(f.Name(), ".lua")
		if !ok || strings.HasPrefix(name, "again") || slices.Contains([]string{"tell", "left", "fair_queue", "permits", "number", "begun", "holds", "group"}, name) { // the beginnings of other scripts
			continue
		}
		found++
		text := read(name)
		if strings.HasPrefix(name, "fair_") {
			text = append(read("fair_queue"), text...)
		} else if strings.HasPrefix(name, "permit_") && name != "permit_renew" {
			text = append(read("permits"), text...)
		} else if name == "semaphore_acquire" {
			text = append(read("begun"), text...)
		} else if name == "semaphore_undo" || name == "semaphore_change" || name == "count_down" {
			text = append(append(read("begun"), read("number")...), text...)
		}
		if name == "read_unlock" || name == "write_unlock" {
			text = append(read("holds"), text...)
		}
		if bytes.Contains(text, []byte("held(")) {
			text = append(read("left"), text...)
		}
		if bytes.Contains(text, []byte("grouped(")) {
			text = append(read("group"), text...)
		}
		if bytes.Contains(text, []byte("announce(")) {
			text = append(read("tell"), text...)
		}
		sum := sha1.Sum(text)
		s := byName[name]
		if s == nil || s.Source != string(text) || s.SHA1 != hex.EncodeToString(sum[:]) {
			t.Errorf("%s is not the script of that name", f.Name())
		}
		if strings.Contains(string(text), "\r") {
			t.Errorf("%s has carriage returns, which change its SHA-1", f.Name())
		}
	}
	for name, s := range byName { // what is sent again goes on as it began
		if first, again := strings.CutSuffix(name, "_again"); again {
			found++
			if !strings.HasSuffix(s.Source, string(read(first))) || !strings.Contains(s.Source, string(read("again"))) {
				t.Errorf("%s is not %s, sent again", name, first)
			}
		}
	}
	if found != len(byName) {
		t.Errorf("%d files, %d scripts", found, len(byName))
	}
}

// Alibaba's clusters refuse a script in which KEYS is a part of an expression. It may be an argument, or all that a variable gets.
func TestKeysStandPlainly(t *testing.T) {
	t.Parallel()
	inside := regexp.MustCompile(`#KEYS|KEYS\[\D|KEYS\[\d+[^]\d]|KEYS(\[\d+\])? *(\.\.|[-+*/<>~]|==|or\b|and\b)|(\.\.|[-+*/<>]|==|~=|\b(or|and|not)) *KEYS`)
	for _, s := range Scripts() {
		for line := range strings.SplitSeq(s.Source, "\n") {
			if code, _, _ := strings.Cut(line, "--"); inside.MatchString(code) {
				t.Errorf("%s: %s", s.Name, code)
			}
		}
	}
}
