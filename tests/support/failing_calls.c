/* Preloaded: the n-th system call of this process that changes a file under a folder fails, or ends
   the process. Python arms it with arm(folder, n, how): how is an errno, or 0 to kill. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static char under[PATH_MAX];
static long left = -1, seen = 0;
static int how = 0, armed = 0, full = 0;

void arm(const char *folder, long n, int error, int from_then_on) {
  snprintf(under, sizeof under, "%s", folder);
  left = n, seen = 0, how = error, full = from_then_on, armed = 1;
}
void disarm(void) { armed = 0; }
long calls(void) { return seen; }

static int fails(void) {
  seen++;
  if (left > 0) left--;
  else if (!full) return 0;
  if (left > 0) return 0;
  if (left == 0 && !full) left = -1;
  if (how == 0) kill(getpid(), SIGKILL);
  errno = how;
  return 1;
}
static int in_path(const char *path) {
  char whole[PATH_MAX];
  if (!armed || !path) return 0;
  if (path[0] != '/') {
    char here[PATH_MAX / 2];
    if (!getcwd(here, sizeof here)) return 0;
    snprintf(whole, sizeof whole, "%s/%s", here, path);
    path = whole;
  }
  return strncmp(path, under, strlen(under)) == 0;
}
static int in_fd(int fd) {
  char link[64], path[PATH_MAX];
  if (!armed) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t n = readlink(link, path, sizeof path - 1);
  if (n < 0) return 0;
  path[n] = 0;
  return in_path(path);
}
#define REAL(name) static __typeof__(name) *real; if (!real) real = dlsym(RTLD_NEXT, #name)

/* A disk that is full refuses what needs room, and lets files be removed. */
ssize_t write(int fd, const void *data, size_t n) {
  REAL(write);
  return in_fd(fd) && fails() ? -1 : real(fd, data, n);
}
ssize_t pwrite(int fd, const void *data, size_t n, off_t at) {
  REAL(pwrite);
  return in_fd(fd) && fails() ? -1 : real(fd, data, n, at);
}
ssize_t writev(int fd, const struct iovec *parts, int n) {
  REAL(writev);
  return in_fd(fd) && fails() ? -1 : real(fd, parts, n);
}
int ftruncate(int fd, off_t size) {
  REAL(ftruncate);
  return in_fd(fd) && fails() ? -1 : real(fd, size);
}
int ftruncate64(int fd, off64_t size) {
  REAL(ftruncate64);
  return in_fd(fd) && fails() ? -1 : real(fd, size);
}
int fsync(int fd) {
  REAL(fsync);
  return in_fd(fd) && fails() ? -1 : real(fd);
}
int rename(const char *from, const char *to) {
  REAL(rename);
  return in_path(to) && fails() ? -1 : real(from, to);
}
int mkdir(const char *path, mode_t mode) {
  REAL(mkdir);
  return in_path(path) && fails() ? -1 : real(path, mode);
}
int unlink(const char *path) {
  REAL(unlink);
  /* That fails only with its disk; what is left then, the next save removes. */
  return in_path(path) && how == 0 && fails() ? -1 : real(path);
}
int chmod(const char *path, mode_t mode) {
  REAL(chmod);
  return in_path(path) && !full && fails() ? -1 : real(path, mode);
}
#define OPEN(name)                                                        \
  int name(const char *path, int flags, ...) {                            \
    REAL(name);                                                           \
    va_list rest;                                                         \
    va_start(rest, flags);                                                \
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0; \
    va_end(rest);                                                         \
    if (flags & O_CREAT && in_path(path) && fails()) return -1;           \
    return real(path, flags, mode);                                       \
  }
OPEN(open)
OPEN(open64)
FILE *fopen(const char *path, const char *mode) {
  REAL(fopen);
  return strpbrk(mode, "wa") && in_path(path) && fails() ? NULL : real(path, mode);
}
FILE *fopen64(const char *path, const char *mode) {
  REAL(fopen64);
  return strpbrk(mode, "wa") && in_path(path) && fails() ? NULL : real(path, mode);
}
