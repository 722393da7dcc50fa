// Presliding friction of n joints: Maxwell-slip elements with free spans, load on each element, Stribeck on the level.
//   f = h(T) (s(v) sum_k (c_k + l_k |tau|^p) H_k(theta) + fs b(v) + fv1 v + fv2 |v| v + fv0 v / (1 + |v| / v0)) + fo
//   H_k = d_k / D_k,  d_k <- clip(d_k + dtheta, -D_k, D_k)              [Madsen2020 ch4 35-37]
//   s(v) = r + (1 - r) g(v),  g(v) = 1 / (1 + (v / vs)^2)               breakaway 1, sliding r = f_C / f_S
//   b(v) = g(v) v / (|v| + eps)                                         Stribeck friction of speed alone
// Spans, levels c, l >= 0, fs and viscous terms >= 0 (so the law dissipates at every speed; fv0 is shear thinning), p,
// s(v) are identified; a law with spacing rules ties the elements together (gms.hpp, egms.hpp).
// The input is position: friction of a creeping joint keeps its level, unlike tanh(v / eps). tau is the torque through
// the gear: model torque and external torque. h(T) is the temperature factor of the static map's Coulomb level. A joint
// without levels follows the static map.
//
// Friction acts on the rotor, which a push or gravity turns against the link by the deflection of the gear. A velocity
// that is measured on the rotor shows its motion where only the link's position is reported:
//   theta_r <- theta_r + v dt + dt / (T + dt) (theta - theta_r - v dt)  T = rotor_time; 0: theta_r = theta
// Only changes of theta_r matter. While a joint slides (slides_at) theta_r - theta of all begins at zero again, so that
// two histories become the same one there, bit for bit once the elements have slipped.
#pragma once

#include <algorithm>
#include <cmath>

#include "robot_dynamics/friction/friction_map.hpp"
#include "robot_dynamics/rigid_body/chain.hpp"
#include "robot_dynamics/rigid_body/kernel/vector.hpp"
#include "robot_dynamics/signals/sample_clock.hpp"

namespace robot_dynamics {

struct PreslidingJoint {
  double load_limit = 1e3;         // largest |tau| used [Nm]: the identified range; bounds the feedback of load
  double power = 1.0;              // p, 1 or 2
  double sliding_ratio = 1.0;      // r = f_C / f_S, 0..1
  double stribeck_velocity = 0.1;  // vs [rad/s]
  double fv1 = 0.0, fv2 = 0.0;     // Nm s/rad, Nm s2/rad2
  double fv0 = 0.0, v0 = 0.3;      // Nm s/rad, rad/s: viscosity that falls with speed
  double offset = 0.0;             // fo [Nm]
  double fs = 0.0, eps = 2e-3;     // Nm, rad/s: Stribeck friction of speed alone
  double rotor_time = 0.0;         // T [s]: how long the integrated velocity drives the elements; 0: the position
};

// theta_r of the header after dt.
template <class V>
V rotor_after(double dt, V rotor, V theta, V v, V T) noexcept {
  const V ahead = rotor + v * dt;
  return ahead + dt / (T + dt) * (theta - ahead);
}

class Presliding {
 public:
  static constexpr int max_elements = 16;
  static constexpr double slides_at = 0.02;  // rad/s

  // span D [rad], level c [Nm], load l [Nm^(1-p)]: (n, elements), spans rising. Throws std::invalid_argument.
  Presliding(FrictionMap map, int elements, const double* span, const double* level, const double* load,
             const PreslidingJoint* joints, double max_gap = 0.1)
      : map_(std::move(map)),
        n_(map_.joints()),
        elements_(elements),
        joints_(joints, joints + n_),
        span_(span, span + n_ * elements),
        level_(level, level + n_ * elements),
        load_(load, load + n_ * elements) {
    if (!(1 <= elements && elements <= max_elements))
      throw std::invalid_argument("elements = " + std::to_string(elements) + " is outside 1..16");
    if (!(1 <= n_ && n_ <= max_joints)) throw std::invalid_argument("joints are outside 1..16");
    if (!(max_gap > 0)) throw std::invalid_argument("max_gap = " + std::to_string(max_gap) + " is not > 0");
    clock_.max_gap = max_gap;
    for (int i = 0; i < n_; ++i) check(i);
    side_by_side();
  }

