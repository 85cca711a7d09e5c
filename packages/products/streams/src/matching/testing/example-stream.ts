import { type Address, parseChainId } from '@chainstead/core';
import { parseAbiItem } from 'viem';
import { DEFAULT_CONFIG } from '../../routes/stream-checks.ts';
import type { AbiItem, Stream } from '../../stream.ts';

export const EXAMPLE_CHAIN_ID = parseChainId(1);

/** A stream that watches nothing unless configured. */
export function exampleStream(config: Partial<Stream> = {}): Stream {
  return {
    ...DEFAULT_CONFIG,
    id: '5f263741-fcaf-447f-890d-6b1b82eea35c',
    webhookUrl: 'https://receiver.example/hook',
    description: 'Example',
    tag: 'example',
    chainIds: [EXAMPLE_CHAIN_ID],
    status: 'active',
    statusMessage: 'Stream is active',
    amountOfAddresses: 0,
    createdAt: new Date(0),
    updatedAt: new Date(0),
    ...config,
  };
}

/** Parses the ABI item of an event from its Solidity declaration. */
export function eventItem(declaration: string): AbiItem {
  return parseAbiItem([declaration]) as AbiItem;
}

export const ERC20_TRANSFER = eventItem(
  'event Transfer(address indexed from, address indexed to, uint256 value)',
);
export const ERC721_TRANSFER = eventItem(
  'event Transfer(address indexed from, address indexed to, uint256 indexed tokenId)',
);
export const TRANSFER_SIGNATURE = 'Transfer(address,address,uint256)';

/** Returns the address that repeats this byte twenty times. */
export function exampleAddress(byte: number): Address {
  return `0x${byte.toString(16).padStart(2, '0').repeat(20)}` as Address;
}
