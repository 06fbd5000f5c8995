// Package pages is the folder of the tests that hold the pages to the code: doccheck has links, commands, names and
// lengths, operations runs each command of the pages, logs compares the log lines, monitoring the dashboards and alerts,
// and seeds does the job of each published script that the project grew from.
package pages
