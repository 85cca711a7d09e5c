/** Requests of the first clients are not held up. Milliseconds. */
const AFTER_READY_MS = 5_000;

/**
 * Gives memory that only the start needed back to the system, some seconds from now: 35 to 65 MB of a process. New objects of the start enlarge their
 * space, whose pages V8 keeps when it is empty, except in this kind of collection. It takes 150 ms. Does nothing without `--expose-gc`, which
 * bin/chainstead.js sets.
 */
export function releaseStartMemory(): void {
  const collect = globalThis.gc;
  if (collect === undefined) return;
  const release = (): void => collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  setTimeout(release, AFTER_READY_MS).unref();
}
