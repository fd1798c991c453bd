package framework

import (
	"context"
	"errors"
	"net"
	"time"
)

// Endpoint is a place where a program serves beside its main connection: an agent's, say, in a server that an editor has started. See [Runtime.Beside].
type Endpoint struct {
	// Address is where to listen, see [Listen]; with "" the Endpoint is left out, so it can come straight from a flag.
	Address string
	// FrontEnds serve the connections that carry messages as such. Of several the first byte chooses, see [Runtime.Serve].
	FrontEnds []FrontEnd
	// Web serves the connections that carry HTTP. Nil: there are none.
	Web Web
}

// ServeEndpoint serves the front ends and the web of e on a listener, as [Runtime.Serve] does, whatever its Address.
func (rt *Runtime) ServeEndpoint(ctx context.Context, ln net.Listener, e Endpoint) error {
	return rt.serveListener(ctx, ln, e)
}

// besideGrace is how long what runs on endpoints may go on when the main connection has ended.
const besideGrace = 5 * time.Second

// beside serves the endpoints. They all listen when it returns, or none. stop shuts the runtime down and waits for their end.
func (p *run) beside(ctx context.Context) (stop func(), err error) {
	var listeners []net.Listener
	var endpoints []Endpoint
	for _, e := range p.rt.Beside {
		if e.Address == "" || p.config.Replay != "" {
			continue
		}
		ln, err := Listen(e.Address, false)
		if err != nil {
			for _, l := range listeners {
				_ = l.Close()
			}
			return nil, err
		}
		listeners, endpoints = append(listeners, ln), append(endpoints, e)
	}
	if len(endpoints) == 0 {
		return func() {}, nil
	}
	ended := make(chan struct{}, len(endpoints))
	for i, e := range endpoints {
		p.say(listeners[i], e)
		go func() {
			defer func() { ended <- struct{}{} }()
			if err := p.rt.ServeEndpoint(ctx, listeners[i], e); err != nil && !errors.Is(err, ErrShutdown) && ctx.Err() == nil {
				p.rt.logger().Error("endpoint failed", "address", quote(e.Address), "error", p.rt.text(err))
			}
		}()
	}
	return func() { endBeside(context.WithoutCancel(ctx), p.rt.Shutdown, ended, len(endpoints)) }, nil
}

// endBeside ends what runs on n endpoints, each of which says when it has ended.
func endBeside(ctx context.Context, shutdown func(context.Context) error, ended <-chan struct{}, n int) {
	ctx, stop := context.WithTimeout(ctx, besideGrace)
	defer stop()
	var over <-chan time.Time
	if shutdown(ctx) != nil {
		// Who goes on longer has lost his connection. To one that takes nothing its last answers would still be written for a while, and whoever was
		// on the main connection waits for the end of the program.
		t := time.NewTimer(stuckGrace)
		defer t.Stop()
		over = t.C
	}
	for range n {
		select {
		case <-ended:
		case <-over:
			return
		}
	}
}
