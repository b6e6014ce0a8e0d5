/* The client of hookline's daemon: hands everything the caller gave to the daemon, gives back what it says.
 * Where there is no daemon that answers, hookline itself is run. twin.py does the same; one test suite holds both.
 * VERSION comes from the build. Python is isolated (-I): no variable and no directory adds code to it.
 *
 * With BARE the way to the daemon and back is gone before the C library has begun: its start takes longer than all of
 * the rest, half of what an empty static program costs. The entry is ours; it makes its system calls itself, uses
 * nothing of the library, and ends the process. Whatever is not plain goes on to the library's own entry and to main,
 * which finds what was read so far. Without BARE the same code runs from main, through the library. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { FAILED = 75, BLOCK = 2, MOST_WORDS = 4000, ROOM = 1 << 16, LONGEST = 100 };
#define HUNG_MS 2000
#define STARTING_S 10
#define GRACE_MS 2500
#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0
#endif

extern char **environ;

/* The Python that hookline is installed with, and hookline's main file. build.py writes them into the finished program,
 * so that one program, built once, serves every installation. They are not static: no compiler may know what they hold. */
enum { PATH_ROOM = 1024 };
char python_path[PATH_ROOM] = "hookline: python_path", main_path[PATH_ROOM] = "hookline: main_path";
__attribute__((used)) const char client_source[] = "hookline: source " SOURCE;

struct bytes { unsigned char *at; size_t size, room; };
enum verdict { UNASKED, ANSWERED, REFUSED, ABSENT, LATE, UNREAD, UNTOLD };

/* What the bare part leaves to main. */
static int64_t until_ms;
static int deny;
static const char *state_dir, *runtime_dir;
static enum verdict verdict;
static unsigned char room_for_input[ROOM], room_for_answer[ROOM];
static struct bytes input = {room_for_input, 0, ROOM}, answer = {room_for_answer, 0, ROOM};
static size_t out_size, err_size;

static volatile sig_atomic_t child, late;

/* ── system calls: each gives its result, or the error as a negative number ── */

