// Friction of a robot file in MuJoCo, without Python: mjcb_passive evaluates the law of the live nodes.
//
//   robot-dynamics export my_arm.yaml --format core --out my_arm.core
//   c++ -std=c++17 -O2 -Icpp_core/include -IMUJOCO/include examples/mujoco_friction.cpp librobot_dynamics_core.a
//       MUJOCO/lib/libmujoco.so -o mujoco_friction
//   ./mujoco_friction my_arm.xml my_arm.core 1.0       falls for 1 s from joints at 0.5 rad, prints the joint positions
//
// my_arm.xml: your model, or mjcf_text(robot, "none") in Python, with joints of these names and without friction.
// Its temperature is that of reference, as in estimators/mujoco_friction.py. One arm per process.
#include <mujoco/mujoco.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "robot_dynamics/observers/contact_force_file.hpp"
#include "robot_dynamics/rigid_body/rnea.hpp"

using namespace robot_dynamics;

// Passive torque -f(q, qd, gravity torque) on the joints of the file's names, once per time step.
class MujocoFriction {
 public:
  MujocoFriction(const mjModel* m, const std::string& core_file) : p_(read_contact_force_parameters(core_file)) {
    if (!p_.friction) throw std::invalid_argument(core_file + ": holds no friction");
    for (int i = 0; i < p_.chain.n; ++i) {
      joint_[i] = mj_name2id(m, mjOBJ_JOINT, p_.joint_names[i].c_str());
      if (joint_[i] < 0) throw std::invalid_argument("the model has no joint " + p_.joint_names[i]);
    }
  }
  int joints() const { return p_.chain.n; }
  int position(const mjModel* m, int i) const { return m->jnt_qposadr[joint_[i]]; }

  void add(const mjModel* m, mjData* d) {
    if (d->time != time_) step(m, d);  // evaluations at the same time have no memory of each other
    for (int i = 0; i < joints(); ++i) d->qfrc_passive[m->jnt_dofadr[joint_[i]]] -= friction_[i];
  }

 private:
  void step(const mjModel* m, const mjData* d) {
    double q[max_joints], v[max_joints], load[max_joints];
    for (int i = 0; i < joints(); ++i) q[i] = d->qpos[position(m, i)], v[i] = d->qvel[m->jnt_dofadr[joint_[i]]];
    gravity_torque(p_.chain, q, load);
    stamp_ += std::llround(1e9 * m->opt.timestep), time_ = d->time;
    p_.friction->step(stamp_, q, v, load, nullptr, nullptr, nullptr, friction_, nullptr);
  }

  ContactForceParameters p_;
  int joint_[max_joints];
  double friction_[max_joints]{}, time_ = -1.0;
  std::int64_t stamp_ = 0;
};

MujocoFriction* friction = nullptr;

int main(int count, char** given) try {
  if (count != 4) throw std::invalid_argument("usage: mujoco_friction MODEL.xml ARM.core SECONDS");
  char error[1000] = "";
  mjModel* m = mj_loadXML(given[1], nullptr, error, sizeof error);
  if (!m) throw std::invalid_argument(error);
  MujocoFriction law(m, given[2]);
  mjData* d = mj_makeData(m);
  for (int i = 0; i < law.joints(); ++i) d->qpos[law.position(m, i)] = 0.5;
  friction = &law;
  mjcb_passive = [](const mjModel* model, mjData* data) { friction->add(model, data); };
  for (double end = std::atof(given[3]); d->time < end - 1e-9;) mj_step(m, d);
  for (int i = 0; i < law.joints(); ++i) std::printf("%.17g\n", d->qpos[law.position(m, i)]);
  mjcb_passive = nullptr;
  mj_deleteData(d);
  mj_deleteModel(m);
} catch (const std::invalid_argument& error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return 1;
}
