/* The client of hookline's daemon: hands everything the caller gave to the daemon, gives back what it says.
 * Where there is no daemon that answers, hookline itself is run. twin.py does the same; one test suite holds both.
 * No allocation but for the caller's input and the answer, no stdio, no locale. PYTHON and VERSION come from the build. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { FAILED = 75, BLOCK = 2, MOST_IOV = 512 };
#define HUNG_MS 2000
#define STARTING_S 10
#define GRACE_MS 2500

extern char **environ;

struct bytes { unsigned char *at; size_t size, room; };
enum verdict { ANSWERED, REFUSED, ABSENT, LATE };

static int64_t until_ms;
static int deny;
static volatile sig_atomic_t child, late;

static int64_t now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int64_t left_ms(void) {
    int64_t left = until_ms - now_ms();
    return left > 0 ? left : 0;
}

static int write_all(int fd, const void *data, size_t size) {
    const unsigned char *at = data;
    while (size) {
        ssize_t done = write(fd, at, size);
        if (done < 0) {
            if (errno == EINTR) continue;
            return -1;
        }
        at += done;
        size -= (size_t)done;
    }
    return 0;
}

static int failed(const char *why) {
    (void)!write(2, "hookline failed: ", 17);
    (void)!write(2, why, strlen(why));
    (void)!write(2, "\n", 1);
    return deny ? BLOCK : FAILED;
}

static int grow(struct bytes *b, size_t more) {
    if (b->room - b->size >= more) return 0;
    size_t room = b->room ? b->room : 1 << 16;
    while (room - b->size < more) {
        if (room > SIZE_MAX / 2) return -1;
        room *= 2;
    }
    unsigned char *at = realloc(b->at, room);
    if (!at) return -1;
    b->at = at;
    b->room = room;
    return 0;
}

/* Waits at most ms for the events; 1 ready, 0 not. */
static int ready(int fd, short events, int64_t ms) {
    struct pollfd p = {.fd = fd, .events = events};
    int64_t end = now_ms() + ms;
    for (;;) {
        int64_t wait = end - now_ms();
        if (wait < 0) wait = 0;
        int n = poll(&p, 1, wait > 1000000 ? 1000000 : (int)wait);
        if (n > 0) return 1;
        if (n < 0 && errno != EINTR) return 0;
        if (now_ms() >= end) return 0;
    }
}

/* Standard input to its end; 0 done, 1 late, -1 failed. */
static int read_input(struct bytes *in) {
    for (;;) {
        if (!ready(0, POLLIN, left_ms())) return 1;
        if (grow(in, 1 << 16)) return -1;
        ssize_t got = read(0, in->at + in->size, in->room - in->size);
        if (got == 0 || (got < 0 && errno == EBADF)) return 0;
        if (got < 0 && errno != EINTR && errno != EAGAIN) return -1;
        if (got > 0) in->size += (size_t)got;
    }
}

static void big_endian(unsigned char *to, uint32_t n) {
    to[0] = (unsigned char)(n >> 24), to[1] = (unsigned char)(n >> 16), to[2] = (unsigned char)(n >> 8), to[3] = (unsigned char)n;
}

static uint32_t number_at(const unsigned char *from) {
    return (uint32_t)from[0] << 24 | (uint32_t)from[1] << 16 | (uint32_t)from[2] << 8 | from[3];
}

