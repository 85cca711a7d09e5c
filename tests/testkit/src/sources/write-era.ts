import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Hex, parseBigQuantity } from '@chainstead/core';
import { accumulatorRoot, encodeHeader, encodeReceipt, encodeTransaction } from '@chainstead/proof';
import { parseHeader, parseReceipt } from '@chainstead/rpc';
import { fromRlp, toRlp } from 'viem';
import type { JsonObject, SourceBlock } from '../nodes/chain-source.ts';
import { TestkitError } from '../testkit-error.ts';

export interface EraFolderOptions {
  /** Created if it is missing. */
  readonly folder: string;
  /** First part of the names: `mainnet`, `sepolia`, or the key of another chain. */
  readonly network: string;
  /** Ascending, without holes. Each epoch of 8,192 blocks becomes a file. */
  readonly blocks: Iterable<SourceBlock>;
  /** `ere` files are written without proofs, `e2hs` files with empty ones. Default `ere`. */
  readonly format?: 'era1' | 'ere' | 'e2hs';
  /** False: `ere` files without receipts. Default true. */
  readonly hasReceipts?: boolean;
}

const EPOCH_BLOCKS = 8192;

type Nested = Hex | readonly Nested[];

interface EncodedBlock {
  readonly block: SourceBlock;
  readonly header: Buffer;
  readonly body: Buffer;
  readonly receipts: Buffer;
  readonly slimReceipts: Buffer;
  readonly totalDifficulty: bigint;
}

/** Writes era files of blocks in JSON-RPC form. Files may start and end inside their epoch. Returns their paths. */
export async function writeEraFolder(options: EraFolderOptions): Promise<readonly string[]> {
  const { folder, network, format = 'ere', hasReceipts = true } = options;
  await mkdir(folder, { recursive: true });
  const paths: string[] = [];
  let totalDifficulty = 0n;
  for (const [epoch, blocks] of Map.groupBy(options.blocks, ({ number }) => Math.floor(number / EPOCH_BLOCKS))) {
    const encoded = blocks.map((block): EncodedBlock => {
      totalDifficulty += parseBigQuantity(block.header.difficulty);
      return { ...encodeBlock(block), totalDifficulty };
    });
    const last = blocks.at(-1)?.hash.slice(2, 10) ?? '';
    const prefix = join(folder, `${network}-${String(epoch).padStart(5, '0')}`);
    const root = accumulator(encoded);
    const suffix = hasReceipts ? '' : '-noreceipts';
    const [name, file] = {
      era1: () => [`${root.toString('hex', 0, 4)}.era1`, blockwise(encoded, root)] as const,
      e2hs: () => [`${last}.e2hs`, blockwise(encoded, null)] as const,
      ere: () => [`${last}-noproofs${suffix}.ere`, ere(encoded, hasReceipts)] as const,
    }[format]();
    const path = `${prefix}-${name}`;
    await writeFile(path, file);
    paths.push(path);
  }
  return paths;
}

/** Block by block. @param root null: an e2hs file, whose headers have proofs, here empty ones, and no difficulties */
function blockwise(blocks: readonly EncodedBlock[], root: Buffer | null): Buffer {
  const file = createFile();
  const offsets = blocks.map(({ header, body, receipts, totalDifficulty }) => {
    const place =
      root === null ? file.add('0301', compress(withoutProof(header))) : file.add('0300', compress(header));
    file.add('0400', compress(body));
    file.add('0500', compress(receipts));
    if (root !== null) file.add('0600', littleEndian(totalDifficulty, 32));
    return place;
  });
  if (root !== null) file.add('0700', root);
  const start = file.bytes();
  file.add(
    '6632',
    numbers([blocks[0]?.block.number ?? 0, ...offsets.map((offset) => offset - start), blocks.length]),
  );
  return file.whole();
}

/** SSZ container of two byte lists. */
function withoutProof(header: Buffer): Buffer {
  return Buffer.concat([littleEndian(8n, 4), littleEndian(BigInt(8 + header.length), 4), header]);
}

function ere(blocks: readonly EncodedBlock[], hasReceipts: boolean): Buffer {
  const file = createFile();
  const columns = [
    blocks.map(({ header }) => file.add('0300', compress(header))),
    blocks.map(({ body }) => file.add('0400', compress(body))),
    ...(hasReceipts ? [blocks.map(({ slimReceipts }) => file.add('0a00', compress(slimReceipts)))] : []),
  ];
  const start = file.bytes();
  const rows = blocks.flatMap((_, row) => columns.map((column) => (column[row] ?? 0) - start));
  file.add('6732', numbers([blocks[0]?.block.number ?? 0, ...rows, columns.length, blocks.length]));
  return file.whole();
}

