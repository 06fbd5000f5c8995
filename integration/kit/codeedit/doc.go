// Package codeedit changes Go code by function and syntax, for commands that build the library with a defect in it.
//
// An [Edit] names a function and a piece of syntax inside it, and says how to change that piece. The function is found
// by name in all packages of a [Module], so code may move between files and packages. The piece is found by its syntax
// tree, so line breaks, white space and comments do not matter.
//
// An edit that matches no place, or more than one, is an error, so a list of edits cannot fall behind the code.
// [Module.Overlay] writes the changed files outside the checkout, with a list for go build's -overlay.
package codeedit
