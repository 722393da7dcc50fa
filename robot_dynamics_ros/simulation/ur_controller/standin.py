"""A stand-in for the simulated robot: point masses on a UR5e, perfect tracking. Replaced by the plant."""

from __future__ import annotations

import numpy as np

A = (0.0, -0.425, -0.3922, 0.0, 0.0, 0.0)
D = (0.1625, 0.0, 0.0, 0.1333, 0.0997, 0.0996)
ALPHA = (np.pi / 2, 0.0, 0.0, np.pi / 2, -np.pi / 2, 0.0)
MASS = (3.761, 8.058, 2.846, 1.37, 1.3, 0.365)
K = np.array([12.0, 12.0, 10.0, 9.5, 9.5, 9.5])


class StandInModel:
    def __init__(self, payload=None):
        self.payload = payload or (0.0, np.zeros(3), np.zeros(6))

    def with_payload(self, mass, com, inertia):
        return StandInModel((mass, np.asarray(com), np.asarray(inertia)))

    def frames(self, q):
        T, out = np.eye(4), []
        for i in range(6):
            c, s, ca, sa = np.cos(q[i]), np.sin(q[i]), np.cos(ALPHA[i]), np.sin(ALPHA[i])
            T = T @ np.array(
                [[c, -s * ca, s * sa, A[i] * c], [s, c * ca, -c * sa, A[i] * s], [0, sa, ca, D[i]], [0, 0, 0, 1]]
            )
            out.append(T)
        return out

    def fk(self, q):
        return self.frames(q)[-1]

    def _jacobian(self, frames, point, last):
        J = np.zeros((6, 6))
        previous = np.eye(4)
        for i in range(last + 1):
            z = previous[:3, 2]
            J[:3, i], J[3:, i] = np.cross(z, point - previous[:3, 3]), z
            previous = frames[i]
        return J

    def jacobian(self, q):
        frames = self.frames(q)
        return self._jacobian(frames, frames[-1][:3, 3], 5)

    def _masses(self, q):
        frames = self.frames(q)
        for i in range(6):
            before = frames[i - 1][:3, 3] if i else np.zeros(3)
            yield MASS[i], self._jacobian(frames, 0.5 * (before + frames[i][:3, 3]), i)
        mass, com, _ = self.payload
        yield mass, self._jacobian(frames, frames[-1][:3, 3] + frames[-1][:3, :3] @ com, 5)

    def gravity(self, q):
        return sum(m * 9.80665 * J[2] for m, J in self._masses(q))

    def mass_matrix(self, q):
        return sum(m * J[:3].T @ J[:3] for m, J in self._masses(q)) + 0.01 * np.eye(6)

    def coriolis(self, q, qd):
        return np.zeros(6)

    def rnea(self, q, qd, qdd):
        return self.mass_matrix(q) @ qdd + self.gravity(q)


class StandInRobot:
    def __init__(self, seed=0):
        self.random = np.random.default_rng(seed)
        self.q = np.array([0.0, -1.57, 1.57, -1.57, -1.57, 0.0])
        self.qd = np.zeros(6)
        self.current = np.zeros(6)
        self.temperature = np.full(6, 28.0)
        self.wrench = np.zeros(6)
        self.model = StandInModel()

    def set_payload(self, mass, com, inertia):
        self.model = StandInModel((mass, np.asarray(com), np.asarray(inertia)))

    def step_position(self, q_d, qd_d, qdd_d, tau_d):
        tau = self.model.rnea(q_d, qd_d, qdd_d) - self.model.jacobian(q_d).T @ self.wrench
        self.q, self.qd = np.array(q_d), np.array(qd_d)
        self.current = (tau + 4 * np.tanh(qd_d / 0.01)) / K + self.random.normal(0, 0.02, 6)

    def step_torque(self, tau):
        load = tau - self.model.gravity(self.q) + self.model.jacobian(self.q).T @ self.wrench
        acceleration = np.linalg.solve(self.model.mass_matrix(self.q), load - 8 * self.qd - 2 * np.tanh(self.qd / 0.01))
        self.qd = self.qd + 0.002 * acceleration
        self.q = self.q + 0.002 * self.qd
        self.current = tau / K
