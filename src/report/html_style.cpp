// SPDX-License-Identifier: BSD-3-Clause
// The page on a screen of any width, light or dark, and on paper.
#include <fmt/format.h>

#include "report/html_parts.hpp"
#include "report/svg_frame.hpp"

namespace trireme::html {
namespace {

// Series colours are those of Okabe and Ito and of Tol, darker on white and lighter on black, so
// that they differ for colour-blind readers; dashes and markers differ as well.
constexpr const char* kStyle = R"css(
:root { color-scheme: light dark; --back: #fff; --card: #f6f8fa; --text: #1b2430; --dim: #535f6e;
  --line: #d5dbe2; --good: #0b6b3a; --bad: #b3261e; --link: #0b5cad;
  --s0: #0072b2; --s1: #d55e00; --s2: #00805d; --s3: #aa3377; --s4: #8a6a00; --s5: #332288;
  --s6: #555b63; --s7: #882255; }
@media (prefers-color-scheme: dark) { :root { --back: #12161c; --card: #1a2029; --text: #e6ebf2;
  --dim: #a0acba; --line: #323c49; --good: #5fd39b; --bad: #ff8a80; --link: #7cc0ff;
  --s0: #56b4e9; --s1: #ff9248; --s2: #3ddba7; --s3: #ee88c0; --s4: #f0d24a; --s5: #a99cff;
  --s6: #c4c9d1; --s7: #ff7f9f; } }
* { box-sizing: border-box; }
body { background: var(--back); color: var(--text); font: 16px/1.5 system-ui, sans-serif;
  margin: 0; }
main, header, footer { max-width: 1120px; margin: 0 auto; padding: 0 1rem;
  overflow-wrap: anywhere; }
header { padding-top: 1.5rem; } footer { padding-bottom: 2rem; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0; } h2 { font-size: 1.3rem; margin: 2.2rem 0 .6rem; }
h3 { font-size: 1rem; margin: 0; } p { margin: .3rem 0; } .dim { color: var(--dim); font-size: .9rem; }
.good { color: var(--good); } .bad { color: var(--bad); }
.skip { position: absolute; left: -999px; } .skip:focus { position: static; }
a { color: var(--link); } :focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
.tiles { display: flex; flex-wrap: wrap; gap: .6rem; margin: 1rem 0; }
.tiles div { background: var(--card); border: 1px solid var(--line); border-radius: 8px;
  padding: .5rem .9rem; flex: 1 1 9rem; }
.tiles dt { color: var(--dim); font-size: .85rem; } .tiles dd { margin: 0; font-size: 1.25rem;
  font-weight: 600; }
.verdicts { list-style: none; padding: 0; margin: .5rem 0; } .verdicts li { margin: .4rem 0; }
.scroll { overflow-x: auto; margin: .5rem 0 1rem; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; color: var(--dim); padding-bottom: .3rem; }
th, td { padding: .35rem .5rem; text-align: right; border-bottom: 1px solid var(--line);
  white-space: nowrap; }
thead th { color: var(--dim); font-weight: 500; vertical-align: bottom; }
th.text, td.text { text-align: left; } td.long { white-space: normal; min-width: 14rem; }
tr.chosen { font-weight: 600; }
.facts th { width: 11rem; color: var(--dim); font-weight: 500; vertical-align: top; }
.facts td { text-align: left; white-space: normal; }
.grid { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 25rem), 1fr));
  gap: 1rem; }
figure { margin: 0; background: var(--card); border: 1px solid var(--line); border-radius: 8px;
  padding: .8rem; min-width: 0; break-inside: avoid; }
figure svg { display: block; width: 100%; height: auto; margin-top: .4rem; }
.legend { list-style: none; display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; padding: 0;
  margin: .4rem 0; font-size: .9rem; }
.legend svg { width: 44px; height: 12px; margin-right: .4rem; vertical-align: -1px; }
.legend b { display: inline-block; width: 1.5em; text-align: center; border-radius: 3px;
  margin-right: .4rem; color: #fff; }
details { border: 1px solid var(--line); border-radius: 8px; padding: .5rem .8rem; margin: .6rem 0; }
summary { cursor: pointer; font-weight: 600; }
pre { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: .7rem;
  overflow-x: auto; font-size: .85rem; white-space: pre-wrap; overflow-wrap: anywhere; }
svg text { fill: var(--text); font: 11.5px system-ui, sans-serif; }
svg .tick, svg .axis { fill: var(--dim); } svg .name { font-size: 12.5px; }
svg .number { fill: #fff; font-weight: 600; }
.grid line.grid, line.grid { stroke: var(--line); } .edge { fill: none; stroke: var(--line); }
.tolerance { stroke: var(--dim); stroke-dasharray: 2 4; } .roof { stroke: var(--text);
  stroke-width: 2; }
.curve { fill: none; stroke-width: 1.8; stroke-linejoin: round; }
.ring, .end { fill: none; stroke-width: 2; } .ring { stroke: var(--text); }
svg .note { paint-order: stroke; stroke: var(--card); stroke-width: 3px; }
.bar { fill: var(--s0); } .cell { fill: var(--s0); }
.d1 { fill-opacity: .18; } .d2 { fill-opacity: .36; } .d3 { fill-opacity: .56; }
.d4 { fill-opacity: .78; }
.part { stroke: var(--card); }
@media (max-width: 480px) { svg text { font-size: 13px; } h1 { font-size: 1.5rem; } }
@media print { :root { --back: #fff; --card: #fff; --text: #000; --dim: #444; --line: #bbb;
    --good: #0b6b3a; --bad: #b3261e; --s0: #0072b2; --s1: #d55e00; --s2: #00805d; --s3: #aa3377;
    --s4: #8a6a00; --s5: #332288; --s6: #555b63; --s7: #882255; }
  body { font-size: 10pt; } .skip { display: none; } main, header, footer { max-width: none; }
  .grid { grid-template-columns: 1fr 1fr; } .scroll { overflow: visible; }
  table { font-size: 8pt; } th, td { padding: .2rem .25rem; } tr { break-inside: avoid; }
  h2 { break-after: avoid; } details::details-content { content-visibility: visible; height: auto; } }
)css";

}  // namespace

std::string style() {
  std::string css = kStyle;
  for (std::size_t i = 0; i < svg::kSeries; ++i)
    css += fmt::format(
        ".curve.s{0}, .end.s{0} {{ stroke: var(--s{0}); }} .marker.s{0} {{ fill: var(--s{0}); "
        "stroke: var(--s{0}); }}\n",
        i);
  for (std::size_t i = 1; i < svg::kSeries; ++i)
    css += fmt::format(".curve.s{} {{ stroke-dasharray: {} {}; }}\n", i, 3 + 2 * i, 2 + i % 3);
  css += ".marker.s4, .marker.s5 { fill: none; stroke-width: 2; }\n";
  // Parts of bars keep white numbers readable in both schemes.
  const char* parts[] = {"#0072b2", "#b34700", "#00704f", "#99306b", "#755a00",
                         "#332288", "#505760", "#882255", "#1f6f8b", "#6b6f75"};
  for (std::size_t p = 0; p < std::size(parts); ++p)
    css += fmt::format(".p{0} {{ fill: {1}; background: {1}; }}\n", p, parts[p]);
  return css;
}

}  // namespace trireme::html
