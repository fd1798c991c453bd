// Package editor is the language server for folders of Markdown notes: diagnostics, completion, hover, renames and all the rest that package notes knows.
// demo-lsp serves it; demo-mcp serves it beside agents.
//
//	d := editor.New("notes")
//	defer d.Close()
//	framework.Main(d.LSP())
//
// Agents can work at the same notes in the same process: [Server.Agents] is an MCP server that reads what has not been saved, and whose edits appear where
// people type.
//
// # What it answers
//
// [Server.LSP] has the list, by method. Beyond the obvious:
//
//   - Diagnostics of open notes go to every editor, and those of notes that are not open to editors that ask for the workspace. After a change only the notes
//     that it concerns are looked at again, and the editor is told to ask again.
//   - Each kind of problem has a quick fix, and it is marked as preferred where it is likely to be right: the nearest target of a broken link, the removal
//     of a definition that nothing uses. source.fixAll changes the broken links of a note that have one likely target, source.organizeLinkDefinitions
//     removes what is unused, source.updateTableOfContents does what it says. They are offered when asked for, and so may run on save.
//   - Semantic tokens mark what plain highlighting cannot know: links that lead nowhere, and definitions without use. They come whole, in a range, or as what
//     has changed.
//   - Hints, symbols and completions carry little until the editor asks for the rest of one.
//   - Formatting lines up tables and sees to the end of the note. Blanks at the ends of lines stay: two of them are a line break.
//
// Some methods have nothing to say about notes: declarations, types and implementations, hierarchies of calls, signatures, colours, inline values and monikers.
// Others are left out on purpose: a code lens has no resolve step, as whether there is one depends on the number it shows; and a file that is made or deleted
// gets no edits beforehand, as a note that is gone leaves links that its author has to decide on, which diagnostics list.
package editor
