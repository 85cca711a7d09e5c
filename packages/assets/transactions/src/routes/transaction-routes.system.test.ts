import { type Hash, parseHash } from '@chainstead/core';
import { addressBytes, sql } from '@chainstead/db';
import { hashOf } from '@chainstead/testkit';
import { stageOfFile } from '@chainstead/testkit/hooks';
import { formatEther, type Hex, parseGwei, type TransactionReceipt } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openTransactionStage, type TransactionStage } from '../testing/transaction-stage.ts';

const opened = stageOfFile(() => openTransactionStage(2));
let client: TransactionStage['stage']['devnet']['client'];
/** One of each kind, by name. */
let sent: Readonly<Record<string, TransactionReceipt>>;

/** Deploys a contract of one byte, STOP; and one that fails. */
const CREATION: Hex = '0x60006000526001601ff3';
const FAILING_CREATION: Hex = '0x60006000fd';

beforeAll(async () => {
  ({ client } = opened.stage.devnet);
  sent = await sendAll();
  await opened.stage.commit();
});
beforeEach(() => opened.reset());

async function sendAll(): Promise<Record<string, TransactionReceipt>> {
  const [from, to] = opened.stage.devnet.accounts;
  if (from === undefined || to === undefined) throw new Error('The devnet has no accounts');
  const call = { account: from, to, chain: null } as const;
  const delegate = privateKeyToAccount(generatePrivateKey());
  const authorization = await delegate.signAuthorization({ address: to, chainId: 1, nonce: 0 });
  const accessList = [{ address: to, storageKeys: [hashOf(1, 1)] }];
  const hashes: Record<string, Promise<Hex>> = {};
  const one = async (name: string, request: object): Promise<void> => {
    hashes[name] = client.sendTransaction({ ...call, ...request } as Parameters<
      typeof client.sendTransaction
    >[0]);
    await hashes[name];
  };
  await one('legacy', { type: 'legacy', gasPrice: parseGwei('3'), value: 5n });
  await one('eip2930', { type: 'eip2930', gasPrice: parseGwei('3'), accessList, data: '0x1234' });
  await one('eip1559', { type: 'eip1559', maxFeePerGas: parseGwei('9'), maxPriorityFeePerGas: 1n, value: 7n });
  await one('eip7702', { type: 'eip7702', authorizationList: [authorization], gas: 200_000n });
  await one('transfer', { type: 'eip1559', data: TRANSFER });
  await one('creation', { to: null, data: CREATION });
  await one('failed', { to: null, data: FAILING_CREATION, gas: 100_000n });
  const receipts = await Promise.all(
    Object.entries(hashes).map(
      async ([name, hash]) => [name, await client.getTransactionReceipt({ hash: await hash })] as const,
    ),
  );
  return Object.fromEntries(receipts);
}

function receiptOf(name: string): TransactionReceipt {
  const receipt = sent[name];
  if (receipt === undefined) throw new Error(`Nothing was sent as ${name}`);
  return receipt;
}

/** `transfer(address,uint256)` of 7. */
const TRANSFER = `0xa9059cbb${'1'.padStart(64, '0')}${'7'.padStart(64, '0')}` as const;
const KINDS = ['legacy', 'eip2930', 'eip1559', 'eip7702', 'creation', 'failed'];

