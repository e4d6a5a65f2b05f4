// SPDX-License-Identifier: BSD-3-Clause
// The text is parsed twice: the first pass counts nodes and builds nothing, the second builds.
#include "config/yaml_document.hpp"

#include <yaml-cpp/eventhandler.h>

#include <map>
#include <optional>
#include <sstream>
#include <vector>

#include "base/error.hpp"

namespace trireme {
namespace {

std::string at(const std::string& name, const YAML::Mark& mark) {
  return fmt::format("{}:{}:{}", name, mark.line + 1, mark.column + 1);
}

// Adds up the nodes of a document as its events arrive.
class NodeCount : public YAML::EventHandler {
 public:
  explicit NodeCount(const std::string& name) : name_(name) {}

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { leaf(mark, anchor); }
  void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                const std::string&) override {
    leaf(mark, anchor);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto size = sizes_.find(anchor);
    if (size == sizes_.end() || !size->second)
      fail(ExitCode::usage, "{}: an alias stands within its own anchor; name a value outside it",
           at(name_, mark));
    add(mark, *size->second);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    begin(mark, anchor);
  }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    begin(mark, anchor);
  }
  void OnSequenceEnd() override { end(); }
  void OnMapEnd() override { end(); }

 private:
  struct Open {
    YAML::anchor_t anchor;
    std::size_t nodes_before;
  };

  void leaf(const YAML::Mark& mark, YAML::anchor_t anchor) {
    add(mark, 1);
    if (anchor != YAML::NullAnchor) sizes_[anchor] = 1;
  }
  void begin(const YAML::Mark& mark, YAML::anchor_t anchor) {
    open_.push_back({anchor, nodes_});
    if (anchor != YAML::NullAnchor) sizes_[anchor] = std::nullopt;
    add(mark, 1);
  }
  void end() {
    const auto [anchor, nodes_before] = open_.back();
    open_.pop_back();
    if (anchor != YAML::NullAnchor) sizes_[anchor] = nodes_ - nodes_before;
  }
  void add(const YAML::Mark& mark, std::size_t nodes) {
    nodes_ += nodes;
    if (nodes_ > kMaxYamlNodes)
      fail(ExitCode::usage,
           "{}: more than {} YAML nodes, where an alias counts as all that it stands for; a case "
           "has fewer",
           at(name_, mark), kMaxYamlNodes);
  }

  const std::string& name_;
  std::size_t nodes_ = 0;
  std::vector<Open> open_;  // maps and lists that have not ended
  std::map<YAML::anchor_t, std::optional<std::size_t>> sizes_;  // empty: it has not ended
};

void check(const std::string& text, const std::string& name) {
  std::istringstream in(text);
  YAML::Parser parser(in);
  NodeCount count(name);
  if (!parser.HandleNextDocument(count)) return;
  if (parser.HandleNextDocument(count))
    fail(ExitCode::usage, "{}: more than one YAML document ('---'); a case is one", name);
}

}  // namespace

YAML::Node load_yaml(const std::string& text, const std::string& name) {
  try {
    check(text, name);
    return YAML::Load(text);
  } catch (const YAML::Exception& e) {
    fail(ExitCode::usage, "{}: not YAML: {}", at(name, e.mark), e.msg);
  }
}

}  // namespace trireme
