/** Mutants of a source text: every place in which one small change makes the program wrong, and a seeded choice among them. */
import { createHash } from 'node:crypto';
import { parseSync } from 'oxc-parser';
import type { SourceFile } from '../check/source-files.ts';

/** What a mutant changes. */
export const KINDS = ['comparison', 'condition', 'constant', 'await', 'order'] as const;
export type Kind = (typeof KINDS)[number];

/** One change of one file. */
export interface Mutant {
  /** File, kind, the changed text and its occurrence in the file: stable while other lines change. */
  readonly key: string;
  readonly path: string;
  readonly line: number;
  readonly kind: Kind;
  readonly from: string;
  readonly to: string;
  /** The mutated text of the file. */
  readonly text: string;
}

interface Edit {
  readonly kind: Kind;
  readonly start: number;
  readonly end: number;
  readonly to: string;
}

interface SyntaxNode {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [member: string]: unknown;
}

const FLIPPED: Readonly<Record<string, string>> = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '===': '!==',
  '!==': '===',
};
/** Larger constants are sizes and times, where one more or less makes no difference that a test should depend on. */
const CONSTANT_MAX = 64n;
const MUTANTS_PER_FILE = 2;
const SHOWN_CHARACTERS = 120;

/** Returns every mutant of a file. A change after which it doesn't parse is left out. @throws Error if the file doesn't parse */
export function makeMutants({ path, text }: SourceFile): Mutant[] {
  const { program, errors } = parseSync(path, text);
  if (errors[0] !== undefined) throw new Error(`${path} doesn't parse: ${errors[0].message}`);
  const occurrences = new Map<string, number>();
  return editsOf(program, text).flatMap(({ kind, start, end, to }) => {
    const mutated = text.slice(0, start) + to + text.slice(end);
    if (parseSync(path, mutated).errors.length > 0) return [];
    const from = shorten(text.slice(start, end));
    const name = `${path}:${kind}:${from}`;
    const occurrence = (occurrences.get(name) ?? 0) + 1;
    occurrences.set(name, occurrence);
    const line = text.slice(0, start).split('\n').length;
    return { key: `${name}#${occurrence}`, path, line, kind, from, to: shorten(to), text: mutated };
  });
}

/** Chooses mutants by a seed: equal shares of the kinds as far as there are any, and few of a file. */
export function chooseMutants(mutants: readonly Mutant[], seed: number, count: number): Mutant[] {
  const rank = new Map(
    mutants.map(({ key }) => [key, createHash('sha256').update(`${seed} ${key}`).digest('hex')]),
  );
  const rankOf = ({ key }: Mutant): string => rank.get(key) ?? '';
  const sorted = mutants.toSorted((one, other) => (rankOf(one) < rankOf(other) ? -1 : 1));
  const queues = KINDS.map((kind) => sorted.filter((mutant) => mutant.kind === kind));
  const perFile = new Map<string, number>();
  const chosen: Mutant[] = [];
  while (chosen.length < count && queues.some((queue) => queue.length > 0))
    for (const queue of queues) {
      const next = takeNext(queue, perFile);
      if (next !== undefined && chosen.length < count) chosen.push(next);
    }
  return chosen;
}

function takeNext(queue: Mutant[], perFile: Map<string, number>): Mutant | undefined {
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    const others = perFile.get(next.path) ?? 0;
    if (others >= MUTANTS_PER_FILE) continue;
    perFile.set(next.path, others + 1);
    return next;
  }
  return undefined;
}

function editsOf(value: unknown, text: string): Edit[] {
  if (Array.isArray(value)) return [...swapsIn(value, text), ...value.flatMap((one) => editsOf(one, text))];
  // Types have no effect at run time.
  if (!isNode(value) || value.type.startsWith('TSType') || value.type.startsWith('TSInterface')) return [];
  return [...editsAt(value, text), ...Object.values(value).flatMap((member) => editsOf(member, text))];
}

function editsAt(node: SyntaxNode, text: string): Edit[] {
  const { start, end, left, right, test, argument, operator } = node;
  const of = (part: SyntaxNode): string => text.slice(part.start, part.end);
  if (node.type === 'BinaryExpression' && isNode(left) && isNode(right)) {
    const between = text.slice(left.end, right.start);
    const flipped = FLIPPED[String(operator)];
    if (flipped !== undefined)
      return [
        { kind: 'comparison', start, end, to: of(left) + between.replace(String(operator), flipped) + of(right) },
      ];
    return operator === '-' ? [{ kind: 'order', start, end, to: of(right) + between + of(left) }] : [];
  }
  if (node.type === 'LogicalExpression' && operator !== '??' && isNode(left))
    return [{ kind: 'condition', start, end, to: of(left) }];
  if ((node.type === 'IfStatement' || node.type === 'ConditionalExpression') && isNode(test))
    return [{ kind: 'condition', start: test.start, end: test.end, to: 'false' }];
  // `return await` awaits what the caller awaits too.
  if (node.type === 'AwaitExpression' && isNode(argument) && !/(return|=>)\s*$/.test(text.slice(0, start)))
    return [{ kind: 'await', start, end, to: of(argument) }];
  if (node.type === 'Literal' && /^\d[\d_]*n?$/.test(of(node))) {
    const digits = of(node).replaceAll('_', '');
    const value = BigInt(digits.replace('n', ''));
    const suffix = digits.endsWith('n') ? 'n' : '';
    return value > CONSTANT_MAX ? [] : [{ kind: 'constant', start, end, to: `${value + 1n}${suffix}` }];
  }
  return [];
}

/** Neighboring statements that both do something, in the other order. */
function swapsIn(list: readonly unknown[], text: string): Edit[] {
  return list.flatMap((one, place) => {
    const next = list[place + 1];
    if (!isEffect(one) || !isEffect(next)) return [];
    // The order of log lines is no behavior.
    if ([one, next].some(({ start, end }) => /^(this\.#)?logger\./.test(text.slice(start, end)))) return [];
    const swapped =
      text.slice(next.start, next.end) + text.slice(one.end, next.start) + text.slice(one.start, one.end);
    return { kind: 'order', start: one.start, end: next.end, to: swapped } as const;
  });
}

function isEffect(value: unknown): value is SyntaxNode {
  if (!isNode(value) || value.type !== 'ExpressionStatement' || !isNode(value.expression)) return false;
  return ['AwaitExpression', 'CallExpression', 'AssignmentExpression'].includes(value.expression.type);
}

function isNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}

function shorten(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ');
  return line.length > SHOWN_CHARACTERS ? `${line.slice(0, SHOWN_CHARACTERS)}…` : line;
}
