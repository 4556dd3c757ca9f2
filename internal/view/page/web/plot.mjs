// The part of Observable Plot that the page draws with, in the place of its index: that has every
// mark there is, maps and triangulations among them, and would make each page a third larger. The
// build fails where a view draws with what is missing: add it here.
export { plot } from "./node_modules/@observablehq/plot/src/plot.js";
export { areaX, areaY } from "./node_modules/@observablehq/plot/src/marks/area.js";
export { axisX, axisY, gridX, gridY } from "./node_modules/@observablehq/plot/src/marks/axis.js";
export { barX, barY } from "./node_modules/@observablehq/plot/src/marks/bar.js";
export { cell } from "./node_modules/@observablehq/plot/src/marks/cell.js";
export { dot } from "./node_modules/@observablehq/plot/src/marks/dot.js";
export { line, lineX, lineY } from "./node_modules/@observablehq/plot/src/marks/line.js";
export { link } from "./node_modules/@observablehq/plot/src/marks/link.js";
export { rect, rectX, rectY } from "./node_modules/@observablehq/plot/src/marks/rect.js";
export { ruleX, ruleY } from "./node_modules/@observablehq/plot/src/marks/rule.js";
export { text, textX, textY } from "./node_modules/@observablehq/plot/src/marks/text.js";
export { tickX, tickY } from "./node_modules/@observablehq/plot/src/marks/tick.js";
export { stackX, stackY } from "./node_modules/@observablehq/plot/src/transforms/stack.js";
