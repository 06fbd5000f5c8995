// Package doccheck holds no code but tests: they hold what is written about this project against what there is.
//
// A checkout is read once: its Go files into syntax trees, its Markdown pages into headings, links, code spans and code
// blocks. Then each check lists what is wrong, with file and line, and a test fails if there is anything:
//
//   - links: a relative link, image, anchor or line that is not there.
//   - commands: in code blocks and spans, a make target, package, test or flag that does not exist.
//   - names: a test, an identifier of the library or a path that a page names and that does not exist.
//   - packaging: no licence, no section [Unreleased] in the changelog, or a package that setup.sh installs and the
//     requirements in CONTRIBUTING.md do not name.
//   - imports: a row of the table of folders in CONTRIBUTING.md that says another thing than the code.
//   - length: pages for contributors that have more than 15,000 words together, and those for users more than 16,000.
//   - snippets: a block of Go or Java that no file of code has, so that nothing compiles it.
//   - told: how soon a holder learns of a loss, in other words than everywhere else.
//   - ran: a command in a code block that neither a test here runs nor the table in ways_test.go says what does.
//
// The same checks are run over a small tree that is right, and then over copies of it with one mistake each: every
// mistake must be found.
//
// Command blocks are those marked sh, bash or console, and indented ones; every fence says what is in it.
package doccheck
