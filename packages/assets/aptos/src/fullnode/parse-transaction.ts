import { isObject } from '@chainstead/core';
import type { AptosChange, AptosEvent, AptosTransaction } from '../transaction.ts';
import { FullnodeFault } from './errors.ts';
import { wholeNumber } from './ledger-info.ts';

/** Genesis has no timestamp, only user transactions a sender. @throws FullnodeFault malformed */
export function parseTransaction(value: unknown): AptosTransaction {
  if (!isObject(value)) throw new FullnodeFault('malformed', 'an entry of the response is not a transaction');
  const version = wholeNumber(value.version);
  if (version === undefined) throw new FullnodeFault('malformed', `${shown(value.version)} is not a version`);
  const { type, success, accumulator_root_hash: root, timestamp } = value;
  if (typeof type !== 'string') throw malformed(version, 'type', type);
  if (typeof success !== 'boolean') throw malformed(version, 'success', success);
  if (typeof root !== 'string') throw malformed(version, 'accumulator_root_hash', root);
  if (timestamp !== undefined && !isDigits(timestamp)) throw malformed(version, 'timestamp', timestamp);
  const sender = value.sender ?? null;
  if (sender !== null && typeof sender !== 'string') throw malformed(version, 'sender', sender);
  return {
    type,
    version,
    accumulatorRootHash: root,
    timestamp: timestamp === undefined ? null : BigInt(timestamp),
    success,
    changes: listOf(value.changes ?? [], isChange, version, 'changes'),
    events: listOf(withGuids(value.events ?? []), isEvent, version, 'events'),
    sender,
    sequenceNumber: digitsOrNull(value.sequence_number, version, 'sequence_number'),
    gasUsed: digitsOrNull(value.gas_used, version, 'gas_used'),
    gasUnitPrice: digitsOrNull(value.gas_unit_price, version, 'gas_unit_price'),
    entryFunction: entryFunctionOf(value.payload),
  };
}

function entryFunctionOf(payload: unknown): string | null {
  if (!isObject(payload)) return null;
  if (payload.type === 'multisig_payload') return entryFunctionOf(payload.transaction_payload);
  return payload.type === 'entry_function_payload' && typeof payload.function === 'string'
    ? payload.function
    : null;
}

function isChange(value: unknown): value is AptosChange {
  return (
    isObject(value) &&
    typeof value.type === 'string' &&
    (value.address === undefined || typeof value.address === 'string') &&
    (value.resource === undefined || typeof value.resource === 'string')
  );
}

function isEvent(value: unknown): value is AptosEvent {
  return (
    isObject(value) &&
    typeof value.type === 'string' &&
    isDigits(value.sequence_number) &&
    isObject(value.guid) &&
    isDigits(value.guid.creation_number) &&
    typeof value.guid.account_address === 'string'
  );
}

/** Genesis events: `key` has eight bytes of creation number (little-endian), then the account. */
function withGuids(events: unknown): unknown {
  if (!Array.isArray(events)) return events;
  return events.map((event: unknown) => {
    if (!isObject(event) || event.guid !== undefined || typeof event.key !== 'string') return event;
    const [, number, account] = EVENT_KEY.exec(event.key) ?? [];
    if (number === undefined || account === undefined) return event;
    const creationNumber = Buffer.from(number, 'hex').readBigUInt64LE();
    return { ...event, guid: { creation_number: creationNumber.toString(), account_address: `0x${account}` } };
  });
}

const EVENT_KEY = /^0x([0-9a-f]{16})([0-9a-f]{64})$/;

function listOf<Item>(
  value: unknown,
  isItem: (item: unknown) => item is Item,
  version: number,
  member: string,
): readonly Item[] {
  if (!Array.isArray(value)) throw malformed(version, member, value);
  if (value.every(isItem)) return value;
  const stranger = value.find((item) => !isItem(item));
  throw malformed(version, `an entry of ${member}`, stranger);
}

function digitsOrNull(value: unknown, version: number, member: string): string | null {
  if (value === undefined || value === null) return null;
  if (!isDigits(value)) throw malformed(version, member, value);
  return value;
}

function isDigits(value: unknown): value is string {
  return typeof value === 'string' && /^\d+$/.test(value);
}

function malformed(version: number, member: string, value: unknown): FullnodeFault {
  return new FullnodeFault('malformed', `transaction ${version}: ${member} can't be ${shown(value)}`);
}

const SHOWN_MAX = 80;

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'absent';
  return text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}…` : text;
}
