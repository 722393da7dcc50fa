// The exported class becomes what exported_plugin() makes.
#pragma once

#include <memory>

#define PLUGINLIB_EXPORT_CLASS(Class, Base) \
  std::unique_ptr<Base> exported_plugin() { return std::make_unique<Class>(); }
