" vim.vim: Vim with ALE as the client of the Markdown language server. It writes
" one line for each check to E2E_REPORT and leaves, which ends the server.
" E2E_CONFIG is a user's configuration, E2E_FILE the note to edit:
" line 2 has a link that leads somewhere, line 3 one that leads nowhere, both
" behind a character outside the BMP. guide.md beside it has a heading "Old name"
" on line 3, which cites.md links to.

set nocompatible nomore noswapfile encoding=utf-8
scriptencoding utf-8
execute 'set runtimepath^=' . $E2E_ALE

execute 'source' fnameescape($E2E_CONFIG)
runtime plugin/ale.vim
let g:ale_hover_to_preview = 1

let s:patience = 60 " seconds for anything the server has to do
let s:failed = 0

function! s:Report(line) abort
  call writefile(['e2e ' . json_encode(a:line)], $E2E_REPORT, 'a')
endfunction

function! s:Check(name, Run) abort
  let l:ok = v:true
  try
    let l:detail = a:Run()
  catch
    let l:detail = v:exception . ' at ' . v:throwpoint
    let l:ok = v:false
    let s:failed = 1
  endtry
  call s:Report({'check': a:name, 'ok': l:ok, 'detail': type(l:detail) == v:t_string ? l:detail : ''})
endfunction

" s:Wait lets Vim work until the condition holds.
function! s:Wait(what, Condition) abort
  let l:began = reltime()
  while !a:Condition()
    if reltimefloat(reltime(l:began)) > s:patience
      throw 'still waiting for ' . a:what . '; diagnostics: ' . string(getloclist(0)) . '; text: ' . string(getline(1, '$'))
    endif
    sleep 10m
  endwhile
endfunction

function! s:Want(condition, ...) abort
  if !a:condition
    throw call('printf', a:000)
  endif
endfunction

function! s:Diagnostics() abort
  return map(getloclist(0), {_, d -> d.lnum . ': ' . d.text})
endfunction

" s:Changed tells ALE what its autocommands would: a script is not typed.
function! s:Changed() abort
  call ale#Queue(0)
endfunction

function! s:Starts() abort
  execute 'edit' fnameescape($E2E_FILE)
  call ale#Queue(0)
  let l:conns = 'values(ale#lsp#GetConnections())'
  call s:Wait('initialize', {-> !empty(filter(eval(l:conns), {_, c -> c.initialized}))})
  let l:able = eval(l:conns)[0].capabilities
  call s:Want(l:able.hover && l:able.completion && l:able.rename, 'capabilities: %s', string(l:able))
  return 'Vim ' . v:versionlong
endfunction

function! s:Appears() abort
  call s:Wait('a diagnostic', {-> !empty(s:Diagnostics())})
  let l:all = s:Diagnostics()
  call s:Want(len(l:all) == 1 && l:all[0] =~# '^3: ', 'want one diagnostic, on line 3; have %s', string(l:all))
  return l:all[0]
endfunction

function! s:Hover() abort
  call cursor(2, 1)
  call search('other', 'c', 2)
  ALEHover
  let l:Text = {-> join(map(filter(range(1, winnr('$')), {_, w -> getwinvar(w, '&previewwindow')}),
  \   {_, w -> join(getbufline(winbufnr(w), 1, '$'), "\n")}))}
  call s:Wait('the hover', {-> l:Text() =~# 'Other note'})
  pclose
endfunction

function! s:Clears() abort
  call setline(3, '😀😀 now [there](other.md)')
  call s:Changed()
  call s:Wait('no diagnostic', {-> empty(s:Diagnostics())})
endfunction

function! s:Undo() abort
  undo
  call s:Changed()
  call s:Wait('the diagnostic', {-> !empty(s:Diagnostics())})
endfunction

function! s:Typing() abort
  call cursor(3, 1)
  execute "normal! I𝄞é \<Esc>"
  call search('missing', 'c', 3)
  execute "normal! cwother\<Esc>"
  call s:Changed()
  call s:Wait('no diagnostic', {-> empty(s:Diagnostics())})
  call s:Want(getline(3) ==# '𝄞é 😀😀 but [gone](other.md)', 'the line is %s', getline(3))
  return getline(3)
endfunction

" As a user: the keys, and when the only candidate is in, the ones behind it.
function! s:Completes() abort
  let s:since = reltime()
  call timer_start(20, function('s:Finish'), {'repeat': -1})
  call feedkeys("Go🙂🙂 [more](ot\<C-x>\<C-o>", 'tx!')
  call s:Want(getline(4) ==# '🙂🙂 [more](other.md)', 'the line is %s', getline(4))
  call s:Changed()
  call s:Wait('no diagnostic', {-> empty(s:Diagnostics())})
endfunction

function! s:Finish(timer) abort
  if empty(complete_info(['items']).items) && reltimefloat(reltime(s:since)) < s:patience
    return
  endif
  call timer_stop(a:timer)
  call feedkeys(")\<Esc>", 't')
endfunction

function! s:Saves() abort
  silent write
  call s:Want(!&modified, 'the buffer is still modified')
  call s:Want(empty(s:Diagnostics()), 'diagnostics after the save: %s', string(s:Diagnostics()))
endfunction

function! s:Renames() abort
  execute 'edit' fnameescape(fnamemodify($E2E_FILE, ':h') . '/guide.md')
  call cursor(3, 5)
  call feedkeys(":ALERename\<CR>\<C-u>New name\<CR>", 'tx')
  call s:Wait("the heading's new name", {-> getline(3) ==# '## New name'})
  call s:Want(bufnr('cites.md') > 0, 'no other note was edited')
  silent wall
endfunction

call s:Report({'plan': ['starts', 'diagnostic appears', 'hover answers', 'edit clears the diagnostic', 'undo brings it back',
\   'typing inside a line', 'completes', 'saves clean', 'renames a heading in two notes']})
call s:Check('starts', function('s:Starts'))
call s:Check('diagnostic appears', function('s:Appears'))
call s:Check('hover answers', function('s:Hover'))
call s:Check('edit clears the diagnostic', function('s:Clears'))
call s:Check('undo brings it back', function('s:Undo'))
call s:Check('typing inside a line', function('s:Typing'))
call s:Check('completes', function('s:Completes'))
call s:Check('saves clean', function('s:Saves'))
call s:Check('renames a heading in two notes', function('s:Renames'))
if s:failed
  cquit
endif
qall!
