/** By the hash of the code: an ABI also applies to other contracts with it. */
import type { Chain } from '@chainstead/chains';
import {
  type Address,
  errorText,
  type Hash,
  type Hex,
  isAddress,
  type Logger,
  parseAddress,
  waitingAtMost,
} from '@chainstead/core';
import { addressBytes, type Database, hexBytes, hexText, sql } from '@chainstead/db';
import type { OnDemandBudget } from '@chainstead/http';
import {
  type BlockToRead,
  type StateKind,
  type StateReader,
  type StateReadingContext,
  stateAt,
} from '@chainstead/node-reads';
import {
  committedBlock,
  knownBlock,
  type NodeReadQueue,
  type StateBlock,
  StateNotArchivedError,
} from '@chainstead/node-reads/requests';
import { lockChainCommits } from '@chainstead/sync/commit-retry';
import { z } from 'zod';
import type { RequestedEntry } from '../abis/find-abis.ts';
import { type ProxyForm, UNANNOUNCED } from './proxy-forms.ts';
import { type PointedTo, type RequestedContract, readImplementations, UNREAD } from './read-implementations.ts';

interface Question {
  items: string[];
}

interface Answer {
  contracts: number;
}

const ITEM = /^(0x[0-9a-f]{40}) (0x[0-9a-f]{8}) (\d{1,15})$/;

const implementationsKind: StateKind<Question, Answer> = {
  name: 'contract-implementations',
  question: z.object({ items: z.array(z.string().regex(ITEM)).min(1) }),
  answer: z.object({ contracts: z.int() }),
  callsOf: ({ items }) => items.length,
  isSlow: true,
};

export function questionItem({ address, selector, block }: RequestedEntry): string {
  return `${address} ${selector} ${block}`;
}

/** At the newest committed and the first requested block. If it points to nothing: its code. */
export const implementationsReader: StateReader<Question, Answer> = {
  kind: implementationsKind,
  async read(context, { items }, signal) {
    const { chain, pool, database } = context;
    const contracts = contractsOf(items);
    const addresses = contracts.map(({ address }) => address);
    const block = await beginReading(database, chain, addresses);
    if (block === null) return { contracts: 0 };
    const examples = await contractsWithoutCode(database, chain, EXAMPLES_AT_ONCE);
    const all = [...contracts, ...examples.map((address) => ({ address, selectors: [] }))];
    const read = await readImplementations(stateAt(pool, chain, block), all, signal);
    const former = await readFormer(context, contracts, block.number, signal);
    const rows = contracts
      .flatMap((contract, index) => rowsOf(contract, block.number, read[index], former.get(contract.address)))
      .map((row) => [`${row.proxy} ${row.selector} ${row.fromBlock}`, row] as const);
    await saveImplementations(database, chain, block, [...new Map(rows).values()]);
    const hashes = new Map(all.map(({ address }, index) => [address, read[index]?.codeHash ?? null]));
    await saveCodes(database, chain, block, hashes);
    return { contracts: contracts.length };
  },
};

const EXAMPLES_AT_ONCE = 50;

interface CalledContract extends RequestedContract {
  readonly first: number;
}

function contractsOf(items: readonly string[]): readonly CalledContract[] {
  const requested = items.flatMap((item) => {
    const [, address, selector, block] = ITEM.exec(item) ?? [];
    return isAddress(address) && selector !== undefined
      ? [{ address: parseAddress(address), selector: selector as Hex, block: Number(block) }]
      : [];
  });
  return [...Map.groupBy(requested, ({ address }) => address)].map(([address, calls]) => ({
    address,
    selectors: [...new Set(calls.map(({ selector }) => selector))],
    first: calls.reduce((first, { block }) => Math.min(first, block), Number.POSITIVE_INFINITY),
  }));
}

/** Null: no node has its state. */
async function readFormer(
  { chain, pool, database }: StateReadingContext,
  contracts: readonly CalledContract[],
  newest: number,
  signal: AbortSignal,
): Promise<ReadonlyMap<Address, PointedTo | null>> {
  const former = new Map<Address, PointedTo | null>();
  const older = contracts.filter(({ first }) => first < newest);
  for (const [number, called] of Map.groupBy(older, ({ first }) => first)) {
    const at: BlockToRead = (await knownBlock(database, chain, number)) ?? { number };
    const read = await readImplementations(stateAt(pool, chain, at), called, signal).catch((error: unknown) => {
      if (error instanceof StateNotArchivedError) return null;
      throw error;
    });
    for (const [index, { address }] of called.entries()) former.set(address, read?.[index] ?? null);
  }
  return former;
}

