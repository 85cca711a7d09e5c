import { isCoinStruct } from '../coins/coin-type.ts';
import { standardAddress } from '../move-type/address.ts';
import { decimalDigits, jsonObject } from '../rows/json-object.ts';
import type { AptosEvent } from '../transaction.ts';

/** A withdrawal or deposit from its event, which does not contain the coin. */
export interface CoinEvent {
  readonly activityType: ActivityType;
  /** Position among the transaction's events, from 0. */
  readonly index: number;
  /** `0x` and 64 hexadecimal digits. */
  readonly account: string;
  readonly creationNumber: string;
  readonly sequenceNumber: string;
  /** Base units. */
  readonly amount: string;
}

export type ActivityType = '0x1::coin::WithdrawEvent' | '0x1::coin::DepositEvent' | '0x1::aptos_coin::GasFeeEvent';

/** Returns the withdrawal or deposit of an event; null for every other event, including module events. */
export function readCoinEvent(event: AptosEvent, index: number): CoinEvent | null {
  const activityType = activityTypeOf(event.type);
  if (activityType === null) return null;
  const account = standardAddress(event.guid.account_address);
  const amount = decimalDigits(jsonObject(event.data)?.amount);
  const creationNumber = decimalDigits(event.guid.creation_number);
  const sequenceNumber = decimalDigits(event.sequence_number);
  if (account === null || amount === null || creationNumber === null || sequenceNumber === null) return null;
  return { activityType, index, account, creationNumber, sequenceNumber, amount };
}

function activityTypeOf(type: string): ActivityType | null {
  if (type === '0x1::coin::WithdrawEvent' || type === '0x1::coin::DepositEvent') return type;
  if (isCoinStruct(type, 'WithdrawEvent')) return '0x1::coin::WithdrawEvent';
  if (isCoinStruct(type, 'DepositEvent')) return '0x1::coin::DepositEvent';
  return null;
}
