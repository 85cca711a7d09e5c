import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { PoolClient } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';

/** A log as nodes answer it; nothing of it is checked. */
export interface RawLog {
  readonly address: string;
  readonly topics: readonly string[];
  readonly data: string;
  readonly blockNumber: string;
  readonly blockHash: string;
  readonly blockTimestamp: string;
  readonly transactionHash: string;
  readonly transactionIndex: string;
  readonly logIndex: string;
}

export const TRANSFER_TOPIC = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';

const CHUNK_CHARACTERS = 64 * 1024;
const TRANSFER_COLUMNS =
  'account_key, chain_id, block_number, transaction_index, log_index, direction, account, token, counterparty, value, transaction_hash';
const BLOCK_COLUMNS = 'chain_id, block_number, block_hash, block_timestamp';

/** The lines that a bare script copies for these logs: two a transfer, one a block that has any log. */
export function linesOf(
  chainId: number,
  logs: Iterable<RawLog>,
): { readonly transfers: string[]; readonly blocks: string[] } {
  const transfers: string[] = [];
  const blocks: string[] = [];
  let number = '';
  for (const log of logs) {
    if (log.blockNumber !== number) {
      number = log.blockNumber;
      const time = new Date(Number(log.blockTimestamp) * 1_000).toISOString();
      blocks.push(`${chainId}\t${Number(number)}\t${bytes(log.blockHash)}\t${time}`);
    }
    const [topic, from, to] = log.topics;
    if (topic !== TRANSFER_TOPIC || from === undefined || to === undefined || log.topics.length !== 3) continue;
    const sender = `\\\\x${from.slice(26)}`;
    const receiver = `\\\\x${to.slice(26)}`;
    const place = `${chainId}\t${Number(number)}\t${Number(log.transactionIndex)}\t${Number(log.logIndex)}`;
    const token = bytes(log.address);
    const tail = `${BigInt(log.data)}\t${bytes(log.transactionHash)}`;
    if (from === to) transfers.push(`${keyOf(from)}\t${place}\t2\t${sender}\t${token}\t${receiver}\t${tail}`);
    else
      transfers.push(
        `${keyOf(from)}\t${place}\t0\t${sender}\t${token}\t${receiver}\t${tail}`,
        `${keyOf(to)}\t${place}\t1\t${receiver}\t${token}\t${sender}\t${tail}`,
      );
  }
  // As every script that loads a table in the order of its key.
  transfers.sort();
  return { transfers, blocks };
}

/** The column that the table's key begins with: the first four bytes of the address in a topic, and the last. */
function keyOf(topic: string): bigint {
  return BigInt.asIntN(64, BigInt(`0x${topic.slice(26, 34)}${topic.slice(58)}`));
}

function bytes(hex: string): string {
  return `\\\\${hex.slice(1)}`;
}

/** A place for the transfers of all blocks. */
export async function createPlace(client: PoolClient, chainId: number): Promise<void> {
  await client.query(
    `CREATE TABLE erc20_transfer_sides_bare PARTITION OF erc20_transfer_sides FOR VALUES FROM (${chainId}, MINVALUE) TO (${chainId}, MAXVALUE)`,
  );
}

/** One transaction: the transfers and their blocks. */
export async function copyRows(
  client: PoolClient,
  lines: { readonly transfers: readonly string[]; readonly blocks: readonly string[] },
): Promise<void> {
  await client.query('BEGIN');
  await copyLines(client, `COPY blocks (${BLOCK_COLUMNS}) FROM STDIN`, lines.blocks);
  await copyLines(client, `COPY erc20_transfer_sides (${TRANSFER_COLUMNS}) FROM STDIN`, lines.transfers);
  await client.query('COMMIT');
}

/** Copies lines by a COPY statement. */
export async function copyLines(client: PoolClient, statement: string, lines: readonly string[]): Promise<void> {
  await pipeline(Readable.from(chunksOf(lines)), client.query(copyFrom(statement)));
}

function* chunksOf(lines: readonly string[]): Generator<string> {
  let chunk = '';
  for (const line of lines) {
    chunk += `${line}\n`;
    if (chunk.length < CHUNK_CHARACTERS) continue;
    yield chunk;
    chunk = '';
  }
  if (chunk !== '') yield chunk;
}
