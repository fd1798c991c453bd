package lsp

import (
	"reflect"
	"testing"

	"go.lsp.dev/protocol"
)

// Every method of the protocol reaches an implementation, and every method of the interface is reached.
func TestAdapters(t *testing.T) {
	for _, rt := range routes() {
		switch rt.method {
		case protocol.MethodInitialize, protocol.MethodShutdown: // by way of hooks
		case protocol.MethodCancelRequest: // by way of contexts
		default:
			if adapters()[rt.method] == nil && rt.way != toClient {
				t.Errorf("%s is not adapted", rt.method)
			}
		}
	}
	const hooks = 3 // and Request
	if got, want := len(adapters()), reflect.TypeFor[protocol.Server]().NumMethod()-hooks; got != want {
		t.Errorf("%d methods are adapted, of %d", got, want)
	}
}
