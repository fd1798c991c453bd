package replay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// exitGrace is how long a server may go on after its input has ended.
const exitGrace = 10 * time.Second

// Command starts a server and returns a transport to its standard input and output. Its standard error is ours. Closing the transport ends its input,
// waits for its end, ten seconds at most, and returns how it ended if that was not well. The end of ctx kills it.
func Command(ctx context.Context, f jsonrpc2.Framing, name string, args ...string) (jsonrpc2.Transport, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stderr = os.Stderr
	cmd.WaitDelay = time.Second
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	// A pipe of our own: that of StdoutPipe is closed when Wait sees the process end, with answers still in it.
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	cmd.Stdout = w
	err = cmd.Start()
	_ = w.Close()
	if err != nil {
		_ = r.Close()
		return nil, fmt.Errorf("replay: %w", err)
	}
	return jsonrpc2.Open(&child{cmd, in, r}, f), nil
}

// child is a process as a stream.
type child struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *os.File
}

func (c *child) Read(p []byte) (int, error)  { return c.out.Read(p) }
func (c *child) Write(p []byte) (int, error) { return c.in.Write(p) }

func (c *child) Close() error {
	_ = c.in.Close()
	kill := time.AfterFunc(exitGrace, func() { _ = c.cmd.Process.Kill() })
	defer kill.Stop()
	err := c.cmd.Wait()
	return errors.Join(err, c.out.Close())
}
