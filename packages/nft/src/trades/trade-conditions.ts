/**
 * Conditions over the columns of `nft_trades` that find rows by an index. Whole addresses and ids are compared next to
 * their keys, declared as expected to be true. Otherwise the planner multiplies both selectivities, expects almost no
 * rows, and reads and sorts all of them.
 */
import type { Address } from '@chainstead/core';
import { addressBytes, type Bind, expectedTrueOld } from '@chainstead/db';
import { addressKey } from '@chainstead/db/address-key';

/** An address as values of a statement. */
export interface BoundAddress {
  readonly bytes: string;
  readonly key: string;
}

export function bindAddress(address: Address, bind: Bind): BoundAddress {
  return { bytes: `${bind(addressBytes(address))}::bytea`, key: `${bind(addressKey(address))}::bigint` };
}

export function ofCollection({ bytes, key }: BoundAddress): readonly string[] {
  return [`collection_key = ${key}`, expectedTrueOld(`token_address = ${bytes}`)];
}

/** Used together with {@link ofCollection}. @param tokenId SQL of a numeric */
export function ofToken(tokenId: string): readonly string[] {
  return [`token_id_key(token_id) = token_id_key(${tokenId})`, expectedTrueOld(`token_id = ${tokenId}`)];
}

export function ofWallet(side: 'seller' | 'buyer', { bytes, key }: BoundAddress): readonly string[] {
  return [`address_key(${side}) = ${key}`, expectedTrueOld(`${side} = ${bytes}`)];
}
