// Maxwell-slip elements of n joints, M each: the memory of friction [Madsen2020 ch4 35-41, ch6 14-18].
//   d_k <- sgn(dtheta + d_k) min(|dtheta + d_k|, B(theta) D_k)
//   H_k = d_k / (B(theta) D_k),   H = sum_k (c_k + l_k x) H_k
// c_k, l_k: level of each element and what a load x adds to it. Free spans D [rad] have no B; the spacing rules of GMS
// tie D and c together (sum c = 1), and B is the backlash. The input is POSITION, so the result does not depend on
// rate.
//
// A joint that gives way gradually (step b > 0) has elements of [Dahl1968], dH/dtheta = (1 - H sgn dtheta) / D, exact
// over a step. Noise to and fro would wear their memory down, so that they are moved by a play z of half width b:
//   z <- clip(z, theta +- b),  H_k <- after(H_k, dz / D_k),  f from after(H_k, (theta - z) / D_k)
//   after(H, x) = s + (H - s) exp(-|x|),  s = sgn x
//
// The teeth of a gear mesh more or less tightly along a turn of the output, so free spans widen there (Widening):
//   d_k <- clip(d_k + dtheta / w(theta), D_k)
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "robot_dynamics/common/status.hpp"
#include "robot_dynamics/friction/dahl.hpp"
#include "robot_dynamics/friction/periodic_table.hpp"
#include "robot_dynamics/rigid_body/chain.hpp"
#include "robot_dynamics/signals/sample_timing.hpp"

namespace robot_dynamics {

constexpr int max_elements = 16;

// What the Coulomb level contributes to a joint's friction, and that level [Nm].
struct LevelPart {
  double torque = 0.0, level = 0.0;
};

// How much wider spans are at a position than in the mean: w = 1 + a cos theta + b sin theta, in cells of a turn.
class Widening {
 public:
  Widening(double a, double b) : widest_(1.0 + std::hypot(a, b)) {
    for (int k = 0; k < cells; ++k) {
      const double theta = (k + 0.5) * two_pi / cells;
      inverse_[k] = 1.0 / (1.0 + a * std::cos(theta) + b * std::sin(theta));
    }
  }
  double widest() const noexcept { return widest_; }
  double inverse(double theta) const noexcept {
    const double turn = theta / two_pi;
    return inverse_[static_cast<int>((turn - std::floor(turn)) * cells) & (cells - 1)];
  }

 private:
  static constexpr int cells = 64;
  std::array<double, cells> inverse_{};
  double widest_;
};

// Numbers of the joints, two side by side.
struct alignas(sizeof(portable::Vec)) Joints : std::array<double, max_joints> {
  portable::Vec at(int i) const noexcept { return reinterpret_cast<const portable::StoredVec&>((*this)[i]); }
  void put(int i, portable::Vec x) noexcept { reinterpret_cast<portable::StoredVec&>((*this)[i]) = x; }
};

class Elements {
 public:
  // span D, level c, load l: (n, elements), spans rising; widening (n, 2): a, b. Throws std::invalid_argument.
  Elements(int n, int elements, const double* span, const double* level, const double* load,
           std::optional<PeriodicTable> backlash = {}, double max_gap = 0.1, const double* widening = nullptr)
      : n_(n),
        M_(elements),
        span_(span, span + n * elements),
        level_(level, level + n * elements),
        load_(load, load + n * elements),
        widening_(2 * n),
        backlash_(std::move(backlash)) {
    if (widening) std::copy_n(widening, 2 * n, widening_.begin());
    require_range("joints", n, 1, max_joints);
    require_range("elements", M_, 1, max_elements);
    require(max_gap > 0, "max_gap", max_gap, "> 0");
    if (backlash_ && backlash_->joints() != n) throw std::invalid_argument("backlash does not have one row per joint");
    clock_.max_gap = max_gap;
    state_.resize(portable::padded(n) / portable::lanes * M_);
    full_range_.fill(-1.0);  // a joint that only pads a vector, or carries nothing, is always known
    for (int i = 0; i < n; ++i) take(i);
    for (const double x : widening_) widens_ = widens_ || x != 0.0;
  }

  int joints() const noexcept { return n_; }
  int elements() const noexcept { return M_; }
  const std::vector<double>& spans() const noexcept { return span_; }         // (n, elements)
  const std::vector<double>& levels() const noexcept { return level_; }       // (n, elements)
  const std::vector<double>& loads() const noexcept { return load_; }         // (n, elements)
  const std::vector<double>& widening() const noexcept { return widening_; }  // (n, 2)
  const std::optional<PeriodicTable>& backlash() const noexcept { return backlash_; }
  double max_gap() const noexcept { return clock_.max_gap; }
  bool carries(int i) const noexcept { return full_range_[i] > 0.0; }
  // The elements of joint i give way gradually, moved by a play of half width `step` [rad]; 0: they slip.
  void give_way(int i, double step) noexcept {
    if (!(step > 0.0)) return;
    step_[i] = step, gradual_ = true;
    full_range_[i] *= 2.0;  // exp(-4) of the initial state is left
  }
  // The range of motion covers the largest element's span, both ways: the unknown initial state is forgotten.
  bool valid(int i) const noexcept { return carries(i) && range(i) > full_range_[i]; }
  double ratio(int i, int k) const noexcept { return of(i)[k].deflection[lane(i)] / of(i)[k].most[lane(i)]; }  // H_k
  double deflection(int i, int k) const noexcept { return of(i)[k].deflection[lane(i)]; }                      // [rad]

