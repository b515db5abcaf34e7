;; Reads a listing with eglot: diagnostics, a definition, the users of a node, what hovering says.
;; Environment: FXDAP_SETUP (the Lisp of docs/editors.md), FXDAP_WORKSPACE (with .venv and
;; .fxdap/graphs/net.fxgraph). Prints one line for each answer.
(require 'package)
(package-initialize)
(require 'eglot)
(require 'flymake)
(load (getenv "FXDAP_SETUP") nil t)

(defvar workspace (file-name-as-directory (getenv "FXDAP_WORKSPACE")))

(defun wait-until (what predicate)
  (let ((deadline (+ (float-time) 60)))
    (while (not (funcall predicate))
      (when (> (float-time) deadline)
        (princ (format "timeout: %s\n" what))
        (kill-emacs 1))
      (accept-process-output nil 0.05))))

(defun goto-text (text)
  (goto-char (point-min))
  (search-forward text)
  (goto-char (1+ (match-beginning 0))))

(defun this-line ()
  (string-trim (buffer-substring (line-beginning-position) (line-end-position))))

(setq eglot-sync-connect 60
      eglot-confirm-server-initiated-edits nil
      xref-prompt-for-identifier nil)
(find-file (expand-file-name ".fxdap/graphs/net.fxgraph" workspace))
(princ (format "mode %s\n" major-mode))
(call-interactively #'eglot)
(wait-until "a server" #'eglot-current-server)

(flymake-start)
(wait-until "diagnostics" (lambda () (flymake-diagnostics)))
(dolist (found (flymake-diagnostics))
  (princ (format "diagnostic %s\n"
                 (replace-regexp-in-string "^fxdap \\[[a-z]+\\]: " "" (flymake-diagnostic-text found)))))

(goto-text "%relu, %x")
(call-interactively #'xref-find-definitions)
(princ (format "definition %s\n" (this-line)))

(goto-text "%relu:")
(let ((shown nil))
  (eglot-hover-eldoc-function (lambda (text &rest _) (setq shown text)))
  (wait-until "a hover" (lambda () shown))
  (princ (format "hover %s\n" (replace-regexp-in-string "[*`]" "" (substring-no-properties (car (split-string shown "\n")))))))

(eglot-shutdown (eglot-current-server))
(princ "ended\n")
(kill-emacs 0)
