import { standardAddress } from '../move-type/move-type.ts';
import { decimalDigits, jsonObject } from '../rows/json-object.ts';
import type { AptosChange } from '../transaction.ts';
import { coinTypeOf } from './coin-type.ts';

export interface CoinStore {
  /** `0x` and 64 hexadecimal digits. */
  readonly owner: string;
  readonly coinType: string;
  /** Base units; 0 when deleted. */
  readonly amount: string;
  readonly deleted: boolean;
  /** {@link eventHandleKey}; empty when deleted. */
  readonly eventHandles: readonly string[];
}

/** Null: no coin store is written or deleted. */
export function readCoinStore(change: AptosChange): CoinStore | null {
  if (change.address === undefined) return null;
  if (change.type === 'write_resource') return writtenStore(change.address, change.data);
  if (change.type === 'delete_resource') return deletedStore(change.address, change.resource);
  return null;
}

export function eventHandleKey(account: string, creationNumber: string): string {
  return `${standardAddress(account)}/${creationNumber}`;
}

function writtenStore(address: string, data: unknown): CoinStore | null {
  const resource = jsonObject(data);
  if (typeof resource?.type !== 'string' || !resource.type.includes('CoinStore')) return null;
  const coinType = coinTypeOf(resource.type, 'CoinStore');
  const fields = jsonObject(resource.data);
  const amount = decimalDigits(jsonObject(fields?.coin)?.value);
  const owner = standardAddress(address);
  if (coinType === null || fields === null || amount === null || owner === null) return null;
  const eventHandles = [fields.deposit_events, fields.withdraw_events].flatMap((handle) => {
    const id = jsonObject(jsonObject(jsonObject(handle)?.guid)?.id);
    if (typeof id?.addr !== 'string' || typeof id.creation_num !== 'string') return [];
    return eventHandleKey(id.addr, id.creation_num);
  });
  return { owner, coinType, amount, deleted: false, eventHandles };
}

function deletedStore(address: string, resource: string | undefined): CoinStore | null {
  if (resource === undefined || !resource.includes('CoinStore')) return null;
  const coinType = coinTypeOf(resource, 'CoinStore');
  const owner = standardAddress(address);
  if (coinType === null || owner === null) return null;
  return { owner, coinType, amount: '0', deleted: true, eventHandles: [] };
}
