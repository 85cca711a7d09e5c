/** The exact bodies of refusals (docs/api/index.md#errors). */

export interface RefusalBody {
  readonly message: string;
  readonly details?: object;
}

export const BLOCK = 'a block number (a whole number from 0 to 9007199254740991)';
export const DATE =
  'a date (2024-01-31, 2024-01-31T12:00:00Z, 2024/01/31 12:00, 20240131, Jan 31, 2024, RFC 2822, Unix seconds or milliseconds)';
export const CHAIN = 'a known chain by name (eth, base, bsc testnet, …), hexadecimal or decimal id';
export const CURSOR = 'the cursor of an earlier page of this query, unchanged';
const ADDRESS = 'a hexadecimal address (0x and 40 digits)';
const TOKEN_ID = 'a token id (a whole number from 0 to 2^256 − 1, decimal or hexadecimal with 0x)';
/** Characters of what was given that are repeated. */
const SHOWN = 120;

/** A text as it is repeated. */
export const shown = (given: string): string => (given.length > SHOWN ? `${given.slice(0, SHOWN)}…` : given);

/** One parameter with a value that it can't have. */
export function mustBe(parameter: string, given: string | number, allowed: string): RefusalBody {
  const repeated = typeof given === 'string' ? shown(given) : given;
  return {
    message: `${parameter} must be ${allowed}, ${JSON.stringify(repeated)} was given`,
    details: { errors: [{ parameter, given: repeated, allowed }] },
  };
}

/** For a page of so many rows at most. */
export const limitUpTo = (max: number): string => `a whole number from 1 (above ${max} means ${max})`;

export function invalidAddress(parameter: string, given: string): RefusalBody {
  return {
    message: '[C0005] Invalid address provided',
    details: { errors: [{ parameter, given: shown(given), allowed: ADDRESS }] },
  };
}

export function invalidTokenId(given: string): RefusalBody {
  return {
    message: '[C0005] Invalid TokenId provided',
    details: { errors: [{ parameter: 'token_id', given: shown(given), allowed: TOKEN_ID }] },
  };
}

/** One parameter that was given several times. */
export function onlyOnce(parameter: string, given: readonly string[]): RefusalBody {
  return {
    message: `${parameter} may be given once, it was given ${given.length} times`,
    details: { errors: [{ parameter, given }] },
  };
}

export function required(...parameters: readonly string[]): RefusalBody {
  return {
    message: parameters.map((parameter) => `${parameter} is required`).join(', '),
    details: { errors: parameters.map((parameter) => ({ parameter })) },
  };
}

/** @param given the list as in the query */
export function tooMany(parameter: string, given: string): RefusalBody {
  return {
    message: `${parameter}: at most 100 items`,
    details: { errors: [{ parameter, given: shown(given) }] },
  };
}

/** A body's list. @param texts of all rules that it breaks */
export function badList(list: string, ...texts: readonly string[]): RefusalBody {
  return { message: texts.join(', '), details: { errors: [{ parameter: list }] } };
}

export function notIndexedChain(key: string): RefusalBody {
  return {
    message: `Chain ${key} is not indexed here: add it to CHAINS (CHAINS=${key},…) and restart`,
    details: { reason: 'not-indexed', configuration_key: 'CHAINS' },
  };
}

/** A 404. */
export function notThere(message: string, status: string): RefusalBody {
  return { message, details: { status } };
}
