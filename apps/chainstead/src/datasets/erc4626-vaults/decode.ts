import type { Address, Hash, Log } from '@chainstead/core';
import { addressAt, decimalAt } from '@chainstead/events/abi';

/** keccak256 of `Deposit(address,address,uint256,uint256)` (EIP-4626). */
export const DEPOSIT_TOPIC = '0xdcbc1c05240f31ff3ad067ef1ee35ce4997762752e3a095284754544f4c709d7' as Hash;
/** keccak256 of `Withdraw(address,address,address,uint256,uint256)` (EIP-4626). */
export const WITHDRAW_TOPIC = '0xfbde797d201c681b91056529119e0b02407c7bb96a4a2c75c01fc9667232c8db' as Hash;

/** `0x` and two words. */
const DATA_LENGTH = 130;

/** Assets that went into a vault or out of it. Amounts are decimal digits of base units. */
export interface VaultMove {
  readonly kind: 'deposit' | 'withdraw';
  readonly sender: Address;
  readonly owner: Address;
  /** Receiver of the assets of a withdrawal; for a deposit the owner, who receives the shares. */
  readonly receiver: Address;
  readonly assets: string;
  readonly shares: string;
}

export function decodeVaultMove({ topics, data }: Pick<Log, 'topics' | 'data'>): VaultMove | null {
  const [topic0, first, second, third] = topics;
  const isDeposit = topic0 === DEPOSIT_TOPIC;
  if (!isDeposit && topic0 !== WITHDRAW_TOPIC) return null;
  if (topics.length !== (isDeposit ? 3 : 4) || data.length !== DATA_LENGTH) return null;
  const [sender, receiver, owner] = [addressAt(first), addressAt(second), addressAt(isDeposit ? second : third)];
  if (sender === null || receiver === null || owner === null) return null;
  const kind = isDeposit ? 'deposit' : 'withdraw';
  return { kind, sender, owner, receiver, assets: decimalAt(data, 0), shares: decimalAt(data, 1) };
}
