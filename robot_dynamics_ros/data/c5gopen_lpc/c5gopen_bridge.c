/* See c5gopen_bridge.h. C11 and POSIX sockets, nothing else. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* ppoll */
#endif
#include "c5gopen_bridge.h"

#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* -- rings ------------------------------------------------------------------------------------------------------- */
#define RING_FUNCTIONS(name, ring_type, item_type)                                              \
  static void name##_push(struct ring_type *ring, const struct item_type *item) {               \
    const uint32_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);              \
    if (head - atomic_load_explicit(&ring->tail, memory_order_acquire) >= C5G_RING) {           \
      atomic_fetch_add_explicit(&ring->dropped, 1, memory_order_relaxed);                       \
      return;                                                                                   \
    }                                                                                           \
    ring->items[head % C5G_RING] = *item;                                                       \
    atomic_store_explicit(&ring->head, head + 1, memory_order_release);                         \
  }                                                                                             \
  static bool name##_pop(struct ring_type *ring, struct item_type *item) {                      \
    const uint32_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);              \
    if (tail == atomic_load_explicit(&ring->head, memory_order_acquire)) return false;          \
    *item = ring->items[tail % C5G_RING];                                                       \
    atomic_store_explicit(&ring->tail, tail + 1, memory_order_release);                         \
    return true;                                                                                \
  }
RING_FUNCTIONS(state, c5g_state_ring, c5g_state)
RING_FUNCTIONS(command, c5g_command_ring, c5g_command)

static void add(_Atomic uint32_t *counter) { atomic_fetch_add_explicit(counter, 1, memory_order_relaxed); }

int bridge_init(struct c5g_bridge *bridge, int arm, int n_axes, uint32_t period_us, const double *lower_deg,
                const double *upper_deg) {
  if (!(1 <= n_axes && n_axes <= C5G_AXES) || !(400 <= period_us && period_us <= 16000) || !(1 <= arm && arm <= 4))
    return -1;
  memset(bridge, 0, sizeof *bridge);
  bridge->arm = arm;
  bridge->n_axes = n_axes;
  bridge->period_us = period_us;
  bridge->max_step = C5G_MAX_SPEED * 1e-6 * period_us;
  bridge->holding = true;
  for (int i = 0; i < n_axes; ++i) {
    if (!(lower_deg[i] < upper_deg[i])) return -1;
    bridge->lower_deg[i] = lower_deg[i];
    bridge->upper_deg[i] = upper_deg[i];
  }
  return 0;
}

/* -- real-time part ---------------------------------------------------------------------------------------------- */
/* Every test is written so that a NaN fails it. */
static bool accepted(struct c5g_bridge *b, const struct c5g_command *c, const struct c5g_state *s) {
  if (c->modality != C5G_POS_ABSOLUTE || s->modality != c->modality || s->status != C5G_ON || !s->powerlink)
    return add(&b->count.rejected_mode), false;
  if (c->mask != (1u << b->n_axes) - 1) return add(&b->count.rejected_axes), false;
  for (int i = 0; i < b->n_axes; ++i)
    if (!(b->lower_deg[i] <= c->q_deg[i] && c->q_deg[i] <= b->upper_deg[i]))
      return add(&b->count.rejected_value), false;
  for (int i = 0; i < b->n_axes; ++i)
    if (!(fabs(c->q_deg[i] - b->target_deg[i]) <= b->max_step)) return add(&b->count.rejected_step), false;
  add(&b->count.accepted);
  memcpy(b->target_deg, c->q_deg, sizeof b->target_deg[0] * (size_t)b->n_axes);
  return true;
}

