// Package deathsig ends a child process with its parent, however the parent
// ends: one that was killed cleans nothing up, and a child that is paused
// would not notice that its pipe is closed.
package deathsig
