// Package inspect serves a page that shows the traffic of a server while it runs: requests on a time line with the time they waited and ran,
// cancellations, errors, latency and throughput, and each message without its secrets.
//
// Servers made with package framework have it behind a flag:
//
//	notes --inspect localhost:7777
//	notes: inspect http://localhost:7777/5f0c…/
//
// Elsewhere a [Page] is the sink of a [logging.Feed], and an [http.Handler]:
//
//	page := inspect.New(nil)
//	feed := logging.NewFeed(page, nil)
//	options.Tap = feed.Open("editor", "lsp")
//	err := page.Serve(ctx, listener)
//
// # Who can see it
//
// The page can be read and nothing else; nothing on it changes the server. It is served on loopback addresses alone, to requests for a loopback
// name and of no other origin, and only below a path that is a random token: other users of the machine, and web pages in the user's browser,
// do not know it. What is shown has been redacted as package logging describes, before it is kept.
//
// The page is one document. It loads nothing, from nowhere, and its policy (CSP) would not let it. What peers sent gets into it as text.
//
// # Memory
//
// The server keeps the last messages, by count and by bytes, and nothing for a viewer; one that does not keep up misses messages, and one that takes
// nothing for a while is dropped. The page keeps as many as the server does.
package inspect
