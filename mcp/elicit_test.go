package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

// A form made of a struct shows what forms can have, and holds the answer against all of it.
func TestFormFor(t *testing.T) {
	type booking struct {
		Name  string   `json:"name" title:"Who" jsonschema:"the guest" minLength:"2" pattern:"^[A-Z]"`
		Mail  string   `json:"mail,omitempty" format:"email"`
		Phone string   `json:"phone,omitempty" format:"phone"`
		Seats int      `json:"seats" minimum:"1" maximum:"9" default:"2"`
		Where string   `json:"where,omitempty" enum:"inside,outside"`
		Extra []string `json:"extra,omitempty" enum:"dog,child"`
		Note  *string  `json:"note,omitempty"`
		Vip   bool     `json:"vip,omitempty"`
		Price float64  `json:"price,omitempty"`
	}
	q := FormFor[booking]("Book?")
	if q.err != nil {
		t.Fatal(q.err)
	}
	var shown struct {
		RequestedSchema struct {
			Type       string
			Properties map[string]json.RawMessage
			Required   []string
		}
	}
	if err := json.Unmarshal(q.text, &shown); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"name":  `{"type":"string","title":"Who","description":"the guest","minLength":2}`,
		"mail":  `{"type":"string","format":"email"}`,
		"phone": `{"type":"string"}`,
		"seats": `{"type":"integer","default":2,"minimum":1,"maximum":9}`,
		"where": `{"type":"string","enum":["inside","outside"]}`,
		"extra": `{"type":"array","items":{"type":"string","enum":["dog","child"]}}`,
		"note":  `{"type":"string"}`, "vip": `{"type":"boolean"}`, "price": `{"type":"number"}`,
	} {
		var got, wanted any
		_ = json.Unmarshal(shown.RequestedSchema.Properties[name], &got)
		_ = json.Unmarshal([]byte(want), &wanted)
		a, _ := json.Marshal(got)
		b, _ := json.Marshal(wanted)
		if string(a) != string(b) {
			t.Errorf("%s: %s, want %s", name, a, b)
		}
	}
	if r := strings.Join(shown.RequestedSchema.Required, " "); r != "name" || shown.RequestedSchema.Type != "object" {
		t.Errorf("required %q", r)
	}
	for content, fits := range map[string]bool{
		`{"name":"Bo"}`: true, `{"name":"Bo","more":1}`: true, `{"name":"bo"}`: false, `{"name":"B"}`: false, `{}`: false, `{"name":"Bo","seats":0}`: false,
		`{"name":"Bo","extra":["dog"]}`: true, `{"name":"Bo","extra":["cat"]}`: false, `{"name":"Bo","where":"roof"}`: false, `{"name":"Bo","seats":3.0}`: true,
	} {
		if got := q.fits([]byte(acceptedWith(content))); got != fits {
			t.Errorf("%s fits: %v", content, got)
		}
	}
	for content, want := range map[string]booking{`{"name":"Bo"}`: {Name: "Bo", Seats: 2}, `{"name":"Bo","seats":3.0,"x":null}`: {Name: "Bo", Seats: 3}} {
		q.answer = json.RawMessage(acceptedWith(content))
		var got booking
		if err := q.Decode(&got); err != nil || got.Name != want.Name || got.Seats != want.Seats {
			t.Errorf("%s: %+v, %v", content, got, err)
		}
	}
	if !q.several {
		t.Error("a choice of several is not seen")
	}
	for name, q := range map[string]*Question{
		"nested": FormFor[struct{ A struct{ B int } }]("?"), "list": FormFor[struct{ A []struct{} }]("?"), "map": FormFor[map[string]string]("?"),
		"text": FormFor[string]("?"), "function": FormFor[struct{ F func() }]("?"),
	} {
		if q.err == nil {
			t.Errorf("%s: a form", name)
		}
	}
}

