/** Replaces the parts of a response that differ from run to run. */

/** The time of the chain's first block in examples. Unix seconds. */
const SHOWN_START = Date.UTC(2026, 0, 1) / 1_000;
/** The chain is shorter than this: later times are those of requests. Seconds. */
const CHAIN_SECONDS_MAX = 80_000;
const NOW = SHOWN_START + CHAIN_SECONDS_MAX;
/** ISO 8601, or seconds or milliseconds since 1970. */
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|\+00:00)|\b\d{10}(?:\d{3})?\b/g;
const REPLACED: readonly (readonly [RegExp, string])[] = [
  // They contain times.
  [/"(block_?hash|parent_?hash|state_?root|receipts_?root|mix_?hash)":"0x[0-9a-f]{64}"/gi, '"$1":"0x…"'],
  [/"hash":"0x[0-9a-f]{64}"(?=,"(?:parent_?hash|timestamp)")/gi, '"hash":"0x…"'],
  [/http:\/\/127\.0\.0\.1:\d+\/webhook/g, 'https://example.com/webhook'],
  [/"(secretKey)":"[^"]*"/g, '"$1":"…"'],
  [/"uptime":[\d.]+/g, '"uptime":60'],
  [/"walletAgeDays":\d+/g, '"walletAgeDays":1'],
  [/"cursor":"[^"]*"/g, '"cursor":"…"'],
  [/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '3fa85f64-5717-4562-b3fc-2c963f66afa6'],
];

/** @param chainStart unix seconds of the chain's first block */
export function createStableTexts(chainStart: number): { stable(text: string): string } {
  /** A time of the chain moves with its first block. */
  const moved = (text: string): string => {
    const isDigits = /^\d+$/.test(text);
    const seconds = isDigits ? Number(text.slice(0, 10)) : Math.floor(Date.parse(text) / 1_000);
    const since = seconds - chainStart;
    if (Math.abs(since) > 10 * CHAIN_SECONDS_MAX) return text;
    const shown = since < CHAIN_SECONDS_MAX ? SHOWN_START + since : NOW;
    if (isDigits) return `${shown}${text.slice(10)}`;
    return new Date(shown * 1_000).toISOString().slice(0, 19) + text.slice(19).replaceAll(/\d/g, '0');
  };
  return {
    stable: (text) =>
      REPLACED.reduce(
        (rest, [pattern, replacement]) => rest.replaceAll(pattern, replacement),
        text.replaceAll(TIME, moved),
      ),
  };
}
