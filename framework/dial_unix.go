//go:build unix

package framework

import (
	"context"
	"fmt"
	"io"
	"net"
)

// dialPipe connects to the socket that an editor listens on. An abstract name of Linux begins with @.
func dialPipe(ctx context.Context, name string) (io.ReadWriteCloser, error) {
	var d net.Dialer
	c, err := d.DialContext(ctx, "unix", name)
	if err != nil {
		return nil, fmt.Errorf("framework: connect to pipe: %w", err)
	}
	return c, nil
}