// What an answer says, and what it does not.
func TestElicitResult(t *testing.T) {
	var v nameForm
	for answer, want := range map[string]error{
		acceptedWith(`{"name":"x"}`): nil, accepted: nil, acceptedWith(`null`): nil, declined: ErrDeclined, dismissed: ErrCancelled, acceptedWith(`{"name":5}`): ErrAnswer,
		`{"action":"decline","content":{"name":"x"}}`: ErrDeclined,
	} {
		e, err := parseElicit([]byte(answer))
		if err != nil {
			t.Fatalf("%s: %v", answer, err)
		}
		if err := e.Decode(&v); !errors.Is(err, want) || (want == nil) != (err == nil) {
			t.Errorf("%s: %v", answer, err)
		}
		if (e.Content != nil) != (e.Action == Accept) {
			t.Errorf("%s: content %s", answer, e.Content)
		}
	}
	q := Form{Message: "?"}.Question()
	if q.Answered() || q.Elicited() != nil || q.Message() != nil || q.Roots() != nil || !errors.Is(q.Decode(&v), ErrInputRequired) || q.confirmed() == nil {
		t.Error("a question that nobody has answered")
	}
}

// The three errors and the capabilities are never taken for each other.
func TestErrorsAreDistinct(t *testing.T) {
	all := []error{ErrInputRequired, ErrDeclined, ErrCancelled, ErrAskTimeout, ErrAnswer, ErrRounds, ErrDone, &CapabilityError{}, &ClientError{}}
	for i, a := range all {
		for j, b := range all {
			if i != j && errors.Is(a, b) {
				t.Errorf("%v is %v", a, b)
			}
		}
	}
}

// The parts of an Asker that the other tests do not use.
func TestAsker(t *testing.T) {
	eachAsking(t, func(t *testing.T, a asking) {
		if a.revision < rev20251125 {
			return // it has no pages
		}
		var box Toolbox
		AddAskingTool(&box, Tool{Name: "x"}, func(_ context.Context, _ pathIn, q *Asker) (string, error) {
			f, ok1 := q.Form("form", Form{Message: "?"})
			ok2 := q.URL("page", URLElicitation{Message: "?", URL: "https://example.com"})
			m, ok3 := q.Sample("model", CreateMessageRequest{Messages: []SamplingMessage{{RoleUser, []Content{Text("?")}}}, MaxTokens: 1})
			roots, ok4 := q.Roots("roots")
			if !ok1 || !ok2 || !ok3 || !ok4 {
				return "", errors.New("this is dropped as long as something is open")
			}
			return string(f.Action) + m.Text() + roots[0].URI, nil
		}, func(_ context.Context, _ pathIn, s string) (string, error) { return s, nil })
		AddAskingTool(&box, Tool{Name: "fails"}, func(context.Context, pathIn, *Asker) (string, error) { return "", errors.New("no such thing") },
			func(context.Context, pathIn, string) (string, error) { return "", nil })
		got, _ := a.open(t, &Server{Caller: box.Call}, everyCapability).call("tools/call", `,"name":"x"`, func(method, _ string) (string, error) {
			return map[string]string{"elicitation/create": accepted, "sampling/createMessage": `{"role":"assistant","model":"m","content":{"type":"text","text":" Hi "}}`,
				"roots/list": `{"roots":[{"uri":"file:///a"}]}`}[method], nil
		})
		if got != "accept Hi file:///a" {
			t.Errorf("got %s", got)
		}
		c := a.open(t, &Server{Caller: box.Call}, `{"elicitation":{}}`)
		if got, rounds := c.call("tools/call", `,"name":"x"`, always(accepted)); rounds != 0 || !strings.Contains(got, `{"roots":{},"sampling":{},"elicitation":{"url":{}}}`) {
			t.Errorf("%d rounds: %s", rounds, got)
		}
		if got, _ := c.call("tools/call", `,"name":"fails"`, nil); got != "isError no such thing" {
			t.Errorf("got %s", got)
		}
		if got, _ := c.call("tools/call", `,"name":"x","arguments":{"path":5}`, nil); !strings.HasPrefix(got, "isError Invalid arguments for tool x") {
			t.Errorf("got %s", got)
		}
	})
}