function rowsOf(
  { address, first }: CalledContract,
  newest: number,
  now: PointedTo | undefined,
  former: PointedTo | null | undefined,
): readonly ImplementationRow[] {
  if (now === undefined) return [];
  const { form } = now;
  const untilNow = UNANNOUNCED.has(form) ? newest : null;
  const rows = targetsOf(address, now).map((row) => ({ ...row, fromBlock: newest, untilBlock: untilNow }));
  if (form === 'eip-1167') return [...rows, ...rows.map((row) => ({ ...row, fromBlock: 0 }))];
  if (former === undefined) return rows;
  const then = targetsOf(address, former ?? UNREAD);
  const isSame = JSON.stringify(then) === JSON.stringify(targetsOf(address, now));
  return [...rows, ...then.map((row) => ({ ...row, fromBlock: first, untilBlock: isSame ? newest : first }))];
}

type Target = Omit<ImplementationRow, 'fromBlock' | 'untilBlock'>;

function targetsOf(proxy: Address, { form, implementation, beacon, facets }: PointedTo): readonly Target[] {
  return [
    { proxy, selector: null, implementation, beacon, form },
    ...[...facets].map(([selector, facet]) => ({ proxy, selector, implementation: facet, beacon: null, form })),
  ];
}

/** A contract may be destroyed, and another created there. */
const READ_AGAIN = sql`interval '30 days'`;

async function contractsWithoutCode(
  database: Pick<Database, 'query'>,
  { id }: Pick<Chain, 'id'>,
  limit: number,
): Promise<readonly Address[]> {
  const rows = await database.query<{ address: string }>(
    sql`SELECT DISTINCT ${hexText('entry.address')} AS address FROM contract_abi_entries AS entry
      WHERE entry.chain_id = ${id} AND NOT EXISTS (
        SELECT FROM contract_codes AS known WHERE known.address = entry.address AND known.chain_id = ${id} AND known.has_abi
          AND known.read_at > now() - ${READ_AGAIN})
      ORDER BY 1 LIMIT ${limit}`,
  );
  return rows.map(({ address }) => parseAddress(address));
}

async function saveCodes(
  database: Pick<Database, 'query'>,
  { id }: Pick<Chain, 'id'>,
  block: { readonly number: number; readonly hash: string },
  hashes: ReadonlyMap<Address, Hash | null>,
): Promise<void> {
  if (hashes.size === 0) return;
  await database.query(
    sql`INSERT INTO contract_codes (address, chain_id, code_hash, block_number, has_abi)
     SELECT given.address, ${id}::bigint, given.code_hash, ${block.number}::bigint,
       EXISTS (SELECT FROM contract_abi_entries AS entry WHERE entry.address = given.address AND entry.chain_id = ${id})
     FROM unnest(${[...hashes.keys()].map(addressBytes)}::bytea[], ${Array.from(hashes.values(), (hash) => (hash === null ? null : hexBytes(hash)))}::bytea[]) AS given (address, code_hash)
     WHERE EXISTS (SELECT FROM blocks WHERE chain_id = ${id} AND block_number = ${block.number} AND block_hash = ${hexBytes(block.hash)})
     ORDER BY given.address
     ON CONFLICT (address, chain_id) DO UPDATE SET code_hash = excluded.code_hash, block_number = excluded.block_number,
       has_abi = excluded.has_abi, read_at = excluded.read_at`,
  );
}

interface AskImplementationsOptions {
  readonly nodeReads: NodeReadQueue;
  readonly budget: Pick<OnDemandBudget, 'mayCall'>;
  readonly logger: Logger;
}

const TOGETHER_MAX = 100;
/** Milliseconds. */
const AGAIN_MS = 60_000;
const REMEMBERED_MAX = 20_000;

