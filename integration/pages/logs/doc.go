// Package logs holds no code but tests: what a client tells its logger, against the tables of docs/operations.md.
//
// Every event of the table is made to happen on a real server, and message, level and attributes of all that was
// logged meanwhile are compared with the rows, in both directions. The source is read too, so that an event that no
// test makes happen is not forgotten on the page. All servers ask for a password, which no line may show.
package logs
