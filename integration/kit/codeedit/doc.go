// Package codeedit changes Go code by function and syntax, for commands that build the library with a defect in it.
//
// An [Edit] names a function and a piece of syntax inside it, and says what becomes of that piece. The function is found
// by its name in all packages of a [Module], so code may move from file to file and from package to package. The piece is
// found by its syntax tree, so line breaks, white space and comments do not matter.
//
// An edit that meets nothing, or more than one place, is an error: a list of edits cannot fall behind the code. Nothing is
// written into the checkout. [Module.Overlay] writes the changed files elsewhere, with a list as go build takes it.
package codeedit
