// A chainable controller around ContactForceEstimator: position, velocity and effort of the joints in, the contact
// wrench out as state interfaces NAME/force.x .. NAME/torque.z, which admittance_controller takes as its ft_sensor.
// Parameter `parameter_file`: written by `robot-dynamics export ROBOT --format core`.
#include <algorithm>
#include <array>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "controller_interface/chainable_controller_interface.hpp"
#include "pluginlib/class_list_macros.hpp"
#include "robot_dynamics/observers/contact_force_file.hpp"

namespace contact_force_controller {

using controller_interface::CallbackReturn;
using controller_interface::InterfaceConfiguration;
using controller_interface::return_type;
using robot_dynamics::Status;

class ContactForceController : public controller_interface::ChainableControllerInterface {
 public:
  CallbackReturn on_init() override {
    auto_declare<std::string>("parameter_file", "");
    return CallbackReturn::SUCCESS;
  }

  CallbackReturn on_configure(const rclcpp_lifecycle::State&) override {
    const std::string path = get_node()->get_parameter("parameter_file").as_string();
    try {
      estimator_ =
          std::make_unique<robot_dynamics::ContactForceEstimator>(robot_dynamics::read_contact_force_parameters(path));
    } catch (const std::invalid_argument& error) {
      RCLCPP_ERROR(get_node()->get_logger(), "parameter_file: %s", error.what());
      return CallbackReturn::ERROR;
    }
    return CallbackReturn::SUCCESS;
  }

  InterfaceConfiguration command_interface_configuration() const override {
    return {controller_interface::interface_configuration_type::NONE, {}};
  }

  // position of all joints, then velocity, then effort
  InterfaceConfiguration state_interface_configuration() const override {
    std::vector<std::string> names;
    for (const char* quantity : quantities)
      for (const std::string& joint : estimator_->joint_names()) names.push_back(joint + "/" + quantity);
    return {controller_interface::interface_configuration_type::INDIVIDUAL, names};
  }

  CallbackReturn on_activate(const rclcpp_lifecycle::State&) override {
    estimator_->reset();
    out_.fill(0.0);
    return CallbackReturn::SUCCESS;
  }

 protected:
  std::vector<hardware_interface::StateInterface> on_export_state_interfaces() override {
    std::vector<hardware_interface::StateInterface> interfaces;
    for (std::size_t k = 0; k < out_.size(); ++k) interfaces.emplace_back(get_node()->get_name(), outputs[k], &out_[k]);
    return interfaces;
  }
  std::vector<hardware_interface::CommandInterface> on_export_reference_interfaces() override { return {}; }

  return_type update_reference_from_subscribers(const rclcpp::Time&, const rclcpp::Duration&) override {
    return return_type::OK;
  }

  return_type update_and_write_commands(const rclcpp::Time& time, const rclcpp::Duration&) override {
    const auto n = static_cast<std::size_t>(estimator_->joints());
    for (std::size_t k = 0; k < 3 * n; ++k) in_[k] = state_interfaces_[k].get_value();
    const double* q = in_.data();
    const Status status = estimator_->update(time.nanoseconds(), q, q + n, q + 2 * n);
    // no force where there is no estimate that can be relied on: an admittance behind this one then stands still
    const bool good = status == Status::ok || status == Status::degraded || status == Status::saturated;
    const auto& wrench = estimator_->estimate().framed_wrench;
    for (std::size_t k = 0; k < 6; ++k) out_[k] = good ? wrench[k] : 0.0;
    out_[6] = good && estimator_->in_contact() ? 1.0 : 0.0;
    out_[7] = static_cast<double>(status);
    return return_type::OK;
  }

 private:
  static constexpr std::array<const char*, 3> quantities{"position", "velocity", "effort"};
  static constexpr std::array<const char*, 8> outputs{"force.x",  "force.y",  "force.z", "torque.x",
                                                      "torque.y", "torque.z", "contact", "status"};

  std::unique_ptr<robot_dynamics::ContactForceEstimator> estimator_;
  std::array<double, 3 * robot_dynamics::max_joints> in_{};
  std::array<double, 8> out_{};
};

}  // namespace contact_force_controller

PLUGINLIB_EXPORT_CLASS(contact_force_controller::ContactForceController,
                       controller_interface::ChainableControllerInterface)
