// What the example of a ros2_control plugin uses of controller_interface and rclcpp (ROS 2 Jazzy): signatures as there,
// a node that holds parameters, and no manager.
#pragma once

#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "hardware_interface/handle.hpp"

#define RCLCPP_ERROR(logger, ...) ((void)(logger), std::fprintf(stderr, __VA_ARGS__))

namespace rclcpp {
class Time {
 public:
  explicit Time(std::int64_t ns) : ns_(ns) {}
  std::int64_t nanoseconds() const { return ns_; }

 private:
  std::int64_t ns_;
};
class Duration {};
class Logger {};
class Parameter {
 public:
  explicit Parameter(std::string value) : value_(std::move(value)) {}
  const std::string& as_string() const { return value_; }

 private:
  std::string value_;
};
}  // namespace rclcpp

namespace rclcpp_lifecycle {
class State {};
class LifecycleNode {
 public:
  rclcpp::Parameter get_parameter(const std::string& name) const { return rclcpp::Parameter(values.at(name)); }
  rclcpp::Logger get_logger() const { return {}; }
  const char* get_name() const { return "contact_force"; }
  std::map<std::string, std::string> values;
};
}  // namespace rclcpp_lifecycle

namespace controller_interface {

enum class CallbackReturn { SUCCESS, FAILURE, ERROR };
enum class return_type { OK, ERROR };
enum class interface_configuration_type { ALL, INDIVIDUAL, NONE };
struct InterfaceConfiguration {
  interface_configuration_type type;
  std::vector<std::string> names;
};

class ChainableControllerInterface {
 public:
  virtual ~ChainableControllerInterface() = default;
  virtual CallbackReturn on_init() = 0;
  virtual CallbackReturn on_configure(const rclcpp_lifecycle::State&) = 0;
  virtual CallbackReturn on_activate(const rclcpp_lifecycle::State&) = 0;
  virtual InterfaceConfiguration command_interface_configuration() const = 0;
  virtual InterfaceConfiguration state_interface_configuration() const = 0;

  std::shared_ptr<rclcpp_lifecycle::LifecycleNode> get_node() const { return node_; }
  std::vector<hardware_interface::StateInterface> export_state_interfaces() { return on_export_state_interfaces(); }
  void lend(std::vector<hardware_interface::LoanedStateInterface> interfaces) { state_interfaces_ = interfaces; }
  return_type update(const rclcpp::Time& time, const rclcpp::Duration& period) {
    const return_type read = update_reference_from_subscribers(time, period);
    return read == return_type::OK ? update_and_write_commands(time, period) : read;
  }

 protected:
  virtual std::vector<hardware_interface::StateInterface> on_export_state_interfaces() = 0;
  virtual std::vector<hardware_interface::CommandInterface> on_export_reference_interfaces() = 0;
  virtual return_type update_reference_from_subscribers(const rclcpp::Time&, const rclcpp::Duration&) = 0;
  virtual return_type update_and_write_commands(const rclcpp::Time&, const rclcpp::Duration&) = 0;

  template <class T>
  void auto_declare(const std::string& name, const T& value) {
    node_->values.emplace(name, value);
  }
  std::vector<hardware_interface::LoanedStateInterface> state_interfaces_;

 private:
  std::shared_ptr<rclcpp_lifecycle::LifecycleNode> node_ = std::make_shared<rclcpp_lifecycle::LifecycleNode>();
};

}  // namespace controller_interface
