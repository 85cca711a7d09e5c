import {
  type CoinStore,
  createCoinTypes,
  eventHandleKey,
  isCoinStruct,
  readCoinStore,
  truncate,
} from '../coins/dataset.ts';
import type { AptosDataset, AptosSlice, DecodedRows } from '../dataset.ts';
import { standardAddress } from '../move-type/move-type.ts';
import { decimalDigits, type Inserted, insertRows, jsonObject } from '../rows/insert-rows.ts';
import { type AptosEvent, type AptosTransaction, wholeSeconds } from '../transaction.ts';

const COLUMNS = {
  network: 'text',
  owner_address: 'bytea',
  transaction_version: 'bigint',
  /** Among the transaction's events; -1: gas. */
  event_index: 'integer',
  event_account_address: 'bytea',
  event_creation_number: 'numeric',
  event_sequence_number: 'numeric',
  activity_type: 'text',
  /** Base units. */
  amount: 'numeric',
  block_height: 'bigint',
  coin_type: 'text',
  coin_type_hash: 'bytea',
  entry_function_id: 'text?',
  is_gas_fee: 'boolean',
  is_transaction_success: 'boolean',
  transaction_timestamp: 'timestamptz',
} as const;

type TransferRow = Inserted<typeof COLUMNS>;

/** With a gas row per user transaction, even failed (docs/api/aptos.md#transfers). */
export const transfers: AptosDataset = {
  name: 'transfers',
  tables: ['aptos_transfers'],
  markers: ['user_transaction', 'genesis_transaction'],
  needsBlockHeights: true,
  derive(slice): DecodedRows {
    const rows = deriveTransfers(slice);
    const inKeyOrder = rows.toSorted((a, b) => {
      if (a.owner_address !== b.owner_address) return a.owner_address < b.owner_address ? -1 : 1;
      return a.transaction_version - b.transaction_version || a.event_index - b.event_index;
    });
    const insert = { table: 'aptos_transfers', columns: COLUMNS, onConflict: null };
    return { count: rows.length, write: (transaction) => insertRows(transaction, insert, inKeyOrder) };
  },
};

export function deriveTransfers({ network, transactions, blockHeight }: AptosSlice): TransferRow[] {
  const describe = createCoinTypes();
  const rows: TransferRow[] = [];
  for (const transaction of transactions) {
    const { type, version, entryFunction } = transaction;
    if (type !== 'user_transaction' && type !== 'genesis_transaction') continue;
    const shared = {
      network,
      transaction_version: version,
      block_height: blockHeight(version),
      entry_function_id: entryFunction === null ? null : truncate(entryFunction, ENTRY_FUNCTION_LENGTH_MAX),
      is_transaction_success: transaction.success,
      transaction_timestamp: wholeSeconds(transaction.timestamp),
    };
    const gas = gasOf(transaction);
    if (gas !== null) rows.push({ ...shared, ...gas, ...describe(APTOS_COIN) });
    for (const { event, coinType } of movementsOf(transaction))
      rows.push({ ...shared, ...event, ...describe(coinType) });
  }
  return rows;
}

const APTOS_COIN = '0x1::aptos_coin::AptosCoin';
const GAS_EVENT_INDEX = -1;
const GAS_CREATION_NUMBER = '-1';
/** Characters, as aptos-labs' indexer. */
const ENTRY_FUNCTION_LENGTH_MAX = 1_000;

function gasOf({ type, sender, sequenceNumber, gasUsed, gasUnitPrice }: AptosTransaction) {
  if (type !== 'user_transaction' || sender === null) return null;
  const address = standardAddress(sender);
  const sequence = decimalDigits(sequenceNumber);
  const units = decimalDigits(gasUsed);
  const price = decimalDigits(gasUnitPrice);
  if (address === null || sequence === null || units === null || price === null) return null;
  return {
    owner_address: address,
    event_index: GAS_EVENT_INDEX,
    event_account_address: address,
    event_creation_number: GAS_CREATION_NUMBER,
    event_sequence_number: sequence,
    activity_type: '0x1::aptos_coin::GasFeeEvent',
    amount: (BigInt(units) * BigInt(price)).toString(),
    is_gas_fee: true,
  };
}

type CoinEvent = NonNullable<ReturnType<typeof readCoinEvent>>;

/** None if it failed, whatever it lists. */
function* movementsOf(transaction: AptosTransaction): Generator<{ event: CoinEvent; coinType: string }> {
  if (!transaction.success) return;
  const events = transaction.events.map(readCoinEvent).filter((event) => event !== null);
  if (events.length === 0) return;
  const coinTypeFor = coinTypeByEvent(transaction.changes.map(readCoinStore).filter((store) => store !== null));
  for (const event of events) {
    const coinType = coinTypeFor(event);
    if (coinType !== null) yield { event, coinType };
  }
}

const COIN_EVENTS = ['WithdrawEvent', 'DepositEvent'] as const;

function readCoinEvent({ type, guid, sequence_number, data }: AptosEvent, index: number) {
  const name = COIN_EVENTS.find((candidate) => isCoinStruct(type, candidate));
  if (name === undefined) return null;
  const account = standardAddress(guid.account_address);
  const amount = decimalDigits(jsonObject(data)?.amount);
  const creationNumber = decimalDigits(guid.creation_number);
  const sequence = decimalDigits(sequence_number);
  if (account === null || amount === null || creationNumber === null || sequence === null) return null;
  return {
    owner_address: account,
    event_index: index,
    event_account_address: account,
    event_creation_number: creationNumber,
    event_sequence_number: sequence,
    activity_type: `0x1::coin::${name}`,
    amount,
    is_gas_fee: false,
  };
}

/** Deleted stores hide handles: if an account loses one only, its other events are of that coin. */
function coinTypeByEvent(stores: readonly CoinStore[]): (event: CoinEvent) => string | null {
  const byHandle = new Map<string, string>();
  const byOwnerOfDeleted = new Map<string, string | null>();
  for (const { deleted, owner, coinType, eventHandles } of stores) {
    for (const handle of eventHandles) byHandle.set(handle, coinType);
    // A second one makes it ambiguous.
    if (deleted) byOwnerOfDeleted.set(owner, byOwnerOfDeleted.has(owner) ? null : coinType);
  }
  return ({ owner_address, event_creation_number }) =>
    byHandle.get(eventHandleKey(owner_address, event_creation_number)) ??
    byOwnerOfDeleted.get(owner_address) ??
    null;
}
