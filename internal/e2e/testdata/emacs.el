;;; emacs.el --- Emacs with Eglot as the client of the Markdown language server  -*- lexical-binding: t -*-

;; It prints one line for each check and then has Eglot shut the server down.
;; E2E_CONFIG is a user's configuration, E2E_FILE the note to edit:
;; line 2 has a link that leads somewhere, line 3 one that leads nowhere, both
;; behind a character outside the BMP.  guide.md beside it has a heading "Old
;; name" on line 3, which cites.md links to.

(require 'json)
(require 'subr-x)
(require 'package)
;; -Q leaves out where Debian keeps its packages; Emacs 29 brings Eglot along.
(add-to-list 'package-directory-list "/usr/share/emacs/site-lisp/elpa")
(add-to-list 'package-directory-list "/usr/share/emacs/site-lisp/elpa-src")
(package-initialize)
(require 'eglot)
(require 'flymake)

(set-language-environment "UTF-8")
(setq coding-system-for-write 'utf-8-unix)

(defconst patience 60 "Seconds for anything the server has to do.")
(defconst folder (file-name-directory (getenv "E2E_FILE")))
(defvar failed nil)

(defun report (line)
  (princ (concat "e2e " (json-encode line) "\n")))

(defun check (name run)
  "Run RUN, which fails with an error, and report how the check NAME went."
  (condition-case err
      (let ((detail (funcall run)))
        (report `((check . ,name) (ok . t) (detail . ,(if (stringp detail) detail "")))))
    (error
     (setq failed t)
     (report `((check . ,name) (ok . :json-false) (detail . ,(format "%s" (error-message-string err))))))))

(defun want (condition format &rest args)
  (unless condition (apply #'error format args)))

(defun wait (what condition)
  "Let Emacs work until CONDITION returns something, and return that."
  (let ((end (+ (float-time) patience)) got)
    (while (and (not (setq got (funcall condition))) (< (float-time) end))
      (accept-process-output nil 0.01)
      (flymake-start))
    (unless got
      (error "Still waiting for %s; diagnostics: %S" what (diagnostics)))
    got))

(defun diagnostics ()
  "What is marked in the buffer: a list of (TEXT . MESSAGE)."
  (mapcar (lambda (d)
            (cons (buffer-substring-no-properties (flymake-diagnostic-beg d) (flymake-diagnostic-end d))
                  (flymake-diagnostic-text d)))
          (flymake-diagnostics)))

(defun seek (text)
  "Go behind TEXT."
  (goto-char (point-min))
  (search-forward text))

(defun replace (old new)
  (seek old)
  (replace-match new t t)
  ;; What Eglot does itself when the user pauses.
  (eglot--signal-textDocument/didChange))

(report '((plan . ["starts" "diagnostic appears" "hover answers" "edit clears the diagnostic" "undo brings it back"
                   "typing inside a line" "completes" "saves clean" "renames a heading in two notes"])))

;; A package that Debian has too, of which nothing is needed here.
(define-derived-mode markdown-mode text-mode "Markdown")
(add-to-list 'auto-mode-alist '("\\.md\\'" . markdown-mode))
(load (getenv "E2E_CONFIG") nil t t)

(setq eglot-sync-connect patience
      eglot-connect-timeout patience
      eglot-confirm-server-initiated-edits nil
      eglot-confirm-server-edits nil
      completion-ignore-case t
      make-backup-files nil
      auto-save-default nil)
(fset 'y-or-n-p (lambda (&rest _) t)) ; Eglot 1.9 asks before it edits a file that is not open

(find-file (getenv "E2E_FILE"))
(buffer-enable-undo)

(check "starts"
       (lambda ()
         (run-hooks 'post-command-hook) ; where eglot-ensure waits for the command to end
         (want (eglot-managed-p) "Eglot does not manage the buffer")
         (format "Emacs %s, Eglot %s, server %s" emacs-version
                 (package-version-join (or (alist-get 'eglot package--builtin-versions)
                                           (package-desc-version (cadr (assq 'eglot package-alist)))))
                 (plist-get (eglot--server-info (eglot-current-server)) :name))))

(check "diagnostic appears"
       (lambda ()
         (wait "a diagnostic" #'diagnostics)
         (let ((all (diagnostics)))
           (want (= (length all) 1) "want one diagnostic, have %S" all)
           (want (string-search (caar all) "[gone](missing.md)") "marked is %S" (caar all))
           (cdar all))))

(check "hover answers"
       (lambda ()
         (seek "[oth")
         (let* ((reply (jsonrpc-request (eglot-current-server) :textDocument/hover (eglot--TextDocumentPositionParams)))
                (text (eglot--hover-info (plist-get reply :contents) (plist-get reply :range))))
           (want (string-search "Other note" text) "the hover does not show the note: %s" text))
         (goto-char (point-min))
         (want (null (jsonrpc-request (eglot-current-server) :textDocument/hover (eglot--TextDocumentPositionParams)))
               "there is a hover beside any link")))

(check "edit clears the diagnostic"
       (lambda ()
         (undo-boundary)
         (replace "😀😀 but [gone](missing.md)" "😀😀 now [there](other.md)")
         (wait "no diagnostic" (lambda () (null (diagnostics))))
         nil))

(check "undo brings it back"
       (lambda ()
         (undo-boundary)
         (undo)
         (eglot--signal-textDocument/didChange)
         (wait "the diagnostic" #'diagnostics)
         (want (string-search (caar (diagnostics)) "[gone](missing.md)") "marked is %S" (caar (diagnostics)))))

(check "typing inside a line"
       (lambda ()
         ;; Small edits behind characters of two and four bytes: where an encoding is
         ;; counted wrong the server's text and ours part, and the link stays broken.
         (replace "missing" "éother")
         (replace "😀😀 but" "𝄞é 😀😀 but")
         (replace "éother" "other")
         (wait "no diagnostic" (lambda () (null (diagnostics))))
         (seek "𝄞")
         (buffer-substring-no-properties (line-beginning-position) (line-end-position))))

(check "completes"
       (lambda ()
         (goto-char (point-max))
         (insert "🙂🙂 [more](ot)\n")
         (eglot--signal-textDocument/didChange)
         (wait "the link to be broken" #'diagnostics)
         (search-backward ")")
         ;; As M-TAB does: there is one candidate, so it goes in at once.
         (completion-at-point)
         (let ((line (buffer-substring-no-properties (line-beginning-position) (line-end-position))))
           (want (equal line "🙂🙂 [more](other.md)") "the line is %s" line))
         (wait "no diagnostic" (lambda () (null (diagnostics))))
         nil))

(check "saves clean"
       (lambda ()
         (save-buffer)
         (want (not (buffer-modified-p)) "the buffer is still modified")
         (want (null (diagnostics)) "diagnostics after the save: %S" (diagnostics))))

(check "renames a heading in two notes"
       (lambda ()
         (find-file (concat folder "guide.md"))
         (wait "Eglot in the second note" #'eglot-managed-p)
         (seek "## Old")
         (eglot-rename "New name")
         (want (save-excursion (goto-char (point-min)) (search-forward "## New name" nil t)) "the heading is %s" (buffer-string))
         (want (find-buffer-visiting (concat folder "cites.md")) "no other note was edited")
         (save-some-buffers t)
         nil))

(eglot-shutdown (eglot-current-server) nil patience)
(kill-emacs (if failed 1 0))
;;; emacs.el ends here
