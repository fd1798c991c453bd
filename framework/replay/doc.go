// Package replay sends a recorded session to a server once more and reports what the server does differently: a test of a change, or of another
// version, with what real clients did.
//
// A recording is what servers made with package framework write with the flag --record, see package logging for its format. The same programs
// replay one against themselves:
//
//	notes --record /tmp/traffic.jsonl     used for a while, by an editor say
//	notes --replay /tmp/traffic.jsonl     no difference, or what is different
//
// In a program of one's own, a server at the end of any transport will do, another process for one ([Command]), or a front end in this process:
//
//	sessions, err := replay.Read(file)
//	server, err := replay.Command(ctx, jsonrpc2.Lines, "notes", "--stdio")
//	report, err := sessions[0].Play(ctx, server, nil)
//	report.WriteTo(os.Stdout)
//
// [Session.Play] says in which order things happen and how they are compared. What changes from run to run, as times and tokens do, can be left
// out of the comparison, see [Options.Ignore].
//
// # What cannot be replayed
//
// Secrets were taken out of a recording, so a server that checks them answers otherwise. What is outside of the messages, files most of all, must
// be as it was. Messages that were cut, dropped, or no JSON in the first place are skipped, and counted. A session over HTTP is replayed as if it had been on
// standard input; one of a revision with initialize that never said it, since its client had lost its session, is refused then.
package replay
