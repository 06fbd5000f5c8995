// Command rlock runs a program under a lock, and shows, watches, frees and
// checks locks that Go and Java share through Redis. It is for people on call.
//
//	rlock run invoices -- ./nightly --all
//	rlock ls
//	rlock show invoices
//	rlock watch --match 'orders:*'
//	rlock unlock --force invoices
//	rlock doctor
//
// It finds its server by --url or REDIS_URL, in every form that rlock.Open
// takes. ls, show and watch change nothing: they send only reads, and SCAN to
// look for names. Each command has --help.
package main
