package field

import (
	"os"
	"testing"
	"time"

	"github.com/tandem-rpc/tandem/cancel"
	"github.com/tandem-rpc/tandem/framework"
	"github.com/tandem-rpc/tandem/internal/leak"
	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// patience is how long a process or a connection may take before a test gives up; the machine may be busy.
const patience = time.Minute

// programVariable makes the test binary one of the programs that the tests start.
const programVariable = "TANDEM_FIELD_TEST"

func TestMain(m *testing.M) {
	switch os.Getenv(programVariable) {
	case "mcp":
		framework.Main(tools())
	case "lsp":
		framework.Main(editor())
	case "lines":
		framework.Main(front(jsonrpc2.Lines))
	case "header":
		framework.Main(front(jsonrpc2.Header))
	}
	leak.Main(m)
}

// front is the plain peer as a front end.
type front jsonrpc2.Framing

func (f front) Protocol() string                 { return "plain" }
func (f front) Framing() jsonrpc2.Framing        { return jsonrpc2.Framing(f) }
func (f front) Conventions() []cancel.Convention { return nil }

func (f front) Mount(o *jsonrpc2.Options) (*jsonrpc2.Mux, error) { return plain(o) }
