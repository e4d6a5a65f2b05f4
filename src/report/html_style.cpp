// SPDX-License-Identifier: BSD-3-Clause
// The page on a screen of any width, light or dark, and on paper.
#include "report/html_parts.hpp"
#include "report/svg_style.hpp"

namespace trireme::html {
namespace {

constexpr const char* kStyle = R"css(
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
/* Shadows at the sides where a table goes on; covers that scroll with it hide them at its ends. */
.scroll { overflow-x: auto; margin: .5rem 0 1rem;
  background: linear-gradient(90deg, var(--back) 40%, transparent) 0 0 / 3rem 100% no-repeat local,
    linear-gradient(270deg, var(--back) 40%, transparent) 100% 0 / 3rem 100% no-repeat local,
    linear-gradient(90deg, var(--shade), transparent) 0 0 / 1.1rem 100% no-repeat scroll,
    linear-gradient(270deg, var(--shade), transparent) 100% 0 / 1.1rem 100% no-repeat scroll; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; color: var(--dim); padding-bottom: .3rem; }
th, td { padding: .35rem .5rem; text-align: right; border-bottom: 1px solid var(--line);
  white-space: nowrap; }
thead th { color: var(--dim); font-weight: 500; vertical-align: bottom; }
th.text, td.text { text-align: left; }
.facts th { width: 11rem; color: var(--dim); font-weight: 500; vertical-align: top; }
.facts td { text-align: left; white-space: normal; }
.grid { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, max(21rem, 34%)), 1fr));
  gap: 1rem; }
figure { margin: 0; background: var(--card); border: 1px solid var(--line); border-radius: 8px;
  padding: .8rem; min-width: 0; break-inside: avoid; }
figcaption { display: flex; flex-wrap: wrap; justify-content: space-between; column-gap: 1rem; }
figcaption .dim, figcaption .legend { flex-basis: 100%; } .save { margin: 0; font-size: .85rem; }
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
@media (max-width: 480px) { svg text { font-size: 13px; } h1 { font-size: 1.5rem; } }
@media print { body { font-size: 10pt; } .skip, .save { display: none; }
  main, header, footer { max-width: none; } .grid { grid-template-columns: 1fr 1fr; }
  .scroll { overflow: visible; background: none; } table { font-size: 8pt; width: auto; min-width: 60%; }
  th, td { padding: .2rem .25rem; } thead th, td.text { white-space: normal; overflow-wrap: normal; }
  tr, .legend { break-inside: avoid; }
  h2, h3, caption, summary, thead, .legend { break-after: avoid; }
  details::details-content { content-visibility: visible; height: auto; } }
)css";

}  // namespace

std::string style() { return svg::page_style() + kStyle; }

}  // namespace trireme::html
