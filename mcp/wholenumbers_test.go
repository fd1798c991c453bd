package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestWholeNumbers(t *testing.T) {
	for in, want := range map[string]string{
		`3.0`: `3`, `3e0`: `3`, `-3E+2`: `-300`, `300e-2`: `3`, `0.3e1`: `3`, `-0.0`: `-0`, `0e99999999999999999999`: `0`, `12.50e1`: `125`, `0.0010e3`: `1`,
		`9007199254740993.0`: `9007199254740993`, `-9223372036854775808.00`: `-9223372036854775808`, `1844674407370955161.5e1`: `18446744073709551615`,
		`1e19`: `10000000000000000000`, `1e20`: ``, `1.5`: ``, `15e-1`: ``, `1e-1`: ``, `0.1`: ``, `1e400`: ``, `1e99999999999999999999`: ``, `1e-9223372036854775808`: ``,
		`12`: ``, `"3.0"`: ``, `"\"3.0"`: ``, `{"3.0":1}`: ``, `true`: ``,
		`{"a":[9007199254740993, 3.0 ,{"b":1.5e0,"c":2e0}],"3.0":"1e1"}`: `{"a":[9007199254740993, 3 ,{"b":1.5e0,"c":2}],"3.0":"1e1"}`,
		strings.Repeat("1", 21) + `.0`:                                   ``,
	} {
		if got := string(wholeNumbers([]byte(in))); got != want {
			t.Errorf("%s: %q, want %q", in, got, want)
		}
	}
}

// A number that is written as an integer stays what it is, however others beside it are written: it may be an id.
func TestIntegersAreExact(t *testing.T) {
	type input struct {
		ID    int64   `json:"id"`
		Count uint64  `json:"count,omitempty"`
		Deep  []int64 `json:"deep,omitempty"`
	}
	type flat struct {
		ID    int64  `json:"id"`
		Count uint64 `json:"count,omitempty"`
	}
	var box Toolbox
	AddTool(&box, Tool{Name: "deep"}, func(_ context.Context, in input) (string, error) { return fmt.Sprint(in.ID, in.Count), nil })
	AddTool(&box, Tool{Name: "flat"}, func(_ context.Context, in flat) (string, error) { return fmt.Sprint(in.ID, in.Count), nil })
	for arguments, want := range map[string]string{
		`{"id":9007199254740993,"count":3.0}`:                     "9007199254740993 3",
		`{"id":9007199254740993.0}`:                               "9007199254740993 0",
		`{"id":9223372036854775807,"count":18446744073709551615}`: "9223372036854775807 18446744073709551615",
		`{"id":3e0,"count":18446744073709551615}`:                 "3 18446744073709551615",
		`{"id":-9223372036854775808.0,"count":1e19}`:              "-9223372036854775808 10000000000000000000",
	} {
		for _, tool := range []string{"flat", "deep"} {
			res, err := box.Call(context.Background(), tool, RawArguments(json.RawMessage(arguments)))
			if err != nil || fmt.Sprint(res) != want {
				t.Errorf("%s %s: %v, %v, want %s", tool, arguments, res, err, want)
			}
		}
	}
	var v input
	e := ElicitResult{Action: Accept, Content: json.RawMessage(`{"id":9007199254740993,"count":3.0}`)}
	if err := e.Decode(&v); err != nil || v.ID != 9007199254740993 || v.Count != 3 {
		t.Errorf("a form: %+v, %v", v, err)
	}
}
