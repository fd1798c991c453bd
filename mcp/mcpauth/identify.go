package mcpauth

import (
	"net/http"
	"time"
)

// Identify returns the [Principal.Key] of the principal that a request behind [Resource.Protect] comes from, and when its token ends, the zero time for
// never. Without a principal the key is empty. It is made for mcphttp.Options.Principal: sessions then belong to who began them, and streams end
// with the token. Without that option a handler behind Protect goes by the same.
func Identify(r *http.Request) (key string, until time.Time) {
	p, _ := PrincipalFrom(r.Context())
	return p.identity()
}
