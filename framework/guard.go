package framework

import "os"

// guardStdout points standard output at standard error and returns what it was, for the connection alone.
func guardStdout() (out *os.File, restore func(), err error) {
	was := os.Stdout
	out, undo, err := guardDescriptor(was)
	if err != nil {
		return nil, nil, err
	}
	os.Stdout = os.Stderr
	return out, func() {
		undo()
		os.Stdout = was
	}, nil
}
