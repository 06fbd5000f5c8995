// Package checker judges a history.
//
// What it holds against a run:
//   - Two windows of different owners overlap on one lock. A direct sweep names the two; porcupine, asked whether the
//     windows' begins and ends are a run of a re-entrant lock, must come to the same verdict.
//   - A hold count is not what the owner had reason to expect, or an unlock says "not held" to an owner that holds.
//   - A lock was free, somebody of the Go side waited for it, and nobody entered in time.
//   - Too many windows had to be set aside, because a fault took the server's data under them.
//
// A history may be longer than memory: it comes in chapters, and what is judged is forgotten.
package checker
