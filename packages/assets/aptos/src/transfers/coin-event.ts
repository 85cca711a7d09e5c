import { isCoinStruct } from '../coins/coin-type.ts';
import { standardAddress } from '../move-type/move-type.ts';
import { decimalDigits, jsonObject } from '../rows/json-object.ts';
import type { AptosEvent } from '../transaction.ts';

export interface CoinEvent {
  readonly activityType: ActivityType;
  readonly index: number;
  /** `0x` and 64 hexadecimal digits. */
  readonly account: string;
  readonly creationNumber: string;
  readonly sequenceNumber: string;
  /** Base units. */
  readonly amount: string;
}

export type ActivityType = '0x1::coin::WithdrawEvent' | '0x1::coin::DepositEvent' | '0x1::aptos_coin::GasFeeEvent';

export function readCoinEvent(event: AptosEvent, index: number): CoinEvent | null {
  const name = COIN_EVENTS.find((candidate) => isCoinStruct(event.type, candidate));
  if (name === undefined) return null;
  const account = standardAddress(event.guid.account_address);
  const amount = decimalDigits(jsonObject(event.data)?.amount);
  const creationNumber = decimalDigits(event.guid.creation_number);
  const sequenceNumber = decimalDigits(event.sequence_number);
  if (account === null || amount === null || creationNumber === null || sequenceNumber === null) return null;
  return { activityType: `0x1::coin::${name}`, index, account, creationNumber, sequenceNumber, amount };
}

const COIN_EVENTS = ['WithdrawEvent', 'DepositEvent'] as const;
