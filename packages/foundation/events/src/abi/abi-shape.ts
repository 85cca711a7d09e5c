import { EncodingRefusedError } from './encoding-refused.ts';
import { type WordReader, wordReader } from './word-reader.ts';

/** Members of tuples can be untrusted: they are checked here. */
export interface ShapedParameter {
  readonly type: string;
  readonly name?: string | undefined;
  readonly components?: unknown;
}

export type AbiShape = WordShape | BytesShape | ArrayShape | TupleShape;

export interface WordShape {
  readonly kind: 'word';
  readonly layout: Layout;
  /** Null: nothing is read of this type. */
  readonly read: WordReader | null;
}

export interface BytesShape {
  readonly kind: 'bytes';
  readonly layout: Layout;
  readonly isText: boolean;
}

export interface ArrayShape {
  readonly kind: 'array';
  readonly layout: Layout;
  readonly item: AbiShape;
  /** Null: the encoding says how many. */
  readonly count: number | null;
}

export interface TupleShape {
  readonly kind: 'tuple';
  readonly layout: Layout;
  readonly members: readonly AbiShape[];
  /** Null if one is unnamed. */
  readonly names: readonly string[] | null;
  readonly nameLength: number;
}

/** `isDynamic`: at an offset. `headBytes`: in place, one word for an offset. */
type Layout = { readonly isDynamic: boolean; readonly headBytes: number };

export const WORD_BYTES = 32;
const NESTING_MAX = 32;

/** @throws EncodingRefusedError for too deep nesting or unreadable members */
export function shapeOf(parameter: ShapedParameter, nesting = 0): AbiShape {
  if (nesting > NESTING_MAX) throw new EncodingRefusedError(`its type nests deeper than ${NESTING_MAX} levels`);
  const [, itemType, count] = /^(.+)\[(\d*)\]$/s.exec(parameter.type) ?? [];
  if (itemType !== undefined)
    return arrayShape(
      shapeOf({ ...parameter, type: itemType }, nesting + 1),
      count === '' ? null : Number(count),
    );
  if (parameter.type === 'string' || parameter.type === 'bytes')
    return { kind: 'bytes', layout: ELSEWHERE, isText: parameter.type === 'string' };
  if (parameter.type !== 'tuple') return { kind: 'word', layout: LOCAL_ACCESS, read: wordReader(parameter.type) };
  const components: readonly unknown[] = Array.isArray(parameter.components) ? parameter.components : [];
  const shown = components.map(parameterOf);
  return tupleShape(
    shown.map((component) => shapeOf(component, nesting + 1)),
    shown.map(({ name }) => name ?? ''),
  );
}

const ELSEWHERE: Layout = { isDynamic: true, headBytes: WORD_BYTES };
const LOCAL_ACCESS: Layout = { isDynamic: false, headBytes: WORD_BYTES };

function arrayShape(item: AbiShape, count: number | null): ArrayShape {
  const isDynamic = count === null || item.layout.isDynamic;
  const layout = isDynamic ? ELSEWHERE : { isDynamic, headBytes: count * item.layout.headBytes };
  return { kind: 'array', layout, item, count };
}

function tupleShape(members: readonly AbiShape[], names: readonly string[]): TupleShape {
  const isDynamic = members.some(({ layout }) => layout.isDynamic);
  const layout = isDynamic ? ELSEWHERE : { isDynamic, headBytes: headBytesOf(members) };
  const nameLength = names.reduce((sum, name) => sum + name.length, 0);
  return {
    kind: 'tuple',
    layout,
    members,
    names: names.length === 0 || names.includes('') ? null : names,
    nameLength,
  };
}

/** Null: the length depends on values. */
export function staticBytes(parameters: readonly ShapedParameter[]): number | null {
  const shapes = parameters.map((parameter) => shapeOf(parameter));
  return shapes.some(({ layout }) => layout.isDynamic) ? null : headBytesOf(shapes);
}

export function headBytesOf(shapes: readonly AbiShape[]): number {
  return shapes.reduce((sum, { layout }) => sum + layout.headBytes, 0);
}

function parameterOf(given: unknown): ShapedParameter {
  const { type, name, components }: { type?: unknown; name?: unknown; components?: unknown } = Object(given);
  if (typeof type !== 'string') throw new EncodingRefusedError('a member of its tuples has no type');
  return { type, name: typeof name === 'string' ? name : undefined, components };
}
