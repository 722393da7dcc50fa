// Is a lasting external torque a contact, or a payload (or sensor bias, or other friction) that the model does not
// know?
//
// A payload makes tau = Y(q, qd, qdd) theta, a sensor bias the same torque in every pose. Both are fitted to pieces of
// evidence (payload_fit.hpp). A piece is `piece_time` seconds of motion, for which errors of friction last; of a stand
// only the first `piece_time` seconds count: later its errors are the same ones, and what changes is no payload. A
// payload that enough pieces show, whose mass is `sure` standard deviations from zero and hangs no further than
// `longest_lever` from the last joint, is held; or a sure first moment, with which the last body and its known load
// hang so. Its torque is to be taken off, until a piece contradicts it. It was put down then, or pushed up. Evidence
// for it shows that it is carried again; so does that for a part that came and went often enough (load_changes.hpp;
// source: own).
#pragma once

#include "robot_dynamics/common/check.hpp"
#include "robot_dynamics/observers/load_changes.hpp"

namespace robot_dynamics {

class PayloadCheck {
 public:
  enum class Verdict : int { none = 0, payload = 1, bias = 2 };
  enum class Answer : int { judge = 0, keep = 1, refuse = 2 };  // of the user: keep and refuse last until judge
  static constexpr int capacity = 36;  // 22 s of motion: poses differ, and the first moments show in some only

  static constexpr double speed = 4.0;       // rad/s: nothing is learned while a joint moves faster
  static constexpr double standing = 0.05;   // rad/s below which the arm stands, as for the drift of viscous friction
  static constexpr double interval = 0.05;   // s between samples taken
  static constexpr double piece_time = 0.6;  // s for which errors of friction last, as for that drift
  static constexpr double bias_explained = 0.9;  // and a bias: a push that keeps its direction comes close
  static constexpr double cools = 600.0;         // s without motion after which gears may be cold

  // pieces: before a payload is held (1 suffices to explain a torque that nothing contradicts).
  PayloadCheck(const Chain& chain, int pieces) : model_(chain), pieces_(pieces) {
    require_range("payload_pieces", pieces, 2, capacity - 1);
  }

  // tau: torque of the environment on the robot, std: its standard deviation (n). Takes a sample when one is due.
  // f: friction of the law. touched: a contact is flagged.
  void step(double dt, const double* q, const double* qd, const double* qdd, const double* tau, const double* std,
            const double* f, bool touched) noexcept {
    double fastest = 0.0;
    for (int i = 0; i < model_.joints(); ++i) fastest = std::max(fastest, std::abs(qd[i]));
    if (fastest > standing && stood_ > cools) cool();
    stood_ = fastest > standing ? 0.0 : stood_ + dt;
    waited_ += dt;
    if (!(fastest <= speed && waited_ >= interval)) return;
    const PayloadEvidence s = model_.seen(q, qd, qdd, tau, std, f);
    const bool fresh = stood_ <= piece_time && !(touched && decided());
    doubt(s, touched);
    if (!held_ && stood_ <= piece_time) recall(s);
    if (fresh) store(s);
    if (!fresh) filled_ = 1.0;  // what comes after a stand is another piece
    waited_ = 0.0;
    if (fresh) judge();
  }

  // The chain with the load that is named from now on.
  void declare(const Chain& chain) noexcept { model_.declare(chain); }

  Verdict verdict() const noexcept { return verdict_; }
  bool confirmed() const noexcept { return verdict_ != Verdict::none && enough(); }
  // What comes later is a contact, unless it lasts. A payload is judged on all pieces: one that was found under a push
  // mends itself.
  bool decided() const noexcept { return unloaded_ || (verdict_ != Verdict::none && complete()); }

  bool held() const noexcept { return held_; }
  bool lasting_bias() const noexcept { return verdict_ == Verdict::bias && ample(); }
  // A lasting bias that is no other friction of joints: one that turns round with the motion would explain less of it.
  bool moved_zero() const noexcept {
    return lasting_bias() && sooner_constant(piece_.data(), count_, model_.joints(), bias_);
  }
  // It is held, or there is none: twice as many pieces show it as hold one.
  bool known() const noexcept { return (held_ || verdict_ == Verdict::none) && ample(); }
  const PayloadLoad& load() const noexcept { return held_ ? load_ : fit_; }  // held, else of the pieces
  // keep: of a held payload. False: there is none.
  bool answer(Answer a) noexcept {
    if (a == Answer::keep && !held_) return false;
    if (a == Answer::judge) forget();
    may_return_ = false;
    held_ = a == Answer::keep;
    answer_ = a;
    return true;
  }

  // Share of the friction that the torques of all joints show beside it and a payload; 0 without any.
  double other_friction() const noexcept { return friction_; }

