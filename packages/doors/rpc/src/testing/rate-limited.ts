import type { Script, Scripted } from './scripted-node.ts';

const REFUSAL: Scripted = { error: { code: 429, message: 'Too many requests' } };

/** Returns a script that answers as the given one within a token bucket, and refuses every further call of a batch or alone. */
export function rateLimited(
  { perSecond, burst = perSecond }: { readonly perSecond: number; readonly burst?: number },
  script: Script = () => undefined,
): { readonly script: Script; readonly refused: () => number } {
  let tokens = burst;
  let at = performance.now();
  let refused = 0;
  return {
    refused: () => refused,
    script(call) {
      const now = performance.now();
      tokens = Math.min(burst, tokens + ((now - at) / 1_000) * perSecond);
      at = now;
      if (tokens < 1) {
        refused++;
        return REFUSAL;
      }
      tokens--;
      return script(call);
    },
  };
}
