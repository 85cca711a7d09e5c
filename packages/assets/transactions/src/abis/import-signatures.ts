import { copyHex, copyText, type Database, sql, type Transaction, transactionLock } from '@chainstead/db';
import {
  type AbiFunction,
  AbiUnreadableError,
  parseEventSignature,
  parseSignature,
} from '@chainstead/events/decoding';
import { type SignaturePiece, signatureTexts } from './signature-texts.ts';

export interface ImportSignaturesOptions {
  readonly database: Database;
  readonly source: string;
  /** In order. A signature ends at the end of a file. */
  readonly pieces: AsyncIterable<SignaturePiece>;
}

export interface SignaturesReport {
  readonly rows: number;
  readonly skipped: readonly { readonly reason: string; readonly count: number }[];
}

const TOGETHER = 20_000;
/** Characters. Longer ones don't fit the index, and are not in use. */
const LENGTH_MAX = 1_024;
const SOURCE_LENGTH_MAX = 1_024;

/** One transaction. Computes selectors itself. @throws AbiUnreadableError if the list is empty */
export async function importSignatures({
  database,
  source,
  pieces,
}: ImportSignaturesOptions): Promise<SignaturesReport> {
  if (source.length > SOURCE_LENGTH_MAX)
    throw new AbiUnreadableError(
      `${source.slice(0, 80)}…`,
      `its name is longer than ${SOURCE_LENGTH_MAX} characters`,
      'Set a shorter name with --source',
    );
  const skipped = new Map<string, number>();
  const skip = (reason: string, count = 1): void => {
    skipped.set(reason, (skipped.get(reason) ?? 0) + count);
  };
  const rows = await database.transaction(async (transaction) => {
    await transactionLock(transaction, 'abi-import');
    await transaction.query(
      sql`CREATE TEMPORARY TABLE given_signatures (selector bytea, signature text) ON COMMIT DROP`,
    );
    let listed = 0;
    for await (const signatures of batchesOf(signatureTexts(pieces, skip), skip)) {
      const lines = signatures.map(({ selector, signature }) => `${copyHex(selector)}\t${copyText(signature)}`);
      listed += await transaction.copy('given_signatures', ['selector', 'signature'], lines);
    }
    const stored = await replaceRows(transaction, source);
    if (listed > stored) skip('repeated', listed - stored);
    if (stored === 0) throw noSignature(source, skipped);
    return stored;
  });
  return { rows, skipped: byCount(skipped) };
}

async function replaceRows(transaction: Transaction, source: string): Promise<number> {
  await transaction.query(sql`DELETE FROM imported_signatures WHERE source = ${source}`);
  const [counted] = await transaction.query<{ rows: number }>(
    sql`SELECT count(DISTINCT signature)::float8 AS rows FROM given_signatures`,
  );
  await transaction.query(
    sql`INSERT INTO imported_signatures (selector, signature, source)
     SELECT DISTINCT selector, signature, ${source}::text FROM given_signatures ORDER BY selector, signature`,
  );
  return counted?.rows ?? 0;
}

async function* batchesOf(
  texts: AsyncIterable<string>,
  skip: (reason: string) => void,
): AsyncGenerator<readonly AbiFunction[]> {
  let batch: AbiFunction[] = [];
  for await (const text of texts) {
    const event = parseEventSignature(text);
    // The log shows which arguments are indexed: a list needs only name and types.
    const entry = parseSignature(event?.signature ?? text);
    if (entry === null) skip('no signature whose values can be decoded');
    else if (entry.signature.length > LENGTH_MAX) skip(`longer than ${LENGTH_MAX} characters`);
    else batch.push(entry);
    if (batch.length < TOGETHER) continue;
    yield batch;
    batch = [];
  }
  yield batch;
}

function noSignature(source: string, skipped: ReadonlyMap<string, number>): AbiUnreadableError {
  const reasons = byCount(skipped).map(({ reason, count }) => `${count}: ${reason}`);
  return new AbiUnreadableError(
    source,
    ['it has no signature', ...reasons].join('; '),
    'Import a list with usable signatures. Earlier imports from this source are unchanged',
  );
}

export function byCount(skipped: ReadonlyMap<string, number>): SignaturesReport['skipped'] {
  return [...skipped].map(([reason, count]) => ({ reason, count })).toSorted((a, b) => b.count - a.count);
}
