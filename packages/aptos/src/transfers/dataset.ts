import { readCoinStore } from '../coins/coin-store.ts';
import { createCoinTypes } from '../coins/coin-type.ts';
import { truncate } from '../coins/truncate.ts';
import type { AptosDataset, AptosSlice, DecodedRows } from '../dataset.ts';
import { standardAddress } from '../move-type/address.ts';
import { decimalDigits } from '../rows/json-object.ts';
import { wholeSeconds } from '../rows/whole-seconds.ts';
import type { AptosTransaction } from '../transaction.ts';
import { type CoinEvent, readCoinEvent } from './coin-event.ts';
import { coinTypeByEvent } from './coin-type-by-event.ts';
import { insertTransfers } from './insert-transfers.ts';
import type { TransferRow } from './transfer-row.ts';

/**
 * Withdrawals and deposits of coins in genesis and user transactions, each with the coin of its event's `CoinStore`.
 * The gas of every user transaction, including failed ones, is one more row (docs/api/aptos.md#transfers).
 */
export const transfers: AptosDataset = {
  name: 'transfers',
  tables: ['aptos_transfers'],
  // Every user transaction has a gas row.
  markers: ['user_transaction', 'genesis_transaction'],
  needsBlockHeights: true,
  derive(slice): DecodedRows {
    const rows = deriveTransfers(slice);
    return { count: rows.length, write: (transaction) => insertTransfers(transaction, rows) };
  },
};

/** Returns rows in ledger order: a transaction's gas before its events. */
export function deriveTransfers(slice: AptosSlice): TransferRow[] {
  const describe = createCoinTypes();
  const rows: TransferRow[] = [];
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
/** Before all events. */
const GAS_EVENT_INDEX = -1;
const GAS_CREATION_NUMBER = '-1';
/** Characters; the limit of aptos-labs' indexer. */
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

/**
 * Returns the gas that the sender paid for a user transaction. It is not withdrawn from a store, so it has no event.
 */
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

/** Yields events with their coins. A failed transaction has none, even if it lists some. */
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
