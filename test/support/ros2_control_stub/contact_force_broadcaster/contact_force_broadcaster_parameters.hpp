// What generate_parameter_library makes of contact_force_broadcaster_parameters.yaml, as far as it is used.
#pragma once

#include "controller_interface/chainable_controller_interface.hpp"

namespace contact_force_broadcaster {

struct Params {
  std::string parameter_file, frame_id;
};

class ParamListener {
 public:
  explicit ParamListener(std::shared_ptr<rclcpp_lifecycle::LifecycleNode> node) : node_(std::move(node)) {}
  Params get_params() const { return {node_->values.at("parameter_file"), node_->values.at("frame_id")}; }

 private:
  std::shared_ptr<rclcpp_lifecycle::LifecycleNode> node_;
};

}  // namespace contact_force_broadcaster
