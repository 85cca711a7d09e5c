/** As lenient as geth's decoders (common/hexutil, rpc/types.go). */
import { isObject } from '@chainstead/core';

const HASH = /^0[xX][0-9a-fA-F]{64}$/;
const ADDRESS = /^0[xX][0-9a-fA-F]{40}$/;
const QUANTITY = /^0[xX](?:0|[1-9a-fA-F][0-9a-fA-F]{0,63})$/;
const NUMBER_64 = /^0[xX](?:0|[1-9a-fA-F][0-9a-fA-F]{0,15})$/;
const WORD = /^0[xX][0-9a-fA-F]{1,64}$/;
const BYTES = /^0[xX](?:[0-9a-fA-F]{2})*$/;
const BLOCK_NUMBER = /^0[xX](?:0|[1-7][0-9a-fA-F]{15}|[1-9a-fA-F][0-9a-fA-F]{0,14})$/;
const TAGS: ReadonlySet<unknown> = new Set(['latest', 'earliest', 'pending', 'safe', 'finalized']);

const TAG_LIST = 'latest, earliest, pending, safe, finalized';
const BLOCK_RULE = `a hexadecimal number without leading zeros, or one of ${TAG_LIST}`;

export function matching(pattern: RegExp, name: string, rule: string): Check {
  return (value) => (typeof value === 'string' && pattern.test(value) ? null : mustBe(name, rule, value));
}

export function hash(name: string): Check {
  return matching(HASH, name, '0x and 64 hexadecimal digits');
}

export function address(name: string): Check {
  return matching(ADDRESS, name, '0x and 40 hexadecimal digits');
}

export function quantity(name: string): Check {
  return matching(QUANTITY, name, 'a hexadecimal number without leading zeros');
}

/** Up to 256 bits. Some clients send all 32 bytes, with leading zeros. */
export function word(name: string): Check {
  return matching(WORD, name, '0x and up to 64 hexadecimal digits');
}

export function number64(name: string): Check {
  return matching(NUMBER_64, name, 'a hexadecimal number of up to 64 bits without leading zeros');
}

export function bytes(name: string): Check {
  return matching(BYTES, name, '0x and an even number of hexadecimal digits');
}

export function boolean(name: string): Check {
  return (value) => (typeof value === 'boolean' ? null : mustBe(name, 'true or false', value));
}

export function isNumberText(value: unknown): boolean {
  return typeof value === 'string' && /^(?:0[xX][0-9a-fA-F]{1,16}|\d{1,19})$/.test(value);
}

function isBlockTag(value: unknown): value is string {
  return TAGS.has(value);
}

export function isBlockNumber(value: unknown): value is string {
  return typeof value === 'string' && BLOCK_NUMBER.test(value);
}

function isHash(value: unknown): value is string {
  return typeof value === 'string' && HASH.test(value);
}

export function block(name: string): Check {
  return (value) => (isBlockTag(value) || isBlockNumber(value) ? null : mustBe(name, BLOCK_RULE, value));
}

export function blockOrHash(name: string): Check {
  const rule = `${BLOCK_RULE}, or a hash, or an object with blockNumber or blockHash`;
  return (value) => {
    if (isBlockTag(value) || isBlockNumber(value) || isHash(value)) return null;
    if (!isObject(value)) return mustBe(name, rule, value);
    const problem = blockMembers(value);
    if (problem !== null) return problem;
    const hasNumber = !isAbsent(value.blockNumber);
    const hasHash = !isAbsent(value.blockHash);
    if (hasNumber && hasHash) return 'cannot specify both BlockHash and BlockNumber, choose one or the other';
    return hasNumber || hasHash ? null : 'blockNumber or blockHash is missing';
  };
}

const blockMembers = membersOf('block', {
  blockNumber: block('blockNumber'),
  blockHash: hash('blockHash'),
  requireCanonical: boolean('requireCanonical'),
});

export function listOf(name: string, element: Check, lengthMax: number): Check {
  return (value) => {
    if (!Array.isArray(value)) return mustBe(name, 'an array', value);
    if (value.length > lengthMax) return `${name} may have ${lengthMax} elements, ${value.length} were given`;
    for (const item of value) {
      const problem = element(item);
      if (problem !== null) return problem;
    }
    return null;
  };
}

/** No other members: nodes may read them, and the error classifier reads echoed text. */
export function membersOf(name: string, members: Readonly<Record<string, Check>>): Check {
  const checks = new Map(Object.entries(members));
  const bySmallName = new Map([...checks.keys()].map((member) => [member.toLowerCase(), member]));
  return (value) => {
    if (!isObject(value)) return mustBe(name, 'an object', value);
    for (const [given, member] of Object.entries(value)) {
      const check = checks.get(given);
      if (check === undefined) {
        const spelling = bySmallName.get(given.toLowerCase());
        return `${name} has no member ${shown(given)}${spelling === undefined ? '' : `; it is written ${spelling}`}`;
      }
      const problem = isAbsent(member) ? null : check(member);
      if (problem !== null) return problem;
    }
    return null;
  };
}

export function mapOf(name: string, checkKey: Check, checkMember: Check): Check {
  return (value) => {
    if (!isObject(value)) return mustBe(name, 'an object', value);
    for (const [key, member] of Object.entries(value)) {
      const problem = checkKey(key) ?? checkMember(member);
      if (problem !== null) return problem;
    }
    return null;
  };
}

/** A sentence with the parameter's name; null if valid. */
export type Check = (value: unknown) => string | null;

export interface MethodParameter {
  readonly check: Check;
  readonly isOptional?: boolean;
  /** Default for nodes that require a value. */
  readonly fill?: unknown;
  readonly name: string;
}

const GIVEN_LENGTH_MAX = 80;

export function mustBe(name: string, rule: string, given: unknown): string {
  return `${name} must be ${rule}, ${shown(given)} was given`;
}

export function shown(given: unknown): string {
  // Only flat values: nesting may be as deep as the body is long.
  if (typeof given === 'object' && given !== null) return Array.isArray(given) ? 'an array' : 'an object';
  const text = JSON.stringify(given) ?? 'nothing';
  return text.length > GIVEN_LENGTH_MAX ? `${text.slice(0, GIVEN_LENGTH_MAX)}…"` : text;
}

export function isAbsent(value: unknown): value is null | undefined {
  return value === undefined || value === null;
}
