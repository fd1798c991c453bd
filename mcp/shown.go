package mcp

import (
	"encoding/base64"
	"fmt"
	"maps"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"
)

// watchers are the servers that are told when a set of theirs has changed.
type watchers struct {
	mu  sync.Mutex
	all []*Server
}

func (w *watchers) add(s *Server) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !slices.Contains(w.all, s) {
		w.all = append(w.all, s)
	}
}

func (w *watchers) each(do func(*Server)) {
	w.mu.Lock()
	all := w.all
	w.mu.Unlock()
	for _, s := range all {
		do(s)
	}
}

func (w *watchers) changed(l List) { w.each(func(s *Server) { s.Changed(l) }) }

const largeIcon = 64 << 10

// checkShown holds what is shown of a tool, resource or prompt against the rules: an error for what clients must refuse, warnings for what is unwise.
func checkShown(what string, icons []Icon, a *Annotations, m Meta) (warnings []string, err error) {
	for i, icon := range icons {
		if why := badIcon(icon); why != "" {
			return nil, fmt.Errorf("mcp: %s: icon %d: %s", what, i, why)
		}
		if len(icon.Src) > largeIcon {
			warnings = append(warnings, fmt.Sprintf("%s: icon %d has %d bytes, which go out with each list", what, i, len(icon.Src)))
		}
	}
	if a != nil {
		if a.Priority != nil && !(*a.Priority >= 0 && *a.Priority <= 1) {
			return nil, fmt.Errorf("mcp: %s: the priority must be 0 to 1", what)
		}
		for _, r := range a.Audience {
			if r != RoleUser && r != RoleAssistant {
				return nil, fmt.Errorf("mcp: %s: the audience %q is no role", what, clip(string(r)))
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if reservedKey(key) {
			warnings = append(warnings, fmt.Sprintf("%s: the key %q of _meta belongs to the protocol", what, clip(key)))
		}
	}
	return warnings, nil
}

// badIcon says what is wrong with an icon (MCP 2025-11-25, basic, icons): it comes by https, by http from this machine, or inside as data.
func badIcon(i Icon) string {
	if i.Theme != "" && i.Theme != "light" && i.Theme != "dark" {
		return "the theme must be light or dark"
	}
	for _, size := range i.Sizes {
		w, h, ok := strings.Cut(size, "x")
		if size != "any" && (!ok || !isDigits(w) || !isDigits(h)) {
			return fmt.Sprintf("the size %q must be any, or such as 48x48", clip(size))
		}
	}
	if data, ok := strings.CutPrefix(i.Src, "data:"); ok {
		kind, content, ok := strings.Cut(data, ";base64,")
		if !ok || !strings.HasPrefix(kind, "image/") {
			return "the data must be of an image, in base64"
		}
		if _, err := base64.StdEncoding.DecodeString(content); err != nil {
			return "the data is not base64"
		}
		return ""
	}
	u, err := url.Parse(i.Src)
	if err != nil || u.Host == "" {
		return "the source must be an https: or data: URI"
	}
	ip := net.ParseIP(u.Hostname())
	local := u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
	if u.Scheme != "https" && !(u.Scheme == "http" && local) {
		return "the source must be an https: or data: URI"
	}
	return ""
}

func isDigits(s string) bool {
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return false
		}
	}
	return s != ""
}

// reservedKey reports whether a key of _meta has a prefix whose second label is the protocol's (MCP basic, _meta).
func reservedKey(key string) bool {
	prefix, _, ok := strings.Cut(key, "/")
	if !ok {
		return false
	}
	labels := strings.Split(prefix, ".")
	return len(labels) > 1 && (labels[1] == "mcp" || labels[1] == "modelcontextprotocol")
}
