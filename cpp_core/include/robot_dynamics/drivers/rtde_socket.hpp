// TCP client socket with a deadline on everything: connect, send, receive. POSIX only.
#pragma once

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace robot_dynamics::rtde {

// What went wrong with a connection, in one line a user can act on.
struct ConnectionError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Socket {
 public:
  Socket() = default;
  ~Socket() { close(); }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  void connect(const std::string& host, int port, double timeout) {
    close();
    where_ = host + ":" + std::to_string(port);
    addrinfo hints{}, *first = nullptr;
    hints.ai_family = AF_INET;
    hints.ai_socktype = SOCK_STREAM;
    if (getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &first) != 0) fail("unknown host");
    const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> found(first, freeaddrinfo);
    open();
    if (::connect(fd_, found->ai_addr, found->ai_addrlen) != 0) {
      if (errno != EINPROGRESS) fail_errno(errno);
      if (!ready(POLLOUT, timeout)) fail("no answer within " + seconds(timeout));
      int error = 0;
      socklen_t size = sizeof(error);
      getsockopt(fd_, SOL_SOCKET, SO_ERROR, &error, &size);
      if (error != 0) fail_errno(error);
    }
  }

  void send(const std::vector<std::uint8_t>& bytes, double timeout) {
    std::size_t sent = 0;
    while (sent < bytes.size()) {
      if (!ready(POLLOUT, timeout)) fail("does not accept data");
      const ssize_t n = ::send(fd_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
      if (n < 0 && errno != EAGAIN && errno != EINTR) fail_errno(errno);
      if (n > 0) sent += static_cast<std::size_t>(n);
    }
  }

  // At once or not at all; a peer that does not read is not waited for. Where only a part fits, the rest would be read
  // as the next package: nothing more is sent, and receive() throws.
  bool send_now(const std::uint8_t* bytes, std::size_t size) noexcept {
    if (fd_ < 0 || cut_) return false;
    const ssize_t sent = ::send(fd_, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);
    cut_ = sent > 0 && sent < static_cast<ssize_t>(size);
    return sent == static_cast<ssize_t>(size);
  }

  // Bytes read into `out`, 0 when nothing came within the timeout [s]; throws when the peer closed the connection, or a
  // package was cut.
  std::size_t receive(std::uint8_t* out, std::size_t capacity, double timeout) {
    if (cut_) fail("the controller does not read what it is sent");
    if (timeout > 0.0 && !ready(POLLIN, timeout)) return 0;
    iovec data{out, capacity};
    alignas(cmsghdr) unsigned char control[CMSG_SPACE(sizeof(timespec))];
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    const ssize_t n = ::recvmsg(fd_, &message, 0);
    arrival_ns_ = arrival(message);
    if (n > 0) return static_cast<std::size_t>(n);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return 0;
    if (n == 0) fail("connection closed by the controller");
    fail_errno(errno);
  }

  void close() noexcept {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
    cut_ = false;
  }

  // System clock [ns] when the last bytes reached this machine, by its network layer; 0: not stated.
  std::int64_t arrival_ns() const noexcept { return arrival_ns_; }

  const std::string& where() const { return where_; }

  [[noreturn]] void fail(const std::string& text) const { throw ConnectionError(where_ + ": " + text); }

  static std::string seconds(double value) {
    std::string text = std::to_string(value);
    return text.substr(0, text.find('.') + 2) + " s";
  }

 private:
  void open() {
    fd_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd_ < 0) fail_errno(errno);
    const int on = 1;
    setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    setsockopt(fd_, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof(on));
  }

  static std::int64_t arrival(msghdr& message) noexcept {
    for (cmsghdr* c = CMSG_FIRSTHDR(&message); c != nullptr; c = CMSG_NXTHDR(&message, c)) {
      if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_TIMESTAMPNS) continue;
      timespec t;
      std::memcpy(&t, CMSG_DATA(c), sizeof t);
      return static_cast<std::int64_t>(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
    }
    return 0;
  }

  bool ready(short events, double timeout) const {
    pollfd p{fd_, events, 0};
    const auto seconds = static_cast<time_t>(timeout);
    const timespec limit{seconds, static_cast<long>(1e9 * (timeout - static_cast<double>(seconds)))};
    return ::ppoll(&p, 1, &limit, nullptr) > 0;
  }

  [[noreturn]] void fail_errno(int error) const {
    if (error == ECONNREFUSED) fail("connection refused (is the controller on and its RTDE interface enabled?)");
    if (error == EHOSTUNREACH || error == ENETUNREACH) fail("unreachable (check the address and the cable)");
    fail(std::strerror(error));
  }

  int fd_ = -1;
  bool cut_ = false;  // a part of a package was sent
  std::int64_t arrival_ns_ = 0;
  std::string where_;
};

}  // namespace robot_dynamics::rtde
