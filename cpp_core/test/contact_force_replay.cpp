// ContactForceEstimator over a recording, for comparison with the pipeline in Python:
//   contact_force_replay PARAMETERS < samples > estimates
// A sample is the stamp [ns, int64], then q, qd, effort and temperature (n doubles each, NaN = absent). An estimate is
// the status (int64), then the outputs as doubles in the order of the function below.
#include <cstdio>

#include "robot_dynamics/observers/contact_force_file.hpp"

using namespace robot_dynamics;

namespace {

template <class Values>
void put(const Values& values, int count) {
  std::fwrite(values.data(), sizeof(double), static_cast<std::size_t>(count), stdout);
}

void put_estimate(Status status, const ContactForceEstimate& e, int n) {
  const auto code = static_cast<std::int64_t>(status);
  std::fwrite(&code, sizeof code, 1, stdout);
  put(e.torque, n);
  put(e.torque_std, n);
  put(e.wrench, 6);
  put(e.wrench_std, 6);
  put(std::array<double, 1>{e.singular_value}, 1);
  put(e.contact, n + 1);
  put(std::array<double, 1>{e.payload_or_bias}, 1);
  put(e.contact_load, n);
  put(e.framed_wrench, 6);
  put(e.framed_wrench_std, 6);
  for (const auto* values : {&e.friction, &e.friction_std, &e.qd, &e.qdd, &e.model_torque, &e.drive_torque,
                             &e.temperature, &e.temperature_variance})
    put(*values, n);
}

int replay(const char* path) {
  ContactForceEstimator estimator(read_contact_force_parameters(path));
  const int n = estimator.joints();
  std::int64_t stamp;
  std::vector<double> row(static_cast<std::size_t>(4 * n + 4));
  while (std::fread(&stamp, sizeof stamp, 1, stdin) == 1 &&
         std::fread(row.data(), sizeof(double), row.size(), stdin) == row.size()) {
    const double* x = row.data();
    const Status status = estimator.update(stamp, x, x + n, x + 2 * n, x + 3 * n, x + 4 * n);
    put_estimate(status, estimator.estimate(), n);
  }
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return 2;
  try {
    return replay(arguments[1]);
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
