package mcp

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
)

// ResourceSet is a set of resources, and of templates for families of them, that can change while they are served:
//
//	var notes mcp.ResourceSet
//	notes.Add(mcp.Resource{URI: "note://welcome", Name: "welcome"}, func(context.Context) (any, error) { return "Hello.", nil })
//	notes.AddTemplate(mcp.Template{URITemplate: "note://{year}/{slug}", Name: "note"}, readNote)
//	notes.Attach(server)
//
// What a function returns is made the contents: a string is text, []byte a blob, both with the URI that was asked for and the MIME type of the resource; a
// [ResourceContents], or a list of them, may leave out URI and MIME type as well; nil is [ResourceNotFound]; anything else is sent as from a Reader.
//
// The zero ResourceSet is empty and ready to use. Resources can be added and removed at any time, by many goroutines at once; the clients of the servers it
// is attached to are told. It must not be copied after first use.
type ResourceSet struct {
	// Visible, if set, says which resources a caller may list, read and subscribe to, by URI, and which templates are listed, by their text. What is not
	// visible does not exist. It is asked often, by many goroutines at once.
	Visible func(ctx context.Context, uri string) bool
	// Subscribable lets clients subscribe to the resources: Attach sets Server.Subscriber, and the program calls [ResourceSet.Updated].
	Subscribable bool

	mu       sync.Mutex // held by writers
	view     atomic.Pointer[resourceView]
	watchers watchers
}

// resourceView is never changed once stored.
type resourceView struct {
	byURI     map[string]*shelved
	templates map[string]*family // by text
	list      []Resource         // by URI
	families  []*family          // by text
	matching  []*family          // in the order they are tried
}

// shelved is one resource.
type shelved struct {
	resource Resource
	read     func(ctx context.Context) (any, error)
}

// Add adds a resource. It panics if the URI is taken or not absolute, if there is no name or no function, and if an icon or annotation is none.
// [ResourceSet.TryAdd] returns that as an error.
func (set *ResourceSet) Add(r Resource, read func(ctx context.Context) (any, error)) {
	must(set.TryAdd(r, read))
}

// TryAdd is Add with an error where that panics, for resources that are not the program's own.
func (set *ResourceSet) TryAdd(r Resource, read func(ctx context.Context) (any, error)) error {
	switch u, err := url.Parse(r.URI); {
	case err != nil || u.Scheme == "":
		return fmt.Errorf("mcp: resource %q: the URI must be absolute", clip(r.URI))
	case r.Name == "":
		return fmt.Errorf("mcp: resource %q without a name", clip(r.URI))
	case read == nil:
		return fmt.Errorf("mcp: resource %q without a function", clip(r.URI))
	case r.Size != nil && *r.Size < 0:
		return fmt.Errorf("mcp: resource %q: the size must not be negative", clip(r.URI))
	}
	if _, err := checkShown(fmt.Sprintf("resource %q", clip(r.URI)), r.Icons, r.Annotations, r.Meta); err != nil {
		return err
	}
	return set.change(func(v *resourceView) error {
		if v.byURI[r.URI] != nil {
			return fmt.Errorf("mcp: second resource %q", clip(r.URI))
		}
		v.byURI[r.URI] = &shelved{r, read}
		return nil
	})
}

// AddTemplate adds a template (RFC 6570): read is called for URIs that it makes, and that are no resource themselves, with its variables. Where several
// templates make a URI the one with more fixed text is asked first, and the next if that returns nil. AddTemplate panics where Add would, and for what is
// no template.
func (set *ResourceSet) AddTemplate(t Template, read func(ctx context.Context, uri string, v Variables) (any, error)) {
	must(set.TryAddTemplate(t, read))
}

// TryAddTemplate is AddTemplate with an error where that panics.
func (set *ResourceSet) TryAddTemplate(t Template, read func(ctx context.Context, uri string, v Variables) (any, error)) error {
	f, err := newFamily(t, read)
	if err != nil {
		return err
	}
	return set.change(func(v *resourceView) error {
		if v.templates[t.URITemplate] != nil {
			return fmt.Errorf("mcp: second template %q", clip(t.URITemplate))
		}
		v.templates[t.URITemplate] = f
		return nil
	})
}

// Remove takes resources out, by URI, and templates, by their text, and returns how many there were.
func (set *ResourceSet) Remove(uris ...string) (n int) {
	_ = set.change(func(v *resourceView) error {
		before := len(v.byURI) + len(v.templates)
		for _, uri := range uris {
			delete(v.byURI, uri)
			delete(v.templates, uri)
		}
		if n = before - len(v.byURI) - len(v.templates); n == 0 {
			return errUnchanged
		}
		return nil
	})
	return n
}

var errUnchanged = errors.New("mcp: nothing has changed")

