-- neovim.lua: Neovim as the client of the Markdown language server. It prints
-- one line for each check and leaves with a plain :quitall, so that the editor
-- itself shuts the server down. E2E_SERVER is the server's command line as
-- JSON, E2E_FILE the note to edit: line 2 has a link that leads somewhere, line
-- 3 one that leads nowhere, both behind a character outside the BMP.

local function report(line)
  io.stdout:write("e2e " .. vim.fn.json_encode(line) .. "\n")
  io.stdout:flush()
end

local patience = 20000 -- ms for anything the server has to do
local failed = false

local function check(name, run)
  local ok, detail = xpcall(run, debug.traceback)
  failed = failed or not ok
  report({ check = name, ok = ok, detail = type(detail) == "string" and detail or "" })
end

local function wait(what, condition)
  if not vim.wait(patience, condition, 5) then
    error("still waiting for " .. what .. "; diagnostics: " .. vim.inspect(vim.diagnostic.get(0)), 0)
  end
end

local function diagnostics()
  return #vim.diagnostic.get(0)
end

local broken, whole = 2, 1 -- lines, counted from 0

-- span is where a piece of text stands in a line of the buffer, in bytes from 0.
local function span(line, text)
  local s, e = vim.fn.getline(line + 1):find(text, 1, true)
  assert(s, text .. " is not in line " .. line)
  return s - 1, e
end

report({
  plan = {
    "starts",
    "diagnostic appears",
    "hover answers",
    "edit clears the diagnostic",
    "undo brings it back",
    "typing inside a line",
    "saves clean",
  },
})

vim.cmd("edit " .. vim.fn.fnameescape(os.getenv("E2E_FILE")))
local client

check("starts", function()
  local id = vim.lsp.start_client({
    name = "notes",
    cmd = vim.fn.json_decode(os.getenv("E2E_SERVER")),
    root_dir = vim.fn.fnamemodify(os.getenv("E2E_FILE"), ":h"),
    -- How long :quitall waits for the server before it kills it.
    flags = { exit_timeout = patience },
  })
  assert(id, "the server was not started")
  vim.lsp.buf_attach_client(0, id)
  client = vim.lsp.get_client_by_id(id)
  wait("initialize", function()
    client = vim.lsp.get_client_by_id(id)
    return client and client.initialized
  end)
  assert(client.server_capabilities.hoverProvider, "no hover in " .. vim.inspect(client.server_capabilities))
  return "offset encoding " .. tostring(client.offset_encoding)
end)

check("diagnostic appears", function()
  wait("a diagnostic", function()
    return diagnostics() > 0
  end)
  local all = vim.diagnostic.get(0)
  assert(#all == 1, "want one diagnostic, have " .. vim.inspect(all))
  local from, to = span(broken, "[gone](missing.md)")
  local d = all[1]
  assert(d.lnum == broken, "on line " .. d.lnum)
  assert(d.col >= from and d.end_col <= to and d.col < d.end_col,
    ("at columns %d to %d, the link is at %d to %d"):format(d.col, d.end_col, from, to))
  return d.message
end)

check("hover answers", function()
  local from, to = span(whole, "[other](other.md)")
  vim.api.nvim_win_set_cursor(0, { whole + 1, from + 10 })
  local params = vim.lsp.util.make_position_params(0, client.offset_encoding)
  local replies = vim.lsp.buf_request_sync(0, "textDocument/hover", params, patience)
  local reply = replies and replies[client.id]
  assert(reply and reply.result, "no hover: " .. vim.inspect(replies))
  local text = vim.inspect(reply.result.contents)
  assert(text:find("Other note", 1, true), "the hover does not show the note: " .. text)
  vim.api.nvim_win_set_cursor(0, { 1, 0 })
  params = vim.lsp.util.make_position_params(0, client.offset_encoding)
  replies = vim.lsp.buf_request_sync(0, "textDocument/hover", params, patience)
  reply = replies and replies[client.id]
  assert(reply and not reply.err and not (reply.error), "a hover beside any link fails: " .. vim.inspect(replies))
  return ("link at bytes %d to %d"):format(from, to)
end)

check("edit clears the diagnostic", function()
  vim.api.nvim_buf_set_lines(0, broken, broken + 1, false, { "😀😀 now [there](other.md)" })
  wait("no diagnostic", function()
    return diagnostics() == 0
  end)
end)

check("undo brings it back", function()
  vim.cmd("undo")
  wait("the diagnostic", function()
    return diagnostics() == 1
  end)
  local from, to = span(broken, "[gone](missing.md)")
  local d = vim.diagnostic.get(0)[1]
  assert(d.col >= from and d.end_col <= to, ("at columns %d to %d"):format(d.col, d.end_col))
end)

check("typing inside a line", function()
  -- Small edits behind characters of two and four bytes: where an encoding is
  -- counted wrong the server's text and ours part, and the link stays broken.
  local from = span(broken, "missing.md")
  vim.api.nvim_buf_set_text(0, broken, from, broken, from + #"missing", { "éother" })
  vim.api.nvim_buf_set_text(0, broken, 0, broken, 0, { "𝄞é " })
  local at = span(broken, "éother")
  vim.api.nvim_buf_set_text(0, broken, at, broken, at + #"é", { "" })
  wait("no diagnostic", function()
    return diagnostics() == 0
  end)
  return vim.fn.getline(broken + 1)
end)

check("saves clean", function()
  vim.cmd("write")
  assert(not vim.bo.modified, "the buffer is still modified")
  assert(diagnostics() == 0, "diagnostics after the save: " .. vim.inspect(vim.diagnostic.get(0)))
end)

vim.cmd(failed and "cquit" or "quitall")
