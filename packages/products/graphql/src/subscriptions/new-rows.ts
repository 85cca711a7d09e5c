import type { Logger } from '@chainstead/core';
import type { WithPgClient } from '@dataplan/pg';
import { z } from 'zod';
import type { Operation } from '../operations/operation.ts';
import { type GraphqlResult, type JsonBytes, jsonBytes, runQuery, shownError } from '../operations/run-query.ts';
import type { Reader } from '../reading/reader.ts';
import { GraphqlRefusalError } from '../refusal.ts';
import type { BuiltSchema } from '../schema/schemas.ts';
import type { NewestBlocks } from './newest-blocks.ts';
import {
  at,
  type BranchPosition,
  type NextBlocks,
  PAGE_MEMBER,
  type PageQuery,
  pageVariables,
  readNextBlocks,
  readPosition,
} from './page-query.ts';

export interface NewRowsOptions {
  readonly built: BuiltSchema;
  /** Equal operations share their steps. */
  readonly key: string;
  /** The client's key. */
  readonly keyId: string;
  readonly variables: Operation['variables'];
  readonly page: PageQuery;
  /** Read before the client gets a response: later blocks are new. */
  readonly start: BranchPosition;
  readonly bytesMax: number;
  readonly reader: Reader;
  readonly newestBlocks: NewestBlocks;
  readonly steps: SharedSteps;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

const BLOCKS_MAX = 1_000;
/** Per message. Halved while it has too many bytes. */
const ROWS_MAX = 1_000;
const MESSAGE_BYTES = 1_048_576;

interface State {
  readonly position: BranchPosition;
  /** Null: all rows up to the position are sent. */
  readonly page: OpenPage | null;
  readonly rowsMax: number;
}

interface OpenPage {
  readonly blocks: NextBlocks;
  readonly reached: BranchPosition;
  readonly after: string;
}

interface Step {
  readonly message: JsonBytes | null;
  readonly state: State;
  readonly following: 'more' | 'wait' | 'end';
}

export type SharedSteps = Map<string, Promise<Step>>;

export function createSharedSteps(): SharedSteps {
  return new Map();
}

/** Each transaction compares the blocks first: a row comes once, unless a reorg replaces it. */
export async function* readNewRows(options: NewRowsOptions): AsyncGenerator<JsonBytes, void, undefined> {
  const { page, newestBlocks, signal } = options;
  let state: State = { position: options.start, page: null, rowsMax: ROWS_MAX };
  let seen: string | null = null;
  while (!signal.aborted) {
    seen = await newestBlocks.changedFrom(page.chainId, seen, signal);
    for (let isMore = true; isMore && !signal.aborted; ) {
      const step = await sharedStep(options, state);
      state = step.state;
      if (step.message !== null) yield step.message.slice();
      if (step.following === 'end') return;
      isMore = step.following === 'more';
    }
  }
}

function sharedStep(options: NewRowsOptions, state: State): Promise<Step> {
  const { steps, key } = options;
  const { position, page, rowsMax } = state;
  const text = JSON.stringify([key, position.id, page?.reached.id, page?.after, rowsMax]);
  const known = steps.get(text);
  if (known !== undefined) return known;
  const step = options.reader
    .inTurn(options.keyId, (withClient) => readStep(options, state, withClient))
    .finally(() => steps.delete(text));
  steps.set(text, step);
  return step;
}

async function readStep(options: NewRowsOptions, state: State, withClient: WithPgClient): Promise<Step> {
  const { page, bytesMax, logger } = options;
  const open = await openPage(page.chainId, state, withClient);
  if (open === null) return { message: null, state, following: 'wait' };
  const { blocks, after } = open;
  const isFirst = after === null;
  const result = await readRows(options, open, state.rowsMax, withClient);
  const smaller = { ...state, rowsMax: Math.floor(state.rowsMax / 2) };
  const isTooLarge = result.errors?.some(({ extensions }) => extensions.code === 'GRAPHQL_RESULT_TOO_LARGE');
  if (isTooLarge === true && state.rowsMax > 1) return { message: null, state: smaller, following: 'more' };
  if (result.errors !== undefined) return { message: jsonBytes(result, bytesMax), state, following: 'end' };
  const { [PAGE_MEMBER]: endMember, ...rows } = z
    .record(z.string(), z.unknown())
    .parse(result.data?.[page.member]);
  const end = endOfPage.parse(endMember);
  const shown = { data: { [page.member]: rows }, extensions: blocksOf(page.chainId, blocks, isFirst) };
  const message = bytesWithin(shown, state.rowsMax > 1 ? Math.min(MESSAGE_BYTES, bytesMax) : bytesMax);
  if (!(message instanceof Uint8Array)) {
    if (state.rowsMax > 1) return { message: null, state: smaller, following: 'more' };
    return { message: jsonBytes({ errors: [shownError(message, logger)] }, bytesMax), state, following: 'end' };
  }
  const reached =
    open.reached ?? at(blocks.toBlock, await readPosition(withClient, page.chainId, blocks.toBlock));
  const rest = end.hasNextPage && end.endCursor !== null ? { blocks, reached, after: end.endCursor } : null;
  const next: State = {
    position: rest === null ? reached : state.position,
    page: rest,
    rowsMax: Math.min(ROWS_MAX, 2 * state.rowsMax),
  };
  const isFull = blocks.toBlock - blocks.fromBlock + 1 >= BLOCKS_MAX;
  // A reorg without rows is sent too: the client removes rows of replaced blocks.
  const isSent = end.endCursor !== null || (isFirst && blocks.isReplacement);
  return { message: isSent ? message : null, state: next, following: rest !== null || isFull ? 'more' : 'wait' };
}

interface Opened {
  readonly blocks: NextBlocks;
  readonly after: string | null;
  readonly reached: BranchPosition | null;
}

/** If a reorg replaces a partly sent page, all of its rows are sent again. */
async function openPage(
  chainId: string,
  { position, page }: State,
  withClient: WithPgClient,
): Promise<Opened | null> {
  const next = await readNextBlocks(withClient, chainId, page?.reached ?? position, BLOCKS_MAX);
  if (page === null) return next === null ? null : { blocks: next, after: null, reached: null };
  if (next?.isReplacement !== true) return page;
  const fromBlock = Math.min(next.fromBlock, page.blocks.fromBlock);
  return { blocks: { ...next, fromBlock }, after: null, reached: null };
}

function readRows(
  { built, page: { document }, variables, logger }: NewRowsOptions,
  { blocks, after }: Opened,
  rowsMax: number,
  withClient: WithPgClient,
): Promise<GraphqlResult> {
  const all = { ...variables, ...pageVariables(blocks, after, rowsMax) };
  return runQuery(built, { document, operationName: null, variables: all }, withClient, logger);
}

function bytesWithin(result: GraphqlResult, bytesMax: number): JsonBytes | GraphqlRefusalError {
  try {
    return jsonBytes(result, bytesMax);
  } catch (error) {
    if (error instanceof GraphqlRefusalError) return error;
    throw error;
  }
}

function blocksOf(
  chainId: string,
  { fromBlock, toBlock, isReplacement }: NextBlocks,
  isFirst: boolean,
): GraphqlResult['extensions'] & object {
  return {
    chain_id: chainId,
    from_block: String(fromBlock),
    to_block: String(toBlock),
    is_replacement: isFirst && isReplacement,
  };
}

const endOfPage = z.object({ hasNextPage: z.boolean(), endCursor: z.string().nullable() });
