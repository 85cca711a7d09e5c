import { type ChainId, type Hex, parseAddress, parseHash } from '@chainstead/core';
import { type ReadDatabase, sql } from '@chainstead/db';
import { decodeCall, decodeEvent } from '@chainstead/events/decoding';
import { exampleChain } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import {
  encodeAbiParameters,
  encodeEventTopics,
  encodeFunctionData,
  parseAbi,
  parseAbiParameters,
  type Abi as ViemAbi,
} from 'viem';
import { beforeEach, describe, expect, test } from 'vitest';
import { callsOf, createAbiBooks, eventsOf } from './abi-books.ts';
import type { RequestedEntry } from './find-abis.ts';
import { importAbis } from './import-abis.ts';
import { importSignatures } from './import-signatures.ts';

const scratch = scratchOfFile();
beforeEach(() =>
  scratch.database.query(sql`TRUNCATE contract_abi_entries, imported_signatures`).then(() => undefined),
);

const chain = exampleChain();
const ETH = chain.id;
const BLOCK = 100;
const VAULT = parseAddress(`0x${'a1'.repeat(20)}`);
const OTHER = parseAddress(`0x${'b2'.repeat(20)}`);
const abi = parseAbi([
  'function deposit(address receiver, uint256 shares)',
  'event Stored(address indexed who, bytes32 indexed key, string note)',
]);
const transfer = encodeFunctionData({
  abi: parseAbi(['function transfer(address dst, uint256 wad)']),
  args: [OTHER, 7n],
});
const deposit = encodeFunctionData({ abi, functionName: 'deposit', args: [OTHER, 5n] });
const stored = {
  address: VAULT,
  topics: encodeEventTopics({ abi, eventName: 'Stored', args: { who: OTHER, key: `0x${'07'.repeat(32)}` } }).map(
    parseHash,
  ),
  data: encodeAbiParameters(parseAbiParameters('string'), ['a note']),
};

async function importAbi(document: ViemAbi, address = VAULT, chainId = ETH): Promise<void> {
  async function* one() {
    yield { address, chainId, document };
  }
  await importAbis({ database: scratch.database, place: 'test', abis: one() });
}

async function importList(...signatures: readonly string[]): Promise<void> {
  async function* one() {
    yield { text: signatures.join(';'), isLast: true };
  }
  await importSignatures({ database: scratch.database, source: 'test', pieces: one() });
}

const books = createAbiBooks();
const requested: readonly RequestedEntry[] = [
  ...callsOf(
    [VAULT, OTHER].flatMap((to) =>
      [transfer, deposit].map((input) => ({ block: { number: BLOCK }, transaction: { to, input } })),
    ),
  ),
  ...eventsOf([{ block: { number: BLOCK }, transaction: { logs: [stored] } }]),
];

const reported = async (to: string, input: Hex) => {
  const decoded = decodeCall(input, (await books.forPage(scratch.database, chain, requested))(to, BLOCK));
  return decoded && `${decoded.source} ${decoded.label}(${decoded.params.map(({ name }) => name).join()})`;
};

const emitted = async () => {
  const decoded = decodeEvent(
    stored,
    (await books.forPage(scratch.database, chain, requested))(stored.address, BLOCK),
  );
  return decoded && `${decoded.source} ${decoded.label}(${decoded.params.map(({ name }) => name).join()})`;
};

