// Friction of n joints: a sliding level S, a memory H of Maxwell-slip elements, viscous terms, temperature.
//   f = h(T) (s(v) sum_k (c_k + l_k |tau|^p) H_k(theta_r) + fs b(v) + c_b H_b(theta))
//       + (h(T) + a (T - T0)) (fv1 v + fv2 |v| v + fv0 v / (1 + |v| / v0)) + fo
//   s(v) = r + (1 - r) g(v),  g(v) = 1 / (1 + (v / vs)^2)               breakaway 1, sliding r = f_C / f_S
//   b(v) = g(v) v / (|v| + eps)                                         Stribeck friction of speed alone
// Levels c, l >= 0, fs and viscous terms >= 0 (so the law dissipates at every speed; fv0 is shear thinning). h(T) is
// the temperature factor of the static map's Coulomb level, a what viscosity changes by beside it; the factor of the
// viscous terms is 0 at least. tau is the torque through the gear: model and external.
//   GMS and E-GMS [Madsen2020 ch6 3-5, 20]: f = h(T) (Fc0 + Fc1 tau^2) H(theta) + F_v(v, T), all but the Coulomb level
//   of the static map in place of the terms above, and a position without kinematic error.
//   A joint whose elements carry nothing, and every joint without a position: the static map.
// The input is position: friction of a creeping joint keeps its level, unlike tanh(v / eps).
//
// Friction acts on the rotor, which a push or gravity turns against the link by the deflection of the gear. A velocity
// that is measured on the rotor shows its motion where only the link's position is reported:
//   theta_r <- theta_r + u dt + dt / (T + dt) (theta - theta_r - u dt)  T = rotor_time; 0: theta_r = theta
// u: mean of the velocities at both ends of dt.
// Only changes of theta_r matter. While a joint slides (slides_at) theta_r - theta of all begins at zero again, so that
// two histories become the same one there, bit for bit once the elements have slipped.
// The output's bearing and seals act on the link: c_b H_b, one element that slips after D_b (source: own).
//
// Over a silence theta_r and the elements go on by the displacement of the joint. Of a joint that may have turned round
// meanwhile they know the past no more: after `stroke`, or where a velocity at either end says so.
#pragma once

#include <cmath>
#include <vector>

#include "robot_dynamics/common/speeds.hpp"
#include "robot_dynamics/friction/elements.hpp"
#include "robot_dynamics/friction/friction_map.hpp"
#include "robot_dynamics/friction/sliding_joint.hpp"

namespace robot_dynamics {

// theta_r of the header after dt; before, v: velocities at its beginning and end.
template <class V>
V rotor_after(double dt, V rotor, V theta, V before, V v, V T) noexcept {
  const V ahead = rotor + 0.5 * (before + v) * dt;
  return ahead + dt / (T + dt) * (theta - ahead);
}

class Friction {
 public:
  static constexpr double slides_at = speeds::slow;
  static constexpr double stroke = 0.5;  // s in which a joint goes there and back, or creeps unseen (source: own)

  // The static map alone.
  explicit Friction(FrictionMap map) : map_(std::move(map)) {}
  // joints (n); null: terms of the map as in GMS and E-GMS, with p = 2. Throws std::invalid_argument.
  Friction(FrictionMap map, Elements elements, const SlidingJoint* joints,
           std::optional<PeriodicTable> kinematic_error = {})
      : map_(std::move(map)),
        elements_(std::move(elements)),
        kinematic_error_(std::move(kinematic_error)),
        rest_of_map_(joints == nullptr),
        complete_(joints != nullptr) {
    const int n = map_.joints();
    if (elements_->joints() != n || (kinematic_error_ && kinematic_error_->joints() != n))
      throw std::invalid_argument("map, elements and kinematic error differ in the number of joints");
    SlidingJoint plain;
    plain.load_limit = 1e5, plain.power = 2.0;
    joints_ = joints ? std::vector<SlidingJoint>(joints, joints + n) : std::vector<SlidingJoint>(n, plain);
    v0_.fill(1.0);
    eps_.fill(1.0);
    for (int i = 0; i < n; ++i) take(i);
    for (int i = 0; i < n; ++i) complete_ = complete_ && follows(i);
  }

