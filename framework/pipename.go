package framework

import "strings"

// pipeDir is where Windows keeps named pipes.
const pipeDir = `\\.\pipe\`

// pipePath is the full name of a named pipe of Windows. Editors pass that; people leave out what all have in common.
func pipePath(name string) string {
	if strings.ContainsAny(name, `\/`) {
		return name
	}
	return pipeDir + name
}
