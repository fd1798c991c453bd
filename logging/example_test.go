package logging_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/hashicorp/go-hclog"

	"github.com/tandem-rpc/tandem/logging"
)

// A connection calls its tap with every message. The tap of this package is
// given to it in its options.
func Example() {
	logger := hclog.New(&hclog.LoggerOptions{Level: hclog.Debug, Output: os.Stdout, DisableTime: true})
	tap := logging.NewTraffic(logger, &logging.Options{Redact: []string{"pin"}})

	tap.Inbound([]byte(`{"jsonrpc":"2.0","id":1,"method":"open","params":{"pin":1234,"url":"https://ann:pw@host/"}}`))
	tap.Outbound([]byte(`{"jsonrpc":"2.0","id":1,"result":{"access_token":"abc","expires":3600}}`))
	tap.Inbound([]byte(`{"password":"abc"`))
	// Output:
	// [DEBUG] traffic: direction=inbound message="{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"open\",\"params\":{\"pin\":\"[redacted]\",\"url\":\"https://[redacted]@host/\"}}" length=91
	// [DEBUG] traffic: direction=outbound message="{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"access_token\":\"[redacted]\",\"expires\":3600}}" length=71
	// [DEBUG] traffic: direction=inbound message="[redaction failed]" length=17
}

// The redactor alone, for a sink of one's own.
func ExampleRedactor_Redact() {
	r := logging.NewRedactor("requestState")
	for _, line := range []string{
		`{"X-Api-Key":"abc", "n":9007199254740993}`,
		`["Bearer abc", "https:\/\/u:p@h", "/cb?code=1&id_token=abc", "{\"request_state\":\"abc\"}"]`,
		`["https://host?mail=a@b", "password=abc"]`,
		`{"token":"abc"`,
	} {
		fmt.Printf("%s\n", r.Redact([]byte(line)))
	}
	// Output:
	// {"X-Api-Key":"[redacted]", "n":9007199254740993}
	// ["Bearer [redacted]", "https:\/\/[redacted]@h", "/cb?code=1&id_token=[redacted]", "{\"request_state\":\"[redacted]\"}"]
	// ["https://host?mail=a@b", "password=abc"]
	// [redaction failed]
}

// Text of other origin, such as an error, may hold secrets as well.
func ExampleRedactor_Text() {
	var r logging.Redactor
	fmt.Println(r.Text("dial postgres://app:pw@db:5432/x?sslmode=off: connection refused"))
	// Output:
	// dial postgres://[redacted]@db:5432/x?sslmode=off: connection refused
}

// A feed keeps connections free of what recording costs; a recorder writes its records as JSON lines.
func ExampleFeed() {
	path := filepath.Join(os.TempDir(), fmt.Sprintf("traffic-%d.jsonl", os.Getpid()))
	defer os.Remove(path)
	file, err := logging.CreateRecording(path)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer file.Close()
	recorder := logging.NewRecorder(file, nil)
	feed := logging.NewFeed(recorder, &logging.FeedOptions{Redact: []string{"pin"}})

	tap := feed.Open("editor", "lsp") // jsonrpc2.Options.Tap
	tap.Inbound([]byte(`{"jsonrpc":"2.0","method":"open","params":{"pin":1234}}`))
	tap.Close("")

	if err := errors.Join(feed.Close(context.Background()), recorder.Close()); err != nil {
		fmt.Println(err)
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		fmt.Println(err)
	}
	for in := logging.NewRecordReader(file); ; {
		r, err := in.Next()
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s|%s|%s|%s\n", r.Kind, r.Connection, r.Direction, r.Message)
	}
	// Output:
	// header|||
	// open|editor||
	// |editor|inbound|{"jsonrpc":"2.0","method":"open","params":{"pin":"[redacted]"}}
	// close|editor||
	// end|||
	// EOF
}
