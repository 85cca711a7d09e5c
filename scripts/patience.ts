/** For how many milliseconds tests wait for a state that they have not said more about: longer than a busy machine stalls. */
export const PATIENCE_MS = 15_000;
