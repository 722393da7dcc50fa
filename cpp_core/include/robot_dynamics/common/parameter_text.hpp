// Parameters as text, one per line: a name, then its numbers or word. Reading needs no library and does not depend on
// the locale. A missing, unknown or repeated name and an invalid number are errors that name it.
#pragma once

#include <array>
#include <limits>
#include <locale>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace robot_dynamics {

class ParameterReader {
 public:
  // Throws std::invalid_argument for a line without a value and for a repeated name. '#' begins a comment line; lines
  // may end as on Windows.
  explicit ParameterReader(const std::string& text) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      if (!line.empty() && line.back() == '\r') line.pop_back();
      if (line.empty() || line[0] == '#') continue;
      const std::size_t space = line.find(' ');
      if (space == std::string::npos) throw std::invalid_argument("'" + line.substr(0, 80) + "' has no value");
      if (!values_.emplace(line.substr(0, space), line.substr(space + 1)).second)
        throw std::invalid_argument(line.substr(0, space) + " is given twice");
    }
  }

  bool has(const std::string& name) const { return values_.count(name) > 0; }

  std::string word(const std::string& name) {
    const auto found = values_.find(name);
    if (found == values_.end()) throw std::invalid_argument(name + " is missing");
    const std::string value = found->second;
    values_.erase(found);
    return value;
  }

  // count < 0: any number of them
  std::vector<double> numbers(const std::string& name, long count = -1) {
    std::istringstream words(word(name));
    std::vector<double> found;
    for (std::string text; words >> text;) found.push_back(number(name, text));
    if (count >= 0 && found.size() != static_cast<std::size_t>(count))
      throw std::invalid_argument(name + " has " + std::to_string(found.size()) + " values, expected " +
                                  std::to_string(count));
    return found;
  }

  int whole(const std::string& name, int low, int high) {
    const double value = numbers(name, 1)[0];
    if (!(low <= value && value <= high && value == static_cast<int>(value)))
      throw std::invalid_argument(name + " = " + std::to_string(value) + " is no whole number in " +
                                  std::to_string(low) + ".." + std::to_string(high));
    return static_cast<int>(value);
  }

  void take(const std::string& name, double& value) { value = numbers(name, 1)[0]; }
  void take(const std::string& name, int& value) { value = whole(name, std::numeric_limits<int>::min(), 2147483647); }
  void take(const std::string& name, bool& value) { value = whole(name, 0, 1) == 1; }
  template <std::size_t M>
  void take(const std::string& name, std::array<double, M>& values, int n) {
    const std::vector<double> found = numbers(name, n);
    std::copy(found.begin(), found.end(), values.begin());
  }

  // Throws for a name that was never read: it is unknown.
  void finish() const {
    if (!values_.empty()) throw std::invalid_argument(values_.begin()->first + " is no parameter");
  }

 private:
  static double number(const std::string& name, const std::string& text) {
    if (text == "inf") return std::numeric_limits<double>::infinity();
    if (text == "-inf") return -std::numeric_limits<double>::infinity();
    std::istringstream word(text);
    word.imbue(std::locale::classic());
    double value;
    if (!(word >> value) || word.peek() != std::istringstream::traits_type::eof())
      throw std::invalid_argument(name + ": '" + text.substr(0, 40) + "' is no number");
    return value;
  }

  std::map<std::string, std::string> values_;
};

// 17 digits: a reader gets the same doubles back.
class ParameterWriter {
 public:
  ParameterWriter() {
    text_.imbue(std::locale::classic());
    text_.precision(17);
  }
  std::string text() const { return text_.str(); }

  void take(const std::string& name, const std::string& value) {
    if (value.find('\n') != std::string::npos) throw std::invalid_argument(name + " holds a line break");
    text_ << name << ' ' << value << '\n';
  }
  void take(const std::string& name, const char* value) { take(name, std::string(value)); }
  void take(const std::string& name, double value) { numbers(name, &value, 1); }
  template <std::size_t M>
  void take(const std::string& name, const std::array<double, M>& values, int n) {
    numbers(name, values.data(), n);
  }
  void numbers(const std::string& name, const double* values, std::size_t count) {
    text_ << name;
    for (std::size_t k = 0; k < count; ++k) text_ << ' ' << values[k];
    text_ << '\n';
  }
  void numbers(const std::string& name, const std::vector<double>& values) {
    numbers(name, values.data(), values.size());
  }

 private:
  std::ostringstream text_;
};

}  // namespace robot_dynamics
