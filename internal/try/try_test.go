package try

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/tandem-rpc/tandem/cancel"
	"github.com/tandem-rpc/tandem/internal/leak"
	"github.com/tandem-rpc/tandem/jsonrpc2"
)

// TestMain makes the test binary the server as well.
func TestMain(m *testing.M) {
	switch mode := os.Getenv("TRY_SERVER"); mode {
	case "":
		leak.Main(m)
	case "deaf": // does not end with its input
		time.Sleep(time.Minute)
	default:
		mux := jsonrpc2.NewMux()
		mux.HandleRequest("login", jsonrpc2.HandlerFunc(func(context.Context, *jsonrpc2.Request) (any, error) {
			return map[string]string{"token": "s3cret", "text": strings.Repeat("é", 1000)}, nil
		}))
		mux.HandleRequest("hang", jsonrpc2.HandlerFunc(func(ctx context.Context, _ *jsonrpc2.Request) (any, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}))
		t := jsonrpc2.Open(jsonrpc2.Join(os.Stdin, os.Stdout), jsonrpc2.Header)
		_ = jsonrpc2.NewConn(t, mux, &jsonrpc2.Options{Cancel: cancel.NewRegistry(stop)}).Serve(context.Background())
		if mode == "fail" {
			os.Exit(3)
		}
		os.Exit(0)
	}
}

var stop = cancel.Convention{Method: "stop", Param: "id", Code: -1, Message: "stopped"}

func peer(out *bytes.Buffer, mode string) *Peer {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "TRY_SERVER="+mode)
	return &Peer{Command: cmd, Framing: jsonrpc2.Header, Conventions: []cancel.Convention{stop}, Out: out, Width: 80}
}

func TestRun(t *testing.T) {
	var out bytes.Buffer
	err := Run(context.Background(), peer(&out, "good"), func(ctx context.Context, s *Session) error {
		s.Step("Log in")
		if err := s.Conn.Call(ctx, "login", map[string]string{"password": "hunter2"}, nil); err != nil {
			return err
		}
		s.Step("Give %s", "up")
		short, end := context.WithTimeout(ctx, 2*time.Second)
		defer end()
		if err := s.Conn.Call(short, "hang", nil, nil); !errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("hang: %w", err)
		}
		s.Note("gave up")
		return nil
	})
	if err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	text := out.String()
	for _, want := range []string{"# Log in\n", "\n\n# Give up\n", ` → {"jsonrpc":"2.0","id":1,"method":"login","params":{"password":"[redacted]"}}`, " bytes … ", "   gave up\n", `"method":"stop"`, "exit code 0"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	for _, secret := range []string{"hunter2", "s3cret"} {
		if strings.Contains(text, secret) {
			t.Errorf("%q is printed", secret)
		}
	}
	line := regexp.MustCompile(`^ +[0-9]+\.[0-9]ms [→←] |^# |^$|^ {14}[a-z]`)
	for _, l := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		if !line.MatchString(l) {
			t.Errorf("odd line %q", l)
		}
	}
	if !utf8.ValidString(text) {
		t.Error("a character was cut in two")
	}
}

func TestRunFails(t *testing.T) {
	quiet := func(context.Context, *Session) error { return nil }
	t.Run("script", func(t *testing.T) {
		broken := errors.New("broken")
		err := Run(context.Background(), peer(new(bytes.Buffer), "good"), func(context.Context, *Session) error { return broken })
		if !errors.Is(err, broken) {
			t.Errorf("error is %v", err)
		}
	})
	t.Run("exit code", func(t *testing.T) {
		err := Run(context.Background(), peer(new(bytes.Buffer), "fail"), quiet)
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 3 {
			t.Errorf("error is %v", err)
		}
	})
	t.Run("no such program", func(t *testing.T) {
		p := peer(new(bytes.Buffer), "")
		p.Command = exec.Command("/nonexistent/server")
		if err := Run(context.Background(), p, quiet); err == nil {
			t.Error("no error")
		}
	})
	t.Run("server that does not end", func(t *testing.T) {
		p := peer(new(bytes.Buffer), "deaf")
		p.Grace = 50 * time.Millisecond
		if err := Run(context.Background(), p, quiet); err == nil || !strings.Contains(err.Error(), "did not end") {
			t.Errorf("error is %v", err)
		}
	})
}

func TestShorten(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"short", "short"},
		{strings.Repeat("a", 40), strings.Repeat("a", 15) + " … 20 bytes … aaaaa"},
		{strings.Repeat("世", 20), strings.Repeat("世", 5) + " … 42 bytes … 世"},
	} {
		if got := shorten(tt.in, 20); got != tt.want {
			t.Errorf("shorten(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}
