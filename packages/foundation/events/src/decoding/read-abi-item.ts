import {
  type AbiEvent,
  type AbiFunction,
  type AbiType,
  abiEvent,
  abiFunction,
  isIdentifier,
  typeNamed,
  withoutIndex,
} from './abi-entry.ts';

export type AbiEntry =
  | { readonly kind: 'function'; readonly entry: AbiFunction }
  | { readonly kind: 'event'; readonly entry: AbiEvent };

type Input = AbiEvent['inputs'][number];

type ReadInput = { readonly input: Input } | { readonly problem: string };

export interface AbiReading {
  /** No log names them: they are decoded by their emitter. @default false */
  readonly anonymousEvents?: boolean;
  /** `view` and `pure`. @default true */
  readonly viewFunctions?: boolean;
  /** Events that differ only in which parameters are indexed, not in number. @default false */
  readonly everyLayout?: boolean;
}

const INPUTS_MAX = 256;
const TYPES_MAX = 2_048;
const NESTING_MAX = 8;

/** Null: neither call nor event; a text: why it is invalid. Never throws. */
export function readAbiItem(item: unknown, reading: AbiReading = {}): AbiEntry | string | null {
  const given: { type?: unknown; name?: unknown; inputs?: unknown; anonymous?: unknown } = Object(item);
  // Functions may omit their type.
  const type = given.type ?? 'function';
  if (type !== 'function' && type !== 'event')
    return typeof type === 'string' && UNUSED.has(type) ? null : 'no item of an ABI';
  if (typeof given.name !== 'string' || !isIdentifier(given.name)) return 'a name that is no identifier';
  const isAnonymous = given.anonymous === true;
  if (isAnonymous && reading.anonymousEvents !== true) return 'an anonymous event';
  const inputs = readInputs(given.inputs ?? [], { left: TYPES_MAX }, 0);
  if (typeof inputs === 'string') return inputs;
  if (type === 'event') return { kind: type, entry: abiEvent(given.name, inputs, isAnonymous) };
  if (reading.viewFunctions === false && isView(item)) return null;
  return { kind: type, entry: abiFunction(given.name, inputs.map(withoutIndex)) };
}

/** Compilers before Solidity 0.6 wrote `constant`. */
export function isView(item: unknown): boolean {
  const { stateMutability, constant }: { stateMutability?: unknown; constant?: unknown } = Object(item);
  return stateMutability === 'view' || stateMutability === 'pure' || constant === true;
}

export function abiItemJson({ kind, entry }: AbiEntry): string {
  return JSON.stringify({
    ...{ type: kind, name: entry.name, inputs: entry.inputs.map(inputJson) },
    ...(kind === 'event' && entry.isAnonymous && { anonymous: true }),
  });
}

const UNUSED: ReadonlySet<string> = new Set(['constructor', 'error', 'fallback', 'receive']);

function readInputs(given: unknown, budget: { left: number }, nesting: number): Input[] | string {
  if (!Array.isArray(given)) return 'arguments that are no list';
  if (nesting > NESTING_MAX) return `tuples in more than ${NESTING_MAX} levels`;
  if (given.length > INPUTS_MAX) return `more than ${INPUTS_MAX} arguments`;
  const inputs: Input[] = [];
  for (const each of given) {
    budget.left -= 1;
    if (budget.left < 0) return `more than ${TYPES_MAX} arguments and members of tuples`;
    const read = readInput(each, budget, nesting);
    if ('problem' in read) return read.problem;
    inputs.push(read.input);
  }
  return inputs;
}

function readInput(given: unknown, budget: { left: number }, nesting: number): ReadInput {
  const {
    name,
    type,
    components,
    indexed,
  }: Partial<Record<'name' | 'type' | 'components' | 'indexed', unknown>> = Object(given);
  // Some compilers omit empty names.
  const shownName = name ?? '';
  if (typeof shownName !== 'string' || (shownName !== '' && !isIdentifier(shownName)))
    return { problem: 'a name that is no identifier' };
  const known = typeof type === 'string' ? typeNamed(type) : null;
  if (known === null) return { problem: 'a type that no values are decoded of' };
  const isIndexed = indexed === true;
  if (!known.startsWith('tuple')) return { input: { name: shownName, type: known, isIndexed } };
  const members = readInputs(components, budget, nesting + 1);
  if (typeof members === 'string') return { problem: members };
  if (members.length === 0) return { problem: 'a tuple without members' };
  return { input: { name: shownName, type: known, isIndexed, components: members.map(withoutIndex) } };
}

function inputJson({ name, type, components, ...rest }: AbiType | Input): object {
  return {
    name,
    type,
    ...('isIndexed' in rest && rest.isIndexed && { indexed: true }),
    ...(components !== undefined && { components: components.map(inputJson) }),
  };
}
