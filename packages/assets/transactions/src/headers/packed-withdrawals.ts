import type { Hex } from '@chainstead/core';
import type { BlockRecord } from '../records/block-record.ts';

type Withdrawals = NonNullable<BlockRecord['withdrawals']>;

/** Index, validator's index, address, amount: 8, 8, 20, 8 bytes. Null: a value doesn't fit. */
export function packWithdrawals(withdrawals: Withdrawals): Hex | null {
  let packed = '0x';
  for (const { index, validatorIndex, address, amount } of withdrawals) {
    const numbers = [uint64(index), uint64(validatorIndex), uint64(amount)];
    if (!/^0x[0-9a-f]{40}$/.test(address) || numbers.some((digits) => digits.length !== UINT64_DIGITS))
      return null;
    packed += `${numbers[0]}${numbers[1]}${address.slice(2)}${numbers[2]}`;
  }
  return packed as Hex;
}

export function unpackWithdrawals(packed: string): Withdrawals {
  const withdrawals: Withdrawals = [];
  for (let at = 2; at < packed.length; at += WITHDRAWAL_DIGITS) {
    const number = (from: number) => BigInt(`0x${packed.slice(at + from, at + from + UINT64_DIGITS)}`).toString();
    withdrawals.push({
      index: number(0),
      validatorIndex: number(UINT64_DIGITS),
      address: `0x${packed.slice(at + 2 * UINT64_DIGITS, at + WITHDRAWAL_DIGITS - UINT64_DIGITS)}`,
      amount: number(WITHDRAWAL_DIGITS - UINT64_DIGITS),
    });
  }
  return withdrawals;
}

const UINT64_DIGITS = 16;
const WITHDRAWAL_DIGITS = 88;

function uint64(digits: string): string {
  return BigInt(digits).toString(16).padStart(UINT64_DIGITS, '0');
}
