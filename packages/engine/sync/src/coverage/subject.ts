import type { Address, ChainId } from '@chainstead/core';
import { addressBytes, type Sql, sql } from '@chainstead/db';

export type SubjectKind = 'wallet' | 'contract' | 'sender' | 'receiver' | 'emitter' | 'trader';

/**
 * Subject of an on-demand backfill:
 * - wallet: transfers in and out
 * - contract: its decoded events
 * - sender: its transactions
 * - receiver: native tokens received, found through its balances
 * - emitter: all logs of a contract
 * - trader: its rows of datasets that are decoded from whole transactions
 */
export interface Subject {
  readonly chainId: ChainId;
  readonly kind: SubjectKind;
  readonly address: Address;
}

export interface RangeSubject extends Omit<Subject, 'kind'> {
  readonly kind: SubjectKind | `${SubjectKind}-${string}`;
}

export function isOfSubject({ chainId, kind, address }: RangeSubject): Sql {
  return sql`chain_id = ${chainId} AND kind = ${kind} AND subject = ${addressBytes(address)}`;
}

/** Values of `chain_id, kind, subject`. */
export function subjectKey({ chainId, kind, address }: RangeSubject): Sql {
  return sql`${chainId}, ${kind}, ${addressBytes(address)}`;
}
