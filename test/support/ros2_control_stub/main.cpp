// Runs the broadcaster as a controller manager would: main PARAMETER_FILE < samples > interfaces
// A sample: stamp [ns, int64], a service to call with it (int64; 0: none; 5, 6, 7: 1 kg is picked up, put down,
// and named in grams instead), position, velocity and effort of n joints. The output: every exported value per
// sample. Standard error: names, answers of services, messages, allocations.
#include <cmath>
#include <thread>

#include "../../../cpp_core/test/check.hpp"
#include "controller_interface/chainable_controller_interface.hpp"
#include "geometry_msgs/msg/inertia_stamped.hpp"
#include "geometry_msgs/msg/wrench_stamped.hpp"
#include "realtime_tools/realtime_publisher.hpp"

std::unique_ptr<controller_interface::ChainableControllerInterface> exported_plugin();

namespace {

using controller_interface::CallbackReturn;
using controller_interface::return_type;
using hardware_interface::StateInterface;

// A service answers while the control loop runs; the sample is repeated until it has.
std::string answer(controller_interface::ChainableControllerInterface& plugin, std::int64_t service,
                   const rclcpp::Time& time) {
  const char* names[] = {"", "~/tare", "~/accept_payload", "~/refuse_payload", "~/reset_payload"};
  std::atomic<bool> answered{false};
  std::string text;
  std::thread caller([&] { text = plugin.get_node()->services.at(names[service])(), answered = true; });
  while (!answered) (void)plugin.update(time, {});
  caller.join();
  return text;
}

}  // namespace

int main(int, char** arguments) {
  const auto plugin = exported_plugin();
  plugin->get_node()->values = {{"parameter_file", arguments[1]}, {"frame_id", "tool0"}};
  if (plugin->on_init() != CallbackReturn::SUCCESS) return 3;
  if (plugin->on_configure({}) != CallbackReturn::SUCCESS) return 4;
  std::vector<StateInterface::SharedPtr> joints;
  for (const std::string& name : plugin->state_interface_configuration().names) {
    joints.push_back(std::make_shared<StateInterface>("", name));
    std::fprintf(stderr, "%s\n", name.c_str());
  }
  plugin->lend({joints.begin(), joints.end()});
  const auto exported = plugin->export_state_interfaces();
  for (const auto& interface : exported) std::fprintf(stderr, "%s\n", interface->get_name().c_str());
  std::fprintf(stderr, "%s\n", plugin->get_node()->services.at("~/tare")().c_str());
  if (plugin->on_activate({}) != CallbackReturn::SUCCESS) return 5;
  std::int64_t head[2];
  std::vector<double> values(joints.size());
  long allocated = 0;
  while (std::fread(head, sizeof head, 1, stdin) == 1 &&
         std::fread(values.data(), sizeof(double), values.size(), stdin) == values.size()) {
    for (std::size_t k = 0; k < values.size(); ++k)
      if (!joints[k]->set_value(values[k])) return 6;
    const rclcpp::Time time(head[0]);
    return_type result;
    allocated += allocations_of([&] { result = plugin->update(time, {}); });
    if (result != return_type::OK) return 7;
    for (const auto& interface : exported) {
      const double value = *interface->get_optional();
      std::fwrite(&value, sizeof value, 1, stdout);
    }
    if (head[1] > 4) {
      geometry_msgs::msg::InertiaStamped message;
      message.inertia.m = head[1] == 5 ? 1.0 : head[1] == 6 ? 0.0 : 1000.0;
      message.inertia.com.y = 0.01, message.inertia.com.z = 0.05;
      plugin->get_node()->subscribed.at("~/payload")(&message);
    } else if (head[1])
      std::fprintf(stderr, "%s\n", answer(*plugin, head[1], time).c_str());
  }
  for (const auto* topic : realtime_tools::RealtimePublisher<geometry_msgs::msg::WrenchStamped>::all) {
    const auto& [header, wrench] = topic->last;
    std::fprintf(stderr, "%ld %s %d.%09u %.17g %.17g\n", topic->count, header.frame_id.c_str(), header.stamp.sec,
                 header.stamp.nanosec, wrench.force.x, wrench.torque.z);
  }
  std::fprintf(stderr, "%ld\n", allocated);
  return 0;
}
