;; Debugs a graph with dap-mode: a breakpoint in the model, one step, then on to the end.
;; Environment: FXDAP_SETUP (the Lisp of docs/editors.md), FXDAP_WORKSPACE (with mlp.py and .venv).
;; Prints one line for each stop.
(require 'package)
(package-initialize)
(defvar dap-exception-breakpoints nil)
(load (getenv "FXDAP_SETUP") nil t)

(defvar workspace (file-name-as-directory (getenv "FXDAP_WORKSPACE")))
(defvar stops nil)
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
                (push (gethash "name" frame) stops)
                (princ (format "stopped %s\n" (gethash "name" frame)))
                (if (= (length stops) 2) (dap-continue session (dap--debug-session-thread-id session))
                  (dap-next session))))))

(defun wait-until (predicate)
  (let ((deadline (+ (float-time) 90)))
    (while (not (funcall predicate))
      (when (> (float-time) deadline)
        (princ "timeout\n")
        (kill-emacs 1))
      (accept-process-output nil 0.05))))

(find-file (expand-file-name "mlp.py" workspace))
(goto-char (point-min))
(forward-line 16)
(dap-breakpoint-add)
(dap-debug
 (list :type "fxdap" :request "launch" :name "FX Graph" :cwd workspace :workspace workspace
       :graph "mlp.py:MLP" :stopOnEntry :json-false))
(wait-until (lambda () ended))
(princ "ended\n")
(kill-emacs 0)
