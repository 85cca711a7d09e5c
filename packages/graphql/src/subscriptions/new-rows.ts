import type { Logger } from '@chainstead/core';
import type { WithPgClient } from '@dataplan/pg';
import { z } from 'zod';
import type { Operation } from '../operations/operation.ts';
import { type GraphqlResult, runQuery } from '../operations/run-query.ts';
import type { Reader } from '../reading/reader.ts';
import type { BuiltSchema } from '../schema/build-schema.ts';
import { type NextBlocks, type Position, readNextBlocks, readPosition } from './branch.ts';
import type { NewestBlocks } from './newest-blocks.ts';
import { PAGE_MEMBER, type PageQuery, pageVariables } from './page-query.ts';

export interface NewRowsOptions {
  readonly built: BuiltSchema;
  /** Values of its variables, as sent. */
  readonly variables: Operation['variables'];
  readonly page: PageQuery;
  /** Read before the client gets a response: rows of later blocks are new. */
  readonly start: Position;
  readonly reader: Reader;
  readonly newestBlocks: NewestBlocks;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/** Blocks of one read. It is halved while their rows are too large. */
const BLOCKS_MAX = 1_000;

/**
 * Returns results with the rows of new blocks, in the order of the chain, until the signal aborts. Each result is read in the transaction that
 * found its blocks, so a row of a block is in exactly one result, unless a reorg replaces the block.
 */
export async function* readNewRows(options: NewRowsOptions): AsyncGenerator<GraphqlResult, void, undefined> {
  const { page, start, newestBlocks, signal } = options;
  let position = start;
  let seen: string | null = null;
  let blocksMax = BLOCKS_MAX;
  while (!signal.aborted) {
    seen = await newestBlocks.changedFrom(page.chainId, seen, signal);
    for (let isMore = true; isMore && !signal.aborted; ) {
      const read = await readOnce(options, position, blocksMax);
      if (read === 'too large') {
        blocksMax = halved(blocksMax);
        continue;
      }
      if (read === null) break;
      position = read.position;
      yield* read.results;
      if (read.state === 'failed') return;
      isMore = read.state === 'more';
    }
  }
}

interface Read {
  readonly results: readonly GraphqlResult[];
  readonly position: Position;
  /** `more`: further blocks may follow at once. `failed`: the last result is an error, and its rows are missing. */
  readonly state: 'complete' | 'more' | 'failed';
}

async function readOnce(
  options: NewRowsOptions,
  position: Position,
  blocksMax: number,
): Promise<Read | 'too large' | null> {
  const { chainId, member } = options.page;
  return options.reader.inSnapshot(async (withClient) => {
    const next = await readNextBlocks(withClient, chainId, position, blocksMax);
    if (next === null) return null;
    const results: GraphqlResult[] = [];
    for (let after: string | null = null; ; ) {
      const result = await readPage(options, next, after, withClient);
      const refused = result.errors?.some(({ extensions }) => extensions.code === 'GRAPHQL_RESULT_TOO_LARGE');
      if (refused === true && next.toBlock > next.fromBlock) return 'too large';
      if (result.errors !== undefined) return { results: [...results, result], position, state: 'failed' };
      const { shown, end } = withoutEnd(result, member);
      const isFirst = results.length === 0;
      // A reorg is also sent without rows: the client has to remove those of the replaced blocks.
      if (end.endCursor !== null || (isFirst && next.isReplacement))
        results.push({ ...shown, extensions: blocksOf(chainId, next, isFirst) });
      if (!end.hasNextPage) break;
      after = end.endCursor;
    }
    const reached = { ...(await readPosition(withClient, chainId, next.toBlock)), last: next.toBlock };
    const isFull = next.toBlock - next.fromBlock + 1 >= blocksMax;
    return { results, position: reached, state: isFull ? 'more' : 'complete' };
  });
}

function readPage(
  { built, page: { document }, variables, logger }: NewRowsOptions,
  { fromBlock, toBlock }: NextBlocks,
  after: string | null,
  withClient: WithPgClient,
): Promise<GraphqlResult> {
  const wanted = {
    ...{ document, operationName: null },
    variables: { ...variables, ...pageVariables(fromBlock, toBlock, after) },
  };
  return runQuery(built, wanted, withClient, logger);
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

function halved(blocksMax: number): number {
  return Math.max(1, Math.floor(blocksMax / 2));
}

const endOfPage = z.object({ hasNextPage: z.boolean(), endCursor: z.string().nullable() });

/** Takes the end of the page out of a result. */
function withoutEnd(result: GraphqlResult, member: string) {
  const { [PAGE_MEMBER]: end, ...rows } = z.record(z.string(), z.unknown()).parse(result.data?.[member]);
  return { shown: { data: { [member]: rows } }, end: endOfPage.parse(end) };
}
