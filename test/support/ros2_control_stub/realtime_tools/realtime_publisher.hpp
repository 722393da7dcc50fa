// The message that was published last, and how many were.
#pragma once

#include "controller_interface/chainable_controller_interface.hpp"

namespace realtime_tools {

template <class Message>
class RealtimePublisher {
 public:
  explicit RealtimePublisher(typename rclcpp::Publisher<Message>::SharedPtr) { all.push_back(this); }
  bool try_publish(const Message& message) {
    last = message;
    ++count;
    return true;
  }
  Message last;
  long count = 0;
  static inline std::vector<RealtimePublisher*> all;
};

}  // namespace realtime_tools
