package lsp_test

import (
	"slices"
	"testing"

	"github.com/tandem-rpc/tandem/lsp"
	"github.com/tandem-rpc/tandem/lsp/lsptest"
)

func TestClients(t *testing.T) {
	server := &lsp.Server{}
	names := func() (list []string) {
		for c := range server.Clients() {
			list = append(list, c.Params().ClientInfo.Name)
		}
		return list
	}
	if got := names(); got != nil {
		t.Errorf("before the first: %q", got)
	}
	first := lsptest.New(t, server, &lsptest.Options{Preset: lsptest.VSCode})
	second := lsptest.New(t, server, &lsptest.Options{Preset: lsptest.Neovim})
	lsptest.New(t, server, &lsptest.Options{Manual: true}) // never says initialize
	both := names()
	if len(both) != 2 || both[0] == both[1] {
		t.Fatalf("two are connected: %q", both)
	}
	doc := first.Open("file:///a.md", "x")
	first.Sync()
	for c := range server.Clients() {
		if open := c.Documents().Document(doc.URI()) != nil; open != (c.Params().ClientInfo.Name == both[0]) {
			t.Errorf("%s has the document open: %v", c.Params().ClientInfo.Name, open)
		}
	}
	first.Close()
	if got := names(); !slices.Equal(got, both[1:]) {
		t.Errorf("after the first has left: %q", got)
	}
	second.Kill()
	if got := names(); got != nil {
		t.Errorf("after both have left: %q", got)
	}
}
