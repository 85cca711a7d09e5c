import type { Address, Hex } from '@chainstead/core';
import { returnedNumber } from '@chainstead/events/abi';

export function balanceOfCall(holder: Address): Hex {
  return `0x70a08231${holder.slice(2).padStart(64, '0')}`;
}

/** Null: no number. */
export function readBalance(returned: Hex | null): bigint | null {
  return returnedNumber(returned);
}
