import { addressAt, decimalAt } from '@chainstead/abi';
import type { Chain } from '@chainstead/chains';
import type { Address, Log } from '@chainstead/core';
import { TRANSFER_TOPIC } from './topics.ts';

/** What an ERC-20 transfer says. */
export interface Erc20Transfer {
  readonly from: Address;
  readonly to: Address;
  /** Base units, as decimal digits. */
  readonly value: string;
}

/**
 * The ERC-20 transfer that a log is; null where it is none. It is one exactly when it has the standard shape of EIP-20: three
 * topics, the last two of them addresses, and 32 bytes of data. Contracts of `chain.erc20Exclusions` emit the shape and mean
 * something else.
 */
export function decodeErc20Transfer(
  log: Pick<Log, 'address' | 'topics' | 'data'>,
  chain: Pick<Chain, 'erc20Exclusions'>,
): Erc20Transfer | null {
  const { topics, data } = log;
  if (topics[0] !== TRANSFER_TOPIC || topics.length !== 3 || data.length !== WORD_LENGTH) return null;
  const from = addressAt(topics[1]);
  const to = addressAt(topics[2]);
  if (from === null || to === null || chain.erc20Exclusions.includes(log.address)) return null;
  return { from, to, value: decimalAt(data) };
}

/** `0x` and 32 bytes. */
const WORD_LENGTH = 66;
