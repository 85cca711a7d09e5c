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
  validate,
} from 'graphql/index.js';
import { z } from 'zod';
import { GraphqlRefusalError } from '../refusal.ts';
import { chainIdOf } from '../schema/row-range.ts';
import { COUNT_MAX, TOTAL_COUNT } from '../schema/total-count-plugin.ts';
import { createMeasure, type Fragments, fieldsOf, type Size } from './measure.ts';

/** A request as sent. */
export interface GraphqlRequest {
  readonly query: string;
  readonly operationName?: string | null | undefined;
  readonly variables?: Readonly<Record<string, unknown>> | null | undefined;
}

/** A valid operation within the limits. */
export interface Operation {
  readonly document: DocumentNode;
  readonly definition: OperationDefinitionNode;
  readonly fragments: Fragments;
  /** As sent. */
  readonly variables: Readonly<Record<string, unknown>>;
  /** Fields of the operation itself. */
  readonly roots: readonly FieldNode[];
  /** Parsed arguments of the roots. */
  readonly args: readonly Arguments[];
}

type Arguments = Readonly<Record<string, unknown>>;

/** Limits of one operation. `docs/api/graphql.md` lists them. */
export const LIMITS = {
  tokens: 4_000,
  /** Levels of fields. */
  depth: 8,
  /** The common introspection queries of clients have 13. */
  introspectionDepth: 16,
  /** Fields, with each use of a fragment. */
  fields: 1_000,
  /** Fields of the operation itself: each is a statement. */
  roots: 20,
  introspectionRoots: 2,
  /** Rows of one field. */
  first: 1_000,
  /** Rows of all fields. */
  rows: 5_000,
  /** Rows times fields of a row. */
  cells: 100_000,
  /** Rows that are read: also those that a condition without index leaves out, an order without index sorts, or a count counts. */
  rowsRead: 1_000_000,
} as const;

/** An operation whose size is within the limits, not yet compared with a schema. */
export interface ParsedOperation
  extends Pick<Operation, 'document' | 'definition' | 'fragments' | 'variables' | 'roots'> {
  /** Names of the lists of all operations in the document; null if one of them reads the schema itself. */
  readonly lists: readonly string[] | null;
  readonly measure: ReturnType<typeof createMeasure>;
}

/**
 * Returns the operation of a request. Sizes are checked before validation, which takes long for large operations.
 * @throws GraphqlRefusalError
 */
export function parseOperation(request: GraphqlRequest): ParsedOperation {
  return refusingDepth(() => {
    const document = parseQuery(request.query);
    const fragments = new Map(
      document.definitions.flatMap((one): [string, FragmentDefinitionNode][] =>
        one.kind === Kind.FRAGMENT_DEFINITION ? [[one.name.value, one]] : [],
      ),
    );
    const measure = createMeasure(fragments);
    const operations = document.definitions.filter((one) => one.kind === Kind.OPERATION_DEFINITION);
    for (const { selectionSet } of operations) requireFields(measure(selectionSet));
    const definition = chooseOperation(document, request.operationName ?? null);
    const roots = fieldsOf(definition.selectionSet, fragments);
    for (const root of roots) requireDepth(root, measure(root.selectionSet));
    requireRoots(roots);
    const fields = operations.flatMap(({ selectionSet }) => fieldsOf(selectionSet, fragments));
    const lists = [...new Set(fields.map(({ name }) => name.value))].filter((name) => !name.startsWith('__'));
    if (lists.length > LIMITS.roots) throw tooComplex('lists', lists.length, LIMITS.roots);
    const variables = request.variables ?? {};
    return {
      document,
      definition,
      fragments,
      variables,
      roots,
      measure,
      lists: fields.some(isIntrospection) ? null : lists,
    };
  });
}

/**
 * Returns an operation that a schema allows.
 * @throws GraphqlRefusalError
 */
