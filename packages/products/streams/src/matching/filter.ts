import { getOrCompute } from '@chainstead/core';
import { keccak256 } from 'viem/utils';
import { comparableText, type FieldKind, type FieldValue, textHash } from './event-fields.ts';
import {
  type Comparison,
  type FilterProblem,
  type FilterShape,
  type FilterTest,
  type Literals,
  readFilterShape,
  scalarOf,
} from './filter-shape.ts';

export type { FilterProblem } from './filter-shape.ts';

export type ReadField = (field: string, bytesMax: number) => FieldValue | undefined;

export interface CompiledFilter {
  /** `read` may cut a value after `bytesMax` bytes: all literals are shorter. */
  passes(read: ReadField): boolean;
  /** At most, per log. */
  readonly work: FilterWork;
}

export interface FilterWork {
  readonly comparisons: number;
  /** Bytes of text and `bytes` that comparisons look at. */
  readonly bytes: number;
}

export const FILTER_VARIABLES = {
  contractAddress: 'moralis_streams_contract_address',
  chainId: 'moralis_streams_chain_id',
  possibleSpam: 'moralis_streams_possibleSpam',
} as const;

const VARIABLE_KINDS: ReadonlyMap<string, FieldKind> = new Map<string, FieldKind>([
  [FILTER_VARIABLES.contractAddress, { type: 'hex', bytes: 20 }],
  [FILTER_VARIABLES.chainId, { type: 'number' }],
  [FILTER_VARIABLES.possibleSpam, { type: 'bool' }],
]);

export type FieldKinds = ReadonlyMap<string, FieldKind>;

/** One event with the topic0 must fit: events may differ in indexed parameters. */
export function checkFilter(
  filter: unknown,
  events: readonly FieldKinds[],
  path: string,
): readonly FilterProblem[] {
  const { shape, problems } = readFilterShape(filter, path);
  if (shape === null) return problems;
  return [...comparisons(shape)].flatMap((comparison) => checkComparison(comparison, events));
}

/**
 * A comparison, even `ne` or `nin`, is false if the event lacks the parameter.
 * The empty filter passes everything, a malformed one nothing.
 */
export function compileFilter(filter: unknown, kinds: FieldKinds): CompiledFilter {
  const { shape, problems } = readFilterShape(filter, '');
  if (shape === null) return { passes: () => problems.length === 0, work: NO_WORK };
  const fields = new Map<string, ComparedField>();
  const { isTrue, work } = compileNode(nodeOf(shape, kinds), kinds, fields);
  return { passes: (read) => isTrue({ read, known: [] }), work };
}

interface ComparedField {
  readonly name: string;
  readonly place: number;
  /** Length of the longest literal of all comparisons. */
  bytes: number;
}

/** Parameters of one log. Each is read once: a filter may compare it a thousand times. */
interface LogValues {
  readonly read: ReadField;
  /** By place of the field. Null: the log has no such value. */
  readonly known: (FieldValue | null)[];
}

interface CompiledNode {
  isTrue(values: LogValues): boolean;
  readonly work: FilterWork;
}

/** Null: never true. */
type FilterNode = Comparing | Joined | null;

interface Comparing {
  readonly field: string;
  readonly test: FilterTest;
  readonly literals: Literals;
}

interface Joined {
  readonly op: 'and' | 'or';
  readonly members: readonly FilterNode[];
}

const NO_WORK: FilterWork = { comparisons: 0, bytes: 0 };

function nodeOf(shape: FilterShape, kinds: FieldKinds): FilterNode {
  if ('field' in shape) return comparingOf(shape, kinds);
  const { op } = shape;
  const members = shape.members
    .map((member) => nodeOf(member, kinds))
    .flatMap((node) => (node !== null && 'members' in node && node.op === op ? node.members : [node]));
  return { op, members: joined(op, members) };
}

function comparingOf({ operator: { test }, field, values }: Comparison, kinds: FieldKinds): Comparing | null {
  const kind = kindOf(field, kinds);
  if (kind === undefined || (test.isOrder && kind.type !== 'number')) return null;
  const literals = values.map(({ value }) => literalOf(kind, value)).filter((literal) => literal !== null);
  return literals.length === values.length ? { field, test, literals } : null;
}

/** A thousand comparisons of one parameter are one look-up. */
function joined(op: Joined['op'], members: readonly FilterNode[]): FilterNode[] {
  const others: FilterNode[] = [];
  const comparing = new Map<string, Map<FilterTest, Literals[]>>();
  for (const node of members) {
    if (node === null || 'members' in node) others.push(node);
    else {
      const ofField = getOrCompute(comparing, node.field, () => new Map<FilterTest, Literals[]>());
      getOrCompute(ofField, node.test, () => []).push(node.literals);
    }
  }
  const tests = [...comparing].flatMap(([field, byTest]) =>
    Array.from(byTest, ([test, lists]): Comparing => ({ field, test, literals: test.join(op, lists) })),
  );
  return [...tests, ...others];
}

function compileNode(node: FilterNode, kinds: FieldKinds, fields: Map<string, ComparedField>): CompiledNode {
  if (node === null) return { isTrue: () => false, work: NO_WORK };
  if ('members' in node) {
    const members = node.members.map((member) => compileNode(member, kinds, fields));
    const decisive = node.op === 'or';
    return {
      isTrue(values) {
        for (const member of members) if (member.isTrue(values) === decisive) return decisive;
        return !decisive;
      },
      work: sumOfWork(members.map(({ work }) => work)),
    };
  }
  const { test, literals } = node;
  const bytes = longestOf(literals, kindOf(node.field, kinds));
  const field = getOrCompute(fields, node.field, () => ({ name: node.field, place: fields.size, bytes }));
  field.bytes = Math.max(field.bytes, bytes);
  const isTrue = test.compile(literals);
  return {
    isTrue(values) {
      const value = readOnce(values, field);
      return value !== null && isTrue(value);
    },
    work: { comparisons: 1, bytes },
  };
}