export function createAskImplementations({
  nodeReads,
  budget,
  logger,
}: AskImplementationsOptions): (chain: Chain, unknown: readonly RequestedEntry[]) => void {
  const lastRequestedAt = new Map<string, number>();

  function isDue(key: string, now: number): boolean {
    if (now - (lastRequestedAt.get(key) ?? Number.NEGATIVE_INFINITY) < AGAIN_MS) return false;
    if (lastRequestedAt.size >= REMEMBERED_MAX) lastRequestedAt.clear();
    lastRequestedAt.set(key, now);
    return true;
  }

  return (chain, unknown) => {
    if (!budget.mayCall) return;
    const now = performance.now();
    const items = unknown.slice(0, TOGETHER_MAX).map(questionItem);
    const due = items.filter((item) => isDue(`${chain.id} ${item}`, now)).toSorted();
    if (due.length === 0) return;
    const read = waitingAtMost(0, () =>
      nodeReads.request(chain, implementationsKind, { items: due }, { maxAgeMs: AGAIN_MS }),
    );
    read.catch((error: unknown) => {
      const facts = { chain: chain.key, error: errorText(error) };
      logger.debug(facts, 'Could not request the implementations of contracts');
    });
  };
}

export interface ImplementationRow {
  readonly proxy: Address;
  readonly selector: Hex | null;
  readonly fromBlock: number;
  /** Null: until a change is announced. */
  readonly untilBlock: number | null;
  readonly implementation: Address | null;
  readonly beacon: Address | null;
  readonly form: ProxyForm;
}

/** Comes first, so that later announcements and reorgs are noticed. Null: nothing is indexed. */
export async function beginReading(database: Database, chain: Chain, contracts: readonly Address[]) {
  return database.transaction(async (transaction) => {
    // A concurrent commit would not see the rows.
    await lockChainCommits(transaction, chain);
    const select: Database['select'] = (statement) => transaction.query(statement);
    const block = await committedBlock({ select, selectLasting: select }, chain);
    if (block !== null)
      await transaction.query(
        sql`INSERT INTO contract_implementations (proxy, chain_id, selector, from_block, known_by)
         SELECT DISTINCT requested.proxy, ${chain.id}::bigint, ''::bytea, ${block.number}::bigint, 'unread' FROM unnest(${contracts.map(addressBytes)}::bytea[]) AS requested (proxy) ORDER BY 1
         ON CONFLICT (proxy, chain_id, selector, from_block) DO UPDATE SET read_at = excluded.read_at`,
      );
    return block;
  });
}

/** Stores nothing after a reorg, and only the earlier state after an announced change. */
export async function saveImplementations(
  database: Database,
  chain: Chain,
  block: StateBlock,
  rows: readonly ImplementationRow[],
): Promise<void> {
  await database.transaction(async (transaction) => {
    await lockChainCommits(transaction, chain);
    await transaction.query(
      sql`INSERT INTO contract_implementations (proxy, chain_id, selector, from_block, until_block, implementation, beacon, known_by)
       SELECT given.proxy, begun.chain_id, given.selector, given.from_block, least(given.until_block, begun.until_block), given.implementation, given.beacon,
         given.known_by
       FROM unnest(${rows.map(({ proxy }) => addressBytes(proxy))}::bytea[], ${rows.map(({ selector }) => hexBytes(selector ?? '0x'))}::bytea[], ${rows.map(({ fromBlock }) => fromBlock)}::bigint[], ${rows.map(({ untilBlock }) => untilBlock)}::bigint[], ${rows.map(({ implementation }) => bytesOrNull(implementation))}::bytea[], ${rows.map(({ beacon }) => bytesOrNull(beacon))}::bytea[], ${rows.map(({ form }) => form)}::text[])
         AS given (proxy, selector, from_block, until_block, implementation, beacon, known_by)
       JOIN contract_implementations AS begun
         ON begun.proxy = given.proxy AND begun.chain_id = ${chain.id} AND begun.selector = ''::bytea AND begun.from_block = ${block.number}
       WHERE EXISTS (SELECT FROM blocks WHERE chain_id = ${chain.id} AND block_number = ${block.number} AND block_hash = ${hexBytes(block.hash)})
       ON CONFLICT (proxy, chain_id, selector, from_block) DO UPDATE SET until_block = excluded.until_block,
         implementation = excluded.implementation, beacon = excluded.beacon, known_by = excluded.known_by, read_at = excluded.read_at`,
    );
  });
}

function bytesOrNull(address: Address | null): Buffer | null {
  return address === null ? null : addressBytes(address);
}