describe('a transaction', () => {
  test.each(KINDS)('of the kind %s is what the node says of it, proven', async (kind) => {
    const receipt = receiptOf(kind);
    const [transaction, block] = await Promise.all([
      client.getTransaction({ hash: receipt.transactionHash }),
      client.getBlock({ blockHash: receipt.blockHash }),
    ]);
    const { status, body } = await opened.ask(
      `transaction/${receipt.transactionHash.toUpperCase().replace('X', 'x')}`,
    );
    expect(status).toBe(200);
    expect(body).toEqual({
      hash: transaction.hash,
      nonce: String(transaction.nonce),
      transaction_index: String(transaction.transactionIndex),
      from_address: transaction.from.toLowerCase(),
      from_address_entity: null,
      from_address_entity_logo: null,
      from_address_label: null,
      to_address: transaction.to?.toLowerCase() ?? null,
      to_address_entity: null,
      to_address_entity_logo: null,
      to_address_label: null,
      value: String(transaction.value),
      gas: String(transaction.gas),
      gas_price: String(receipt.effectiveGasPrice),
      input: transaction.input,
      receipt_cumulative_gas_used: String(receipt.cumulativeGasUsed),
      receipt_gas_used: String(receipt.gasUsed),
      receipt_contract_address: receipt.contractAddress?.toLowerCase() ?? null,
      receipt_root: null,
      receipt_status: kind === 'failed' ? '0' : '1',
      transaction_fee: formatEther(receipt.gasUsed * receipt.effectiveGasPrice),
      blob_fee: null,
      block_timestamp: new Date(Number(block.timestamp) * 1_000).toISOString(),
      block_number: String(block.number),
      block_hash: block.hash,
      method_label: null,
      logs: [],
      source: 'node',
      proof: 'receipts+transactions',
      confirmations: Number((await client.getBlockNumber()) - receipt.blockNumber),
      finalized: expect.any(Boolean),
    });
  });

  test('is read once for all who ask, and with what it is not known of by yet', async () => {
    const { transactionHash } = receiptOf('legacy');
    const reads = () =>
      opened.stage.node.received.filter(({ method }) => method === 'eth_getTransactionByHash').length +
      opened.stage.others
        .flatMap(({ received }) => received)
        .filter(({ method }) => method === 'eth_getTransactionByHash').length;
    const before = reads();
    const [plain, verbose] = await Promise.all([
      opened.ask(`transaction/${transactionHash}`),
      opened.ask(`transaction/${transactionHash}/verbose?include=internal_transactions`),
    ]);
    expect(reads() - before).toBe(1);
    const added = { decoded_call: null, internal_transactions: [], indexed: { traces: 'on-demand' } };
    expect(verbose.body).toEqual({ ...Object(plain.body), ...added });
  });

  test('tells which function was called, and with what', async () => {
    const { transactionHash } = receiptOf('transfer');
    const { body } = await opened.ask(`transaction/${transactionHash}/verbose`);
    expect(body).toMatchObject({
      method_label: 'transfer',
      decoded_call: {
        signature: 'transfer(address,uint256)',
        label: 'transfer',
        type: 'function',
        params: [
          { name: 'to', type: 'address', value: '0x0000000000000000000000000000000000000001' },
          { name: 'value', type: 'uint256', value: '7' },
        ],
        abi_source: 'standard',
      },
    });
  });

  test('has the labels of both sides, and none for the zero address', async () => {
    const { transactionHash, from } = receiptOf('eip1559');
    const { database } = opened.stage.scratch;
    await database.query(
      sql`INSERT INTO address_labels (source, chain_id, address, label, entity, entity_logo) VALUES ('test', 0, ${addressBytes(from.toLowerCase() as `0x${string}` as never)}, 'Binance 1', 'Binance', 'https://example.org/b.png')`,
    );
    const { body } = await opened.ask(`transaction/${transactionHash}`);
    await database.query(sql`TRUNCATE address_labels`);
    expect(body).toMatchObject({
      from_address_label: 'Binance 1',
      from_address_entity: 'Binance',
      from_address_entity_logo: 'https://example.org/b.png',
      to_address_label: null,
    });
  });

  test('that no node knows, or that waits for a block, is 404', async () => {
    const notFound = { status: 404, body: { message: 'Transaction not found' } };
    expect(await opened.ask(`transaction/${hashOf(9, 9)}`)).toMatchObject(notFound);
    expect(await opened.ask(`transaction/${hashOf(9, 9)}/verbose`)).toMatchObject(notFound);
    const { transactionHash } = receiptOf('legacy');
    alterAll(({ method }) =>
      method === 'eth_getTransactionByHash'
        ? { result: { hash: transactionHash, blockNumber: null } }
        : undefined,
    );
    expect(await opened.ask(`transaction/${transactionHash}`)).toMatchObject(notFound);
  });

  test('is 503 with Retry-After while nodes are away, never 404', async () => {
    alterAll(() => ({ error: { code: -32603, message: 'secret of a node' } }));
    for (const path of [
      `transaction/${hashOf(9, 9)}`,
      `transaction/${receiptOf('legacy').transactionHash}`,
      'block/1',
      `block/${hashOf(9, 9)}`,
    ]) {
      const answer = await opened.ask(path);
      expect(answer.status, path).toBe(503);
      expect(answer.headers.get('retry-after')).toBe('1');
      expect(JSON.stringify(answer.body)).not.toContain('secret');
    }
  });

  test('is 503 while it is being read', async () => {
    opened.settings.waitMs = 0;
    const answer = await opened.ask(`transaction/${receiptOf('legacy').transactionHash}`);
    expect(answer).toMatchObject({ status: 503, body: { message: 'being read from the node' } });
    expect(answer.headers.get('retry-after')).toBe('1');
  });

  test('is refused where requests may cause no calls, and where a key waits for too many', async () => {
    const path = `transaction/${receiptOf('legacy').transactionHash}`;
    opened.settings.maxCalls = 0;
    expect(await opened.ask(path)).toMatchObject({
      status: 400,
      body: { message: expect.stringMatching(/^transactions of eth are not indexed, and ON_DEMAND_MAX_CALLS=0/) },
    });
    opened.settings.maxCalls = 1;
    opened.settings.perKey = 1;
    const statuses = (
      await Promise.all(
        [hashOf(8, 1), hashOf(8, 2), hashOf(8, 3)].map((hash) => opened.ask(`transaction/${hash}`)),
      )
    ).map(({ status }) => status);
    expect(statuses.sort()).toEqual([404, 429, 429]);
  });
});