  int joints() const noexcept { return n_; }
  int elements() const noexcept { return elements_; }
  const std::vector<PreslidingJoint>& parameters() const noexcept { return joints_; }
  const std::vector<double>& spans() const noexcept { return span_; }    // (n, elements)
  const std::vector<double>& levels() const noexcept { return level_; }  // (n, elements)
  const std::vector<double>& loads() const noexcept { return load_; }    // (n, elements)
  double max_gap() const noexcept { return clock_.max_gap; }
  bool valid(int i) const noexcept {
    return has_memory_[i] && high_[i] - low_[i] > full_range_[i];
  }  // initial state forgotten
  bool follows(int i) const noexcept { return has_memory_[i]; }  // else the static map

  // Level of all elements without load [Nm].
  double level(int i) const noexcept {
    double sum = 0.0;
    for (int e = i * elements_; e < (i + 1) * elements_; ++e) sum += level_[e];
    return sum;
  }

  // Level of the elements whose deflection is still unknown at load tau [Nm]: their friction lies within +- it.
  double unknown_level(int i, double tau) const noexcept {
    const double loaded = power(i, tau), range = high_[i] - low_[i];
    if (range > full_range_[i]) return 0.0;
    double sum = 0.0;
    for (int e = i * elements_; e < (i + 1) * elements_; ++e)
      if (!(range > 2 * span_[e])) sum += level_[e] + load_[e] * loaded;
    return sum;
  }

  // Torque of the elements as they are [Nm], and the most it can be, at velocity v, load tau and temperature T.
  LevelPart level_part(int i, double v, double tau, double T) const noexcept {
    const double loaded = power(i, tau), x = v / joints_[i].stribeck_velocity, r = joints_[i].sliding_ratio;
    const Element* e = side_by_side_.data() + i / portable::lanes * elements_;
    double torque = 0.0, most = 0.0;
    for (int k = 0; k < elements_; ++k) {
      const double level = level_[i * elements_ + k] + load_[i * elements_ + k] * loaded;
      torque += level * e[k].deflection[i % portable::lanes] / span_[i * elements_ + k];
      most += level;
    }
    const double strength = heat(i, v, T) * (r + (1.0 - r) / (1.0 + x * x));
    return {strength * torque, strength * most};
  }

  void reset() noexcept { clock_.reset(); }

  // theta [rad], v [rad/s] (n), tau [Nm] and T [deg C] (n) or null -> friction [Nm]
  Status step(std::int64_t stamp_ns, const double* theta, const double* v, const double* tau, const double* T,
              double* friction) noexcept {
    if (!finite(theta, v)) return Status::dropped;
    double dt;
    const auto tick = clock_.tick(stamp_ns, dt);
    if (tick == SampleClock::Tick::duplicate) return Status::dropped;
    if (tick != SampleClock::Tick::ok) restart(theta);
    portable::Ints unknown{}, slides{};
    int i = 0;
    for (; i + portable::lanes <= n_; i += portable::lanes)
      step_some(i, portable::Size<portable::lanes>{}, theta, v, tau, T, dt, friction, unknown, slides);
    for (; i < n_; ++i) step_some(i, portable::Size<1>{}, theta, v, tau, T, dt, friction, unknown, slides);
    for (int i = 0; i < n_ && follows_map_; ++i)
      if (!has_memory_[i])
        friction[i] =
            map_.torque_at(i, v[i], tau && std::isfinite(tau[i]) ? tau[i] : 0.0, T ? T[i] : map_.reference(i));
    if (portable::any(slides)) std::copy_n(theta, n_, last_.begin());
    const bool again = tick == SampleClock::Tick::backwards || tick == SampleClock::Tick::gap;
    return again ? Status::reset : portable::any(unknown) ? Status::warming_up : Status::ok;
  }

 private:
  struct alignas(sizeof(portable::Vec)) Joints : std::array<double, max_joints> {
    portable::Vec at(int i) const noexcept { return reinterpret_cast<const portable::StoredVec&>((*this)[i]); }
    void put(int i, portable::Vec x) noexcept { reinterpret_cast<portable::StoredVec&>((*this)[i]) = x; }
  };
  struct Element {  // of joints side by side: d, -D, D, c / D, l / D
    portable::Vec deflection{}, least{}, most{}, level_per_span{}, load_per_span{};
  };

