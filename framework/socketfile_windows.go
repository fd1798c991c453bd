package framework

import (
	"errors"
	"fmt"
	"net"
)

// listenUnix leaves who may connect to the directory, as Windows has no mode for the file.
func listenUnix(path string) (net.Listener, error) {
	if path == "" {
		return nil, errors.New("framework: listen: unix: needs a path")
	}
	ln, err := net.Listen("unix", path)
	if err != nil {
		return nil, fmt.Errorf("framework: listen: %w", err)
	}
	return ln, nil
}
