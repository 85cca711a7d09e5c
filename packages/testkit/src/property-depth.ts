/** How deep properties over a database are searched, by the variable PROPERTY_DEPTH: half in `npm test`, where a run of one takes seconds, 2 in CI. */
const PROPERTY_DEPTH = Number(process.env.PROPERTY_DEPTH ?? 0.5);

/** Runs of a property, or the milliseconds that they get: as many as given, times the depth of the search. */
export function atDepth(usual: number): number {
  return Math.ceil(usual * PROPERTY_DEPTH);
}
