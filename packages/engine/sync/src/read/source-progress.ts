import { type BlockSource, SourceError } from '@chainstead/sources';

/** A source may send bytes without end, and no block that can be used. */
const PROGRESS_MS = 300_000;

/** @returns a signal that aborts if `made` is not called for five minutes; `end` stops the watch */
export function watchProgress({ name }: Pick<BlockSource, 'name'>, progressMs: number = PROGRESS_MS) {
  const stalled = new AbortController();
  const what = `sent nothing to commit in ${progressMs / 1_000} s`;
  const abort = (): void => stalled.abort(new SourceError({ source: name, fault: 'unavailable', what }));
  const timer = setTimeout(abort, progressMs);
  timer.unref();
  return {
    stalled: stalled.signal,
    made: (): void => void timer.refresh(),
    end: (): void => clearTimeout(timer),
  };
}
