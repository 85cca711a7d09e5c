/**
 * Parses only transactions with a marker. Nodes write `{"version":"N","hash":…`: these beginnings,
 * in order, split the page. Move values can't look like one, as members are sorted by name.
 */
import { errorText, isObject, JsonBoundsError, requireModestJson } from '@chainstead/core';
import type { AptosChange, AptosEvent, AptosTransaction } from '../transaction.ts';
import { FullnodeFault } from './errors.ts';
import { JSON_DEPTH_MAX, wholeNumber } from './ledger-info.ts';

export interface TransactionsPage {
  readonly first: number;
  readonly last: number;
  /** At least those with a marker, in order. */
  readonly transactions: readonly AptosTransaction[];
  readonly root: string;
  readonly bytes: number;
}

/** Null: all are relevant. */
export type Markers = readonly Buffer[] | null;

const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const CLOSE_BRACE = 0x7d;
const COMMA = 0x2c;
const ROOT_MEMBER = Buffer.from('"accumulator_root_hash":"');
const WHOLE_PAGE_SHARE = 0.5;
/** One transaction may hold a long vector of short numbers, and takes 120 MB at most. */
const ONE_MEASURED_FROM_BYTES = 4 * 1024 * 1024;

/** @throws FullnodeFault truncated, too-large, malformed, wrong-versions, or behind if there is none */
export function readPage(body: Buffer, first: number, limit: number, markers: Markers): TransactionsPage {
  requireModest(body, limit);
  return (markers === null ? null : readMarked(body, first, limit, markers)) ?? readWhole(body, first, limit);
}

/** Null: unexpected form, or too much of it is relevant. */
function readMarked(
  body: Buffer,
  first: number,
  limit: number,
  markers: readonly Buffer[],
): TransactionsPage | null {
  const starts = findStarts(body, first, limit);
  if (starts === null) return null;
  const wanted = findMarked(body, starts, markers);
  if (wanted.length > starts.length * WHOLE_PAGE_SHARE) return null;
  const lastIndex = starts.length - 1;
  // Always parsed: it has the root, and shows truncation.
  const last = parseAt(body, starts, lastIndex, first);
  const transactions: AptosTransaction[] = [];
  for (const index of wanted) {
    const transaction = index === lastIndex ? last : parseAt(body, starts, index, first);
    if (transaction === null) return null;
    transactions.push(transaction);
  }
  if (last === null) return null;
  return { first, last: last.version, transactions, root: last.accumulatorRootHash, bytes: body.length };
}

function findStarts(body: Buffer, first: number, limit: number): number[] | null {
  if (body[0] !== OPEN_BRACKET || body.at(-1) !== CLOSE_BRACKET) return null;
  const starts: number[] = [];
  for (let from = 1; starts.length < limit; ) {
    const position = body.indexOf(`{"version":"${first + starts.length}","hash":"`, from, 'latin1');
    if (position === -1) break;
    const isBeginning =
      starts.length === 0 ? position === 1 : body[position - 1] === COMMA && body[position - 2] === CLOSE_BRACE;
    if (!isBeginning) return null;
    starts.push(position);
    from = position + 1;
  }
  return starts.length > 0 && starts.length === countRoots(body) ? starts : null;
}

function countRoots(body: Buffer): number {
  let count = 0;
  for (let at = body.indexOf(ROOT_MEMBER); at !== -1; at = body.indexOf(ROOT_MEMBER, at + ROOT_MEMBER.length))
    count++;
  return count;
}

function findMarked(body: Buffer, starts: readonly number[], markers: readonly Buffer[]): number[] {
  const marked = new Set<number>();
  for (const marker of markers) {
    let index = 0;
    for (let position = body.indexOf(marker); position !== -1; ) {
      while (index + 1 < starts.length && (starts[index + 1] ?? 0) <= position) index++;
      marked.add(index);
      const next = starts[index + 1];
      position = next === undefined ? -1 : body.indexOf(marker, next);
    }
  }
  return [...marked].toSorted((a, b) => a - b);
}

function parseAt(body: Buffer, starts: readonly number[], index: number, first: number): AptosTransaction | null {
  const end = (starts[index + 1] ?? body.length) - 1;
  const json = parseJson(body.toString('utf8', starts[index], end));
  if (json === undefined) return null;
  const transaction = parseTransaction(json);
  requireVersion(transaction, first + index);
  return transaction;
}

function readWhole(body: Buffer, first: number, limit: number): TransactionsPage {
  const parsed = parseJson(body.toString('utf8'));
  if (parsed === undefined) throw new FullnodeFault('truncated', 'the response is not complete JSON');
  if (!Array.isArray(parsed)) throw new FullnodeFault('malformed', 'the response is not a list of transactions');
  if (parsed.length > limit)
    throw new FullnodeFault(
      'wrong-versions',
      `the response has ${parsed.length} transactions, but ${limit} were requested`,
    );
  const transactions = parsed.map(parseTransaction);
  for (const [index, transaction] of transactions.entries()) requireVersion(transaction, first + index);
  const last = transactions.at(-1);
  if (last === undefined) throw new FullnodeFault('behind', `there is no transaction from version ${first} on`);
  return { first, last: last.version, transactions, root: last.accumulatorRootHash, bytes: body.length };
}

/** @throws FullnodeFault too-large, or malformed if fewer transactions can't be requested */
function requireModest(body: Buffer, limit: number): void {
  try {
    // Invariant: HTTP-BODY-BOUNDED
    requireModestJson(body, {
      depthMax: JSON_DEPTH_MAX,
      ...(limit === 1 && { fromBytes: ONE_MEASURED_FROM_BYTES }),
    });
  } catch (error) {
    if (!(error instanceof JsonBoundsError)) throw error;
    throw new FullnodeFault(limit === 1 ? 'malformed' : 'too-large', errorText(error));
  }
}

function requireVersion({ version }: AptosTransaction, expected: number): void {
  if (version !== expected)
    throw new FullnodeFault('wrong-versions', `version ${version} came where ${expected} was expected`);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

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
