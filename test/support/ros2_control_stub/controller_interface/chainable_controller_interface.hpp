// What contact_force_broadcaster uses of controller_interface and rclcpp, with the signatures of
// ros2_control 4.46, 5.16 and 6.8: a node that holds parameters and services, and no manager.
#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "builtin_interfaces/msg/time.hpp"
#include "hardware_interface/handle.hpp"

#define RCLCPP_ERROR(logger, ...) ((void)(logger), std::fprintf(stderr, __VA_ARGS__))
#define RCLCPP_WARN(logger, ...) ((void)(logger), std::fprintf(stderr, __VA_ARGS__), std::fputc('\n', stderr))

namespace rclcpp {
class Time {
 public:
  explicit Time(std::int64_t ns) : ns_(ns) {}
  std::int64_t nanoseconds() const { return ns_; }
  operator builtin_interfaces::msg::Time() const {
    builtin_interfaces::msg::Time time;
    time.sec = static_cast<std::int32_t>(ns_ / 1000000000);
    time.nanosec = static_cast<std::uint32_t>(ns_ % 1000000000);
    return time;
  }

 private:
  std::int64_t ns_;
};
class Duration {};
class Logger {};
class SystemDefaultsQoS {};
template <class Message>
class Publisher {
 public:
  using SharedPtr = std::shared_ptr<Publisher>;
};
template <class Message>
class Subscription {
 public:
  using SharedPtr = std::shared_ptr<Subscription>;
};
template <class Type>
class Service {
 public:
  using SharedPtr = std::shared_ptr<Service>;
};
}  // namespace rclcpp

namespace rclcpp_lifecycle {
class State {};
class LifecycleNode {
 public:
  rclcpp::Logger get_logger() const { return {}; }
  const char* get_name() const { return "contact_force"; }
  template <class Message>
  typename rclcpp::Publisher<Message>::SharedPtr create_publisher(const std::string&, rclcpp::SystemDefaultsQoS) {
    return std::make_shared<rclcpp::Publisher<Message>>();
  }
  template <class Message, class Callback>
  typename rclcpp::Subscription<Message>::SharedPtr create_subscription(const std::string& name,
                                                                        rclcpp::SystemDefaultsQoS,
                                                                        Callback&& callback) {
    subscribed[name] = [callback](const void* message) { callback(*static_cast<const Message*>(message)); };
    return std::make_shared<rclcpp::Subscription<Message>>();
  }
  template <class Type, class Callback>
  typename rclcpp::Service<Type>::SharedPtr create_service(const std::string& name, Callback&& callback) {
    services[name] = [callback] {
      const auto response = std::make_shared<typename Type::Response>();
      callback(std::make_shared<typename Type::Request>(), response);
      return (response->success ? "yes: " : "no: ") + response->message;
    };
    return std::make_shared<rclcpp::Service<Type>>();
  }
  std::map<std::string, std::string> values;
  std::map<std::string, std::function<std::string()>> services;
  std::map<std::string, std::function<void(const void*)>> subscribed;
};
}  // namespace rclcpp_lifecycle

namespace controller_interface {

enum class CallbackReturn { SUCCESS = 97, FAILURE = 98, ERROR = 99 };
enum class return_type : std::uint8_t { OK, ERROR };
enum class interface_configuration_type { ALL, INDIVIDUAL, NONE };
struct InterfaceConfiguration {
  interface_configuration_type type = interface_configuration_type::NONE;
  std::vector<std::string> names = {};
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
  unsigned int get_update_rate() const { return 500; }  // [Hz]
  std::vector<hardware_interface::StateInterface::ConstSharedPtr> export_state_interfaces() {
    ordered_exported_state_interfaces_ = on_export_state_interfaces_list();
    return {ordered_exported_state_interfaces_.begin(), ordered_exported_state_interfaces_.end()};
  }
  void lend(std::vector<hardware_interface::LoanedStateInterface> interfaces) { state_interfaces_ = interfaces; }
  return_type update(const rclcpp::Time& time, const rclcpp::Duration& period) {
    const return_type read = update_reference_from_subscribers(time, period);
    return read == return_type::OK ? update_and_write_commands(time, period) : read;
  }

 protected:
  virtual std::vector<hardware_interface::StateInterface::SharedPtr> on_export_state_interfaces_list() = 0;
  virtual return_type update_reference_from_subscribers(const rclcpp::Time&, const rclcpp::Duration&) = 0;
  virtual return_type update_and_write_commands(const rclcpp::Time&, const rclcpp::Duration&) = 0;

  std::vector<hardware_interface::LoanedStateInterface> state_interfaces_;
  std::vector<hardware_interface::StateInterface::SharedPtr> ordered_exported_state_interfaces_;

 private:
  std::shared_ptr<rclcpp_lifecycle::LifecycleNode> node_ = std::make_shared<rclcpp_lifecycle::LifecycleNode>();
};

}  // namespace controller_interface
