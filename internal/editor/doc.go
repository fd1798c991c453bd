// Package editor is the language server for folders of Markdown notes: diagnostics, completion, hover, renames and all the rest that package notes knows.
// demo-lsp serves it; demo-mcp serves it beside agents.
//
//	d := editor.New("notes")
//	defer d.Close()
//	framework.Main(d.LSP())
//
// Agents can work at the same notes in the same process: [Server.Agents] is an MCP server that reads what has not been saved, and whose edits appear where
// people type.
package editor
