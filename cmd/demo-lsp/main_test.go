package main

import (
	"bytes"
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/tandem-rpc/tandem/internal/leak"
)

// TestMain makes the test binary the demo as well, as -try starts it.
func TestMain(m *testing.M) {
	if slices.Contains(os.Args, "--stdio") {
		os.Exit(run())
	}
	leak.Main(m)
}

func TestTry(t *testing.T) {
	var out bytes.Buffer
	if err := tryServer(context.Background(), &out); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	for _, want := range []string{"# Open the session", "no such note", `"kind":"end"`, "-32800", "-32602", "-32601", "-32600", `"result":null`, "# An agent joins", "agent → ", "the editor shows: A line that an agent has edited.", "notes://handbook has changed", "exit code 0"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, &out)
		}
	}
}