func (set *ResourceSet) change(do func(*resourceView) error) error {
	set.mu.Lock()
	old := set.now()
	v := &resourceView{byURI: maps.Clone(old.byURI), templates: maps.Clone(old.templates)}
	if v.byURI == nil {
		v.byURI, v.templates = make(map[string]*shelved), make(map[string]*family)
	}
	err := do(v)
	if err == nil {
		for _, uri := range slices.Sorted(maps.Keys(v.byURI)) {
			v.list = append(v.list, v.byURI[uri].resource)
		}
		for _, text := range slices.Sorted(maps.Keys(v.templates)) {
			v.families = append(v.families, v.templates[text])
		}
		v.matching = slices.Clone(v.families)
		slices.SortStableFunc(v.matching, (*family).compare)
		set.view.Store(v)
	}
	set.mu.Unlock()
	if err == nil {
		set.watchers.changed(Resources)
	}
	return err
}

func (set *ResourceSet) now() *resourceView {
	if v := set.view.Load(); v != nil {
		return v
	}
	return new(resourceView)
}

func (set *ResourceSet) visible(ctx context.Context, uri string) bool {
	return set.Visible == nil || set.Visible(ctx, uri)
}

// Attach makes the resources those of a server: it sets Resources, Templates, Reader and ListChanged, Subscriber if they are Subscribable, and answers
// completion of templates before what Completer was set to. From then on clients are told when resources come and go. It must be called before the
// server is in use, and panics if Resources or Reader is set. A ResourceSet can be attached to many servers.
func (set *ResourceSet) Attach(s *Server) {
	if s.Resources != nil || s.Reader != nil {
		panic("mcp: ResourceSet.Attach: the server has Resources or a Reader")
	}
	s.Resources, s.Templates, s.Reader, s.ListChanged = set.List, set.Templates, set.Read, true
	if set.Subscribable && s.Subscriber == nil {
		s.Subscriber = set.subscribe
	}
	s.Completer = completing(set.Complete, func(r CompleteRequest) bool { return r.Template != "" }, s.Completer)
	set.watchers.add(s)
}

// Updated tells who has subscribed to a resource that it can be read anew.
func (set *ResourceSet) Updated(uri string) { set.watchers.each(func(s *Server) { s.Updated(uri) }) }

func (set *ResourceSet) subscribe(ctx context.Context, uri string) error {
	v := set.now()
	if set.visible(ctx, uri) {
		if v.byURI[uri] != nil {
			return nil
		}
		for _, f := range v.matching {
			if _, ok := f.match(uri); ok {
				return nil
			}
		}
	}
	return ResourceNotFound(uri)
}

// List returns the resources the caller may see, ordered by URI. It is a Server's Resources.
func (set *ResourceSet) List(ctx context.Context) ([]Resource, error) {
	list := slices.Clone(set.now().list)
	if set.Visible != nil {
		list = slices.DeleteFunc(list, func(r Resource) bool { return !set.Visible(ctx, r.URI) })
	}
	return list, nil
}

// Templates returns the templates the caller may see, ordered by their text. It is a Server's Templates.
func (set *ResourceSet) Templates(ctx context.Context) ([]Template, error) {
	var list []Template
	for _, f := range set.now().families {
		if set.visible(ctx, f.template.URITemplate) {
			list = append(list, f.template)
		}
	}
	return list, nil
}

// Read reads a resource. It is a Reader.
func (set *ResourceSet) Read(ctx context.Context, uri string) (any, error) {
	v := set.now()
	if !set.visible(ctx, uri) {
		return nil, ResourceNotFound(uri)
	}
	if r := v.byURI[uri]; r != nil {
		out, err := r.read(ctx)
		return contentsOf(uri, r.resource.MIMEType, out, err)
	}
	for _, f := range v.matching {
		if vars, ok := f.match(uri); ok {
			if out, err := f.read(ctx, uri, vars); out != nil || err != nil {
				return contentsOf(uri, f.template.MIMEType, out, err)
			}
		}
	}
	return nil, ResourceNotFound(uri)
}

// contentsOf makes the contents of what a function returned.
func contentsOf(uri, mimeType string, v any, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	fill := func(c *ResourceContents) {
		if c.URI == "" {
			c.URI = uri
		}
		if c.MIMEType == "" {
			c.MIMEType = mimeType
		}
	}
	one := func(c ResourceContents) []ResourceContents {
		fill(&c)
		return []ResourceContents{c}
	}
	switch v := v.(type) {
	case nil:
		return nil, ResourceNotFound(uri)
	case string:
		return one(ResourceContents{Text: v}), nil
	case []byte:
		if v == nil {
			v = []byte{}
		}
		return one(ResourceContents{Blob: v}), nil
	case ResourceContents:
		return one(v), nil
	case *ResourceContents:
		if v == nil {
			return nil, ResourceNotFound(uri)
		}
		return one(*v), nil
	case []ResourceContents:
		v = slices.Clone(v)
		for i := range v {
			fill(&v[i])
		}
		return v, nil
	}
	return v, nil
}