  // H of the elements as they are, and the most it can be, under load x.
  LevelPart part(int i, double x) const noexcept {
    LevelPart sum;
    for (int k = 0; k < M_; ++k) {
      const double level = level_[i * M_ + k] + load_[i * M_ + k] * x;
      sum.torque += level * ratio(i, k);
      sum.level += level;
    }
    return sum;
  }

  // Level of the elements whose deflection is still unknown: their H lies within +- it.
  double unknown(int i, double x) const noexcept {
    if (!carries(i) || valid(i)) return 0.0;
    const double widest = wide_[i].widest() * (backlash_ ? backlash_->largest(i) : 1.0);
    double sum = 0.0;
    for (int e = i * M_; e < (i + 1) * M_; ++e)
      if (!(range(i) > (step_[i] > 0.0 ? 4 : 2) * widest * span_[e])) sum += level_[e] + load_[e] * x;
    return sum;
  }

  // Back to the unknown initial state: deflections 0, not valid.
  void reset() noexcept {
    clock_.reset();
    restart(Joints{}.data());
  }

  // theta [rad] -> H under no load.
  Status step(std::int64_t stamp_ns, const double* theta, double* H) noexcept {
    using namespace portable;
    if (!all_finite(theta, n_)) return Status::dropped;
    double dt;
    const Tick tick = begin(stamp_ns, theta, dt);
    if (tick == Tick::duplicate) return Status::dropped;
    for (int i = 0; i < n_ && tick == Tick::gap; ++i) doubt(i, theta[i]);
    Ints unknown{};
    for (int i = 0; i < n_; i += lanes) {
      const int count = std::min(lanes, n_ - i);
      store_first(H + i, advance(i, load_first(theta + i, count), Vec{}, unknown), count);
    }
    return status(tick, unknown);
  }

  // The same by parts. Time goes on; after a jump back all begins anew at theta, after a silence (dt = 0) advance()
  // goes on by the displacement.
  Tick begin(std::int64_t stamp_ns, const double* theta, double& dt) noexcept {
    const auto tick = clock_.tick(stamp_ns, dt);
    if (tick == Tick::first || tick == Tick::backwards) restart(theta);
    return tick;
  }
  // The load of joint i changes at once: its elements keep their friction, (c_k + l_k x) H_k, up to their level.
  void reload(int i, double before, double now) noexcept {
    const int l = lane(i);
    for (int k = 0; k < M_; ++k) {
      const double c = level_[i * M_ + k], per_load = load_[i * M_ + k], level = c + per_load * now;
      Element& e = of(i)[k];
      const double kept = level > 0.0 ? e.deflection[l] * (c + per_load * before) / level : 0.0;
      e.deflection[l] = std::min(std::max(kept, e.least[l]), e.most[l]);
    }
  }
  // Joint i may have turned round on its way to x: its deflection is a guess until it has moved on from there.
  void doubt(int i, double x) noexcept { low_[i] = high_[i] = x; }
  // Moves joints i, i + 1, ... to x under a load; H. Adds to `unknown` where the initial state is not forgotten.
  RD_INLINE portable::Vec advance(int i, portable::Vec x, portable::Vec load, portable::Ints& unknown) noexcept {
    using namespace portable;
    if (varies_) approach(i, x);
    Vec dtheta = x - last_.at(i), sum{};
    for (int l = 0; widens_ && l < lanes && i + l < n_; ++l) dtheta[l] *= wide_[i + l].inverse(x[l]);
    const Vec ahead = ahead_.at(i) + dtheta, step = step_.at(i), left = least(greatest(ahead, -step), step);
    ahead_.put(i, left);
    for (Element *e = of(i), *end = e + M_; e != end; ++e) {  // the clip is sgn(d) min(|d|, D)
      const Vec before = e->deflection;
      Vec seen = e->deflection = least(greatest(before + dtheta, e->least), e->most);
      if (gradual_) {
        const Ints gradual = (Ints)(step > 0.0);
        const Vec moved = dahl(before / e->most, (ahead - left) / e->most);
        e->deflection = select(gradual, e->most * moved, seen);
        seen = select(gradual, e->most * dahl(moved, left / e->most), seen);
      }
      sum += (e->level_per_span + e->load_per_span * load) * seen;
    }
    const Vec low = least(low_.at(i), x), high = greatest(high_.at(i), x);
    last_.put(i, x), low_.put(i, low), high_.put(i, high);
    unknown |= ~(Ints)(high - low > full_range_.at(i));
    return sum;
  }
  static Status status(Tick tick, portable::Ints unknown) noexcept {
    if (tick == Tick::backwards || tick == Tick::gap) return Status::reset;
    return portable::any(unknown) ? Status::warming_up : Status::ok;
  }
  double silence() const noexcept { return clock_.silence; }  // s from the step before to the last one
  const Joints& last() const noexcept { return last_; }       // positions [rad]
  void go_on_from(const double* theta) noexcept { std::copy_n(theta, n_, last_.begin()); }

