import { type Address, type Log, parseHash, ZERO_ADDRESS } from '@chainstead/core';
import { WRAPPED_COIN_DEPOSIT, WRAPPED_COIN_WITHDRAWAL } from '@chainstead/events/topics';
import { type SeededTransfer, toLog } from '../../transfers/testing/seeded-wallets.ts';

/** Returns the log of a deposit, given as a transfer from the zero address, or of a withdrawal, as a transfer to it. */
export function coinLog(moved: SeededTransfer): Log {
  const account = moved.from === ZERO_ADDRESS ? moved.to : moved.from;
  const event = moved.from === ZERO_ADDRESS ? WRAPPED_COIN_DEPOSIT.topic : WRAPPED_COIN_WITHDRAWAL.topic;
  return { ...toLog(moved), topics: [event, parseHash(`0x${'0'.repeat(24)}${account.slice(2)}`)] };
}

/** Whether a move emits no Transfer. */
export function isWrapping(
  coin: Address | null,
  { token, from, to }: Pick<SeededTransfer, 'token' | 'from' | 'to'>,
) {
  return token === coin && (from === ZERO_ADDRESS || to === ZERO_ADDRESS);
}
