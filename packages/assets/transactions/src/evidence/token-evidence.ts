import type { Chain } from '@chainstead/chains';
import { type Address, ZERO_ADDRESS } from '@chainstead/core';
import { decodeErc20Transfer } from '@chainstead/events/token-events';
import type { Evidence, EvidenceLog } from './evidence.ts';

export interface TokenMove {
  readonly token: Address;
  readonly from: Address;
  readonly to: Address;
  readonly value: bigint;
}

export function tokensMoved(
  logs: readonly EvidenceLog[],
  chain: Pick<Chain, 'erc20Exclusions'>,
): readonly TokenMove[] {
  return logs.flatMap((log) => {
    const transfer = decodeErc20Transfer(log, chain);
    const value = transfer === null ? 0n : BigInt(transfer.value);
    return transfer === null || value === 0n ? [] : [{ ...transfer, token: log.address, value }];
  });
}

export const RECEIVERS_MIN = 10;

export function* tokenEvidence(moved: readonly TokenMove[]): Generator<readonly [Address, readonly Evidence[]]> {
  yield* handedOut(moved);
  const minted = moved.filter(({ from }) => from === ZERO_ADDRESS);
  if (minted.length === 0) return;
  const paid = tokensBy(moved, ({ from }) => from);
  const taken = tokensBy(moved, ({ to }) => to);
  for (const { token, to } of minted) {
    const [given, got] = [paid.get(to), taken.get(token)];
    if (given !== undefined && got !== undefined && !given.isDisjointFrom(got)) yield [to, ['shareMinted']];
  }
}

function* handedOut(moved: readonly TokenMove[]): Generator<readonly [Address, readonly Evidence[]]> {
  if (moved.length < RECEIVERS_MIN) return;
  for (const given of Map.groupBy(moved, ({ token, from }) => `${token} ${from}`).values()) {
    const receivers = new Set(given.map(({ to }) => to));
    if (receivers.size < RECEIVERS_MIN) continue;
    const isEqual = new Set(given.map(({ value }) => value)).size === 1;
    for (const receiver of receivers)
      yield [receiver, isEqual ? ['handedOut', 'handedOutEqually'] : ['handedOut']];
  }
}

function tokensBy(moved: readonly TokenMove[], side: (move: TokenMove) => Address) {
  return new Map(
    [...Map.groupBy(moved, side)].map(([account, moves]) => [account, new Set(moves.map(({ token }) => token))]),
  );
}