export function checkOperation(schema: GraphQLSchema, { lists: _, measure, ...parsed }: ParsedOperation): Operation {
  return refusingDepth(() => {
    const { document, definition, variables, roots } = parsed;
    if (definition.operation === 'subscription' && schema.getSubscriptionType() == null) throw invalid(NO_SUBSCRIPTION);
    const [problem] = validate(schema, document, undefined, { maxErrors: 1 });
    if (problem !== undefined) throw invalid(problem);
    const { errors, coerced } = getVariableValues(schema, definition.variableDefinitions ?? [], variables, {
      maxErrors: 1,
    });
    if (coerced === undefined) throw invalid(errors[0]);
    const lists = roots.map((root) => listOf(schema, definition, root, coerced));
    requireRows(lists, parsed.fragments, measure);
    return { ...parsed, args: lists.map(({ args }) => args) };
  });
}

/** A schema of views alone has no type for subscriptions, which validation skips. */
const NO_SUBSCRIPTION = new GraphQLError('Only tables of contracts have subscriptions');

/** Parser and validation follow brackets by recursion. */
function refusingDepth<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new GraphqlRefusalError(
      'GRAPHQL_TOO_COMPLEX',
      'The operation has too many levels of brackets',
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
  const all = document.definitions.filter((one) => one.kind === Kind.OPERATION_DEFINITION);
  const found = name === null ? all : all.filter((one) => one.name?.value === name);
  const [operation, ...others] = found;
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

function requireFields({ fields }: Size): void {
  if (fields > LIMITS.fields) throw tooComplex('fields', fields, LIMITS.fields);
}

function requireDepth(root: FieldNode, { depth }: Size): void {
  const allowed = isIntrospection(root) ? LIMITS.introspectionDepth : LIMITS.depth;
  if (depth + 1 > allowed) throw tooComplex('levels', depth + 1, allowed);
}

function requireRoots(roots: readonly FieldNode[]): void {
  if (roots.length > LIMITS.roots) throw tooComplex('lists', roots.length, LIMITS.roots);
  const introspections = roots.filter(isIntrospection).length;
  if (introspections > LIMITS.introspectionRoots)
    throw tooComplex('reads of the schema', introspections, LIMITS.introspectionRoots);
}

/** A root with its parsed arguments. */
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
    throw new GraphqlRefusalError('GRAPHQL_ARGUMENT_INVALID', cut(error.message), 'Pass a value for the variable.');
  }
}

const chainArguments = z.object({ chain: z.string().nullish(), chain_id: z.string().nullish() });
const rowsReadBy = z.function({ input: [z.record(z.string(), z.unknown())], output: z.number() });

function requireRows(lists: readonly List[], fragments: Fragments, measure: ReturnType<typeof createMeasure>): void {
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
  if (rows > LIMITS.rows) throw tooComplex('rows', rows, LIMITS.rows);
  if (cells > LIMITS.cells) throw tooComplex('values', cells, LIMITS.cells);
  if (rowsRead > LIMITS.rowsRead) throw tooComplex('rows to read', rowsRead, LIMITS.rowsRead);
}

/** Subscriptions have no `first`. */
function requireFirst(first: unknown): number {
  if (first === undefined) return 1;
  if (typeof first === 'number' && first >= 1 && first <= LIMITS.first) return first;
  throw new GraphqlRefusalError(
    'GRAPHQL_ARGUMENT_INVALID',
    `first must be a number from 1 to ${LIMITS.first}`,
    'Pass a smaller number, and read further pages with `after`.',
  );
}

function tooComplex(subject: string, given: number, allowed: number): GraphqlRefusalError {
  return new GraphqlRefusalError(
    'GRAPHQL_TOO_COMPLEX',
    `The operation has ${given} ${subject}, and ${allowed} are allowed`,
    'Split the operation into several, with fewer fields and rows.',
  );
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

/** Messages may repeat long values of the client. Characters. */
const MESSAGE_LENGTH_MAX = 500;
