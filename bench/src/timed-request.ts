import { BenchmarkError } from './benchmark-error.ts';
import type { TimedRequest } from './compare-latency.ts';
import { readAnswer } from './wallet-page.ts';

/** The compared side may not compress: that is left out of the ratios. */
const PLAIN = { 'accept-encoding': 'identity' };

/** A request whose answer must be whole: a short one is quick. */
export function timed<T>(url: string, isWhole: (answer: T) => boolean, headers = PLAIN): TimedRequest {
  return async () => {
    const before = performance.now();
    const answer = await readAnswer<T>(url, headers);
    const took = performance.now() - before;
    if (!isWhole(answer)) throw new BenchmarkError(`${url} gave ${JSON.stringify(answer).slice(0, 500)}`);
    return took;
  };
}
