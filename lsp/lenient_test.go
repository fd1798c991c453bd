package lsp

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.lsp.dev/protocol"
)

// What is not of its type in the params of initialize counts as absent, and what stands beside it is kept.
func TestLenient(t *testing.T) {
	for _, c := range []struct {
		name, in, absent, want string // want: what the params are then; "": refused
	}{
		{"nothing wrong", `{"processId":7,"rootUri":"file:///a","capabilities":{}}`, "", `{"processId":7,"rootUri":"file:///a","capabilities":{}}`},
		{"null for what may be left out", `{"trace":null,"clientInfo":null,"locale":null,"workspaceFolders":null,"rootPath":null,"processId":7,"rootUri":null,"capabilities":null}`, "trace",
			`{"workspaceFolders":null,"processId":7,"rootPath":null,"rootUri":null,"capabilities":{}}`},
		{"list for an object", `{"processId":7,"rootUri":null,"capabilities":{"textDocument":{"hover":[],"completion":{"contextSupport":true}}}}`, "capabilities.textDocument.hover",
			`{"processId":7,"rootUri":null,"capabilities":{"textDocument":{"completion":{"contextSupport":true}}}}`},
		{"list for all of them", `{"processId":7,"rootUri":null,"capabilities":[]}`, "capabilities", `{"processId":7,"rootUri":null,"capabilities":{}}`},
		{"flag for an object", `{"processId":null,"rootUri":null,"capabilities":{"textDocument":{"publishDiagnostics":{"tagSupport":true,"versionSupport":true}},"window":{"workDoneProgress":true}}}`, "capabilities.textDocument.publishDiagnostics.tagSupport",
			`{"processId":null,"rootUri":null,"capabilities":{"textDocument":{"publishDiagnostics":{"versionSupport":true}},"window":{"workDoneProgress":true}}}`},
		{"object for a flag", `{"processId":null,"rootUri":null,"capabilities":{"workspace":{"applyEdit":{},"configuration":true}}}`, "capabilities.workspace.applyEdit",
			`{"processId":null,"rootUri":null,"capabilities":{"workspace":{"configuration":true}}}`},
		{"number for a list", `{"processId":null,"rootUri":null,"capabilities":{"general":{"positionEncodings":5}}}`, "capabilities.general.positionEncodings", `{"processId":null,"rootUri":null,"capabilities":{"general":{}}}`},
		{"one of a list", `{"processId":null,"rootUri":null,"capabilities":{"general":{"positionEncodings":["utf-8",5,null,"utf-16"]}}}`, "capabilities.general.positionEncodings",
			`{"processId":null,"rootUri":null,"capabilities":{"general":{"positionEncodings":["utf-8","utf-16"]}}}`},
		{"one folder", `{"processId":null,"rootUri":null,"capabilities":{},"workspaceFolders":[{"uri":5},{"uri":"file:///a","name":"a"}]}`, "workspaceFolders",
			`{"processId":null,"rootUri":null,"capabilities":{},"workspaceFolders":[{"uri":"file:///a","name":"a"}]}`},
		{"fraction", `{"processId":null,"rootUri":null,"capabilities":{"textDocument":{"foldingRange":{"rangeLimit":5000.5,"lineFoldingOnly":true}}}}`, "capabilities.textDocument.foldingRange.rangeLimit",
			`{"processId":null,"rootUri":null,"capabilities":{"textDocument":{"foldingRange":{"lineFoldingOnly":true}}}}`},
		{"process id", `{"processId":"7","rootUri":"file:///a","capabilities":{}}`, "", ""},
		{"all but the process id", `{"processId":null,"rootUri":5,"rootPath":5,"capabilities":"x","trace":5,"clientInfo":[],"locale":{},"workspaceFolders":{},"workDoneToken":[]}`, "capabilities clientInfo locale rootPath rootUri trace workDoneToken workspaceFolders",
			`{"processId":null,"rootUri":null,"capabilities":{}}`},
		{"URI that its decoder refuses", `{"processId":7.0,"rootUri":"file:////server/share","capabilities":[]}`, "capabilities", `{"processId":7,"rootUri":"file:////server/share","capabilities":{}}`},
		{"no object", `[]`, "", ""},
		{"no object either", `5`, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, want := new(tolerant), new(protocol.InitializeParams)
			err := Codec.Unmarshal([]byte(c.in), got)
			if c.want == "" {
				if err == nil {
					t.Error("taken")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if err := Codec.Unmarshal([]byte(c.want), want); err != nil {
				t.Fatal(err)
			}
			a, _ := Codec.Marshal(got.InitializeParams)
			if absent := strings.Join(got.absent, " "); absent != c.absent {
				t.Errorf("taken for absent: %q, want %q", absent, c.absent)
			}
			b, _ := Codec.Marshal(want)
			if string(a) != string(b) {
				t.Errorf("got  %s\nwant %s", a, b)
			}
		})
	}
}

// However much of it does not fit, looking for it ends soon.
func TestLenientIsBounded(t *testing.T) {
	var folders []string
	for i := range 20_000 {
		folders = append(folders, fmt.Sprintf(`{"uri":%d}`, i))
	}
	deep := strings.Repeat(`{"textDocument":`, 400) + "5" + strings.Repeat("}", 400)
	for name, in := range map[string]string{
		"long":     `{"capabilities":{},"workspaceFolders":[` + strings.Join(folders, ",") + `]}`,
		"deep":     `{"capabilities":` + deep + `}`,
		"no types": `{"capabilities":{"textDocument":` + strings.Repeat("[", 400) + strings.Repeat("]", 400) + `}}`,
	} {
		t.Run(name, func(t *testing.T) {
			if !json.Valid([]byte(in)) {
				t.Fatal("the test is wrong")
			}
			begin := time.Now()
			_ = Codec.Unmarshal([]byte(in), new(tolerant))
			if d := time.Since(begin); d > 20*time.Second {
				t.Errorf("it took %v", d)
			}
		})
	}
}

func FuzzLenient(f *testing.F) {
	f.Add([]byte(`{"processId":7,"capabilities":{"textDocument":{"hover":[]}},"trace":null}`))
	f.Add([]byte(`{"capabilities":{"general":{"positionEncodings":[5,"utf-8"]}},"workspaceFolders":[null,{"uri":"file:///a"}]}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		if !json.Valid(in) || len(in) > 1<<12 {
			return // the engine has validated what comes here
		}
		p := new(tolerant)
		if Codec.Unmarshal(in, p) != nil {
			return
		}
		if len(p.absent) == 0 {
			return // nothing was mended
		}
		if _, err := Codec.Marshal(p.InitializeParams); err != nil {
			t.Errorf("%q: %v", in, err)
		}
	})
}