  double power(int i, double tau) const noexcept {
    const double load = std::isfinite(tau) ? std::min(std::abs(tau), joints_[i].load_limit) : 0.0;
    return joints_[i].power == 2.0 ? load * load : load;
  }

  // The numbers of the joints as vectors read them: all elements of the first joints, those of the next ...
  void side_by_side() {
    side_by_side_.resize(portable::padded(n_) / portable::lanes * elements_);
    full_range_.fill(-1.0);  // a joint that only pads a vector is always known
    v0_.fill(1.0);
    eps_.fill(1.0);
    for (int i = 0; i < n_; ++i) {
      const PreslidingJoint& p = joints_[i];
      linear_[i] = p.power == 1.0, quadratic_[i] = p.power == 2.0;
      load_limit_[i] = p.load_limit, rotor_time_[i] = p.rotor_time, offset_[i] = p.offset;
      sliding_[i] = p.sliding_ratio, per_stribeck_[i] = 1.0 / p.stribeck_velocity;
      fv1_[i] = p.fv1, fv2_[i] = p.fv2, thinning_[i] = p.fv0 * p.v0, v0_[i] = p.v0, fs_[i] = p.fs, eps_[i] = p.eps;
      moved_rotor_ = moved_rotor_ || p.rotor_time > 0.0;
      follows_map_ = follows_map_ || !has_memory_[i];
      if (has_memory_[i]) full_range_[i] = 2 * largest_[i];
      cold_forward_[i] = map_.coulomb(i, 1.0, map_.reference(i));
      cold_backward_[i] = map_.coulomb(i, -1.0, map_.reference(i));
      for (int e = 0; e < elements_; ++e) {
        const std::size_t from = i * elements_ + e;
        Element& to = elements_of(i)[e];
        const int lane = i % portable::lanes;
        to.least[lane] = -span_[from], to.most[lane] = span_[from];
        to.level_per_span[lane] = level_[from] / span_[from];
        to.load_per_span[lane] = load_[from] / span_[from];
      }
    }
  }

  Element* elements_of(int i) noexcept { return side_by_side_.data() + i / portable::lanes * elements_; }

