// What contact_force_broadcaster uses of hardware_interface 4.46 to 6.8: a name and a value that another thread may
// hold.
#pragma once

#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>

namespace hardware_interface {

class StateInterface {
 public:
  using SharedPtr = std::shared_ptr<StateInterface>;
  using ConstSharedPtr = std::shared_ptr<const StateInterface>;
  explicit StateInterface(const std::string& prefix, const std::string& name, const std::string& = "double",
                          const std::string& = "")
      : name_(prefix + "/" + name) {}
  const std::string& get_name() const { return name_; }
  template <typename T = double>
  [[nodiscard]] std::optional<T> get_optional() const {
    std::shared_lock<std::shared_mutex> lock(mutex_, std::try_to_lock);
    return lock.owns_lock() ? std::optional<T>(value_) : std::nullopt;
  }
  template <typename T>
  [[nodiscard]] bool set_value(const T& value) {
    std::unique_lock<std::shared_mutex> lock(mutex_, std::try_to_lock);
    if (lock.owns_lock()) value_ = value;
    return lock.owns_lock();
  }
  std::shared_mutex& get_mutex() const { return mutex_; }

 private:
  std::string name_;
  double value_ = std::numeric_limits<double>::quiet_NaN();
  mutable std::shared_mutex mutex_;
};

class LoanedStateInterface {
 public:
  explicit LoanedStateInterface(StateInterface::ConstSharedPtr interface) : interface_(std::move(interface)) {}
  template <typename T = double>
  [[nodiscard]] std::optional<T> get_optional(unsigned int = 10) const {
    return interface_->get_optional<T>();
  }

 private:
  StateInterface::ConstSharedPtr interface_;
};

}  // namespace hardware_interface
