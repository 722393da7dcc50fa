// What the example of a ros2_control plugin uses of hardware_interface: names and values, nothing else.
#pragma once

#include <string>
#include <utility>

namespace hardware_interface {

class StateInterface {
 public:
  StateInterface(std::string prefix, std::string name, double* value)
      : prefix_(std::move(prefix)), name_(std::move(name)), value_(value) {}
  const std::string& get_prefix_name() const { return prefix_; }
  std::string get_name() const { return prefix_ + "/" + name_; }
  double get_value() const { return *value_; }

 private:
  std::string prefix_, name_;
  double* value_;
};
using CommandInterface = StateInterface;
using LoanedStateInterface = StateInterface;

}  // namespace hardware_interface
