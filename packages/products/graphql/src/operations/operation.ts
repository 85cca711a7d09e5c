import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLField,
  type GraphQLSchema,
  getArgumentValues,
  getVariableValues,
  Kind,
  type OperationDefinitionNode,
  parse,
  type SelectionNode,
  type SelectionSetNode,
  validate,
} from 'graphql/index.js';
import { z } from 'zod';
import { GraphqlRefusalError } from '../refusal.ts';
import { chainIdOf } from '../schema/row-range.ts';
import { COUNT_MAX, TOTAL_COUNT } from '../schema/total-count-plugin.ts';

export interface GraphqlRequest {
  readonly query: string;
  readonly operationName?: string | null | undefined;
  readonly variables?: Readonly<Record<string, unknown>> | null | undefined;
}

export interface Operation {
  readonly document: DocumentNode;
  readonly definition: OperationDefinitionNode;
  readonly fragments: Fragments;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly roots: readonly FieldNode[];
  readonly args: readonly Arguments[];
}

type Arguments = Readonly<Record<string, unknown>>;

/** `docs/api/graphql.md` lists them. */
const LIMITS = {
  tokens: 4_000,
  depth: 8,
  introspectionDepth: 16,
  fields: 1_000,
  roots: 20,
  introspectionRoots: 2,
  first: 1_000,
  rows: 5_000,
  /** Rows times fields of a row. */
  cells: 100_000,
  /** Includes rows that conditions without an index skip, that are sorted, or counted. */
  rowsRead: 1_000_000,
} as const;

interface ParsedOperation
  extends Pick<Operation, 'document' | 'definition' | 'fragments' | 'variables' | 'roots'> {
  /** All operations of the document; null: one reads the schema itself. */
  readonly lists: readonly string[] | null;
  readonly measure: ReturnType<typeof createMeasure>;
}

/** Sizes before validation, which is slow for large operations. @throws GraphqlRefusalError */
export function parseOperation(request: GraphqlRequest): ParsedOperation {
  return refusingDepth(() => {
    const document = parseQuery(request.query);
    const fragments = new Map(
      document.definitions
        .filter((definition) => definition.kind === Kind.FRAGMENT_DEFINITION)
        .map((fragment) => [fragment.name.value, fragment]),
    );
    const measure = createMeasure(fragments);
    const operations = document.definitions.filter((definition) => definition.kind === Kind.OPERATION_DEFINITION);
    for (const { selectionSet } of operations)
      requireAtMost('fields', measure(selectionSet).fields, LIMITS.fields);
    const definition = chooseOperation(document, request.operationName ?? null);
    const roots = fieldsOf(definition.selectionSet, fragments);
    for (const root of roots) {
      const levelsMax = isIntrospection(root) ? LIMITS.introspectionDepth : LIMITS.depth;
      requireAtMost('levels', measure(root.selectionSet).depth + 1, levelsMax);
    }
    requireAtMost('lists', roots.length, LIMITS.roots);
    requireAtMost('reads of the schema', roots.filter(isIntrospection).length, LIMITS.introspectionRoots);
    const fields = operations.flatMap(({ selectionSet }) => fieldsOf(selectionSet, fragments));
    const lists = [...new Set(fields.map(({ name }) => name.value))].filter((name) => !name.startsWith('__'));
    requireAtMost('lists', lists.length, LIMITS.roots);
    const parsed = { document, definition, fragments, variables: request.variables ?? {}, roots, measure };
    return { ...parsed, lists: fields.some(isIntrospection) ? null : lists };
  });
}

export function checkOperation(
  schema: GraphQLSchema,
  { lists: _, measure, ...parsed }: ParsedOperation,
): Operation {
  return refusingDepth(() => {
    const { document, definition, variables, roots } = parsed;
    if (definition.operation === 'subscription' && schema.getSubscriptionType() == null)
      throw invalid(NO_SUBSCRIPTION);
    const [problem] = validate(schema, document, undefined, { maxErrors: 1 });
    if (problem !== undefined) throw invalid(problem);
    const definitions = definition.variableDefinitions ?? [];
    const { errors, coerced } = getVariableValues(schema, definitions, variables, { maxErrors: 1 });
    if (coerced === undefined) throw invalid(errors[0]);
    const lists = roots.map((root) => listOf(schema, definition, root, coerced));
    requireRows(lists, parsed.fragments, measure);
    return { ...parsed, args: lists.map(({ args }) => args) };
  });
}

/** Validation skips subscriptions if the schema has no type for them. */
const NO_SUBSCRIPTION = new GraphQLError('Only tables of contracts have subscriptions');

/** Parser and validation follow brackets by recursion. */
function refusingDepth<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    const message = 'The operation has too many levels of brackets';
    throw new GraphqlRefusalError(
      'GRAPHQL_TOO_COMPLEX',
      message,
      'Split the operation into several, with fewer levels.',
    );
  }
}

function parseQuery(query: string): DocumentNode {
  try {
    return parse(query, { maxTokens: LIMITS.tokens });
  } catch (error) {
    throw error instanceof GraphQLError ? invalid(error) : error;
  }
}

function chooseOperation(document: DocumentNode, name: string | null): OperationDefinitionNode {
  const all = document.definitions.filter((definition) => definition.kind === Kind.OPERATION_DEFINITION);
  const [operation, ...others] =
    name === null ? all : all.filter((definition) => definition.name?.value === name);
  if (operation === undefined || others.length > 0)
    throw new GraphqlRefusalError(
      'GRAPHQL_INVALID',
      name === null ? `The request has ${all.length} operations` : 'The request has no operation of this name',
      'Send one operation, or name one of several in operationName.',
    );
  if (operation.operation === 'mutation')
    throw new GraphqlRefusalError(
      'GRAPHQL_INVALID',
      'Mutations are not supported',
      'Use a query or a subscription: rows can only be read.',
    );
  return operation;
}

