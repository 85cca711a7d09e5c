import { normalize } from 'viem/ens';

const LENGTH_MAX = 1_000;

/** A name as ENSIP-15 normalises it; null where it does not: two names that look alike might lead to different accounts. */
export function normalName(given: string): string | null {
  if (given === '' || given.length > LENGTH_MAX) return null;
  try {
    const name = normalize(given);
    return name === '' ? null : name;
  } catch {
    // The library throws plain errors for what has no normal form: that is the answer.
    return null;
  }
}

/** Decodes the library's tables, which takes about 0.4 s of a processor: at the start of the API, not in its first request. */
export function prepareNames(): void {
  normalize('a');
}
