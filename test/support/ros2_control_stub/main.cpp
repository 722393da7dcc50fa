// Runs the plugin as a controller manager would: main PARAMETER_FILE < samples > interfaces
// A sample: stamp [ns, int64], position, velocity and effort of n joints. The output: every exported value per sample.
#include "controller_interface/chainable_controller_interface.hpp"

std::unique_ptr<controller_interface::ChainableControllerInterface> exported_plugin();

int main(int, char** arguments) {
  using controller_interface::CallbackReturn;
  const auto plugin = exported_plugin();
  if (plugin->on_init() != CallbackReturn::SUCCESS) return 3;
  plugin->get_node()->values["parameter_file"] = arguments[1];
  if (plugin->on_configure({}) != CallbackReturn::SUCCESS) return 4;
  const auto names = plugin->state_interface_configuration().names;
  std::vector<double> values(names.size());
  std::vector<hardware_interface::LoanedStateInterface> loaned;
  for (std::size_t k = 0; k < names.size(); ++k) {
    const std::size_t slash = names[k].rfind('/');
    loaned.emplace_back(names[k].substr(0, slash), names[k].substr(slash + 1), &values[k]);
    std::fprintf(stderr, "%s\n", names[k].c_str());
  }
  plugin->lend(loaned);
  const auto exported = plugin->export_state_interfaces();
  for (const auto& interface : exported) std::fprintf(stderr, "%s\n", interface.get_name().c_str());
  if (plugin->on_activate({}) != CallbackReturn::SUCCESS) return 5;
  std::int64_t stamp;
  while (std::fread(&stamp, sizeof stamp, 1, stdin) == 1 &&
         std::fread(values.data(), sizeof(double), values.size(), stdin) == values.size()) {
    if (plugin->update(rclcpp::Time(stamp), {}) != controller_interface::return_type::OK) return 6;
    for (const auto& interface : exported) {
      const double value = interface.get_value();
      std::fwrite(&value, sizeof value, 1, stdout);
    }
  }
  return 0;
}
