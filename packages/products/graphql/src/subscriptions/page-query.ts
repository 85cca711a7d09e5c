import { sql } from '@chainstead/db';
import type { WithPgClient } from '@dataplan/pg';
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
import { readRows } from '../reading/reader.ts';
import { GraphqlRefusalError } from '../refusal.ts';
import { chainIdOf } from '../schema/row-range.ts';

export interface PageQuery {
  readonly document: DocumentNode;
  readonly member: string;
  readonly chainId: string;
  readonly afterBlock: number | null;
}

interface PageVariables {
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

type Hashes = ReadonlyMap<number, string>;

export interface BranchPosition {
  readonly id: string;
  readonly known: Hashes;
  readonly last: number | null;
}

export interface NextBlocks {
  readonly fromBlock: number;
  readonly toBlock: number;
  /** Whether a reorg replaced the subscriber's blocks from `fromBlock`. */
  readonly isReplacement: boolean;
}

/** How far back a common block is sought. The operator approves deeper reorgs. */
const KNOWN_MAX = 256;
const BEHIND_MAX = 10_000;

/** Null: after the newest block. @throws GraphqlRefusalError */
export async function readStart(
  withClient: WithPgClient,
  chainId: string,
  afterBlock: number | null,
): Promise<BranchPosition> {
  const newest = await readPosition(withClient, chainId, null);
  if (afterBlock === null) return newest;
  if (afterBlock < (newest.last ?? 0) - BEHIND_MAX)
    throw new GraphqlRefusalError(
      'GRAPHQL_ARGUMENT_INVALID',
      `after_block is more than ${BEHIND_MAX} blocks before the newest one`,
      'Read older rows with a query, then subscribe after the last block that you have.',
    );
  return at(afterBlock, await readPosition(withClient, chainId, afterBlock));
}

export async function readPosition(
  withClient: WithPgClient,
  chainId: string,
  upTo: number | null,
): Promise<BranchPosition> {
  const rows = await readRows<{ number: string; hash: string }>(
    withClient,
    sql`SELECT block_number::text AS number, block_hash AS hash FROM analytics.blocks
     WHERE chain_id = ${chainId}::bigint AND block_number <= coalesce(${upTo}::bigint, 9223372036854775807)
     ORDER BY block_number DESC LIMIT ${KNOWN_MAX}::int`,
  );
  const known = new Map(rows.map(({ number, hash }) => [Number(number), hash]));
  return at(rows[0] === undefined ? null : Number(rows[0].number), { known });
}

/** Blocks of one branch differ by their ends only. */
export function at(last: number | null, { known }: Pick<BranchPosition, 'known'>): BranchPosition {
  const ends = [[...known][0], [...known].at(-1)];
  return { id: JSON.stringify([last, ...ends]), known, last };
}

export async function readNextBlocks(
  withClient: WithPgClient,
  chainId: string,
  { known, last }: BranchPosition,
  blocksMax: number,
): Promise<NextBlocks | null> {
  const chain = sql`${chainId}::bigint`;
  // The newest block is in each row: an empty range has one row without a block.
  const rows = await readRows<{ number: string; hash: string; newest: string | null }>(
    withClient,
    sql`WITH newest AS (SELECT max(block_number) AS block_number FROM analytics.blocks WHERE chain_id = ${chain})
     SELECT newest.block_number::text AS newest, block.block_number::text AS number, block.block_hash AS hash
     FROM newest LEFT JOIN (
       SELECT block_number, block_hash FROM analytics.blocks
       WHERE chain_id = ${chain} AND block_number BETWEEN ${Math.min(last ?? 0, ...known.keys())}::bigint AND ${last ?? -1}::bigint
     ) AS block ON true`,
  );
  const current = new Map(rows.map(({ number, hash }) => [Number(number), hash]));
  const newest = Number(rows[0]?.newest ?? -1);
  const had = last ?? Math.max(-1, newest - 1);
  const common = commonBlock(known, current, had);
  const fromBlock = common + 1;
  const isReplacement = common < had;
  if (newest < fromBlock && !isReplacement) return null;
  return { fromBlock, toBlock: Math.max(common, Math.min(newest, common + blocksMax)), isReplacement };
}

function commonBlock(known: Hashes, current: Hashes, last: number): number {
  const replaced = [...known].filter(([number, hash]) => current.get(number) !== hash).map(([number]) => number);
  if (replaced.length === 0) return last;
  const firstReplaced = Math.min(...replaced);
  const valid = [...known.keys()].filter((number) => number < firstReplaced);
  return valid.length === 0 ? firstReplaced - 1 : Math.max(...valid);
}
