/* Stands in for the callback of the LPC's library: a timer instead of POWERLINK, ideal drives instead of a robot.
 * usage: lpc_stub ADDRESS PORT PERIOD_US MODALITY; prints "ready", then counters as JSON when its input ends. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "c5gopen_bridge.h"

static struct c5g_bridge bridge;
static const char *address;
static uint16_t port;

static void *serve(void *unused) {
  if (bridge_serve(&bridge, address, port) != 0) {
    perror("bridge_serve");
    exit(1);
  }
  return unused;
}

static void *watch_input(void *unused) {
  char c;
  while (read(0, &c, 1) > 0) continue;
  atomic_store(&bridge.stop, true);
  return unused;
}

int main(int argc, char **argv) {
  if (argc != 5) return 2;
  address = argv[1];
  port = (uint16_t)atoi(argv[2]);
  const uint32_t period = (uint32_t)atoi(argv[3]);
  double lower[6], upper[6], q[C5G_AXES] = {0, 20, -70, 0, 85, 0};
  for (int i = 0; i < 6; ++i) lower[i] = -120, upper[i] = 120;
  if (bridge_init(&bridge, 1, 6, period, lower, upper) != 0) return 3;
  pthread_t server, input;
  pthread_create(&server, NULL, serve, NULL);
  pthread_create(&input, NULL, watch_input, NULL);
  printf("ready\n");
  fflush(stdout);
  struct timespec due;
  clock_gettime(CLOCK_MONOTONIC, &due);
  for (uint64_t t = period; !atomic_load(&bridge.stop); t += period) {
    struct c5g_state s;
    memset(&s, 0, sizeof s);
    s.t_us = t;
    s.modality = (uint8_t)atoi(argv[4]);
    s.status = C5G_ON;
    s.powerlink = 1;
    s.mask = C5G_HAS_LINK | C5G_HAS_TARGET | C5G_HAS_CURRENT;
    memcpy(s.q_link_deg, q, sizeof s.q_link_deg);
    memcpy(s.q_target_deg, q, sizeof s.q_target_deg);
    for (int i = 0; i < 6; ++i) s.current_A[i] = 0.1f * (float)i;
    double target[C5G_AXES];
    if (bridge_cycle(&bridge, &s, target)) memcpy(q, target, 6 * sizeof q[0]);
    due.tv_nsec += (long)period * 1000;
    for (; due.tv_nsec >= 1000000000; due.tv_nsec -= 1000000000) ++due.tv_sec;
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
  }
  pthread_join(server, NULL);
  printf("{\"cycles\": %u, \"accepted\": %u, \"malformed\": %u, \"mode\": %u, \"axes\": %u, \"value\": %u, \"step\": %u, "
         "\"watchdog\": %u, \"dropped\": %u}\n",
         bridge.seq, bridge.count.accepted, bridge.count.malformed, bridge.count.rejected_mode,
         bridge.count.rejected_axes, bridge.count.rejected_value, bridge.count.rejected_step, bridge.count.watchdog,
         bridge.states.dropped);
  return 0;
}