function readOnce({ read, known }: LogValues, { name, place, bytes }: ComparedField): FieldValue | null {
  const before = known[place];
  if (before !== undefined) return before;
  const value = read(name, bytes) ?? null;
  known[place] = value;
  return value;
}

const BYTES_PER_UNIT = 64;

/** The units of a `WorkBudget`. */
export function unitsOfWork({ comparisons, bytes }: FilterWork): number {
  return comparisons + bytes / BYTES_PER_UNIT;
}

export function sumOfWork(all: readonly FilterWork[]): FilterWork {
  return all.reduce(
    (sum, { comparisons, bytes }) => ({
      comparisons: sum.comparisons + comparisons,
      bytes: sum.bytes + bytes,
    }),
    NO_WORK,
  );
}

export function mostWork(all: readonly FilterWork[]): FilterWork {
  return {
    comparisons: Math.max(0, ...all.map(({ comparisons }) => comparisons)),
    bytes: Math.max(0, ...all.map(({ bytes }) => bytes)),
  };
}

const UTF8_BYTES_PER_UNIT = 3;

/** Bytes of a value that may equal a literal. 0 for values that take one word. */
function longestOf(literals: Literals, kind: FieldKind | undefined): number {
  const isText = kind?.type === 'text';
  if (!isText && !(kind?.type === 'hex' && kind.bytes === null)) return 0;
  const longest = literals.reduce<number>((most, literal) => Math.max(most, String(literal).length), 0);
  return isText ? UTF8_BYTES_PER_UNIT * longest : Math.max(0, longest / 2 - 1);
}

function kindOf(field: string, kinds: FieldKinds): FieldKind | undefined {
  return VARIABLE_KINDS.get(field) ?? kinds.get(field);
}

function* comparisons(shape: FilterShape): Generator<Comparison> {
  if ('field' in shape) yield shape;
  else for (const member of shape.members) yield* comparisons(member);
}

function checkComparison(comparison: Comparison, events: readonly FieldKinds[]): readonly FilterProblem[] {
  const { op, operator, field, path, values } = comparison;
  const variable = VARIABLE_KINDS.get(field);
  const kinds = variable === undefined ? events.flatMap((event) => event.get(field) ?? []) : [variable];
  if (kinds.length === 0) {
    const message = 'is not a parameter of the event that can be compared';
    return [{ path: `${path}.${op}.0`, message, value: field }];
  }
  const perKind = kinds.map((kind): FilterProblem[] => {
    if (operator.test.isOrder && kind.type !== 'number')
      return [{ path: `${path}.${op}`, message: `${op} compares numbers only`, value: field }];
    return values
      .filter(({ value }) => literalOf(kind, value) === null)
      .map(({ value, path: at }) => ({ path: at, message: `must be ${nameOf(kind)}`, value: scalarOf(value) }));
  });
  return perKind.reduce((fewest, problems) => (problems.length < fewest.length ? problems : fewest));
}

function nameOf(kind: FieldKind): string {
  switch (kind.type) {
    case 'number':
      return 'a whole number, decimal or hexadecimal';
    case 'bool':
      return 'true or false';
    case 'text':
      return 'text';
    case 'hash':
      return kind.of === 'text' ? 'text' : 'hexadecimal bytes or their keccak256';
    case 'hex':
      return kind.bytes === null ? 'hexadecimal bytes' : `hexadecimal, ${kind.bytes} bytes`;
  }
}

const NUMBER = /^-?(?:\d{1,100}|0x[0-9a-f]{1,64})$/i;
const BYTES = /^0x(?:[0-9a-f]{2})*$/i;
const TEXT_LENGTH_MAX = 10_000;
const BOOLEANS = new Map<string | null, boolean>([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
]);

/** Null: not a value of this kind. */
function literalOf(kind: FieldKind, value: unknown): FieldValue | null {
  switch (kind.type) {
    case 'number':
      if (typeof value === 'number') return Number.isInteger(value) ? BigInt(value) : null;
      if (typeof value !== 'string' || !NUMBER.test(value)) return null;
      return value.startsWith('-') ? -BigInt(value.slice(1)) : BigInt(value);
    case 'bool':
      return BOOLEANS.get(textOf(value, (text) => text.toLowerCase())) ?? null;
    case 'text':
      return textOf(value, comparableText);
    case 'hex':
      return hexOf(value, kind.bytes);
    case 'hash': {
      const hash = hexOf(value, 32);
      if (hash !== null || kind.of === 'text') return hash ?? textOf(value, textHash);
      const bytes = hexOf(value, null);
      return bytes === null ? null : keccak256(bytes as `0x${string}`);
    }
  }
}

function textOf(value: unknown, normalise: (text: string) => string): string | null {
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') return null;
  const text = String(value);
  return text.length > TEXT_LENGTH_MAX ? null : normalise(text);
}

function hexOf(value: unknown, bytes: number | null): string | null {
  if (typeof value !== 'string' || !BYTES.test(value)) return null;
  return bytes === null || value.length === 2 + 2 * bytes ? value.toLowerCase() : null;
}
