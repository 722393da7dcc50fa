#include <cstring>

#include "bindings.hpp"

namespace bindings::mcap {

namespace {

constexpr std::size_t record_head = 9, message_head = 22;  // operation, length; channel, number, log and publish time
constexpr std::uint8_t of_message = 5;

template <class T>
T read(const char* at) {  // the format is little-endian
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

py::tuple messages(const py::bytes& records) {
  char* data = nullptr;
  py::ssize_t size = 0;
  if (PyBytes_AsStringAndSize(records.ptr(), &data, &size) != 0) throw py::error_already_set();
  std::vector<std::int64_t> channels, stamps, begins, ends;
  for (std::size_t place = 0, end = static_cast<std::size_t>(size); place < end;) {
    if (end - place < record_head) throw std::invalid_argument("a record ends beyond its chunk");
    const auto operation = static_cast<std::uint8_t>(data[place]);
    const auto length = read<std::uint64_t>(data + place + 1);
    place += record_head;
    if (length > end - place || (operation == of_message && length < message_head))
      throw std::invalid_argument("a record ends beyond its chunk");
    if (operation == of_message) {
      channels.push_back(read<std::uint16_t>(data + place));
      stamps.push_back(read<std::int64_t>(data + place + 6));
      begins.push_back(static_cast<std::int64_t>(place + message_head));
      ends.push_back(static_cast<std::int64_t>(place + length));
    }
    place += length;
  }
  return py::make_tuple(channels, stamps, begins, ends);
}

}  // namespace

void bind(py::module_& m) {
  m.def("mcap_messages", &messages, py::arg("records"),
        "Messages among the records of an mcap chunk: channels, stamps [ns], and where each begins and ends.");
}

}  // namespace bindings::mcap