  // What the verdict explains of the external torque in this motion (n); zeros without a verdict, and for a payload
  // that the user refused: it is a push.
  void explained(const double* q, const double* qd, const double* qdd, double* tau) noexcept {
    if (verdict_ == Verdict::payload && answer_ != Answer::refuse)
      return model_.torque(q, qd, qdd, fit_.theta.data(), tau);
    for (int i = 0; i < model_.joints(); ++i) tau[i] = verdict_ == Verdict::bias ? bias_[i] : 0.0;
  }
  // Torque of the held payload and its variance (n).
  void taken_off(const double* q, const double* qd, const double* qdd, double* tau, double* var) noexcept {
    model_.torque(q, qd, qdd, load_, tau, var);
  }

  // What no payload explains of a torque at rest (n): mass up to `most` [kg], its centre within `longest_lever`.
  void beyond(const double* q, const double* tau, const double* std, double most, double* left) noexcept {
    const double rest[max_joints] = {};
    PayloadLoad load;
    Cholesky<4> factored;
    model_.seen(q, rest, rest, tau, std, rest).solve(factored, load.theta);
    const double share =
        std::min({1.0, most / std::abs(load.theta[0]), most * PayloadLoad::longest_lever / load.first_moment()});
    for (double& value : load.theta) value = share > 0.0 ? share * value : 0.0;
    model_.torque(q, rest, rest, load.theta.data(), left);
    for (int i = 0; i < model_.joints(); ++i) left[i] = tau[i] - left[i];
  }

  // Samples are missing for some seconds: the collected evidence stays, but of cold gears.
  void pause(double seconds) noexcept {
    if (seconds > cools) cool();
    waited_ = 0.0;
  }
  // A push is over: the piece under way begins anew, and so does a stand until enough is known. What is left may be a
  // payload that the pieces of the push hide.
  void push_ended() noexcept {
    if (!ample()) stood_ = 0.0;
    since_ = full() ? count_ : now_;
    if (full()) return;
    piece_[now_] = {};
    filled_ = 0.0;
  }
  // Forget the evidence; a held payload stays.
  void forget() noexcept {
    count_ = now_ = since_ = 0;
    filled_ = waited_ = 0.0;
    unloaded_ = false;
    verdict_ = Verdict::none;
    friction_ = 0.0;
    fit_ = {};
    bias_.fill(0.0);
  }
  // Friction may have changed.
  void cool() noexcept {
    usual_ = false;
    forget();
  }
  // What `other` has found, judged by as many pieces as this one needs.
  void take_over(const PayloadCheck& other) noexcept {
    const int own = pieces_;
    *this = other;
    pieces_ = own;
  }
  // Goes on after `before`, of the arm with another load.
  void follow(const PayloadCheck& before) noexcept {
    usual_ = before.usual_;
    stood_ = before.stood_;
  }
  // Also of a held payload, unless the user keeps it.
  void reset() noexcept {
    forget();
    change_ = {};
    parts_ = {};
    stood_ = 0.0;
    may_return_ = false;
    held_ = answer_ == Answer::keep;
  }

 private:
  using Joints = std::array<double, max_joints>;

  bool full() const noexcept { return filled_ > 1.0 - 1e-9; }
  bool complete() const noexcept { return count_ == capacity; }
  int pieces() const noexcept { return count_ - (full() ? 0 : 1); }
  bool enough() const noexcept { return pieces() >= pieces_; }
  bool ample() const noexcept { return pieces() >= 2 * pieces_; }

  // Into the present piece, or the next one: a new one, else the oldest.
  void store(const PayloadEvidence& s) noexcept {
    if (count_ == 0 || full()) {
      now_ = count_ == 0 ? 0 : (now_ + 1) % capacity;
      count_ = std::min(count_ + 1, capacity);
      piece_[now_] = {};
      filled_ = 0.0;
    }
    const double share = std::min(waited_ / piece_time, 1.0 - filled_);
    piece_[now_].add(share, s);
    filled_ += share;
  }

  // What is held may be put down, and what may return be taken up.
  void doubt(const PayloadEvidence& s, bool touched) noexcept {
    if (answer_ != Answer::judge) return;
    const int patience = complete() ? pieces_ : 0;  // what is seen under a contact is no piece any more
    if (!change_.step(waited_ / piece_time, s, load_, held_, may_return_, touched, patience)) return;
    may_return_ = may_return_ || ample();
    forget();
    held_ = !held_;
  }

  // A load that came and went often enough may return.
  void recall(const PayloadEvidence& s) noexcept {
    PayloadLoad fit;
    if (answer_ != Answer::judge || !parts_.add(waited_ / piece_time, s, model_.joints(), fit) || !model_.hangs(fit))
      return;
    load_ = fit;
    may_return_ = true;
  }