 private:
  struct Element {  // of joints side by side: d, -D, D, c / D, l / D
    portable::Vec deflection{}, least{}, most{}, level_per_span{}, load_per_span{};
  };

  static int lane(int i) noexcept { return i % portable::lanes; }
  Element* of(int i) noexcept { return state_.data() + i / portable::lanes * M_; }
  const Element* of(int i) const noexcept { return state_.data() + i / portable::lanes * M_; }
  double range(int i) const noexcept { return high_[i] - low_[i]; }

  void take(int i) {
    const auto check = [i](bool good, const char* name, double x, const char* bound) {
      require_of_joint(good, i, name, x, bound);
    };
    double before = 0.0, largest = 0.0;
    for (int e = i * M_; e < (i + 1) * M_; ++e) {
      check(span_[e] > before && span_[e] <= 10.0, "span", span_[e], "rising, above 0 and at most 10");
      check(level_[e] >= 0.0 && level_[e] <= 1e5, "level", level_[e], "in 0..1e5");
      check(load_[e] >= 0.0 && load_[e] <= 1e3, "load", load_[e], "in 0..1e3");
      before = span_[e];
      if (level_[e] + load_[e] > 0.0) largest = span_[e];
    }
    if (backlash_) check(backlash_->smallest(i) > 0.0, "backlash", backlash_->smallest(i), "> 0");
    const double a = widening_[2 * i], b = widening_[2 * i + 1];
    check(std::hypot(a, b) <= 0.9, "widening", std::hypot(a, b), "at most 0.9");
    wide_.emplace_back(a, b);
    if (largest > 0.0) full_range_[i] = 2 * largest * wide_[i].widest() * (backlash_ ? backlash_->largest(i) : 1.0);
    widen(i, backlash_ ? backlash_->value(i, 0.0) : 1.0);
    if (backlash_ && !backlash_->constant()) varies_ = true;
  }

  void widen(int i, double B) noexcept {
    for (int k = 0; k < M_; ++k) {
      const int from = i * M_ + k, l = lane(i);
      const double span = B * span_[from];
      Element& to = of(i)[k];
      to.least[l] = -span, to.most[l] = span;
      to.level_per_span[l] = level_[from] / span, to.load_per_span[l] = load_[from] / span;
    }
  }

  // B changes along the way to x: all but the last of sub-steps no longer than half the smallest span, at most 32.
  __attribute__((noinline)) void approach(int first, portable::Vec x) noexcept {
    for (int l = 0; l < portable::lanes && first + l < n_; ++l) approach(first + l, x[l]);
  }
  void approach(int i, double x) noexcept {
    const double dtheta = x - last_[i], smallest = 0.5 * backlash_->smallest(i) * span_[i * M_];
    const double steps = std::max(1.0, std::min(32.0, std::ceil(std::abs(dtheta) / smallest)));
    for (double s = 1.0; s < steps; ++s) {
      widen(i, backlash_->value(i, last_[i] + dtheta * s / steps));
      for (Element *e = of(i), *end = e + M_; e != end; ++e) {
        double d = e->deflection[lane(i)] + dtheta / steps;
        e->deflection[lane(i)] = std::min(std::max(d, e->least[lane(i)]), e->most[lane(i)]);
      }
    }
    widen(i, backlash_->value(i, x));
    last_[i] = x - dtheta / steps;
  }

  void restart(const double* theta) noexcept {
    for (Element& e : state_) e.deflection = portable::Vec{};
    ahead_ = Joints{};
    for (int i = 0; i < n_; ++i) last_[i] = low_[i] = high_[i] = theta[i];
  }

  int n_, M_;
  std::vector<double> span_, level_, load_, widening_;  // (n, elements), (n, 2)
  std::vector<Widening> wide_;
  std::optional<PeriodicTable> backlash_;
  bool varies_ = false, widens_ = false, gradual_ = false;
  std::vector<Element> state_;  // (padded n / lanes, elements)
  Joints last_{}, low_{}, high_{}, full_range_{};
  Joints step_{}, ahead_{};  // b, theta - z
  SampleClock clock_;
};

}  // namespace robot_dynamics
