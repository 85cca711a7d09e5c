import type { Script, Scripted } from './scripted-node.ts';

const REFUSAL: Scripted = { error: { code: 429, message: 'Too many requests' } };

/** Returns a script that answers as the given one within a token bucket, and refuses every further call of a batch or alone. */
export function rateLimited(
  {
    perSecond,
    burst = perSecond,
    now: clock = () => performance.now(),
  }: { readonly perSecond: number; readonly burst?: number; readonly now?: () => number },
  script: Script = () => undefined,
): { readonly script: Script; readonly refused: () => number } {
  let tokens = burst;
  let at = clock();
  let refused = 0;
  return {
    refused: () => refused,
    script(call) {
      const now = clock();
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
