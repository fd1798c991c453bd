package mcp

import (
	"context"
	"errors"
	"fmt"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// AddTool adds a tool made of a typed function to a Toolbox.
//
// The arguments are decoded into an In, a struct or a map, by the rules of encoding/json with names matched exactly. Its schema is inferred,
// unless t.InputSchema is set: a field without omitempty is required, members beside the fields are refused. Tags of the fields say more:
//
//	type forecast struct {
//		City  string   `json:"city" jsonschema:"where" minLength:"1" maxLength:"80"`
//		Days  int      `json:"days" jsonschema:"how many" minimum:"1" maximum:"14" default:"3"`
//		Unit  string   `json:"unit,omitempty" enum:"C,F"`
//		Parts []string `json:"parts,omitempty" enum:"wind,rain,sun" uniqueItems:"true"`
//	}
//
// Types are what they are written as: those with MarshalText are text, such as enumerations and addresses, those with MarshalJSON anything, a time.Duration is
// text like "1m30s", a number with the option string is text; slices, maps and pointers may be null.
//
// The tags are named after the keywords of JSON Schema: jsonschema (the description), title, enum, minimum, maximum, exclusiveMinimum, exclusiveMaximum,
// multipleOf, minLength, maxLength, pattern (of RE2), format (shown, not enforced), minItems, maxItems, uniqueItems, minProperties, maxProperties, and
// x-mcp-header. What is said about text or numbers on a list is said about its items. A field with a default is not required, and has that value if it
// was not sent; the default of text stands as it is, others as JSON.
//
// Arguments that do not fit are answered with a tool result, IsError set, that names paths and reasons, so that the model can do better; f is not
// called.
//
// The Out becomes the result. A *[CallToolResult], [TextResult], [Content] or []Content is sent as such, a string as text, nil as nothing. Any
// other Out, and any Out where t.OutputSchema is set, is structured content, with the same JSON as text for clients that do not know it; the
// schema is inferred and shown to clients. Up to 2025-11-25 structured content must be an object: other types are wrapped as {"result": ...} there, in
// schema and content. A result that does not fit the schema is the server's fault: "Internal error", reported.
//
// A *[InputRequired], of a function whose Out is that or any, is no result: it asks the client, and f is called again.
//
// An error from f becomes a tool result with its text, which the model reads: it must hold nothing that the model may not see. A
// *[jsonrpc2.Error] goes to the client as a protocol error instead. Once ctx has ended its error is passed on, and the connection says what
// happened.
//
// AddTool panics where [Toolbox.Add] would, and for types and schemas that cannot be used. [TryAddTool] returns that as an error.
func AddTool[In, Out any](b *Toolbox, t Tool, f func(ctx context.Context, in In) (Out, error)) {
	must(TryAddTool(b, t, f))
}

// TryAddTool is AddTool with an error where that panics, for tools that are not the program's own. With a json.RawMessage as In and an InputSchema it
// takes a schema that came from elsewhere, and enforces it.
func TryAddTool[In, Out any](b *Toolbox, t Tool, f func(ctx context.Context, in In) (Out, error)) error {
	if f == nil {
		return fmt.Errorf("mcp: tool %q without a function", clip(t.Name))
	}
	types, err := typesOf[In, Out](&t)
	if err != nil {
		return err
	}
	run := func(ctx context.Context, v In) (any, error) {
		res, err := f(ctx, v)
		if err != nil {
			return failed(ctx, err)
		}
		return types.out().result(ctx, res)
	}
	if text, ok := any(f).(func(context.Context, In) (string, error)); ok && types.text {
		// The most common kind of tool, without putting the text into an any first.
		run = func(ctx context.Context, v In) (any, error) {
			s, err := text(ctx, v)
			if err != nil {
				return failed(ctx, err)
			}
			return TextResult(s), nil
		}
	}
	name := t.Name
	return b.add(&boxed{tool: t, types: &types.shown, call: func(ctx context.Context, a Arguments) (any, error) {
		var v In
		if err := types.in().decode(a, &v); err != nil {
			return ErrorResult(fmt.Sprintf("Invalid arguments for tool %s: %v", name, err)), nil
		}
		return run(ctx, v)
	}}, types.known)
}

// failed is the result of a tool that returned err.
func failed(ctx context.Context, err error) (any, error) {
	if protocol, ok := errors.AsType[*jsonrpc2.Error](err); ok {
		return nil, protocol
	}
	if _, incapable := errors.AsType[*CapabilityError](err); incapable || ctx.Err() != nil {
		return nil, err
	}
	return ErrorResult(err.Error()), nil
}
