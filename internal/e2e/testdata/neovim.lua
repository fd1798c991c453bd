-- neovim.lua: Neovim as the client of the Markdown language server. It prints
-- one line for each check and leaves with a plain :quitall, so that the editor
-- itself shuts the server down. E2E_CONFIG is a user's configuration,
-- E2E_OLDER one for versions before 0.11, E2E_FILE the note to edit: line 2 has
-- a link that leads somewhere, line 3 one that leads nowhere, both behind a
-- character outside the BMP. guide.md beside it has a heading "Old name" on line
-- 3, which cites.md links to.

local function report(line)
  io.stdout:write("e2e " .. vim.fn.json_encode(line) .. "\n")
  io.stdout:flush()
end

local patience = 60000 -- ms for anything the server has to do
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
    "completes",
    "saves clean",
    "renames a heading in two notes",
  },
})

local client

check("starts", function()
  dofile(os.getenv(vim.lsp.config and "E2E_CONFIG" or "E2E_OLDER"))
  vim.cmd("edit " .. vim.fn.fnameescape(os.getenv("E2E_FILE")))
  wait("a client", function()
    local clients = vim.lsp.get_clients and vim.lsp.get_clients({ bufnr = 0 }) or vim.lsp.buf_get_clients(0)
    _, client = next(clients)
    return client
  end)
  wait("initialize", function()
    client = vim.lsp.get_client_by_id(client.id)
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

-- request sends what the editor says about its cursor, and returns the result.
local function request(method)
  local params = vim.lsp.util.make_position_params(0, client.offset_encoding)
  local replies = vim.lsp.buf_request_sync(0, method, params, patience)
  local reply = replies and replies[client.id]
  assert(reply and reply.result, "no result: " .. vim.inspect(replies))
  return reply.result
end

check("completes", function()
  vim.api.nvim_buf_set_lines(0, broken + 1, broken + 1, false, { "🙂🙂 [more](ot)" })
  local _, to = span(broken + 1, "](ot")
  vim.api.nvim_win_set_cursor(0, { broken + 2, to })
  wait("the line to be broken", function() -- shows that the server has it
    return diagnostics() == 1
  end)
  local result = request("textDocument/completion")
  local labels = {}
  for _, item in ipairs(result.items or result) do
    table.insert(labels, item.label)
    if item.textEdit and item.textEdit.newText:find("other.md", 1, true) then
      local edit = { newText = item.textEdit.newText, range = item.textEdit.range or item.textEdit.replace }
      vim.lsp.util.apply_text_edits({ edit }, vim.api.nvim_get_current_buf(), client.offset_encoding)
      break
    end
  end
  local line = vim.fn.getline(broken + 2)
  assert(line == "🙂🙂 [more](other.md)", ("the line is %s after one of %s"):format(line, vim.inspect(labels)))
  wait("no diagnostic", function()
    return diagnostics() == 0
  end)
end)

check("saves clean", function()
  vim.cmd("write")
  assert(not vim.bo.modified, "the buffer is still modified")
  assert(diagnostics() == 0, "diagnostics after the save: " .. vim.inspect(vim.diagnostic.get(0)))
end)

check("renames a heading in two notes", function()
  local folder = vim.fn.fnamemodify(os.getenv("E2E_FILE"), ":h")
  vim.cmd("edit " .. vim.fn.fnameescape(folder .. "/guide.md"))
  vim.api.nvim_win_set_cursor(0, { 3, 5 })
  vim.lsp.buf.rename("New name")
  wait("the heading's new name", function()
    return vim.fn.getline(3) == "## New name"
  end)
  vim.cmd("wall")
  local cites = vim.fn.bufnr("cites.md")
  assert(cites > 0, "no other note was edited")
end)

vim.cmd(failed and "cquit" or "quitall")
