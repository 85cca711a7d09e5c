import type { Address, Hash, Log } from '@chainstead/core';
import { addressAt, decimalAt } from '@chainstead/events/abi';

/** EIP-4626 */
export const DEPOSIT_TOPIC = '0xdcbc1c05240f31ff3ad067ef1ee35ce4997762752e3a095284754544f4c709d7' as Hash;
/** EIP-4626 */
export const WITHDRAW_TOPIC = '0xfbde797d201c681b91056529119e0b02407c7bb96a4a2c75c01fc9667232c8db' as Hash;

const DATA_LENGTH = 130;

/** Into or out of a vault. Decimal digits of base units. */
export interface VaultMove {
  readonly kind: 'deposit' | 'withdraw';
  readonly sender: Address;
  readonly owner: Address;
  /** Receiver of a withdrawal's assets; for a deposit its owner, who gets the shares. */
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
