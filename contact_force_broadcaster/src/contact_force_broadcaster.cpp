// A chainable controller around ContactForceEstimator: position, velocity and effort of the joints in, the contact
// wrench and its deviations out, as state interfaces NAME/force.x .. NAME/torque_std.z and as ~/wrench, ~/wrench_std.
#include <array>
#include <atomic>
#include <chrono>
#include <limits>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "contact_force_broadcaster/contact_force_broadcaster_parameters.hpp"
#include "controller_interface/chainable_controller_interface.hpp"
#include "geometry_msgs/msg/inertia_stamped.hpp"
#include "geometry_msgs/msg/wrench_stamped.hpp"
#include "pluginlib/class_list_macros.hpp"
#include "realtime_tools/realtime_publisher.hpp"
#include "robot_dynamics/observers/contact_force_file.hpp"
#include "std_srvs/srv/trigger.hpp"

namespace contact_force_broadcaster {

using controller_interface::CallbackReturn;
using controller_interface::InterfaceConfiguration;
using controller_interface::return_type;
using geometry_msgs::msg::InertiaStamped;
using geometry_msgs::msg::WrenchStamped;
using robot_dynamics::PayloadCheck;
using robot_dynamics::Status;
using robot_dynamics::TareResult;
using std_srvs::srv::Trigger;

constexpr std::array quantities{"position", "velocity", "effort"};
constexpr std::array outputs{"force.x",      "force.y",      "force.z",     "torque.x",    "torque.y",
                             "torque.z",     "force_std.x",  "force_std.y", "force_std.z", "torque_std.x",
                             "torque_std.y", "torque_std.z", "contact",     "status"};

enum class Request : int { none, tare, accept_payload, refuse_payload, reset_payload };
constexpr std::array services{"", "~/tare", "~/accept_payload", "~/refuse_payload", "~/reset_payload"};

// The answers to a request, by TareResult; of a payload the first and the last.
constexpr std::array answers{"done",
                             "too few samples since the start, a reset or a changed parameter: wait two seconds",
                             "the robot was free and is now in contact; release it first",
                             "the torque is changing; hold still or move evenly",
                             "neither friction nor a payload makes such a torque: let go of the robot, or identify it",
                             "no payload is recognised; move the arm for some seconds"};
constexpr int no_payload = 5, waiting = -1;

class ContactForceBroadcaster : public controller_interface::ChainableControllerInterface {
 public:
  CallbackReturn on_init() override try {
    parameters_ = std::make_unique<ParamListener>(get_node());
    return CallbackReturn::SUCCESS;
  } catch (const std::exception& error) {
    RCLCPP_ERROR(get_node()->get_logger(), "%s", error.what());
    return CallbackReturn::ERROR;
  }

  CallbackReturn on_configure(const rclcpp_lifecycle::State&) override try {
    const Params p = parameters_->get_params();
    auto estimator = std::make_unique<robot_dynamics::ContactForceEstimator>(
        robot_dynamics::read_contact_force_parameters(p.parameter_file));
    {
      const std::lock_guard<std::mutex> lock(naming_);  // a subscription of before may ask the old one
      estimator_ = std::move(estimator);
    }
    if (get_update_rate() < estimator_->least_rate())
      RCLCPP_WARN(get_node()->get_logger(),
                  "this controller runs at %u Hz, fewer than %.0f Hz make forces at rest wrong several times as much: "
                  "raise update_rate",
                  get_update_rate(), estimator_->least_rate());
    for (std::size_t k = 0; k < topics_.size(); ++k) {
      messages_[k].header.frame_id = p.frame_id;
      topics_[k] = std::make_unique<Topic>(get_node()->create_publisher<WrenchStamped>(
          k == 0 ? "~/wrench" : "~/wrench_std", rclcpp::SystemDefaultsQoS()));
    }
    named_ = get_node()->create_subscription<InertiaStamped>("~/payload", rclcpp::SystemDefaultsQoS(),
                                                             [this](const InertiaStamped& m) { name(m.inertia); });
    for (std::size_t k = 1; k < services.size(); ++k)
      services_[k] = get_node()->create_service<Trigger>(
          services[k], [this, k](const Trigger::Request::SharedPtr, Trigger::Response::SharedPtr response) {
            ask(static_cast<Request>(k), *response);
          });
    return CallbackReturn::SUCCESS;
  } catch (const std::invalid_argument& error) {
    RCLCPP_ERROR(get_node()->get_logger(), "parameter_file: %s", error.what());
    return CallbackReturn::FAILURE;
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
    return CallbackReturn::SUCCESS;
  }

 protected:
  std::vector<hardware_interface::StateInterface::SharedPtr> on_export_state_interfaces_list() override {
    std::vector<hardware_interface::StateInterface::SharedPtr> interfaces;
    for (const char* name : outputs)
      interfaces.push_back(std::make_shared<hardware_interface::StateInterface>(get_node()->get_name(), name));
    return interfaces;
  }