  int joints() const noexcept { return map_.joints(); }
  const FrictionMap& map() const noexcept { return map_; }
  const std::optional<Elements>& elements() const noexcept { return elements_; }
  const std::vector<SlidingJoint>& parameters() const noexcept { return joints_; }
  const std::optional<PeriodicTable>& kinematic_error() const noexcept { return kinematic_error_; }
  bool rest_of_map() const noexcept { return rest_of_map_; }
  bool follows(int i) const noexcept { return elements_ && elements_->carries(i); }  // its memory, else the map
  bool valid(int i) const noexcept { return elements_ && elements_->valid(i); }

  // Level of the elements whose deflection is still unknown at load tau [Nm].
  double unknown_level(int i, double tau) const noexcept {
    return elements_ ? elements_->unknown(i, power(i, tau)) : 0;
  }

  // Of the friction of the last step: what the Coulomb level contributes, and that level; with or without the memory.
  LevelPart level_part(int i, double v, double tau, double T, bool known) const noexcept {
    if (!(known && follows(i))) return {map_.torque_at(i, v, tau, T) - map_.viscous(i, v, T), map_.coulomb(i, v, T)};
    const double x = v / joints_[i].stribeck_velocity, r = joints_[i].sliding_ratio;
    const double warm = heat(i, v, T), strength = warm * (r + (1.0 - r) / (1.0 + x * x));
    const LevelPart part = elements_->part(i, power(i, tau));
    const double bearing = warm * joints_[i].bearing;
    return {strength * part.torque + bearing * deflected_[i] / joints_[i].bearing_span,
            strength * part.level + bearing};
  }

  // And what its viscous terms contribute.
  double viscous_part(int i, double v, double T, bool known) const noexcept {
    if (rest_of_map_ || !(known && follows(i))) return map_.viscous(i, v, T) - map_.offset(i);
    const SlidingJoint& p = joints_[i];
    const double a = std::abs(v);
    return thinned(i, heat(i, v, T), T) * v * (p.fv1 + a * p.fv2 + p.fv0 * p.v0 / (p.v0 + a));
  }

  // The same law with spans times `factor`; none where its terms are those of the map.
  std::optional<Friction> with_spans(double factor) const {
    if (!elements_ || rest_of_map_) return {};
    std::vector<double> span = elements_->spans();
    for (double& D : span) D *= factor;
    const Elements other(joints(), elements_->elements(), span.data(), elements_->levels().data(),
                         elements_->loads().data(), {}, elements_->max_gap(), elements_->widening().data());
    return Friction(map_, other, joints_.data(), kinematic_error_);
  }

  void reset() noexcept {
    if (elements_) elements_->reset();
    deflected_ = Joints{};
  }

  // theta [rad], v [rad/s], tau [Nm], T [deg C] (n) -> friction [Nm]; all but v may be null. Without theta all joints
  // follow the map and the elements stay. rotor [rad] (n): theta_r where it is known; null: it is integrated.
  // before [Nm] (n): the load that a contact has changed to tau at once; friction of the elements stays unless it
  // slips. dropped: not finite, or a stamp again.
  Status step(std::int64_t stamp_ns, const double* theta, const double* v, const double* tau, const double* T,
              double* friction, const double* rotor = nullptr, const double* before = nullptr) noexcept {
    const bool known = elements_ && theta;
    const Status status = known ? remember(stamp_ns, theta, rotor, v, tau, T, friction, before) : Status::ok;
    if (status == Status::dropped) return status;
    for (int i = 0; i < joints() && !(known && complete_); ++i) {
      const double t = T ? T[i] : map_.reference(i);
      if (!(known && follows(i)))
        friction[i] = map_.torque_at(i, v[i], tau ? tau[i] : 0.0, t);
      else if (rest_of_map_)
        friction[i] += map_.viscous(i, v[i], t);
    }
    return status;
  }

 private:
  double power(int i, double tau) const noexcept {
    const double load = std::isfinite(tau) ? std::min(std::abs(tau), joints_[i].load_limit) : 0.0;
    return joints_[i].power == 2.0 ? load * load : load;
  }

