package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

var (
	crowdSize = flag.Int("crowd", 40, "how many sessions TestCrowd has at the same time")
	crowdTime = flag.Duration("crowd-time", time.Second, "how long they call tools")
)

const childVariable = "TANDEM_BENCHSERVER_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childVariable) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// A crowd of clients, each with a session and a connection of its own, calls tools twice a second, every tenth time with progress on a stream. Nothing fails,
// and when they have gone the process is about as small as it was.
func TestCrowd(t *testing.T) {
	url, pid := startChild(t)
	crowd(t, url, 10, 0) // what the first sessions need stays
	before := resident(t, pid)
	calls := crowd(t, url, *crowdSize, *crowdTime)
	full := resident(t, pid)
	// The handler gives memory back a few seconds after a crowd has gone.
	after, most := full, before+32
	for deadline := time.Now().Add(time.Minute); after > most && time.Now().Before(deadline); after = resident(t, pid) {
		time.Sleep(100 * time.Millisecond)
	}
	t.Logf("%d sessions, %d calls; resident before %.1f MB, at the end %.1f MB, afterwards %.1f MB", *crowdSize, calls, before, full, after)
	if after > most {
		t.Errorf("%.1f MB are resident a minute after %d sessions have ended, %.1f MB were before", after, *crowdSize, before)
	}
}

// startChild starts the server as a process of its own and returns where it is found. It ends with the test, in good order.
func startChild(t *testing.T) (url string, pid int) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(self, "-proto", "mcp", "-http", "127.0.0.1:0")
	c.Env = append(os.Environ(), childVariable+"=1")
	out, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if runtime.GOOS == "windows" {
			_ = c.Process.Kill()
		} else if err := c.Process.Signal(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
		text, _ := io.ReadAll(out)
		if err := c.Wait(); runtime.GOOS != "windows" && (err != nil || len(text) > 0) {
			t.Errorf("the server ended with %v and said %q", err, text)
		}
	})
	line, err := bufio.NewReaderSize(out, 16).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(line), c.Process.Pid
}

// crowd lets n clients call tools, all of them at the same time, each once at least, and returns how many calls there were.
func crowd(t *testing.T, url string, n int, d time.Duration) int64 {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), d+5*time.Minute)
	defer stop()
	var calls atomic.Int64
	var once sync.Once
	var first error
	opening := make(chan struct{}, 50) // as many begin at once
	var all, opened sync.WaitGroup
	opened.Add(n)
	over := make(chan struct{})
	for i := range n {
		all.Go(func() {
			c := &client{url: url, http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1, ReadBufferSize: 1 << 10, WriteBufferSize: 1 << 10}}}
			defer c.http.CloseIdleConnections()
			opening <- struct{}{}
			err := c.open(ctx)
			<-opening
			opened.Done()
			// Spread over the half second between the calls of each.
			wait := time.NewTicker(time.Duration(i+1) * 500 * time.Millisecond / time.Duration(n))
			defer wait.Stop()
			for k := 1; err == nil; k++ {
				if err = c.call(ctx, fmt.Sprintf("%d-%d", i, k), k%10 == 0); err != nil {
					break
				}
				calls.Add(1)
				select {
				case <-wait.C:
					wait.Reset(500 * time.Millisecond)
					continue
				case <-over:
				}
				err = c.close(ctx)
				break
			}
			if err != nil {
				once.Do(func() { first = fmt.Errorf("client %d: %w", i, err) })
			}
		})
	}
	opened.Wait()
	end := time.AfterFunc(d, func() { close(over) })
	defer end.Stop()
	all.Wait()
	if first != nil {
		t.Fatal(first)
	}
	return calls.Load()
}

// client is a client of one session, with no more than a crowd of them needs.
type client struct {
	url, session string
	http         *http.Client
}

func (c *client) open(ctx context.Context) error {
	_, err := c.do(ctx, http.MethodPost, http.StatusOK, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},
		"clientInfo":{"name":"crowd","version":"1"}}}`)
	if err == nil && c.session == "" {
		err = errors.New("no session")
	}
	if err == nil {
		_, err = c.do(ctx, http.MethodPost, http.StatusAccepted, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	}
	return err
}

func (c *client) call(ctx context.Context, text string, progress bool) error {
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"method":"tools/call","params":{"name":"echo","arguments":{"text":"text of %s"}}}`, text, text)
	want, reports := "text of "+text, 0
	if progress {
		body = fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"method":"tools/call","params":{"name":"progress","arguments":{},"_meta":{"progressToken":%q}}}`, text, text)
		want, reports = `"text":"done"`, 3
	}
	got, err := c.do(ctx, http.MethodPost, http.StatusOK, body)
	if err == nil && (!strings.Contains(got, want) || !strings.Contains(got, `"id":"`+text+`"`) || strings.Count(got, "notifications/progress") != reports) {
		err = fmt.Errorf("%s was answered %s", body, got)
	}
	return err
}

func (c *client) close(ctx context.Context) error {
	_, err := c.do(ctx, http.MethodDelete, http.StatusOK, "")
	return err
}

func (c *client) do(ctx context.Context, method string, status int, body string) (string, error) {
	r, err := http.NewRequestWithContext(ctx, method, c.url, strings.NewReader(body))
	if err != nil {
		return "", err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if c.session != "" {
		r.Header.Set("Mcp-Session-Id", c.session)
		r.Header.Set("MCP-Protocol-Version", "2025-11-25")
	}
	resp, err := c.http.Do(r)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != status {
		err = fmt.Errorf("%s %s has status %d, want %d: %s", method, body, resp.StatusCode, status, text)
	}
	if id := resp.Header.Get("Mcp-Session-Id"); id != "" {
		c.session = id
	}
	return string(text), err
}

var residentLine = regexp.MustCompile(`(?m)^VmRSS:\s*(\d+) kB$`)

// resident is the memory of a process in MB, 0 where the system does not tell it so.
func resident(t *testing.T, pid int) float64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if errors.Is(err, os.ErrNotExist) && runtime.GOOS != "linux" {
		return 0
	}
	found := residentLine.FindSubmatch(text)
	if err != nil || found == nil {
		t.Fatalf("status of process %d: %v", pid, err)
	}
	kb, err := strconv.Atoi(string(found[1]))
	if err != nil {
		t.Fatal(err)
	}
	return float64(kb) / 1024
}
