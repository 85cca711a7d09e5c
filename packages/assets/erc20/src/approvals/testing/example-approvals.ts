import type { Chain } from '@chainstead/chains';
import { type Address, type Hash, type Log, parseAddress, parseHash } from '@chainstead/core';
import { APPROVAL_TOPIC } from '@chainstead/events/token-events';
import { hashOf, timestampOf } from '@chainstead/testkit';
import { erc20Approvals } from '../dataset.ts';

/** An approval in a test. */
export interface ExampleApproval {
  readonly owner: Address;
  readonly token: Address;
  readonly spender: Address;
  readonly value: bigint;
  readonly blockNumber: number;
  readonly logIndex: number;
}

/** Returns a distinct address for each number, in ascending order. */
export function accountOf(number: number): Address {
  return parseAddress(`0x${number.toString(16).padStart(40, '0')}`);
}

export function toLog(approval: ExampleApproval): Log {
  const topic = (address: Address): Hash => parseHash(`0x${'0'.repeat(24)}${address.slice(2)}`);
  return {
    address: approval.token,
    topics: [APPROVAL_TOPIC, topic(approval.owner), topic(approval.spender)],
    data: `0x${approval.value.toString(16).padStart(64, '0')}`,
    blockNumber: approval.blockNumber,
    blockHash: hashOf(1, approval.blockNumber),
    transactionHash: hashOf(2, approval.blockNumber * 1_000 + approval.logIndex),
    transactionIndex: 0,
    logIndex: approval.logIndex,
    blockTimestamp: null,
  };
}

/** COPY lines as written by the engine. */
export function linesOf(chain: Chain, approvals: Iterable<ExampleApproval>): string[] {
  return erc20Approvals
    .decode([...approvals].map(toLog), { chain, timestampOf })
    .map(erc20Approvals.table.copyLine);
}
