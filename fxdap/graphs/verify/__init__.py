"""torch's own meaning of each node, run beside a user's Interpreter and compared with it."""

from fxdap.graphs.verify.verifier import Prepared, ValueMismatch, Verifier, can_verify

__all__ = ["Prepared", "ValueMismatch", "Verifier", "can_verify"]
