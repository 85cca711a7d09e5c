import {
  type AbiEvent,
  type AbiFunction,
  abiEvent,
  abiFunction,
  isIdentifier,
  typeNamed,
  withoutIndex,
} from './abi-entry.ts';

const LENGTH_MAX = 4_096;
const NESTING_MAX = 8;

/** `transfer(address,uint256)` or `function transfer(address to, uint256 amount)`; else null. */
export function parseSignature(text: string): AbiFunction | null {
  const parsed = parseDeclaration(text.replace(/^function\s+/, ''));
  if (parsed === null || parsed.inputs.some(({ isIndexed }) => isIndexed)) return null;
  return abiFunction(parsed.name, parsed.inputs.map(withoutIndex));
}

/** `event Transfer(address indexed from, address indexed to, uint256 value)`; else null. */
export function parseEventSignature(text: string): AbiEvent | null {
  const [, declaration] = /^event\s+(.*)$/s.exec(text) ?? [];
  const parsed = declaration === undefined ? null : parseDeclaration(declaration);
  return parsed === null ? null : abiEvent(parsed.name, parsed.inputs);
}

type Input = AbiEvent['inputs'][number];

function parseDeclaration(text: string): { readonly name: string; readonly inputs: readonly Input[] } | null {
  if (text.length > LENGTH_MAX) return null;
  const open = text.indexOf('(');
  const name = text.slice(0, Math.max(0, open)).trim();
  if (!isIdentifier(name)) return null;
  const rest = { text, at: open };
  const inputs = readTuple(rest, 0);
  return inputs === null || text.slice(rest.at).trim() !== '' ? null : { name, inputs };
}

type Reading = { readonly text: string; at: number };

function readTuple(reading: Reading, nesting: number): Input[] | null {
  if (nesting > NESTING_MAX) return null;
  reading.at += 1;
  skipSpace(reading);
  if (reading.text[reading.at] === ')') {
    reading.at += 1;
    return [];
  }
  for (const inputs: Input[] = []; ; ) {
    const input = readInput(reading, nesting);
    if (input === null) return null;
    inputs.push(input);
    const sign = reading.text[reading.at];
    if (sign === ')') {
      reading.at += 1;
      return inputs;
    }
    if (sign !== ',') return null;
    reading.at += 1;
  }
}

function readInput(reading: Reading, nesting: number): Input | null {
  skipSpace(reading);
  const isTuple = reading.text[reading.at] === '(' || reading.text.startsWith('tuple(', reading.at);
  if (isTuple && reading.text[reading.at] === 't') reading.at += 'tuple'.length;
  const members = isTuple ? readTuple(reading, nesting + 1) : null;
  if (isTuple && members === null) return null;
  const base = isTuple ? 'tuple' : take(reading, /[a-z]+\d*/y);
  const type = typeNamed(`${base}${take(reading, /(?:\[\d*\])*/y)}`);
  if (type === null) return null;
  const words = take(reading, /[\s\w$]*/y)
    .trim()
    .split(/\s+/)
    .filter((word) => word !== '' && !LOCATIONS.has(word));
  const isIndexed = words[0] === 'indexed';
  const [name = '', ...others] = isIndexed ? words.slice(1) : words;
  if (others.length > 0 || (name !== '' && !isIdentifier(name))) return null;
  return { name, type, isIndexed, ...(members !== null && { components: members.map(withoutIndex) }) };
}

const LOCATIONS = new Set(['memory', 'calldata', 'storage', 'payable']);

function skipSpace(reading: Reading): void {
  take(reading, /\s*/y);
}

function take(reading: Reading, pattern: RegExp): string {
  pattern.lastIndex = reading.at;
  const [found = ''] = pattern.exec(reading.text) ?? [];
  reading.at += found.length;
  return found;
}
