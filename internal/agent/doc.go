// Package agent is the MCP server for folders of Markdown notes: what an AI client can read, search and change. demo-mcp serves one folder with it;
// demo-lsp serves the folders that editors have open, in the same process, so that an agent sees what has not been saved and its edits appear where
// people type.
//
//	s := agent.New(agent.Options{Name: "notes", Folders: agent.Fixed(workspace)})
//	framework.Main(s)
//
// Who changes a workspace by other ways tells it with [Server.Changed], and clients that have subscribed to notes are told.
package agent
