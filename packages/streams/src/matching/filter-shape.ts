/** What is wrong with a part of a filter. */
export interface FilterProblem {
  /** Where: `advancedOptions.0.filter.and.1.eq`. */
  readonly path: string;
  readonly message: string;
  /** What stands there; undefined where it is an object or an array, which may be of any depth. */
  readonly value: unknown;
}

export type ComparisonOperator = 'eq' | 'ne' | 'lt' | 'gt' | 'lte' | 'gte' | 'in' | 'nin';

export interface Comparison {
  readonly op: ComparisonOperator;
  readonly field: string;
  /** One, or the list of `in` and `nin`; as given, with its place. */
  readonly values: readonly { readonly value: unknown; readonly path: string }[];
  /** Of the object that has the operator. */
  readonly path: string;
}

export type FilterShape = Comparison | { readonly op: 'and' | 'or'; readonly members: readonly FilterShape[] };

/** Filters inside of filters. */
export const FILTER_DEPTH_MAX = 16;
/** Objects of one filter. */
export const FILTER_NODES_MAX = 1_000;
/** Values of all comparisons of one filter. */
export const FILTER_VALUES_MAX = 10_000;

const COMPARISONS: ReadonlySet<string> = new Set(['eq', 'ne', 'lt', 'gt', 'lte', 'gte', 'in', 'nin']);

/**
 * A filter's operators and operands (interface: `{op: [field, value]}`, `{and | or: [filter, filter, …]}`), or what is wrong
 * with them. Null without a problem is the empty filter. Work is bounded however deep and large the filter is.
 */
export function readFilterShape(
  filter: unknown,
  path: string,
): { readonly shape: FilterShape | null; readonly problems: readonly FilterProblem[] } {
  if (isObject(filter) && Object.keys(filter).length === 0) return { shape: null, problems: [] };
  const problems: FilterProblem[] = [];
  const shape = readNode(filter, path, 1, { nodes: 0, values: 0, problems });
  return problems.length === 0 ? { shape, problems } : { shape: null, problems };
}

interface Reading {
  nodes: number;
  values: number;
  readonly problems: FilterProblem[];
}

function readNode(node: unknown, path: string, depth: number, reading: Reading): FilterShape | null {
  const refuse = (message: string): null => {
    reading.problems.push({ path, message, value: scalarOf(node) });
    return null;
  };
  if (!isObject(node)) return refuse('must be an object with one operator');
  const [entry, ...others] = Object.entries(node);
  if (entry === undefined || others.length > 0) return refuse('must have exactly one operator');
  const [op, operands] = entry;
  if (depth > FILTER_DEPTH_MAX) return refuse(`must not be nested deeper than ${FILTER_DEPTH_MAX}`);
  // One problem tells of the size; what lies beyond is not looked at.
  if (++reading.nodes > FILTER_NODES_MAX)
    return reading.nodes === FILTER_NODES_MAX + 1
      ? refuse(`must not have more than ${FILTER_NODES_MAX} filters`)
      : null;
  if (!Array.isArray(operands)) return refuse(`${op} must be an array`);
  if (op === 'and' || op === 'or') return readMembers(op, operands, path, depth, reading);
  if (!isComparison(op)) return refuse(`${op} is not one of and, or, eq, ne, lt, gt, lte, gte, in, nin`);
  return readComparison(op, operands, path, reading);
}

function readMembers(
  op: 'and' | 'or',
  operands: readonly unknown[],
  path: string,
  depth: number,
  reading: Reading,
): FilterShape | null {
  if (operands.length < 2) {
    reading.problems.push({ path: `${path}.${op}`, message: 'must have at least two filters', value: undefined });
    return null;
  }
  const members: FilterShape[] = [];
  for (const [place, operand] of operands.entries()) {
    if (reading.nodes > FILTER_NODES_MAX) return null;
    const member = readNode(operand, `${path}.${op}.${place}`, depth + 1, reading);
    if (member !== null) members.push(member);
  }
  return { op, members };
}

function readComparison(
  op: ComparisonOperator,
  operands: readonly unknown[],
  path: string,
  reading: Reading,
): Comparison | null {
  const refuse = (message: string): null => {
    reading.problems.push({ path: `${path}.${op}`, message, value: undefined });
    return null;
  };
  const [field, operand] = operands;
  if (operands.length !== 2 || typeof field !== 'string') return refuse('must be a name and a value');
  const list = op === 'in' || op === 'nin';
  if (list !== Array.isArray(operand)) return refuse(list ? 'needs an array of values' : 'needs a single value');
  const given: readonly unknown[] = Array.isArray(operand) ? operand : [operand];
  reading.values += given.length;
  if (reading.values > FILTER_VALUES_MAX) return refuse(`must not have more than ${FILTER_VALUES_MAX} values`);
  const at = `${path}.${op}.1`;
  const values = given.map((value, place) => ({ value, path: list ? `${at}.${place}` : at }));
  return { op, field, values, path };
}

function isComparison(op: string): op is ComparisonOperator {
  return COMPARISONS.has(op);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What may be sent back in an error's details. */
export function scalarOf(value: unknown): unknown {
  return typeof value === 'object' ? undefined : value;
}
