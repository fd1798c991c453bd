package lsp

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	"go.lsp.dev/protocol"
)

// What a server can do is told by the rows of the routing table that it serves. It is put together as JSON, because the paths of the table lead through
// members that are a boolean or an object, whichever is needed.

// tree is a JSON object.
type tree = map[string]any

// announce returns the capabilities that follow from the functions that are set, and the registrations that take the place of some of them.
func (s *session) announce() (c protocol.ServerCapabilities, later []protocol.Registration, err error) {
	all := tree{"textDocumentSync": tree{"openClose": true, "change": protocol.TextDocumentSyncKindIncremental}}
	if s.client.Can("workspace.workspaceFolders") { // the session keeps them for every server
		all["workspace"] = tree{"workspaceFolders": tree{"supported": true}}
	}
	served := map[string]bool{}
	for i := range routes() {
		rt := &routes()[i]
		if rt.way == toClient || rt.server == "" || !rt.first || rt.handler(s) == nil || rt.needs && !s.client.Can(rt.client) {
			continue
		}
		served[rt.method] = true
		if err := s.srv.place(all, rt); err != nil {
			return c, nil, err
		}
	}
	for i := range routes() {
		rt := &routes()[i]
		if !served[rt.method] {
			continue
		}
		if s.srv.Options.Dynamic && s.client.Can(rt.dynamic()) {
			r, ok, err := s.srv.takeOut(all, rt)
			if err != nil {
				return c, nil, err
			}
			if ok {
				later = append(later, r)
			}
		} else if rt.rich != "" && !s.client.Can(rt.rich) {
			all[rt.server] = true
		}
	}
	raw, err := json.Marshal(all)
	if err == nil {
		err = Codec.Unmarshal(raw, &c)
	}
	if err != nil {
		return c, nil, fmt.Errorf("lsp: capabilities: %w", err)
	}
	return c, later, nil
}

// place enters what a row announces: its options where it has some, else true. A row that refines another one, as a resolve function does, is of no use
// without it.
func (s *Server) place(all tree, rt *route) error {
	path := strings.Split(rt.server, ".")
	shared := rt.options != "" && rt.serve.handler != nil // of several rows, whose paths lead below the options
	node := all
	for i, name := range path {
		if i == len(path)-1 {
			if said, ok := node[name]; ok && said != false {
				return nil
			}
			v, err := s.value(rt, shared)
			if v != nil {
				node[name] = v
			}
			return err
		}
		switch v := node[name].(type) {
		case tree:
			node = v
			continue
		case bool: // becomes an tree that says more
		default:
			if i == 0 && shared && len(path) == 2 {
				o, err := s.describe(rt.options)
				if err != nil {
					return err
				}
				node[name] = o
				node = o
				continue
			}
			if root := path[0]; root != "workspace" && root != "textDocumentSync" {
				return nil
			}
		}
		o := tree{}
		node[name] = o
		node = o
	}
	return nil
}

// value is what stands at the end of the path of a row; nil: nothing can be announced.
func (s *Server) value(rt *route, shared bool) (any, error) {
	name := rt.options
	if name == "" {
		name = rt.serve.field
	}
	if _, ok := reflect.TypeFor[Options]().FieldByName(name); !ok || shared {
		return true, nil
	}
	o, err := s.describe(name)
	if err != nil {
		return nil, err
	}
	if trigger, ok := o["firstTriggerCharacter"]; ok && trigger == "" {
		return nil, nil // a client could not use it
	}
	if len(o) == 0 && !wantsObject()[rt.server] {
		return true, nil
	}
	return o, nil
}

// wantsObject has the capabilities that cannot be a boolean.
var wantsObject = sync.OnceValue(func() map[string]bool {
	m := map[string]bool{}
	t := reflect.TypeFor[protocol.ServerCapabilities]()
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		m[name] = t.Field(i).Type.Kind() != reflect.Interface
	}
	return m
})

// describe returns a field of Options as JSON, with what the Server itself tells.
func (s *Server) describe(name string) (tree, error) {
	raw, err := Codec.Marshal(reflect.ValueOf(&s.Options).Elem().FieldByName(name).Addr().Interface())
	if err != nil {
		return nil, fmt.Errorf("lsp: Options.%s: %w", name, err)
	}
	o := tree{}
	if err := json.Unmarshal(raw, &o); err != nil {
		return nil, fmt.Errorf("lsp: Options.%s: %w", name, err)
	}
	switch list, _ := o["filters"].([]any); {
	case name == "ExecuteCommand":
		o["commands"] = slices.Sorted(maps.Keys(s.Commands))
	case name == "Notebooks" && len(s.Options.Notebooks.NotebookSelector) == 0:
		o["notebookSelector"] = []tree{{"notebook": "*"}}
	case strings.HasSuffix(name, "Files") && len(list) == 0:
		o["filters"] = []tree{{"pattern": tree{"glob": "**/*"}}}
	}
	return o, nil
}

// takeOut makes a registration of what is announced for a row. Rows that share a registration have one. Synchronization of documents stays where it is: it
// has to work before registrations get through.
func (s *Server) takeOut(all tree, rt *route) (r protocol.Registration, ok bool, err error) {
	path := strings.Split(rt.server, ".")
	if path[0] == "textDocumentSync" {
		return r, false, nil
	}
	if path[0] != "workspace" {
		path = path[:1]
	}
	v, ok := cut(all, path)
	if !ok {
		return r, false, nil
	}
	options, _ := v.(tree)
	if options == nil {
		options = tree{}
	}
	method := rt.method
	if rt.under != "" {
		method = rt.under
	}
	if _, has := reflect.TypeOf(rt.register).FieldByName("DocumentSelector"); has {
		selector := s.Options.Selector
		if own, ok := s.Options.Selectors[method]; ok {
			selector = own
		}
		options["documentSelector"] = nil
		if len(selector) > 0 {
			raw, err := Codec.Marshal(selector)
			if err != nil {
				return r, false, fmt.Errorf("lsp: selector of %s: %w", method, err)
			}
			options["documentSelector"] = json.RawMessage(raw)
		}
	}
	raw, err := json.Marshal(options)
	return protocol.Registration{ID: method, Method: method, RegisterOptions: raw}, true, err
}

// cut takes what is at a path out of a tree, and what is empty then.
func cut(node tree, path []string) (v any, ok bool) {
	if len(path) == 1 {
		v, ok = node[path[0]]
		delete(node, path[0])
		return v, ok
	}
	below, _ := node[path[0]].(tree)
	if v, ok = cut(below, path[1:]); ok && len(below) == 0 {
		delete(node, path[0])
	}
	return v, ok
}
