/* LPC side of the C5G Open bridge, UDP version 2: packets, lock-free rings, limits, watchdog.
 *
 * Two threads:
 *   - the real-time callback of the LPC's communication library calls bridge_cycle() once per period. It allocates
 *     nothing, calls nothing of the system and never waits;
 *   - an ordinary thread runs bridge_serve(): it moves packets between the rings and the socket.
 *
 * Not run against a robot: compiled and tested against a stub of the callback. Read README.md before you deploy it.
 */
#ifndef C5GOPEN_BRIDGE_H
#define C5GOPEN_BRIDGE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define C5G_AXES 10
#define C5G_VERSION 2
#define C5G_MAGIC_STATE 0x53473543u   /* "C5GS" */
#define C5G_MAGIC_COMMAND 0x43473543u /* "C5GC" */
#define C5G_RING 64                   /* packets, a power of two */
#define C5G_WATCHDOG 5                /* cycles without a command until the position is held */
#define C5G_MAX_SPEED 150.0           /* deg/s: a larger step in one period is rejected */
#define C5G_FORGET_US 1000000         /* a silent client is forgotten after this */

enum c5g_modality {
  C5G_LISTEN = 0,
  C5G_POS_ABSOLUTE = 4,
  C5G_POS_RELATIVE = 5,
  C5G_POS_ADDITIVE = 7,
  C5G_ADDITIVE_SB = 17,
  C5G_ADDITIVE_SBE = 170
};
enum c5g_drives { C5G_OFF = 1, C5G_DRIVING_ON = 2, C5G_DRIVING_OFF = 3, C5G_ON = 4 };
enum c5g_blocks { /* bits of a state's mask */
  C5G_HAS_ROUNDS = 1,
  C5G_HAS_LINK = 2,
  C5G_HAS_TARGET = 4,
  C5G_HAS_SPEED = 8,
  C5G_HAS_CURRENT = 16,
  C5G_HAS_MODEL = 32
};

/* Little-endian, packed: 392 and 196 bytes. session: drawn by the client; one client is served at a time. */
#pragma pack(push, 1)
struct c5g_state {
  uint32_t magic;
  uint16_t version, n_axes;
  uint32_t session, seq;
  uint64_t t_us; /* clock of the cycle, increases with every one */
  uint8_t arm, modality, status, powerlink;
  uint32_t mask;
  double q_motor_rounds[C5G_AXES], q_link_deg[C5G_AXES], q_target_deg[C5G_AXES];
  float dq_motor_rpm[C5G_AXES], current_A[C5G_AXES], current_model_A[C5G_AXES];
};
struct c5g_command {
  uint32_t magic;
  uint16_t version, n_axes;
  uint32_t session, seq, echo_seq; /* echo_seq: of the state it answers */
  uint64_t t_us;
  uint8_t modality, pad[3];
  uint32_t mask; /* axes that are commanded: all of them, or none (LISTEN) */
  double q_deg[C5G_AXES];
  float add_speed[C5G_AXES], add_current_A[C5G_AXES];
};
#pragma pack(pop)
_Static_assert(sizeof(struct c5g_state) == 392, "state packet");
_Static_assert(sizeof(struct c5g_command) == 196, "command packet");

/* One writer, one reader; a full ring drops the newest packet and counts it. */
struct c5g_state_ring {
  _Atomic uint32_t head, tail, dropped;
  struct c5g_state items[C5G_RING];
};
struct c5g_command_ring {
  _Atomic uint32_t head, tail, dropped;
  struct c5g_command items[C5G_RING];
};

struct c5g_counters {
  _Atomic uint32_t accepted, malformed, rejected_mode, rejected_axes, rejected_value, rejected_step, watchdog,
      foreign; /* commands of another session than the one that is served */
};

struct c5g_bridge {
  int n_axes, arm;
  uint32_t period_us;
  double max_step;                                 /* deg per cycle */
  double lower_deg[C5G_AXES], upper_deg[C5G_AXES]; /* position limits */
  uint32_t seq, missed;
  bool holding;
  double target_deg[C5G_AXES]; /* last accepted position */
  struct c5g_state_ring states;
  struct c5g_command_ring commands;
  struct c5g_counters count;
  _Atomic bool stop;
};

/* 0, or -1 for arguments out of range: 1..10 axes, period 400..16000 us, lower < upper. */
int bridge_init(struct c5g_bridge *bridge, int arm, int n_axes, uint32_t period_us, const double *lower_deg,
                const double *upper_deg);

/* Real-time part, once per period. `state`: measurements, modality, drive status, clock as the callback has them (magic,
 * version, n_axes, seq are filled here; q_target_deg becomes the position the robot is to take). q_deg (n_axes): out.
 * Returns true when q_deg may be written to the robot, false: leave the robot alone (LISTEN, drives off). */
bool bridge_cycle(struct c5g_bridge *bridge, struct c5g_state *state, double *q_deg);

/* Ordinary thread: serve UDP address:port until bridge->stop. 0, or -1 with errno when the socket cannot be used. */
int bridge_serve(struct c5g_bridge *bridge, const char *address, uint16_t port);

#endif
