package cancel

import (
	"context"
	"errors"
	"fmt"
)

// ErrClosing is the cause of a request's context when it ended because the
// connection is closing, whichever side closed it. See [context.Cause].
var ErrClosing = errors.New("connection closing")

// ByPeer is the cause of a request's context when the other side cancelled the
// request. It tells a handler that nobody waits for its result, which a bare
// [context.Canceled] does not:
//
//	var byPeer cancel.ByPeer
//	if errors.As(context.Cause(ctx), &byPeer) { ... }
//
// errors.Is(ByPeer{}, context.Canceled) is true, so code that returns the cause
// instead of the context's error is still understood.
type ByPeer struct {
	Method string // method of the notification that asked for it
	Reason string // the peer's words, at most [MaxReason] bytes; often empty
}

// Error names the notification and, quoted, the reason: both are the peer's
// text.
func (e ByPeer) Error() string {
	if e.Reason == "" {
		return fmt.Sprintf("request cancelled by peer with %q", e.Method)
	}
	return fmt.Sprintf("request cancelled by peer with %q: %q", e.Method, e.Reason)
}

// Is makes a ByPeer a kind of [context.Canceled].
func (e ByPeer) Is(target error) bool { return target == context.Canceled }
