/** Compares lists and histories with the node, until they agree or it is certain that they don't. */
import { isDeepStrictEqual } from 'node:util';
import { type Address, type BlockRange, mergeRanges, subtractRanges } from '@chainstead/core';
import { type Database, sql } from '@chainstead/db';
import { z } from 'zod';
import { fetchAll, type StoryApi, type StoryList } from '../story/api.ts';
import { compareUntilEqual, type Differences, gatherDifferences, unlessUnanswered } from '../story/difference.ts';
import type { ComparedStory } from '../story/run-story.ts';
import { categoryOf } from './category.ts';
import {
  addressIn,
  isInHistory,
  isListed,
  nativeOf,
  type TransactionTruth,
  transfersOf,
  withTraces,
} from './truth.ts';
import { type ActivityWorld, anybody } from './world.ts';

interface Compared {
  readonly api: StoryApi;
  readonly database: Database;
  readonly chainId: number;
  readonly limit: number;
  readonly head: number;
}

type Row = Readonly<Record<string, unknown>>;
type Part = (
  compared: Compared,
  differences: Differences,
  account: Address,
  truths: readonly TransactionTruth[],
) => Promise<void>;

const PARTS: readonly Part[] = [compareList, compareVerbose, compareHistory];
const SOME = 4;

/** @returns the first difference in words; null where there is none */
export async function compareActivity(
  { world, api, database, clock, random, head }: ComparedStory<ActivityWorld>,
  what: 'some' | 'everything',
  truths: readonly TransactionTruth[],
): Promise<string | null> {
  const all = anybody(world);
  const accounts = what === 'everything' ? all : Array.from({ length: SOME }, () => random.pick(all));
  for (const account of accounts)
    for (const part of PARTS) {
      const limit = random.pick([1, 3, 25, 100, 100, 100]);
      const difference = await compareUntilEqual(clock, async () => {
        const differences = gatherDifferences();
        const shown = { limit: what === 'everything' ? 100 : limit, head: head.number };
        const compared = { api, database, chainId: world.devnet.chainId, ...shown };
        await unlessUnanswered(differences, () => part(compared, differences, account, truths));
        return differences.found;
      });
      if (difference !== null) return difference;
    }
  return null;
}

const rowShape = z.record(z.string(), z.unknown());

async function readList(
  { api, limit, head }: Compared,
  differences: Differences,
  path: string,
): Promise<StoryList<Row> | null> {
  const list = await fetchAll(api, path, rowShape, limit);
  if (!list.isComplete) differences.missing(`${path} is not complete`);
  if (list.toBlock !== head) differences.missing(`${path} reaches block ${list.toBlock} of ${head}`);
  return list.isComplete && list.toBlock === head ? list : null;
}

async function compareList(
  compared: Compared,
  differences: Differences,
  account: Address,
  truths: readonly TransactionTruth[],
): Promise<void> {
  const list = await readList(compared, differences, account);
  if (list !== null)
    compareRecords(
      differences,
      account,
      list.rows,
      newestFirst(truths, (one) => isListed(one, account)),
    );
}

async function compareVerbose(
  compared: Compared,
  differences: Differences,
  account: Address,
  truths: readonly TransactionTruth[],
): Promise<void> {
  const path = `${account}/verbose`;
  const list = await readList(compared, differences, path);
  if (list === null) return;
  const expected = newestFirst(truths, (one) => isListed(one, account));
  compareRecords(differences, path, list.rows, expected);
  for (const [place, { logs, record }] of expected.entries()) {
    const shown = z.array(logRowShape).parse(list.rows[place]?.logs);
    const wanted = logs.map(({ address, topics, data, logIndex }) => ({
      address,
      data,
      log_index: String(Number(logIndex)),
      topic0: topics[0] ?? null,
      topic1: topics[1] ?? null,
    }));
    if (!isDeepStrictEqual(shown, wanted))
      differences.wrong(`${path}: logs of ${record.hash} are ${JSON.stringify(shown)}`);
  }
}

const logRowShape = z.object({
  address: z.string(),
  data: z.string(),
  log_index: z.string(),
  topic0: z.string().nullable(),
  topic1: z.string().nullable(),
});

async function compareHistory(
  compared: Compared,
  differences: Differences,
  account: Address,
  truths: readonly TransactionTruth[],
): Promise<void> {
  const path = `wallets/${account}/history`;
  const traced = await readTraced(compared);
  const list = await readList(compared, differences, path);
  if (list === null) return;
  if (!isDeepStrictEqual(await readTraced(compared), traced)) {
    differences.missing(`${path}: traces came meanwhile`);
    return;
  }
  const { head } = compared;
  const untraced = subtractRanges([{ from: 0, to: head }], traced);
  const { traces } = z.object({ indexed: z.object({ traces: z.string() }) }).parse(list.first).indexed;
  if (traces !== (untraced.length === 0 ? 'indexed' : 'none'))
    differences.wrong(`${path} says of traces "${traces}", where blocks ${JSON.stringify(untraced)} lack them`);
  // The head continues without those that a node doesn't return; once blocks are settled, they are requested again.
  const isSettled = (block: number): boolean => block < head - SETTLED_DEPTH;
  if (untraced.some(({ from }) => isSettled(from)))
    differences.missing(`Traces of blocks ${JSON.stringify(untraced)} of ${head} are missing`);
  const isTraced = (block: number): boolean => traced.some(({ from, to }) => from <= block && block <= to);
  const expected = newestFirst(withTraces(truths, isTraced), (one) => isInHistory(one, account));
  const { input: _, ...withoutInput } = Object.fromEntries(FIELDS.map((field) => [field, true]));
  compareRecords(differences, path, list.rows, expected, Object.keys(withoutInput));
  for (const [place, truth] of expected.entries()) {
    compareLegs(differences, path, list.rows[place], truth, account);
    const [category, wanted] = [list.rows[place]?.category, categoryOf(truth, account)];
    if (category !== wanted)
      differences.wrong(
        `${path}: ${truth.record.hash} is ${JSON.stringify(category)}, not ${JSON.stringify(wanted)}`,
      );
  }
}

