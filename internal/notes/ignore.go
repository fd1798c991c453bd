package notes

import (
	"path"
	"strings"
	"sync"
)

// Bounds of what is read of .gitignore files.
const (
	ignoreFile     = ".gitignore"
	maxIgnoreBytes = 256 << 10
	maxIgnoreRules = 4096
	maxIgnoreParts = 64
)

// An ignoreRule is one line of a .gitignore file.
type ignoreRule struct {
	parts    []string // between slashes; "**" stands for any number of directories
	negated  bool
	dirOnly  bool
	anchored bool // matches from the file's directory on, else at any depth
}

// ignoreRules holds the rules of all .gitignore files by directory. It is safe
// for concurrent use.
type ignoreRules struct {
	mu   sync.RWMutex
	dirs map[string][]ignoreRule
}

// set replaces the rules of a directory by those of a file's text.
func (r *ignoreRules) set(dir, text string) {
	var rules []ignoreRule
	for line := range strings.Lines(text) {
		if rule, ok := parseIgnore(line); ok && len(rules) < maxIgnoreRules {
			rules = append(rules, rule)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(rules) == 0 {
		delete(r.dirs, dir)
		return
	}
	if r.dirs == nil {
		r.dirs = make(map[string][]ignoreRule)
	}
	r.dirs[dir] = rules
}

func parseIgnore(line string) (rule ignoreRule, ok bool) {
	line = strings.TrimRight(line, "\r\n")
	for strings.HasSuffix(line, " ") && !strings.HasSuffix(line, `\ `) {
		line = line[:len(line)-1]
	}
	if line == "" || line[0] == '#' {
		return rule, false
	}
	if line[0] == '!' {
		rule.negated = true
		line = line[1:]
	}
	if cut, ok := strings.CutSuffix(line, "/"); ok {
		rule.dirOnly = true
		line = cut
	}
	rule.anchored = strings.Contains(line, "/")
	line = strings.TrimPrefix(line, "/")
	if line == "" {
		return rule, false
	}
	rule.parts = strings.Split(strings.ReplaceAll(line, "[!", "[^"), "/")
	return rule, len(rule.parts) <= maxIgnoreParts
}

// matches reports whether the rule is about the path, given relative to the
// rule's directory.
func (r ignoreRule) matches(rel string, isDir bool) bool {
	if r.dirOnly && !isDir {
		return false
	}
	if !r.anchored {
		return matchPart(r.parts[0], path.Base(rel))
	}
	return matchParts(r.parts, strings.Split(rel, "/"))
}

// matchParts matches a path part by part. On a mismatch only the last "**" is
// tried with one more directory, which is enough and keeps the time quadratic
// at worst.
func matchParts(pattern, parts []string) bool {
	star, mark := -1, 0
	p := 0
	for i := 0; i < len(parts); {
		switch {
		case p < len(pattern) && pattern[p] == "**":
			star, mark = p, i
			p++
			if p == len(pattern) {
				return true // everything below, and there is something
			}
		case p < len(pattern) && matchPart(pattern[p], parts[i]):
			p++
			i++
		case star >= 0:
			mark++
			p, i = star+1, mark
		default:
			return false
		}
	}
	return p == len(pattern)
}

func matchPart(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}

// ignore reports whether the rules exclude a path, not looking at the
// directories above it. Deeper files and later lines win, as in Git.
func (r *ignoreRules) ignore(p string, isDir bool) bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if len(r.dirs) == 0 {
		return false
	}
	for dir := path.Dir(p); ; dir = path.Dir(dir) {
		rules := r.dirs[dir]
		rel := p
		if dir != "." {
			rel = p[len(dir)+1:]
		}
		for i := len(rules) - 1; i >= 0; i-- {
			if rules[i].matches(rel, isDir) {
				return !rules[i].negated
			}
		}
		if dir == "." {
			return false
		}
	}
}

// ignored reports whether a file lies where the scan does not go, or is itself
// passed over.
func (s *store) ignored(p string) bool {
	for i, c := range p {
		if c == '/' && s.ignoredDir(p[:i]) {
			return true
		}
	}
	return s.rules.ignore(p, false)
}

// ignoredDir reports whether the scan stays out of a directory.
func (s *store) ignoredDir(p string) bool {
	return s.flat || hidden(path.Base(p)) || s.rules.ignore(p, true)
}

// hidden reports whether directories of this name are passed over always.
func hidden(name string) bool {
	return strings.HasPrefix(name, ".") || name == "node_modules"
}

// loadRules reads the .gitignore file of a directory.
func (s *store) loadRules(dir string) {
	text, err := s.read(nil, path.Join(dir, ignoreFile), maxIgnoreBytes)
	if err != nil {
		text = nil
	}
	s.rules.set(dir, string(text))
}