  return_type update_reference_from_subscribers(const rclcpp::Time&, const rclcpp::Duration&) override {
    return return_type::OK;
  }

  return_type update_and_write_commands(const rclcpp::Time& time, const rclcpp::Duration&) override {
    const auto n = static_cast<std::size_t>(estimator_->joints());
    for (std::size_t k = 0; k < 3 * n; ++k) in_[k] = state_interfaces_[k].get_optional().value_or(nan_);
    const double* q = in_.data();
    if (const std::unique_lock<std::mutex> lock(naming_, std::try_to_lock); lock) carried_ = payload_;
    const Status status = estimator_->update(time.nanoseconds(), q, q + n, q + 2 * n, nullptr, carried_.data());
    answer();
    const bool good = status == Status::ok || status == Status::degraded || status == Status::saturated;
    const auto& e = estimator_->estimate();
    // no force where there is no estimate that can be relied on: an admittance behind this one then stands still
    for (std::size_t k = 0; k < 6; ++k) {
      give(k, good ? e.framed_wrench[k] : 0.0);
      give(6 + k, good ? e.framed_wrench_std[k] : nan_);
    }
    give(12, good && estimator_->in_contact() ? 1.0 : 0.0);
    give(13, static_cast<double>(status));
    if (good) publish(time, 0, e.framed_wrench), publish(time, 1, e.framed_wrench_std);
    return return_type::OK;
  }

 private:
  using Topic = realtime_tools::RealtimePublisher<WrenchStamped>;
  static constexpr double nan_ = std::numeric_limits<double>::quiet_NaN();

  // An interface that a reader of another thread holds keeps its value of the last cycle.
  void give(std::size_t k, double value) { (void)ordered_exported_state_interfaces_[k]->set_value(value); }

  void publish(const rclcpp::Time& time, std::size_t k, const std::array<double, 6>& values) {
    messages_[k].header.stamp = time;
    auto& [force, torque] = messages_[k].wrench;
    force.x = values[0], force.y = values[1], force.z = values[2];
    torque.x = values[3], torque.y = values[4], torque.z = values[5];
    topics_[k]->try_publish(messages_[k]);
  }

  // Thread of the subscription: a payload that is not finite would be none, one in grams would hide any contact.
  void name(const geometry_msgs::msg::Inertia& load) {
    const std::array<double, 4> named{load.m, load.com.x, load.com.y, load.com.z};
    const std::lock_guard<std::mutex> lock(naming_);
    if (const std::string why = estimator_->refused_payload(named.data()); !why.empty()) {
      RCLCPP_WARN(get_node()->get_logger(), "~/payload: %s; the last one stays", why.c_str());
      return;
    }
    payload_ = named;
  }

  // Thread of the services: hands a request to the control loop and waits for its answer; withdraws one that is not
  // taken within a second.
  void ask(Request request, Trigger::Response& response) {
    answer_ = waiting;
    request_ = request;
    for (int k = 0; answer_ == waiting; ++k) {
      if (k >= 1000 && request_.exchange(Request::none) != Request::none) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    const int answer = answer_;
    response.success = answer == 0;
    response.message = answer == waiting ? "the controller is not active" : answers[answer];
  }

  // Control loop.
  void answer() noexcept {
    const Request request = request_.exchange(Request::none);
    if (request == Request::none) return;
    answer_ = request == Request::tare             ? static_cast<int>(estimator_->tare())
              : request == Request::accept_payload ? answered(PayloadCheck::Answer::keep)
              : request == Request::refuse_payload ? answered(PayloadCheck::Answer::refuse)
                                                   : answered(PayloadCheck::Answer::judge);
  }
  int answered(PayloadCheck::Answer a) noexcept { return estimator_->answer_payload(a) ? 0 : no_payload; }

  std::unique_ptr<ParamListener> parameters_;
  std::unique_ptr<robot_dynamics::ContactForceEstimator> estimator_;
  std::array<double, 3 * robot_dynamics::max_joints> in_{};
  std::array<WrenchStamped, 2> messages_;  // of wrench and wrench_std
  std::array<std::unique_ptr<Topic>, 2> topics_;
  std::array<rclcpp::Service<Trigger>::SharedPtr, services.size()> services_;
  rclcpp::Subscription<InertiaStamped>::SharedPtr named_;
  std::mutex naming_;                            // of payload_
  std::array<double, 4> payload_{}, carried_{};  // mass and centre: as named, as the control loop takes it
  std::atomic<Request> request_{Request::none};
  std::atomic<int> answer_{0};
};

}  // namespace contact_force_broadcaster

PLUGINLIB_EXPORT_CLASS(contact_force_broadcaster::ContactForceBroadcaster,
                       controller_interface::ChainableControllerInterface)
