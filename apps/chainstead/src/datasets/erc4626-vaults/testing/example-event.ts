import { type Address, type Log, parseHash } from '@chainstead/core';
import { addressOf } from '@chainstead/testkit';
import { encodeAbiParameters, encodeEventTopics, parseAbi } from 'viem';
import { exampleLog } from '../../testing/seed-logs.ts';

export const VAULT_ABI = parseAbi([
  'event Deposit(address indexed sender, address indexed owner, uint256 assets, uint256 shares)',
  'event Withdraw(address indexed sender, address indexed receiver, address indexed owner, uint256 assets, uint256 shares)',
]);

/** The vault of the examples. */
export const VAULT: Address = addressOf(0xc0);
export const SENDER: Address = addressOf(1);
export const RECEIVER: Address = addressOf(2);
export const OWNER: Address = addressOf(3);

const EXAMPLE = { sender: SENDER, receiver: RECEIVER, owner: OWNER, assets: 4_000n, shares: 5_000n };

type Values = Partial<typeof EXAMPLE>;
type Place = Parameters<typeof exampleLog>[1];

/** A deposit for the owner. */
export function depositLog(values: Values = {}, place: Place = {}): Log {
  return toLog('Deposit', values, place);
}

/** A withdrawal of the owner's shares, whose assets go to the receiver. */
export function withdrawLog(values: Values = {}, place: Place = {}): Log {
  return toLog('Withdraw', values, place);
}

function toLog(eventName: 'Deposit' | 'Withdraw', values: Values, place: Place): Log {
  const { assets, shares, ...args } = { ...EXAMPLE, ...values };
  const encoded = encodeEventTopics({ abi: VAULT_ABI, eventName, args });
  const data = encodeAbiParameters([{ type: 'uint256' }, { type: 'uint256' }], [assets, shares]);
  return exampleLog({ address: VAULT, topics: encoded.map((topic) => parseHash(String(topic))), data }, place);
}