  Status remember(std::int64_t stamp_ns, const double* theta, const double* rotor, const double* v, const double* tau,
                  const double* T, double* friction, const double* before) noexcept {
    if (!finite(theta, v) || (rotor && !finite(rotor, v))) return Status::dropped;
    double corrected[max_joints], driver[max_joints], dt;
    if (kinematic_error_) {  // [Madsen2020 ch4 30]
      for (int i = 0; i < joints(); ++i) corrected[i] = theta[i] - kinematic_error_->value(i, theta[i]);
      theta = corrected;
    }
    const double* const drives = rotor && moved_rotor_ ? driver : theta;
    for (int i = 0; drives == driver && i < joints(); ++i) driver[i] = rotor_time_[i] > 0.0 ? rotor[i] : theta[i];
    const auto tick = elements_->begin(stamp_ns, drives, dt);
    if (tick == Tick::duplicate) return Status::dropped;
    for (int i = 0; before && i < joints(); ++i)
      if (follows(i) && before[i] != tau[i]) elements_->reload(i, power(i, before[i]), power(i, tau[i]));
    if (tick == Tick::gap)
      doubt(elements_->silence(), theta, v);
    else if (tick != Tick::ok) {
      std::copy_n(theta, joints(), theta_.begin());
      deflected_ = Joints{};
    }
    portable::Ints unknown{}, slides{};
    int i = 0;
    for (; i + portable::lanes <= joints(); i += portable::lanes)
      step_some(i, portable::Size<portable::lanes>{}, theta, drives, v, tau, T, dt, friction, unknown, slides);
    for (; i < joints(); ++i)
      step_some(i, portable::Size<1>{}, theta, drives, v, tau, T, dt, friction, unknown, slides);
    if (portable::any(slides)) elements_->go_on_from(drives);
    std::copy_n(theta, joints(), theta_.begin());
    std::copy_n(v, joints(), v_.begin());
    return Elements::status(tick, unknown);
  }

  // After a silence of `seconds`: joints that may have turned round meanwhile.
  void doubt(double seconds, const double* theta, const double* v) noexcept {
    for (int i = 0; i < joints(); ++i) {
      const double moved = theta[i] - theta_[i], before = at_speed(v_[i]), after = at_speed(v[i]);
      const bool back = before * after < 0.0 || before * moved < 0.0 || after * moved < 0.0;
      if (back || seconds > stroke) elements_->doubt(i, elements_->last()[i] + moved);
    }
  }
  static double at_speed(double v) noexcept { return std::abs(v) < speeds::standing ? 0.0 : v; }

  bool finite(const double* theta, const double* v) const noexcept {
    using namespace portable;
    Vec zero{};  // 0 for finite numbers
    for (int i = 0; i < joints(); i += lanes) {
      const int count = std::min(lanes, joints() - i);
      zero += 0.0 * load_first(theta + i, count) + 0.0 * load_first(v + i, count);
    }
    return sum(zero) == 0.0;
  }

  static portable::Vec magnitude(portable::Vec x) { return portable::greatest(x, -x); }

  // |tau|^p up to the limit; 0 where it is not finite
  portable::Vec powers(int i, portable::Vec tau) const noexcept {
    using namespace portable;
    const Vec a = magnitude(tau);
    const Vec known = select((Ints)(a < std::numeric_limits<double>::infinity()), a, Vec{});
    const Vec used = least(known, load_limit_.at(i));
    return used * (linear_.at(i) + quadratic_.at(i) * used);
  }

  // Position that drives the elements.
  portable::Vec rotor(int i, portable::Vec theta, portable::Vec v, double dt) const noexcept {
    using namespace portable;
    if (!moved_rotor_) return theta;
    const Vec T = rotor_time_.at(i), last = elements_->last().at(i);
    return select((Ints)(T > 0.0),
                  dt > 0.0 ? rotor_after(dt, last, theta, v_.at(i), v, T) : last + (theta - theta_.at(i)), theta);
  }

  // Torque of joints whose elements have this level, before offset [Nm]; warm, thin: factors of it and of viscosity.
  portable::Vec torque(int i, portable::Vec v, portable::Vec level, portable::Vec warm,
                       portable::Vec thin) const noexcept {
    using namespace portable;
    const Vec x = v * per_stribeck_.at(i), a = magnitude(v), r = sliding_.at(i);
    const Vec g = 1.0 / (1.0 + x * x), stribeck = fs_.at(i) / (a + eps_.at(i)) * g;
    const Vec viscous = fv1_.at(i) + a * fv2_.at(i) + thinning_.at(i) / (v0_.at(i) + a);
    const Vec bearing = per_bearing_.at(i) * deflected_.at(i);
    return warm * ((r + (1.0 - r) * g) * level + v * stribeck + bearing) + thin * (v * viscous);
  }