#ifdef BARE
#include <sys/syscall.h>
static long kernel(long n, long a, long b, long c, long d, long e, long f) {
    long result;
    register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
    __asm__ volatile("syscall" : "=a"(result) : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9) : "rcx", "r11", "memory");
    return result;
}
static long do_read(int fd, void *to, size_t size) { return kernel(SYS_read, fd, (long)to, (long)size, 0, 0, 0); }
static long do_write(int fd, const void *from, size_t size) { return kernel(SYS_write, fd, (long)from, (long)size, 0, 0, 0); }
static long do_poll(struct pollfd *p, int ms) { return kernel(SYS_poll, (long)p, 1, ms, 0, 0, 0); }
static long do_close(int fd) { return kernel(SYS_close, fd, 0, 0, 0, 0, 0); }
static long do_stat(const char *path, struct stat *s) { return kernel(SYS_stat, (long)path, (long)s, 0, 0, 0, 0); }
static long do_getcwd(char *to, size_t size) { return kernel(SYS_getcwd, (long)to, (long)size, 0, 0, 0, 0); }
static long do_send(int fd, struct msghdr *m) { return kernel(SYS_sendmsg, fd, (long)m, MSG_NOSIGNAL, 0, 0, 0); }
static long do_connect(int fd, struct sockaddr_un *to) { return kernel(SYS_connect, fd, (long)to, sizeof *to, 0, 0, 0); }
static long do_clock(struct timespec *t) { return kernel(SYS_clock_gettime, CLOCK_MONOTONIC, (long)t, 0, 0, 0, 0); }
static unsigned user(void) { return (unsigned)kernel(SYS_geteuid, 0, 0, 0, 0, 0, 0); }
static long do_socket(void) { return kernel(SYS_socket, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, 0, 0, 0); }
static int is_ours(int fd) {
    struct ucred who;
    socklen_t size = sizeof who;
    return kernel(SYS_getsockopt, fd, SOL_SOCKET, SO_PEERCRED, (long)&who, (long)&size, 0) == 0 && who.uid == user();
}
static void ignore_pipes(void) { /* as the kernel knows it: handler, flags, restorer, mask */
    unsigned long act[4] = {(unsigned long)SIG_IGN, 0, 0, 0};
    kernel(SYS_rt_sigaction, SIGPIPE, (long)act, 0, 8, 0, 0);
}
static void *more_room(size_t size) {
    long at = kernel(SYS_mmap, 0, (long)size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return at < 0 && at > -4096 ? NULL : (void *)at;
}
static void less_room(void *at, size_t size) { kernel(SYS_munmap, (long)at, (long)size, 0, 0, 0, 0); }
#else
static long told_by(long result) { return result < 0 ? -errno : result; }
static long do_read(int fd, void *to, size_t size) { return told_by(read(fd, to, size)); }
static long do_write(int fd, const void *from, size_t size) { return told_by(write(fd, from, size)); }
static long do_poll(struct pollfd *p, int ms) { return told_by(poll(p, 1, ms)); }
static long do_close(int fd) { return told_by(close(fd)); }
static long do_stat(const char *path, struct stat *s) { return told_by(stat(path, s)); }
static long do_getcwd(char *to, size_t size) { return getcwd(to, size) ? 0 : -errno; }
static long do_send(int fd, struct msghdr *m) { return told_by(sendmsg(fd, m, MSG_NOSIGNAL)); }
static long do_connect(int fd, struct sockaddr_un *to) { return told_by(connect(fd, (struct sockaddr *)to, sizeof *to)); }
static long do_clock(struct timespec *t) { return told_by(clock_gettime(CLOCK_MONOTONIC, t)); }
static unsigned user(void) { return geteuid(); }
static long do_socket(void) {
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (fd < 0) return -errno;
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    fcntl(fd, F_SETFL, O_NONBLOCK);
    return fd;
}
static int is_ours(int fd) {
#ifdef SO_PEERCRED
    struct ucred who;
    socklen_t size = sizeof who;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) == 0 && who.uid == geteuid();
#else
    uid_t uid;
    gid_t gid;
    return getpeereid(fd, &uid, &gid) == 0 && uid == geteuid();
#endif
}
static void ignore_pipes(void) { signal(SIGPIPE, SIG_IGN); }
static void *more_room(size_t size) {
    void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}
static void less_room(void *at, size_t size) { munmap(at, size); }
#endif

/* ── words, without the library ── */

static size_t length(const char *text) {
    size_t n = 0;
    while (text[n]) n++;
    return n;
}

static int begins(const char *text, const char *with) {
    while (*with && *text == *with) text++, with++;
    return !*with;
}

static int same(const char *one, const char *other) { return begins(one, other) && length(one) == length(other); }

static void copy(void *to, const void *from, size_t size) {
    unsigned char *t = to;
    const unsigned char *f = from;
    while (size--) *t++ = *f++;
}

static char *joined(char *to, const char *text) {
    copy(to, text, length(text) + 1);
    return to + length(text);
}

static const char *variable(char **env, const char *name) {
    size_t size = length(name);
    for (; *env; env++)
        if (begins(*env, name) && (*env)[size] == '=') return *env + size + 1;
    return NULL;
}

/* ── time ── */