type Alter = TransactionStage['stage']['node']['alter'];

function alterAll(alter: Alter): void {
  for (const node of [opened.stage.node, ...opened.stage.others]) node.alter = alter;
}

describe('an upstream that lies', () => {
  type Json = Record<string, unknown>;
  const blockOf = async (hash: Hash): Promise<Json & { transactions: Json[] }> =>
    (await client.request({ method: 'eth_getBlockByHash', params: [hash, true] })) as unknown as Json & {
      transactions: Json[];
    };
  const receiptsOf = async (number: bigint): Promise<Json[]> =>
    (await client.request({
      method: 'eth_getBlockReceipts' as never,
      params: [`0x${number.toString(16)}`] as never,
    })) as Json[];
  const first = (list: readonly Json[]): Json => list[0] ?? {};

  const LIES: Readonly<
    Record<
      string,
      (block: Json & { transactions: Json[] }, receipts: Json[]) => { block?: object; receipts?: object[] }
    >
  > = {
    'alters a value': (block) => ({
      block: { ...block, transactions: [{ ...first(block.transactions), value: '0x6' }] },
    }),
    'names another sender': (block, receipts) => ({
      block: { ...block, transactions: [{ ...first(block.transactions), from: `0x${'12'.repeat(20)}` }] },
      receipts: [{ ...first(receipts), from: `0x${'12'.repeat(20)}` }],
    }),
    'turns a status round': (_block, receipts) => ({ receipts: [{ ...first(receipts), status: '0x0' }] }),
    'moves a withdrawal': (block) => ({
      block: {
        ...block,
        withdrawals: [{ index: '0x0', validatorIndex: '0x0', address: `0x${'12'.repeat(20)}`, amount: '0x1' }],
      },
    }),
  };

  async function lieOf(name: string): Promise<Alter> {
    const { blockHash, blockNumber } = receiptOf('legacy');
    const [block, receipts] = await Promise.all([blockOf(parseHash(blockHash)), receiptsOf(blockNumber)]);
    const lie = LIES[name]?.(block, receipts) ?? {};
    return ({ method, params }) => {
      const isThere = params[0] === blockHash || params[0] === `0x${blockNumber.toString(16)}`;
      if (!isThere) return undefined;
      if (method.startsWith('eth_getBlockBy') && params[1] === true && lie.block !== undefined)
        return { result: lie.block };
      if (method === 'eth_getBlockReceipts' && lie.receipts !== undefined) return { result: lie.receipts };
      return undefined;
    };
  }

  test.each(Object.keys(LIES))('and %s is not believed: the other one is', async (name) => {
    const { transactionHash } = receiptOf('legacy');
    const honest = (await opened.ask(`transaction/${transactionHash}`)).body;
    const lie = await lieOf(name);
    for (const liar of [opened.stage.node, ...opened.stage.others]) {
      await opened.reset();
      liar.alter = lie;
      expect(await opened.ask(`transaction/${transactionHash}`)).toMatchObject({ status: 200, body: honest });
    }
  });

  // The first is rejected for its header, the second for the signature.
  test.each(['alters a value', 'names another sender'])(
    'and %s is not believed where there is no other: 503',
    async (name) => {
      alterAll(await lieOf(name));
      const { transactionHash, blockNumber } = receiptOf('legacy');
      for (const path of [`transaction/${transactionHash}`, `block/${blockNumber}`]) {
        const answer = await opened.ask(path);
        expect(answer.status, path).toBe(503);
        expect(answer.headers.get('retry-after')).toBe('1');
      }
    },
  );
});

describe('the official SDK', () => {
  test.each(KINDS)('reads a transaction of the kind %s', async (kind) => {
    const { transactionHash, from, gasUsed } = receiptOf(kind);
    const { transaction } = opened.sdk.EvmApi;
    const plain = await transaction.getTransaction({ chain: '0x1', transactionHash });
    expect(plain?.result.from.lowercase).toBe(from.toLowerCase());
    expect(String(plain?.result.gasUsed)).toBe(String(gasUsed));
    expect(plain?.result.receiptStatus).toBe(kind === 'failed' ? 0 : 1);
    const verbose = await transaction.getTransactionVerbose({ chain: '0x1', transactionHash });
    expect(verbose?.result.hash).toBe(transactionHash);
    expect(verbose?.raw).toMatchObject({ decoded_call: null });
  });

  test('takes an unknown transaction for none', async () => {
    const { transaction } = opened.sdk.EvmApi;
    const unknown = { chain: '0x1', transactionHash: hashOf(9, 9) };
    expect(await transaction.getTransaction(unknown)).toBeNull();
    expect(await transaction.getTransactionVerbose(unknown)).toBeNull();
  });
});
