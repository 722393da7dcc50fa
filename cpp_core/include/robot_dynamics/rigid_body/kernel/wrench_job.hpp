// Arguments and results of the wrench's posterior (kernel/posterior.hpp, observers/wrench.hpp).
#pragma once

namespace robot_dynamics {

struct WrenchProblem {
  int n;                             // joints
  const double* J;                   // 6 x n, row-major: forces first
  const double* tau;                 // n
  const double* std;                 // n, standard deviations of tau
  double force_prior, moment_prior;  // inverse variances
  double point_prior, point_odds;    // the same of the second hypothesis, 0: none; sqrt of what det P falls by
  bool moments;                      // false: a force alone
  double per_length;                 // 1/m, makes the force rows dimensionless for the singular value
  double least_square;               // square of the smallest singular value of a regular pose
};

struct WrenchSolution {
  double wrench[6];
  double covariance[36];
  double chi2;            // b' A^-1 b of the wider hypothesis
  double singular_value;  // smallest, where `regular`
  bool regular;
};

}  // namespace robot_dynamics