  // Friction of joints i, i + 1, ...
  template <int count>
  void step_some(int i, portable::Size<count>, const double* theta, const double* drives, const double* v,
                 const double* tau, const double* T, double dt, double* friction, portable::Ints& unknown,
                 portable::Ints& slides) noexcept {
    using namespace portable;
    const Vec speed = load_first(v + i, count), link = load_first(theta + i, count);
    const Vec x = drives == theta ? rotor(i, link, speed, dt) : load_first(drives + i, count);
    const Vec span = bearing_span_.at(i), deflected = deflected_.at(i) + (link - theta_.at(i));
    deflected_.put(i, least(greatest(deflected, -span), span));
    const Vec loaded = powers(i, tau ? load_first(tau + i, count) : Vec{});
    const Vec level = elements_->advance(i, x, loaded, unknown);
    Vec warm = fill<Vec>(1.0), thin = warm;
    for (int l = 0; l < count && T != nullptr; ++l) {
      warm[l] = heat(i + l, v[i + l], T[i + l]);
      thin[l] = thinned(i + l, warm[l], T[i + l]);
    }
    store_first(friction + i, torque(i, speed, level, warm, thin) + offset_.at(i), count);
    slides |= (Ints)(magnitude(speed) > slides_at);
  }

  double heat(int i, double v, double T) const noexcept {
    if (!(std::isfinite(T) && T != map_.reference(i))) return 1.0;
    const double cold = (v < 0 ? cold_backward_ : cold_forward_)[i];
    return cold > 0.0 ? map_.coulomb(i, v, T) / cold : 1.0;
  }

  // Factor of the viscous terms beside that of the rest, `warm`.
  double thinned(int i, double warm, double T) const noexcept {
    const double slope = joints_[i].viscous_slope;
    return slope == 0.0 ? warm : std::max(warm + slope * (map_.used_temperature(i, T) - map_.reference(i)), 0.0);
  }

  // The numbers of a joint as vectors read them.
  void take(int i) {
    const SlidingJoint& p = joints_[i];
    p.check(i);
    if (elements_) elements_->give_way(i, p.dahl_step);
    linear_[i] = p.power == 1.0, quadratic_[i] = p.power == 2.0;
    load_limit_[i] = p.load_limit, rotor_time_[i] = p.rotor_time, offset_[i] = p.offset;
    sliding_[i] = p.sliding_ratio, per_stribeck_[i] = 1.0 / p.stribeck_velocity;
    fv1_[i] = p.fv1, fv2_[i] = p.fv2, thinning_[i] = p.fv0 * p.v0, v0_[i] = p.v0, fs_[i] = p.fs, eps_[i] = p.eps;
    bearing_span_[i] = p.bearing_span, per_bearing_[i] = p.bearing / p.bearing_span;
    moved_rotor_ = moved_rotor_ || p.rotor_time > 0.0;
    cold_forward_[i] = map_.coulomb(i, 1.0, map_.reference(i));
    cold_backward_[i] = map_.coulomb(i, -1.0, map_.reference(i));
  }

  FrictionMap map_;
  std::optional<Elements> elements_;
  std::optional<PeriodicTable> kinematic_error_;
  bool rest_of_map_ = false, complete_ = false, moved_rotor_ = false;  // complete: nothing comes from the map
  std::vector<SlidingJoint> joints_;
  Joints theta_{}, v_{};                                 // of the last step
  Joints deflected_{}, bearing_span_{}, per_bearing_{};  // of the bearing [rad], D_b, c_b / D_b
  Joints linear_{}, quadratic_{}, load_limit_{}, rotor_time_{}, offset_{}, sliding_{}, per_stribeck_{};
  Joints fv1_{}, fv2_{}, thinning_{}, v0_{}, fs_{}, eps_{}, cold_forward_{}, cold_backward_{};
};

}  // namespace robot_dynamics