  bool finite(const double* theta, const double* v) const noexcept {
    using namespace portable;
    Vec zero{};  // 0 for finite numbers
    for (int i = 0; i < n_; i += lanes) {
      const int count = n_ - i < lanes ? n_ - i : lanes;
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
    if (!moved_rotor_ || !(dt > 0.0)) return theta;
    const Vec T = rotor_time_.at(i);
    return select((Ints)(T > 0.0), rotor_after(dt, last_.at(i), theta, v, T), theta);
  }

  // Moves the elements; sum of their torques before s(v) [Nm].
  portable::Vec advance(int i, portable::Vec dtheta, portable::Vec loaded) noexcept {
    using namespace portable;
    Vec sum{};
    for (Element *e = elements_of(i), *end = e + elements_; e != end; ++e) {
      e->deflection = least(greatest(e->deflection + dtheta, e->least), e->most);
      sum += (e->level_per_span + e->load_per_span * loaded) * e->deflection;
    }
    return sum;
  }

  // Torque of joints whose elements have this level, before heat and offset [Nm].
  portable::Vec torque(int i, portable::Vec v, portable::Vec level) const noexcept {
    using namespace portable;
    const Vec x = v * per_stribeck_.at(i), a = magnitude(v), r = sliding_.at(i);
    const Vec g = 1.0 / (1.0 + x * x), stribeck = fs_.at(i) / (a + eps_.at(i)) * g;
    const Vec thinning = thinning_.at(i) / (v0_.at(i) + a);
    const Vec viscous = fv1_.at(i) + a * fv2_.at(i) + thinning + stribeck;
    return (r + (1.0 - r) * g) * level + v * viscous;
  }

  // Joints i, i + 1, ...: writes their friction; adds to `unknown` where the initial state is not forgotten.
  template <int count>
  void step_some(int i, portable::Size<count>, const double* theta, const double* v, const double* tau, const double* T,
                 double dt, double* friction, portable::Ints& unknown, portable::Ints& slides) noexcept {
    using namespace portable;
    const Vec speed = load_first(v + i, count), x = rotor(i, load_first(theta + i, count), speed, dt);
    const Vec loaded = powers(i, tau ? load_first(tau + i, count) : Vec{});
    const Vec level = advance(i, x - last_.at(i), loaded);
    const Vec low = least(low_.at(i), x), high = greatest(high_.at(i), x);
    last_.put(i, x);
    low_.put(i, low);
    high_.put(i, high);
    Vec warm = fill<Vec>(1.0);
    for (int l = 0; l < count && T != nullptr; ++l) warm[l] = heat(i + l, v[i + l], T[i + l]);
    store_first(friction + i, warm * torque(i, speed, level) + offset_.at(i), count);
    unknown |= ~(Ints)(high - low > full_range_.at(i));
    slides |= (Ints)(magnitude(speed) > slides_at);
  }

  double heat(int i, double v, double T) const noexcept {
    if (!(std::isfinite(T) && T != map_.reference(i))) return 1.0;
    const double cold = (v < 0 ? cold_backward_ : cold_forward_)[i];
    return cold > 0.0 ? map_.coulomb(i, v, T) / cold : 1.0;
  }

  void restart(const double* theta) noexcept {
    for (Element& e : side_by_side_) e.deflection = portable::Vec{};
    for (int i = 0; i < n_; ++i) last_[i] = low_[i] = high_[i] = theta[i];
  }

  void check(int i) {
    const auto fail = [&](const char* name, double x, const char* bound) {
      throw std::invalid_argument("joint " + std::to_string(i + 1) + ": " + name + " = " + std::to_string(x) +
                                  " is not " + bound);
    };
    double before = 0.0, total = 0.0;
    for (int e = i * elements_; e < (i + 1) * elements_; ++e) {
      if (!(span_[e] > before && span_[e] <= 10.0)) fail("span", span_[e], "rising, above 0 and at most 10 rad");
      if (!(level_[e] >= 0.0 && level_[e] <= 1e5)) fail("level", level_[e], "in 0..1e5");
      if (!(load_[e] >= 0.0 && load_[e] <= 1e3)) fail("load", load_[e], "in 0..1e3");
      before = span_[e];
      if (level_[e] + load_[e] > 0.0) largest_[i] = span_[e];
      total += level_[e] + load_[e];
    }
    const PreslidingJoint& p = joints_[i];
    if (!(p.load_limit >= 0.0 && p.load_limit <= 1e5)) fail("load_limit", p.load_limit, "in 0..1e5");
    if (!(p.power == 1.0 || p.power == 2.0)) fail("load_power", p.power, "1 or 2");
    if (!(p.sliding_ratio >= 0.0 && p.sliding_ratio <= 1.0)) fail("sliding_ratio", p.sliding_ratio, "in 0..1");
    if (!(p.stribeck_velocity > 0.0)) fail("stribeck_velocity", p.stribeck_velocity, "> 0");
    if (!(p.v0 > 0.0)) fail("v0", p.v0, "> 0");
    if (!(p.eps > 0.0)) fail("eps", p.eps, "> 0");
    if (!(p.rotor_time >= 0.0 && p.rotor_time <= 1e6)) fail("rotor_time", p.rotor_time, "in 0..1e6");
    if (!(p.fs >= 0.0 && p.fs <= 1e5)) fail("fs", p.fs, "in 0..1e5");
    for (const double x : {p.fv0, p.fv1, p.fv2})
      if (!(x >= 0.0 && x <= 1e5)) fail("viscous coefficient", x, "in 0..1e5");
    if (!std::isfinite(p.offset)) fail("offset", p.offset, "finite");
    has_memory_[i] = total > 0.0;
  }

  FrictionMap map_;
  int n_, elements_;
  std::vector<PreslidingJoint> joints_;
  std::vector<double> span_, level_, load_;  // (n, elements)
  std::vector<Element> side_by_side_;        // (padded n / lanes, elements)
  Joints last_{}, low_{}, high_{}, largest_{}, full_range_{};
  Joints linear_{}, quadratic_{}, load_limit_{}, rotor_time_{}, offset_{}, sliding_{}, per_stribeck_{};
  Joints fv1_{}, fv2_{}, thinning_{}, v0_{}, fs_{}, eps_{}, cold_forward_{}, cold_backward_{};
  std::array<bool, max_joints> has_memory_{};
  bool moved_rotor_ = false, follows_map_ = false;  // of any joint
  SampleClock clock_;
};

}  // namespace robot_dynamics
