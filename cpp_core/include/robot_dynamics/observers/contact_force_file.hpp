// The parameters of a ContactForceEstimator as a text file: `robot-dynamics export ROBOT --format core` writes it from
// a robot file, a C++ program reads it. It holds every number of the configured stages.
#pragma once

#include <fstream>

#include "robot_dynamics/common/parameter_text.hpp"
#include "robot_dynamics/observers/contact_force_estimator.hpp"
#include "robot_dynamics/observers/parameter_names.hpp"

namespace robot_dynamics {

namespace contact_force_file {

constexpr int version = 16;

// each(name, value...) of for_each_parameter onto a reader or writer, the names behind a prefix.
template <class Text>
auto behind(Text& text, const std::string& prefix) {
  return [&text, prefix](const char* name, auto&&... value) { text.take(prefix + name, value...); };
}

inline void write_placement(std::vector<double>& to, const Placement& P) {
  to.insert(to.end(), P.R.begin(), P.R.end());
  to.insert(to.end(), P.p.begin(), P.p.end());
}
inline Placement read_placement(const double* from) {
  Placement P;
  std::copy_n(from, 9, P.R.begin());
  std::copy_n(from + 9, 3, P.p.begin());
  return P;
}

inline void write(ParameterWriter& text, const Chain& chain) {
  if (chain.framed) throw std::invalid_argument("chain: joints must turn about z");
  std::vector<double> placements, inertias, tool;
  for (int i = 0; i < chain.n; ++i) {
    write_placement(placements, chain.placement[i]);
    inertias.insert(inertias.end(), chain.inertia[i].begin(), chain.inertia[i].end());
  }
  write_placement(tool, chain.tool);
  text.numbers("chain.placements", placements);
  text.numbers("chain.inertias", inertias);
  text.numbers("chain.tool", tool);
  text.numbers("chain.gravity", chain.gravity.data(), 3);
}

inline Chain read_chain(ParameterReader& text, int n) {
  Chain chain;
  chain.n = n;
  const std::vector<double> placements = text.numbers("chain.placements", 12 * n);
  const std::vector<double> inertias = text.numbers("chain.inertias", link_parameters * n);
  for (int i = 0; i < n; ++i) {
    chain.placement[i] = read_placement(placements.data() + 12 * i);
    std::copy_n(inertias.data() + link_parameters * i, link_parameters, chain.inertia[i].begin());
  }
  chain.tool = read_placement(text.numbers("chain.tool", 12).data());
  text.take("chain.gravity", chain.gravity, 3);
  recognise_twists(chain);
  return chain;
}

inline void write(ParameterWriter& text, const std::string& name, const PeriodicTable& table) {
  text.take(name + ".points", table.points());
  text.numbers(name + ".values", table.values());
}
inline PeriodicTable read_table(ParameterReader& text, const std::string& name, int n) {
  const int points = text.whole(name + ".points", 1, 100000);
  return PeriodicTable(n, points, text.numbers(name + ".values", static_cast<long>(n) * points).data());
}

inline void write(ParameterWriter& text, const FrictionMap& map) {
  text.take("friction.law", friction_law_names[static_cast<std::size_t>(map.law())]);
  text.numbers("friction.parameters", map.parameters());
  text.numbers("friction.reference_temperature", map.references());
  text.numbers("friction.temperature_range", map.temperature_range());
}
inline FrictionMap read_map(ParameterReader& text, int n) {
  const FrictionLaw law = friction_law(text.word("friction.law"));
  const auto p = text.numbers("friction.parameters", n * FrictionMap::parameter_count(law));
  const auto reference = text.numbers("friction.reference_temperature", n);
  const auto range = text.numbers("friction.temperature_range", 2 * n);
  return FrictionMap(law, n, p.data(), reference.data(), range.data());
}

// The memory and what slides with it; names begin with the prefix. No elements: the map alone.
inline void write(ParameterWriter& text, const std::string& prefix, const Friction& law) {
  const auto& held = law.elements();
  text.take(prefix + "elements", held ? held->elements() : 0);
  if (!held) return;
  text.take(prefix + "max_gap", held->max_gap());
  text.numbers(prefix + "spans", held->spans());
  text.numbers(prefix + "levels", held->levels());
  text.numbers(prefix + "loads", held->loads());
  text.numbers(prefix + "widening", held->widening());
  if (held->backlash()) write(text, prefix + "backlash", *held->backlash());
  if (law.kinematic_error()) write(text, prefix + "kinematic_error", *law.kinematic_error());
  std::vector<double> rows;
  for (const SlidingJoint& joint : law.parameters()) {
    const auto p = joint.numbers();
    rows.insert(rows.end(), p.begin(), p.end());
  }
  if (!law.rest_of_map()) text.numbers(prefix + "parameters", rows);
}

inline Friction read_friction(ParameterReader& text, const std::string& prefix, const FrictionMap& map) {
  const int n = map.joints(), M = text.whole(prefix + "elements", 0, max_elements);
  if (M == 0) return Friction(map);
  const double gap = text.numbers(prefix + "max_gap", 1)[0];
  const auto rows = [&](const char* name) { return text.numbers(prefix + name, static_cast<long>(n) * M); };
  const auto table = [&](const char* name) {
    const std::string whole = prefix + name;
    return text.has(whole + ".points") ? std::optional(read_table(text, whole, n)) : std::nullopt;
  };
  const auto span = rows("spans"), level = rows("levels"), load = rows("loads");
  const Elements elements(n, M, span.data(), level.data(), load.data(), table("backlash"), gap,
                          text.numbers(prefix + "widening", 2L * n).data());
  std::vector<SlidingJoint> joints;
  if (text.has(prefix + "parameters"))
    joints = SlidingJoint::rows(text.numbers(prefix + "parameters", SlidingJoint::count * n).data(), n);
  return Friction(map, elements, joints.empty() ? nullptr : joints.data(), table("kinematic_error"));
}

inline void write(ParameterWriter& text, const FrictionStage& stage) {
  write(text, stage.law().map());
  FrictionStageParameters p = stage.parameters();
  for_each_parameter(p, stage.joints(), behind(text, "friction."));
  write(text, "memory.", stage.law());
  if (!stage.motors()) return;
  std::vector<double> turns;
  for (const MotorTurn& m : stage.turns()) turns.insert(turns.end(), {double(m.joint), double(m.with), m.sign});
  text.numbers("motors.turns", turns);
  write(text, "motors.", *stage.motors());
}

// Rows of joint, other joint and sign.
inline std::vector<MotorTurn> read_turns(ParameterReader& text, int n) {
  const std::string name = "motors.turns";
  const auto rows = text.has(name) ? text.numbers(name) : std::vector<double>{};
  if (rows.size() % 3) throw std::invalid_argument(name + " does not hold rows of 3 values");
  std::vector<MotorTurn> turns;
  for (std::size_t k = 0; k < rows.size(); k += 3) {
    for (const std::size_t joint : {k, k + 1}) require_range(name + " joint", rows[joint], 0, n - 1);
    turns.push_back({int(rows[k]), int(rows[k + 1]), rows[k + 2]});
  }
  return turns;
}

inline FrictionStage read_friction(ParameterReader& text, int n) {
  const FrictionMap map = read_map(text, n);
  FrictionStageParameters p;
  for_each_parameter(p, n, behind(text, "friction."));
  std::vector<MotorTurn> turns = read_turns(text, n);
  FrictionStage stage(read_friction(text, "memory.", map), p);
  if (const int m = static_cast<int>(turns.size()); m > 0)
    stage.couple(std::move(turns), read_friction(text, "motors.", FrictionMap::none(m)));
  return stage;
}

inline void write(ParameterWriter& text, const TemperatureObserver& observer) {
  std::vector<double> heat;
  for (const HeatParameters& h : observer.heat())
    heat.insert(heat.end(), {h.capacity, h.transfer, h.housing_capacity, h.housing_transfer});
  text.numbers("temperature.heat", heat);
  text.numbers("temperature.gain", observer.gain());
  TemperatureOptions options = observer.options();
  for_each_parameter(options, behind(text, "temperature."));
}

inline TemperatureObserver read_temperature(ParameterReader& text, const FrictionMap& map) {
  const int n = map.joints();
  const auto heat = text.numbers("temperature.heat", 4 * n);
  std::vector<HeatParameters> rows;
  for (const double* h = heat.data(); h != heat.data() + 4 * n; h += 4) rows.push_back({h[0], h[1], h[2], h[3]});
  const auto gain = text.numbers("temperature.gain", n);
  TemperatureOptions options;
  for_each_parameter(options, behind(text, "temperature."));
  return TemperatureObserver(map, rows, gain, options);
}

inline ContactForceParameters read(ParameterReader& text) {
  const int held = text.whole("robot_dynamics_core", 0, 1000000);
  if (held != version)
    throw std::invalid_argument("robot_dynamics_core = " + std::to_string(held) + ", expected version " +
                                std::to_string(version) + "; export the robot file again");
  ContactForceParameters p;
  const int n = text.whole("joints", 1, max_joints);
  for (int i = 1; i <= n; ++i) p.joint_names.push_back(text.word("joint_" + std::to_string(i)));
  p.chain = read_chain(text, n);
  text.take("motor_side", p.motor_side);
  text.take("least_rate", p.least_rate);
  if (text.has("alignment.effort_delay")) for_each_parameter(p.alignment, n, behind(text, "alignment."));
  for_each_parameter(p.motion, n, behind(text, "motion."));
  if (text.has("friction.law")) p.friction = read_friction(text, n);
  if (p.friction && text.has("temperature.heat")) p.temperature = read_temperature(text, p.friction->law().map());
  for_each_parameter(p.force, n, behind(text, "force."));
  text.finish();
  return p;
}

}  // namespace contact_force_file

// Throws std::invalid_argument where a joint turns about another axis than z, or a name holds a line break.
inline std::string contact_force_text(ContactForceParameters p) {
  using namespace contact_force_file;
  const int n = p.chain.n;
  ParameterWriter text;
  text.take("robot_dynamics_core", version);
  text.take("joints", n);
  for (int i = 0; i < n; ++i) text.take("joint_" + std::to_string(i + 1), p.joint_names[i]);
  write(text, p.chain);
  text.take("motor_side", p.motor_side);
  text.take("least_rate", p.least_rate);
  for_each_parameter(p.alignment, n, behind(text, "alignment."));
  for_each_parameter(p.motion, n, behind(text, "motion."));
  if (p.friction) write(text, *p.friction);
  if (p.temperature) write(text, *p.temperature);
  for_each_parameter(p.force, n, behind(text, "force."));
  return text.text();
}

// Throws std::invalid_argument naming the parameter, its value and its bound.
inline ContactForceParameters contact_force_parameters(const std::string& text) {
  ParameterReader reader(text);
  ContactForceParameters p = contact_force_file::read(reader);
  ContactForceEstimator check(p);
  return p;
}

// The same from a file; the message begins with its path.
inline ContactForceParameters read_contact_force_parameters(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  if (!(file && text << file.rdbuf())) throw std::invalid_argument(path + ": cannot be read");
  try {
    return contact_force_parameters(text.str());
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(path + ": " + error.what());
  }
}

}  // namespace robot_dynamics
