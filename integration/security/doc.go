// Package security has only tests: which clients and servers are refused (TLS, ACL), that names are data whatever bytes
// they have, and that secrets are shown nowhere.
//
// The ACL lines under test are read from docs/security.md, so that what operators copy is what was tested.
package security
