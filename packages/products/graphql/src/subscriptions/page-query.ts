import {
  type ArgumentNode,
  type ConstValueNode,
  type DocumentNode,
  type FieldNode,
  Kind,
  type NameNode,
  OperationTypeNode,
  type ValueNode,
  type VariableDefinitionNode,
} from 'graphql/index.js';
import { z } from 'zod';
import type { Operation } from '../operations/operation.ts';
import { GraphqlRefusalError } from '../refusal.ts';
import { chainIdOf } from '../schema/row-range.ts';
import type { NextBlocks } from './branch.ts';

export interface PageQuery {
  readonly document: DocumentNode;
  readonly member: string;
  readonly chainId: string;
  readonly afterBlock: number | null;
}

export interface PageVariables {
  readonly [FROM]: string;
  readonly [TO]: string;
  readonly [AFTER]: string | null;
  readonly [FIRST]: number;
}

const FROM = 'page_from_block';
const TO = 'page_to_block';
const AFTER = 'page_after';
const FIRST = 'page_first';
export const PAGE_MEMBER = 'page_end';

export function pageQuery({ definition, document, roots, args: [args = {}] }: Operation): PageQuery {
  const [root, ...others] = roots;
  if (
    root === undefined ||
    others.length > 0 ||
    (root.directives ?? []).length > 0 ||
    root.name.value.startsWith('__')
  )
    throw new GraphqlRefusalError(
      'GRAPHQL_INVALID',
      'A subscription needs exactly one list, without a directive',
      'Open a stream for each list.',
    );
  const field: FieldNode = {
    ...root,
    arguments: [...(root.arguments ?? []).filter(({ name }) => name.value !== 'after_block'), ...PAGE_ARGUMENTS],
    selectionSet: {
      kind: Kind.SELECTION_SET,
      selections: [...(root.selectionSet?.selections ?? []), PAGE_FIELD],
    },
  };
  const query: DocumentNode = {
    kind: Kind.DOCUMENT,
    definitions: [
      {
        ...definition,
        operation: OperationTypeNode.QUERY,
        variableDefinitions: [...(definition.variableDefinitions ?? []), ...PAGE_VARIABLES],
        selectionSet: { kind: Kind.SELECTION_SET, selections: [field] },
      },
      ...document.definitions.filter(({ kind }) => kind === Kind.FRAGMENT_DEFINITION),
    ],
  };
  const { after_block: afterBlock, ...chain } = liveArguments.parse(args);
  return {
    document: query,
    member: (root.alias ?? root.name).value,
    chainId: chainIdOf(chain),
    afterBlock: afterBlock == null ? null : blockNumber(afterBlock),
  };
}

export function pageVariables(
  { fromBlock, toBlock }: Pick<NextBlocks, 'fromBlock' | 'toBlock'>,
  after: string | null,
  first: number,
): PageVariables {
  return { [FROM]: String(fromBlock), [TO]: String(toBlock), [AFTER]: after, [FIRST]: first };
}

const liveArguments = z.object({
  chain: z.string().nullish(),
  chain_id: z.string().nullish(),
  after_block: z.string().nullish(),
});

function blockNumber(text: string): number {
  const number = Number(text);
  if (!Number.isSafeInteger(number) || number < 0)
    throw new GraphqlRefusalError(
      'GRAPHQL_ARGUMENT_INVALID',
      'after_block must be the number of a block',
      'Pass the newest block whose rows you have.',
    );
  return number;
}

const PAGE_ARGUMENTS: readonly ArgumentNode[] = [
  argument('from_block', variable(FROM)),
  argument('to_block', variable(TO)),
  argument('after', variable(AFTER)),
  argument('order', { kind: Kind.ENUM, value: 'ASC' }),
  argument('first', variable(FIRST)),
];

const PAGE_FIELD: FieldNode = {
  kind: Kind.FIELD,
  name: nameNode('pageInfo'),
  alias: nameNode(PAGE_MEMBER),
  selectionSet: {
    kind: Kind.SELECTION_SET,
    selections: ['hasNextPage', 'endCursor'].map(
      (name): FieldNode => ({ kind: Kind.FIELD, name: nameNode(name) }),
    ),
  },
};

const PAGE_VARIABLES: readonly VariableDefinitionNode[] = [
  definitionOf(FROM, 'BigInt'),
  definitionOf(TO, 'BigInt'),
  definitionOf(AFTER, 'Cursor'),
  definitionOf(FIRST, 'Int', { kind: Kind.INT, value: '1' }),
];

function definitionOf(name: string, type: string, defaultValue?: ConstValueNode): VariableDefinitionNode {
  return {
    kind: Kind.VARIABLE_DEFINITION,
    variable: { kind: Kind.VARIABLE, name: nameNode(name) },
    type: { kind: Kind.NAMED_TYPE, name: nameNode(type) },
    ...(defaultValue !== undefined && { defaultValue }),
  };
}

function argument(name: string, value: ValueNode): ArgumentNode {
  return { kind: Kind.ARGUMENT, name: nameNode(name), value };
}

function variable(name: string): ValueNode {
  return { kind: Kind.VARIABLE, name: nameNode(name) };
}

function nameNode(value: string): NameNode {
  return { kind: Kind.NAME, value };
}
