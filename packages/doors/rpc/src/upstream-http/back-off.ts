/** Doubles with each try. Half is random (0 to 1): callers don't return together. */
export function backOffMs(tries: number, baseMs: number, maxMs: number, random: number): number {
  const full = Math.min(maxMs, baseMs * 2 ** Math.min(30, tries));
  return full / 2 + (full / 2) * random;
}

export function parseRetryAfter(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined;
  const text = header.trim();
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1000;
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