describe('what is imported', () => {
  test('for a contract goes before standards, at once, and for no other contract or chain', async () => {
    expect(await reported(VAULT, transfer)).toBe('standard transfer(to,value)');
    expect(await reported(VAULT, deposit)).toBeNull();
    expect(await emitted()).toBeNull();
    await importAbi([...parseAbi(['function transfer(address dst, uint256 wad)']), ...abi]);
    expect(await reported(VAULT, transfer)).toBe('contract transfer(dst,wad)');
    expect(await reported(VAULT, deposit)).toBe('contract deposit(receiver,shares)');
    expect(await emitted()).toBe('contract Stored(who,key,note)');
    expect(await reported(OTHER, transfer)).toBe('standard transfer(to,value)');
    expect(await reported(OTHER, deposit)).toBeNull();
    await importAbi(parseAbi(['function deposit(address a, uint256 b)']), OTHER, 10 as ChainId);
    expect(await reported(OTHER, deposit)).toBeNull();
    await importAbi(parseAbi(['function deposit(address a, uint256 b)']));
    expect(await reported(VAULT, deposit)).toBe('contract deposit(a,b)');
    expect(await emitted()).toBeNull();
  });

  test('as signatures comes last, without names', async () => {
    await importList('deposit(address,uint256)', 'transfer(address,uint256)', 'Stored(address,bytes32,string)');
    expect(await reported(OTHER, deposit)).toBe('signatures deposit(,)');
    expect(await reported(OTHER, transfer)).toBe('standard transfer(to,value)');
    expect(await emitted()).toBe('signatures Stored(,,)');
    await importAbi(abi);
    expect(await reported(VAULT, deposit)).toBe('contract deposit(receiver,shares)');
  });

  test('tells nothing where several signatures fit, and one where others can’t be', async () => {
    // All have the selector of transfer(address,uint256).
    await importList('workMyDirefulOwner(uint256,uint256)', 'many_msg_babbage(bytes1)');
    const alone = (await books.forPage(scratch.database, chain, requested))(OTHER, BLOCK).filter(
      ({ source }) => source === 'signatures',
    );
    expect(decodeCall(transfer, alone)?.label).toBe('workMyDirefulOwner');
    await importList('workMyDirefulOwner(uint256,uint256)', 'transfer(address,uint256)');
    const both = (await books.forPage(scratch.database, chain, requested))(OTHER, BLOCK).filter(
      ({ source }) => source === 'signatures',
    );
    expect(decodeCall(transfer, both)).toBeNull();
  });

  test('of a selector with very many signatures tells nothing', async () => {
    const insert = (from: number, to: number) => sql`INSERT INTO imported_signatures (selector, signature, source)
      SELECT ${selector}, 'deposit(address,uint' || 8 * number || ')', 'test' FROM generate_series(${from}::int, ${to}::int) AS number`;
    const selector = Buffer.from(deposit.slice(2, 10), 'hex');
    await scratch.database.query(insert(32, 32));
    expect(await reported(OTHER, deposit)).toBe('signatures deposit(,)');
    // None of these is a type.
    await scratch.database.query(insert(1_000, 1_063));
    expect(await reported(OTHER, deposit)).toBeNull();
  });
});

test('rows that somebody wrote by hand are passed over where they say nothing', async () => {
  for (const entry of ['5', '"x"', '{"type":"function","name":"<b>","inputs":[]}', '{}'])
    await scratch.database.query(
      sql`INSERT INTO contract_abi_entries (address, chain_id, selector, place, entry)
       VALUES (${Buffer.from(VAULT.slice(2), 'hex')}, 1, ${Buffer.from(deposit.slice(2, 10), 'hex')}, (SELECT count(*) FROM contract_abi_entries), ${entry})`,
    );
  await scratch.database.query(
    sql`INSERT INTO imported_signatures VALUES (${Buffer.from(deposit.slice(2, 10), 'hex')}, 'no signature', 'x')`,
  );
  expect(await reported(VAULT, deposit)).toBeNull();
  expect(await reported(VAULT, transfer)).toBe('standard transfer(to,value)');
});

test('a page costs one statement, and an empty one none', async () => {
  let statements = 0;
  const counting: ReadDatabase = {
    select: (statement) => {
      statements += 1;
      return scratch.database.select(statement);
    },
    selectLasting: scratch.database.selectLasting,
  };
  await books.forPage(counting, chain, requested);
  expect(statements).toBe(1);
  await books.forPage(
    counting,
    chain,
    callsOf(
      [null, VAULT].map((to) => ({
        block: { number: BLOCK },
        transaction: { to, input: to === null ? '0x60806040' : '0x' },
      })),
    ),
  );
  expect(statements).toBe(1);
});