/* As hookline.daemon.place says; -1 when the name would be too long for a socket. */
static int directory(char *to, size_t room) {
    const char *runtime = getenv("XDG_RUNTIME_DIR"), *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    struct stat s;
    const char *base, *tail;
    if (runtime && runtime[0] == '/' && stat(runtime, &s) == 0 && S_ISDIR(s.st_mode) && !(s.st_mode & 077) && s.st_uid == geteuid())
        base = runtime, tail = "/hookline";
    else if (state && state[0] == '/')
        base = state, tail = "/hookline/run";
    else
        base = home ? home : "", tail = "/.local/state/hookline/run";
    if (strlen(base) + strlen(tail) + 32 > room) return -1;
    strcpy(to, base);
    strcat(to, tail);
    return 0;
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

static enum verdict send_some(int fd, struct iovec *v, int n) {
    while (n) {
        ssize_t done = writev(fd, v, n > MOST_IOV ? MOST_IOV : n);
        if (done < 0) {
            if (errno == EINTR) continue;
            if (errno != EAGAIN) return REFUSED;
            int64_t left = left_ms();
            if (!ready(fd, POLLOUT, left < HUNG_MS ? left : HUNG_MS)) return left_ms() ? REFUSED : LATE;
            continue;
        }
        while (n && (size_t)done >= v->iov_len) done -= (ssize_t)v->iov_len, v++, n--;
        if (n) v->iov_base = (char *)v->iov_base + done, v->iov_len -= (size_t)done;
    }
    return ANSWERED;
}

static enum verdict send_request(int fd, int argc, char **argv, const struct bytes *in) {
    static char cwd[4096], number[16];
    unsigned char head[12];
    if (!getcwd(cwd, sizeof cwd)) return REFUSED;
    int n = 0, envc = 0, digits = 0;
    while (environ[envc]) envc++;
    struct iovec *v = calloc((size_t)argc + (size_t)envc + 8, sizeof *v);
    if (!v) return REFUSED;
    for (int x = argc; digits == 0 || x; x /= 10) number[digits++] = (char)('0' + x % 10);
    for (int i = 0; i < digits / 2; i++) { char c = number[i]; number[i] = number[digits - 1 - i]; number[digits - 1 - i] = c; }
    number[digits] = 0;
    v[n++] = (struct iovec){head, sizeof head};
    const char *words[] = {VERSION, "hook", cwd, number};
    for (int i = 0; i < 4; i++) v[n++] = (struct iovec){(void *)words[i], strlen(words[i]) + 1};
    for (int i = 0; i < argc; i++) v[n++] = (struct iovec){argv[i], strlen(argv[i]) + 1};
    for (int i = 0; i < envc; i++) v[n++] = (struct iovec){environ[i], strlen(environ[i]) + 1};
    size_t text = 0;
    for (int i = 1; i < n; i++) text += v[i].iov_len;
    enum verdict verdict = REFUSED;
    if (text <= UINT32_MAX && in->size <= UINT32_MAX) {
        memcpy(head, "HKL1", 4);
        big_endian(head + 4, (uint32_t)text);
        big_endian(head + 8, (uint32_t)in->size);
        if (in->size) v[n++] = (struct iovec){in->at, in->size};
        verdict = send_some(fd, v, n);
    }
    free(v);
    return verdict;
}

static enum verdict read_answer(int fd, struct bytes *b, size_t *out, size_t *err) {
    int accepted = 0;
    size_t need = 13, skip = 0;
    for (;;) {
        int64_t left = left_ms();
        if (!ready(fd, POLLIN, accepted || left < HUNG_MS ? left : HUNG_MS)) return left_ms() ? REFUSED : LATE;
        if (grow(b, 1 << 16)) return REFUSED;
        ssize_t got = read(fd, b->at + b->size, b->room - b->size);
        if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (got <= 0) return REFUSED; /* it is gone, in the middle of whatever it was saying */
        b->size += (size_t)got;
        while (skip < b->size && b->at[skip] == 'A') skip++, accepted = 1;
        if (skip) memmove(b->at, b->at + skip, b->size -= skip), skip = 0;
        if (b->size && b->at[0] != 'R') return REFUSED;
        if (b->size < 13) continue;
        *out = number_at(b->at + 5), *err = number_at(b->at + 9);
        need = 13 + *out + *err;
        if (b->size >= need) return ANSWERED;
    }
}

static enum verdict ask(int argc, char **argv, const struct bytes *in, struct bytes *answer, size_t *out, size_t *err) {
    const char *wish = getenv("HOOKLINE_DAEMON");
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    if (wish && !strcmp(wish, "off")) return REFUSED;
    if (directory(to.sun_path, sizeof to.sun_path)) return REFUSED;
    strcat(to.sun_path, "/daemon.sock");
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (fd < 0) return REFUSED;
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    fcntl(fd, F_SETFL, O_NONBLOCK);
    enum verdict verdict = REFUSED;
    if (connect(fd, (struct sockaddr *)&to, sizeof to))
        verdict = errno == EAGAIN ? REFUSED : ABSENT;
    else if (is_ours(fd) && (verdict = send_request(fd, argc, argv, in)) == ANSWERED)
        verdict = read_answer(fd, answer, out, err);
    close(fd);
    return verdict;
}

/* In the background, for those who come later; at most once in a while. */
static void start_daemon(void) {
    char path[256];
    struct stat s;
    if (directory(path, sizeof path - 32)) return;
    for (char *slash = path + 1; *slash; slash++)
        if (*slash == '/') { *slash = 0; mkdir(path, 0700); *slash = '/'; }
    if (mkdir(path, 0700) && errno != EEXIST) return;
    strcat(path, "/daemon.starting");
    int mark = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    if (mark < 0) {
        if (errno != EEXIST || stat(path, &s) || time(NULL) - s.st_mtime < STARTING_S) return;
        utimes(path, NULL);
    } else
        close(mark);
    char *line[] = {PYTHON, "-E", "-P", "-m", "hookline", "daemon", "run", "--background", NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    for (int fd = 0; fd < 3; fd++) posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
#ifdef POSIX_SPAWN_SETSID
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
#endif
    pid_t pid;
    posix_spawn(&pid, PYTHON, &actions, &attributes, line, environ);
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
    const char *start[] = {PYTHON, "-E", "-P", "-m", "hookline"};
    for (int i = 0; i < 5; i++) line[n++] = (char *)start[i];
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
    if (posix_spawn(&pid, PYTHON, &actions, NULL, line, environ)) return failed("cannot run " PYTHON);
    child = pid;
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
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
    child = 0;
    free(line);
    if (late) return failed("no answer in time");
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (deny && code != 0 && code != BLOCK) return failed("hookline ended without an answer");
    return code;
}

/* When to give up, and whether a failure is a block. */
static void wishes(int argc, char **argv) {
    double seconds = 600;
    for (int i = 0; i < argc; i++) {
        const char *equals = strchr(argv[i], '=');
        size_t length = equals ? (size_t)(equals - argv[i]) : strlen(argv[i]);
        const char *value = equals ? equals + 1 : i + 1 < argc ? argv[i + 1] : "";
        if (length == 10 && !memcmp(argv[i], "--deadline", 10)) {
            char *end;
            double said = strtod(value, &end);
            seconds = end == value || *end || !(said >= 0) ? 600 : said > 86400 ? 86400 : said;
        } else if (length == 12 && !memcmp(argv[i], "--on-failure", 12))
            deny = !strcmp(value, "deny");
    }
    until_ms = now_ms() + (int64_t)(seconds * 1000);
}

int main(int argc, char **argv) {
    struct bytes in = {0}, answer = {0};
    size_t out = 0, err = 0;
    if (argc > 0) argc--, argv++;
    wishes(argc, argv);
    if (!argc || strcmp(argv[0], "hook")) return cold(argc, argv, NULL);
    signal(SIGPIPE, SIG_IGN);
    int read_error = read_input(&in);
    if (read_error) return failed(read_error > 0 ? "no answer in time" : "standard input cannot be read");
    int code;
    switch (ask(argc - 1, argv + 1, &in, &answer, &out, &err)) {
    case ANSWERED:
        code = answer.at[4];
        if (write_all(1, answer.at + 13, out) || write_all(2, answer.at + 13 + out, err)) code = failed("the answer cannot be written");
        break;
    case LATE:
        code = failed("no answer in time");
        break;
    case ABSENT:
        start_daemon();
        /* fall through */
    default:
        code = cold(argc, argv, &in);
    }
    free(in.at);
    free(answer.at);
    return code;
}