/** Larger than the depth of a reorganisation that the chains of stories allow. */
const SETTLED_DEPTH = 150;

/** Blocks whose internal transfers the program has. */
async function readTraced({ database, chainId }: Compared): Promise<readonly BlockRange[]> {
  const rows = await database.query<{ from: number; to: number }>(
    sql`SELECT first_block AS from, last_block AS to FROM sync_ranges WHERE chain_id = ${chainId} AND dataset = 'internal-transfers'`,
  );
  return mergeRanges(rows);
}

function compareLegs(
  differences: Differences,
  path: string,
  row: Row | undefined,
  truth: TransactionTruth,
  account: Address,
): void {
  const { erc20_transfers, nft_transfers, native_transfers } = legsShape.parse(row);
  const tokens = transfersOf(truth, account, 3).map(({ address, topics, data, logIndex }) => ({
    address,
    from_address: addressIn(topics[1]),
    to_address: addressIn(topics[2]),
    value: BigInt(data).toString(),
    log_index: Number(logIndex),
  }));
  const nfts = transfersOf(truth, account, 4).map(({ address, topics, logIndex }) => ({
    token_address: address,
    from_address: addressIn(topics[1]),
    to_address: addressIn(topics[2]),
    token_id: BigInt(topics[3] ?? '0x0').toString(),
    log_index: Number(logIndex),
  }));
  const coins = nativeOf(truth, account).map(({ from, to, value, isInternal }) => ({
    from_address: from,
    to_address: to,
    value: String(value),
    internal_transaction: isInternal,
  }));
  const hash = String(truth.record.hash);
  for (const [name, shown, wanted] of [
    ['erc20_transfers', erc20_transfers, tokens],
    ['nft_transfers', nft_transfers, nfts],
    ['native_transfers', native_transfers, coins],
  ] as const)
    if (!isDeepStrictEqual(shown, wanted))
      differences.wrong(
        `${path}: ${name} of ${hash} are ${JSON.stringify(shown)}, not ${JSON.stringify(wanted)}`,
      );
}

const legsShape = z.object({
  erc20_transfers: z.array(
    z.object({
      address: z.string(),
      from_address: z.string(),
      to_address: z.string(),
      value: z.string(),
      log_index: z.number(),
    }),
  ),
  nft_transfers: z.array(
    z.object({
      token_address: z.string(),
      from_address: z.string(),
      to_address: z.string(),
      token_id: z.string(),
      log_index: z.number(),
    }),
  ),
  native_transfers: z.array(
    z.object({
      from_address: z.string(),
      to_address: z.string(),
      value: z.string(),
      internal_transaction: z.boolean(),
    }),
  ),
});

const FIELDS = [
  'hash',
  'nonce',
  'transaction_index',
  'from_address',
  'to_address',
  'value',
  'gas',
  'gas_price',
  'input',
  'receipt_cumulative_gas_used',
  'receipt_gas_used',
  'receipt_contract_address',
  'receipt_root',
  'receipt_status',
  'transaction_fee',
  'block_timestamp',
  'block_number',
  'block_hash',
] as const;

function compareRecords(
  differences: Differences,
  path: string,
  rows: readonly Row[],
  expected: readonly TransactionTruth[],
  fields: readonly string[] = FIELDS,
): void {
  const shown = rows.map(({ hash }) => hash);
  const wanted = expected.map(({ record }) => record.hash);
  if (!isDeepStrictEqual(shown, wanted)) {
    const place = wanted.findIndex((hash, at) => shown[at] !== hash);
    differences.wrong(
      `${path} has ${shown.length} rows, not ${wanted.length}; row ${place} is ${shown[place]}, not ${wanted[place]}`,
    );
    return;
  }
  for (const [place, { record }] of expected.entries())
    for (const field of fields)
      if (!isDeepStrictEqual(rows[place]?.[field], record[field]))
        differences.wrong(
          `${path}: ${field} of ${record.hash} is ${JSON.stringify(rows[place]?.[field])}, not ${JSON.stringify(record[field])}`,
        );
}

function newestFirst(
  truths: readonly TransactionTruth[],
  isWanted: (truth: TransactionTruth) => boolean,
): readonly TransactionTruth[] {
  return truths.filter(isWanted).reverse();
}
