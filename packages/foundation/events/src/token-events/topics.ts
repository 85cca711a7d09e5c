import type { Chain } from '@chainstead/chains';
import { type Address, type Hash, type Log, parseAddress } from '@chainstead/core';
import { defineEvent } from '../decoding/index.ts';

/** `Transfer(address,address,uint256)`. Topics: ERC-721 four, ERC-20 three, CryptoKitties one. */
export const TRANSFER_TOPIC = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef' as Hash;

/** `TransferSingle(address,address,address,uint256,uint256)` */
export const TRANSFER_SINGLE_TOPIC = '0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62' as Hash;

/** `TransferBatch(address,address,address,uint256[],uint256[])` */
export const TRANSFER_BATCH_TOPIC = '0x4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb' as Hash;

/** EIP-2309 `ConsecutiveTransfer(uint256,uint256,address,address)` */
export const CONSECUTIVE_TRANSFER_TOPIC =
  '0xdeaa91b6123d068f5821d0fb0678463d1a8a6079fe8af5de3ce5e896dcf9133d' as Hash;

/** `Assign(address,uint256)` */
export const PUNK_ASSIGN_TOPIC = '0x8a0e37b73a0d9c82e205d4d1a3ff3d0b57ce5f4d7bccf6bac03336dc101cb7ba' as Hash;

/** `PunkTransfer(address,address,uint256)` */
export const PUNK_TRANSFER_TOPIC = '0x05af636b70da6819000c49f85b21fa82081c632069bb626f30932034099107d8' as Hash;

/** `PunkBought(uint256,uint256,address,address)` */
export const PUNK_BOUGHT_TOPIC = '0x58e5d5a525e3b40bc15abaa38b5882678db1ee68befd2f60bafe3a7fd06db9e3' as Hash;

export const WORD_LENGTH = 66;

export function topicOf(account: Address): Hash {
  return `0x${account.slice(2).padStart(64, '0')}` as Hash;
}

const STANDARD = [TRANSFER_TOPIC, TRANSFER_SINGLE_TOPIC, TRANSFER_BATCH_TOPIC, CONSECUTIVE_TRANSFER_TOPIC];
const WITH_PUNKS = [...STANDARD, PUNK_ASSIGN_TOPIC, PUNK_TRANSFER_TOPIC, PUNK_BOUGHT_TOPIC];

export function nftTransferTopics(chain: Chain): readonly Hash[] {
  return chain.cryptoPunks === null ? STANDARD : WITH_PUNKS;
}

/** WETH9 and successors. */
export const WRAPPED_COIN_DEPOSIT = defineEvent('event Deposit(address indexed account, uint256 value)');
export const WRAPPED_COIN_WITHDRAWAL = defineEvent('event Withdrawal(address indexed account, uint256 value)');

interface WrappedCoinMove {
  readonly kind: 'deposit' | 'withdrawal';
  readonly account: Address;
  readonly value: string;
}

/** Null for other events, or if the account is in no topic. */
export function decodeWrappedCoinMove(log: Pick<Log, 'topics' | 'data'>): WrappedCoinMove | null {
  const deposit = WRAPPED_COIN_DEPOSIT.readStored(log);
  if (deposit !== null) return { kind: 'deposit', ...deposit };
  const withdrawal = WRAPPED_COIN_WITHDRAWAL.readStored(log);
  return withdrawal === null ? null : { kind: 'withdrawal', ...withdrawal };
}

/** EIP-7708, or destruction in its drafts: looks like ERC-20. No contract can have this address. */
export function isNativeTransferLog({ address }: Pick<Log, 'address'>): boolean {
  return address === SYSTEM_ADDRESS;
}

const SYSTEM_ADDRESS = parseAddress('0xfffffffffffffffffffffffffffffffffffffffe');