function isIntrospection({ name: { value } }: FieldNode): boolean {
  return value === '__schema' || value === '__type';
}

interface List {
  readonly root: FieldNode;
  readonly args: Arguments;
  /** Null: a field of the schema itself. */
  readonly field: GraphQLField<unknown, unknown> | null;
}

function listOf(
  schema: GraphQLSchema,
  { operation }: OperationDefinitionNode,
  root: FieldNode,
  values: Arguments,
): List {
  const field = schema.getRootType(operation)?.getFields()[root.name.value];
  if (field === undefined) return { root, args: {}, field: null };
  try {
    return { root, args: getArgumentValues(field, root, values), field };
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error;
    throw new GraphqlRefusalError(
      'GRAPHQL_ARGUMENT_INVALID',
      cut(error.message),
      'Pass a value for the variable.',
    );
  }
}

const chainArguments = z.object({ chain: z.string().nullish(), chain_id: z.string().nullish() });
const rowsReadBy = z.function({ input: [z.record(z.string(), z.unknown())], output: z.number() });

function requireRows(
  lists: readonly List[],
  fragments: Fragments,
  measure: ReturnType<typeof createMeasure>,
): void {
  let [rows, cells, rowsRead] = [0, 0, 0];
  for (const { root, args, field } of lists) {
    if (field === null || root.selectionSet === undefined) continue;
    chainIdOf(chainArguments.parse(args));
    const first = requireFirst(args.first);
    rows += first;
    cells += first * measure(root.selectionSet).fields;
    const counts = fieldsOf(root.selectionSet, fragments).filter(({ name }) => name.value === TOTAL_COUNT).length;
    const read = rowsReadBy.parse(field.extensions.rowsRead)(args);
    rowsRead += read + counts * Math.max(read, COUNT_MAX);
  }
  requireAtMost('rows', rows, LIMITS.rows);
  requireAtMost('values', cells, LIMITS.cells);
  requireAtMost('rows to read', rowsRead, LIMITS.rowsRead);
}

function requireFirst(first: unknown): number {
  if (first === undefined) return 1;
  if (typeof first === 'number' && first >= 1 && first <= LIMITS.first) return first;
  const message = `first must be a number from 1 to ${LIMITS.first}`;
  const remedy = 'Pass a smaller number, and read further pages with `after`.';
  throw new GraphqlRefusalError('GRAPHQL_ARGUMENT_INVALID', message, remedy);
}

function requireAtMost(subject: string, count: number, allowed: number): void {
  if (count <= allowed) return;
  const message = `The operation has ${count} ${subject}, and ${allowed} are allowed`;
  const remedy = 'Split the operation into several, with fewer fields and rows.';
  throw new GraphqlRefusalError('GRAPHQL_TOO_COMPLEX', message, remedy);
}

function invalid(error: GraphQLError | undefined): GraphqlRefusalError {
  return new GraphqlRefusalError(
    'GRAPHQL_INVALID',
    error === undefined ? 'The operation is invalid' : cut(error.message),
    'Compare the operation with the schema, which an introspection query shows.',
  );
}

function cut(message: string): string {
  return message.slice(0, MESSAGE_LENGTH_MAX);
}

const MESSAGE_LENGTH_MAX = 500;

type Fragments = ReadonlyMap<string, FragmentDefinitionNode>;

export interface Size {
  readonly fields: number;
  readonly depth: number;
}

/** Measures a fragment once. @throws GraphqlRefusalError if one contains itself */
export function createMeasure(fragments: Fragments): (selections: SelectionSetNode | undefined) => Size {
  const measured = new Map<string, Size>();
  const open = new Set<string>();

  function sizeOf(selections: SelectionSetNode | undefined): Size {
    let [fields, depth] = [0, 0];
    for (const selection of selections?.selections ?? []) {
      const size = sizeOfSelection(selection);
      fields += size.fields;
      depth = Math.max(depth, size.depth);
    }
    return { fields, depth };
  }

  function sizeOfSelection(selection: SelectionNode): Size {
    if (selection.kind === 'FragmentSpread') return sizeOfFragment(selection.name.value);
    const { fields, depth } = sizeOf(selection.selectionSet);
    return selection.kind === 'Field' ? { fields: fields + 1, depth: depth + 1 } : { fields, depth };
  }

  function sizeOfFragment(name: string): Size {
    const earlier = measured.get(name);
    if (earlier !== undefined) return earlier;
    if (open.has(name)) {
      const message = `The fragment ${name.slice(0, NAME_LENGTH_MAX)} contains itself`;
      throw new GraphqlRefusalError('GRAPHQL_INVALID', message, 'Remove the fragment from its own fields.');
    }
    open.add(name);
    const size = sizeOf(fragments.get(name)?.selectionSet);
    open.delete(name);
    measured.set(name, size);
    return size;
  }

  return sizeOf;
}

/** Measure first: the list may be long. */
function fieldsOf(selections: SelectionSetNode, fragments: Fragments): readonly FieldNode[] {
  return selections.selections.flatMap((selection): readonly FieldNode[] => {
    if (selection.kind === 'Field') return [selection];
    const inner =
      selection.kind === 'FragmentSpread'
        ? fragments.get(selection.name.value)?.selectionSet
        : selection.selectionSet;
    return inner === undefined ? [] : fieldsOf(inner, fragments);
  });
}

const NAME_LENGTH_MAX = 100;
