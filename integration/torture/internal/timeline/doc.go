// Package timeline draws who held what when: one self-contained HTML page with an SVG, one row for each process and
// lock, faults across. A pointer held over anything tells what it is.
package timeline
