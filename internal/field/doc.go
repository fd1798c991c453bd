// Package field holds Tandem to what has gone wrong elsewhere: public bug reports
// about software of the same kind, reduced to what was sent and what should have
// come of it. It has tests only.
//
// testdata/reports.tsv lists the reports: a number, the area it belongs to, and the
// protocol it was seen in. The table in rows_test.go names, for every report, the
// tests that would fail if Tandem had the same fault, here or in the package at
// fault, or says why Tandem cannot have it. A report without either fails, and so
// does a row whose test does not exist.
//
// The tests here are about kinds of fault rather than single reports: what was sent is
// tried in both framings, cut into pieces, with other sizes, positions and ids. A peer
// under test is a connection over a stream of bytes, on the fake clock of
// testing/synctest, an HTTP server on a port of this machine, or, where a process is
// at stake, this test binary started again.
package field