function createFile() {
  const parts: Buffer[] = [Buffer.from('6532000000000000', 'hex')];
  let bytes = 8;
  return {
    bytes: () => bytes,
    whole: () => Buffer.concat(parts),
    /** Returns the place of the record. */
    add(type: string, data: Buffer): number {
      const place = bytes;
      parts.push(Buffer.from(type, 'hex'), littleEndian(BigInt(data.length), 4), Buffer.alloc(2), data);
      bytes += 8 + data.length;
      return place;
    },
  };
}

function encodeBlock(block: SourceBlock): Omit<EncodedBlock, 'totalDifficulty'> {
  const { raw, hash } = parseHeader(block.header);
  const header = encodeHeader(raw, hash);
  if (header === null) throw new TestkitError('A header can not be encoded', { number: block.number });
  const transactions = block.transactions.map((transaction): Nested => {
    const encoded = encodeTransaction(transaction);
    if (encoded === null) throw new TestkitError('A transaction can not be encoded', { hash: transaction.hash });
    return nestedItem(encoded);
  });
  const withdrawals = Array.isArray(raw.withdrawals) ? [raw.withdrawals.map(withdrawal)] : [];
  const receipts = block.receipts.map((receipt) => encodeReceipt(parseReceipt(receipt), 'given'));
  return {
    block,
    header,
    body: rlp([transactions, [], ...withdrawals]),
    receipts: rlp(receipts.map(nestedItem)),
    slimReceipts: rlp(receipts.map(slim)),
  };
}

/** Typed ones are strings, legacy ones lists. */
function nestedItem(encoded: Buffer): Nested {
  const hex: Hex = `0x${encoded.toString('hex')}`;
  return (encoded[0] ?? 0) < 0xc0 ? hex : fromRlp(hex);
}

function slim(consensus: Buffer): Nested {
  const [first = 0] = consensus;
  const type = first < 0xc0 ? first : 0;
  const members: Nested = fromRlp(`0x${consensus.toString('hex', type === 0 ? 0 : 1)}`);
  const [outcome = '0x', gas = '0x', , logs = []] = members;
  return [
    type === 0 ? '0x' : `0x${Buffer.of(type).toString('hex')}`,
    outcome as Nested,
    gas as Nested,
    logs as Nested,
  ];
}

function withdrawal(json: JsonObject): Nested {
  const integer = (value: unknown): Hex => {
    const digits = parseBigQuantity(value).toString(16);
    return digits === '0' ? '0x' : `0x${digits.padStart(digits.length + (digits.length % 2), '0')}`;
  };
  return [integer(json.index), integer(json.validatorIndex), json.address as Hex, integer(json.amount)];
}

function accumulator(blocks: readonly EncodedBlock[]): Buffer {
  return accumulatorRoot(
    blocks.map(({ block, totalDifficulty }) => ({ hash: parseHeader(block.header).hash, totalDifficulty })),
  );
}

function rlp(nested: Nested): Buffer {
  return Buffer.from(toRlp(nested).slice(2), 'hex');
}

function numbers(values: readonly number[]): Buffer {
  return Buffer.concat(values.map((value) => littleEndian(BigInt.asUintN(64, BigInt(value)), 8)));
}

function littleEndian(value: bigint, bytes: number): Buffer {
  return Buffer.from(value.toString(16).padStart(2 * bytes, '0'), 'hex').reverse();
}

const CHUNK_BYTES = 65_536;
const IDENTIFIER = Buffer.from('ff060000734e61507059', 'hex');

/** Framed snappy that stores its bytes: chunks of literals, and uncompressed ones. */
export function compress(bytes: Buffer): Buffer {
  const chunks: Buffer[] = [IDENTIFIER];
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
    const part = bytes.subarray(at, at + CHUNK_BYTES);
    const isLiteral = (at / CHUNK_BYTES) % 2 === 0;
    const literal = Buffer.concat([
      varint(part.length),
      Buffer.of(61 << 2),
      littleEndian(BigInt(part.length - 1), 2),
    ]);
    const payload = isLiteral ? Buffer.concat([literal, part]) : part;
    const head = Buffer.concat([Buffer.of(isLiteral ? 0 : 1), littleEndian(BigInt(payload.length + 4), 3)]);
    chunks.push(head, littleEndian(BigInt(checksum(part)), 4), payload);
  }
  return Buffer.concat(chunks);
}

function varint(value: number): Buffer {
  return value < 0x80 ? Buffer.of(value) : Buffer.concat([Buffer.of((value & 0x7f) | 0x80), varint(value >>> 7)]);
}

/** Masked CRC-32C. */
function checksum(bytes: Buffer): number {
  let crc = 0xffff_ffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc & 1) === 1 ? (crc >>> 1) ^ 0x82f6_3b78 : crc >>> 1;
  }
  const whole = ~crc >>> 0;
  return ((((whole >>> 15) | (whole << 17)) >>> 0) + 0xa282_ead8) % 2 ** 32;
}
