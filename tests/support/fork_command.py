# What support.forked_python writes to a file that can be run, behind the lines that name PYTHON.
# It loads as little as it can.
import json
import os
import signal
import socket
import sys

PASSED_ON = {
    getattr(signal, name)
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGCONT")
}


def real():
    os.execv(PYTHON, [PYTHON, *sys.argv[1:]])  # noqa: F821


if not sys.argv[1:] or (sys.argv[1][:1] == "-" and sys.argv[1] not in ("-c", "-m")):
    real()
signal.pthread_sigmask(signal.SIG_BLOCK, PASSED_ON)
server = socket.socket(socket.AF_UNIX)
server.connect(os.path.join(os.path.dirname(__file__), "socket"))
ignored = [n for n in PASSED_ON if signal.getsignal(n) is signal.SIG_IGN]
request = {"argv": sys.argv[1:], "env": dict(os.environ), "cwd": os.getcwd(), "ignored": ignored}
socket.send_fds(server, [json.dumps(request).encode() + b"\n"], [0, 1, 2])
answers = server.makefile("r")
pid = int(answers.readline())
if not pid:
    signal.pthread_sigmask(signal.SIG_UNBLOCK, PASSED_ON)
    real()
for number in PASSED_ON - set(ignored):
    signal.signal(number, lambda number, frame: os.kill(pid, number))
signal.pthread_sigmask(signal.SIG_UNBLOCK, PASSED_ON)
for stream in (0, 1, 2):  # whose readers wait for the program alone
    os.close(stream)
code = int(answers.readline())
if code < 0:
    signal.signal(-code, signal.SIG_DFL) if -code != signal.SIGKILL else None
    os.kill(os.getpid(), -code)
os._exit(code)
