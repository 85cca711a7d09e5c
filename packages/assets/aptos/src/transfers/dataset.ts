import { type CoinStore, eventHandleKey, readCoinStore } from '../coins/coin-store.ts';
import { type CoinType, createCoinTypes, truncate } from '../coins/coin-type.ts';
import type { AptosDataset, AptosSlice, DecodedRows } from '../dataset.ts';
import { standardAddress } from '../move-type/move-type.ts';
import { type Insert, insertRows } from '../rows/insert-rows.ts';
import { decimalDigits } from '../rows/json-object.ts';
import { type AptosNetwork, type AptosTransaction, wholeSeconds } from '../transaction.ts';
import { type ActivityType, type CoinEvent, readCoinEvent } from './coin-event.ts';

/** With a gas row per user transaction, even failed (docs/api/aptos.md#transfers). */
export const transfers: AptosDataset = {
  name: 'transfers',
  tables: ['aptos_transfers'],
  markers: ['user_transaction', 'genesis_transaction'],
  needsBlockHeights: true,
  derive(slice): DecodedRows {
    const rows = deriveTransfers(slice);
    const inKeyOrder = rows.toSorted((a, b) => {
      if (a.ownerAddress !== b.ownerAddress) return a.ownerAddress < b.ownerAddress ? -1 : 1;
      return a.transactionVersion - b.transactionVersion || a.eventIndex - b.eventIndex;
    });
    return { count: rows.length, write: (transaction) => insertRows(transaction, INSERT, inKeyOrder) };
  },
};

export function deriveTransfers(slice: AptosSlice): StoredTransfer[] {
  const describe = createCoinTypes();
  const rows: StoredTransfer[] = [];
  for (const transaction of slice.transactions) {
    if (transaction.type !== 'user_transaction' && transaction.type !== 'genesis_transaction') continue;
    const shared = sharedColumns(slice, transaction);
    const gas = gasOf(transaction);
    if (gas !== null) rows.push({ ...gas, ...shared, coinType: describe(APTOS_COIN) });
    for (const { coinType, event } of movementsOf(transaction))
      rows.push({
        ...shared,
        ownerAddress: event.account,
        eventIndex: event.index,
        eventAccountAddress: event.account,
        eventCreationNumber: event.creationNumber,
        eventSequenceNumber: event.sequenceNumber,
        activityType: event.activityType,
        amount: event.amount,
        isGasFee: false,
        coinType: describe(coinType),
      });
  }
  return rows;
}

const APTOS_COIN = '0x1::aptos_coin::AptosCoin';
const GAS_EVENT_INDEX = -1;
const GAS_CREATION_NUMBER = '-1';
/** Characters, as aptos-labs' indexer. */
const ENTRY_FUNCTION_LENGTH_MAX = 1_000;

function sharedColumns(slice: AptosSlice, transaction: AptosTransaction) {
  return {
    network: slice.network,
    transactionVersion: transaction.version,
    blockHeight: slice.blockHeight(transaction.version),
    entryFunctionId:
      transaction.entryFunction === null ? null : truncate(transaction.entryFunction, ENTRY_FUNCTION_LENGTH_MAX),
    isTransactionSuccess: transaction.success,
    transactionTimestamp: wholeSeconds(transaction.timestamp),
  };
}

function gasOf(transaction: AptosTransaction) {
  const { sender, sequenceNumber, gasUsed, gasUnitPrice } = transaction;
  if (transaction.type !== 'user_transaction' || sender === null) return null;
  const address = standardAddress(sender);
  const eventSequenceNumber = decimalDigits(sequenceNumber);
  const units = decimalDigits(gasUsed);
  const price = decimalDigits(gasUnitPrice);
  if (address === null || eventSequenceNumber === null || units === null || price === null) return null;
  return {
    ownerAddress: address,
    eventIndex: GAS_EVENT_INDEX,
    eventAccountAddress: address,
    eventCreationNumber: GAS_CREATION_NUMBER,
    eventSequenceNumber,
    activityType: '0x1::aptos_coin::GasFeeEvent' as const,
    amount: (BigInt(units) * BigInt(price)).toString(),
    isGasFee: true,
  };
}

/** None if it failed, whatever it lists. */
function* movementsOf(transaction: AptosTransaction): Generator<{ event: CoinEvent; coinType: string }> {
  if (!transaction.success) return;
  const events = transaction.events.map(readCoinEvent).filter((event) => event !== null);
  if (events.length === 0) return;
  const stores = transaction.changes.map(readCoinStore).filter((store) => store !== null);
  const coinTypeFor = coinTypeByEvent(stores);
  for (const event of events) {
    const coinType = coinTypeFor(event);
    if (coinType !== null) yield { event, coinType };
  }
}

interface StoredTransfer {
  readonly network: AptosNetwork;
  readonly ownerAddress: string;
  readonly transactionVersion: number;
  /** Among the transaction's events; -1: gas. */
  readonly eventIndex: number;
  readonly eventAccountAddress: string;
  readonly eventCreationNumber: string;
  readonly eventSequenceNumber: string;
  readonly activityType: ActivityType;
  readonly amount: string;
  readonly blockHeight: number;
  readonly coinType: CoinType;
  readonly entryFunctionId: string | null;
  readonly isGasFee: boolean;
  readonly isTransactionSuccess: boolean;
  readonly transactionTimestamp: Date;
}

const INSERT: Insert<StoredTransfer> = {
  table: 'aptos_transfers',
  columns: [
    { name: 'network', type: 'text', value: (row) => row.network },
    { name: 'owner_address', type: 'bytea', value: (row) => row.ownerAddress },
    { name: 'transaction_version', type: 'bigint', value: (row) => row.transactionVersion },
    { name: 'event_index', type: 'integer', value: (row) => row.eventIndex },
    { name: 'event_account_address', type: 'bytea', value: (row) => row.eventAccountAddress },
    { name: 'event_creation_number', type: 'bigint', value: (row) => row.eventCreationNumber },
    { name: 'event_sequence_number', type: 'numeric', value: (row) => row.eventSequenceNumber },
    { name: 'activity_type', type: 'text', value: (row) => row.activityType },
    { name: 'amount', type: 'numeric', value: (row) => row.amount },
    { name: 'block_height', type: 'bigint', value: (row) => row.blockHeight },
    { name: 'coin_type', type: 'text', value: (row) => row.coinType.text },
    { name: 'coin_type_hash', type: 'bytea', value: (row) => row.coinType.hash },
    { name: 'entry_function_id', type: 'text', value: (row) => row.entryFunctionId },
    { name: 'is_gas_fee', type: 'boolean', value: (row) => row.isGasFee },
    { name: 'is_transaction_success', type: 'boolean', value: (row) => row.isTransactionSuccess },
    { name: 'transaction_timestamp', type: 'timestamptz', value: (row) => row.transactionTimestamp },
  ],
  onConflict: null,
};

/** Deleted stores hide handles: if an account loses one only, its other events are of that coin. */
export function coinTypeByEvent(stores: readonly CoinStore[]): (event: CoinEvent) => string | null {
  const byHandle = new Map<string, string>();
  const byOwnerOfDeleted = new Map<string, string | null>();
  for (const { deleted, owner, coinType, eventHandles } of stores) {
    for (const handle of eventHandles) byHandle.set(handle, coinType);
    // A second one makes it ambiguous.
    if (deleted) byOwnerOfDeleted.set(owner, byOwnerOfDeleted.has(owner) ? null : coinType);
  }
  return ({ account, creationNumber }) =>
    byHandle.get(eventHandleKey(account, creationNumber)) ?? byOwnerOfDeleted.get(account) ?? null;
}
