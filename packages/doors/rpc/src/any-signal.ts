/** Aborts with the first of two signals, of which a caller may give none. */
export function anySignal(own: AbortSignal, given: AbortSignal | undefined): AbortSignal {
  return given === undefined ? own : AbortSignal.any([given, own]);
}
