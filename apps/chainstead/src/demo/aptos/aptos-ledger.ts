import { createHash } from 'node:crypto';
import { DemoError } from '../demo-error.ts';

export type AptosRestTransaction = Readonly<Record<string, unknown>>;

export interface AptosLedger {
  readonly chainId: number;
  readonly head: number;
  readonly recorded: readonly number[];
  /** Compact JSON, as from a fullnode. @throws DemoError beyond the head */
  transaction(version: number): Buffer;
  blockOf(version: number): { readonly height: number; readonly first: number; readonly last: number };
}

export interface AptosLedgerOptions {
  readonly chainId?: number;
  readonly transactions: readonly AptosRestTransaction[];
  readonly place?: { readonly from: number; readonly every: number };
  readonly head?: number;
}

const BLOCK_VERSIONS = 10;
const HEAD_ABOVE = 20;
/** 2022-10-12, microseconds. */
const FIRST_TIMESTAMP = 1_665_609_760_000_000;
const MICROSECONDS_PER_VERSION = 20_000;

export function createAptosLedger(options: AptosLedgerOptions): AptosLedger {
  const chainId = options.chainId ?? 1;
  const placed = placeTransactions(options);
  const recorded = [...placed.keys()].toSorted((a, b) => a - b);
  const head = options.head ?? (recorded.at(-1) ?? 0) + HEAD_ABOVE;
  return {
    chainId,
    head,
    recorded,
    blockOf: (version) => blockOf(placed, head, version),
    transaction(version) {
      if (version > head) throw new DemoError(`Version ${version} is above the head ${head}`, { version, head });
      const given = placed.get(version);
      const own = { version: String(version), hash: hashOf('hash', version) };
      const made = given === undefined ? fillerAt(placed, version) : { ...given, ...own };
      const json = { ...made, accumulator_root_hash: hashOf('root', version) };
      return Buffer.from(JSON.stringify(withHeight(json, blockOf(placed, head, version).height)));
    },
  };
}

type Placed = ReadonlyMap<number, AptosRestTransaction>;

function placeTransactions({ transactions, place }: AptosLedgerOptions): Placed {
  let next = place?.from ?? 0;
  return new Map(
    transactions.map((transaction) => {
      if (place === undefined) return [Number(transaction.version), transaction];
      if (isBlockStart(next)) next++;
      const version = next;
      next += place.every;
      return [version, transaction];
    }),
  );
}

function isBlockStart(version: number): boolean {
  return version % BLOCK_VERSIONS === 1;
}

function beginsBlock(placed: Placed, version: number): boolean {
  return version === 0 || (isBlockStart(version) && !placed.has(version));
}

function blockOf(placed: Placed, head: number, version: number): { height: number; first: number; last: number } {
  let first = version;
  while (!beginsBlock(placed, first)) first--;
  let last = version;
  while (last < head && !beginsBlock(placed, last + 1)) last++;
  return { height: Math.ceil(first / BLOCK_VERSIONS), first, last };
}

function hashOf(kind: string, version: number): string {
  return `0x${createHash('sha256').update(`${kind}/${version}`).digest('hex')}`;
}

function fillerAt(placed: Placed, version: number): AptosRestTransaction {
  const made = {
    version: String(version),
    hash: hashOf('hash', version),
    state_change_hash: hashOf('state', version),
    event_root_hash: hashOf('events', version),
    state_checkpoint_hash: null,
    gas_used: '0',
    success: true,
    vm_status: 'Executed successfully',
    accumulator_root_hash: '',
    changes: [],
  };
  const timestamp = String(FIRST_TIMESTAMP + version * MICROSECONDS_PER_VERSION);
  if (version === 0)
    return { ...made, payload: { type: 'write_set_payload' }, events: [], type: 'genesis_transaction' };
  if (!beginsBlock(placed, version)) return { ...made, timestamp, type: 'state_checkpoint_transaction' };
  return {
    ...made,
    id: hashOf('block', version),
    epoch: '1',
    round: '1',
    events: [
      {
        guid: { creation_number: '3', account_address: '0x1' },
        sequence_number: String(version),
        type: '0x1::block::NewBlockEvent',
        data: { epoch: '1', height: '0', time_microseconds: timestamp },
      },
    ],
    timestamp,
    type: 'block_metadata_transaction',
  };
}

function withHeight(transaction: AptosRestTransaction, height: number): AptosRestTransaction {
  if (transaction.type !== 'block_metadata_transaction' || !Array.isArray(transaction.events)) return transaction;
  const events = transaction.events.map((event: AptosRestTransaction) =>
    event.type === '0x1::block::NewBlockEvent'
      ? { ...event, data: { ...(event.data as object), height: String(height) } }
      : event,
  );
  return { ...transaction, events };
}
