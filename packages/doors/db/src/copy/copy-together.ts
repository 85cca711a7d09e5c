import type { Connection, PoolClient, Submittable } from 'pg';
import type { Copy, StatementsAround } from '../database.ts';
import { type Sql, statementOf } from '../sql.ts';
import { copyStatement, encodeRows } from './copy-into.ts';
import { BINARY_HEADER, BINARY_TRAILER, isBinaryRow } from './row-writer.ts';

/** Type, and length in four bytes, which include themselves. */
const HEADER_BYTES = 5;
const LENGTH_BYTES = 4;
const COPY_DATA = 'd'.charCodeAt(0);
const COPY_DONE = Buffer.from([...Buffer.from('c'), 0, 0, 0, LENGTH_BYTES]);
/** Large enough to be cheap per message, small enough for one buffer. */
const MESSAGE_CHARACTERS = 256 * 1024;

/** One round trip. An error aborts only the transaction. @param around same query @returns rows */
export async function copyTogether(
  client: PoolClient,
  copies: readonly Copy[],
  around: StatementsAround = {},
): Promise<readonly number[]> {
  if (copies.length === 0) return [];
  const copied = Promise.withResolvers<readonly number[]>();
  client.query(new CopyTogetherQuery(copies, around, copied));
  return copied.promise;
}

class CopyTogetherQuery implements Submittable {
  readonly #copies: readonly Copy[];
  readonly #around: StatementsAround;
  readonly #copied: PromiseWithResolvers<readonly number[]>;
  readonly #rows: number[] = [];

  constructor(
    copies: readonly Copy[],
    around: StatementsAround,
    copied: PromiseWithResolvers<readonly number[]>,
  ) {
    this.#copies = copies;
    this.#around = around;
    this.#copied = copied;
  }

  /** `pg` wraps this member if it exists. */
  callback = (): void => undefined;

  /** Rows follow the query. The server drops those after an error. */
  submit(connection: Connection): void {
    const { stream } = connection;
    stream.cork();
    const { before = [], after = [] } = this.#around;
    const copies = this.#copies.map(({ table, columns, lines }) =>
      copyStatement(table, columns, isBinary(lines)),
    );
    connection.query([...before.map(textOf), ...copies, ...after.map(textOf)].join(';'));
    for (const { lines } of this.#copies) {
      for (const message of messagesOf(lines)) stream.write(message);
      stream.write(COPY_DONE);
    }
    stream.uncork();
  }

  handleCopyInResponse(): void {
    // All rows are already sent.
  }

  handleCommandComplete({ text }: { readonly text: string }): void {
    const [, rows] = /^COPY (\d+)$/.exec(text) ?? [];
    if (rows !== undefined) this.#rows.push(Number(rows));
  }

  handleError(error: Error): void {
    this.callback();
    this.#copied.reject(error);
  }

  handleReadyForQuery(): void {
    this.callback();
    this.#copied.resolve(this.#rows);
  }
}

const textOf = (statement: Sql): string => statementOf(statement).text;
const isBinary = ([first]: readonly string[]): boolean => first !== undefined && isBinaryRow(first);

function* messagesOf(lines: readonly string[]): Generator<Buffer> {
  const binary = isBinary(lines);
  if (binary) yield* copyData(Buffer.from(BINARY_HEADER, 'latin1'));
  let first = 0;
  let characters = 0;
  for (const [index, line] of lines.entries()) {
    characters += line.length + 1;
    if (characters < MESSAGE_CHARACTERS && index < lines.length - 1) continue;
    yield* copyData(encodeRows(lines.slice(first, index + 1), binary));
    first = index + 1;
    characters = 0;
  }
  if (binary) yield* copyData(Buffer.from(BINARY_TRAILER, 'latin1'));
}

function copyData(rows: Buffer): [head: Buffer, rows: Buffer] {
  const head = Buffer.allocUnsafe(HEADER_BYTES);
  head.writeUInt8(COPY_DATA, 0);
  head.writeUInt32BE(rows.length + LENGTH_BYTES, 1);
  return [head, rows];
}
