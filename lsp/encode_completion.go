package lsp

import "go.lsp.dev/protocol"

func appendCompletionList(dst []byte, l *protocol.CompletionList) (_ []byte, err error) {
	if l == nil {
		return protocol.AppendMarshal(dst, l)
	}
	dst = append(dst, `{"isIncomplete":`...)
	dst = appendBool(dst, l.IsIncomplete)
	if l.ItemDefaults != nil {
		dst = append(dst, `,"itemDefaults":`...)
		if dst, err = protocol.AppendMarshal(dst, l.ItemDefaults); err != nil {
			return nil, err
		}
	}
	if l.ApplyKind != nil {
		dst = append(dst, `,"applyKind":`...)
		if dst, err = protocol.AppendMarshal(dst, l.ApplyKind); err != nil {
			return nil, err
		}
	}
	dst = append(dst, `,"items":`...)
	if dst, err = appendSlice(dst, l.Items, quickCompletionItem); err != nil {
		return nil, err
	}
	return append(dst, '}'), nil
}

// quickCompletionItem has the members in the order of AppendMarshal.
func quickCompletionItem(dst []byte, x *protocol.CompletionItem) (_ []byte, ok bool) {
	if len(x.Tags) > 0 || len(x.AdditionalTextEdits) > 0 || len(x.CommitCharacters) > 0 || len(x.Data) > 0 && !simple(x.Data) ||
		x.Command.Title != "" || x.Command.Tooltip != nil || x.Command.Command != "" || len(x.Command.Arguments) > 0 {
		return dst, false
	}
	at := len(dst)
	dst = append(dst, `{"label":`...)
	dst, m := appendPlain(dst, x.Label, marks{})
	if x.LabelDetails != nil {
		dst, m = appendPlainDetails(dst, x.LabelDetails, m)
	}
	if x.Kind != 0 {
		dst = append(dst, `,"kind":`...)
		dst = appendUint(dst, uint32(x.Kind))
	}
	if s, ok := x.Detail.Get(); ok {
		dst = append(dst, `,"detail":`...)
		dst, m = appendPlain(dst, s, m)
	}
	switch doc := x.Documentation.(type) {
	case nil:
	case protocol.String:
		dst = append(dst, `,"documentation":`...)
		dst, m = appendPlain(dst, string(doc), m)
	case *protocol.MarkupContent:
		if doc == nil {
			return dst, false
		}
		dst = append(dst, `,"documentation":{"kind":`...)
		dst, m = appendPlain(dst, string(doc.Kind), m)
		dst = append(dst, `,"value":`...)
		dst, m = appendPlain(dst, doc.Value, m)
		dst = append(dst, '}')
	default:
		return dst, false
	}
	//lint:ignore SA1019 servers set it for clients that do not know tags
	if b, ok := x.Deprecated.Get(); ok {
		dst = append(dst, `,"deprecated":`...)
		dst = appendBool(dst, b)
	}
	if b, ok := x.Preselect.Get(); ok {
		dst = append(dst, `,"preselect":`...)
		dst = appendBool(dst, b)
	}
	if s, ok := x.SortText.Get(); ok {
		dst = append(dst, `,"sortText":`...)
		dst, m = appendPlain(dst, s, m)
	}
	if s, ok := x.FilterText.Get(); ok {
		dst = append(dst, `,"filterText":`...)
		dst, m = appendPlain(dst, s, m)
	}
	if s, ok := x.InsertText.Get(); ok {
		dst = append(dst, `,"insertText":`...)
		dst, m = appendPlain(dst, s, m)
	}
	if x.InsertTextFormat != 0 {
		dst = append(dst, `,"insertTextFormat":`...)
		dst = appendUint(dst, uint32(x.InsertTextFormat))
	}
	if x.InsertTextMode != 0 {
		dst = append(dst, `,"insertTextMode":`...)
		dst = appendUint(dst, uint32(x.InsertTextMode))
	}
	if x.TextEdit != nil {
		e, ok := x.TextEdit.(*protocol.TextEdit)
		if !ok || e == nil {
			return dst, false
		}
		dst = append(dst, `,"textEdit":`...)
		dst, m = appendPlainEdit(dst, e, m)
	}
	if s, ok := x.TextEditText.Get(); ok {
		dst = append(dst, `,"textEditText":`...)
		dst, m = appendPlain(dst, s, m)
	}
	if len(x.Data) > 0 {
		dst = append(dst, `,"data":`...)
		dst = append(dst, x.Data...)
	}
	dst = append(dst, '}')
	return dst, m.plain(dst[at:])
}

func appendPlainDetails(dst []byte, d *protocol.CompletionItemLabelDetails, m marks) ([]byte, marks) {
	dst = append(dst, `,"labelDetails":{`...)
	if d.Detail != nil {
		dst = append(dst, `"detail":`...)
		dst, m = appendPlain(dst, *d.Detail, m)
	}
	if d.Description != nil {
		if d.Detail != nil {
			dst = append(dst, ',')
		}
		dst = append(dst, `"description":`...)
		dst, m = appendPlain(dst, *d.Description, m)
	}
	return append(dst, '}'), m
}

// simple reports whether raw JSON of the user's is plainly a string of ASCII without escapes, or a whole number.
func simple(v []byte) bool {
	if v[0] == '"' {
		if len(v) < 2 || v[len(v)-1] != '"' {
			return false
		}
		for _, c := range v[1 : len(v)-1] {
			if c < ' ' || c >= 0x7f || c == '"' || c == '\\' {
				return false
			}
		}
		return true
	}
	for _, c := range v {
		if c < '0' || c > '9' {
			return false
		}
	}
	return (v[0] != '0' || len(v) == 1) && len(v) <= 15
}
