package vectors

import (
	"context"
	"encoding/json"
	"math/big"
	"strconv"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// operands is what subtract takes, by position or by name (JSON-RPC 2.0 section 7).
type operands struct{ Minuend, Subtrahend json.Number }

// UnmarshalJSON takes both forms.
func (o *operands) UnmarshalJSON(text []byte) error {
	if text[0] == '{' {
		type named struct {
			Minuend    json.Number `json:"minuend"`
			Subtrahend json.Number `json:"subtrahend"`
		}
		return json.Unmarshal(text, (*named)(o))
	}
	return json.Unmarshal(text, &[]any{&o.Minuend, &o.Subtrahend})
}

// spec7 is the peer of the examples in section 7 of the specification.
func spec7(w *witness) *jsonrpc2.Mux {
	m := jsonrpc2.NewMux()
	m.HandleRequest("subtract", jsonrpc2.Call(func(_ context.Context, p *operands) (json.RawMessage, error) {
		return add(1, []json.Number{p.Minuend, "-" + p.Subtrahend})
	}))
	m.HandleRequest("sum", jsonrpc2.Call(func(_ context.Context, p *[]json.Number) (json.RawMessage, error) {
		return add(1, *p)
	}))
	handle(m, map[string]requestFunc{"get_data": value([]any{"hello", 5})})
	recorded(m, w, "update", "foobar", "notify_sum", "notify_hello")
	return m
}

// add adds numbers exactly and divides by the divisor.
func add(divisor int64, numbers []json.Number) (json.RawMessage, error) {
	sum := new(big.Rat)
	for _, n := range numbers {
		text := string(n)
		if len(text) > 1 && text[:2] == "--" {
			text = text[2:]
		}
		if v, ok := new(big.Rat).SetString(text); ok {
			sum.Add(sum, v)
		}
	}
	sum.Quo(sum, new(big.Rat).SetInt64(divisor))
	if sum.IsInt() {
		return json.RawMessage(sum.Num().String()), nil
	}
	f, _ := sum.Float64()
	return json.RawMessage(strconv.FormatFloat(f, 'g', -1, 64)), nil
}

// readme is the peer of a first tour: handlers that check their params, take long and are cancelled.
func readme(w *witness) *jsonrpc2.Mux {
	m := jsonrpc2.NewMux()
	m.HandleRequest("sum", jsonrpc2.Call(func(_ context.Context, p *struct {
		Values []json.Number `json:"values"`
	}) (any, error) {
		total, err := add(1, p.Values)
		return map[string]any{"total": total}, err
	}))
	handle(m, map[string]requestFunc{"divide": divide, "slow": slow, "fast": value("fast"), "run": run})
	recorded(m, w, "progress")
	customCancel(m)
	return m
}

func divide(_ context.Context, r *jsonrpc2.Request) (any, error) {
	var p struct {
		Value json.RawMessage `json:"value"`
		By    json.RawMessage `json:"by"`
	}
	err := r.Decode(&p)
	_, valueErr := strconv.ParseInt(string(p.Value), 10, 64)
	by, byErr := strconv.ParseInt(string(p.By), 10, 64)
	switch {
	case err != nil || valueErr != nil || byErr != nil:
		return nil, jsonrpc2.Errorf(jsonrpc2.CodeInvalidParams, `Expected integer "value" and "by" parameters.`)
	case by == 0:
		return nil, jsonrpc2.Errorf(jsonrpc2.CodeInvalidParams, "Cannot divide by zero.")
	}
	return add(by, []json.Number{json.Number(p.Value)})
}
