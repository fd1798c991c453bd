package framework

import (
	"errors"
	"fmt"
	"net"
	"strings"
)

// ErrNotLoopback is returned by [Listen] for an address that other machines can reach, when that was not asked for.
var ErrNotLoopback = errors.New("framework: address is not a loopback one")

// Listen listens on a local address:
//
//	unix:/run/user/1000/notes.sock   a Unix socket, which only this user can open (mode 0600)
//	127.0.0.1:4389, localhost:4389   TCP
//	:4389, 4389                      TCP on 127.0.0.1; with remote, on every address
//
// A TCP address other machines can reach is refused with [ErrNotLoopback] unless remote is true: there is no authentication here, and
// whoever connects can call every method.
//
// A socket file that a process left behind is replaced. One that is in use is an error, and so is any other kind of file of that name. The
// file is removed when the listener is closed, unless it is another one by then.
func Listen(address string, remote bool) (net.Listener, error) {
	if path, ok := strings.CutPrefix(address, "unix:"); ok {
		return listenUnix(path)
	}
	if !strings.Contains(address, ":") {
		address = ":" + address
	}
	if strings.HasPrefix(address, ":") && !remote {
		address = "127.0.0.1" + address
	}
	a, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("framework: listen: %w", err)
	}
	if !remote && !a.IP.IsLoopback() {
		return nil, fmt.Errorf("%w: %q", ErrNotLoopback, address)
	}
	ln, err := net.ListenTCP("tcp", a) // the address that was checked, not its name once more
	if err != nil {
		return nil, fmt.Errorf("framework: listen: %w", err)
	}
	return ln, nil
}