static int64_t now_ms(void) {
    struct timespec t;
    do_clock(&t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int64_t left_ms(void) {
    int64_t left = until_ms - now_ms();
    return left > 0 ? left : 0;
}

/* Waits at most ms for the events; 1 ready, 0 not. */
static int ready(int fd, short events, int64_t ms) {
    struct pollfd p = {.fd = fd, .events = events};
    int64_t end = now_ms() + ms;
    for (;;) {
        int64_t wait = end - now_ms();
        if (wait < 0) wait = 0;
        long n = do_poll(&p, wait > 1000000 ? 1000000 : (int)wait);
        if (n > 0) return 1;
        if (n < 0 && n != -EINTR) return 0;
        if (now_ms() >= end) return 0;
    }
}

/* ── to the daemon and back ── */

static int write_all(int fd, const void *data, size_t size) {
    const unsigned char *at = data;
    while (size) {
        long done = do_write(fd, at, size);
        if (done == -EINTR || (done == -EAGAIN && ready(fd, POLLOUT, left_ms()))) continue;
        if (done < 0) return -1;
        at += done;
        size -= (size_t)done;
    }
    return 0;
}

static int grow(struct bytes *b, size_t more) {
    if (b->room - b->size >= more) return 0;
    size_t room = b->room;
    while (room - b->size < more) {
        if (room > SIZE_MAX / 2) return -1;
        room *= 2;
    }
    unsigned char *at = more_room(room);
    if (!at) return -1;
    copy(at, b->at, b->size);
    if (b->room > ROOM) less_room(b->at, b->room);
    b->at = at;
    b->room = room;
    return 0;
}

static enum verdict read_input(void) {
    for (;;) {
        if (!ready(0, POLLIN, left_ms())) return LATE;
        if (grow(&input, ROOM / 2)) return UNREAD;
        long got = do_read(0, input.at + input.size, input.room - input.size);
        if (got == 0 || got == -EBADF) return ANSWERED;
        if (got < 0 && got != -EINTR && got != -EAGAIN) return UNREAD;
        if (got > 0) input.size += (size_t)got;
    }
}

static void big_endian(unsigned char *to, uint32_t n) {
    to[0] = (unsigned char)(n >> 24), to[1] = (unsigned char)(n >> 16), to[2] = (unsigned char)(n >> 8), to[3] = (unsigned char)n;
}

static uint32_t number_at(const unsigned char *from) {
    return (uint32_t)from[0] << 24 | (uint32_t)from[1] << 16 | (uint32_t)from[2] << 8 | from[3];
}

/* As hookline.daemon.protocol says; NULL when the name would be too long for a socket or nobody says where, else its end.
 * An entry that names its directories is not led elsewhere by variables, which a repository can set. */
static char *directory(char *to, char **env) {
    const char *runtime = state_dir ? runtime_dir : variable(env, "XDG_RUNTIME_DIR");
    const char *state = variable(env, "XDG_STATE_HOME"), *home = variable(env, "HOME");
    struct stat s;
    const char *base = home ? home : "", *tail = "/.local/state/hookline/run";
    if (runtime && runtime[0] == '/' && do_stat(runtime, &s) == 0 && S_ISDIR(s.st_mode) && !(s.st_mode & 077) && s.st_uid == user())
        base = runtime, tail = "/hookline";
    else if (state_dir)
        base = state_dir, tail = "/run";
    else if (state && state[0] == '/')
        base = state, tail = "/hookline/run";
    if (base[0] != '/') return NULL;
    if (length(base) + length(tail) + length("/daemon.sock") > LONGEST) return NULL;
    return joined(joined(to, base), tail);
}

static enum verdict send_all(int fd, struct iovec *v, size_t n) {
    while (n) {
        struct msghdr m = {.msg_iov = v, .msg_iovlen = n > 512 ? 512 : n};
        long done = do_send(fd, &m);
        if (done == -EINTR) continue;
        if (done == -EAGAIN) {
            int64_t left = left_ms();
            if (!ready(fd, POLLOUT, left < HUNG_MS ? left : HUNG_MS)) return left_ms() ? REFUSED : LATE;
            continue;
        }
        if (done < 0) return REFUSED;
        while (n && (size_t)done >= v->iov_len) done -= (long)v->iov_len, v++, n--;
        if (n) v->iov_base = (char *)v->iov_base + done, v->iov_len -= (size_t)done;
    }
    return ANSWERED;
}

static enum verdict send_request(int fd, int argc, char **argv, char **env) {
    static char cwd[4096], number[16];
    static struct iovec v[MOST_WORDS + 8];
    unsigned char head[12];
    size_t n = 0, text = 0;
    int digits = 16;
    if (do_getcwd(cwd, sizeof cwd) < 0) return REFUSED;
    number[--digits] = 0;
    for (int x = argc; digits == 15 || x; x /= 10) number[--digits] = (char)('0' + x % 10);
    v[n++] = (struct iovec){head, sizeof head};
    const char *words[] = {VERSION, "hook", cwd, number + digits};
    for (int i = 0; i < 4; i++) v[n++] = (struct iovec){(void *)words[i], length(words[i]) + 1};
    for (int i = 0; i < argc && n < MOST_WORDS; i++) v[n++] = (struct iovec){argv[i], length(argv[i]) + 1};
    for (; *env && n < MOST_WORDS; env++) v[n++] = (struct iovec){*env, length(*env) + 1};
    if (n >= MOST_WORDS) return REFUSED;
    for (size_t i = 1; i < n; i++) text += v[i].iov_len;
    if (text > UINT32_MAX || input.size > UINT32_MAX) return REFUSED;
    copy(head, "HKL1", 4);
    big_endian(head + 4, (uint32_t)text);
    big_endian(head + 8, (uint32_t)input.size);
    if (input.size) v[n++] = (struct iovec){input.at, input.size};
    return send_all(fd, v, n);
}

static enum verdict read_answer(int fd) {
    int accepted = 0;
    size_t skip = 0;
    for (;;) {
        int64_t left = left_ms();
        if (!ready(fd, POLLIN, accepted || left < HUNG_MS ? left : HUNG_MS)) return left_ms() ? REFUSED : LATE;
        if (grow(&answer, ROOM / 2)) return REFUSED;
        long got = do_read(fd, answer.at + answer.size, answer.room - answer.size);
        if (got == -EINTR || got == -EAGAIN) continue;
        if (got <= 0) return REFUSED; /* it is gone, in the middle of whatever it was saying */
        answer.size += (size_t)got;
        for (skip = 0; skip < answer.size && answer.at[skip] == 'A'; skip++) accepted = 1;
        if (skip) copy(answer.at, answer.at + skip, answer.size -= skip);
        if (answer.size && answer.at[0] != 'R') return REFUSED;
        if (answer.size < 13) continue;
        out_size = number_at(answer.at + 5), err_size = number_at(answer.at + 9);
        if (answer.size >= 13 + out_size + err_size) return ANSWERED;
    }
}

static enum verdict ask(int argc, char **argv, char **env) {
    const char *wish = variable(env, "HOOKLINE_DAEMON");
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    if (wish && same(wish, "off")) return REFUSED;
    char *end = directory(to.sun_path, env);
    if (!end) return REFUSED;
    joined(end, "/daemon.sock");
    int fd = (int)do_socket();
    if (fd < 0) return REFUSED;
    enum verdict found = REFUSED;
    long connected = do_connect(fd, &to);
    if (connected < 0)
        found = connected == -EAGAIN || (wish && same(wish, "if running")) ? REFUSED : ABSENT; /* then none is started */
    else if (is_ours(fd) && (found = send_request(fd, argc, argv, env)) == ANSWERED)
        found = read_answer(fd);
    do_close(fd);
    return found;
}

static enum verdict asked(int argc, char **argv, char **env) {
    enum verdict found = read_input();
    return found == ANSWERED ? ask(argc, argv, env) : found;
}

/* When to give up, and whether a failure is a block. The library's function reads numbers that are not plain. */
static int wishes(int argc, char **argv, double (*number)(const char *, char **)) {
    int64_t ms = 590000;
    deny = 0;
    for (int i = 0; i < argc; i++) {
        const char *name = argv[i], *equals = name;
        while (*equals && *equals != '=') equals++;
        const char *value = *equals ? equals + 1 : i + 1 < argc ? argv[i + 1] : "";
        if (equals - name == 10 && begins(name, "--deadline")) {
            size_t n = 0;
            for (ms = 0; n < 6 && value[n] >= '0' && value[n] <= '9'; n++) ms = ms * 10 + (value[n] - '0');
            if (n && !value[n]) {
                ms *= 1000;
            } else if (number) {
                char *end;
                double said = number(value, &end);
                ms = end == value || *end || !(said >= 0) ? 590000 : said > 86400 ? 86400000 : (int64_t)(said * 1000);
            } else {
                return 0;
            }
            if (ms > 86400000) ms = 86400000;
        } else if (equals - name == 12 && begins(name, "--on-failure"))
            deny = same(value, "deny");
        else if (equals - name == 11 && begins(name, "--state-dir"))
            state_dir = value;
        else if (equals - name == 13 && begins(name, "--runtime-dir"))
            runtime_dir = value;
    }
    until_ms = now_ms() + ms;
    return 1;
}

static int told(void) {
    if (out_size || err_size) ignore_pipes();
    if (write_all(1, answer.at + 13, out_size) || write_all(2, answer.at + 13 + out_size, err_size)) return -1;
    return answer.at[4];
}

#ifdef BARE
/* On the stack are the number of arguments, the arguments and the environment, as the kernel puts them there. */
__attribute__((used)) void bare_main(long *stack) {
    int argc = (int)stack[0];
    char **argv = (char **)(stack + 1), **env = argv + argc + 1;
    if (argc < 2 || !same(argv[1], "hook") || !wishes(argc - 1, argv + 1, NULL)) return;
    verdict = asked(argc - 2, argv + 2, env);
    if (verdict != ANSWERED) return;
    int code = told();
    if (code >= 0) kernel(SYS_exit_group, code, 0, 0, 0, 0, 0);
    verdict = UNTOLD;
}
__asm__(".globl bare_start\n.type bare_start, @function\nbare_start:\n"
        "  mov %rsp, %rdi\n  push %rdx\n  sub $8, %rsp\n  call bare_main\n  add $8, %rsp\n  pop %rdx\n  jmp _start\n");
#endif

/* ── from here on with the library ── */

static int failed(const char *why) {
    (void)!write(2, "hookline failed: ", 17);
    (void)!write(2, why, strlen(why));
    (void)!write(2, "\n", 1);
    return deny ? BLOCK : FAILED;
}

/* In the background, for those who come later; at most once in a while. */
static void start_daemon(void) {
    char path[256], starting[256];
    struct stat s;
    if (!directory(path, environ)) return;
    for (char *slash = path + 1; *slash; slash++)
        if (*slash == '/') { *slash = 0; mkdir(path, 0700); *slash = '/'; }
    if (mkdir(path, 0700) && errno != EEXIST) return;
    strcat(strcpy(starting, path), "/daemon.starting");
    int mark = open(starting, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    if (mark < 0) {
        if (errno != EEXIST || stat(starting, &s) || labs((long)(time(NULL) - s.st_mtime)) < STARTING_S) return; /* clocks go back */
        utimes(starting, NULL);
    } else
        close(mark);
    char *line[] = {python_path, "-I", main_path, "daemon", "run", "--background", "--directory", path, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    for (int fd = 0; fd < 3; fd++) posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
#ifdef POSIX_SPAWN_SETSID
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
#endif
    pid_t pid;
    posix_spawn(&pid, python_path, &actions, &attributes, line, environ);
}

static void pass_on(int number) {
    if (number == SIGALRM) late = 1;
    if (child > 0) kill(child, number == SIGALRM ? SIGKILL : number);
}

/* Milliseconds as seconds: 1500 is 1.500. */
static void decimal(char *to, int64_t ms) {
    char digits[24];
    int n = 0;
    for (; n < 4 || ms; ms /= 10) {
        digits[n++] = (char)('0' + ms % 10);
        if (n == 3) digits[n++] = '.';
    }
    while (n) *to++ = digits[--n];
    *to = 0;
}

/* The ordinary command in a process of its own, so that its end is ours to judge, whatever it is. */
static int cold(int argc, char **argv, const struct bytes *in) {
    int feed[2] = {-1, -1}, n = 0, status = 0;
    char **line = calloc((size_t)argc + 8, sizeof *line);
    posix_spawn_file_actions_t actions;
    pid_t pid;
    if (!line || (in && pipe(feed))) return failed("out of memory or descriptors");
    const char *start[] = {python_path, "-I", main_path};
    for (int i = 0; i < 3; i++) line[n++] = (char *)start[i];
    for (int i = 0; i < argc; i++) line[n++] = argv[i];
    /* It answers by the deadline itself, in the agent's own words; what is left of it is all it has. */
    char deadline[40] = "--deadline=";
    if (in) line[n++] = "--cold", line[n++] = deadline, decimal(deadline + strlen(deadline), left_ms() + 1);
    posix_spawn_file_actions_init(&actions);
    if (in) {
        fcntl(feed[1], F_SETFD, FD_CLOEXEC);
        posix_spawn_file_actions_adddup2(&actions, feed[0], 0);
        if (feed[0]) posix_spawn_file_actions_addclose(&actions, feed[0]);
    }
    signal(SIGCHLD, SIG_DFL); /* who ignores it would not be told how a child has ended, nor would our child */
    if (access(main_path, R_OK) || posix_spawn(&pid, python_path, &actions, NULL, line, environ))
        return failed("it is no longer installed where it was. Install it again, then type hookline deploy; "
                      "or remove its entries from this agent's settings");
    child = pid;
    sigset_t alarm_alone;
    sigemptyset(&alarm_alone);
    sigaddset(&alarm_alone, SIGALRM);
    sigprocmask(SIG_UNBLOCK, &alarm_alone, NULL);
    int signals[] = {SIGALRM, SIGTERM, SIGINT, SIGHUP};
    struct sigaction act = {.sa_handler = pass_on};
    for (int i = 0; i < 4; i++) sigaction(signals[i], &act, NULL);
    signal(SIGPIPE, SIG_IGN);
    int64_t left = left_ms() + 1 + GRACE_MS;
    struct itimerval timer = {.it_value = {left / 1000, left % 1000 * 1000}};
    setitimer(ITIMER_REAL, &timer, NULL);
    if (in) {
        close(feed[0]);
        (void)write_all(feed[1], in->at, in->size); /* it may not want to hear it all; its answer counts all the same */
        close(feed[1]);
    }
    pid_t ended;
    while ((ended = waitpid(pid, &status, 0)) < 0 && errno == EINTR) continue;
    child = 0;
    free(line);
    if (ended < 0) return failed("nobody knows how hookline ended");
    if (late) return failed("no answer in time");
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (deny && code != 0 && code != BLOCK) return failed("hookline ended without an answer");
    return code;
}

int main(int argc, char **argv) {
    if (argc > 0) argc--, argv++;
    if (verdict == UNASKED) {
        wishes(argc, argv, strtod);
        if (!argc || strcmp(argv[0], "hook")) return cold(argc, argv, NULL);
        ignore_pipes();
        verdict = asked(argc - 1, argv + 1, environ);
    }
    int code;
    switch (verdict) {
    case ANSWERED:
        if ((code = told()) >= 0) return code;
        /* fall through */
    case UNTOLD:
        return failed("the answer cannot be written");
    case UNREAD:
        return failed("standard input cannot be read");
    case LATE:
        return failed("no answer in time");
    case ABSENT:
        start_daemon();
        /* fall through */
    default:
        return cold(argc, argv, &input);
    }
}
