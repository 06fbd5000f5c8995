// Package deathsig ends a child process when its parent ends, on Linux. A
// parent that was killed cannot end its children, and a paused child would not
// notice that its pipe is closed.
package deathsig
