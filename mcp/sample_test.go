package mcp

import (
	"encoding/json"
	"strings"
	"testing"
)

// What a model says is read back as it was written; what is of no known type stays as it is.
func TestMessageContent(t *testing.T) {
	blocks := `[{"type":"text","text":"a"},{"type":"image","data":"eA==","mimeType":"image/png"},{"type":"audio","data":"eQ==","mimeType":"audio/wav"},` +
		`{"type":"tool_use","id":"1","name":"t","input":{"a":1}},{"type":"tool_result","toolUseId":"1","content":[{"type":"text","text":"r"}],"structuredContent":{"b":2},"isError":true},` +
		`{"type":"tool_result","toolUseId":"2","content":[],"isError":false},{"type":"later","x":[1]}]`
	m, err := parseMessage([]byte(`{"role":"assistant","content":` + blocks + `,"model":"m","stopReason":"toolUse","more":1}`))
	if err != nil || m.Role != RoleAssistant || m.Model != "m" || m.StopReason != "toolUse" || m.Text() != "a" {
		t.Fatalf("%+v, %v", m, err)
	}
	var all []string
	for _, c := range m.Content {
		b, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(b))
	}
	if got := "[" + strings.Join(all, ",") + "]"; got != blocks {
		t.Errorf("got\n%s\nwant\n%s", got, blocks)
	}
	for _, bad := range []string{
		`5`, `[5]`, `[{}]`, `{"type":5}`, `{"type":"text"}`, `{"type":"audio","data":"eQ=="}`, `{"type":"audio","data":"?","mimeType":"a/b"}`, `{"type":"tool_use","id":"1","name":"t"}`,
		`{"type":"tool_use","id":1,"name":"t","input":{}}`, `{"type":"tool_use","id":"1","name":"t","input":[]}`, `{"type":"tool_result","content":[]}`, `{"type":"tool_result","toolUseId":"1","content":{}}`,
		`{"type":"tool_result","toolUseId":"1","content":[5]}`, `{"type":"tool_result","toolUseId":"1","content":[{"type":"tool_result","toolUseId":"1","content":[]}]}`, `{"type":"text","type":"image","text":""}`,
	} {
		if _, err := parseMessage([]byte(`{"role":"assistant","model":"m","content":` + bad + `}`)); err == nil {
			t.Errorf("%s is content", bad)
		}
	}
	for _, bad := range []string{`{"role":"user","content":{"type":"text","text":""},"model":5}`, `{"role":"user","content":{"type":"text","text":""},"stopReason":5}`} {
		if _, err := parseMessage([]byte(bad)); err == nil {
			t.Errorf("%s is a message", bad)
		}
	}
}

// What cannot be sent is the program's mistake.
func TestSamplingRequests(t *testing.T) {
	low := 0.5
	good := CreateMessageRequest{Messages: []SamplingMessage{{RoleUser, []Content{Text("?")}}}, MaxTokens: 1, Temperature: &low, StopSequences: []string{"."},
		ModelPreferences: &ModelPreferences{Hints: []ModelHint{{"claude"}}, CostPriority: &low}, Metadata: map[string]any{"a": 1}}
	q := good.Question()
	if want := `{"messages":[{"role":"user","content":{"type":"text","text":"?"}}],"maxTokens":1,"temperature":0.5,"stopSequences":["."],"modelPreferences":{"hints":[{"name":"claude"}],"costPriority":0.5},"metadata":{"a":1}}`; string(q.text) != want || q.err != nil {
		t.Errorf("got  %s\nwant %s, %v", q.text, want, q.err)
	}
	for name, change := range map[string]func(r *CreateMessageRequest){
		"no tokens":            func(r *CreateMessageRequest) { r.MaxTokens = 0 },
		"no messages":          func(r *CreateMessageRequest) { r.Messages = nil },
		"a message of nobody":  func(r *CreateMessageRequest) { r.Messages = []SamplingMessage{{"", []Content{Text("")}}} },
		"a message of nothing": func(r *CreateMessageRequest) { r.Messages = []SamplingMessage{{RoleUser, nil}} },
		"nil content":          func(r *CreateMessageRequest) { r.Messages = []SamplingMessage{{RoleUser, []Content{nil}}} },
		"metadata that does not encode": func(r *CreateMessageRequest) {
			r.Metadata = map[string]any{"f": func() {}}
		},
	} {
		r := good
		change(&r)
		if r.Question().err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
