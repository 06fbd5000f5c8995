// Package doccheck holds no code but tests that compare this project's pages and comments with its code.
//
// It reads a checkout once: its Go files into syntax trees, its Markdown pages into headings, links, code spans and
// code blocks. Then each check lists what is wrong, with file and line, and a test fails if there is anything:
//
//   - links: a relative link, image, anchor or line that does not exist.
//   - commands: in code blocks and spans, a make target, package, test or flag that does not exist.
//   - names: a test, an identifier of the library or a path that a page names but that does not exist.
//   - packaging: no licence, no section [Unreleased] in the changelog, or a package that setup.sh installs and the
//     requirements in CONTRIBUTING.md do not name.
//   - imports: a row of the table of folders in CONTRIBUTING.md that differs from the code; and folders: the same of the table of integration's folders.
//   - length: pages for contributors that have more than 11,000 words together without their tables, and those for users more than 21,000.
//   - snippets: a block of Go or Java that no file of code has, so that nothing compiles it.
//   - told: how soon a holder learns of a loss, in other words than everywhere else.
//   - ran: a command in a code block that no test here runs and for which the table in ways_test.go has no row.
//
// The same checks run on a small tree that is right, and then on copies of it with one mistake each: they must find
// every mistake.
//
// Command blocks are those marked sh, bash or console, and indented ones. Every fence must name its language.
package doccheck
