;; Debugs with dap-mode: a breakpoint in a file, then one command at each stop; in the end `dap-continue'.
;; Environment: FXDAP_SETUP (the Lisp of docs/editors.md), FXDAP_WORKSPACE (with .venv), FXDAP_FILE
;; and FXDAP_LINE of the breakpoint, FXDAP_LAUNCH (a plist of launch keys), FXDAP_COMMANDS.
;; Prints one line for each stop.
(require 'package)
(package-initialize)
(defvar dap-exception-breakpoints nil)
(load (getenv "FXDAP_SETUP") nil t)

(defvar workspace (file-name-as-directory (getenv "FXDAP_WORKSPACE")))
(defvar commands (mapcar #'intern (split-string (getenv "FXDAP_COMMANDS"))))
(defvar ended nil)

(setq lsp-auto-guess-root t
      dap-auto-show-output nil
      dap-auto-configure-features nil
      dap-breakpoints-file (expand-file-name ".dap-breakpoints" workspace))
(lsp-workspace-folders-add workspace)

(add-hook 'dap-terminated-hook (lambda (_session) (setq ended t)))

(add-hook 'dap-stack-frame-changed-hook
          (lambda (session)
            (let ((frame (dap--debug-session-active-frame session)))
              (when frame
                (princ (format "stopped %s\n" (gethash "name" frame)))
                (let ((command (or (pop commands) 'dap-continue)))
                  (if (eq command 'dap-continue)
                      (dap-continue session (dap--debug-session-thread-id session))
                    (funcall command session)))))))

(defun wait-until (predicate)
  (let ((deadline (+ (float-time) 90)))
    (while (not (funcall predicate))
      (when (> (float-time) deadline)
        (princ "timeout\n")
        (kill-emacs 1))
      (accept-process-output nil 0.05))))

(find-file (expand-file-name (getenv "FXDAP_FILE") workspace))
(goto-char (point-min))
(forward-line (1- (string-to-number (getenv "FXDAP_LINE"))))
(dap-breakpoint-add)
(dap-debug
 (append (list :type "fxdap" :request "launch" :name "FX Graph" :cwd workspace
               :workspace workspace :stopOnEntry :json-false)
         (read (getenv "FXDAP_LAUNCH"))))
(wait-until (lambda () ended))
(princ "ended\n")
(kill-emacs 0)
