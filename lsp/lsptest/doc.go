// Package lsptest is an editor in memory, for tests of language servers.
//
//	func TestTodo(t *testing.T) {
//		c := lsptest.New(t, server, nil)
//		doc := c.Open("file:///a.md", "call Ada TODO")
//		doc.Edit("TODO", "done")
//		if diags := doc.Diagnostics(); len(diags) > 0 {
//			t.Errorf("found %q", lsptest.Messages(diags))
//		}
//	}
//
// There is no process, no port and no sleep. A [Client] and the server are in the same test; what cannot be done, an error answer, or an answer that does not
// come in time, fails that test with the last messages of both sides. At its end the client says goodbye and waits for the server; what the server reported
// that no client is told, panics above all, fails the test as well.
//
// # Documents
//
// [Client.Open] opens a [Doc]. Its methods are what a user does: [Doc.Edit] and [Doc.Insert] name places by the text that stands there, [Doc.Type] types character
// by character, [Doc.Save], [Doc.Close]. Changes are sent as the server wants them, by range or whole, and positions are counted in the encoding that it has chosen
// of [Options.Encodings]. Edits that the server asks for (workspace/applyEdit), and those given to [Client.Apply], change the documents that are open, and files of
// [Options.Files] that are not.
//
// # Diagnostics
//
// [Doc.Diagnostics] are those of the text as it is now: it asks for them where client and server can do that, else it waits until they are published for that
// version. [Doc.Until] waits for what depends on something else.
//
// # Requests
//
// The usual ones are methods of Doc: [Doc.Hover], [Doc.Complete], [Doc.Definition], [Doc.Rename] and others. All others are [Client.Call], [Request] for a typed
// result, [Client.Refused] where an error is wanted, [Client.Go] for one that is cancelled or overtaken.
//
// # What the server asks
//
// The Options are the script: [Options.Settings], [Options.Folders], [Options.Choose] for questions with buttons, and [Options.Answer] for everything. Registrations
// are kept ([Client.Registered]), progress is collected and can be cancelled ([Client.Progress]), notifications can be waited for ([Next]).
//
// The client has the capabilities of a real editor, VS Code by default; see [Preset]. A server that asks for what the client has not declared fails the test, as it
// would fail that editor's user.
//
// # Transcripts and recordings
//
// [Client.Golden] compares what was said on the wire with a file that `go test -lsptest.update` writes, in an order that does not depend on chance. [Replay] has a
// server go through the recorded session of a real editor.
package lsptest