  void judge() noexcept {
    PayloadEvidence sum;
    for (int k = 0; k < count_; ++k) sum.add(1.0, piece_[k]);
    verdict_ = Verdict::none;
    const bool significant = sum.shows() || (!enough() && piece_[now_].shows());  // a stand hides what a motion shows
    unloaded_ = unloaded_ || (enough() && !significant && !hidden());
    usual_ = usual_ || unloaded_ || (held_ && quiet(piece_.data(), count_, load_) >= 2 * pieces_);
    if (significant) decide(piece_.data(), count_, sum);
    hold();
    const bool after = since_ > 0 && since_ < count_ && !ample();
    if (after && piece_[since_].shows() && !(verdict_ == Verdict::payload && piece_[since_].explained_by(fit_)))
      decide(&piece_[since_], 1, piece_[since_]);
  }

  // What is held stays until something contradicts it.
  void hold() noexcept {
    if (!enough() || answer_ != Answer::judge) return;
    if (verdict_ == Verdict::bias) held_ = false;
    if (verdict_ != Verdict::payload || !model_.hangs(fit_)) return;
    held_ = true;
    load_ = fit_;
  }

  // Torques that are not significant, but those of a sure payload: pushes and friction may hide it for a while.
  bool hidden() const noexcept {
    PayloadLoad fit;
    return fit_payload(piece_.data(), count_, model_.joints(), fit).share > PayloadEvidence::explained_share &&
           model_.hangs(fit);
  }

  // A payload takes off no more than the last body has: a force that lifts the arm is a push. Errors of one deviation
  // are no evidence against one that is sure, but none to change what is held: 0.2 to 0.5 kg explain little more than
  // they are (source: own).
  void decide(const PayloadEvidence* piece, int count, const PayloadEvidence& sum) noexcept {
    const int n = model_.joints();
    PayloadLoad fit = load();
    Joints bias{};
    const Explained payload = fit_payload(piece, count, n, fit);
    const double explained = enough() && !held_ && model_.hangs(fit) ? payload.beyond_noise : payload.share;
    if (count > 1 && enough() && biased(piece, count, sum, fit, 1.0 - payload.share, bias)) {
      verdict_ = Verdict::bias;
      bias_ = bias;
    } else if (const double k = changed_friction(piece, count, fit); k != 0.0) {
      friction_ = k;
    } else if (explained > PayloadEvidence::explained_share && fit.theta[0] > -model_.last_mass() && !was_free(fit)) {
      verdict_ = Verdict::payload;
      fit_ = fit;
    }
  }

  // A bias explains all pieces together, or is better().
  bool biased(const PayloadEvidence* piece, int count, const PayloadEvidence& sum, const PayloadLoad& fit, double left,
              Joints& bias) const noexcept {
    const int n = model_.joints();
    for (int i = 0; i < n; ++i) bias[i] = sum.weighted[i] / sum.weight[i];
    const double rest = sum.beside(bias) / sum.energy;
    if (rest < 1.0 - bias_explained && rest < 0.5 * left) return true;
    if (count < 2 * pieces_ || !fit_bias<capacity>(piece, count, n, bias)) return false;
    return better(piece, count, n, 2 * pieces_, fit, bias, other_bias);
  }

  // Share of the friction of all joints that is the better alternative, without a payload or with one, and that most of
  // them show; 0 without.
  double changed_friction(const PayloadEvidence* piece, int count, const PayloadLoad& fit) const noexcept {
    const int n = model_.joints();
    for (const bool loaded : {false, true}) {
      if (usual_ || count < (loaded ? 3 : 2) * pieces_) break;
      const FrictionShare f = fit_friction(piece, count, n, loaded);
      const Alternative& to = loaded ? friction_and_payload : more_friction;
      if (f.shown(n, loaded) && better(piece, count, n, 2 * pieces_, fit, f, to)) return f.k;
    }
    return 0.0;
  }

  // Pieces without a significant torque in which this payload would have shown: it is a push that began later, unless
  // it explains, for each of them, twice as many pieces as hold a payload.
  bool was_free(const PayloadLoad& load) const noexcept {
    int free = 0, carried = 0;
    for (int k = 0; k < count_; ++k)
      if (piece_[k].shows())
        carried += piece_[k].explained_by(load);
      else
        free += piece_[k].contradicts(load);
    return 2 * pieces_ * free > carried;
  }

  PayloadModel model_;
  int pieces_;
  std::array<PayloadEvidence, capacity> piece_{};
  LoadChange change_;
  RecurringLoad parts_;
  int count_ = 0, now_ = 0, since_ = 0;  // pieces, the present one, before the end of a push
  double waited_ = 0.0, stood_ = 0.0;    // s since a sample, s since the arm moved
  double filled_ = 0.0;                  // share of the piece
  bool unloaded_ = false;                // enough pieces showed no torque
  Verdict verdict_ = Verdict::none;
  Answer answer_ = Answer::judge;
  bool held_ = false, may_return_ = false;  // the latter: a sure one was put down
  PayloadLoad fit_, load_;                  // of the pieces, held
  Joints bias_{};
  double friction_ = 0.0;  // share of the law's that is beside it
  bool usual_ = false;     // motion has shown that friction is that of the law
};

}  // namespace robot_dynamics
