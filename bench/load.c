/* 64 sessions at once, each with one request after the other: load SOCKET REQUESTS EVENTS < nothing > microseconds.
 * REQUESTS holds one frame per session, each after its length as a 32-bit number. A program of its own, in one thread,
 * because a driver in Python takes more of the machine than the daemon that it is to measure.
 * Every request has a number of its own in the place of NUMBER, as every tool call of an agent has.
 * Prints the number of wrong answers, then the time of every request. */
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { SESSIONS = 64 };
#define NUMBER "0123456789"
static struct { char *frame, *number; uint32_t size; long left; double began; char said[256]; size_t heard; } all[SESSIONS];
static struct pollfd polled[SESSIONS];
static struct sockaddr_un to = {.sun_family = AF_UNIX};

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static char *number_in(char *frame, size_t size) {
    for (char *at = frame; at + sizeof NUMBER - 1 <= frame + size; at++)
        if (!memcmp(at, NUMBER, sizeof NUMBER - 1)) return at;
    return NULL;
}

static void ask(int n) {
    static long asked;
    long rest = ++asked;
    for (char *at = all[n].number + sizeof NUMBER - 1; at > all[n].number; rest /= 10) *--at = (char)('0' + rest % 10);
    all[n].began = now();
    all[n].heard = 0;
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to)) exit(3);
    for (size_t sent = 0; sent < all[n].size;) {
        ssize_t done = send(fd, all[n].frame + sent, all[n].size - sent, MSG_NOSIGNAL);
        if (done <= 0) break; /* it answers nothing then, which is counted */
        sent += (size_t)done;
    }
    polled[n] = (struct pollfd){.fd = fd, .events = POLLIN};
}

static size_t skipped(int n) {
    size_t skip = 0;
    while (skip < all[n].heard && all[n].said[skip] == 'A') skip++;
    return skip;
}

/* Whether the answer is over: when it is whole, as for the client, or when there is no more. */
static int hear(int n) {
    char *to = all[n].said + all[n].heard;
    ssize_t got = read(polled[n].fd, to, sizeof all[n].said - all[n].heard);
    if (got > 0) {
        all[n].heard += (size_t)got;
        if (all[n].heard - skipped(n) < 13) return 0;
    }
    close(polled[n].fd);
    polled[n].fd = -1;
    return 1;
}

static int is_wrong(int n) {
    size_t skip = skipped(n);
    return all[n].heard - skip != 13 || memcmp(all[n].said + skip, "R\0\0\0\0\0\0\0\0\0\0\0\0", 13);
}

int main(int argc, char **argv) {
    if (argc != 4) return 2;
    strncpy(to.sun_path, argv[1], sizeof to.sun_path - 1);
    FILE *file = fopen(argv[2], "rb");
    long events = atol(argv[3]), done = 0, wrong = 0;
    float *times = calloc((size_t)events, sizeof *times);
    if (!file || !times) return 3;
    for (int n = 0; n < SESSIONS; n++) {
        if (fread(&all[n].size, 4, 1, file) != 1 || !(all[n].frame = malloc(all[n].size))) return 3;
        if (fread(all[n].frame, 1, all[n].size, file) != all[n].size) return 3;
        if (!(all[n].number = number_in(all[n].frame, all[n].size))) return 3;
        all[n].left = events / SESSIONS;
        ask(n);
    }
    for (long running = SESSIONS; running && poll(polled, SESSIONS, 30000) > 0;)
        for (int n = 0; n < SESSIONS; n++)
            if (polled[n].fd >= 0 && polled[n].revents && hear(n)) {
                times[done++] = (float)(now() - all[n].began);
                wrong += is_wrong(n);
                if (--all[n].left) ask(n);
                else running--;
            }
    printf("%ld\n", wrong + events - done);
    for (long n = 0; n < done; n++) printf("%.1f\n", times[n]);
    return 0;
}
