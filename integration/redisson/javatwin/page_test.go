package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// The pages: what differs from Java, and the twins side by side.
const (
	fromJava = "../../../docs/from-java.md"
	twins    = "README.md"
)

// page is a page in parts.
type page struct {
	tables map[string][]row  // by the title of their first column
	blocks map[string]string // code by its language and number: "java 1"
	spans  []string          // what is set in code style outside of blocks
}

// row is a line of a table: what is in code style in the first two columns, and the second as it stands.
type row struct {
	java, golang []string
	text         string
}

var span = regexp.MustCompile("`([^`]+)`")

func readPage(t *testing.T, name string) page {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	p := page{tables: map[string][]row{}, blocks: map[string]string{}}
	count := map[string]int{}
	var title, language, before string
	var code strings.Builder
	for line := range strings.Lines(string(text)) {
		line := strings.TrimSuffix(line, "\n")
		fence, fenced := strings.CutPrefix(line, "```")
		switch {
		case fenced && language == "":
			if language = fence; language == "" {
				t.Fatalf("a block without a language after %q", before)
			}
		case fenced:
			count[language]++
			p.blocks[language+" "+string(rune('0'+count[language]))] = code.String()
			language = ""
			code.Reset()
		case language != "":
			code.WriteString(line + "\n")
		case strings.HasPrefix(line, "|---"):
			title = cells(before)[0]
		case strings.HasPrefix(line, "|") && title != "":
			c := cells(line)
			if len(c) < 3 {
				t.Fatalf("a row without three columns: %s", line)
			}
			p.tables[title] = append(p.tables[title], row{java: spans(c[0]), golang: spans(c[1]), text: c[1]})
		default:
			title = ""
		}
		if language == "" {
			p.spans = append(p.spans, spans(line)...)
		}
		before = line
	}
	return p
}

func cells(line string) []string {
	parts := strings.Split(strings.Trim(line, "|"), "|")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return parts
}

func spans(text string) []string {
	var all []string
	for _, m := range span.FindAllStringSubmatch(text, -1) {
		all = append(all, m[1])
	}
	return all
}

// TestPageShowsTheTwins compares each code block with the lines between its markers in the files.
func TestPageShowsTheTwins(t *testing.T) {
	p := readPage(t, twins)
	shown := 0
	for _, of := range []struct{ language, file string }{{"java", "java/Invoices.java"}, {"go", "invoices.go"}} {
		regions := regions(t, of.file, "the page")
		for i, want := range regions {
			key := of.language + " " + string(rune('1'+i))
			if got := p.blocks[key]; got != want {
				t.Errorf("the page's block %s is\n%s\nwhere %s has\n%s", key, got, of.file, want)
			}
		}
		shown += len(regions)
	}
	blocks := 0
	for key := range p.blocks {
		if strings.HasPrefix(key, "java ") || strings.HasPrefix(key, "go ") {
			blocks++
		}
	}
	if shown != 8 || blocks != shown {
		t.Errorf("%d blocks on the page, %d regions in the files, want 8 of each", blocks, shown)
	}
}

// TestReadmeShowsTheSameJobInBoth compares the README's pair of blocks with the lines between the markers.
func TestReadmeShowsTheSameJobInBoth(t *testing.T) {
	readme, err := os.ReadFile("../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range []struct{ language, file string }{{"java", "java/Settlement.java"}, {"go", "settlement.go"}} {
		regions := regions(t, of.file, "README.md")
		if len(regions) != 1 {
			t.Fatalf("%s has %d regions for the README, want one", of.file, len(regions))
		}
		if block := "\n```" + of.language + "\n" + regions[0] + "```\n"; !strings.Contains(string(readme), block) {
			t.Errorf("the README does not have the block that %s has:%s", of.file, block)
		}
	}
}

// regions are the texts between a page's markers, without the indentation that all of a text's lines share.
func regions(t *testing.T, file, page string) []string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, part := range strings.Split(string(text), "// "+page+": ")[1:] {
		_, part, _ = strings.Cut(part, "\n")
		part, _, found := strings.Cut(part, "// end\n")
		if !found {
			t.Fatalf("%s: a region without an end", file)
		}
		lines := strings.Split(strings.TrimRight(strings.TrimPrefix(part, "\n"), " \t\n"), "\n")
		indent := lines[0][:len(lines[0])-len(strings.TrimLeft(lines[0], " \t"))]
		for i := range lines {
			lines[i] = strings.TrimPrefix(lines[i], indent)
		}
		all = append(all, strings.Join(lines, "\n")+"\n")
	}
	return all
}