bool bridge_cycle(struct c5g_bridge *b, struct c5g_state *s, double *q_deg) {
  const bool live = s->modality == C5G_POS_ABSOLUTE && s->status == C5G_ON && s->powerlink;
  if (!live || b->seq == 0) { /* the target follows the robot until it may be commanded */
    memcpy(b->target_deg, live ? s->q_target_deg : s->q_link_deg, sizeof b->target_deg[0] * (size_t)b->n_axes);
    b->holding = true;
  }
  struct c5g_command newest, next;
  bool have = false;
  for (int i = 0; i < C5G_RING && command_pop(&b->commands, &next); ++i) {
    newest = next;
    have = true;
  }
  if (have && accepted(b, &newest, s)) {
    b->missed = 0;
    b->holding = false;
  } else if (!b->holding && ++b->missed >= C5G_WATCHDOG) {
    b->holding = true; /* the last accepted position stays */
    add(&b->count.watchdog);
  }
  memcpy(s->q_target_deg, b->target_deg, sizeof b->target_deg[0] * (size_t)b->n_axes);
  memcpy(q_deg, b->target_deg, sizeof b->target_deg[0] * (size_t)b->n_axes);
  s->magic = C5G_MAGIC_STATE;
  s->version = C5G_VERSION;
  s->n_axes = (uint16_t)b->n_axes;
  s->arm = (uint8_t)b->arm;
  s->seq = ++b->seq;
  state_push(&b->states, s);
  return live;
}

/* -- ordinary thread --------------------------------------------------------------------------------------------- */
static uint64_t now_us(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000u + (uint64_t)t.tv_nsec / 1000u;
}

/* Who is served: from the first command until it was silent for C5G_FORGET_US. */
struct peer {
  struct sockaddr_in address;
  uint32_t session;
  uint64_t heard; /* us, 0: nobody yet */
};

static bool present(const struct peer *p) { return p->heard && now_us() - p->heard < C5G_FORGET_US; }

/* Everything that waits, of one client. Commands to move go to the ring, LISTEN only keeps the states coming. */
static void receive(struct c5g_bridge *b, int fd, struct peer *client) {
  struct c5g_command c;
  struct sockaddr_in from;
  for (int i = 0; i < C5G_RING; ++i) {
    socklen_t size = sizeof from;
    const ssize_t n = recvfrom(fd, &c, sizeof c, MSG_DONTWAIT | MSG_TRUNC, (struct sockaddr *)&from, &size);
    if (n < 0) return;
    if (n != sizeof c || c.magic != C5G_MAGIC_COMMAND || c.version != C5G_VERSION || c.n_axes != b->n_axes) {
      add(&b->count.malformed);
      continue;
    }
    const bool same = c.session == client->session && from.sin_port == client->address.sin_port &&
                      from.sin_addr.s_addr == client->address.sin_addr.s_addr;
    if (present(client) && !same) {
      add(&b->count.foreign);
      continue;
    }
    *client = (struct peer){from, c.session, now_us()};
    if (c.modality != C5G_LISTEN) command_push(&b->commands, &c);
  }
}

int bridge_serve(struct c5g_bridge *b, const char *address, uint16_t port) {
  struct sockaddr_in own = {.sin_family = AF_INET, .sin_port = htons(port)};
  struct peer client = {0};
  const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  if (inet_pton(AF_INET, address, &own.sin_addr) != 1) errno = EINVAL;
  if (own.sin_addr.s_addr == 0 || bind(fd, (struct sockaddr *)&own, sizeof own) != 0) {
    const int reason = errno ? errno : EINVAL; /* 0.0.0.0 is refused: say on which network you serve */
    close(fd);
    errno = reason;
    return -1;
  }
  struct c5g_state s;
  while (!atomic_load(&b->stop)) {
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    const struct timespec slice = {.tv_nsec = 200000}; /* half of the shortest period */
    ppoll(&wait, 1, &slice, NULL);
    receive(b, fd, &client);
    const bool served = present(&client);
    while (state_pop(&b->states, &s)) {
      s.session = client.session;
      if (served) sendto(fd, &s, sizeof s, MSG_DONTWAIT, (struct sockaddr *)&client.address, sizeof client.address);
    }
  }
  close(fd);
  return 0;
}
