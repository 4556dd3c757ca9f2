// The part of D3 that Observable Plot draws with, in the place of its index: that takes animations,
// which run code when they are loaded and so cannot be left out by the bundler, and is taken with
// all of its maps, which Plot names and the page never draws.
export * from "d3-array";
export * from "d3-axis";
export * from "d3-color";
export * from "d3-format";
export * from "d3-interpolate";
export * from "d3-path";
export * from "d3-random";
export * from "d3-scale";
export * from "d3-scale-chromatic";
export * from "d3-selection";
export * from "d3-shape";
export * from "d3-time";
export * from "d3-time-format";

const noMap = () => undefined;
export {
  noMap as geoAlbers,
  noMap as geoAlbersUsa,
  noMap as geoAzimuthalEqualArea,
  noMap as geoAzimuthalEquidistant,
  noMap as geoClipRectangle,
  noMap as geoConicConformal,
  noMap as geoConicEqualArea,
  noMap as geoConicEquidistant,
  noMap as geoEqualEarth,
  noMap as geoEquirectangular,
  noMap as geoGnomonic,
  noMap as geoMercator,
  noMap as geoOrthographic,
  noMap as geoPath,
  noMap as geoStereographic,
  noMap as geoStream,
  noMap as geoTransform,
  noMap as geoTransverseMercator,
};
